package models_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"countersign/models"
)

func grantFrom(t interface {
	Helper()
	Fatalf(string, ...any)
}, input string, fixed ...string,
) models.Grant {
	t.Helper()
	shape, err := models.ShapeOf([]byte(input))
	if err != nil {
		t.Fatalf("%s: %v", input, err)
	}
	g := models.Grant{AgentID: "bot", ToolName: "Bash"}
	if g.Fixed, g.Free, err = shape.Split(fixed); err != nil {
		t.Fatalf("%s, fixed %v: %v", input, fixed, err)
	}
	return g
}

// covered is whether a grant covers a call of its agent and tool.
func covered(g models.Grant, input string) bool {
	call, err := models.ShapeOf([]byte(input))
	return err == nil && g.Covers("bot", "Bash", call)
}

func TestWhatAGrantCovers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, from string
		fixed      []string
		call       string
		want       bool
	}{
		{"the same", `{"command":"ls","cwd":"/"}`, []string{"command", "cwd"}, `{"command":"ls","cwd":"/"}`, true},
		{"written otherwise", `{"command":"ls","cwd":"/"}`, []string{"command", "cwd"}, ` {"cwd":"\/", "command" : "\u006cs"}`, true},
		{"another value of a fixed member", `{"command":"ls","cwd":"/"}`, []string{"cwd"}, `{"command":"ls","cwd":"/etc"}`, false},
		{"another value of a free member", `{"command":"ls","cwd":"/"}`, []string{"cwd"}, `{"command":"rm","cwd":"/"}`, true},
		{"another type of a free member", `{"command":"ls","cwd":"/"}`, []string{"cwd"}, `{"command":["rm",{"x":1}],"cwd":"/"}`, true},
		{"a free member missing", `{"command":"ls","cwd":"/"}`, []string{"cwd"}, `{"cwd":"/"}`, true},
		{"a fixed member missing", `{"command":"ls","cwd":"/"}`, []string{"cwd"}, `{"command":"ls"}`, false},
		{"a new member", `{"command":"ls","cwd":"/"}`, []string{"cwd"}, `{"command":"ls","cwd":"/","sudo":true}`, false},
		{"a new member where nothing is fixed", `{"command":"ls"}`, nil, `{"command":"ls","sudo":true}`, false},
		{"nothing fixed", `{"command":"ls"}`, nil, `{"command":"rm -rf /"}`, true},
		{"nothing fixed and nothing there", `{"command":"ls"}`, nil, `{}`, true},
		{"an empty input", `{}`, nil, `{}`, true},
		{"an empty input and a member", `{}`, nil, `{"a":1}`, false},
		{"a name in another case", `{"command":"ls"}`, nil, `{"Command":"ls"}`, false},
		{"a fixed number written otherwise", `{"n":1}`, []string{"n"}, `{"n":1.0}`, false},
		{"numbers that floats cannot tell apart", `{"n":9007199254740993}`, []string{"n"}, `{"n":9007199254740992}`, false},
		{"a number for a string", `{"n":1}`, []string{"n"}, `{"n":"1"}`, false},
		{"null for missing", `{"n":null}`, []string{"n"}, `{}`, false},
		{"a fixed object in another order", `{"o":{"a":1,"b":[1,2]}}`, []string{"o"}, `{"o":{"b":[1,2],"a":1}}`, true},
		{"a fixed array in another order", `{"o":[1,2]}`, []string{"o"}, `{"o":[2,1]}`, false},
		{"a member within a fixed one", `{"o":{"a":1}}`, []string{"o"}, `{"o":{"a":1,"b":2}}`, false},
		{"a hidden character", `{"a":"x"}`, []string{"a"}, "{\"a\":\"x\u200b\"}", false},
		{"names that quote", `{"a\"b":1,"c,d":2}`, []string{`a"b`}, `{"a\"b":1,"c,d":3}`, true},
		{"an array", `[1,2]`, nil, ` [ 1, 2 ]`, true},
		{"another array", `[1,2]`, nil, `[1,2,3]`, false},
		{"a string that looks like an object", `"{}"`, nil, `{}`, false},
		{"an object for a string", `{}`, nil, `"{}"`, false},
		{"null", `null`, nil, `null`, true},
		{"what is twice", `{"a":1}`, []string{"a"}, `{"a":1,"a":1}`, false},
	} {
		if got := covered(grantFrom(t, c.from, c.fixed...), c.call); got != c.want {
			t.Errorf("%s: from %s with %v fixed, %s is covered: %v", c.name, c.from, c.fixed, c.call, got)
		}
	}
	g := grantFrom(t, `{"a":1}`)
	call, err := models.ShapeOf([]byte(`{"a":1}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range [][2]string{{"bot2", "Bash"}, {"bot", "bash"}, {"bot", "Bash "}, {"", "Bash"}} {
		if g.Covers(models.AgentID(other[0]), other[1], call) {
			t.Errorf("a call of %v is covered", other)
		}
	}
	g.Free = "["
	if g.Covers("bot", "Bash", call) {
		t.Error("a grant that cannot be read covers something")
	}
}

func TestWhatCannotBeFixedIsNamedByItsField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		input string
		fixed []string
	}{
		{`{"a":1}`, []string{"b"}}, {`{"a":1}`, []string{"a", ""}}, {`{"a":1}`, []string{"A"}}, {`{}`, []string{"a"}}, {`[1]`, []string{"0"}}, {`"a"`, []string{"a"}},
	} {
		shape, err := models.ShapeOf([]byte(c.input))
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = shape.Split(c.fixed)
		if models.ErrorCode(err) != models.CodeInvalid || !strings.Contains(err.Error(), "fixed") {
			t.Errorf("%s with %v fixed: %v", c.input, c.fixed, err)
		}
	}
	twice := grantFrom(t, `{"a":1,"b":2}`, "a", "a")
	if names, err := twice.FreeNames(); err != nil || !slices.Equal(names, []string{"b"}) || twice.Fixed != `{"a":1}` {
		t.Errorf("named twice: %s, free %v (%v)", twice.Fixed, names, err)
	}
}

// value draws JSON from few parts, so that two of them are often equal.
func value(t *rapid.T, depth int) string {
	kinds := 5
	if depth > 0 {
		kinds = 7
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.SampledFrom([]string{"1", "1.0", "1e0", "-0", "0", "9007199254740993"}).Draw(t, "number")
	case 1:
		return rapid.SampledFrom([]string{`"a"`, `"\u0061"`, `"A"`, `""`, `"{}"`, `"a\u200b"`}).Draw(t, "string")
	case 2:
		return "true"
	case 3:
		return "null"
	case 4:
		return "{}"
	case 5:
		return "[" + strings.Join(several(t, depth, func() string { return value(t, depth-1) }), " ,") + "]"
	}
	return object(t, depth)
}

func object(t *rapid.T, depth int) string {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{`"a"`, `"b"`, `"\u0061b"`, `""`}), 0, 4, rapid.ID).Draw(t, "names")
	members := make([]string, 0, len(names))
	for _, name := range names {
		members = append(members, name+": "+value(t, depth-1))
	}
	return "{" + strings.Join(members, ", ") + "}"
}

func several(t *rapid.T, depth int, one func() string) []string {
	out := make([]string, rapid.IntRange(0, 1+depth%2).Draw(t, "several"))
	for i := range out {
		out[i] = one()
	}
	return out
}

func names(s models.Shape) []string {
	out := make([]string, 0, len(s.Members))
	for _, m := range s.Members {
		out = append(out, m.Name)
	}
	return out
}

// TestAGrantOfAllMembersCoversTheSameCallOnly, and one that leaves some free
// covers what differs in those only.
func TestAGrantOfAllMembersCoversTheSameCallOnly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x, y := value(t, 2), value(t, 2)
		from, err := models.ShapeOf([]byte(x))
		if err != nil {
			t.Skip("no input that is taken")
		}
		call, err := models.ShapeOf([]byte(y))
		if err != nil {
			t.Skip("no input that is taken")
		}
		same := string(from.Whole) == string(call.Whole)
		if got := covered(grantFrom(t, x, names(from)...), y); got != same {
			t.Fatalf("from %s with all fixed, %s is covered: %v", x, y, got)
		}
		var fixed []string
		for _, name := range names(from) {
			if rapid.Bool().Draw(t, "fixed "+name) {
				fixed = append(fixed, name)
			}
		}
		want := from.Object == call.Object && (from.Object || same)
		held := map[string]string{}
		for _, m := range from.Members {
			held[m.Name] = string(m.Value)
		}
		for _, m := range call.Members {
			v, known := held[m.Name]
			want = want && known && (!slices.Contains(fixed, m.Name) || v == string(m.Value))
		}
		for _, name := range fixed {
			want = want && slices.Contains(names(call), name)
		}
		if got := covered(grantFrom(t, x, fixed...), y); got != want {
			t.Fatalf("from %s with %v fixed, %s is covered: %v", x, fixed, y, got)
		}
	})
}

func FuzzGrantCoversItsOwnCallOnly(f *testing.F) {
	for _, seed := range [][2]string{{`{"a":1}`, `{"a":1.0}`}, {`{}`, `[]`}, {`{"a":{"b":"\u0000"}}`, `{"a":{"b":"\u0000"}}`}, {`"x"`, `"x"`}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, x, y string) {
		from, err := models.ShapeOf([]byte(x))
		if err != nil {
			t.Skip()
		}
		g := grantFrom(t, x, names(from)...)
		if !covered(g, x) {
			t.Fatalf("%q is not covered by its own grant", x)
		}
		canonical, err := models.CanonicalJSON("input", []byte(y))
		if same := err == nil && string(canonical) == string(from.Whole); covered(g, y) != same {
			t.Fatalf("from %q with all fixed, %q is covered: %v", x, y, !same)
		}
	})
}

func TestWhereAGrantStands(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	grant := func(change func(*models.Grant)) models.Grant {
		g := models.Grant{ExpiresAt: now.Add(time.Second), MaxUses: 2, Uses: 1, MakerMayDecide: true}
		change(&g)
		return g
	}
	for _, c := range []struct {
		change func(*models.Grant)
		want   models.GrantState
		live   bool
	}{
		{func(*models.Grant) {}, models.GrantLive, true},
		{func(g *models.Grant) { g.Uses = 2 }, models.GrantUsedUp, false},
		{func(g *models.Grant) { g.ExpiresAt = now }, models.GrantExpired, false},
		{func(g *models.Grant) { g.RevokedAt, g.Uses = &now, 2 }, models.GrantRevoked, false},
		{func(g *models.Grant) { g.MakerMayDecide = false }, models.GrantLapsed, true},
	} {
		g := grant(c.change)
		if g.StateAt(now) != c.want || g.Live(now) != c.live {
			t.Errorf("%+v is %s, live: %v; want %s, %v", g, g.StateAt(now), g.Live(now), c.want, c.live)
		}
	}
}
