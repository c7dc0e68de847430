package policy_test

import (
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/policy"
)

func TestLint(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		raw  string
		want []string // "path: part of the text"
	}{
		"initial": {`{}`, nil},
		"sound": {`{"required_approval_tools":["deploy"],"rules":[
			{"name":"a","tools":["read","/git_(log|status)/"],"effect":"allow"},
			{"name":"b","tools":["/rm/"],"effect":"deny"},
			{"name":"c","tools":["pay"],"effect":"require","reviewers":["a@b"],"timeout_minutes":3}]}`, nil},
		"off":          {`{"approval_enabled":false}`, []string{"approval_enabled: Approval is off:"}},
		"off until":    {`{"approval_enabled":false,"approval_off_until":"2026-11-23T14:00:00Z"}`, []string{"approval_enabled: Approval is off until 2026-11-23 14:00 UTC:"}},
		"fallback end": {`{"fallback_auto_approve":true,"fallback_until":"2026-11-23T14:00:30Z"}`, []string{"fallback_auto_approve: When no server answers until 2026-11-23 14:00:30 UTC, our clients run calls"}},
		"fallback":     {`{"fallback_auto_approve":true}`, []string{"fallback_auto_approve: When no server"}},
		"listed twice": {`{"required_approval_tools":["a","a"]}`, []string{"required_approval_tools[1]: twice"}},
		"required but allowed": {
			`{"required_approval_tools":["a"],"rules":[{"name":"x","tools":["a"],"effect":"allow"}]}`,
			[]string{"required_approval_tools[0]: “x”"},
		},
		"half a regexp": {
			`{"required_approval_tools":["/rm"],"rules":[{"name":"x","tools":["sh/"],"effect":"deny"}]}`,
			[]string{`required_approval_tools[0]: /^\/rm$/`, `rules[0].tools[0]: write /sh/ for a regular expression, or /^sh\/$/`},
		},
		"held in another letter case": {
			`{"rules":[{"name":"x","tools":["/.*delete.*/"],"effect":"require"},{"name":"y","tools":["DELETE_page"],"effect":"allow"}]}`,
			[]string{"rules[1].tools[0]: but for its letter case it matches “/.*delete.*/” of the rule “x”"},
		},
		"allows everything": {
			`{"rules":[{"name":"x","tools":["/.*/"],"effect":"allow"}]}`,
			[]string{"rules[0].tools[0]: every tool through."},
		},
		"wildcard": {
			`{"rules":[{"name":"x","tools":["/read.*/"],"effect":"allow"}]}`,
			[]string{"rules[0].tools[0]: wildcard"},
		},
		"matches the empty part": {
			`{"rules":[{"name":"x","tools":["/x*/"],"effect":"deny"}]}`,
			[]string{"rules[0].tools[0]: every tool"},
		},
		"shadowed by the same name": {
			`{"rules":[{"name":"x","tools":["a","b"],"effect":"allow"},{"name":"y","tools":["b","a"],"effect":"deny"}]}`,
			[]string{"rules[1]: never applies"},
		},
		"shadowed in part": {
			`{"rules":[{"name":"x","tools":["a"],"effect":"allow"},{"name":"y","tools":["b","a"],"effect":"deny"}]}`,
			[]string{"rules[1].tools[1]: “x”"},
		},
		"shadowed by a regexp": {
			`{"rules":[{"name":"x","tools":["/sh/"],"effect":"deny"},{"name":"y","tools":["bash"],"effect":"allow"}]}`,
			[]string{"rules[1]: never applies"},
		},
		"shadowed by all": {
			`{"rules":[{"name":"x","tools":["/./"],"effect":"require"},{"name":"y","tools":["/rm/"],"effect":"deny"}]}`,
			[]string{"rules[1]: never applies"},
		},
		"the same regexp is narrower under allow": {
			`{"rules":[{"name":"x","tools":["/rm/"],"effect":"allow"},{"name":"y","tools":["/rm/"],"effect":"deny"}]}`, nil,
		},
		"too similar to be allowed": {
			`{"rules":[{"name":"x","tools":["Shell"],"effect":"deny"},{"name":"y","tools":["shell"],"effect":"allow"}]}`,
			[]string{"rules[1].tools[0]: “Shell”"},
		},
		"similar, but never reached at all": {
			`{"rules":[{"name":"x","tools":["Shell"],"effect":"deny"},{"name":"y","tools":["shell"],"effect":"require"},
				{"name":"z","tools":["shell"],"effect":"allow"}]}`,
			[]string{"rules[2]: never applies"},
		},
		"nobody is asked": {
			`{"rules":[{"name":"x","tools":["a"],"effect":"deny","reviewers":["a@b"],"timeout_minutes":3}]}`,
			[]string{"rules[0].reviewers: deny", "rules[0].timeout_minutes: deny"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := policy.ParseStored([]byte(c.raw))
			if err != nil {
				t.Fatal(err)
			}
			got := policy.Lint(p.Document())
			if len(got) != len(c.want) {
				t.Fatalf("warnings are %q, want %q", got, c.want)
			}
			for i, w := range c.want {
				path, text, _ := strings.Cut(w, ": ")
				if got[i].Path != path || !strings.Contains(got[i].Text, text) {
					t.Errorf("warning %d is %q, want %q", i, got[i], w)
				}
			}
		})
	}
}

func TestLintTakesAnInvalidDocument(t *testing.T) {
	t.Parallel()
	policy.Lint(policy.Document{})
	policy.Lint(policy.Document{
		RequiredApprovalTools: []string{"", "/(/"},
		Rules: []policy.Rule{
			{}, {Tools: []string{"", "//", "/(/", "a"}, Effect: "odd", Risk: models.Risk("odd")}, {Tools: []string{"a"}},
		},
	})
}

func TestUnmeetableRules(t *testing.T) {
	t.Parallel()
	ann, bo := policy.Person{Email: "ann@example.com", Admin: true, Owns: true}, policy.Person{Email: "bo@example.com"}
	for name, tt := range map[string]struct {
		rule              policy.Rule
		people            []policy.Person
		unmeetable, stuck bool
	}{
		"no demand":                      {rule: policy.Rule{Reviewers: []string{"gone@example.com"}}, people: []policy.Person{ann}},
		"only, one there":                {rule: policy.Rule{ReviewersOnly: true, Reviewers: []string{"Bo@example.com"}}, people: []policy.Person{ann, bo}},
		"only, nobody there":             {rule: policy.Rule{ReviewersOnly: true, Reviewers: []string{"gone@example.com"}}, people: []policy.Person{ann, bo}, unmeetable: true},
		"never, the only admin owns all": {rule: policy.Rule{SelfApproval: models.SelfNever}, people: []policy.Person{ann, bo}, unmeetable: true},
		"never, one person":              {rule: policy.Rule{SelfApproval: models.SelfNever}, people: []policy.Person{ann}, unmeetable: true},
		"never, another is named":        {rule: policy.Rule{SelfApproval: models.SelfNever, Reviewers: []string{"bo@example.com"}}, people: []policy.Person{ann, bo}},
		"never, the admin owns a part":   {rule: policy.Rule{SelfApproval: models.SelfNever}, people: []policy.Person{ann, {Email: "bo@example.com", Owns: true}}, stuck: true},
		"deny asks nobody":               {rule: policy.Rule{Effect: policy.EffectDeny, SelfApproval: models.SelfNever}, people: []policy.Person{ann}},
	} {
		tt.rule.Name = "Payments"
		doc := policy.Document{Rules: []policy.Rule{tt.rule}}
		if got := doc.Unmeetable(tt.people); (len(got) > 0) != tt.unmeetable {
			t.Errorf("%s: unmeetable %v", name, got)
		}
		if got := doc.Stuck(tt.people); (len(got) > 0) != tt.stuck {
			t.Errorf("%s: stuck %v", name, got)
		}
	}
}

func TestWhoApprovesIsReadWrittenAndCompared(t *testing.T) {
	t.Parallel()
	parse := func(more string) policy.Document {
		p, err := policy.Parse([]byte(`{"rules":[{"name":"Payments","tools":["pay"],"effect":"require","reviewers":["a@example.com"]` + more + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return p.Document()
	}
	plain, strict := parse(`,"self_approval":"allowed"`), parse(`,"reviewers_only":true,"self_approval":"never"`)
	if raw, err := plain.Marshal(); err != nil || strings.Contains(string(raw), "self_approval") {
		t.Errorf("allowed is what is meant without a word: %s, %v", raw, err)
	}
	raw, err := strict.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	again, err := policy.Parse(raw)
	if err != nil || len(policy.Diff(strict, again.Document())) != 0 {
		t.Errorf("%s: %v", raw, err)
	}
	var told []string
	for _, c := range policy.Diff(plain, strict) {
		told = append(told, c.Path+": "+c.Before+" -> "+c.After)
	}
	want := `rules["Payments"].reviewers_only: false -> true; rules["Payments"].self_approval: allowed -> never`
	if got := strings.Join(told, "; "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if j := again.Judge(policy.Call{Kind: models.KindToolCall, ToolName: "pay"}); !j.ReviewersOnly || j.SelfApproval != models.SelfNever {
		t.Errorf("%+v", j)
	}
}
