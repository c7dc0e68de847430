package requests

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/db"
)

// maxStartedInput is how much is read of the call that started a sub-agent: a name further on is not shown.
const maxStartedInput = 8 << 10

// originsQuery reads a few requests by their ids. A reviewer to whom one was
// routed sees that one, and not the run above its own.
var originsQuery = `SELECT r.id, coalesce(u.name, ''), coalesce(r.approval_id, ''), r.matched_by, CASE WHEN o.run_id <> c.run_id AND r.matched_by NOT IN ('', 'unmatched') THEN c.run_id ELSE '' END, coalesce(o.beside, ''), r.contradiction,
 coalesce(p.id, ''), coalesce(c.parent_run_id, ''), coalesce(p.title, ''), coalesce(s.tool_name, ''), coalesce(substr(s.tool_input_json, 1, ?4), ''),
 v.verdict, v.user_name, d.created_at, d.attempts, d.problem, d.next_at, d.give_up_at, d.in_flight_at,
 r.content_bytes, coalesce(r.cascaded_from, ''), r.approval_status, r.approval_timeout_at, r.held_until, r.is_completed, r.closed, r.is_error
 FROM ` + db.Each(`?1`) + ` JOIN responses r ON r.id = j.value JOIN conversations c ON c.id = r.conversation_id
 LEFT JOIN upstreams u ON u.id = r.upstream_id
 LEFT JOIN outside_approvals o ON o.upstream_id = r.upstream_id AND o.call_id = r.call_id AND o.response_id = r.id
 LEFT JOIN conversations p ON p.owner_id = c.owner_id AND p.run_id = c.parent_run_id AND (?3 OR c.owner_id = ?2)
 LEFT JOIN responses s ON r.parent_tool_use_id <> '' AND s.id = (SELECT u.id FROM responses u` + db.ByResponsesToolUse + ` WHERE u.conversation_id = r.conversation_id AND u.tool_use_id = r.parent_tool_use_id ORDER BY u.sequence DESC LIMIT 1)
 LEFT JOIN deliveries d ON d.response_id = r.id AND d.done_at IS NULL LEFT JOIN votes v ON v.id = d.vote_id
 WHERE ` + personSees(`r`, `?3`, `?2`)

// Origins tells where requests come from, of those among ids that the person may
// see. It is for people: CodeForbidden for others.
func (rs *Requests) Origins(
	ctx context.Context, actor models.Actor, ids ...models.ResponseID,
) (map[models.ResponseID]models.Origin, error) {
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
	stmt, err := rs.db.Prepared(ctx, originsQuery) //nolint:sqlclosecheck // kept until the store closes
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(context.WithoutCancel(ctx), string(list), actor.ID, actor.Oversees(), maxStartedInput)
	if err != nil {
		return nil, fmt.Errorf("read origins: %w", err)
	}
	defer rows.Close()
	out := make(map[models.ResponseID]models.Origin, len(ids))
	now, outside := rs.db.Now(), false
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
		if err := rs.withdrawals(ctx, string(list), out); err != nil {
			return nil, err
		}
	}
	return out, rs.addLinks(ctx, actor, string(list), out)
}

func scanOrigin(row db.Scanner, now time.Time) (id models.ResponseID, o models.Origin, err error) {
	var told struct {
		verdict        *models.Verdict
		voter, problem *string
		since, next    *time.Time
		until          *time.Time
		start          *time.Time
		attempts       *int
	}
	var r models.Response
	err = row.Scan(&id, &o.UpstreamName, &o.ApprovalID, &o.MatchedBy, &o.FoundIn, &o.Beside, &o.Contradiction, &o.ParentID,
		&o.ParentRun, &o.ParentTitle, &o.StartedBy, &o.StartedInput,
		&told.verdict, &told.voter, &told.since, &told.attempts, &told.problem, &told.next, &told.until, &told.start,
		&o.ContentBytes, &o.CascadedFrom, &r.ApprovalStatus, &r.ApprovalTimeoutAt, &r.HeldUntil, &r.IsCompleted, &r.Closed,
		&r.IsError)
	o.Contradiction = strings.TrimSpace(o.Contradiction + " " + r.RanAnyway(now))
	if err != nil || told.verdict == nil {
		return id, o, err
	}
	o.Delivery = &models.SendingState{
		Verdict: *told.verdict, VoterName: *told.voter, Since: *told.since, Attempts: *told.attempts, Problem: *told.problem,
		NextAt: *told.next, GiveUpAt: *told.until,
		InFlight: told.start != nil && now.Before(told.start.Add(models.AttemptEnds)),
	}
	return id, o, nil
}

// maxLinkedInput is how much is read of the input of the other row of an act.
const maxLinkedInput = 16 << 10

// linksQuery reads, of a few requests, the other row of the same act: from the
// approval its call, and from the call its approval.
var linksQuery = linksFrom + `FROM ` + db.Each(`?1`) + ` CROSS JOIN responses r ON r.id = j.value
 CROSS JOIN outside_approvals o ON o.upstream_id = r.upstream_id AND o.call_id = r.call_id AND o.response_id = r.id AND o.linked_id <> '' CROSS JOIN responses x ON x.id = o.linked_id` + linksTo + `
UNION ALL ` + linksFrom + `FROM ` + db.Each(`?1`) + ` CROSS JOIN responses r ON r.id = j.value
 CROSS JOIN outside_approvals o` + db.ByOutsideApprovalsLinked + ` ON o.linked_id = r.id AND o.linked_id <> '' CROSS JOIN responses x ON x.id = o.response_id` + linksTo

var (
	linksFrom = `SELECT r.id, ?3 OR x.owner_id = ?2, x.id, x.conversation_id, x.id = o.linked_id, coalesce(CASE WHEN x.id = o.linked_id THEN xc.run_id ELSE rc.run_id END, ''), xa.name, o.linked_by, x.digest = r.digest,
 CASE WHEN x.digest = r.digest THEN '' ELSE substr(x.tool_input_json, 1, ` + strconv.Itoa(maxLinkedInput) + `) END, coalesce(x.input_bytes, octet_length(x.tool_input_json)),
 x.approval_status, x.approval_timeout_at, x.held_until, x.cause, x.is_completed, x.closed, x.is_error,
 r.approval_status, r.approval_timeout_at, r.held_until, r.cause, r.is_completed, r.closed, r.is_error `
	linksTo = ` JOIN conversations xc ON xc.id = x.conversation_id JOIN conversations rc ON rc.id = r.conversation_id JOIN agents xa ON xa.id = x.agent_id`
)

// addLinks adds the other rows of those whose origins were read.
func (rs *Requests) addLinks(
	ctx context.Context, actor models.Actor, ids string, to map[models.ResponseID]models.Origin,
) error {
	stmt, err := rs.db.Prepared(ctx, linksQuery) //nolint:sqlclosecheck // kept until the store closes
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(context.WithoutCancel(ctx), ids, actor.ID, actor.Oversees())
	if err != nil {
		return fmt.Errorf("read linked calls: %w", err)
	}
	defer rows.Close()
	now := rs.db.Now()
	for rows.Next() {
		var id models.ResponseID
		var l models.LinkedResponse
		var sees bool
		var x, r models.Response
		if err := rows.Scan(&id, &sees, &l.ID, &l.ConversationID, &l.IsCall, &l.RunID, &l.AgentName, &l.By, &l.SameInput,
			&l.Input, &l.InputBytes,
			&x.ApprovalStatus, &x.ApprovalTimeoutAt, &x.HeldUntil, &x.Cause, &x.IsCompleted, &x.Closed, &x.IsError,
			&r.ApprovalStatus, &r.ApprovalTimeoutAt, &r.HeldUntil, &r.Cause, &r.IsCompleted, &r.Closed, &r.IsError); err != nil {
			return fmt.Errorf("read linked calls: %w", err)
		}
		o, known := to[id]
		if !known {
			continue
		}
		approval, call := r, x
		if !l.IsCall {
			approval, call = x, r
		}
		at := approval.At(now)
		l.Status, l.Cause = at.Status(), at.Cause
		if !sees {
			l.ID, l.ConversationID = "", ""
		}
		approval.IsCompleted, approval.Closed, approval.IsError = call.IsCompleted, call.Closed, call.IsError
		o.Contradiction = strings.TrimSpace(o.Contradiction + " " + approval.RanAnyway(now))
		o.Linked = &l
		to[id] = o
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read linked calls: %w", err)
	}
	return nil
}

var withdrawalsQuery = `SELECT w.*, v.verdict, v.user_name AS voter_name
 FROM ` + db.Each(`?`) + ` CROSS JOIN withdrawals w` + db.ByWithdrawalsResponse + ` ON w.response_id = j.value JOIN votes v ON v.id = w.vote_id ORDER BY w.at, w.vote_id`

// withdrawals tells, of requests by their ids as JSON, which decisions were taken
// back and why.
func (rs *Requests) withdrawals(ctx context.Context, ids string, of map[models.ResponseID]models.Origin) error {
	var found []models.Withdrawal
	if err := rs.db.Gorm(context.WithoutCancel(ctx)).Raw(withdrawalsQuery, ids).Scan(&found).Error; err != nil {
		return fmt.Errorf("read undone decisions: %w", err)
	}
	for _, w := range found {
		if o, ok := of[w.ResponseID]; ok {
			o.Withdrawals = append(o.Withdrawals, w)
			of[w.ResponseID] = o
		}
	}
	return nil
}
