package condition_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models/condition"
)

// patience is far more than judging anything may take, also on a machine that is busy: it
// tells a condition that never ends from one that does.
const patience = time.Minute

func inTime(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%.200q does not end", what)
	}
}

// Hostile conditions are refused or end within the limits; none panics.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{
		`input.amount > 100`, `[1,2,3].map(x, [x].map(y, y)).size() > 0`, `input.a.all(x, x.all(y, y.all(z, z == x)))`,
		`input.s.matches("(a+)+$")`, `"a" + input.s + input.s + input.s == ""`, `command(input).has("rm") || path(input.f).within("/")`,
		strings.Repeat("!", 500) + "true", strings.Repeat("[", 300), `optional.of(input).optMap(x, x).hasValue()`, "has(input.a) ? true : host(input.u) == ''",
		`decimal(input.n) > decimal("1e5") && decimal(input.s).between("-1", "0.5")`, `input.n == decimal("5")`,
		`command(input).deletesOutside("/tmp") || command(input).all(c, !c.deletesOutside("/"))`,
		`input == input && [input] == [input]`, `size(string(input.n) + "x") > 1u`, `timestamp(input.t) - now > duration("1s")`,
	} {
		f.Add(seed, `{"s":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaab","a":[[[1]]],"f":"/a","u":"http://x"}`)
	}
	f.Fuzz(func(t *testing.T, source, input string) {
		inTime(t, source, func() {
			c, err := condition.Compile(source)
			if err != nil {
				saysNoJargon(t, source, err)
				return
			}
			c.Judge(call(input))
		})
	})
}

// Whatever a command line holds, its helper neither panics nor lets a program pass for
// another: a line that is git for sure begins with its letters.
func FuzzCommand(f *testing.F) {
	for _, seed := range []string{`git status`, `sh -c "git x"`, "r\\\nm x", "$((((((", "cat <<A <<B\nA\nB", `a=(1 2) b`, `[[ a =~ b ]]`, "`\\``", "${a[@]//x/$(y)}", "\xff\xfe"} {
		f.Add(seed)
	}
	c, err := condition.Compile(`command(input).program == "git" && !command(input).has("rm")`)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, line string) {
		raw, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			return
		}
		inTime(t, line, func() {
			if c.Judge(call(string(raw))).Result == condition.True && strings.ContainsAny(line, ";|&<>$`(){}*?~\n\r") && !strings.ContainsAny(line, `"'\`) {
				t.Errorf("%q is one simple command", line)
			}
		})
	})
}

// Costly conditions over large inputs end by their limits.
func TestCostlyConditionsEnd(t *testing.T) {
	long := strings.Repeat("a", 200<<10)
	many := "[" + strings.TrimSuffix(strings.Repeat("1,", 100_000), ",") + "]"
	for _, tt := range []struct{ source, input string }{
		{`input.all(x, input.all(y, x == y))`, many},
		{`input.map(x, input.map(y, input)).size() > 0`, many},
		{`input.s.matches("(a|aa)+$") && input.s.matches("(a*)*b") && input.s.matches("a.*a.*a.*b")`, `{"s":"` + long + `"}`},
		{`input.s.matches("(a?){140}b") && input.s.matches("(.?){140}b")`, `{"s":"` + long + `"}`},
		{`(input.s + input.s + input.s + input.s + input.s + input.s).contains("aaaaaaaaaaaaaab")`, `{"s":"` + long + `"}`},
		{`[1,2,3,4,5,6,7,8].map(a, [1,2,3,4,5,6,7,8].map(b, [1,2,3,4,5,6,7,8].map(c, [1,2,3,4,5,6,7,8].map(d, [1,2,3,4,5,6,7,8].map(e, [1,2,3,4,5,6,7,8]))))) != []`, `{}`},
		{`input.s.split("") == []`, `{"s":"` + long + `"}`},
		{strings.Repeat(`command(input.s).has("x") || `, 35) + `false`, `{"s":"` + strings.Repeat("a ", 8<<10) + `"}`},
		{`command(input).has("x")`, `{"command":"` + strings.Repeat("(", 15<<10) + `"}`},
		{`command(input).has("x")`, `{"command":"` + strings.Repeat("$(", 7<<10) + `"}`},
		{`command(input).has("x")`, `{"command":"` + strings.Repeat("{ ", 7<<10) + `"}`},
		{`command(input).has("x")`, `{"command":"` + strings.Repeat("a|", 7<<10) + `a"}`},
		{`input == {}`, strings.Repeat(`{"a":`, 60) + "1" + strings.Repeat("}", 60)},
	} {
		c, err := condition.Compile(tt.source)
		if err != nil {
			continue // refused, which ends it too
		}
		inTime(t, tt.source, func() {
			if out := c.Judge(call(tt.input)); out.Result == condition.True {
				t.Errorf("%.80s is true", tt.source)
			}
		})
	}
}
