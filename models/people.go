package models

import "time"

// InviteID names an invitation; it is not the secret of its link.
type InviteID string

// Invite is a one-time link with which a person joins: the e-mail and the role
// are fixed by who invites, name and password are chosen by who joins.
type Invite struct {
	ID          InviteID `gorm:"primaryKey"`
	SecretHash  []byte
	Email       string
	Role        Role
	InvitedBy   *UserID // nil: the command line
	InviterName string
	CreatedAt   time.Time `gorm:"autoCreateTime:false"`
	ExpiresAt   time.Time
	UsedAt      *time.Time
	WithdrawnAt *time.Time
}

// Open reports whether the link may be used at now, as far as its own row says.
func (i Invite) Open(now time.Time) bool {
	return i.UsedAt == nil && i.WithdrawnAt == nil && now.Before(i.ExpiresAt)
}

// Person is a user as admins see them in the list of people.
type Person struct {
	User
	Sessions int        // open ones; counting stops at StatsCap
	LastSeen *time.Time // of the open sessions; nil without any
}

// Device is the part of a session that its person sees.
type Device struct {
	ID         SessionID
	Address    string
	UserAgent  string
	CreatedAt  time.Time
	LastSeenAt time.Time
	ExpiresAt  time.Time
}

// TableName is that of WebSession: both are one row.
func (Device) TableName() string { return "web_sessions" }
