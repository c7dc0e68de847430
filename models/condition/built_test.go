package condition_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"countersign/models/condition"
)

func row(subject string, op condition.Op, kind condition.Kind, values ...string) condition.Row {
	return condition.Row{Subject: subject, Op: op, Kind: kind, Values: values}
}

// all is a condition whose rows must all be true, any one of which one must be.
func all(rows ...condition.Row) condition.Built    { return built(false, rows) }
func either(rows ...condition.Row) condition.Built { return built(true, rows) }

func built(isAny bool, rows []condition.Row) condition.Built {
	out := condition.Built{Any: isAny}
	for _, r := range rows {
		out.Groups = append(out.Groups, condition.Group{r})
	}
	return out
}

// Each operator is an expression that says what the row says, and is read as the row again.
func TestRowsAreExpressions(t *testing.T) {
	t.Parallel()
	const text, number = condition.KindText, condition.KindNumber
	seen := map[condition.Operator]bool{}
	for _, tt := range []struct {
		row               condition.Row
		source            string
		yes, no, unjudged string // inputs
	}{
		{row("input.to", condition.Is, text, "ann"), `input.to == "ann"`, `{"to":"ann"}`, `{"to":"bo"}`, `{}`},
		{row("input.to", condition.IsNot, text, ""), `input.to != ""`, `{"to":"ann"}`, `{"to":""}`, `{}`},
		{row("input.n", condition.Is, number, "5"), `decimal(input.n) == decimal("5")`, `{"n":"5.0"}`, `{"n":6}`, `{"n":"x"}`},
		{row("input.n", condition.IsNot, number, "5.0"), `decimal(input.n) != decimal("5.0")`, `{"n":6}`, `{"n":5}`, `{"n":null}`},
		{row("input.ok", condition.Is, condition.KindBool, "true"), `input.ok == true`, `{"ok":true}`, `{"ok":false}`, `{}`},
		{row("input.ok", condition.IsNot, condition.KindBool, "false"), `input.ok != false`, `{"ok":true}`, `{"ok":false}`, `{}`},
		{row("input.t", condition.Contains, text, `"`), `input.t.contains("\"")`, `{"t":"a\"b"}`, `{"t":"ab"}`, `{"t":1}`},
		{row("input.l", condition.Contains, condition.KindList, "x"), `"x" in input.l`, `{"l":["x"]}`, `{"l":[]}`, `{"l":"x"}`},
		{row("input.t", condition.StartsWith, text, "a"), `input.t.startsWith("a")`, `{"t":"ab"}`, `{"t":"ba"}`, `{}`},
		{row("input.n", condition.Greater, number, "100"), `decimal(input.n) > decimal("100")`, `{"n":"100.01"}`, `{"n":100}`, `{"n":"1,000"}`},
		{row("input.n", condition.GreaterOrEqual, number, "100"), `decimal(input.n) >= decimal("100")`, `{"n":100}`, `{"n":"99.99"}`, `{}`},
		{row("input.n", condition.Less, number, "-1.5"), `decimal(input.n) < decimal("-1.5")`, `{"n":-2}`, `{"n":-1.5}`, `{}`},
		{row("input.n", condition.LessOrEqual, number, "1e3"), `decimal(input.n) <= decimal("1e3")`, `{"n":1000}`, `{"n":1001}`, `{}`},
		{row("input.n", condition.Between, number, "1", "5"), `decimal(input.n).between("1", "5")`, `{"n":5}`, `{"n":6}`, `{}`},
		{row("input.t", condition.OneOf, text, "a", "b"), `input.t in ["a", "b"]`, `{"t":"b"}`, `{"t":"c"}`, `{}`},
		{row("input.f", condition.Within, text, "/srv/a"), `path(input.f).within("/srv/a")`, `{"f":"/srv/a/b"}`, `{"f":"/srv/b"}`, `{"f":"b"}`},
		{row("input.u", condition.HostIs, text, "example.com"), `host(input.u) == "example.com"`, `{"u":"https://example.com/a"}`, `{"u":"https://example.org"}`, `{"u":"x"}`},
		{row("command", condition.ProgramIs, text, "git"), `command(input).program == "git"`, `{"command":"git status"}`, `{"cmd":"ls"}`, `{"command":"git x; ls"}`},
		{row("input.line", condition.ProgramIs, text, "git"), `command(input.line).program == "git"`, `{"line":"git status"}`, `{"line":"ls"}`, `{}`},
		{row("command", condition.EveryProgram, text, "cd", "git"), `command(input).all(c, c.program in ["cd", "git"])`, `{"command":"cd p && git status"}`, `{"command":"cd p; ls"}`, `{"command":"cd $X"}`},
		{row("command", condition.DeletesOutside, text, "/tmp"), `command(input).deletesOutside("/tmp")`, `{"command":"rm -rf /etc"}`, `{"command":"npm ci && npm test"}`, `{"command":"rm -r ../x"}`},
		{row("agent", condition.Is, text, "builder"), `agent == "builder"`, `{}`, ``, ``},
		{row("owner", condition.Contains, text, "@example.com"), `owner.contains("@example.com")`, `{}`, ``, ``},
		{row("tool", condition.OneOf, text, "x", "payment.send"), `tool in ["x", "payment.send"]`, `{}`, ``, ``},
		{row(condition.MemberPath("a", "b-c", "in", "x\n"), condition.Is, text, "y"), `input.a["b-c"]["in"]["x\n"] == "y"`, `{"a":{"b-c":{"in":{"x\n":"y"}}}}`, ``, `{}`},
	} {
		for _, o := range condition.Operators() {
			if o.Op == tt.row.Op && o.Kind == tt.row.Kind {
				seen[o] = true
			}
		}
		source, err := all(tt.row).CEL()
		if err != nil || source != tt.source {
			t.Errorf("%+v: %q, %v; want %q", tt.row, source, err, tt.source)
			continue
		}
		if got, ok := condition.Read(source); !ok || !reflect.DeepEqual(got, all(tt.row)) {
			t.Errorf("%s is read as %+v, %v", source, got, ok)
		}
		for input, want := range map[string]condition.Result{tt.yes: yes, tt.no: no, tt.unjudged: un} {
			if got := judge(t, source, input); input != "" && got.Result != want {
				t.Errorf("%s of %s: %+v, want %d", source, input, got, want)
			}
		}
	}
	for _, o := range condition.Operators() {
		if !seen[o] {
			t.Errorf("no row has %+v", o)
		}
	}
}

// Rows are joined by all or any, and groups of them the other way.
func TestRowsAreJoined(t *testing.T) {
	t.Parallel()
	a, b, c := row("tool", condition.Is, condition.KindText, "a"), row("tool", condition.Is, condition.KindText, "b"), row("tool", condition.Is, condition.KindText, "c")
	for _, tt := range []struct {
		built condition.Built
		want  string
	}{
		{condition.Built{}, ``},
		{all(a, b), `tool == "a" && tool == "b"`},
		{either(a, b, c), `tool == "a" || tool == "b" || tool == "c"`},
		{condition.Built{Groups: []condition.Group{{a, b}, {c}}}, `(tool == "a" || tool == "b") && tool == "c"`},
		{condition.Built{Any: true, Groups: []condition.Group{{a}, {b, c}, {a, b, c}}}, `tool == "a" || (tool == "b" && tool == "c") || (tool == "a" && tool == "b" && tool == "c")`},
	} {
		source, err := tt.built.CEL()
		if err != nil || source != tt.want {
			t.Errorf("%+v: %q, %v; want %q", tt.built, source, err, tt.want)
		}
		if got, ok := condition.Read(source); !ok || !reflect.DeepEqual(got, tt.built) {
			t.Errorf("%s is read as %+v, %v", source, got, ok)
		}
	}
	// What is not canonical is still written, and read as what it means.
	for _, tt := range []struct {
		built condition.Built
		want  condition.Built
	}{
		{condition.Built{Groups: []condition.Group{{}, {a}, {}}}, all(a)},
		{condition.Built{Any: true, Groups: []condition.Group{{a}}}, all(a)},
		{condition.Built{Groups: []condition.Group{{a, b}}}, either(a, b)},
	} {
		source, err := tt.built.CEL()
		if got, ok := condition.Read(source); err != nil || !ok || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s, %v, is read as %+v, %v", source, err, got, ok)
		}
	}
}

// An expression that a form can't show whole is not read.
func TestExpressionsThatNoFormShows(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		`decimal(input.a) > decimal("1") && (tool == "b" || (tool == "c" && tool == "d"))`, `!(tool == "x")`, `!input.ok`, `input.ok`, `true`,
		"tool == \"x\" // payments", "// payments\ntool == \"x\"", `tool == r"x" && tool == "y"`, `tool == """x"""`, `tool == r"\" // "`, `tool == b"x"`,
		`input.amount > 100`, `input.amount == 5`, `input.a == 5.5`, `input.a == null`, `input.a == input.b`, `"x" == input.a`, `true == input.a`,
		`decimal("5") < decimal(input.a)`, `decimal(input.a) > decimal(5)`, `decimal(input.a) > decimal(input.b)`, `decimal(input.a) > decimal("5,0")`,
		`decimal(input.a).between("5", "1")`, `decimal(tool) > decimal("1")`, `has(input.a) && input.a == "x"`, `input.?a.orValue("") == "x"`,
		`input == "x"`, `input.a[0] == "x"`, `input[tool] == "x"`, `input.a == ("x" + "y")`, `input.a in []`, `input.a in ["x", 1]`, `input.a in input.b`,
		`"x" in tool`, `"x" in ["x"]`, `input.l.exists(x, x == "a")`, `input.l.all(x, x == "a")`, `size(input.a) == 1`, `input.a.endsWith("x")`, `input.a.matches("x")`,
		`input.a.contains(input.b)`, `input.a.contains("")`, `path(input.f).within("srv")`, `path(tool).within("/srv")`, `path("/x").within("/srv")`, `host(input.u) != "x"`,
		`host(input.u) == "Example.com"`, `host(input.u) == "https://example.com"`, `command(input).has("rm")`, `command(input).program != "git"`, `command(input).args == ["x"]`,
		`command(input).program in ["git"]`, `command(input).all(c, c.program == "git")`, `command(input).all(c, d.program in ["git"])`, `command(input).all(c, c.args in ["git"])`,
		`command(input).all(c, c.program in [])`, `command(input).exists(c, c.program in ["git"])`, `command(input).commands.all(c, c.program in ["git"])`,
		`command("rm /x").deletesOutside("/tmp")`, `!command(input).deletesOutside("/tmp")`, `now.getHours() > 5`, `tool == "x" ? true : false`, `tool ==`, `(`,
		`cel.bind(x, tool, x == "a")`, strings.Repeat(`tool == "x" || `, 100) + `tool == "x"`,
	} {
		if got, ok := condition.Read(source); ok {
			t.Errorf("%s is read as %+v", source, got)
		}
	}
}

// A row that says nothing or too much is refused in words, and so is one that would be false of all calls.
func TestRowsThatAreRefused(t *testing.T) {
	t.Parallel()
	const text, number = condition.KindText, condition.KindNumber
	good := row("tool", condition.Is, text, "x")
	for _, tt := range []struct {
		row  condition.Row
		want string
	}{
		{condition.Row{}, "operator that is not known"},
		{row("tool", condition.Greater, text, "1"), "operator that is not known"},
		{row("", condition.Is, text, "1"), "no argument"},
		{row("input", condition.Is, text, "1"), "no argument"},
		{row("input.a == true || input.b", condition.Is, text, "1"), "no argument"},
		{row(`input["a"]`, condition.Is, text, "1"), "no argument"},
		{row("input.a ", condition.Is, text, "1"), "no argument"},
		{row("now", condition.Is, text, "1"), "no argument"},
		{row("command", condition.Is, text, "1"), "not possible for command"},
		{row("tool", condition.Within, text, "/a"), "not possible for tool"},
		{row("tool", condition.Greater, number, "1"), "not possible for tool"},
		{row("agent", condition.ProgramIs, text, "git"), "not possible for agent"},
		{row("input.a", condition.Is, text), "needs a value"},
		{row("input.a", condition.Is, text, "1", "2"), "needs a value"},
		{row("input.a", condition.OneOf, text), "needs a value"},
		{row("input.a", condition.Contains, text, ""), "needs a value"},
		{row("input.a", condition.Is, text, "\xff"), "not text"},
		{row("input.a", condition.Greater, number, "100 EUR"), "needs a number"},
		{row("input.a", condition.Greater, number, ""), "needs a number"},
		{row("input.a", condition.Between, number, "1"), "needs two values"},
		{row("input.a", condition.Between, number, "5", "1"), "lower number first"},
		{row("input.a", condition.Is, condition.KindBool, "yes"), "true or false"},
		{row("input.a", condition.Within, text, "srv"), "begins with /"},
		{row("command", condition.DeletesOutside, text, "/tmp/.."), "begins with /"},
		{row("input.a", condition.HostIs, text, "https://example.com"), "host in lower case"},
		{row("input.a", condition.HostIs, text, "example.com:80"), "host in lower case"},
	} {
		source, err := all(good, tt.row).CEL()
		if mistake, ok := errors.AsType[*condition.RowError](err); !ok || mistake.Row != 1 || !strings.Contains(mistake.Text, tt.want) {
			t.Errorf("%+v: %q, %v; want %q", tt.row, source, err, tt.want)
		}
	}
	if _, err := all(row("tool", condition.Is, text, strings.Repeat("x", condition.MaxSource))).CEL(); err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Errorf("a long text: %v", err)
	}
}

func drawnText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{`"`, `\`, "'", "\n", "\u202e", "//", "a // b", "`", `r"`, "\x00", "\u00a0", "é", "%"}))
}

func drawnRow() *rapid.Generator[condition.Row] {
	return rapid.Custom(func(t *rapid.T) condition.Row {
		o := rapid.SampledFrom(condition.Operators()).Draw(t, "operator")
		subject := condition.MemberPath(rapid.SliceOfN(rapid.OneOf(drawnText(), rapid.SampledFrom([]string{"a", "b_c", "in", "package", "d-e"})), 1, 3).Draw(t, "steps")...)
		if others := slices.DeleteFunc(condition.Subjects(), func(s string) bool { return !o.Fits(s, "") }); len(others) > 0 && rapid.Bool().Draw(t, "of the call") {
			subject = rapid.SampledFrom(others).Draw(t, "subject")
		}
		var values []string
		value := func() string {
			switch {
			case o.Kind == condition.KindNumber:
				return fmt.Sprintf("%d.%02d", rapid.IntRange(-999, 999).Draw(t, "whole"), rapid.IntRange(0, 99).Draw(t, "part"))
			case o.Kind == condition.KindBool:
				return rapid.SampledFrom([]string{"true", "false"}).Draw(t, "bool")
			case o.Op == condition.Within || o.Op == condition.DeletesOutside:
				return "/" + rapid.StringMatching(`[a-z]{0,5}(/[a-z"' ]{0,3}[a-z])?`).Draw(t, "folder")
			case o.Op == condition.HostIs:
				return rapid.SampledFrom([]string{"example.com", "192.0.2.1", "::1", "localhost"}).Draw(t, "host")
			}
			return drawnText().Filter(func(s string) bool { return s != "" }).Draw(t, "text")
		}
		switch o.Takes {
		case condition.TakesOne:
			values = []string{value()}
		case condition.TakesTwo:
			values = []string{"-1", fmt.Sprint(rapid.IntRange(-1, 9).Draw(t, "high"))}
		case condition.TakesMany:
			for range rapid.IntRange(1, 3).Draw(t, "values") {
				values = append(values, value())
			}
		}
		return condition.Row{Subject: subject, Op: o.Op, Kind: o.Kind, Values: values}
	})
}

func drawnBuilt() *rapid.Generator[condition.Built] {
	return rapid.Custom(func(t *rapid.T) condition.Built {
		var out condition.Built
		for range rapid.IntRange(1, 4).Draw(t, "groups") {
			out.Groups = append(out.Groups, rapid.SliceOfN(drawnRow(), 1, 3).Draw(t, "rows"))
		}
		if len(out.Groups) == 1 {
			out.Groups[0] = out.Groups[0][:1]
		} else {
			out.Any = rapid.Bool().Draw(t, "any")
		}
		return out
	}).Filter(func(b condition.Built) bool { _, err := b.CEL(); return err == nil })
}

// From rows to an expression and back is the same rows, and the expression can always be used.
func TestRowsAreReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := drawnBuilt().Draw(t, "rows")
		source, err := b.CEL()
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := condition.Read(source); !ok || !reflect.DeepEqual(got, b) {
			t.Fatalf("%s is read as %+v, %v; want %+v", source, got, ok, b)
		}
		if _, err := condition.Compile(source); err != nil {
			t.Fatalf("%s: %v", source, err)
		}
	})
}

// However an expression is spelled, what is read of it says the same of every call.
func TestWhatIsReadSaysTheSame(t *testing.T) {
	t.Parallel()
	parts := []string{
		`tool == 'payment.send'`, `(agent) != "x"`, `input["a"] == "x"`, `input.a.contains('x')`, `decimal(input['a']) >= decimal('1.0')`, `(input.b) == (true)`,
		`'x' in input.a`, `input.a in ['x', "y",]`, `command(input).all(p, p.program in ["ls"])`, `command( input.a ) . program == "ls"`, `path(input.a).within('/x')`,
	}
	values := []string{`"x"`, `"1"`, `2`, `true`, `["x"]`, `"ls"`, `"/x/y"`, `null`, `{"x":1}`}
	read, tried := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		tried++
		part := rapid.SampledFrom(parts)
		source := part.Draw(t, "part")
		for range rapid.IntRange(0, 4).Draw(t, "more") {
			source += rapid.SampledFrom([]string{" && ", "||", "\n|| "}).Draw(t, "operator") + part.Draw(t, "part")
			if rapid.Bool().Draw(t, "brackets") {
				source = "(" + source + ")"
			}
		}
		b, ok := condition.Read(source)
		if !ok {
			return
		}
		read++
		again, err := b.CEL()
		if err != nil {
			t.Fatal(err)
		}
		one, err := condition.Compile(source)
		if err != nil {
			t.Fatal(err)
		}
		two, err := condition.Compile(again)
		if err != nil {
			t.Fatal(err)
		}
		value := rapid.SampledFrom(values)
		input := `{"a":` + value.Draw(t, "a") + `,"b":` + value.Draw(t, "b") + `,"command":` + value.Draw(t, "command") + `}`
		if x, y := one.Judge(call(input)).Result, two.Judge(call(input)).Result; x != y {
			t.Fatalf("%s is %d of %s, and %s is %d", source, x, input, again, y)
		}
	})
	if read*6 < tried { // of the 60 of make test, 10
		t.Errorf("only %d of %d were read", read, tried)
	}
}

// Forms offer for a member what makes sense for the kinds of values that it had.
func TestOperatorsFitSubjects(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		subject string
		kind    condition.Kind
		want    string
	}{
		{"command", "", "program_is every_program deletes_outside"},
		{"tool", "", "is is_not contains starts_with one_of"},
		{"input.a", condition.KindBool, "is is_not"},
		{"input.a", condition.KindList, "contains program_is every_program deletes_outside"},
		{"input.a", condition.KindNumber, "is is_not greater greater_or_equal less less_or_equal between"},
		{"input.a", condition.KindNumeral, "is is is_not is_not contains starts_with greater greater_or_equal less less_or_equal between one_of"},
		{"input.a", condition.KindText, "is is_not contains starts_with one_of within_folder host_is program_is every_program deletes_outside"},
		{"input.a", condition.KindObject, ""},
		{"input.a", condition.KindNull, ""},
	} {
		var got []string
		for _, o := range condition.Operators() {
			if o.Fits(tt.subject, tt.kind) {
				got = append(got, string(o.Op))
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s, %s: %s, want %s", tt.subject, tt.kind, got, tt.want)
		}
	}
}
