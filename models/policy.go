package models

import (
	"slices"
	"time"

	"github.com/go-json-experiment/json"
)

// Policy is one version of the policy document, as it is kept.
type Policy struct {
	Version    int64 `gorm:"primaryKey"`
	Document   string
	AuthorID   string
	AuthorName string
	Note       string
	CreatedAt  time.Time `gorm:"autoCreateTime:false"`
	// SignedJSON is who agreed to it besides or instead of the author, see Signed; empty: the author alone.
	SignedJSON string `gorm:"column:signed"`
}

// PolicySigned is who agreed to a version of the policy.
type PolicySigned struct {
	Admins []PersonRef `json:"admins"`
	// Alone is why one of them sufficed where the policy wants several; empty: they were as many.
	Alone string `json:"alone,omitzero"`
}

// Signed is who agreed to the version; the zero value: its author saved it.
func (p *Policy) Signed() (s PolicySigned) {
	if p.SignedJSON != "" {
		_ = json.Unmarshal([]byte(p.SignedJSON), &s) // it was written by Marshal
	}
	return s
}

// JSON is how it is kept.
func (s PolicySigned) JSON() string {
	if len(s.Admins) == 0 {
		return ""
	}
	raw, _ := json.Marshal(s, json.Deterministic(true)) // of texts
	return string(raw)
}

// PolicyProposal is a change of the policy that waits for admins to agree, or the last one that did. There is one.
type PolicyProposal struct {
	ID       int64 `gorm:"primaryKey"` // 1
	Document string
	Digest   string
	Note     string
	Base     int64 // the version that it changes
	ByID     UserID
	ByName   string
	At       time.Time
	// SignedJSON is who has agreed so far, the proposer among them if they are an admin.
	SignedJSON string `gorm:"column:signed"`

	// Since when an admin waits to save it alone, and why; nil: no one does.
	AloneAt     *time.Time
	AloneBy     UserID
	AloneName   string
	AloneReason string

	Outcome   ProposalOutcome // empty: it waits
	EndedName string
	EndedAt   *time.Time
	EndedText string // why it was rejected
}

// ProposalOutcome is how a proposal ended.
type ProposalOutcome string

// The outcomes.
const (
	ProposalSaved     ProposalOutcome = "saved"
	ProposalRejected  ProposalOutcome = "rejected"
	ProposalTakenBack ProposalOutcome = "taken_back"
)

// Waits reports whether it is not over.
func (p *PolicyProposal) Waits() bool { return p != nil && p.Digest != "" && p.Outcome == "" }

// Signed are the admins who have agreed so far.
func (p *PolicyProposal) Signed() []PersonRef {
	return (&Policy{SignedJSON: p.SignedJSON}).Signed().Admins
}

// SignedBy reports whether a person has agreed.
func (p *PolicyProposal) SignedBy(user UserID) bool {
	return slices.ContainsFunc(p.Signed(), func(one PersonRef) bool { return one.ID == user })
}

// MayConfirm reports whether somebody's word is still wanted: that of an admin who has not agreed yet.
func (p *PolicyProposal) MayConfirm(actor Actor) bool {
	return p.Waits() && actor.IsPerson() && actor.MayAdminister() && !p.SignedBy(actor.UserID())
}

// AloneFrom is from when it may be saved alone by who waits for that so long; the zero time if no one does.
func (p *PolicyProposal) AloneFrom(wait time.Duration) time.Time {
	if p.AloneAt == nil {
		return time.Time{}
	}
	return p.AloneAt.Add(wait)
}

// PolicyDraft is an admin's draft of the policy. It has no effect, and its document need not be valid yet.
type PolicyDraft struct {
	UserID       UserID `gorm:"primaryKey"`
	Base         int64  // the version that it began with
	Revision     int64  // counts the times that it was kept; 0: there is none
	Document     string // JSON, or the text that was typed for it
	Previous     string // what it was before, to go back to; empty: nothing
	PreviousBase int64
	ChangedAt    time.Time `gorm:"autoUpdateTime:false"`
}

// DismissedSuggestion is a rule that history suggests and that somebody does not want to have suggested again.
type DismissedSuggestion struct {
	Key    string `gorm:"primaryKey"` // of the suggestion: no part of a call is in it
	Note   string // why
	ByID   UserID
	ByName string
	At     time.Time `gorm:"autoCreateTime:false"`
}
