package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"countersign/models"
)

// Limits of templates.
const (
	MaxTemplates     = 100
	maxTemplateName  = 64 // bytes
	maxTemplateText  = 2 << 10
	maxChecklist     = 20
	maxChecklistItem = 200 // bytes
)

// Template is a named set of members that rules refer to, and that an agent may name in
// its ask. What a member leaves empty the template does not say.
type Template struct {
	Name           string      `json:"name"`
	Note           string      `json:"note,omitempty"` // for those who keep the policy
	Risk           models.Risk `json:"risk,omitempty"`
	TimeoutMinutes *int        `json:"timeout_minutes,omitzero"`
	Reviewers      []string    `json:"reviewers,omitempty"`
	// ReviewersOnly, SelfApproval, Quorum, Escalate and Substitutes mean what they mean in a rule.
	ReviewersOnly bool                `json:"reviewers_only,omitzero"`
	SelfApproval  models.SelfApproval `json:"self_approval,omitempty"`
	Quorum
	Escalate      []Escalation `json:"escalate,omitempty"`
	Substitutes   *bool        `json:"substitutes,omitzero"`
	RejectReasons []string     `json:"reject_reasons,omitempty"`
	// Checklist is what a reviewer ticks before approving.
	Checklist []string `json:"checklist,omitempty"`
	Text      string   `json:"text,omitempty"` // shown beside the request
}

func (t Template) clone() Template {
	t.TimeoutMinutes = cloneMinutes(t.TimeoutMinutes)
	t.Reviewers = slices.Clone(t.Reviewers)
	t.RejectReasons = slices.Clone(t.RejectReasons)
	t.Checklist = slices.Clone(t.Checklist)
	t.Escalate, t.Substitutes, t.Quorum = cloneSteps(t.Escalate), cloneFlag(t.Substitutes), t.Quorum.clone()
	return t
}

// template is the one of a name; nil: there is none.
func (d *Document) template(name string) *Template {
	for i := range d.Templates {
		if name != "" && d.Templates[i].Name == name {
			return &d.Templates[i]
		}
	}
	return nil
}

// Resolved is a rule with what its template says where the rule says nothing. That
// only reviewers approve, never the agent's owner, or no substitute, is so if either says
// it; reasons to reject and items to tick are the rule's, then the template's. Where several
// people must sign they are its only reviewers.
func (d *Document) Resolved(r Rule) Rule {
	r = d.withTemplate(r)
	r.Risk = cmp.Or(r.Risk, models.RiskMedium)
	if r.quorate() {
		r.Reviewers, r.ReviewersOnly = r.signers(), true
	}
	r.SelfApproval = SelfUnder(r.SelfApproval, r.Quorum, r.Risk)
	return r
}

// withTemplate is a rule with what its template says besides, as both are written.
func (d *Document) withTemplate(r Rule) Rule {
	if t := d.template(r.Template); t != nil {
		r.Risk = cmp.Or(r.Risk, t.Risk)
		if r.TimeoutMinutes == nil {
			r.TimeoutMinutes = t.TimeoutMinutes
		}
		if !r.quorate() {
			r.Quorum = t.Quorum
		}
		if len(r.Reviewers) == 0 {
			r.Reviewers = t.Reviewers
		}
		r.ReviewersOnly = r.ReviewersOnly || t.ReviewersOnly
		r.SelfApproval = stricterSelf(r.SelfApproval, t.SelfApproval)
		r.RejectReasons = joined(r.RejectReasons, t.RejectReasons)
		r.Checklist = joined(r.Checklist, t.Checklist)
		if len(r.Escalate) == 0 {
			r.Escalate = t.Escalate
		}
		if noSubstitutes(t.Substitutes) {
			r.Substitutes = t.Substitutes
		}
	}
	return r
}

// SelfUnder is whether the owner may approve: not where several people sign a call of high or critical risk, unless it
// is said.
func SelfUnder(said models.SelfApproval, q Quorum, risk models.Risk) models.SelfApproval {
	if said == "" && q.quorate() && risk.NeedsDigest() {
		return models.SelfNever
	}
	return said
}

// HasTemplate reports whether the policy has a template of that name.
func (p *Policy) HasTemplate(name string) bool { return p.doc.template(name) != nil }

// TemplateNames are those that an agent may name, in their order.
func (p *Policy) TemplateNames() []string {
	var out []string
	for _, t := range p.doc.Templates {
		out = append(out, t.Name)
	}
	return out
}

// under is a judgement with what the template that the agent names demands besides. It
// is never laxer: the agent asks for a person, so a call that would be allowed waits; the
// risk is the higher of both, the wait the shorter, and who approves must satisfy both.
func (p *Policy) under(j Judgement, c *Call) Judgement {
	name := c.Template
	if name == "" || j.Effect == EffectDeny {
		return j
	}
	// Nothing but the agent itself asks for a person.
	free := j.Effect == EffectAllow ||
		j.Rule == RuleExplicit && c.Kind == models.KindToolCall && p.doc.Unmatched == EffectAllow
	if j.Effect == EffectAllow {
		j.Effect, j.Cause, j.Rule = EffectRequire, models.CauseNone, RuleExplicit
		j.Reason = "The agent asked for approval under the template “" + name + "”."
	}
	t := p.doc.template(name)
	if t == nil {
		return j // it was named under another version of the policy
	}
	j.Risk = higherRisk(j.Risk, t.Risk)
	j.AtMost = t.TimeoutMinutes
	j = reviewedUnder(j, t, free)
	j.Checklist = joined(j.Checklist, t.Checklist)
	if t.Text != "" && t.Text != j.Text {
		j.Text = strings.TrimPrefix(j.Text+"\n\n"+t.Text, "\n\n")
	}
	return j
}

// reviewedUnder combines who may approve a call that the policy holds. Where both name the only ones, those are left
// whom both name. Where only the template does, it limits who of those that are asked approves, and asks no one else:
// an agent must not find itself an approver. Reviewers whom it names without limiting who approves change nothing, for
// the same reason.
//
// A call that is free, which only its agent asks about, would have no approver without the template: its reviewers are
// asked, and approve.
//
// Signatures are demanded by the rule or by the template: it would not be clear whose count if both did, or one beside
// the other's only reviewers. No one can approve then.
func reviewedUnder(j Judgement, t *Template, free bool) Judgement {
	switch {
	case j.quorate() && (t.quorate() || t.ReviewersOnly), t.quorate() && j.ReviewersOnly:
		j.Nobody = fmt.Sprintf("Nobody is able to approve this: the rule “%s” and the template “%s” each say who the only ones are that approve, and one of them wants several to sign.", j.Rule, t.Name)
	case t.quorate() && free:
		j.ReviewersOnly, j.Reviewers, j.Escalate, j.Quorum = true, t.signers(), nil, t.Quorum
	case t.quorate():
		j.ReviewersOnly, j.Only, j.Escalate, j.Quorum = true, t.signers(), nil, t.Quorum
		j.BreakGlass = nil // the rule lets none of them decide alone
	case t.ReviewersOnly && j.ReviewersOnly:
		both := slices.DeleteFunc(slices.Clone(j.Reviewers), func(who string) bool { return !names(t.Reviewers, who) })
		if len(both) == 0 {
			j.Nobody = fmt.Sprintf("Nobody is able to approve this: the rule “%s” and the template “%s” let only their own reviewers approve, and no entry is in both lists.", j.Rule, t.Name)
		}
		j.Reviewers, j.Escalate = both, stepsAmong(j.Escalate, t.Reviewers)
	case t.ReviewersOnly && free:
		j.ReviewersOnly, j.Reviewers, j.Escalate = true, slices.Clip(t.Reviewers), t.Escalate
	case t.ReviewersOnly:
		j.ReviewersOnly, j.Only = true, slices.Clip(t.Reviewers)
	case free && len(j.Reviewers) == 0 && !j.ReviewersOnly && j.SelfApproval != models.SelfNever:
		j.Reviewers, j.Escalate = slices.Clip(t.Reviewers), t.Escalate
	}
	j.NoSubstitutes = j.NoSubstitutes || noSubstitutes(t.Substitutes)
	j.SelfApproval = stricterSelf(j.SelfApproval, t.SelfApproval)
	return j
}

func names(reviewers []string, who string) bool {
	return slices.ContainsFunc(reviewers, func(other string) bool { return strings.EqualFold(other, who) })
}

func stricterSelf(a, b models.SelfApproval) models.SelfApproval {
	if b == models.SelfNever || b == models.SelfNotAlone && a != models.SelfNever {
		return b
	}
	return a
}

func higherRisk(a, b models.Risk) models.Risk {
	if slices.Index(models.Risks(), b) > slices.Index(models.Risks(), a) {
		return b
	}
	return a
}

// joined are the entries of both lists, each once.
func joined(a, b []string) []string {
	if len(b) == 0 {
		return a
	}
	out := slices.Clone(a)
	for _, text := range b {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// templates checks them all.
func (c *checker) templates(d Document) {
	if len(d.Templates) > MaxTemplates {
		c.add("templates", "must be at most %d", MaxTemplates)
		return
	}
	names := make(map[string]int, len(d.Templates))
	for i := range d.Templates {
		t := &d.Templates[i]
		path := fmt.Sprintf("templates[%d]", i)
		c.template(path, t)
		if first, there := names[t.Name]; there {
			c.add(path+".name", "is already the name of templates[%d]", first)
		} else {
			names[t.Name] = i
		}
	}
}

func (c *checker) template(path string, t *Template) {
	if !isTemplateName(t.Name) {
		c.add(path+".name", "must be 1 to %d letters a-z, digits, hyphens, underscores and dots, such as %q", maxTemplateName,
			"payments")
	}
	c.take(path+".note", models.CheckText(path+".note", t.Note, maxNote))
	if t.Risk != "" && !slices.Contains(models.Risks(), t.Risk) {
		c.add(path+".risk", "must be %s", models.AnyOf(models.Risks()))
	}
	c.minutes(path+".timeout_minutes", t.TimeoutMinutes)
	c.reviewers(path, t.Reviewers, t.SelfApproval)
	c.quorum(path, t.Quorum, t.TimeoutMinutes)
	c.besideQuorum(path, t.Quorum, t.Reviewers, t.ReviewersOnly, t.Escalate)
	c.escalate(path+".escalate", t.Escalate, t.TimeoutMinutes)
	if t.ReviewersOnly && len(t.Reviewers) == 0 {
		c.add(path+".reviewers_only", "needs reviewers: name at least one in reviewers")
	}
	c.rejectReasons(path+".reject_reasons", t.RejectReasons)
	c.checklist(path+".checklist", t.Checklist)
	c.take(path+".text", models.CheckText(path+".text", t.Text, maxTemplateText))
}

func (c *checker) checklist(path string, items []string) {
	c.lines(path, items, maxChecklist, maxChecklistItem)
}

// checklistOf checks a rule's own: where nothing waits, nothing is ticked.
func (c *checker) checklistOf(path string, r Rule) {
	c.checklist(path, r.Checklist)
	if len(r.Checklist) > 0 && (r.Effect == EffectAllow || r.Effect == EffectDeny) {
		c.add(path, "has no effect in a rule that says %s: checklists are for calls that wait", r.Effect)
	}
}

func isTemplateName(name string) bool {
	for _, b := range []byte(name) {
		if (b < 'a' || b > 'z') && (b < '0' || b > '9') && b != '-' && b != '_' && b != '.' {
			return false
		}
	}
	return name != "" && len(name) <= maxTemplateName
}

// templateOf checks which template a rule names.
func (c *checker) templateOf(path string, d *Document, r Rule) {
	switch {
	case r.Template == "":
	case d.template(r.Template) == nil:
		c.add(path+".template", "names no template of this policy: %s", knownTemplates(d.Templates))
	case r.Effect == EffectAllow || r.Effect == EffectDeny:
		c.add(path+".template", "has no effect in a rule that says %s: templates are for calls that wait", r.Effect)
	}
}

func knownTemplates(templates []Template) string {
	if len(templates) == 0 {
		return "it has none"
	}
	var out []string
	for _, t := range templates {
		out = append(out, t.Name)
	}
	return "it has " + strings.Join(out, ", ")
}

// templates finds what templates leave without use.
func (l *linter) templates() {
	uses := map[string]bool{}
	for i, r := range l.doc.Rules {
		t := l.doc.template(r.Template)
		if t == nil {
			continue
		}
		uses[t.Name] = true
		if r.Risk != "" && higherRisk(r.Risk, t.Risk) != r.Risk && !r.Disabled {
			l.warn(fmt.Sprintf("rules[%d].risk", i),
				"%s sets the risk to %s, and so lowers that of its template “%s” (%s). Leave it out to use the template's.",
				capital(l.of(i)), r.Risk, t.Name, t.Risk)
			l.fix("Use the template's", i, Form{"risk": ""})
		}
	}
	for i, t := range l.doc.Templates {
		if !uses[t.Name] {
			l.warn(fmt.Sprintf("templates[%d]", i), "No rule uses the template “%s”: it only applies where an agent names it. Delete it if none does.", t.Name)
		}
	}
}
