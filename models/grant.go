package models

import "time"

// MaxLiveGrants is how many grants may be live at a time for one agent and tool.
const MaxLiveGrants = 50

// Grant is leave to make further calls like one without asking a person: of the
// same agent and tool, with the same values in some members.
type Grant struct {
	ID      GrantID `gorm:"primaryKey"`
	OwnerID UserID
	AgentID AgentID
	// ToolName is the tool, exactly.
	ToolName string
	// Fixed is a JSON object in canonical form: the members that stay as they are.
	// Of a call whose input is not an object it is that input, canonical.
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
	Removed     *string // the mark in place of Fixed and Free; nil: they are kept

	// Read beside the row. MakerMayDecide says that its maker is enabled and still the owner or an admin: without that
	// it covers nothing.
	AgentName      string `gorm:"->"`
	OwnerName      string `gorm:"->"`
	MakerMayDecide bool   `gorm:"->"`
}

// Live reports whether the grant's own limits allow a use at now: its maker may have lost the right to decide.
func (g *Grant) Live(now time.Time) bool {
	return g.RevokedAt == nil && now.Before(g.ExpiresAt) && g.Uses < g.MaxUses
}

// GrantState is the state of a grant.
type GrantState string

// The states of a grant.
const (
	GrantLive    GrantState = "live"
	GrantUsedUp  GrantState = "used_up"
	GrantExpired GrantState = "expired"
	GrantRevoked GrantState = "revoked"
	GrantLapsed  GrantState = "lapsed" // its maker may not decide any more
)

// StateAt is the state of the grant at now; it reads MakerMayDecide.
func (g *Grant) StateAt(now time.Time) GrantState {
	switch {
	case g.RevokedAt != nil:
		return GrantRevoked
	case g.Uses >= g.MaxUses:
		return GrantUsedUp
	case !now.Before(g.ExpiresAt):
		return GrantExpired
	case !g.MakerMayDecide:
		return GrantLapsed
	}
	return GrantLive
}

// GrantInput is what a person chooses: which members stay as they are, and both
// limits.
type GrantInput struct {
	Fixed  []string // names of top-level members; empty for an input that is not an object
	Hours  int
	Uses   int
	Digest string    // of the input that was shown
	Page   *PageView // what its maker has looked at; NoPage where there is none
}

// GrantReach is how much a grant would have covered: Covered of the last Examined
// calls of this agent and tool. More says that there are older ones.
type GrantReach struct {
	Covered, Sample int
	More            bool
	Since           time.Time // of the oldest looked at
}
