package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"countersign/models"
)

// Change is one difference between two documents, in words for people. Before is empty for a new member, After for a
// removed one.
type Change struct{ Path, Before, After string }

// none is how a missing value is shown.
const none = "none"

// Diff lists what changes from a to b: fields first, then rules, which are
// matched by name, then their order. It takes any documents, valid or not.
func Diff(a, b Document) []Change {
	d := &differ{}
	d.field("approval_enabled", strconv.FormatBool(a.ApprovalEnabled), strconv.FormatBool(b.ApprovalEnabled))
	d.field("approval_off_until", untilText(a.ApprovalOffUntil), untilText(b.ApprovalOffUntil))
	d.field("required_approval_tools", listText(a.RequiredApprovalTools), listText(b.RequiredApprovalTools))
	d.field("default_timeout_minutes", strconv.Itoa(a.DefaultTimeoutMinutes), strconv.Itoa(b.DefaultTimeoutMinutes))
	d.field("max_timeout_minutes", strconv.Itoa(a.MaxTimeoutMinutes), strconv.Itoa(b.MaxTimeoutMinutes))
	d.field("proposal_timeout_minutes", minutesText(a.ProposalTimeoutMinutes), minutesText(b.ProposalTimeoutMinutes))
	d.field("fallback_auto_approve", strconv.FormatBool(a.FallbackAutoApprove), strconv.FormatBool(b.FallbackAutoApprove))
	d.field("fallback_until", untilText(a.FallbackUntil), untilText(b.FallbackUntil))
	d.field("auto_budget_increase", strconv.FormatInt(a.AutoBudgetIncrease, 10),
		strconv.FormatInt(b.AutoBudgetIncrease, 10))
	d.field("budget_per_agent", a.BudgetPerAgent.String(), b.BudgetPerAgent.String())
	d.field("undo_seconds", a.UndoSeconds.String(), b.UndoSeconds.String())
	d.field("max_pause_minutes", strconv.Itoa(a.MaxPauseMinutes), strconv.Itoa(b.MaxPauseMinutes))
	d.field("explicit_response_id", strconv.FormatBool(a.ExplicitResponseID), strconv.FormatBool(b.ExplicitResponseID))
	d.field("grants_enabled", strconv.FormatBool(a.GrantsEnabled), strconv.FormatBool(b.GrantsEnabled))
	d.field("grant_max_hours", strconv.Itoa(a.GrantMaxHours), strconv.Itoa(b.GrantMaxHours))
	d.field("grant_max_uses", strconv.Itoa(a.GrantMaxUses), strconv.Itoa(b.GrantMaxUses))
	d.field("max_asks_per_reviewer_hour", strconv.Itoa(a.MaxAsksPerReviewerHour), strconv.Itoa(b.MaxAsksPerReviewerHour))
	d.field("flood_per_hour", strconv.Itoa(a.FloodPerHour), strconv.Itoa(b.FloodPerHour))
	d.field("attention_signals", strconv.FormatBool(a.AttentionSignals), strconv.FormatBool(b.AttentionSignals))
	d.field("retention_days", strconv.Itoa(a.RetentionDays), strconv.Itoa(b.RetentionDays))
	d.field("policy_approvals", strconv.Itoa(a.PolicyApprovals), strconv.Itoa(b.PolicyApprovals))
	d.field("policy_alone_minutes", strconv.Itoa(a.PolicyAloneMinutes), strconv.Itoa(b.PolicyAloneMinutes))
	d.field("time_zone", cmp.Or(a.TimeZone, defaultZone), cmp.Or(b.TimeZone, defaultZone))
	d.field("unmatched", string(a.Unmatched), string(b.Unmatched))
	d.templates(a.Templates, b.Templates)
	d.rules(a.Rules, b.Rules)
	return d.changes
}

type differ struct{ changes []Change }

func (d *differ) field(path, before, after string) {
	if before != after {
		d.changes = append(d.changes, Change{Path: path, Before: before, After: after})
	}
}

func (d *differ) rules(a, b []Rule) {
	for _, r := range a {
		if find(b, r.Name) < 0 {
			d.changes = append(d.changes, Change{Path: rulePath(r), Before: ruleText(r)})
		}
	}
	for i, r := range b {
		if j := find(a, r.Name); j >= 0 {
			d.rule(a[j], r)
			continue
		}
		text := fmt.Sprintf("rule %d of %d: %s", i+1, len(b), ruleText(r))
		d.changes = append(d.changes, Change{Path: rulePath(r), After: text})
	}
	d.field("order of rules", orderText(a, b), orderText(b, a))
}

func (d *differ) rule(a, b Rule) {
	path := rulePath(b)
	d.field(path+".disabled", strconv.FormatBool(a.Disabled), strconv.FormatBool(b.Disabled))
	d.field(path+".note", quotedText(a.Note), quotedText(b.Note))
	d.field(path+".tools", listText(a.Tools), listText(b.Tools))
	d.field(path+".when", quotedText(a.When), quotedText(b.When))
	d.field(path+".effect", string(a.Effect), string(b.Effect))
	d.field(path+".timeout_minutes", minutesText(a.TimeoutMinutes), minutesText(b.TimeoutMinutes))
	d.field(path+".template", quotedText(a.Template), quotedText(b.Template))
	d.field(path+".checklist", listText(a.Checklist), listText(b.Checklist))
	d.field(path+".risk", ruleRisk(a), ruleRisk(b))
	d.field(path+".reviewers", listText(a.Reviewers), listText(b.Reviewers))
	d.field(path+".readers", listText(a.Readers), listText(b.Readers))
	d.field(path+".reviewers_only", strconv.FormatBool(a.ReviewersOnly), strconv.FormatBool(b.ReviewersOnly))
	d.field(path+".self_approval", selfText(a.SelfApproval), selfText(b.SelfApproval))
	d.field(path+".approvals", a.Quorum.text(), b.Quorum.text())
	d.field(path+".escalate", stepsText(a.Escalate), stepsText(b.Escalate))
	d.field(path+".substitutes", substitutesText(a.Substitutes), substitutesText(b.Substitutes))
	d.field(path+".when_busy", cmp.Or(string(a.WhenBusy), none), cmp.Or(string(b.WhenBusy), none))
	d.field(path+".reason", quotedText(a.Reason), quotedText(b.Reason))
	d.field(path+".reject_reasons", listText(a.RejectReasons), listText(b.RejectReasons))
	d.field(path+".energy", strconv.FormatInt(a.Energy, 10), strconv.FormatInt(b.Energy, 10))
	d.field(path+".notify_headline", strconv.FormatBool(a.NotifyHeadline), strconv.FormatBool(b.NotifyHeadline))
}

func find(rules []Rule, name string) int {
	return slices.IndexFunc(rules, func(r Rule) bool { return r.Name == name })
}

func rulePath(r Rule) string { return "rules[" + strconv.Quote(r.Name) + "]" }

// ruleText is a whole rule in one line.
func ruleText(r Rule) string {
	var b strings.Builder
	if r.Disabled {
		b.WriteString("disabled: ")
	}
	fmt.Fprintf(&b, "%s %s, risk %s", r.Effect, listText(r.Tools), ruleRisk(r))
	if r.Template != "" {
		fmt.Fprintf(&b, ", template %s", strconv.Quote(r.Template))
	}
	if len(r.Checklist) > 0 {
		fmt.Fprintf(&b, ", checklist %s", listText(r.Checklist))
	}
	if r.When != "" {
		fmt.Fprintf(&b, ", when %s", strconv.Quote(r.When))
	}
	if r.TimeoutMinutes != nil {
		fmt.Fprintf(&b, ", timeout_minutes %d", *r.TimeoutMinutes)
	}
	if len(r.Reviewers) > 0 {
		fmt.Fprintf(&b, ", reviewers %s", listText(r.Reviewers))
	}
	if len(r.Readers) > 0 {
		fmt.Fprintf(&b, ", readers %s", listText(r.Readers))
	}
	if r.ReviewersOnly {
		b.WriteString(", reviewers_only")
	}
	if r.SelfApproval != "" {
		b.WriteString(", self_approval " + string(r.SelfApproval))
	}
	if r.quorate() {
		b.WriteString(", approvals " + r.Quorum.text())
	}
	if len(r.Escalate) > 0 {
		fmt.Fprintf(&b, ", escalate %s", stepsText(r.Escalate))
	}
	if noSubstitutes(r.Substitutes) {
		b.WriteString(", substitutes false")
	}
	if r.WhenBusy != "" {
		b.WriteString(", when_busy " + string(r.WhenBusy))
	}
	if r.Reason != "" {
		fmt.Fprintf(&b, ", reason %s", strconv.Quote(r.Reason))
	}
	if r.Energy != 0 {
		fmt.Fprintf(&b, ", energy %d", r.Energy)
	}
	if len(r.RejectReasons) > 0 {
		fmt.Fprintf(&b, ", reject_reasons %s", listText(r.RejectReasons))
	}
	if r.NotifyHeadline {
		b.WriteString(", notify_headline")
	}
	if r.Note != "" {
		fmt.Fprintf(&b, ", note %s", strconv.Quote(r.Note))
	}
	return b.String()
}

// orderText names the rules of a that b has too: only among those can the order
// change.
func orderText(a, b []Rule) string {
	var names []string
	for _, r := range a {
		if find(b, r.Name) >= 0 {
			names = append(names, r.Name)
		}
	}
	return listText(names)
}

// listText quotes each entry, since patterns and names may hold commas.
func listText(list []string) string {
	if len(list) == 0 {
		return none
	}
	quotes := make([]string, len(list))
	for i, s := range list {
		quotes[i] = `"` + s + `"`
	}
	return strings.Join(quotes, ", ")
}

func minutesText(m *int) string {
	if m == nil {
		return none
	}
	return strconv.Itoa(*m)
}

// ruleRisk is what a rule says of its risk.
func ruleRisk(r Rule) string {
	if r.Risk == "" && r.Template != "" {
		return "as its template says"
	}
	return riskText(r.Risk)
}

func riskText(r models.Risk) string { return string(cmp.Or(r, models.RiskMedium)) }

func selfText(s models.SelfApproval) string { return string(cmp.Or(s, models.SelfAllowed)) }

// quotedText quotes, so that a text that says "none" is not taken for none.
func quotedText(s string) string {
	if s == "" {
		return none
	}
	return strconv.Quote(s)
}

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
		{"approvals", t.Quorum.text()},
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
