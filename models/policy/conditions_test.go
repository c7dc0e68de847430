package policy_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/policy"
)

func with(tool, input string) policy.Call {
	return policy.Call{Kind: models.KindToolCall, ToolName: tool, At: time.Date(2026, 11, 23, 17, 0, 0, 0, time.UTC), Facts: policy.Facts{
		Agent: "builder", Owner: "ann@example.com", Input: []byte(input),
	}}
}

// A rule applies if the tool matches and the condition is true. What can't be judged
// never lets a call through.
func TestConditionsDecide(t *testing.T) {
	t.Parallel()
	const (
		over  = `{"name":"over","tools":["/^pay/"],"when":"input.amount > 100","effect":"require","risk":"critical","reviewers":["fin@x"]}`
		never = `{"name":"never","tools":["/^pay/"],"when":"input.amount > 1000","effect":"deny"}`
		small = `{"name":"small","tools":["/pay.*/"],"when":"input.amount < 10","effect":"allow","risk":"low"}`
		free  = `{"name":"free","tools":["/.+/"],"effect":"allow","risk":"low"}`
		ask   = `{"name":"ask","tools":["pay"],"effect":"require"}`
	)
	for _, tt := range []struct {
		name, rules, more, tool, input string
		want, why                      string
	}{
		{name: "true", rules: over, input: `{"amount":101}`, want: "require over critical"},
		{name: "false", rules: over, input: `{"amount":99}`, want: "allow unmatched medium policy"},
		{name: "require, another type", rules: over, input: `{"amount":"101"}`, want: "require over critical", why: "can't be judged, so the rule applies: a value is of another type"},
		{name: "deny, true", rules: never, input: `{"amount":2000}`, want: "deny never medium policy"},
		{name: "deny, missing", rules: never, input: `{}`, want: "deny never medium policy", why: "can't be judged, so the rule applies: a member"},
		{name: "allow, true", rules: small, more: `,"unmatched":"require"`, input: `{"amount":5}`, want: "allow small low policy"},
		{name: "allow, false", rules: small, more: `,"unmatched":"require"`, input: `{"amount":50}`, want: "require unmatched medium"},
		{name: "allow, missing", rules: small, input: `{}`, want: "require small high", why: "“small” might let this call through, but its condition can't be judged: a member"},
		{name: "nor does a later rule", rules: small + "," + free, input: `{}`, want: "require small high"},
		{name: "nor one with another name", rules: small + "," + free, input: `{"amount":"5"}`, want: "require small high"},
		{name: "a later rule requires", rules: small + "," + free + "," + ask, input: `{}`, tool: "pay", want: "require ask medium", why: "“small” before it does not let the call through"},
		{name: "a later rule denies", rules: small + "," + never, input: `{"amount":"x"}`, want: "deny never medium policy", why: "can't be judged"},
		{name: "a later condition is false", rules: `{"name":"small","tools":["/pay.*/"],"when":"input.kind < 1","effect":"allow"},` + over, input: `{"amount":1}`, want: "require small high"},
		{name: "the list of tools", rules: small, more: `,"required_approval_tools":["pay"]`, input: `{}`, tool: "pay", want: "require required_approval_tools medium", why: "“small” before it"},
		{name: "an explicit ask", rules: small, input: `{}`, tool: "explicit", want: "require small high"},
		{name: "the next rule for the same name", rules: over + "," + ask, input: `{"amount":1}`, tool: "pay", want: "require ask medium"},
		{
			name: "an exact name after a condition that is false", rules: `{"name":"big","tools":["pay"],"when":"input.amount > 100","effect":"require"},{"name":"rest","tools":["pay"],"effect":"allow","risk":"low"}`,
			input: `{"amount":1}`, tool: "pay", want: "allow rest low policy",
		},
		{name: "a similar name", rules: `{"name":"big","tools":["pay"],"when":"input.amount > 100","effect":"require","risk":"high"},` + free, input: `{"amount":101}`, tool: "Pay", want: "require big high", why: "differs from “pay”"},
		{name: "a similar name that the condition leaves out", rules: `{"name":"big","tools":["pay"],"when":"input.amount > 100","effect":"require","risk":"high"},` + free, input: `{"amount":99}`, tool: "Pay", want: "allow free low policy"},
		{name: "a similar name under doubt", rules: `{"name":"big","tools":["pay"],"when":"input.amount > 100","effect":"require","risk":"high"},` + free, input: `{}`, tool: "Pay", want: "require big high"},
		{name: "another letter case", rules: over, input: `{"amount":101}`, tool: "PAY", want: "require over critical", why: "But for its letter case"},
		{name: "another letter case, false", rules: over, input: `{"amount":1}`, tool: "PAY", want: "allow unmatched medium policy"},
		{name: "doubt, and a similar name behind", rules: small + `,{"name":"x","tools":["Pay"],"effect":"require","risk":"low"}`, input: `{}`, tool: "pay", want: "require x high", why: "differs from “Pay”"},
		{name: "disabled", rules: strings.Replace(over, `"name"`, `"disabled":true,"name"`, 1), input: `{"amount":101}`, want: "allow unmatched medium policy"},
		{name: "gate off", rules: over, more: `,"approval_enabled":false`, input: `{}`, want: "allow over critical gate_off", why: "can't be judged"},
		{name: "gate off, and a deny rule behind what can't be judged", rules: over + "," + never, more: `,"approval_enabled":false`, input: `{"amount":"x"}`, want: "deny never medium policy"},
		{name: "gate off, and a deny rule behind two such", rules: over + "," + strings.Replace(over, `"over"`, `"over again"`, 1) + "," + ask + "," + never, more: `,"approval_enabled":false`, input: `{"amount":"x"}`, want: "deny never medium policy"},
		{name: "gate off, and a deny rule that is false behind it", rules: `{"name":"over","tools":["/^pay/"],"when":"input.note == 1 || input.x > 1","effect":"require","risk":"critical"},` + never, more: `,"approval_enabled":false`, input: `{"amount":5,"note":2}`, want: "allow over critical gate_off", why: "can't be judged"},
		{name: "gate off denies", rules: never, more: `,"approval_enabled":false`, input: `{}`, want: "deny never medium policy"},
		{name: "agent and owner", rules: `{"name":"mine","tools":["pay"],"when":"agent == \"builder\" && owner == \"ann@example.com\"","effect":"require"}`, tool: "pay", want: "require mine medium"},
		{name: "hours, in UTC", rules: `{"name":"late","tools":["pay"],"when":"now.getHours() == 17","effect":"require"}`, tool: "pay", want: "require late medium"},
		{name: "hours, in a zone", rules: `{"name":"late","tools":["pay"],"when":"now.getHours() == 18","effect":"require"}`, more: `,"time_zone":"Europe/Berlin"`, tool: "pay", want: "require late medium"},
		{name: "hours, another zone", rules: `{"name":"late","tools":["pay"],"when":"now.getHours() == 18","effect":"require"}`, more: `,"time_zone":"Asia/Tokyo"`, tool: "pay", want: "allow unmatched medium policy"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := parse(t, `{"rules":[`+tt.rules+`]`+tt.more+`}`)
			c := with(tt.tool, tt.input)
			switch tt.tool {
			case "":
				c.ToolName = "payment.send"
			case "explicit":
				c.ToolName, c.Explicit = "pay", true
			}
			j := p.Judge(c)
			if got := verdict(j); got != tt.want || !strings.Contains(j.Reason, tt.why) {
				t.Errorf("%s (%s); want %s (%s)", got, j.Reason, tt.want, tt.why)
			}
			if strings.Contains(j.Reason, "can't be judged") != j.Unjudged {
				t.Errorf("unjudged: %v: %s", j.Unjudged, j.Reason)
			}
			e := p.Explain(c)
			if last := e.Steps[len(e.Steps)-1]; last.Rule != j.Rule && j.Cause != models.CauseGateOff || verdict(e.Judgement) != tt.want {
				t.Errorf("explained: %+v", e)
			}
		})
	}
}

// What is said by an agent of itself lets nothing through.
func TestAnAllowRuleCantUseClaims(t *testing.T) {
	t.Parallel()
	for effect, want := range map[string]string{"allow": "must not use conversation and kind in a rule that allows", "require": "", "deny": ""} {
		_, err := policy.Parse([]byte(`{"rules":[{"name":"x","tools":["a"],"effect":"` + effect + `","when":"kind == \"a\" || conversation == \"b\""}]}`))
		if want == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if got := fields(t, err)["rules[0].when"]; !strings.Contains(got, want) {
			t.Errorf("%s: %q", effect, got)
		}
	}
}

// A condition that can't be read is refused; one that was stored fails for every call.
func TestAConditionThatCantBeRead(t *testing.T) {
	t.Parallel()
	const doc = `{"time_zone":"Local","rules":[{"name":"x","tools":["a"],"effect":"require","when":"amount > 1"}]}`
	_, err := policy.Parse([]byte(doc))
	got := fields(t, err)
	if !strings.Contains(got["rules[0].when"], "I don't understand “amount” here") || !strings.Contains(got["time_zone"], "Europe/Berlin") {
		t.Errorf("%v", got)
	}
	stored, err := policy.ParseStored([]byte(strings.Replace(doc, "Local", "UTC", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if j := stored.Judge(with("a", `{}`)); j.Effect != policy.EffectRequire || !j.Unjudged || !strings.Contains(j.Reason, "can no longer be read") {
		t.Errorf("%+v", j)
	}
}

// Only what may depend on facts asks for them.
func TestConditional(t *testing.T) {
	t.Parallel()
	p := parse(t, `{"rules":[{"name":"a","tools":["all"],"effect":"allow"},{"name":"b","tools":["/./"],"effect":"require","when":"input.a"},{"name":"off","tools":["x"],"effect":"require","disabled":true,"when":"input.a"}]}`)
	for tool, want := range map[string]bool{"all": false, "other": true, "ALL": true} {
		if got := p.Conditional(tool); got != want {
			t.Errorf("%s: %v", tool, got)
		}
	}
	if parse(t, `{"rules":[{"name":"b","tools":["/./"],"effect":"require"}]}`).Conditional("x") {
		t.Error("without conditions")
	}
}

// Judging agrees with the rules read one after another, whatever names were judged before
// and were remembered.
func TestJudgingAgreesWithReadingRulesInOrder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	words := []string{"pay", "pay_list", "read", "git_push", "bash", "x"}
	entries := append([]string{"/pay/", "/^git/", "/read|list/", "/./", "/^x$/"}, words...)
	conditions := []string{"", "", "input.n > 1", "input.n < 1", "input.s == \"a\"", "has(input.n)", "tool == \"pay\""}
	inputs := []string{`{}`, `{"n":0}`, `{"n":2}`, `{"n":"2"}`, `{"s":"a"}`, `{"n":99999999999999999999}`}
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	results := map[string]int{}
	for range 300 {
		doc := policy.Default()
		for i := range 1 + r.IntN(6) {
			doc.Rules = append(doc.Rules, policy.Rule{
				Name: fmt.Sprint("rule ", i), Tools: []string{pick(entries), pick(entries)}, When: pick(conditions), Risk: models.RiskLow,
				Effect: policy.Effect(pick([]string{"allow", "require", "deny"})),
			})
		}
		p, alone := compiled(t, doc), oneByOne(t, doc)
		for range 40 {
			c := with(pick(words), pick(inputs))
			j := p.Judge(c)
			if got, want := fmt.Sprint(j.Effect, " ", j.Rule), inOrder(doc, alone, c); got != want {
				t.Fatalf("%s %s under %+v: %s, want %s", c.ToolName, c.Facts.Input, doc.Rules, got, want)
			}
			results[string(j.Effect)+fmt.Sprint(j.Unjudged)]++
			e := p.Explain(c)
			last := e.Steps[len(e.Steps)-1]
			if last.Rule != j.Rule || e.Judgement.Reason != j.Reason || slices.ContainsFunc(e.Steps[:len(e.Steps)-1], func(s policy.Step) bool { return s.By != "" }) {
				t.Fatalf("%s %s: %+v explained as %+v", c.ToolName, c.Facts.Input, j, e.Steps)
			}
		}
	}
	if len(results) != 5 { // what can't be judged is never let through
		t.Errorf("not all cases were seen: %v", results)
	}
}

// oneByOne are policies of one rule each, which have nothing to remember or to skip.
func oneByOne(t *testing.T, doc policy.Document) []*policy.Policy {
	t.Helper()
	var out []*policy.Policy
	for _, rule := range doc.Rules {
		one := policy.Default()
		one.Rules = []policy.Rule{rule}
		out = append(out, compiled(t, one))
	}
	return out
}

// inOrder judges by them, one after another.
func inOrder(doc policy.Document, alone []*policy.Policy, c policy.Call) string {
	doubt := ""
	for i, rule := range doc.Rules {
		j := alone[i].Judge(c)
		switch {
		case j.Rule != rule.Name:
			continue
		case j.Effect == policy.EffectRequire && rule.Effect == policy.EffectAllow:
			if doubt == "" {
				doubt = "require " + rule.Name
			}
		case rule.Effect == policy.EffectAllow && doubt != "":
		default:
			return fmt.Sprint(j.Effect, " ", j.Rule)
		}
	}
	if doubt != "" {
		return doubt
	}
	return "allow unmatched"
}

// A thousand rules, most with a condition, cost little after a tool's first call.
func BenchmarkJudgeThousandRules(b *testing.B) {
	doc := policy.Default()
	for i := range 1000 {
		rule := policy.Rule{Name: fmt.Sprint("rule ", i), Tools: []string{fmt.Sprintf("/^tool%d$/", i)}, Effect: policy.EffectRequire, Risk: models.RiskMedium}
		if i%20 == 0 {
			rule.Tools, rule.When = []string{"/^pay/"}, fmt.Sprintf("input.amount > %d", 1000+i)
		}
		doc.Rules = append(doc.Rules, rule)
	}
	for name, n := range map[string]int{"without conditions": 0, "50 conditions reached": 50} {
		b.Run(name, func(b *testing.B) {
			d := doc
			if n == 0 {
				d.Rules = slices.DeleteFunc(slices.Clone(doc.Rules), func(r policy.Rule) bool { return r.When != "" })
			}
			p := compiled(b, d)
			c := with("payment.send", `{"amount":500,"to":"ann"}`)
			p.Judge(c)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				p.Judge(c)
			}
		})
	}
}
