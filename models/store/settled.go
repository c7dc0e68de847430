package store

import (
	"context"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
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
	Limit        int           // 0: models.DefaultPage
}

// SettledPage is one page of what was settled, newest first.
type SettledPage struct {
	Items []models.Approval // inputs are cut to MaxBrief; a context is left out unless another system asks
	Next  string            // empty: the last page
	// Cut says that looking for what passes the filters ended early, at Back, after
	// Searched rows; Next goes on from there, though Items may be few or none.
	Cut      bool
	Searched int
	Back     time.Time
}

// Settled is what has left pending, by when it did, and what went through without
// a person, by when it came: for admins all, for others what they own and what was
// routed to them.
//
// Codes: forbidden (people only), invalid.
func (s *Store) Settled(ctx context.Context, actor models.Actor, q SettledQuery) (SettledPage, error) {
	l, err := s.settledLook(ctx, actor, q)
	if err != nil {
		return SettledPage{}, err
	}
	page, limit := SettledPage{}, db.PageSize(q.Limit)
	found, err := s.look(ctx, l, (*key).at, limit+1, limit+1, l.most())
	if err != nil {
		return SettledPage{}, err
	}
	page.Searched = found.searched
	keys := found.keys
	switch {
	case len(keys) > limit:
		keys = keys[:limit]
		page.Next = settledCursor(&keys[limit-1])
	case found.cut:
		page.Next, page.Cut, page.Back = settledCursor(&found.last), true, found.last.at()
	}
	page.Items, err = s.lookedUp(ctx, keys, briefColumns)
	return page, err
}

func settledCursor(k *key) string { return db.Cursor{At: k.at(), ID: k.id}.String() }

// exportBatch is how many requests are in memory at once for an export: each may
// be half a megabyte.
const exportBatch = 50

// EachSettled gives all that Settled would, in its order, whole. begin is called
// first, once the query was found good. Between two batches nothing is held,
// however slowly fn takes them. An error of either, or the end of ctx, ends it.
// Codes as for Settled.
func (s *Store) EachSettled(ctx context.Context, actor models.Actor, q SettledQuery, begin func() error, fn func(*models.Approval) error) error {
	l, err := s.settledLook(ctx, actor, q)
	if err != nil {
		return err
	}
	if err := begin(); err != nil {
		return err
	}
	for {
		found, err := s.look(ctx, l, (*key).at, exportBatch, exportBatch, 0)
		if err != nil {
			return err
		}
		items, err := s.lookedUp(ctx, found.keys, approvalColumns)
		if err != nil {
			return err
		}
		for i := range items {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("export: %w", err)
			}
			if err := fn(&items[i]); err != nil {
				return err
			}
		}
		if len(items) < exportBatch {
			return nil
		}
		last := &found.keys[len(found.keys)-1]
		l.from(*last, last.at())
	}
}
