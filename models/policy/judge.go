package policy

import "countersign/models"

// Call is what is judged.
type Call struct {
	Kind     models.Kind
	ToolName string
	// Explicit: the agent asked over the approval queue, so that the call needs
	// approval unless a rule allows or denies it.
	Explicit bool
}

// Judgement is what the policy says of one call. What Timeout and Reviewers point
// to belongs to the policy and must not be written to.
type Judgement struct {
	Effect Effect
	// Cause is set only when the call is settled without a person: policy or
	// gate_off.
	Cause models.Cause
	// Rule is the rule's name, or RuleRequiredTools, RuleExplicit or
	// RuleUnmatched.
	Rule string
	// Reason is a sentence for people: why the call is held, denied or let through.
	Reason    string
	Risk      models.Risk
	Timeout   *int     // minutes; nil when no rule says
	Reviewers []string // e-mails: who may decide besides the owner
	Energy    int64    // the least that the call costs its conversation

	ReviewersOnly bool                // only Reviewers may approve
	SelfApproval  models.SelfApproval // whether the agent's owner may
}

// Judge says what happens to a call. Only a tool call can go ahead without a
// person: a question, proposal or budget request that a rule allows is still
// asked, and so is all of them when approval is switched off.
func (p *Policy) Judge(c Call) Judgement {
	j := p.judge(c)
	switch {
	case c.Kind != models.KindToolCall:
		if j.Effect == EffectAllow {
			j.Effect, j.Cause, j.Reason = EffectRequire, models.CauseNone, asked(c.Kind).Reason
		}
	case j.Effect == EffectRequire && !p.doc.ApprovalEnabled:
		j.Effect, j.Cause = EffectAllow, models.CauseGateOff
		j.Timeout, j.Reviewers, j.ReviewersOnly, j.SelfApproval = nil, nil, false, ""
		j.Reason = "Approval is switched off, so nobody was asked. It would have been held: " + j.Reason
	}
	return j
}

// judge applies rules, required tools, similar names, explicit asks and unmatched
// in that order. A name that is only similar to a listed one, or matches a pattern
// only in another letter case, stops a later rule from allowing the call, but
// neither lifts nor replaces what really matches.
func (p *Policy) judge(c Call) Judgement {
	if c.ToolName == "" {
		return asked(c.Kind)
	}
	i := p.firstRule(c.ToolName, len(p.rules))
	if i < len(p.rules) {
		j := p.rules[i]
		if j.Effect == EffectAllow {
			if l := p.almost(c.ToolName, i); l != nil && !l.allow {
				return l.held
			}
		}
		return j
	}
	if p.isRequired(c.ToolName) {
		return p.required
	}
	if l := p.almost(c.ToolName, len(p.rules)+1); l != nil {
		return l.held
	}
	if c.Explicit || c.Kind != models.KindToolCall {
		return asked(c.Kind)
	}
	return p.unmatched
}

// firstRule is the first rule before end that matches the name, else end.
func (p *Policy) firstRule(name string, end int) int {
	if i, ok := p.exact[name]; ok && i < end {
		end = i
	}
	for i := range p.regexes {
		if p.regexes[i].rule >= end {
			break
		}
		if p.regexes[i].match(name) {
			return p.regexes[i].rule
		}
	}
	return end
}

func (p *Policy) isRequired(name string) bool {
	if p.requiredExact[name] {
		return true
	}
	for i := range p.requiredRegexes {
		if p.requiredRegexes[i].match(name) {
			return true
		}
	}
	return false
}

// almost is what name nearly matches before the rule end: the first that holds the
// call, else a name that is listed on an allow rule.
func (p *Policy) almost(name string, end int) *listed {
	near := p.similarName(name, end)
	for i := range p.folded {
		f := &p.folded[i]
		if f.rule >= end || near != nil && !near.allow && near.rule <= f.rule {
			break
		}
		if f.re.MatchString(name) {
			return &f.listed
		}
	}
	return near
}

// similarName is the first name listed before the rule end that equals name after
// folding: one that is not on an allow rule if there is such, since that one
// holds the call. It is asked only when nothing before end really matches, so
// what it finds is never the name itself.
func (p *Policy) similarName(name string, end int) *listed {
	var stack [models.MaxName]byte
	all := p.similar[string(fold(stack[:0], name))]
	var allowed *listed
	for i := range all {
		switch l := &all[i]; {
		case l.rule >= end:
			return allowed
		case !l.allow:
			return l
		case allowed == nil:
			allowed = l
		}
	}
	return allowed
}

// asked is the judgement of what only a person can settle, or has to because
// nothing else did.
func asked(kind models.Kind) Judgement {
	j := Judgement{Effect: EffectRequire, Rule: RuleExplicit, Risk: models.RiskMedium}
	switch kind {
	case models.KindQuestion:
		j.Reason = "Only a person can answer a question."
	case models.KindProposal, models.KindReply:
		j.Reason = "Only a person can accept a proposal."
	case models.KindBudget:
		j.Reason = "Only a person can grant a budget."
	case models.KindToolCall:
		j.Reason = "The agent asked for approval."
	default:
		j.Reason = "The policy does not know this kind of request."
	}
	return j
}

// DefaultTimeout is how long a request of the kind waits when neither a rule nor
// the request says; ok is false when it waits without a deadline.
func (p *Policy) DefaultTimeout(kind models.Kind) (minutes int, ok bool) {
	switch kind {
	case models.KindQuestion, models.KindProposal, models.KindBudget, models.KindReply:
		if p.doc.ProposalTimeoutMinutes == nil {
			return 0, false
		}
		return *p.doc.ProposalTimeoutMinutes, true
	case models.KindToolCall:
	}
	return p.doc.DefaultTimeoutMinutes, true
}
