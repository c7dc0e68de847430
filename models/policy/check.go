package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"countersign/models"
	"countersign/models/condition"
)

// problems maps a path in the document to the expected value.
type problems map[string]string

// invalid is the error that carries them.
func invalid(p problems) *models.Error {
	return &models.Error{Code: models.CodeInvalid, Text: "The policy is not valid.", Fields: p}
}

// The names that a Judgement uses where no rule decides; rules may not bear them.
const (
	RuleRequiredTools = "required_approval_tools"
	RuleExplicit      = "explicit ask"
	RuleUnmatched     = "unmatched"
)

// patterns are a document's tool patterns, read. One that could not be read is
// the zero pattern, which matches nothing.
type patterns struct {
	required []pattern
	rules    [][]pattern

	conditions []*condition.Condition // of each rule; nil: it has none
}

// checker collects every problem of a document and reads its patterns on the way.
type checker struct {
	problems problems
	kept     func(text string) bool // whether a pattern was stored before it would be refused
	patterns patterns
	most     int // minutes
	steps    int // of the regular expressions so far
	whens    int // conditions so far
}

func check(d Document, kept func(text string) bool) *checker {
	c := &checker{problems: problems{}, kept: kept, most: d.MaxTimeoutMinutes}
	if c.most < 1 || c.most > MaxTimeoutMinutes {
		c.add("max_timeout_minutes", "must be 1 to %d minutes", MaxTimeoutMinutes)
		c.most = MaxTimeoutMinutes
	}
	c.minutes("default_timeout_minutes", &d.DefaultTimeoutMinutes)
	c.minutes("proposal_timeout_minutes", d.ProposalTimeoutMinutes)
	if d.AutoBudgetIncrease < 0 || d.AutoBudgetIncrease > models.MaxBudget {
		c.add("auto_budget_increase", "must be 0 to %d units of energy", int64(models.MaxBudget))
	}
	c.budgetPerAgent(d.BudgetPerAgent)
	if d.Unmatched != EffectAllow && d.Unmatched != EffectRequire {
		c.add("unmatched", "must be allow or require")
	}
	if d.PolicyApprovals < 0 || d.PolicyApprovals > MaxPolicyApprovals {
		c.add("policy_approvals", "must be 0 to %d admins; with 0 or 1, one saves alone", MaxPolicyApprovals)
	}
	if d.PolicyAloneMinutes < 0 || d.PolicyAloneMinutes > MaxAloneMinutes {
		c.add("policy_alone_minutes", "must be 0 to %d minutes; 0 is %d", MaxAloneMinutes, DefaultAloneMinutes)
	}
	if d.RetentionDays < 0 || d.RetentionDays > MaxRetentionDays {
		c.add("retention_days", "must be 0 to %d days; 0 keeps everything", MaxRetentionDays)
	}
	if _, ok := zoneOf(d.TimeZone); !ok {
		c.add("time_zone", "must be UTC or the name of a time zone such as Europe/Berlin")
	}
	c.ends(d)
	c.desk(d)
	c.patterns.required = c.tools("required_approval_tools", d.RequiredApprovalTools, EffectRequire)

	c.templates(d)
	names := make(map[string]int, len(d.Rules))
	for i, r := range d.Rules {
		path := fmt.Sprintf("rules[%d]", i)
		c.rule(path, &d, r)
		c.templateOf(path, &d, r)
		if first, exists := names[r.Name]; exists {
			c.add(path+".name", "is already the name of rules[%d]", first)
		} else {
			names[r.Name] = i
		}
	}
	return c
}

// add keeps the first problem of a path.
func (c *checker) add(path, format string, args ...any) {
	if _, there := c.problems[path]; !there {
		c.problems[path] = fmt.Sprintf(format, args...)
	}
}

func (c *checker) rule(path string, d *Document, r Rule) {
	c.take(path+".name", models.CheckKey(path+".name", r.Name))
	switch r.Name {
	case RuleRequiredTools, RuleExplicit, RuleUnmatched:
		c.add(path+".name", "is a name that the policy uses itself")
	}
	c.take(path+".note", models.CheckText(path+".note", r.Note, maxNote))
	c.take(path+".reason", models.CheckText(path+".reason", r.Reason, models.MaxReason))
	if len(r.Tools) == 0 {
		c.add(path+".tools", "must list at least one tool")
	}
	c.patterns.rules = append(c.patterns.rules, c.tools(path+".tools", r.Tools, r.Effect))
	c.patterns.conditions = append(c.patterns.conditions, c.when(path+".when", r))
	switch r.Effect {
	case EffectAllow, EffectRequire, EffectDeny:
	default:
		c.add(path+".effect", "must be allow, require or deny")
	}
	if r.Risk != "" && !slices.Contains(models.Risks(), r.Risk) {
		c.add(path+".risk", "must be %s", models.AnyOf(models.Risks()))
	}
	c.minutes(path+".timeout_minutes", r.TimeoutMinutes)
	if r.Energy < 0 || r.Energy > models.MaxEnergy {
		c.add(path+".energy", "must be 0 to %d units of energy", int64(models.MaxEnergy))
	}
	c.rejectReasons(path+".reject_reasons", r.RejectReasons)
	c.checklistOf(path+".checklist", r)
	if only := d.Resolved(r); only.ReviewersOnly && len(only.Reviewers) == 0 {
		c.add(path+".reviewers_only", "needs reviewers: name at least one in reviewers")
	}
	c.reviewers(path, r.Reviewers, r.SelfApproval)
	c.whom(path+".readers", r.Readers)
	if len(r.Readers) > 0 && (r.Effect == EffectAllow || r.Effect == EffectDeny) {
		c.add(path+".readers", "has no effect in a rule that says %s: only calls that wait have readers", r.Effect)
	}
	c.quorumOf(path, d, r)
	c.whenBusy(path+".when_busy", d, r)
	if only := d.Resolved(r); len(r.Escalate) > 0 {
		c.escalate(path+".escalate", r.Escalate, only.TimeoutMinutes)
	} else if n := len(only.Escalate); n > 0 && only.TimeoutMinutes != nil &&
		only.Escalate[n-1].AfterMinutes >= *only.TimeoutMinutes {
		c.add(path+".timeout_minutes", "must be more than %d, after which its template asks further people (escalate)",
			only.Escalate[n-1].AfterMinutes)
	}
}

// quorumOf checks what a rule demands of several people, in its own words or its template's.
func (c *checker) quorumOf(path string, d *Document, r Rule) {
	whole := d.withTemplate(r)
	c.quorum(path, whole.Quorum, whole.TimeoutMinutes)
	c.besideQuorum(path, whole.Quorum, whole.Reviewers, whole.ReviewersOnly, whole.Escalate)
	if r.quorate() && (r.Effect == EffectAllow || r.Effect == EffectDeny) {
		c.add(path+".approvals", "has no effect in a rule that says %s: only calls that wait are signed", r.Effect)
	}
}

// reviewers checks who is named to approve, of a rule or a template.
func (c *checker) reviewers(path string, reviewers []string, self models.SelfApproval) {
	switch self {
	case "", models.SelfAllowed, models.SelfNotAlone, models.SelfNever:
	default:
		c.add(path+".self_approval", "must be allowed, not_alone or never")
	}
	c.whom(path+".reviewers", reviewers)
}

// when reads a rule's condition. One that was stored and can't be read any more fails for
// every call.
func (c *checker) when(path string, r Rule) *condition.Condition {
	if r.When == "" {
		return nil
	}
	if c.whens++; c.whens > maxConditions {
		c.add(path, "is one condition too many; a policy may have %d", maxConditions)
		return condition.Unreadable()
	}
	when, err := condition.Compile(r.When)
	if err != nil {
		if !c.kept(r.When) {
			c.add(path, "%s", err)
		}
		return condition.Unreadable()
	}
	if claims := when.Claims(); r.Effect == EffectAllow && len(claims) > 0 {
		c.add(path, "must not use %s in a rule that allows: it is only what the agent says", strings.Join(claims, " and "))
	}
	return when
}

// take moves the problem out of an error of the models package.
func (c *checker) take(path string, err error) {
	if e, ok := errors.AsType[*models.Error](err); ok {
		c.add(path, "%s", e.Fields[path])
	}
}

func (c *checker) minutes(path string, m *int) {
	if m != nil && (*m < 1 || *m > c.most) {
		c.add(path, "must be 1 to %d minutes (max_timeout_minutes)", c.most)
	}
}

func (c *checker) tools(path string, texts []string, effect Effect) []pattern {
	out := make([]pattern, len(texts))
	for i, text := range texts {
		p, problem := readPattern(text, effect == EffectAllow, c.kept(text))
		if problem != "" {
			c.add(fmt.Sprintf("%s[%d]", path, i), "%s", problem)
		}
		if c.steps += p.steps; c.steps > maxDocumentSteps {
			c.add(fmt.Sprintf("%s[%d]", path, i), "exceeds what all regular expressions together may repeat; use smaller counts")
		}
		out[i] = p
	}
	return out
}

// looksLikeEmail catches slips of the pen; whether somebody bears the address is
// found out at the ask.
func looksLikeEmail(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	if !ok || local == "" || domain == "" || len(s) > maxEmail {
		return false
	}
	if strings.HasPrefix(domain, ".") || strings.HasSuffix(domain, ".") {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r == 0x7f || strings.ContainsRune(`<>()[],;:\"`, r)
	}) && !strings.Contains(domain, "@")
}
