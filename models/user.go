package models

import (
	"slices"
	"strings"
	"time"
)

// Role is what a person may do.
type Role string

// The roles.
const (
	RoleReviewer     Role = "reviewer"
	RoleAdmin        Role = "admin"
	RolePolicyEditor Role = "policy_editor" // a reviewer who drafts the policy too
	RoleAuditor      Role = "auditor"       // sees everything, changes nothing
)

// Roles are all of them, from the most usual.
var Roles = []Role{RoleReviewer, RoleAdmin, RolePolicyEditor, RoleAuditor}

// Fault says why a text is no role; empty: it is one.
func (r Role) Fault() string {
	if slices.Contains(Roles, r) {
		return ""
	}
	return "must be reviewer, admin, policy_editor or auditor"
}

// Word is the role as people read it.
func (r Role) Word() string { return strings.ReplaceAll(string(r), "_", " ") }

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

// List is a page on which views are saved.
type List string

// The lists: a person's history and audit, and everybody's audit.
const (
	ListHistory    List = "history"
	ListAudit      List = "audit"
	ListEverything List = "everything"
)

// What people may save.
const (
	MaxSavedViews = 20 // of a person and list
	MaxViewName   = 80 // bytes
	maxViewQuery  = 2000
)

// SavedView is a list as a person narrowed it, kept under a name. It grants nothing: the list judges each time what its
// reader may see.
type SavedView struct {
	UserID    UserID `gorm:"primaryKey"`
	List      List   `gorm:"primaryKey"`
	Name      string `gorm:"primaryKey"`
	Query     string // of the list's address, without days
	CreatedAt time.Time
}

// Check is CodeInvalid, naming "name" or "query", for what can't be saved.
func (v *SavedView) Check() error {
	if v.Query == "" {
		return Invalid("query", "must narrow the list by more than days: set a filter or search first")
	}
	if err := CheckText("query", v.Query, maxViewQuery); err != nil {
		return err
	}
	if v.Name == "" {
		return Invalid("name", "must be a name by which you find the view again")
	}
	if _, hidden := Reveal(v.Name, false); hidden.Any() {
		return Invalid("name", "must not contain invisible characters: it has %s", hidden)
	}
	return CheckText("name", v.Name, MaxViewName)
}
