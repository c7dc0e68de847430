package store

import (
	"context"
	"time"

	"countersign/models"
)

// SettledQuery chooses from what has been settled; members combine.
type SettledQuery struct {
	Conversation models.ConversationID
	Agent        models.AgentID
	Tool         string // exact
	Risk         models.Risk
	Text         string // as in InboxQuery
	Whose        Whose
	Status       models.Status // approved includes what was let through
	Cause        models.Cause
	By           models.UserID // who decided
	From, To     time.Time     // settled from the first to before the second; zero: no bound
	After        string        // SettledPage.Next of the page before
	Limit        int           // 0: DefaultPage
}

// SettledPage is one page of what was settled, newest first.
type SettledPage struct {
	Items []models.Approval // inputs are cut to MaxBrief, contexts left out
	Next  string            // empty: the last page
	// Cut says that looking for what passes the filters ended early, at Back, after
	// Searched rows; Next goes on from there, though Items may be few or none.
	Cut      bool
	Searched int
	Back     time.Time
}

// Settled is what has left pending, by when it did, and what went through without
// a person, by when it came: for admins all, for others what they own and what was
// routed to them. Agents are CodeForbidden.
func (s *Store) Settled(ctx context.Context, actor models.Actor, q SettledQuery) (SettledPage, error) {
	return SettledPage{}, nil
}

// EachSettled gives all that Settled would, page after page, whole. An error of fn,
// or the end of ctx, ends it.
func (s *Store) EachSettled(ctx context.Context, actor models.Actor, q SettledQuery, fn func(*models.Approval) error) error {
	return nil
}
