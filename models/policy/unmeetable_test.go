package policy_test

import (
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/policy"
)

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
