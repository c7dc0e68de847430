package policy

import (
	"slices"
	"strconv"
	"strings"

	"countersign/models"
)

// templates compares two lists of templates, which are matched by name. Their order means
// nothing.
func (d *differ) templates(a, b []Template) {
	find := func(list []Template, name string) int {
		return slices.IndexFunc(list, func(t Template) bool { return t.Name == name })
	}
	for _, t := range a {
		if find(b, t.Name) < 0 {
			d.changes = append(d.changes, Change{Path: templatePath(t), Before: templateText(t)})
		}
	}
	for _, t := range b {
		if i := find(a, t.Name); i >= 0 {
			d.template(a[i], t)
			continue
		}
		d.changes = append(d.changes, Change{Path: templatePath(t), After: templateText(t)})
	}
}

func templatePath(t Template) string { return "templates[" + strconv.Quote(t.Name) + "]" }

func (d *differ) template(a, b Template) {
	before, after := templateMembers(a), templateMembers(b)
	for i, m := range after {
		d.field(templatePath(b)+"."+m.name, before[i].text, m.text)
	}
}

// memberText is what a member says, in words.
type memberText struct{ name, text string }

func templateMembers(t Template) []memberText {
	risk := none
	if t.Risk != "" {
		risk = string(t.Risk)
	}
	return []memberText{
		{"note", quotedText(t.Note)},
		{"risk", risk},
		{"timeout_minutes", minutesText(t.TimeoutMinutes)},
		{"reviewers", listText(t.Reviewers)},
		{"reviewers_only", strconv.FormatBool(t.ReviewersOnly)},
		{"self_approval", selfText(t.SelfApproval)},
		{"escalate", stepsText(t.Escalate)},
		{"substitutes", substitutesText(t.Substitutes)},
		{"reject_reasons", listText(t.RejectReasons)},
		{"checklist", listText(t.Checklist)},
		{"text", quotedText(t.Text)},
	}
}

// templateText is a whole template in one line: what it says.
func templateText(t Template) string {
	empty := templateMembers(Template{SelfApproval: models.SelfAllowed})
	var parts []string
	for i, m := range templateMembers(t) {
		if m.text != empty[i].text {
			parts = append(parts, m.name+" "+m.text)
		}
	}
	if parts == nil {
		return "says nothing"
	}
	return strings.Join(parts, ", ")
}
