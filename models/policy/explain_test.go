package policy_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/policy"
)

func TestExplainSaysWhyEachRuleDidNotDecide(t *testing.T) {
	t.Parallel()
	p := parse(t, `{"unmatched": "require", "required_approval_tools": ["Bash", "/^git_/"], "rules": [
		{"name": "off", "tools": ["/pay/"], "effect": "deny", "disabled": true},
		{"name": "reads", "tools": ["Read", "/list$/"], "effect": "allow"},
		{"name": "payments", "tools": ["x", "/^payment/"], "effect": "require", "risk": "high"},
		{"name": "pay list", "tools": ["payList"], "effect": "allow"}]}`)
	for _, tt := range []struct{ tool, want string }{
		{"payment.send", "off: It is disabled. | reads: None of its tools matches. | payments: The tool matches “/^payment/”."},
		{"Read", "off: It is disabled. | reads: The tool matches “Read”."},
		{"Bash", "off: It is disabled. | reads: None of its tools matches. | payments: None of its tools matches. | pay list: None of its tools matches. | required_approval_tools: The tool matches “Bash”."},
		{"other", "off: It is disabled. | reads: None of its tools matches. | payments: None of its tools matches. | pay list: None of its tools matches. | required_approval_tools: None of the tools in it matches. | unmatched: No rule concerns this tool, and the policy requires approval of such calls."},
	} {
		e := p.Explain(policy.Call{Kind: models.KindToolCall, ToolName: tt.tool})
		var got []string
		for _, s := range e.Steps {
			got = append(got, s.Rule+": "+s.Why)
		}
		if text := strings.Join(got, " | "); text != tt.want {
			t.Errorf("%s:\n%s\nwant\n%s", tt.tool, text, tt.want)
		}
	}
}

// What is explained is what is judged: the last step decided, and it is the first that
// matches.
func TestExplainAgreesWithJudge(t *testing.T) {
	t.Parallel()
	words := []string{"pay", "Pay", "pay_list", "pay-list", "read", "READ", "git_push", "git push", "Bash", "bash", "x", "deploy.prod"}
	entries := append([]string{"/pay/", "/^git/", "/read|list/", "/./", "/(?-i)Bash/", "/^x$/"}, words...)
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	for range 1000 {
		doc := policy.Default()
		doc.ApprovalEnabled = r.IntN(8) > 0
		for range r.IntN(3) {
			doc.RequiredApprovalTools = append(doc.RequiredApprovalTools, pick(entries))
		}
		for i := range r.IntN(5) {
			doc.Rules = append(doc.Rules, policy.Rule{
				Name: "rule " + string(rune('a'+i)), Tools: []string{pick(entries), pick(entries)}, Risk: models.RiskMedium,
				Effect: policy.Effect(pick([]string{"allow", "require", "deny"})), Disabled: r.IntN(5) == 0,
			})
		}
		raw, err := doc.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		p := parse(t, string(raw))
		for range 100 {
			call := policy.Call{Kind: models.KindToolCall, ToolName: pick(words), Explicit: r.IntN(3) == 0}
			if r.IntN(10) == 0 {
				call.Kind = models.KindProposal
			}
			e, j := p.Explain(call), p.Judge(call)
			last := e.Steps[len(e.Steps)-1]
			if e.Judgement.Effect != j.Effect || e.Judgement.Rule != j.Rule || last.Rule != j.Rule || e.Judgement.Reason != j.Reason {
				t.Fatalf("%+v of %s: %+v, judged %+v", call, raw, e, j)
			}
			for i, s := range e.Steps {
				if s.By != "" && i < len(e.Steps)-2 {
					t.Fatalf("%+v of %s: something decides before the last step: %+v", call, raw, e.Steps)
				}
			}
		}
	}
}
