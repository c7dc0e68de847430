package models

import "time"

// MaxAbsence is how long an absence may be, and how far ahead it may be planned.
const MaxAbsence = 366 * 24 * time.Hour

// Absence is when a person is away, and who acts for them meanwhile.
type Absence struct {
	ID           AbsenceID `gorm:"primaryKey"`
	UserID       UserID
	FromAt       time.Time
	UntilAt      time.Time
	SubstituteID UserID // empty: no one
	CreatedAt    time.Time
	CreatedBy    UserID // empty: the command line
	BeganAt      *time.Time
	EndedAt      *time.Time

	// The names and e-mails of both, and whether an admin has accepted the substitute; read
	// beside the row.
	UserName        string `gorm:"->"`
	UserEmail       string `gorm:"->"`
	SubstituteName  string `gorm:"->"`
	SubstituteEmail string `gorm:"->"`
	Accepted        bool   `gorm:"->"`
}

// Runs reports whether the person is away at a time, whatever the row says of it.
func (a *Absence) Runs(now time.Time) bool {
	return a.EndedAt == nil && !now.Before(a.FromAt) && now.Before(a.UntilAt)
}

// AbsenceInput is what somebody plans.
type AbsenceInput struct {
	UserID      UserID
	From, Until time.Time // From zero or past: from now on
	Substitute  UserID    // empty: no one
}
