package gallery

import (
	"strings"

	"countersign/models/policy"
	"countersign/views/pages/policies"
)

// policyTemplate is what the form of a template shows of some members.
func policyTemplate(members ...string) policy.Form {
	d := emptyDraft()
	form := d.Template(0)
	for i := 0; i+1 < len(members); i += 2 {
		form[members[i]] = members[i+1]
	}
	d.PutTemplate(0, form)
	return d.Template(0)
}

func paymentsTemplate() policy.Form {
	return policyTemplate("name", "payments", "risk", "high", "timeout_minutes", "60", "reviewers", "finance@example.com",
		"reviewers_only", "true",
		"checklist", "The recipient is known\nThe amount matches the invoice", "text",
		"Invoices are in the folder Finance, by month.", "note", "Agreed with finance")
}

func templateInput() (policies.RuleInput, []string) {
	return policies.RuleInput{
		Was: "payments", Base: 7, Revision: 3, Form: paymentsTemplate(),
		People: []string{"ada@example.com", "bo@example.org"},
	}, []string{"payouts", "safe " + hostile}
}

func wrongTemplate() policies.RuleInput {
	in := policies.RuleInput{
		New: true, Index: 1, Base: 7,
		Form:   policyTemplate("name", "Pay "+hostile, "checklist", strings.Repeat("long ", 50), "reviewers", "bo"),
		Notice: "Some fields are not valid yet. Correct the marked ones; your draft is kept.",
	}
	in.Problems = map[string]string{
		"templates[1].name":         "must be 1 to 64 letters a-z, digits, hyphens, underscores and dots, such as \"payments\"",
		"templates[1].checklist[0]": "is 250 bytes long; at most 200 are allowed",
		"templates[1].reviewers[0]": "must be an e-mail address such as ann@example.com",
		"templates[1].colour":       "is not a member of the policy; names are lower case with underscores",
	}
	return in
}

// templatesPolicy is a draft with templates.
func templatesPolicy() policies.Input {
	in := PolicyInput()
	rules := append([]policy.Form{}, in.Draft.Rules...)
	in.Draft.Rules = append([]policy.Form{policyRule("name", "payouts", "tools", "/^payouts/", "template", "payments", "risk", "")}, rules...)
	in.Draft.Templates = []policy.Form{paymentsTemplate(), policyTemplate("name", "odd", "text", hostile)}
	in.Draft.Problems = map[string]string{"templates[1].text": "is 3000 bytes long; at most 2048 are allowed"}
	return in
}
