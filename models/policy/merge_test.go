package policy_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"countersign/models"
	"countersign/models/policy"
)

func parsed(tb testing.TB, text string) policy.Document {
	tb.Helper()
	p, err := policy.Parse([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return p.Document()
}

// rulesText writes a document whose rules are named, with a reason behind a colon.
func rulesText(names string) string {
	var out []string
	for name := range strings.FieldsSeq(names) {
		name, reason, _ := strings.Cut(name, ":")
		out = append(out, fmt.Sprintf(`{"name":%q,"tools":["t_%s"],"effect":"require","reason":%q}`, name, name, reason))
	}
	return `{"rules":[` + strings.Join(out, ",") + `]}`
}

func TestMergeOfRules(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, base, theirs, mine, want, clashes string }{
		{"nobody changed anything", "a b", "a b", "a b", "a b", ""},
		{"both added", "a b", "a x b", "a b y", "a x b y", ""},
		{"I deleted", "a b c", "a b c x", "a c", "a c x", ""},
		{"they deleted", "a b c", "a c", "a b c:new", "a c:new", ""},
		{"different rules changed", "a b", "a:theirs b", "a b:mine", "a:theirs b:mine", ""},
		{"the same changed in the same way", "a b", "a:x b", "a:x b", "a:x b", ""},
		{"the same changed", "a b", "a:theirs b", "a:mine b", "a:mine b", `rules["a"].reason`},
		{"I changed what they deleted", "a b", "a", "a b:mine", "a b:mine", `rules["b"]`},
		{"they changed what I deleted", "a b", "a b:theirs", "a", "a b:theirs", `rules["b"]`},
		{"I moved, they added", "a b c", "a b x c", "c a b", "c a b x", ""},
		{"they moved, I added", "a b c", "c b a", "a y b c", "c b a y", ""},
		{"both moved in different ways", "a b c", "c b a", "b a c", "b a c", "order of rules"},
		{"both moved in the same way", "a b c", "c b a", "c b a", "c b a", ""},
		{"both added one of the same name", "a", "a x:theirs", "a x:mine", "a x:mine", `rules["x"].reason`},
		{"I renamed what they changed", "a b", "a b:theirs", "a c", "a c b:theirs", `rules["b"]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, clashes, err := policy.Merge(parsed(t, rulesText(tt.base)), parsed(t, rulesText(tt.theirs)), parsed(t, rulesText(tt.mine)))
			if err != nil {
				t.Fatal(err)
			}
			got := d.Check(policy.Default())
			if changes := policy.Diff(parsed(t, rulesText(tt.want)), got.Document); len(changes) > 0 || len(got.Problems) > 0 {
				t.Errorf("%v %v", changes, got.Problems)
			}
			var paths []string
			for _, c := range clashes {
				paths = append(paths, c.Path)
			}
			if got := strings.Join(paths, " "); got != tt.clashes {
				t.Errorf("clashes %q, want %q", got, tt.clashes)
			}
		})
	}
}

func TestMergeOfSettings(t *testing.T) {
	t.Parallel()
	d, clashes, err := policy.Merge(
		parsed(t, `{"default_timeout_minutes": 5, "retention_days": 9, "budget_per_agent": {"energy": 1, "hours": 1}}`),
		parsed(t, `{"default_timeout_minutes": 6, "retention_days": 9, "unmatched": "require", "budget_per_agent": {"energy": 2, "hours": 1}}`),
		parsed(t, `{"default_timeout_minutes": 7, "retention_days": 8}`))
	if err != nil {
		t.Fatal(err)
	}
	want := parsed(t, `{"default_timeout_minutes": 7, "retention_days": 8, "unmatched": "require"}`)
	if changes := policy.Diff(want, d.Check(policy.Default()).Document); len(changes) > 0 {
		t.Errorf("%v", changes)
	}
	if got := fmt.Sprint(clashes); got != `[{default_timeout_minutes 5 6 7} {budget_per_agent.energy 1 2 }]` {
		t.Errorf("%s", got)
	}
}

// Where only one of two changed anything, the merge is what that one wrote.
func TestMergeWithOneWhoChangedNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		valid := documents().Filter(func(d policy.Document) bool {
			raw, err := d.Marshal()
			if err != nil {
				return false
			}
			_, err = policy.Parse(raw)
			return err == nil
		})
		a, b := typable(valid.Draw(t, "a")), typable(valid.Draw(t, "b"))
		for _, c := range []struct{ base, theirs, mine, want policy.Document }{{a, a, b, b}, {a, b, a, b}, {a, b, b, b}} {
			d, clashes, err := policy.Merge(c.base, c.theirs, c.mine)
			if err != nil {
				t.Fatal(err)
			}
			if changes := policy.Diff(c.want, d.Check(policy.Default()).Document); len(changes) > 0 || len(clashes) > 0 {
				t.Fatalf("%v %v", changes, clashes)
			}
		}
	})
}

// A rule's risk comes from the document that its template is from, and the order of
// templates is nobody's conflict.
func TestMergeOfTemplates(t *testing.T) {
	t.Parallel()
	const both = `"templates":[{"name":"high","risk":"high"},{"name":"critical","risk":"critical"}]`
	rule := func(more string) policy.Document {
		return parse(t, `{`+both+`,"rules":[{"name":"r","tools":["x"],"effect":"require"`+more+`}]}`).Document()
	}
	for name, tt := range map[string]struct {
		base, theirs, mine string
		risk               models.Risk
		clashes            int
	}{
		"theirs takes it away":        {`,"template":"high"`, ``, `,"template":"critical"`, models.RiskCritical, 1},
		"theirs says medium besides":  {`,"template":"high"`, `,"risk":"medium"`, `,"template":"critical"`, models.RiskCritical, 2},
		"mine alone":                  {``, ``, `,"template":"critical"`, models.RiskCritical, 0},
		"mine says a risk for theirs": {``, `,"template":"critical"`, `,"risk":"low"`, models.RiskLow, 1},
	} {
		merged, clashes, err := policy.Merge(rule(tt.base), rule(tt.theirs), rule(tt.mine))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := merged.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if j := parse(t, string(raw)).Judge(policy.Call{Kind: models.KindToolCall, ToolName: "x"}); j.Risk != tt.risk || len(clashes) != tt.clashes {
			t.Errorf("%s: risk %s, clashes %+v", name, j.Risk, clashes)
		}
	}
	order := func(names string) policy.Document {
		var list []string
		for _, n := range names {
			list = append(list, `{"name":"`+string(n)+`"}`)
		}
		return parse(t, `{"templates":[`+strings.Join(list, ",")+`]}`).Document()
	}
	if _, clashes, err := policy.Merge(order("abc"), order("bac"), order("acb")); err != nil || len(clashes) > 0 {
		t.Errorf("%+v, %v", clashes, err)
	}
}
