package policies

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"countersign/models"
	"countersign/models/policy"
	"countersign/views"
	"countersign/views/ui"
)

// templatePolicyFields are the members of a template, in the order of its form.
var templatePolicyFields = []policyField{
	{
		path: "name", label: "Name",
		help: "Letters a-z, digits, hyphens, underscores and dots, such as payments. Agents may name it too.", mono: true,
	},
	{
		path: "text", label: "Text beside the request", help: "For the reviewer: what to look at, and where.", rows: 3,
		optional: true,
	},
	{
		path: "checklist", label: "Checklist", help: checklistHelp, rows: 4,
		optional: true,
	},
	{path: "risk", label: "Risk", choices: append([]ui.Choice{{Value: "", Label: "not set"}}, riskChoices()...)},
	{path: "timeout_minutes", label: "Minutes until it expires", least: "1", optional: true},
	{
		path: "reviewers", label: "Reviewers",
		help: "Who may decide, in addition to the agent's owner and admins. Empty a line to remove one.", optional: true,
	},
	{
		path: "reviewers_only", label: "Only these reviewers may approve",
		help: "The owner and admins may still reject and cancel.",
	},
	{
		path: "self_approval", label: "The agent's owner",
		choices: []ui.Choice{
			{Value: "", Label: "may approve; not where several sign what is of high risk"},
			{Value: string(models.SelfAllowed), Label: "may approve"},
			{Value: string(models.SelfNotAlone), Label: "may approve, but not alone"},
			{Value: string(models.SelfNever), Label: "may not approve"},
		},
	},
	{path: "approvals", label: "Who must sign", help: signersHelp, optional: true},
	{path: "any", label: "One of these entries will do", help: "Otherwise all of them must be met, by different people."},
	{path: "stages", label: "In this order", help: "The next entry is asked when the one before it has signed."},
	{path: "reject_count", label: "How many reject it", help: "Empty: one rejection ends a request.", least: "1", optional: true},
	{path: "show_progress", label: "The agent sees how many have signed", help: "It never sees who."},
	{path: "break_glass", label: "Break glass", help: breakGlassHelp, rows: 2, optional: true},
	{path: "escalate", label: "Escalate", help: escalateHelp, rows: 2, optional: true},
	{path: "substitutes", label: "Substitutes may act", help: substitutesHelp},
	{
		path: "reject_reasons", label: "Reasons to reject", help: "Offered when rejecting, one per line.", rows: 3,
		optional: true,
	},
	{path: "note", label: "Note", help: "For people who edit the policy.", rows: 2, optional: true},
}

// TemplateRow is one template in the list.
type TemplateRow struct {
	Index      int
	Name, Note string
	Says       string
	Risk       ui.Word
	UsedBy     []string // the rules that name it
	Faults     []string
	Remarks    []Remark
}

// templateRows show the templates as they are written so far.
func templateRows(in DraftInput) []TemplateRow {
	var out []TemplateRow
	for i, form := range in.Templates {
		row := TemplateRow{
			Index: i, Name: form["name"], Note: form["note"], Says: templateSays(form),
			Faults:  faultsAt(in.Problems, fmt.Sprintf("templates[%d]", i)),
			Remarks: remarksAt(in.Warnings, fmt.Sprintf("templates[%d]", i)),
		}
		if form["risk"] != "" {
			row.Risk = ui.RiskWord(models.Risk(form["risk"]))
		}
		for _, rule := range in.Rules {
			if form["name"] != "" && rule["template"] == form["name"] {
				row.UsedBy = append(row.UsedBy, rule["name"])
			}
		}
		out = append(out, row)
	}
	return out
}

// templateSays is what a template says, in one line.
func templateSays(form policy.Form) string {
	var says []string
	if then := thenText(form); then != "" {
		says = append(says, then)
	}
	if form["text"] != "" {
		says = append(says, "“"+form["text"]+"”")
	}
	return strings.Join(says, "; ")
}

// faultsAt are the problems of one rule or template, by its members.
func faultsAt(problems map[string]string, at string) []string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(problems)) {
		if path == at || strings.HasPrefix(path, at+".") {
			out = append(out, strings.TrimPrefix(strings.TrimPrefix(path, at), ".")+" "+problems[path])
		}
	}
	return out
}

// ruleRisk is the risk of a rule, its own or that of its template.
func ruleRisk(form policy.Form, templates []policy.Form) models.Risk {
	risk := form["risk"]
	for _, t := range templates {
		if risk == "" && t["name"] != "" && t["name"] == form["template"] {
			risk = t["risk"]
		}
	}
	return cmp.Or(models.Risk(risk), models.RiskMedium)
}

// templateChoices are the templates that a rule may name.
func templateChoices(names []string) []ui.Choice {
	out := []ui.Choice{{Value: "", Label: "none"}}
	for _, name := range names {
		out = append(out, ui.Choice{Value: name, Label: name})
	}
	return out
}

// TemplateForm is the form of one template.
type TemplateForm struct {
	RuleForm

	UsedBy []string // the rules that name it
}

// NewTemplateForm makes the form of one template; in is about a template in the
// place of a rule.
func NewTemplateForm(in RuleInput, usedBy []string) TemplateForm {
	at := fmt.Sprintf("templates[%d].", in.Index)
	v := TemplateForm{UsedBy: usedBy, RuleForm: RuleForm{
		Title: "Template “" + in.Was + "”", URL: views.PolicyTemplateURL(in.Index + 1), Was: in.Was, Notice: in.Notice,
		Base: strconv.FormatInt(in.Base, 10), Revision: strconv.FormatInt(in.Revision, 10), New: in.New, People: in.People,
	}}
	if in.New {
		v.Title, v.URL = "A new template", views.NewPolicyTemplateURL()
	}
	for _, f := range templatePolicyFields {
		v.Fields = append(v.Fields, drawField(f, policy.TemplateFields(), in.Form, at, in.Problems))
	}
	if text := in.Form["reviewers"]; text != "" {
		v.Reviewers = strings.Split(text, "\n")
	}
	for range spareReviewers {
		v.Reviewers = append(v.Reviewers, "")
	}
	v.ReviewersError = problemAt(in.Problems, at+"reviewers")
	v.Signers, v.SignersSay = signersRows(in), signersSay(in.Form)
	v.Others = otherProblems(in.Problems, policy.TemplateFields(), at)
	return v
}
