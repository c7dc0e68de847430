package models

import "time"

// Role is what a person may do.
type Role string

// The roles.
const (
	RoleReviewer Role = "reviewer"
	RoleAdmin    Role = "admin"
)

// The length of a password, in characters.
const (
	MinPassword = 12
	MaxPassword = 128
)

// User is a person who signs in.
type User struct {
	ID           UserID `gorm:"primaryKey"`
	Email        string
	Name         string
	Role         Role
	PasswordHash string
	CreatedAt    time.Time `gorm:"autoCreateTime:false"`
	DisabledAt   *time.Time
}

// Enabled reports whether the person may sign in and decide.
func (u User) Enabled() bool { return u.DisabledAt == nil }

// WebSession is one signed-in browser. The cookie holds the secret whose hash
// this row has.
type WebSession struct {
	ID         SessionID `gorm:"primaryKey"`
	SecretHash []byte
	UserID     UserID
	CreatedAt  time.Time `gorm:"autoCreateTime:false"`
	LastSeenAt time.Time
	ExpiresAt  time.Time // absolute end
	Address    string
	UserAgent  string
	RevokedAt  *time.Time
}

// Agent is a program that asks, registered under a name by its owner.
type Agent struct {
	ID         AgentID `gorm:"primaryKey"`
	OwnerID    UserID
	Name       string
	System     bool      // the built-in agent: it has no tokens
	CreatedAt  time.Time `gorm:"autoCreateTime:false"`
	DisabledAt *time.Time
}

// Scope is what a token may do.
type Scope string

// The scopes of tokens.
const (
	ScopeAgent    Scope = "agent"
	ScopeReviewer Scope = "reviewer"
	ScopeAdmin    Scope = "admin"
)

// Token is a bearer credential. Its secret is shown once and stored hashed.
type Token struct {
	ID         TokenID `gorm:"primaryKey"`
	SecretHash []byte
	Hint       string // the first characters of the secret, to tell tokens apart
	Scope      Scope
	UserID     UserID   // the person, or the agent's owner
	AgentID    *AgentID // set with ScopeAgent
	Name       string
	CreatedAt  time.Time `gorm:"autoCreateTime:false"`
	ExpiresAt  *time.Time
	RevokedAt  *time.Time
	LastUsedAt *time.Time
}

// Live reports whether the token may be used at now.
func (t Token) Live(now time.Time) bool {
	return t.RevokedAt == nil && (t.ExpiresAt == nil || now.Before(*t.ExpiresAt))
}
