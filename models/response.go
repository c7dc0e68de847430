package models

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// NoDeadline is stored for "no deadline", so that order and UPDATE stay one
// expression.
var NoDeadline = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// Response is one thing an agent put forward, in sequence. Its content never
// changes; the approval columns are its approval.
type Response struct {
	Number         int64      `gorm:"->"` // in order of arrival; the database gives it
	ID             ResponseID `gorm:"primaryKey"`
	ConversationID ConversationID
	Sequence       int64
	OwnerID        UserID
	AgentID        AgentID
	Kind           Kind
	CreatedAt      time.Time  `gorm:"autoCreateTime:false"`
	ClaimedAt      *time.Time // when the agent, or the other system, says that it asked, by its own clock

	ToolUseID  *string // the agent's own name for the call
	JobID      *string
	CallID     *string
	UpstreamID *string
	ApprovalID *string // the id at an outside system
	OutsideRun *string // the run for which that system asks, where it is not the conversation's
	BatchID    *string

	Digest              string
	DigestVersion       int // what the digest covers
	Risk                Risk
	Asked               bool // somebody asked for it: it was not only reported
	RequiresApproval    bool
	ApprovalStatus      *Status // NULL: none needed; use StateAt
	ApprovalTimestamp   *time.Time
	ApprovalFeedback    *string // the reviewer's reason, or the text of another cause
	Cause               Cause
	PolicyVersion       int64
	PolicyRule          string
	PolicyReason        string
	ReviewersOnly       bool         // these three are one: Approvers
	SelfApproval        SelfApproval // whether the agent's owner may approve
	ApproversJSON       string       `gorm:"column:approvers"`
	QuorumJSON          string       `gorm:"column:quorum"` // use Quorum
	StrandedAt          *time.Time   // since when too few are left who could sign it; nil: they could
	Template            string       // that the agent named
	ChecklistJSON       string       `gorm:"column:checklist"` // use Checklist
	TemplateText        string       // shown beside the request
	Protocol            Protocol     // of the client that asked, where that matters
	ClientDataJSON      string       `gorm:"column:client_data"` // use ClientData
	AcceptsEdits        bool         // who asked reads the input that was approved; use TakesEdits
	Escalation          int          // how many steps of its rule's escalation it has taken
	NoSubstitutes       bool         // its rule lets no one act for others
	WhenBusy            WhenBusy     // what happened to it because all were busy; empty: nothing
	EscalatedAt         *time.Time   // when the agent last asked for more attention
	ApprovalRequestedAt *time.Time
	ApprovalTimeoutAt   time.Time // NoDeadline for none
	HeldUntil           *time.Time
	PausedLeft          *int64  // seconds that were left when a question stopped the clock
	OpenNote            *NoteID // that question
	DecidedBy           *UserID
	VoteID              *VoteID // the vote that became the outcome
	GrantID             *GrantID
	CascadedFrom        *ResponseID

	IsCompleted bool
	ReportedAt  *time.Time // the agent has reported it itself, and says that it was then
	IsError     bool       // the result is one
	Closed      ClosedBy   // completed without a result, and by whom
	MatchedBy   MatchedBy  // how an outside approval found the call

	// The true length, in bytes, of an input that is kept cut; nil: it is whole. A cut
	// input cannot be approved.
	InputBytes *int64

	Energy       int64
	EnergyBudget *int64
	ModelUsed    string

	Explanation

	Options       string // JSON array of Option, or empty
	Content       string
	ToolName      string
	ToolInputJSON string // as sent
	Answer        string

	// What it would do, as it was made at the ask from all of the above; empty: the row is
	// from before it was kept. Use headline.Shown.
	HeadlineJSON string `gorm:"column:headline"`

	Removed *string // the mark in place of contents; nil: they are kept

	// What it belongs to, as far as a read loads it (GORM's Preload); nil: it did not. A
	// write leaves them out. An Approval has what readers need of them.
	Agent        *Agent
	Owner        *User
	Conversation *Conversation
	DecidingVote *Vote `gorm:"foreignKey:VoteID"`
	Question     *Note `gorm:"foreignKey:OpenNote"`
}

// Report is the rest of a response's row, as its agent reported it. Only pages that show it read it; it is no part of
// Response.
type Report struct {
	ID ResponseID `gorm:"primaryKey"` // of the response

	ParentToolUseID string // the call that started the sub-agent whose it is
	CompletedAt     *time.Time
	ToolResult      string
	Contradiction   string // a report that contradicts the stored row

	// The true lengths, in bytes, of contents that are kept cut; nil: they are whole.
	ContentBytes *int64
	ResultBytes  *int64
}

// TableName is that of Response: both are one row.
func (Report) TableName() string { return "responses" }

// claimedSlack is how far an agent's clock may be off before its time is shown.
const claimedSlack = time.Minute

// ClaimedTime is when the agent, or the other system, says that it asked, if that differs from when it did;
// nil: it does not.
func (r *Response) ClaimedTime() *time.Time {
	if r.ClaimedAt == nil {
		return nil
	}
	start := r.CreatedAt
	if r.ApprovalRequestedAt != nil {
		start = *r.ApprovalRequestedAt
	}
	if r.ClaimedAt.Sub(start).Abs() <= claimedSlack {
		return nil
	}
	return r.ClaimedAt
}

// CheckBegin is how an approval begins (I1): not needed, pending, or rejected by the policy, because no one can decide
// it, with another, because its agent is stopped, or because it ran although denied; or it ran already, or expired because
// all were busy. A row that would begin otherwise is a fault of the program.
func (r *Response) CheckBegin() error {
	switch r.Status() {
	case StatusNone, StatusPending, StatusRan:
		return nil
	case StatusRejected:
		switch r.Cause { //nolint:exhaustive // all others come later
		case CausePolicy, CauseNoReviewer, CauseCascade, CauseStopped, CauseFallback:
			return nil
		}
	case StatusExpired:
		if r.WhenBusy == BusyExpire && r.Cause == CauseNoReviewer {
			return nil
		}
	case StatusApproved, StatusCancelled, StatusResolved:
	}
	return fmt.Errorf("an approval begins as none, pending, or rejected by policy: %s is %s by %q", r.ID, r.Status(),
		r.Cause)
}

// Status is the stored status, StatusNone for NULL. Surfaces use StateAt.
func (r *Response) Status() Status {
	if r.ApprovalStatus == nil {
		return StatusIn(StatusNone, r.Cause)
	}
	return *r.ApprovalStatus
}

// NeedsApproval reports whether it may not run without one: a person is asked, or it ran
// without an answer, which no rule allowed.
func (r *Response) NeedsApproval() bool { return r.RequiresApproval || r.Status() == StatusRan }

// Feedback is the reviewer's reason, or the text of another cause; empty: there is none.
func (r *Response) Feedback() string {
	if r.ApprovalFeedback == nil {
		return ""
	}
	return *r.ApprovalFeedback
}

// Said is the feedback as it was given. Empty: there is none, or it was removed: the mark in its place is no person's
// words, and no advice.
func (r *Response) Said() string {
	if r.SaidRemoved() {
		return ""
	}
	return r.Feedback()
}

// SaidRemoved reports whether a mark is in place of the feedback.
func (r *Response) SaidRemoved() bool { return r.IsRemoved() && r.Feedback() == r.RemovedText() }

// FeedbackOf is a text as it is stored: an empty one is none.
func FeedbackOf(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// HasDeadline reports whether silence ends the request at some time.
func (r *Response) HasDeadline() bool { return r.ApprovalTimeoutAt.Before(NoDeadline) }

// PastDeadline reports whether a pending approval's time is up at now and no
// verdict in time holds it open. The deadline itself is already too late.
func (r *Response) PastDeadline(now time.Time) bool {
	return r.Status() == StatusPending && r.HeldUntil == nil && !now.Before(r.ApprovalTimeoutAt)
}

// StateAt is the status that holds at now: a pending approval past its deadline
// has expired, whether or not the expirer has written it down (I3).
func (r *Response) StateAt(now time.Time) Status {
	if r.PastDeadline(now) {
		return StatusExpired
	}
	return r.Status()
}

// At returns r as it holds at now: a copy that has expired if its time is up,
// exactly as the expirer would write it, else r itself.
func (r *Response) At(now time.Time) *Response {
	if !r.PastDeadline(now) {
		return r
	}
	c := *r
	c.Expire()
	return &c
}

// Expire moves a pending approval to expired in memory, as of its deadline.
func (r *Response) Expire() {
	status, at := StatusExpired, r.ApprovalTimeoutAt
	r.ApprovalStatus, r.ApprovalTimestamp = &status, &at
	r.Cause, r.ApprovalFeedback = CauseTimeout, FeedbackOf(r.expiryReason())
	if r.StrandedAt != nil {
		r.Cause, r.ApprovalFeedback = CauseNoReviewer, FeedbackOf("not enough people were left who could sign it")
	}
}

// LetThrough reports whether the call ran without a person.
func (r *Response) LetThrough() bool { return r.Status() == StatusNone && r.Cause != CauseNone }

// Unasked reports whether the call was only reported, never asked about, and nothing has happened to it. That is no
// approval.
func (r *Response) Unasked() bool {
	return r.ReportedAt != nil && r.Status() == StatusNone && r.Cause == CauseNone
}

// MayRun reports whether a request was approved, or allowed by a rule: its input may run. An agent that says it went on
// without an answer releases nothing (I4), and nor does a decision about contents that are gone.
func (r *Response) MayRun() bool {
	if r.ContentsGone() {
		return false
	}
	return r.Status() == StatusApproved || r.Status() == StatusNone && !r.Unasked()
}

// ClosedBy says who completed a call that has no result.
type ClosedBy string

// Who closes a call.
const (
	ClosedByRun   ClosedBy = "run"   // the run went on, or ended
	ClosedByOwner ClosedBy = "owner" // a person: it was stuck
)

// Option is one of the answers that a question offers, or of the ways to reject a call
// that its client knows.
type Option struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"` // what it means, beside its button
	PromptFill  string `json:"promptFill,omitempty"`  // what its button puts into the text, for the person to go on
	Interactive *bool  `json:"interactive,omitempty"` // kept for the client that sent it
}

// OptionList reads the options that a question offers.
func (r *Response) OptionList() ([]Option, error) {
	if r.Options == "" {
		return nil, nil
	}
	var options []Option
	if err := json.Unmarshal([]byte(r.Options), &options); err != nil {
		return nil, fmt.Errorf("options of response %s: %w", r.ID, err)
	}
	return options, nil
}

// Verdict is what one person said.
type Verdict string

// The verdicts.
const (
	VerdictApprove Verdict = "approve"
	VerdictReject  Verdict = "reject"
	VerdictAnswer  Verdict = "answer"
)

// Vote is one person's verdict on a response.
type Vote struct {
	ID          VoteID `gorm:"primaryKey"`
	ResponseID  ResponseID
	UserID      UserID
	UserName    string
	Verdict     Verdict
	Reason      string
	Digest      string  // of the request as it stood
	SeenDigest  string  // as the decider sent it; empty if not sent
	Input       *string // another input, as sent: approved in the place of the agent's, or suggested with a rejection
	InputDigest *string
	Answer      *string
	Option      *string
	At          time.Time
	WithdrawnAt *time.Time
	// WaitsFor names, as JSON, who must approve the edit too, or is the one of a signature (Signed); empty: the vote
	// counts.
	WaitsFor string
	// ReplacedBy is the vote whose edit began another count, and so withdrew this one; empty: none did.
	ReplacedBy VoteID
	// Checked are the items of the checklist that were ticked, as JSON; use Ticked.
	Checked string
	// BehalfOf is for whom they voted, where the rule does not let them approve in their own right; empty: for no one.
	// BehalfName is that person's name.
	BehalfOf   UserID
	BehalfName string

	// Of an approval with an undo window: until when it may be taken back, and the
	// change of the budget that is made with its release.
	UndoUntil   *time.Time
	BudgetSet   *int64
	BudgetDelta *int64

	// SkippedJSON says of a vote that broke glass whose signatures it did without; empty: it broke none. Use Skipped.
	SkippedJSON string `gorm:"column:skipped"`
	// Who else has looked at that, when (nil: no one yet), and what they found.
	AcknowledgedBy   UserID
	AcknowledgedName string
	AcknowledgedAt   *time.Time
	Remark           string
}

// BrokeGlass reports whether it decides alone what several people should have signed.
func (v *Vote) BrokeGlass() bool { return v.SkippedJSON != "" }

// Skipped are those whose signatures a vote did without that broke glass.
func (v *Vote) Skipped() []PersonRef {
	var out []PersonRef
	_ = json.Unmarshal([]byte(v.SkippedJSON), &out) // the store wrote it; unreadable JSON names no one
	return out
}

// MayAcknowledge reports whether a person may acknowledge that a vote broke glass: an admin, or one whose signature it
// did without, and not who gave it.
func (v *Vote) MayAcknowledge(actor Actor) bool {
	if !v.BrokeGlass() || !actor.IsPerson() || actor.UserID() == v.UserID {
		return false
	}
	return actor.Admin || !actor.Auditor && slices.ContainsFunc(v.Skipped(), func(p PersonRef) bool { return p.ID == actor.UserID() })
}

// GlassBreak is a decision that broke glass, with its request as it holds now.
type GlassBreak struct {
	Vote    Vote
	Request Approval
}

// Skip notes with a vote that it breaks glass, and whose signatures it does without.
func (v *Vote) Skip(people []PersonRef) {
	v.SkippedJSON = "[]"
	if raw, err := json.Marshal(people); err == nil && len(people) > 0 { // texts always encode
		v.SkippedJSON = string(raw)
	}
}

// Budget is the change of the conversation's budget that waits for the release.
func (v *Vote) Budget() BudgetChange { return BudgetChange{Set: v.BudgetSet, Delta: v.BudgetDelta} }

// CheckOptions refuses options that a person could take for one another: two whose
// name or title reads the same but for spaces around it, case and compatible
// characters. So no button that reads "No" can release "yes". list is what an error calls them.
func CheckOptions(list string, options []Option) error {
	seen := make(map[string]int, 2*len(options))
	for i, o := range options {
		for _, label := range [...]struct{ field, text string }{{"name", o.Name}, {"title", o.Title}} {
			if label.text == "" {
				continue
			}
			reads := folded(label.text)
			if other, ok := seen[reads]; ok && other != i {
				return Invalid(fmt.Sprintf("%s[%d].%s", list, i, label.field),
					"reads like option %d; a person could not tell them apart", other)
			}
			seen[reads] = i
		}
	}
	return nil
}

// folded is what a label reads as: trimmed, NFKC, without case.
func folded(label string) string {
	return strings.TrimSpace(norm.NFKC.String(cases.Fold().String(norm.NFKC.String(label))))
}
