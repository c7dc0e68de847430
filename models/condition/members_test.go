package condition_test

import (
	"fmt"
	"strings"
	"testing"

	"countersign/models/condition"
)

// Members are what calls had: how many, of which kinds, and a few different values.
func TestMembersOfCalls(t *testing.T) {
	t.Parallel()
	got := condition.Members([][]byte{
		[]byte(`{"amount":"103.50","ok":true,"to":{"name":"ann","at":{"a":{"b":1}}},"tags":["x"],"note":"hi"}`),
		[]byte(`{"amount":"103.50","ok":false,"note":null,"odd name":1e2}`),
		[]byte(`{"amount":7,"note":"","to":"bo"}`),
		[]byte(`{"amount":"1,000"}`),
		[]byte(`{"amount":"9"}`),
		[]byte(`["amount"]`), []byte(`"amount"`), []byte(``), []byte(`{`), []byte(`{"broken": `),
	})
	var lines []string
	for _, m := range got {
		lines = append(lines, fmt.Sprint(m.Path, "|", m.Name, "|", m.In, m.Kinds, m.Samples))
	}
	const want = `input.amount|amount|5 map[number:1 numeral:3 text:1] [103.50 7 1,000]
input.note|note|3 map[null:1 text:2] [hi]
input.ok|ok|2 map[bool:2] [true false]
input.to|to|2 map[object:1 text:1] [bo]
input.tags|tags|1 map[list:1] []
input.to.at|to.at|1 map[object:1] []
input.to.at.a|to.at.a|1 map[object:1] []
input.to.name|to.name|1 map[text:1] [ann]
input["odd name"]|["odd name"]|1 map[number:1] [1e2]`
	if text := strings.Join(lines, "\n"); text != want {
		t.Errorf("%s", text)
	}
	if got := condition.Members(nil); len(got) != 0 {
		t.Errorf("of none: %v", got)
	}
}

// However much calls hold, few members are told of them, and short samples.
func TestMembersAreFew(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, `,"m%d":%d`, i, i)
	}
	got := condition.Members([][]byte{
		[]byte(`{"first":"` + strings.Repeat("é", 5000) + `","` + strings.Repeat("x", 5000) + `":1` + many.String() + `}`), []byte(`{"first":1}`),
	})
	if len(got) != condition.MaxMembers || got[0].Path != "input.first" || len(got[0].Samples[0]) != 200 {
		t.Errorf("%d members, %.300v", len(got), got)
	}
	for _, m := range got {
		if len(m.Path) > 200 {
			t.Errorf("%.20s… is told", m.Path)
		}
	}
}

// A form offers for a member what fits any of the values that it had.
func TestOperatorsForAMember(t *testing.T) {
	t.Parallel()
	members := condition.Members([][]byte{[]byte(`{"amount":"103.50","ok":true}`), []byte(`{"amount":7}`)})
	ops := func(subject string) string {
		var out []string
		for _, o := range condition.OperatorsFor(subject, members) {
			out = append(out, string(o.Op)+":"+string(o.Kind))
		}
		return strings.Join(out, " ")
	}
	if got := ops("input.ok"); got != "is:bool is_not:bool" {
		t.Errorf("ok: %s", got)
	}
	if got := ops("input.amount"); !strings.Contains(got, "greater:number") || !strings.Contains(got, "starts_with:text") || strings.Contains(got, "bool") {
		t.Errorf("amount: %s", got)
	}
	if got := ops("input.other"); strings.Count(got, ":") != len(condition.Operators()) {
		t.Errorf("a member that is not known: %s", got)
	}
	if got := ops("command"); got != "program_is:text every_program:text deletes_outside:text" {
		t.Errorf("command: %s", got)
	}
}

// The members that an expression reads are known by their paths, however they are read.
func TestWhatAnExpressionReads(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`tool == "x"`: ``,
		`input.a.b == input["c d"] && input.a.b > 1`:               `input.a.b input["c d"]`,
		`has(input.a) && input.?b.orValue(1) == 1`:                 `input.a input.b`,
		`input[?"a"].orValue("") == input.x.?y.orValue("")`:        `input.a input.x.y`,
		`input.items[0].price > 1 || input.m[tool] == 1`:           `input.items input.m`,
		`input.list.all(x, x.price > input.max)`:                   `input.list input.max`,
		`command(input).has("rm") && !command(input.line).has("")`: `command input.line`,
		`command(input).all(c, c.program in ["ls"])`:               `command`,
		`decimal(input.n) > decimal("1") && host(input.u) == ""`:   `input.n input.u`,
		`input.a ==`: ``,
	} {
		if got := strings.Join(condition.Reads(source), " "); got != want {
			t.Errorf("%s reads %s, want %s", source, got, want)
		}
	}
}

// A member that no call had is a remark: the calls are named, and what they have.
func TestMembersThatNoCallHad(t *testing.T) {
	t.Parallel()
	members := condition.Members([][]byte{[]byte(`{"command":"ls","cwd":"/"}`), []byte(`{"command":"ls","env":{"PATH":"/bin"}}`)})
	for source, want := range map[string]string{
		`path(input.file).within("/srv")`:             "No call of shell.run had `file`; they have `command`, `cwd`, `env`.",
		`input.file == "a" || input.dir == input.cwd`: "No call of shell.run had `file` or `dir`; they have `command`, `cwd`, `env`.",
		`input.env.HOME == "x"`:                       "No call of shell.run had `env.HOME`; they have `env.PATH`.",
		`input.cwd == "/" && command(input).has("")`:  "",
		`input.a.b.c.d == 1`:                          "",
		`input.cwd ==`:                                "",
	} {
		if got := condition.Unseen(source, "of shell.run", members); got != want {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
	pays := condition.Members([][]byte{[]byte(`{"amount":1}`)})
	if got := condition.Unseen(`command(input).has("rm")`, "of pay", pays); got != "No call of pay had `command`; they have `amount`." {
		t.Errorf("a command: %q", got)
	}
	if got := condition.Unseen(`input.x == 1`, "of pay", nil); got != "" {
		t.Errorf("nothing is known: %q", got)
	}
	var many strings.Builder
	for i := range condition.MaxMembers + 1 {
		fmt.Fprintf(&many, `,"m%d":1`, i)
	}
	others := condition.Members([][]byte{[]byte(`{` + many.String()[1:] + `}`)})
	if got := condition.Unseen(`input.m9 == 1 || input.x == 1`, "of pay", others); got != "" {
		t.Errorf("not all members are known: %q", got)
	}
}
