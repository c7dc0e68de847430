package gallery

import (
	"strconv"
	"strings"
	"time"

	"countersign/models/policy"
	"countersign/views/pages"
)

func policyStates() []State {
	page := func(name, note string, in pages.PolicyInput) State {
		return State{Page: "policy", Name: name, Note: note, Component: pages.PolicyPage(Frame("Policy", "/policy"), pages.NewPolicy(in, Now))}
	}
	review := PolicyInput()
	review.Review = true
	review.Form = &pages.PolicyForm{FallbackAutoApprove: true, RequiredApprovalTools: "Bash\n/^git_/\ndeploy", DefaultTimeoutMinutes: "10", BaseVersion: 7}
	review.Changes = []pages.PolicyChange{{Path: "approval_enabled", Before: "true", After: "false"}, {Path: "required_approval_tools", After: "deploy"}}
	wrong := PolicyInput()
	wrong.Form = &pages.PolicyForm{ApprovalEnabled: true, RequiredApprovalTools: "/(/", DefaultTimeoutMinutes: "0", BaseVersion: 7, Errors: map[string]string{"required_approval_tools[0]": "missing closing )", "default_timeout_minutes": "must be at least 1"}}
	stale := PolicyInput()
	stale.Stale, stale.Review, stale.Changes, stale.Form = true, true, review.Changes, review.Form
	reader := PolicyInput()
	reader.Admin, reader.Versions = false, nil
	version := pages.NewPolicyDocument(PolicyInput().Versions[1], []byte(`{"approval_enabled":true,"rules":[]}`), false, Now)
	return []State{
		page(Usual, "Three rules and two versions", PolicyInput()),
		page("review", "What would open the gate is said before saving", review),
		page("errors", "Errors at their fields", wrong),
		page("stale", "Another version was saved meanwhile", stale),
		page("hostile", "Hostile and long values, and many rules and versions", crowdedPolicy()),
		page("reader", "To somebody who may only read", reader),
		{Page: "policy", Name: "guide", Note: "How the policy works", Component: pages.PolicyGuidePage(Frame("How the policy works", "/policy/guide"))},
		{Page: "policy", Name: "version", Note: "An older one, as stored", Component: pages.PolicyVersionPage(Frame("Policy v6", "/policy/versions/6"), version)},
	}
}

// PolicyInput is a policy with three rules, to an admin.
func PolicyInput() pages.PolicyInput {
	return pages.PolicyInput{
		Version: 7, Admin: true, AutoBudgetIncrease: 25, Desk: deskDocument(),
		Fields: pages.PolicyFields{ApprovalEnabled: true, RequiredApprovalTools: []string{"Bash", "/^git_/"}, DefaultTimeoutMinutes: 5},
		Rules: []pages.PolicyRule{
			{Name: "Force push", Tools: []string{"Bash"}, Effect: "require", Risk: "high", TimeoutMinutes: 15, Energy: 1500, Reviewers: []string{"bo@example.org"}, RejectReasons: []string{"Rebase first", "Ask in the channel"}, Reason: "History of a protected branch would be rewritten."},
			{Name: "Reading", Note: "Harmless", Tools: []string{"/read_.*/", "ls"}, Effect: "allow"},
			{Name: "Never", Tools: []string{"/^drop_/"}, Effect: "deny", Reason: "Not here."},
		},
		Versions: []pages.PolicyVersion{
			{Version: 7, Author: "Ada Berg", At: Now.Add(-26 * time.Hour), Note: "Ask Bo about force pushes"},
			{Version: 6, Author: "operator root", At: Now.Add(-80 * time.Hour)},
		},
	}
}

// deskDocument holds approvals of what can do harm for a while.
func deskDocument() policy.Document {
	d := policy.Default()
	d.UndoSeconds = policy.UndoSeconds{High: 10, Critical: 30}
	return d
}

// crowdedPolicy has many rules and versions, named as badly as can be.
func crowdedPolicy() pages.PolicyInput {
	in := PolicyInput()
	in.Rules[0].Name, in.Rules[0].Reason, in.Rules[0].Note = strings.Repeat("unbroken", 15), hostile, strings.Repeat("at length ", 40)
	in.Rules[1].Tools = append(in.Rules[1].Tools, "/"+strings.Repeat("unbroken", 25)+"/", hostile)
	in.Rules[2].Reviewers = []string{strings.Repeat("long", 40) + "@example.org", "<b>@example.org"}
	for i := range 40 {
		in.Rules = append(in.Rules, pages.PolicyRule{Name: "Rule " + strconv.Itoa(i), Tools: []string{"tool_" + strconv.Itoa(i)}, Effect: "require", Risk: "low"})
		in.Versions = append(in.Versions, pages.PolicyVersion{Version: int64(100 - i), Author: hostile, At: Now, Note: strings.Repeat("unbroken", 20)})
	}
	return in
}
