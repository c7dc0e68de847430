package agents

import (
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// GrantsInput is what the list of grants is made of.
type GrantsInput struct {
	Grants []models.Grant // one page, newest first
	After  string         // the key that this page began with
	Next   string
	Admin  bool // sees those of all owners
	Off    bool // the policy honours none
}

// Grants is the view model of the list of grants.
type Grants struct {
	URL               string // of this page
	Rows              []GrantRow
	Owners            bool
	Off               bool
	FirstURL, NextURL string
}

// GrantRow is one grant.
type GrantRow struct {
	ID, URL   string
	RevokeURL string // empty: it has ended
	Tool      string
	Agent     string
	Owner     string
	Maker     string
	MadeAt    views.Moment
	End       views.Moment // when it expires, or what ended it
	Uses      string
	State     ui.Word
	Why       string // more than the state says
	Ended     bool

	Fixed   []FixedMember
	MoreOf  int    // further fixed members
	Whole   string // the input, where it is not an object
	Nothing bool   // stays as it is
}

// FixedMember is a member that stays as it is.
type FixedMember struct{ Name, Value string }

// NewGrants makes the page as of now.
func NewGrants(in GrantsInput, now time.Time) Grants {
	v := Grants{URL: views.GrantsPageURL(in.After), Owners: in.Admin, Off: in.Off}
	if in.After != "" {
		v.FirstURL = views.GrantsURL()
	}
	if in.Next != "" {
		v.NextURL = views.GrantsPageURL(in.Next)
	}
	for i := range in.Grants {
		v.Rows = append(v.Rows, newGrantRow(&in.Grants[i], 3, now))
	}
	return v
}

// newGrantRow shows at most so many fixed members.
func newGrantRow(g *models.Grant, most int, now time.Time) GrantRow {
	row := GrantRow{
		ID: string(g.ID), URL: views.GrantURL(g.ID), Tool: g.ToolName, Agent: g.AgentName, Owner: g.OwnerName,
		Maker:  g.MakerName,
		MadeAt: views.Ago(g.CreatedAt, now), End: views.Remaining(g.ExpiresAt, g.CreatedAt, now),
		Uses: views.Number(g.Uses) + " of " + views.Number(g.MaxUses),
	}
	row.State, row.Why = grantState(g, now)
	switch g.StateAt(now) {
	case models.GrantLive, models.GrantLapsed:
		row.RevokeURL = views.RevokeGrantURL(g.ID)
	case models.GrantUsedUp:
		row.Ended, row.End = true, views.AgoOf(g.UsedAt, now)
	case models.GrantExpired:
		row.Ended, row.End = true, views.Ago(g.ExpiresAt, now)
	case models.GrantRevoked:
		row.Ended, row.End = true, views.AgoOf(g.RevokedAt, now)
	}
	row.fixed(g, most)
	return row
}

func (row *GrantRow) fixed(g *models.Grant, most int) {
	if g.Whole() && (len(g.Fixed) == 0 || g.Fixed[0] != '{') {
		row.Whole = g.Fixed
		return
	}
	members := g.FixedMembers() // of a list's page perhaps the first only
	for i, m := range members {
		if i == most {
			row.MoreOf = len(members) - i
			break
		}
		row.Fixed = append(row.Fixed, FixedMember{Name: m.Name, Value: string(m.Value)})
	}
	if len(members) == 0 && g.Fixed != "{}" {
		row.Whole = g.Fixed
	}
	row.Nothing = g.Fixed == "{}"
}

// grantState is the state of a grant, and details that the word leaves open.
func grantState(g *models.Grant, now time.Time) (ui.Word, string) {
	switch g.StateAt(now) {
	case models.GrantLive:
		return ui.Word{Text: "active", Tone: views.ToneGood}, ""
	case models.GrantUsedUp:
		return ui.Word{Text: "used up", Tone: views.ToneNeutral}, ""
	case models.GrantExpired:
		return ui.Word{Text: "expired", Tone: views.ToneNeutral}, ""
	case models.GrantRevoked:
		return ui.Word{Text: "revoked", Tone: views.ToneNeutral}, "by " + models.RevealString(g.RevokerName, false)
	case models.GrantLapsed:
		return ui.Word{Text: "no effect", Tone: views.ToneWarn}, "its creator can no longer decide"
	}
	return ui.Word{}, ""
}

// GrantInput is what the page of one grant is made of.
type GrantInput struct {
	Grant models.Grant
	Calls []models.Brief // one page, newest first
	After string
	Next  string
	Off   bool // the policy honours none
	// Sees says that the reader may look at the calls.
	Sees bool
}

// GrantView is the view model of one grant.
type GrantView struct {
	GrantRow

	PageURL           string // of this page of its calls
	FromURL           string // the request that it was made on
	Free              []string
	FreeCut           string
	Ends              views.Moment
	MadeAt            views.Moment
	Used              views.Moment
	Revoked           views.Moment
	Off, Sees         bool
	Calls             []GrantCall
	FirstURL, NextURL string
}

// GrantCall is one call that a grant let through.
type GrantCall struct {
	URL, Summary string
	Conversation string
	At           views.Moment
}

// freeShown is how many members that may differ are named.
const freeShown = 100

// NewGrant makes the page of one grant as of now.
func NewGrant(in GrantInput, now time.Time) GrantView {
	g := in.Grant
	v := GrantView{
		GrantRow: newGrantRow(&g, grantMembers, now), PageURL: views.GrantPageURL(g.ID, in.After),
		FromURL: views.ApprovalURL(g.MadeFrom),
		Ends:    views.Exact(g.ExpiresAt), MadeAt: views.Exact(g.CreatedAt), Used: views.AgoOf(g.UsedAt, now), Off: in.Off,
		Sees: in.Sees,
	}
	if g.RevokedAt != nil {
		v.Revoked = views.Exact(*g.RevokedAt)
	}
	names, err := g.FreeNames()
	if err == nil && len(names) > freeShown {
		v.FreeCut = "and " + views.Number(int64(len(names)-freeShown)) + " more"
		names = names[:freeShown]
	}
	v.Free = names
	if in.After != "" {
		v.FirstURL = views.GrantURL(g.ID)
	}
	if in.Next != "" {
		v.NextURL = views.GrantPageURL(g.ID, in.Next)
	}
	for i := range in.Calls {
		a := &in.Calls[i]
		v.Calls = append(v.Calls, GrantCall{
			URL: views.ApprovalURL(a.ID), Summary: words.Summary(&a.Response),
			Conversation: words.ConversationLabel(&a.Approval), At: views.Ago(a.CreatedAt, now),
		})
	}
	return v
}
