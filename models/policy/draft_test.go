package policy_test

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"countersign/models"
	"countersign/models/policy"
)

func draft(tb testing.TB, text string) *policy.Draft {
	tb.Helper()
	d, err := policy.ReadDraft([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func written(tb testing.TB, d *policy.Draft) string {
	tb.Helper()
	raw, err := d.Marshal()
	if err != nil {
		tb.Fatal(err)
	}
	return string(raw)
}

// Whatever the document has, a person can write in a form.
func TestEveryMemberHasAField(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		of     reflect.Type
		fields []policy.Field
	}{
		{reflect.TypeFor[policy.Document](), policy.Settings()},
		{reflect.TypeFor[policy.Rule](), policy.RuleFields()},
		{reflect.TypeFor[policy.Template](), policy.TemplateFields()},
	} {
		want := memberPaths(tt.of, "")
		var got []string
		for _, f := range tt.fields {
			got = append(got, f.Path)
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s has %v, and fields for %v", tt.of, want, got)
		}
	}
}

func memberPaths(of reflect.Type, at string) []string {
	var out []string
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case f.Anonymous:
			out = append(out, memberPaths(inner, at)...)
		case name == "rules" || name == "templates":
		case inner.Kind() == reflect.Struct && inner != reflect.TypeFor[time.Time]():
			out = append(out, memberPaths(inner, at+name+".")...)
		default:
			out = append(out, at+name)
		}
	}
	return out
}

// documents draws valid ones, with texts that are hard for a form.
func documents() *rapid.Generator[policy.Document] {
	return rapid.Custom(func(t *rapid.T) policy.Document {
		text := rapid.StringN(0, 20, 60)
		odd := rapid.OneOf(text, rapid.SampledFrom([]string{"\nfirst", " spaces ", "a\r\nb", "a\rb", "\"quoted\"", "\"", "[1]", "true", "\t", "a\u202eb", `"\u202e"`, "\U000e0041", `"a\\b"`}))
		tool := rapid.OneOf(rapid.SampledFrom([]string{"Bash", "pay.send", "/^a\nb/", "/x /", "/ y/", "/\\d{2}/", "a b", "/\"/"}), rapid.StringMatching(`[a-z_.]{1,12}`))
		d := policy.Default()
		d.ApprovalEnabled, d.FallbackAutoApprove, d.GrantsEnabled = rapid.Bool().Draw(t, "on"), rapid.Bool().Draw(t, "fallback"), rapid.Bool().Draw(t, "grants")
		d.ExplicitResponseID = rapid.Bool().Draw(t, "explicit")
		until := rapid.Map(rapid.Int64Range(0, 1<<37), func(n int64) *time.Time { return new(time.Unix(n, 0).UTC()) })
		if !d.ApprovalEnabled && rapid.Bool().Draw(t, "off for a time") {
			d.ApprovalOffUntil = until.Draw(t, "off until")
		}
		if d.FallbackAutoApprove && rapid.Bool().Draw(t, "fallback for a time") {
			d.FallbackUntil = until.Draw(t, "fallback until")
		}
		d.RequiredApprovalTools = rapid.SliceOfN(tool, 0, 4).Draw(t, "required")
		d.DefaultTimeoutMinutes = rapid.IntRange(1, 1440).Draw(t, "minutes")
		if rapid.Bool().Draw(t, "proposals end") {
			d.ProposalTimeoutMinutes = new(rapid.IntRange(1, 1440).Draw(t, "proposal minutes"))
		}
		d.Unmatched = rapid.SampledFrom([]policy.Effect{policy.EffectAllow, policy.EffectRequire}).Draw(t, "unmatched")
		d.AutoBudgetIncrease = rapid.Int64Range(0, models.MaxBudget).Draw(t, "increase")
		if rapid.Bool().Draw(t, "limited") {
			d.BudgetPerAgent = &policy.BudgetPerAgent{Energy: rapid.Int64Range(1, models.MaxBudget).Draw(t, "energy"), Hours: rapid.IntRange(1, 720).Draw(t, "hours")}
		}
		d.UndoSeconds = policy.UndoSeconds{High: rapid.IntRange(0, 600).Draw(t, "undo")}
		d.TimeZone = rapid.SampledFrom([]string{"", "Europe/Berlin", "Asia/Tokyo"}).Draw(t, "zone")
		d.MaxAsksPerReviewerHour, d.FloodPerHour = rapid.IntRange(0, 2).Draw(t, "asks"), rapid.SampledFrom([]int{0, 10, 99}).Draw(t, "flood")
		d.RetentionDays = rapid.IntRange(0, 3).Draw(t, "days")
		for i := range rapid.IntRange(0, 3).Draw(t, "templates") {
			d.Templates = append(d.Templates, templates(odd).Draw(t, "template"))
			d.Templates[i].Name = "t" + string(rune('a'+i)) + d.Templates[i].Name
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "rules") {
			r := policy.Rule{
				Name: "rule " + string(rune('a'+i)) + rapid.StringMatching(`[ -~]{0,6}`).Draw(t, "name"), Note: odd.Draw(t, "note"), Reason: odd.Draw(t, "reason"),
				Tools: rapid.SliceOfN(tool, 1, 4).Draw(t, "tools"), Effect: rapid.SampledFrom([]policy.Effect{"allow", "require", "deny"}).Draw(t, "effect"),
				Risk: rapid.SampledFrom(models.Risks()).Draw(t, "risk"), Disabled: rapid.Bool().Draw(t, "disabled"),
				Energy: rapid.Int64Range(0, 5).Draw(t, "costs"),
			}
			r.When = rapid.SampledFrom([]string{"", "input.a > 1", "input.s == \"\\u202e\"", " tool == 'x' ", "input.a == 1\n&& input.b == 2", "input.s == \"a\u202eb\""}).Draw(t, "when")
			if rapid.Bool().Draw(t, "ends") {
				r.TimeoutMinutes = new(rapid.IntRange(3, 1440).Draw(t, "rule minutes"))
			}
			if rapid.Bool().Draw(t, "asks") {
				r.Reviewers, r.ReviewersOnly = []string{"ann@example.com", "bo@example.org"}, rapid.Bool().Draw(t, "only")
			}
			if rapid.Bool().Draw(t, "offers") {
				r.RejectReasons = rapid.SliceOfNDistinct(odd.Filter(func(s string) bool { return s != "" }), 1, 3, rapid.ID).Draw(t, "reasons")
			}
			r.Escalate, r.Substitutes = escalations.Draw(t, "escalate"), substitutes.Draw(t, "substitutes")
			r.NotifyHeadline = rapid.Bool().Draw(t, "headline")
			if r.Effect == policy.EffectRequire && r.Risk == models.RiskLow && rapid.Bool().Draw(t, "busy") {
				r.WhenBusy = models.BusyBatch
			}
			if rapid.Bool().Draw(t, "four eyes") {
				r.SelfApproval = models.SelfNever
			}
			if r.Effect == policy.EffectRequire && rapid.Bool().Draw(t, "ticks") {
				r.Checklist = rapid.SliceOfNDistinct(odd.Filter(func(s string) bool { return strings.TrimSpace(s) != "" }), 1, 3, rapid.ID).Draw(t, "items")
			}
			if r.Effect == policy.EffectRequire && len(d.Templates) > 0 && rapid.Bool().Draw(t, "under one") {
				r.Template = rapid.SampledFrom(d.Templates).Draw(t, "named").Name
				r.Risk, r.WhenBusy = rapid.SampledFrom(append(models.Risks(), "")).Draw(t, "own risk"), ""
			}
			d.Rules = append(d.Rules, r)
		}
		return d
	})
}

// escalations draws valid ones of rules that wait long enough, substitutes whether they may.
var (
	escalations = rapid.Custom(func(t *rapid.T) []policy.Escalation {
		var out []policy.Escalation
		for i := range rapid.IntRange(0, 2).Draw(t, "steps") {
			to := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"ann@example.com", "group:oncall", "a\u202eb@example.com", "a=b@x.org"}), 1, 3, rapid.ID).Draw(t, "to")
			out = append(out, policy.Escalation{AfterMinutes: 1 + i, To: to})
		}
		return out
	})
	substitutes = rapid.Custom(func(t *rapid.T) *bool {
		if rapid.Bool().Draw(t, "allowed") {
			return nil
		}
		return new(false)
	})
)

// templates draws valid ones but for texts that are too long.
func templates(odd *rapid.Generator[string]) *rapid.Generator[policy.Template] {
	lines := odd.Filter(func(s string) bool { return strings.TrimSpace(s) != "" })
	return rapid.Custom(func(t *rapid.T) policy.Template {
		out := policy.Template{
			Name: rapid.StringMatching(`[a-z0-9._-]{0,6}`).Draw(t, "name"), Note: odd.Draw(t, "note"), Text: odd.Draw(t, "text"),
			Risk: rapid.SampledFrom(append(models.Risks(), "")).Draw(t, "risk"),
		}
		if rapid.Bool().Draw(t, "ends") {
			out.TimeoutMinutes = new(rapid.IntRange(3, 1440).Draw(t, "minutes"))
		}
		if rapid.Bool().Draw(t, "asks") {
			out.Reviewers = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"ann@example.com", "bo@example.org", "cy@example.org"}), 1, 3, rapid.ID).Draw(t, "reviewers")
			out.ReviewersOnly = rapid.Bool().Draw(t, "only")
		}
		if rapid.Bool().Draw(t, "four eyes") {
			out.SelfApproval = models.SelfNever
		}
		out.Escalate, out.Substitutes = escalations.Draw(t, "escalate"), substitutes.Draw(t, "substitutes")
		if rapid.Bool().Draw(t, "lists") {
			out.Checklist = rapid.SliceOfNDistinct(lines, 1, 3, rapid.ID).Draw(t, "checklist")
			out.RejectReasons = rapid.SliceOfNDistinct(lines, 1, 3, rapid.ID).Draw(t, "reasons")
		}
		return out
	})
}

// browser is what comes back of a text from a form that nobody touched.
func browser(f policy.Form) policy.Form {
	out := policy.Form{}
	for path, text := range f {
		out[path] = strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"), "\n", "\r\n")
	}
	return out
}

// typable is a document as somebody can type it: without texts that are
// blank.
func typable(d policy.Document) policy.Document {
	d.Rules = slices.Clone(d.Rules)
	for i := range d.Rules {
		for _, text := range []*string{&d.Rules[i].Reason, &d.Rules[i].Note} {
			if strings.Trim(*text, " \t\n") == "" {
				*text = ""
			}
		}
	}
	d.Templates = slices.Clone(d.Templates)
	for i := range d.Templates {
		for _, text := range []*string{&d.Templates[i].Text, &d.Templates[i].Note} {
			if strings.Trim(*text, " \t\n") == "" {
				*text = ""
			}
		}
	}
	return d
}

func TestDocumentToFormToDocumentIsTheIdentity(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		doc := documents().Draw(t, "document")
		raw, err := doc.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.Parse(raw)
		if err != nil {
			t.Skip(err) // a text that is not valid
		}
		doc = p.Document()
		shown, err := policy.DraftOf(doc)
		if err != nil {
			t.Fatal(err)
		}
		// Sent back as it is, and typed anew from nothing.
		fresh, err := policy.ReadDraft([]byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		same, _ := policy.DraftOf(doc)
		same.PutSettings(browser(shown.Settings()))
		fresh.PutSettings(shown.Settings())
		for i := range shown.Templates() {
			same.PutTemplate(i, browser(shown.Template(i)))
			fresh.PutTemplate(i, shown.Template(i))
		}
		for i := range shown.Rules() {
			same.PutRule(i, browser(shown.Rule(i)))
			fresh.PutRule(i, shown.Rule(i))
		}
		for _, c := range []struct {
			name string
			d    *policy.Draft
			want policy.Document
		}{{"sent back", same, doc}, {"typed anew", fresh, typable(doc)}} {
			got := c.d.Check(policy.Default())
			if len(got.Problems) > 0 || len(policy.Diff(c.want, got.Document)) > 0 {
				t.Fatalf("%s: %v %v", c.name, got.Problems, policy.Diff(c.want, got.Document))
			}
		}
		before, _ := shown.Marshal()
		after, _ := same.Marshal()
		if string(before) != string(after) {
			t.Fatalf("it became\n%s\nand was\n%s", after, before)
		}
	})
}

func TestWhatIsTypedStaysAndIsNamed(t *testing.T) {
	t.Parallel()
	d := draft(t, `{"default_timeout_minutes": 5, "colour": "red", "rules": [{"name": "a", "tools": ["x"], "effect": "require", "Risk": "high"}]}`)
	d.PutSettings(policy.Form{
		"default_timeout_minutes": "soon", "required_approval_tools": "Bash\r\n\r\n /(/ \r\n", "budget_per_agent.energy": "10",
		"undo_seconds.high": "1e9", "proposal_timeout_minutes": "0",
	})
	rule := d.Rule(0)
	rule["timeout_minutes"], rule["reviewers"], rule["tools"] = " 60 ", "ann", ""
	d.PutRule(0, rule)
	d.PutRule(1, policy.Form{"name": "a", "effect": "perhaps"})
	again := draft(t, written(t, d))
	for path, want := range map[string]string{
		"default_timeout_minutes": "soon", "required_approval_tools": "Bash\n/(/", "budget_per_agent.energy": "10", "budget_per_agent.hours": "",
		"undo_seconds.high": "1e9", "undo_seconds.low": "0", "proposal_timeout_minutes": "0",
	} {
		if got := again.Settings()[path]; got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if got := again.Rule(0)["timeout_minutes"]; got != "60" {
		t.Errorf("minutes are %q", got)
	}
	got := again.Check(policy.Default()).Problems
	want := []string{
		"budget_per_agent.hours", "colour", "default_timeout_minutes", "proposal_timeout_minutes", "required_approval_tools[1]", "rules[0].Risk",
		"rules[0].reviewers[0]", "rules[0].tools", "rules[1].effect", "rules[1].name", "rules[1].tools", "undo_seconds.high",
	}
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, want) {
		t.Errorf("it names %v\nwant %v\n%v", names, want, got)
	}
	if text := written(t, again); !strings.Contains(text, `"colour": "red"`) || !strings.Contains(text, `"Risk": "high"`) {
		t.Errorf("what no form shows is gone:\n%s", text)
	}
}

func TestABudgetIsTakenAwayByEmptyingIt(t *testing.T) {
	t.Parallel()
	d := draft(t, `{"budget_per_agent": {"energy": 5, "hours": 24}, "proposal_timeout_minutes": 9}`)
	d.PutSettings(policy.Form{"budget_per_agent.energy": "", "budget_per_agent.hours": " ", "proposal_timeout_minutes": ""})
	got := d.Check(policy.Default())
	if len(got.Problems) > 0 || got.Document.BudgetPerAgent != nil || got.Document.ProposalTimeoutMinutes != nil {
		t.Errorf("%+v", got)
	}
	d.PutSettings(policy.Form{"budget_per_agent.energy": "7", "budget_per_agent.hours": "1"})
	if got := d.Check(policy.Default()); len(got.Problems) > 0 || *got.Document.BudgetPerAgent != (policy.BudgetPerAgent{Energy: 7, Hours: 1}) {
		t.Errorf("%+v", got)
	}
}

func TestRulesAreMovedCopiedAndSwitchedOff(t *testing.T) {
	t.Parallel()
	d := draft(t, `{"rules": [{"name": "a", "tools": ["x"], "effect": "deny"}, {"name": "b", "tools": ["y"], "effect": "allow"}, {"name": "c", "tools": ["z"], "effect": "require"}]}`)
	names := func() string {
		var out []string
		for i := range d.Rules() {
			out = append(out, d.Rule(i)["name"])
		}
		return strings.Join(out, " ")
	}
	steps := []struct {
		do   func()
		want string
	}{
		{func() { d.MoveRule(2, 0) }, "c a b"},
		{func() { d.MoveRule(0, 99) }, "a b c"},
		{func() { d.MoveRule(1, -1) }, "b a c"},
		{func() { d.DuplicateRule(1) }, "b a a (2) c"},
		{func() { d.DuplicateRule(1) }, "b a a (3) a (2) c"},
		{func() { d.DeleteRule(0) }, "a a (3) a (2) c"},
	}
	for i, s := range steps {
		s.do()
		if got := names(); got != s.want {
			t.Fatalf("step %d: %s, want %s", i, got, s.want)
		}
	}
	d.SwitchRule(0, true)
	d.SwitchRule(1, true)
	d.SwitchRule(2, true)
	doc := d.Check(policy.Default()).Document
	raw, err := doc.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Judge(policy.Call{Kind: models.KindToolCall, ToolName: "x"}); got.Effect != policy.EffectAllow || got.Rule != policy.RuleUnmatched {
		t.Errorf("a disabled rule judges: %+v", got)
	}
	if got := p.Judge(policy.Call{Kind: models.KindToolCall, ToolName: "X"}); got.Effect != policy.EffectAllow {
		t.Errorf("a disabled rule holds what is similar: %+v", got)
	}
	d.SwitchRule(0, false)
	if text := written(t, d); strings.Count(text, `"disabled": true`) != 2 {
		t.Errorf("%s", text)
	}
}

func TestWhatIsNoDraft(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                          "document must be one JSON object in UTF-8: it goes wrong at line 1, column 1",
		"[]":                        "document must be one JSON object",
		"{\n  \"a\": 1,\n}":         "document must be one JSON object in UTF-8: it goes wrong at line 3, column 1",
		`{"a": 1} {}`:               "document must be one JSON object in UTF-8: it goes wrong at line 1, column 11",
		`{"a": 1, "a": 2}`:          "document has a twice",
		`{"rules": 1}`:              "rules must be a list",
		`{"rules": [{}, 1]}`:        "rules[1] must be an object",
		`{"undo_seconds": 5}`:       "undo_seconds must be an object",
		`{"budget_per_agent": "a"}`: "budget_per_agent must be an object",
		strings.Repeat(" ", policy.MaxDocument) + "{}": "document is too large; at most 1024 KiB are allowed",
	} {
		_, err := policy.ReadDraft([]byte(text))
		e, ok := errors.AsType[*models.Error](err)
		if !ok || e.Code != models.CodeInvalid {
			t.Errorf("%.40q: %v", text, err)
			continue
		}
		for path, says := range e.Fields {
			if path+" "+says != want {
				t.Errorf("%.40q: %s %s, want %s", text, path, says, want)
			}
		}
	}
}

// The same document, in which nothing is hidden.
func TestVisibleJSONSaysTheSame(t *testing.T) {
	t.Parallel()
	const text = "{\n  \"rules\": [{\"name\": \"é a\u202eb\U000e0041\", \"tools\": [\"x\"], \"effect\": \"deny\"}]\n}"
	got := policy.Visible(text)
	if want := "{\n  \"rules\": [{\"name\": \"é a\\u202eb\\udb40\\udc41\", \"tools\": [\"x\"], \"effect\": \"deny\"}]\n}"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if changes := policy.Diff(parsed(t, text), parsed(t, got)); len(changes) > 0 {
		t.Errorf("%v", changes)
	}
	for _, as := range []string{"{}", "{\"a\u202e", "\u202e{}"} {
		if got := policy.Visible(as); got != as {
			t.Errorf("%q became %q", as, got)
		}
	}
}

// TestARuleIsAddedBeforeAnother: behind all where there is none, under a name of its own, and once.
func TestARuleIsAddedBeforeAnother(t *testing.T) {
	t.Parallel()
	d := draft(t, `{"rules": [{"name": "a", "tools": ["x"], "effect": "require", "disabled": true}, {"name": "b", "tools": ["y"], "effect": "require"}, {"name": "a", "tools": ["x"], "effect": "require"}]}`)
	one := policy.Rule{Name: "b", Tools: []string{"x"}, When: "input.n == 1", Effect: policy.EffectAllow, Energy: 4}
	for range 2 {
		if at := d.AddRule(one, "a"); at != 2 {
			t.Errorf("it is at %d", at)
		}
	}
	one.When = ""
	one.Tools = []string{"z"}
	if at := d.AddRule(one, "none"); at != 4 {
		t.Errorf("it is at %d", at)
	}
	if got := d.Rule(2); d.Rules() != 5 || got["name"] != "b (2)" || got["energy"] != "4" || d.Rule(4)["name"] != "b (3)" {
		t.Errorf("%d rules: %v", d.Rules(), got)
	}
}
