package models

import "time"

// Grant is leave to make further calls like one without asking a person: of the
// same agent and tool, with the same values in some members.
type Grant struct {
	ID      GrantID `gorm:"primaryKey"`
	OwnerID UserID
	AgentID AgentID
	// ToolName is the tool, exactly.
	ToolName string
	// Fixed is a JSON object in canonical form: the members that stay as they are.
	Fixed string
	// Free is a JSON array of the names of members that may differ or be missing. A
	// call with a member that is in neither is not covered.
	Free        string
	MadeBy      UserID
	MakerName   string
	MadeFrom    ResponseID
	CreatedAt   time.Time `gorm:"autoCreateTime:false"`
	ExpiresAt   time.Time
	MaxUses     int64
	Uses        int64
	UsedAt      *time.Time
	RevokedAt   *time.Time
	RevokedBy   *UserID
	RevokerName string
}

// Live reports whether the grant may be used at now.
func (g *Grant) Live(now time.Time) bool {
	return g.RevokedAt == nil && now.Before(g.ExpiresAt) && g.Uses < g.MaxUses
}

// GrantInput is what a person chooses: which members stay as they are, and both
// limits.
type GrantInput struct {
	Fixed  []string // names of top-level members
	Hours  int
	Uses   int
	Digest string // what was seen
}

// GrantReach is how much a grant would have covered: Covered of the last Looked
// calls of this agent and tool. More says that there are older ones.
type GrantReach struct {
	Covered, Looked int
	More            bool
	Since           time.Time // of the oldest looked at
}
