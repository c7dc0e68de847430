// Package policy holds the rules that say which calls need a person: the
// document they are written in, its checks, and the judgement of one call. It is
// pure: no I/O and no clock.
package policy

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// Limits of a document.
const (
	MaxDocument         = 1 << 20 // bytes, as sent and as stored
	MaxPattern          = 500     // bytes of one tool pattern, slashes included
	MaxPolicyApprovals  = 5
	DefaultAloneMinutes = 60
	MaxAloneMinutes     = 7 * 24 * 60
	MaxRetentionDays    = 100 * 365     // the most that retention_days may be
	MaxTimeoutMinutes   = 365 * 24 * 60 // the most that max_timeout_minutes may be
	maxPatternSteps     = 4000          // program size of one regular expression, by steps
	maxDocumentSteps    = 100_000       // of all together; without counted repeats none gets there
	maxConditions       = 1000
	maxNote             = models.MaxDescription
	maxEmail            = 254
)

// Effect is what a rule does with the calls it matches.
type Effect string

// The effects.
const (
	EffectAllow   Effect = "allow"   // runs without a person
	EffectRequire Effect = "require" // waits for a person
	EffectDeny    Effect = "deny"    // is refused without a person
)

// Document is one version of the policy, as it is written and stored.
type Document struct {
	// ApprovalEnabled false lets every tool call through that no rule denies.
	ApprovalEnabled bool `json:"approval_enabled"`
	// ApprovalOffUntil is when a gate that is off is on again; nil: it has no end. See
	// GateOff.
	ApprovalOffUntil *time.Time `json:"approval_off_until,omitzero"`
	// RequiredApprovalTools are tool patterns that need approval unless a rule
	// says otherwise.
	RequiredApprovalTools []string `json:"required_approval_tools"`
	// DefaultTimeoutMinutes is how long a tool call waits when neither a rule nor
	// the request says.
	DefaultTimeoutMinutes int `json:"default_timeout_minutes"`
	// MaxTimeoutMinutes is the longest wait that a rule or a request may name.
	MaxTimeoutMinutes int `json:"max_timeout_minutes"`
	// ProposalTimeoutMinutes is the same for proposals, questions and budget
	// requests; nil means that they wait without a deadline.
	ProposalTimeoutMinutes *int `json:"proposal_timeout_minutes"`
	// FallbackAutoApprove lets our own clients go on when no server answers.
	FallbackAutoApprove bool `json:"fallback_auto_approve"`
	// FallbackUntil is when that ends; nil: it has no end. See FallbackOn.
	FallbackUntil *time.Time `json:"fallback_until,omitzero"`
	// Unmatched is what happens to a tool call that nothing else settles: allow
	// or require.
	Unmatched Effect `json:"unmatched"`
	// AutoBudgetIncrease is the most energy that the system may add to one
	// conversation's budget in all since a person last set or decided it.
	AutoBudgetIncrease int64 `json:"auto_budget_increase"`
	// BudgetPerAgent is what all conversations of one agent may spend together; nil
	// means no limit.
	BudgetPerAgent *BudgetPerAgent `json:"budget_per_agent"`
	// UndoSeconds is how long approvals are held before the agent hears of them.
	UndoSeconds UndoSeconds `json:"undo_seconds"`
	// MaxPauseMinutes is how long a reviewer's question to the agent may stop the
	// clock of a request.
	MaxPauseMinutes int `json:"max_pause_minutes"`
	// ExplicitResponseID wants a decision in a conversation to name its request where several
	// wait; without it the latest is decided.
	ExplicitResponseID bool `json:"explicit_response_id,omitzero"`
	// GrantsEnabled lets owners and admins allow further calls like one that they
	// look at. False makes no new grants and honours none.
	GrantsEnabled bool `json:"grants_enabled"`
	// GrantMaxHours and GrantMaxUses are the most that one grant may last and cover.
	GrantMaxHours int `json:"grant_max_hours"`
	GrantMaxUses  int `json:"grant_max_uses"`
	// MaxAsksPerReviewerHour is how many requests an hour a person is asked about before the rules' WhenBusy counts; 0: it
	// never does. Unused ones come back steadily.
	MaxAsksPerReviewerHour int `json:"max_asks_per_reviewer_hour,omitzero"`
	// FloodPerHour is how many requests of one agent that came within an hour may wait at once before they are one line of
	// the inbox; 0: DefaultFloodPerHour.
	FloodPerHour int `json:"flood_per_hour,omitzero"`
	// AttentionSignals shows people, and those who oversee all, what their latest decisions show of how they read.
	AttentionSignals bool `json:"attention_signals,omitzero"`
	// RetentionDays is after how many days the contents of ended requests and runs are removed for good; 0 keeps them.
	RetentionDays int `json:"retention_days,omitzero"`
	// PolicyApprovals is how many admins agree to a change of the policy; 0 and 1: one saves it alone. It is also what
	// it takes to change this.
	PolicyApprovals int `json:"policy_approvals,omitzero"`
	// PolicyAloneMinutes is how long an admin who does it alone all the same waits, while all others are told; 0:
	// DefaultAloneMinutes.
	PolicyAloneMinutes int `json:"policy_alone_minutes,omitzero"`
	// TimeZone is whose hours and days conditions read of a time, by its IANA name;
	// empty is UTC.
	TimeZone string `json:"time_zone,omitempty"`
	// Templates are named sets that rules refer to, and that agents may name.
	Templates []Template `json:"templates,omitempty"`
	// Rules are tried in order; the first that matches a tool's name, and whose
	// condition is true, wins.
	Rules []Rule `json:"rules"`
}

// Rule settles the calls whose tool name one of its patterns matches.
type Rule struct {
	Name string `json:"name"`
	Note string `json:"note,omitempty"` // for those who keep the policy
	// Disabled leaves the rule out of every judgement; it stays in the document.
	Disabled bool `json:"disabled,omitzero"`
	// Tools are exact names, or regular expressions (RE2) between slashes. A
	// regular expression matches unanchored, except under EffectAllow, where it
	// must match the whole name.
	Tools []string `json:"tools"`
	// When is a condition (CEL) on what the call says: the rule is only for calls of
	// which it is true. Of one that can't be judged, see Policy.Judge.
	When   string `json:"when,omitempty"`
	Effect Effect `json:"effect"`
	// Template names one of the document's; what the rule says itself is used instead
	// of what the template says.
	Template       string      `json:"template,omitempty"`
	TimeoutMinutes *int        `json:"timeout_minutes,omitzero"`
	Risk           models.Risk `json:"risk,omitempty"` // when not said, the template's, else medium
	// e-mails, and groups as group:NAME: who may decide besides the owner
	Reviewers []string `json:"reviewers,omitempty"`
	// Readers see the calls that wait, named as reviewers are, and neither decide them nor are asked.
	Readers []string `json:"readers,omitempty"`
	// ReviewersOnly lets only Reviewers approve; owner and admins still reject.
	ReviewersOnly bool `json:"reviewers_only,omitzero"`
	// SelfApproval says whether the agent's owner may approve: allowed, as when it
	// is empty, not_alone or never.
	SelfApproval models.SelfApproval `json:"self_approval,omitempty"`
	Quorum
	// Checklist is what an approver ticks first; all of its template's checklist comes behind it.
	Checklist []string `json:"checklist,omitempty"`
	// Escalate asks further people as time runs, if there is no decision by then.
	Escalate []Escalation `json:"escalate,omitempty"`
	// Substitutes false keeps substitutes from acting for those who may approve; nil: they may.
	Substitutes *bool `json:"substitutes,omitzero"`
	// WhenBusy is what happens to a call of low risk where each of those who would be asked has as many requests this hour as
	// MaxAsksPerReviewerHour says; empty: they are asked all the same.
	WhenBusy      WhenBusy `json:"when_busy,omitempty"`
	Reason        string   `json:"reason,omitempty"`         // shown to the reviewer and the agent
	Energy        int64    `json:"energy,omitzero"`          // the least that such a call costs its conversation
	RejectReasons []string `json:"reject_reasons,omitempty"` // offered for a rejection
	// NotifyHeadline lets notifications carry the headline of a request, which is made of
	// its input. They leave for other systems, so without it they never do.
	NotifyHeadline bool `json:"notify_headline,omitzero"`
}

// Default is the document that holds until somebody writes one, and the source
// of every field that a stored document lacks.
func Default() Document {
	return Document{
		ApprovalEnabled:       true,
		RequiredApprovalTools: []string{},
		DefaultTimeoutMinutes: 5,
		MaxTimeoutMinutes:     1440,
		Unmatched:             EffectAllow,
		MaxPauseMinutes:       defaultPause,
		GrantsEnabled:         true,
		GrantMaxHours:         defaultGrantHours,
		GrantMaxUses:          defaultGrantUses,
		Rules:                 []Rule{},
	}
}

// Initial is the document that a new installation begins with.
func Initial() Document {
	d := Default()
	d.UndoSeconds = UndoSeconds{High: 5, Critical: 10}
	return d
}

// Marshal writes the document as JSON for storing and showing: the same document
// always gives the same bytes, and Parse reads them back. They are indented
// unless only the compact form fits in MaxDocument. It fails with CodeInvalid for
// a document that fits in neither form.
func (d Document) Marshal() ([]byte, error) {
	for _, opt := range []jsontext.Options{jsontext.WithIndent("  "), jsontext.Multiline(false)} {
		out, err := json.Marshal(d, opt)
		if err != nil {
			return nil, fmt.Errorf("write the policy document: %w", err)
		}
		if len(out) <= MaxDocument {
			return out, nil
		}
	}
	return nil, invalid(problems{rootPath: tooLarge})
}

// clone copies everything that the document points to.
func (d Document) clone() Document {
	d.RequiredApprovalTools = slices.Clone(d.RequiredApprovalTools)
	d.ProposalTimeoutMinutes = cloneMinutes(d.ProposalTimeoutMinutes)
	d.ApprovalOffUntil, d.FallbackUntil = utc(d.ApprovalOffUntil), utc(d.FallbackUntil)
	if d.BudgetPerAgent != nil {
		d.BudgetPerAgent = new(*d.BudgetPerAgent)
	}
	d.Templates = slices.Clone(d.Templates)
	for i := range d.Templates {
		d.Templates[i] = d.Templates[i].clone()
	}
	d.Rules = slices.Clone(d.Rules)
	for i := range d.Rules {
		r := &d.Rules[i]
		r.Tools = slices.Clone(r.Tools)
		r.Reviewers, r.Readers = slices.Clone(r.Reviewers), slices.Clone(r.Readers)
		r.RejectReasons, r.Checklist = slices.Clone(r.RejectReasons), slices.Clone(r.Checklist)
		r.Escalate, r.Substitutes, r.Quorum = cloneSteps(r.Escalate), cloneFlag(r.Substitutes), r.Quorum.clone()
		r.TimeoutMinutes = cloneMinutes(r.TimeoutMinutes)
	}
	return d
}

// RuleNamed is the place of the rule with a name that is not disabled; -1: there is none.
func (d Document) RuleNamed(name string) int {
	return slices.IndexFunc(d.Rules, func(r Rule) bool { return r.Name == name && !r.Disabled })
}

// UnusedName is a name for a rule that none has: with a number behind it where one has it.
func (d Document) UnusedName(name string) string {
	names := make([]string, len(d.Rules))
	for i := range d.Rules {
		names[i] = d.Rules[i].Name
	}
	return unused(name, names, models.MaxName, ruleSuffix)
}

// WithRule is the policy with one more rule, before the one with a name, or behind all where there is none. CodeInvalid as
// for Parse.
func (p *Policy) WithRule(r Rule, before string) (*Policy, error) {
	d := p.Document()
	at := d.RuleNamed(before)
	if at < 0 {
		at = len(d.Rules)
	}
	d.Rules = slices.Insert(d.Rules, at, r)
	raw, err := d.Marshal()
	if err != nil {
		return nil, err
	}
	return ParseChanged(raw, p.Document())
}

func cloneMinutes(m *int) *int {
	if m == nil {
		return nil
	}
	return new(*m)
}

func cloneFlag(b *bool) *bool {
	if b == nil {
		return nil
	}
	return new(*b)
}

// SavedBy is how many admins agree to a change of this policy: at least one.
func (d Document) SavedBy() int { return max(1, d.PolicyApprovals) }

// MaxAsksPerHour is how many requests an hour a person is asked about before they are busy; 0: they never are.
func (p *Policy) MaxAsksPerHour() int { return p.doc.MaxAsksPerReviewerHour }

// AttentionSignals reports whether people are shown how they read.
func (p *Policy) AttentionSignals() bool { return p.doc.AttentionSignals }

// FloodsAbove is how many requests of an agent that came within an hour may wait before they are a flood.
func (p *Policy) FloodsAbove() int { return p.doc.FloodsAbove() }

// FloodsAbove is how many requests of an agent that came within an hour may wait before they are a flood.
func (d Document) FloodsAbove() int { return cmp.Or(d.FloodPerHour, DefaultFloodPerHour) }

// AloneAfter is how long one of them waits who changes it alone.
func (d Document) AloneAfter() time.Duration {
	return time.Duration(cmp.Or(d.PolicyAloneMinutes, DefaultAloneMinutes)) * time.Minute
}

// KeepsLonger reports whether retention_days of a keep contents longer than those of b.
func KeepsLonger(a, b int) bool { return b > 0 && (a == 0 || a > b) }
