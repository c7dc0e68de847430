package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/db"
)

// maxStartedInput is how much of the call that started a sub-agent is read: the
// name that it gives it stands at its beginning, or is not shown.
const maxStartedInput = 8 << 10

// originsQuery reads a few requests by their ids. A reviewer to whom one was
// routed sees that one, and not the run above its own.
const originsQuery = `SELECT r.id, coalesce(u.name, ''), coalesce(r.approval_id, ''), r.matched_by, iif(o.run_id <> c.run_id AND r.matched_by NOT IN ('', 'unmatched'), c.run_id, ''), coalesce(o.beside, ''), r.contradiction,
 coalesce(p.id, ''), coalesce(c.parent_run_id, ''), coalesce(p.title, ''), coalesce(s.tool_name, ''), coalesce(substr(s.tool_input_json, 1, ?4), ''),
 v.verdict, v.user_name, d.created_at, d.attempts, d.problem, d.next_at, d.give_up_at, d.in_flight_at,
 r.content_bytes, coalesce(r.cascaded_from, ''), r.approval_status, r.approval_timeout_at, r.held_until, r.is_completed, r.closed, r.is_error
 FROM json_each(?1) j JOIN responses r ON r.id = j.value JOIN conversations c ON c.id = r.conversation_id
 LEFT JOIN upstreams u ON u.id = r.upstream_id
 LEFT JOIN outside_approvals o ON o.upstream_id = r.upstream_id AND o.call_id = r.call_id AND o.response_id = r.id
 LEFT JOIN conversations p ON p.owner_id = c.owner_id AND p.run_id = c.parent_run_id AND (?3 OR c.owner_id = ?2)
 LEFT JOIN responses s ON r.parent_tool_use_id <> '' AND s.conversation_id = r.conversation_id AND s.tool_use_id = r.parent_tool_use_id
 LEFT JOIN deliveries d ON d.response_id = r.id AND d.done_at IS NULL LEFT JOIN votes v ON v.id = d.vote_id
 WHERE ?3 OR r.owner_id = ?2 OR EXISTS (SELECT 1 FROM reviewers w WHERE w.user_id = ?2 AND w.response_id = r.id)`

// Origins tells where requests come from, of those among ids that the person may
// see. It is for people: CodeForbidden for others.
func (s *Store) Origins(ctx context.Context, actor models.Actor, ids ...models.ResponseID) (map[models.ResponseID]models.Origin, error) {
	if !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only a person reads where requests come from.")
	}
	if len(ids) == 0 {
		return nil, nil //nolint:nilnil // nothing was asked for
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, fmt.Errorf("read origins: %w", err)
	}
	rows, err := s.db.Reads().QueryContext(context.WithoutCancel(ctx), originsQuery, string(list), actor.ID, actor.Admin, maxStartedInput)
	if err != nil {
		return nil, fmt.Errorf("read origins: %w", err)
	}
	defer rows.Close()
	out := make(map[models.ResponseID]models.Origin, len(ids))
	now, outside := s.db.Now(), false
	for rows.Next() {
		id, o, err := scanOrigin(rows, now)
		if err != nil {
			return nil, fmt.Errorf("read origins: %w", err)
		}
		out[id] = o
		outside = outside || o.UpstreamName != ""
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read origins: %w", err)
	}
	if outside {
		if err := s.withdrawals(ctx, string(list), out); err != nil {
			return nil, err
		}
	}
	return out, s.addLinks(ctx, actor, string(list), out)
}

func scanOrigin(row db.Scanner, now time.Time) (id models.ResponseID, o models.Origin, err error) {
	var told struct {
		verdict        *models.Verdict
		voter, problem *string
		since, next    *time.Time
		until          *time.Time
		begun          *time.Time
		attempts       *int
	}
	var r models.Response
	err = row.Scan(&id, &o.UpstreamName, &o.ApprovalID, &o.MatchedBy, &o.FoundIn, &o.Beside, &o.Contradiction, &o.ParentID, &o.ParentRun, &o.ParentTitle, &o.StartedBy, &o.StartedInput,
		&told.verdict, &told.voter, &told.since, &told.attempts, &told.problem, &told.next, &told.until, &told.begun,
		&o.ContentBytes, &o.CascadedFrom, &r.ApprovalStatus, &r.ApprovalTimeoutAt, &r.HeldUntil, &r.IsCompleted, &r.Closed, &r.IsError)
	o.Contradiction = strings.TrimSpace(o.Contradiction + " " + r.RanAnyway(now))
	if err != nil || told.verdict == nil {
		return id, o, err
	}
	o.Told = &models.Telling{
		Verdict: *told.verdict, VoterName: *told.voter, Since: *told.since, Attempts: *told.attempts, Problem: *told.problem,
		NextAt: *told.next, GiveUpAt: *told.until, Telling: told.begun != nil && now.Before(told.begun.Add(attemptEnds)),
	}
	return id, o, nil
}
