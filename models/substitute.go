package models

import "time"

// MaxHandOverNote is how many bytes a note of a hand-over may have.
const MaxHandOverNote = 1000

// Substitute is somebody who may act for a person, once an admin has accepted that.
type Substitute struct {
	ID           SubstituteID `gorm:"primaryKey"`
	UserID       UserID       // for whom
	SubstituteID UserID
	AskedAt      time.Time
	AskedBy      UserID // empty: the command line
	AcceptedAt   *time.Time
	AcceptedBy   UserID // empty: no one has, or the command line
	RemovedAt    *time.Time

	// The names and e-mails of both; read beside the row.
	UserName        string `gorm:"->"`
	UserEmail       string `gorm:"->"`
	SubstituteName  string `gorm:"->"`
	SubstituteEmail string `gorm:"->"`
}

// Accepted reports whether the substitute may act.
func (s *Substitute) Accepted() bool { return s.AcceptedAt != nil && s.RemovedAt == nil }

// HandOver is a request that somebody who may approve it has handed to somebody else: both
// have it.
type HandOver struct {
	ID          HandOverID `gorm:"primaryKey"`
	ResponseID  ResponseID
	FromUser    UserID
	ToUser      UserID
	Note        string
	At          time.Time
	TakenBackAt *time.Time

	// The names of both; read beside the row.
	FromName string `gorm:"->"`
	ToName   string `gorm:"->"`
}

// TableName is the table's name.
func (HandOver) TableName() string { return "handovers" }

// PersonRef is somebody by id, with the name and e-mail that people know them by.
type PersonRef struct {
	ID    UserID `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email,omitempty"`
}

// Delegation is from whom somebody has a request, for whom they may act on it or not.
type Delegation struct {
	From     PersonRef
	HandOver *HandOver // by which; nil: by Absence
	Absence  *Absence
}

// Right is what a person who sees a pending request may do with it, as the store judges it.
type Right struct {
	// Own says that they have it in their own right: as its owner, as an admin, or because the
	// rule, an edit or a step asks them.
	Own bool
	// MayApprove says that an approval counts: in their own right, or for OnBehalf.
	MayApprove bool
	OnBehalf   *PersonRef // for whom they decide; nil: for no one

	// Of a request that several people sign: their signature, if they have given one; why they may not sign it now; how
	// far it is with their signature; and how far it is, in words.
	Signed   *Vote
	Why      string
	After    Count
	Progress string
	// BreaksGlass says that they may decide it alone, with a reason.
	BreaksGlass bool
}

// MayDecide reports whether they may decide it at all: people who may not approve it may reject it, unless they had it
// only for others and may not act for them any more.
func (r Right) MayDecide() bool { return r.Own || r.OnBehalf != nil }

// ActingPage is what the page of a pending request says of what the reader may do, and of
// people who act for others.
type ActingPage struct {
	Right

	Releases    map[VoteID]bool // the proposed edits that count with the reader's approval
	Delegations []Delegation    // from whom the reader has it, whether the rule asks them too or not
	HandOvers   []HandOver      // all current ones, with their notes
	// NextStep is when the rule asks further people, and NextTo whom; nil: it asks no one else.
	NextStep *Escalation
	NextTo   Approvers

	// Of a request that several people sign: the signatures so far, who of each entry may sign, and who edited it after
	// the reader had signed (empty: no one).
	Ballot *Ballot
	Seats  [][]Seat
	Editor string
}

// Seat is somebody who may sign a request, or would.
type Seat struct {
	PersonRef

	Signed     *Vote  // their signature, or that of somebody who signed for them; nil: there is none
	Why        string // why they can't sign; empty: they can
	Substitute string // who may sign for them, as they are away; empty: no one, or they are not
}
