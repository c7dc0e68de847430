package policy

import (
	"time"

	"countersign/models"
	"countersign/models/condition"
)

// Call is a call to evaluate.
type Call struct {
	Kind     models.Kind
	ToolName string
	// Explicit: the agent asked over the approval queue, so that the call needs
	// approval unless a rule allows or denies it.
	Explicit bool
	// At is when the agent asked: whether the gate is off is judged by it, and conditions
	// read it as now. Zero is behind every end.
	At time.Time
	// Template is what the agent named in its ask; empty: none.
	Template string
	// Pending: it waits for a person already, so the gate being off lets nothing through.
	Pending bool
	// Facts are read where Policy.Conditional says that they may matter.
	Facts Facts
}

// Check refuses a call that no agent could ask about: CodeInvalid, with the fields toolName
// and input. Only a tool call needs a name.
func (c *Call) Check() error {
	if c.ToolName != "" || c.Kind == models.KindToolCall {
		if err := models.CheckToolName("toolName", c.ToolName); err != nil {
			return err
		}
	}
	if err := models.CheckInputSize("input", len(c.Facts.Input)); err != nil {
		return err
	}
	if len(c.Facts.Input) > 0 {
		if _, err := models.Canonical(models.KindToolCall, c.ToolName, c.Facts.Input); err != nil {
			return models.Invalid("input", "must be JSON, such as {\"amount\": 101}")
		}
	}
	return nil
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
	Readers   []string // the same: who sees the call, and neither decides nor is asked
	Energy    int64    // the least that the call costs its conversation

	ReviewersOnly bool                // only Reviewers may approve
	SelfApproval  models.SelfApproval // whether the agent's owner may
	Escalate      []Escalation        // who is asked besides as time runs
	NoSubstitutes bool                // no one acts for those who may approve
	Quorum                            // how many sign, who are Reviewers or Only

	// Checklist is the list that an approver has to tick: of the rule, then of its template, then of the agent's. Text is
	// shown beside the request: of the rule's template, then of the agent's.
	Checklist []string
	Text      string
	// AtMost is how many minutes the call waits at most, by whatever setting it waits; nil: there is no such limit.
	AtMost *int
	// Only are the ones who may approve, of those who see the call without it: a template
	// that the agent named says so. Nil: Reviewers, where ReviewersOnly says so.
	Only []string
	// Nobody says why no person can approve the call, even if all were enabled.
	Nobody string

	Unjudged bool // a condition could not be judged, which Reason says

	// NotifyHeadline lets notifications carry the headline. A rule that is used only because a name is similar, or
	// because its condition can't be evaluated, does not: it does not name this call.
	NotifyHeadline bool
	// WhenBusy is what happens where everybody who would be asked is busy: of a call of low risk, and as NotifyHeadline only
	// where the rule names this call.
	WhenBusy WhenBusy
}

// Signed reports whether it takes several people to approve the call.
func (j *Judgement) Signed() bool { return j.quorate() || j.SelfApproval == models.SelfNotAlone }

// Answered is what it says of a question, which is answered once: by one of those who would sign, and not by the
// agent's owner if the owner must not be alone.
func (j Judgement) Answered() Judgement {
	j.Quorum = Quorum{}
	if j.SelfApproval == models.SelfNotAlone {
		j.SelfApproval = models.SelfNever
	}
	return j
}

// WaitMinutes is how long a call waits, if its asker says nothing about that; ok is false when it waits without a
// deadline.
func (p *Policy) WaitMinutes(j Judgement, kind models.Kind) (minutes int, ok bool) {
	if j.Timeout != nil {
		minutes, ok = *j.Timeout, true
	} else {
		minutes, ok = p.DefaultTimeout(kind)
	}
	if j.AtMost != nil && (!ok || *j.AtMost < minutes) {
		return *j.AtMost, true
	}
	return minutes, ok
}

// Judge says what happens to a call. Only a tool call can go ahead without a
// person: a question, proposal or budget request that a rule allows is still
// asked, even when approval is switched off.
func (p *Policy) Judge(c Call) Judgement {
	return p.judgement(&evaluation{policy: p, call: c})
}

// lets reports whether the gate is off for a call.
func (p *Policy) lets(c *Call) bool { return !c.Pending && p.GateOff(c.At) }

func (p *Policy) judgement(e *evaluation) Judgement {
	c := &e.call
	j := p.judge(e)
	if c.Kind != models.KindToolCall && j.Effect == EffectAllow {
		j.Effect, j.Cause, j.Reason = EffectRequire, models.CauseNone, asked(c.Kind).Reason
	}
	j = p.under(j, c)
	j.SelfApproval = SelfUnder(j.SelfApproval, j.Quorum, j.Risk)
	j.NotifyHeadline = j.NotifyHeadline && !j.Unjudged
	if j.Unjudged || c.Kind != models.KindToolCall || j.Effect != EffectRequire || j.Risk != models.RiskLow {
		j.WhenBusy = ""
	}
	if c.Kind == models.KindToolCall && j.Effect == EffectRequire && p.lets(c) {
		j.Effect, j.Cause = EffectAllow, models.CauseGateOff
		j.Timeout, j.AtMost, j.Reviewers, j.ReviewersOnly, j.SelfApproval = nil, nil, nil, false, ""
		j.Escalate, j.NoSubstitutes, j.Quorum = nil, false, Quorum{}
		j.Only, j.Checklist, j.Text, j.Nobody, j.WhenBusy = nil, nil, "", "", ""
		j.Reason = "Approval is switched off, so nobody was asked. Otherwise it would have needed approval: " + j.Reason
	}
	return j
}

// judge applies rules, required tools, similar names, explicit asks and unmatched
// in that order. A name that is only similar to a listed one, or matches a pattern
// only in another letter case, stops a later rule from allowing the call, but
// neither lifts nor replaces what really matches. So does an allow rule whose condition
// can't be judged.
func (p *Policy) judge(e *evaluation) Judgement {
	c := &e.call
	if c.ToolName == "" {
		return asked(c.Kind)
	}
	r := p.reach(c.ToolName)
	var before *doubt
	var held *Judgement
	for _, i := range r.rules {
		j := p.rules[i]
		if p.conditions[i] != nil {
			switch out := e.of(i); out.Result {
			case condition.True:
			case condition.False:
				continue
			case condition.Failed:
				switch {
				case j.Effect == EffectAllow:
					if before == nil {
						before = &doubt{j, out.Why}
					}
				case j.Effect == EffectRequire && p.lets(c):
					// With the gate off it lets the call through, so a rule behind it that
					// denies must be heard.
					if held == nil {
						held = new(before.beside(unjudged(j, out.Why)))
					}
				default:
					return before.beside(unjudged(j, out.Why))
				}
				continue
			}
		}
		if held != nil && j.Effect != EffectDeny {
			continue
		}
		if j.Effect == EffectAllow {
			if before != nil {
				continue
			}
			if l := r.almost(i, e); l != nil && !l.allow {
				return l.held
			}
		}
		return before.beside(j)
	}
	if held != nil {
		return *held
	}
	return p.behindRules(e, r, before)
}

// behindRules judges what no rule settles.
func (p *Policy) behindRules(e *evaluation, r *reach, before *doubt) Judgement {
	if r.required {
		return before.beside(p.required)
	}
	near := r.almost(len(p.rules)+1, e)
	switch {
	case near != nil && before != nil && !near.allow:
		j := before.beside(near.held)
		j.Risk = atLeastHigh(j.Risk)
		return j
	case before != nil:
		return before.held()
	case near != nil:
		return near.held
	case e.call.Explicit || e.call.Kind != models.KindToolCall:
		return asked(e.call.Kind)
	}
	return p.fallback
}

// firstRule is the first rule before end that matches the name whatever the call holds,
// else end.
func (p *Policy) firstRule(name string, end int) int {
	for _, i := range p.exact[name] {
		if i < end && p.conditions[i] == nil {
			end = i
			break
		}
	}
	for i := range p.regexes {
		if p.regexes[i].rule >= end {
			break
		}
		if p.conditions[p.regexes[i].rule] == nil && p.regexes[i].match(name) {
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
		j.Reason = "Only a person can approve a budget."
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

// CallAgain is a past call that a rule decided. How it was asked is not kept: a call that was held because nothing
// matched was not asked for explicitly, and any other is taken to be, which holds it.
func CallAgain(kind models.Kind, tool, rule, template string, at time.Time) Call {
	return Call{Kind: kind, ToolName: tool, Explicit: rule != RuleUnmatched, Template: template, At: at}
}
