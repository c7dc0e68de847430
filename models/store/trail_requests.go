package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/db"
)

// What is read beside the entries of a page, each by its key.
const (
	trailRouted = `SELECT response_id FROM reviewers WHERE user_id = ? AND response_id IN (SELECT value FROM json_each(?))`
	trailVotes  = `SELECT id, reason FROM votes WHERE id IN (SELECT value FROM json_each(?))`
	// Why a vote was taken back, by another than who gave it.
	trailWithdrawn = `SELECT vote_id, said FROM withdrawals WHERE vote_id IN (SELECT value FROM json_each(?))`
)

var trailRequests = `SELECT ` + briefColumns + ` FROM json_each(?) j CROSS JOIN responses r ON r.id = j.value` + approvalFrom[len(` FROM responses r`):]

// withRequests puts beside each entry its request, where the actor may see that.
func (s *Store) withRequests(ctx context.Context, actor models.Actor, entries []models.Entry) ([]models.TrailEntry, error) {
	requests, err := s.requestsOf(ctx, entries)
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	routed, err := s.routedOf(ctx, actor, requests)
	if err != nil {
		return nil, err
	}
	reasons, err := s.reasonsOf(ctx, trailVotes, entries, "approval.voted")
	if err != nil {
		return nil, err
	}
	withdrawn, err := s.reasonsOf(ctx, trailWithdrawn, entries, withdrawals...)
	if err != nil {
		return nil, err
	}
	out := make([]models.TrailEntry, len(entries))
	for i := range entries {
		e := &out[i]
		e.Entry = entries[i]
		a := requests[e.ResponseID]
		if a == nil {
			continue
		}
		sees, err := maySee(actor, &a.Response, func() (bool, error) { return routed[a.ID], nil })
		if err != nil {
			return nil, err
		}
		if !sees {
			e.Hidden = true
			continue
		}
		e.Request = a
		switch {
		case e.Action == "approval.voted":
			e.Reason = reasons[voteOf(e.Data)]
		case slices.Contains(withdrawals, e.Action):
			e.Reason = withdrawn[voteOf(e.Data)]
		case e.Action == "approval.let_through":
			e.Reason = a.PolicyReason
		case e.Action == "approval."+string(a.Status()):
			e.Reason = a.ApprovalFeedback
		}
	}
	return out, nil
}

// requestsOf reads the requests that entries are about, in brief.
func (s *Store) requestsOf(ctx context.Context, entries []models.Entry) (map[models.ResponseID]*models.Approval, error) {
	var ids []models.ResponseID
	known := map[models.ResponseID]*models.Approval{}
	for i := range entries {
		id := entries[i].ResponseID
		if _, seen := known[id]; id != "" && !seen {
			known[id] = nil
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return known, nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, fmt.Errorf("encode ids: %w", err)
	}
	items, err := s.approvals(ctx, trailRequests, string(list))
	if err != nil {
		return nil, err
	}
	for i := range items {
		known[items[i].ID] = &items[i]
	}
	return known, nil
}

// routedOf tells which of the requests were routed to the actor. Admins see all,
// and owners their own: nothing is read for them.
func (s *Store) routedOf(ctx context.Context, actor models.Actor, requests map[models.ResponseID]*models.Approval) (map[models.ResponseID]bool, error) {
	var ids []models.ResponseID
	for id, a := range requests {
		if a != nil && !actor.Admin && a.OwnerID != actor.UserID() {
			ids = append(ids, id)
		}
	}
	out := map[models.ResponseID]bool{}
	err := eachOfIDs(ctx, s.db.Reads(), trailRouted, ids, []any{actor.ID}, func(row db.Scanner) error {
		var id models.ResponseID
		err := row.Scan(&id)
		out[id] = true
		return err
	})
	return out, err
}

// withdrawals are the actions that take back a vote of another's.
var withdrawals = []string{"approval.withdrawn", "approval.refused"}

// reasonsOf reads, by vote, what was said with the entries of some actions.
func (s *Store) reasonsOf(ctx context.Context, query string, entries []models.Entry, actions ...string) (map[models.VoteID]string, error) {
	var ids []models.VoteID
	for i := range entries {
		if id := voteOf(entries[i].Data); id != "" && slices.Contains(actions, entries[i].Action) {
			ids = append(ids, id)
		}
	}
	out := map[models.VoteID]string{}
	err := eachOfIDs(ctx, s.db.Reads(), query, ids, nil, func(row db.Scanner) error {
		var id models.VoteID
		var reason string
		err := row.Scan(&id, &reason)
		out[id] = reason
		return err
	})
	return out, err
}

// voteOf is the vote that an entry's data names.
func voteOf(data string) models.VoteID {
	var held settledEntry
	if err := json.Unmarshal([]byte(data), &held); err != nil {
		return ""
	}
	return held.Vote
}

// eachOfIDs runs a query whose last argument is a list of ids; without ids, none.
func eachOfIDs[T ~string](ctx context.Context, pool db.Querier, query string, ids []T, args []any, each func(db.Scanner) error) error {
	if len(ids) == 0 {
		return nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return fmt.Errorf("encode ids: %w", err)
	}
	if err := eachRow(ctx, pool, query, append(args, string(list)), each); err != nil {
		return fmt.Errorf("read beside the ledger: %w", err)
	}
	return nil
}
