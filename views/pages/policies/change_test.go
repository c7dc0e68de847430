package policies_test

import (
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/policy"
	"countersign/views/gallery"
	"countersign/views/pages/pagestest"
	"countersign/views/pages/policies"
)

// drawReview is the review of a draft, and what it says of each change.
func drawReview(t *testing.T, in policies.ReviewInput) (html string, said []string) {
	t.Helper()
	html = pagestest.Draw(t, policies.ReviewPage(gallery.Frame("", "/policy"), policies.NewReview(in)))
	items := pagestest.Read(t, policies.ReviewPage(gallery.Frame("", "/policy"), policies.NewReview(in))).Find("#changes > li")
	for i := range items.Length() {
		parts := items.Eq(i).Find("p")
		var texts []string
		for k := range parts.Length() {
			texts = append(texts, strings.Fields(parts.Eq(k).Text())...)
		}
		said = append(said, strings.Join(texts, " "))
	}
	return html, said
}

func TestEachChangeIsSaidInASentence(t *testing.T) {
	t.Parallel()
	rule := policy.Rule{Name: "Payments", Tools: []string{"pay"}, Effect: policy.EffectRequire, Risk: models.RiskHigh, TimeoutMinutes: new(60), Reviewers: []string{"group:finance"}, ReviewersOnly: true}
	with := func(change func(*policy.Rule)) policy.Rule {
		r := rule
		change(&r)
		return r
	}
	rules := func(r ...policy.Rule) policy.Document {
		d := policy.Default()
		d.Rules = r
		return d
	}
	templates := func(list ...policy.Template) policy.Document {
		d := policy.Default()
		d.Templates = list
		return d
	}
	settings := func(change func(*policy.Document)) policy.Document {
		d := policy.Default()
		change(&d)
		return d
	}
	for _, c := range []struct {
		name          string
		before, after policy.Document
		want          string
	}{
		{"new rule", rules(), rules(rule), "New rule Payments: calls wait for finance only, high risk, 1 hour. pay"},
		{"new rule of two", rules(rule), rules(policy.Rule{Name: "No", Tools: []string{"rm", "/^drop/"}, When: "tool == 'rm'", Effect: policy.EffectDeny, Reason: "Never."}, rule), "New rule No: calls are denied. It is rule 1 of 2. rm, /^drop/ when tool == 'rm' “Never.”"},
		{"gone", rules(rule), rules(), "Rule Payments is deleted. Before: calls wait for finance only, high risk, 1 hour. pay"},
		{"disabled", rules(rule), rules(with(func(r *policy.Rule) { r.Disabled = true })), "Rule Payments: it is disabled."},
		{"enabled", rules(with(func(r *policy.Rule) { r.Disabled = true })), rules(rule), "Rule Payments: it is enabled."},
		{"tools", rules(rule), rules(with(func(r *policy.Rule) { r.Tools = []string{"send", "wire"} })), "Rule Payments: also covers send, wire, no longer covers pay."},
		{"condition", rules(rule), rules(with(func(r *policy.Rule) { r.When = "input.a > 1" })), "Rule Payments: it applies only where input.a > 1 (before: every call of its tools)."},
		{"no condition", rules(with(func(r *policy.Rule) { r.When = "input.a > 1" })), rules(rule), "Rule Payments: it applies to every call of its tools (before: only where input.a > 1)."},
		{"effect", rules(rule), rules(with(func(r *policy.Rule) { r.Effect = policy.EffectDeny })), "Rule Payments: calls are denied (before: wait for a person)."},
		{"time", rules(rule), rules(with(func(r *policy.Rule) { r.TimeoutMinutes = new(5) })), "Rule Payments: a call waits 5 minutes (before: 1 hour)."},
		{"no time", rules(rule), rules(with(func(r *policy.Rule) { r.TimeoutMinutes = nil })), "Rule Payments: a call waits as long as usual (before: 1 hour)."},
		{"risk and owner", rules(rule), rules(with(func(r *policy.Rule) { r.Risk, r.SelfApproval = models.RiskLow, models.SelfNever })), "Rule Payments: risk high → low; the agent's owner may no longer approve."},
		{"owner again", rules(with(func(r *policy.Rule) { r.SelfApproval = models.SelfNever })), rules(rule), "Rule Payments: the agent's owner may approve."},
		{"reviewers", rules(rule), rules(with(func(r *policy.Rule) { r.Reviewers = []string{"ann@example.com"} })), "Rule Payments: also asks ann@example.com, no longer asks finance."},
		{"not only", rules(rule), rules(with(func(r *policy.Rule) { r.ReviewersOnly = false })), "Rule Payments: not only its reviewers may approve any more, but the agent's owner and admins too."},
		{"checklist", rules(rule), rules(with(func(r *policy.Rule) { r.Checklist = []string{"Paid once"} })), "Rule Payments: an approver ticks Paid once."},
		{"escalate", rules(rule), rules(with(func(r *policy.Rule) {
			r.Escalate = []policy.Escalation{{AfterMinutes: 2, To: []string{"group:oncall"}}}
		})), "Rule Payments: escalates after minutes: 2: group:oncall."},
		{"the rest", rules(rule), rules(with(func(r *policy.Rule) {
			r.Substitutes, r.Reason, r.Energy, r.NotifyHeadline, r.Note, r.RejectReasons = new(false), "Money.", 5, true, "Ours", []string{"No"}
		})), "Rule Payments: note none → \"Ours\"; substitutes may no longer act; reason none → \"Money.\"; offers as reasons to reject No; minimum energy 0 → 5; notifications may show the headline."},
		{"order", rules(rule, policy.Rule{Name: "b", Tools: []string{"b"}, Effect: policy.EffectDeny}), rules(policy.Rule{Name: "b", Tools: []string{"b"}, Effect: policy.EffectDeny}, rule), `Order of rules: "Payments", "b" → "b", "Payments".`},
		{"new template", templates(), templates(policy.Template{Name: "pay", Checklist: []string{"Seen"}}), "New template pay: checklist: Seen."},
		{"template", templates(policy.Template{Name: "pay"}), templates(policy.Template{Name: "pay", Text: "Look.", Checklist: []string{"Seen"}, SelfApproval: models.SelfNever}), `Template pay: the agent's owner may no longer approve; an approver ticks Seen; text beside the request none → "Look.".`},
		{"template gone", templates(policy.Template{Name: "pay"}), templates(), "Template pay is deleted. Before: says nothing."},
		{"minutes", settings(func(*policy.Document) {}), settings(func(d *policy.Document) { d.DefaultTimeoutMinutes = 7 }), "Minutes until a tool call expires: 5 → 7."},
		{"gate", settings(func(*policy.Document) {}), settings(func(d *policy.Document) { d.ApprovalEnabled = false }), "Approval is switched off."},
		{"required", settings(func(*policy.Document) {}), settings(func(d *policy.Document) { d.RequiredApprovalTools = []string{"a"} }), "Tools that need approval: a."},
		{"everything else", settings(func(*policy.Document) {}), settings(func(d *policy.Document) { d.Unmatched = policy.EffectRequire }), "Everything else: is allowed → waits for a person."},
		{"a switch", settings(func(*policy.Document) {}), settings(func(d *policy.Document) { d.GrantsEnabled = false }), "Calls may be pre-approved: on → off."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			html, said := drawReview(t, policies.ReviewInput{Before: c.before, After: c.after})
			if got := strings.Join(said, " | "); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
			for _, path := range []string{"rules[", "templates[", "self_approval:"} {
				if strings.Contains(html, path) {
					t.Errorf("%s is on the page", path)
				}
			}
			if !strings.Contains(html, `class="diff"`) {
				t.Error("the difference is not below")
			}
		})
	}
}

// Of each rule that changes it is said what becomes of the last calls, those that it decides and those that it decided.
func TestAReviewSaysWhatEachRuleWouldHaveDone(t *testing.T) {
	t.Parallel()
	before, after := policy.Default(), policy.Default()
	before.Rules = []policy.Rule{{Name: "Gone", Tools: []string{"ls"}, Effect: policy.EffectAllow}, {Name: "Same", Tools: []string{"x"}, Effect: policy.EffectDeny}}
	after.Rules = []policy.Rule{{Name: "Payments", Tools: []string{"pay"}, Effect: policy.EffectRequire}, {Name: "Same", Tools: []string{"x"}, Effect: policy.EffectDeny, Reason: "No."}}
	var tally policy.Tally
	add := func(n int, old, oldRule, fresh, rule string) {
		for range n {
			s := policy.Shift{Old: policy.Outcome{Effect: policy.Effect(old), Rule: oldRule}, New: policy.Outcome{Effect: policy.Effect(fresh), Rule: rule}}
			tally.Add("pay", s, true, true)
		}
	}
	add(7, "allow", "unmatched", "require", "Payments")
	add(2, "require", "explicit ask", "require", "Payments")
	add(3, "allow", "Gone", "require", "Payments")
	add(4, "allow", "Gone", "deny", "Same")
	for range 984 {
		tally.Add("ls", policy.Shift{}, false, true)
	}
	_, said := drawReview(t, policies.ReviewInput{Before: before, After: after, Replay: &tally})
	got := strings.Join(said, "\n")
	for _, want := range []string{
		"Rule Gone is deleted. Before: calls run without a person. ls Of the last 1,000 calls, 3 would have waited, 4 would have been denied.",
		"Of the last 1,000 calls, 10 would have waited, 2 would have waited under different terms.",
		`Rule Same: reason none → "No.". Of the last 1,000 calls, 4 would have been denied.`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}
