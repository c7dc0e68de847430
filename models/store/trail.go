package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"countersign/models"
	"countersign/models/ledger"
)

// TrailQuery narrows a person's audit trail; members combine.
type TrailQuery struct {
	Person       models.UserID // whose trail; empty: the reader's own
	What         TrailPart
	Outcome      TrailOutcome
	Agent        models.AgentID // entries of it, or of its conversations
	Conversation models.ConversationID
	From, Until  time.Time // from the first to before the second; zero: no bound
	Before       int64     // numbers below this one only; 0: from the newest
	Limit        int       // 0: models.DefaultPage; at most TrailMost
}

// TrailMost is how many entries one page has at most.
const TrailMost = 1_000

// trailLook bounds how many entries of one index are read for a page, where a
// filter may leave few of them.
const trailLook = 10_000

// TrailPage is one page of a trail, newest first.
type TrailPage struct {
	Entries []models.TrailEntry
	Next    int64 // to pass as Before; 0: that was all
	// Looked says, where Next is set and the page is not full, that reading stopped
	// early: the filters left little of what was read.
	Looked bool
}

// Trail is what a person did and what happened to what is theirs: entries of which
// they are the actor or the owner. Beside each stands its request, as far as the
// reader may see it now.
//
// Codes: forbidden (people read their own, admins anybody's), invalid.
func (s *Store) Trail(ctx context.Context, actor models.Actor, q TrailQuery) (TrailPage, error) {
	if err := q.check(actor); err != nil {
		return TrailPage{}, err
	}
	limit := models.DefaultPage
	if q.Limit > 0 {
		limit = min(q.Limit, TrailMost)
	}
	found, err := s.trailEntries(ctx, q, limit)
	if err != nil {
		return TrailPage{}, err
	}
	out := TrailPage{Next: found.Next, Looked: found.Looked}
	out.Entries, err = s.withRequests(ctx, actor, found.Entries)
	return out, err
}

// EachTrail gives all that Trail would, in its order. begin is called first, once
// the query was found good. An error of either, or the end of ctx, ends it.
func (s *Store) EachTrail(ctx context.Context, actor models.Actor, q TrailQuery, begin func() error, fn func(*models.TrailEntry) error) error {
	if err := q.check(actor); err != nil {
		return err
	}
	if err := begin(); err != nil {
		return err
	}
	for q.Limit = exportBatch; ; {
		page, err := s.Trail(ctx, actor, q)
		if err != nil {
			return err
		}
		for i := range page.Entries {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("export: %w", err)
			}
			if err := fn(&page.Entries[i]); err != nil {
				return err
			}
		}
		if page.Next == 0 {
			return nil
		}
		q.Before = page.Next
	}
}

// check sets whose trail it is, and refuses what nobody may read or ask for.
func (q *TrailQuery) check(actor models.Actor) error {
	switch {
	case q.Person == "" && !actor.IsPerson():
		return models.Errorf(models.CodeForbidden, "Only people read the audit.")
	case q.Person == "":
		q.Person = actor.UserID()
	case q.Person != actor.UserID():
		if err := actor.NeedAdmin(); err != nil {
			return err
		}
	}
	if _, known := trailParts[q.What]; !known && q.What != "" {
		return models.Invalid("what", "must be one of the choices")
	}
	if q.Outcome != "" && !slices.Contains(TrailOutcomes(), q.Outcome) {
		return models.Invalid("outcome", "must be %s", models.AnyOf(TrailOutcomes()))
	}
	return nil
}

func (s *Store) trailEntries(ctx context.Context, q TrailQuery, limit int) (ledger.Page, error) {
	dbtx, err := s.db.Reads().BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return ledger.Page{}, fmt.Errorf("read ledger: %w", err)
	}
	defer dbtx.Rollback() //nolint:errcheck // nothing was written
	low, high, err := ledger.Query{From: q.From, Until: q.Until, Before: q.Before}.Span(ctx, dbtx)
	if err != nil || low >= high {
		return ledger.Page{}, err
	}
	picks, pickArgs := q.picks()
	keys, args := q.keys(low, high, limit+1)
	read := ledger.Read{Keys: keys, Args: args, Picks: picks, PickArgs: pickArgs}
	if picks != "" {
		read.Most = trailLook
	}
	return ledger.PageIn(ctx, dbtx, read, limit)
}
