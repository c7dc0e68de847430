package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"countersign/models"
)

// maxLinkedInput is how much is read of the input of the other row of an act.
const maxLinkedInput = 16 << 10

// linksQuery reads, of a few requests, the other row of the same act: from the
// approval its call, and from the call its approval.
//
//nolint:gosec // put together of constants
var linksQuery = linksFrom + `FROM json_each(?1) j CROSS JOIN responses r ON r.id = j.value
 CROSS JOIN outside_approvals o ON o.upstream_id = r.upstream_id AND o.call_id = r.call_id AND o.response_id = r.id AND o.linked_id <> '' CROSS JOIN responses x ON x.id = o.linked_id` + linksTo + `
UNION ALL ` + linksFrom + `FROM json_each(?1) j CROSS JOIN responses r ON r.id = j.value
 CROSS JOIN outside_approvals o INDEXED BY outside_approvals_linked ON o.linked_id = r.id AND o.linked_id <> '' CROSS JOIN responses x ON x.id = o.response_id` + linksTo

var (
	linksFrom = `SELECT r.id, ?3 OR x.owner_id = ?2, x.id, x.conversation_id, x.id = o.linked_id, coalesce(iif(x.id = o.linked_id, xc.run_id, rc.run_id), ''), xa.name, o.linked_by, x.digest = r.digest,
 iif(x.digest = r.digest, '', substr(x.tool_input_json, 1, ` + strconv.Itoa(maxLinkedInput) + `)), coalesce(x.input_bytes, octet_length(x.tool_input_json)),
 x.approval_status, x.approval_timeout_at, x.held_until, x.cause, x.is_completed, x.closed, x.is_error,
 r.approval_status, r.approval_timeout_at, r.held_until, r.cause, r.is_completed, r.closed, r.is_error `
	linksTo = ` JOIN conversations xc ON xc.id = x.conversation_id JOIN conversations rc ON rc.id = r.conversation_id JOIN agents xa ON xa.id = x.agent_id`
)

// addLinks adds the other rows of those whose origins were read.
func (s *Store) addLinks(ctx context.Context, actor models.Actor, ids string, to map[models.ResponseID]models.Origin) error {
	rows, err := s.db.Reads().QueryContext(context.WithoutCancel(ctx), linksQuery, ids, actor.ID, actor.Admin)
	if err != nil {
		return fmt.Errorf("read linked calls: %w", err)
	}
	defer rows.Close()
	now := s.db.Now()
	for rows.Next() {
		var id models.ResponseID
		var l models.Linked
		var sees bool
		var x, r models.Response
		if err := rows.Scan(&id, &sees, &l.ID, &l.ConversationID, &l.IsCall, &l.RunID, &l.AgentName, &l.By, &l.SameInput, &l.Input, &l.InputBytes,
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
