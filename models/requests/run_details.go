package requests

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"countersign/models"
	"countersign/models/db"
)

var runDetailsQuery = `SELECT r.id, r.sequence, coalesce(r.batch_id, ''), r.parent_tool_use_id, r.reported_at, r.is_completed, r.completed_at, r.is_error,
 substr(r.tool_result, 1, ?4), coalesce(r.result_bytes, octet_length(r.tool_result)), r.closed, r.contradiction, r.matched_by,
 r.approval_status, r.approval_timestamp, r.approval_timeout_at, r.held_until, f.id, f.sequence
 FROM responses r` + db.ByResponsesHistory + ` LEFT JOIN responses g ON g.id = r.cascaded_from
 LEFT JOIN outside_approvals o ON o.upstream_id = g.upstream_id AND o.call_id = g.call_id AND o.response_id = g.id AND o.linked_id <> ''
 LEFT JOIN responses f ON f.id = coalesce(o.linked_id, g.id)
 WHERE r.conversation_id = ?1 AND r.sequence BETWEEN ?2 AND ?3 AND r.kind = 'tool_call' ORDER BY r.sequence LIMIT ` + strconv.Itoa(models.MaxPage)

const (
	batchPlaceQuery = `SELECT count(*) FROM responses` + db.ByResponsesBatch + `
 WHERE kind = 'tool_call' AND conversation_id = ? AND batch_id = ? AND sequence <= ?`
)

// RunDetails are the tool calls of a page of history, from its first sequence to
// its last: at most models.MaxPage. CodeNotFound as for Conversation.
func (rs *Requests) RunDetails(
	ctx context.Context, actor models.Actor, conv models.ConversationID, from, to int64,
) (map[models.ResponseID]models.CallDetail, error) {
	if _, err := rs.Conversation(ctx, actor, conv); err != nil {
		return nil, err
	}
	var out map[models.ResponseID]models.CallDetail
	err := rs.db.Snapshot(ctx, func(ctx context.Context) (err error) {
		out, err = rs.callDetails(ctx, conv, from, to)
		return err
	})
	return out, err
}

// callDetails is RunDetails within a snapshot, for an actor who sees the conversation.
func (rs *Requests) callDetails(
	ctx context.Context, conv models.ConversationID, from, to int64,
) (map[models.ResponseID]models.CallDetail, error) {
	ctx = context.WithoutCancel(ctx)
	var calls []models.CallDetail
	now, reader := rs.db.Now(), rs.db.Reader(ctx)
	err := db.EachRow(ctx, reader, runDetailsQuery, []any{conv, from, to, models.MaxBrief}, func(row db.Scanner) error {
		var r models.Response
		d, err := scanDetail(row, &r)
		if err != nil {
			return err
		}
		d.Contradiction = strings.TrimSpace(d.Contradiction + " " + r.RanAnyway(now))
		calls = append(calls, d)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read calls: %w", err)
	}
	p := places{ctx: ctx, reader: reader, conv: conv}
	out := make(map[models.ResponseID]models.CallDetail, len(calls))
	for _, d := range calls {
		if err := p.put(&d); err != nil {
			return nil, fmt.Errorf("read batch: %w", err)
		}
		out[d.ID] = d
	}
	return out, nil
}

// scanDetail reads one row; r is what of it tells a contradiction.
func scanDetail(row db.Scanner, r *models.Response) (models.CallDetail, error) {
	var d models.CallDetail
	var fromID *models.ResponseID
	var fromSequence *int64
	err := row.Scan(&d.ID, &d.Sequence, &d.BatchID, &d.ParentToolUseID, &d.ReportedAt, &d.Completed, &d.CompletedAt,
		&d.IsError, &d.Result, &d.ResultBytes,
		&d.Closed, &d.Contradiction, &d.MatchedBy, &r.ApprovalStatus, &r.ApprovalTimestamp, &r.ApprovalTimeoutAt,
		&r.HeldUntil, &fromID, &fromSequence)
	if err != nil {
		return d, err
	}
	r.IsCompleted, r.Closed, r.IsError = d.Completed, d.Closed, d.IsError
	d.Denial = r.Status() == models.StatusRejected
	if fromID != nil {
		d.CascadedFrom = &models.CallPlace{ID: *fromID, Sequence: *fromSequence}
	}
	if !d.Completed {
		d.OpenSince = d.ReportedAt
		if d.OpenSince != nil && r.ApprovalTimestamp != nil && r.ApprovalTimestamp.After(*d.OpenSince) {
			d.OpenSince = r.ApprovalTimestamp
		}
	}
	return d, nil
}

// places counts the places of calls in their batches. The calls of a page come in order and without gaps, so that each
// batch is counted once.
type places struct {
	ctx    context.Context //nolint:containedctx // of the one use case that makes it
	reader db.Querier
	conv   models.ConversationID

	last map[string]int // the place of the last call of each batch
	of   map[string]int
}

func (p *places) put(d *models.CallDetail) (err error) {
	if d.BatchID == "" {
		return nil
	}
	if _, ok := p.of[d.BatchID]; !ok {
		if p.of == nil {
			p.last, p.of = map[string]int{}, map[string]int{}
		}
		if p.of[d.BatchID], err = p.count(d.BatchID, 1<<62); err != nil {
			return err
		}
		if p.last[d.BatchID], err = p.count(d.BatchID, d.Sequence-1); err != nil {
			return err
		}
	}
	p.last[d.BatchID]++
	d.Place, d.Of = p.last[d.BatchID], p.of[d.BatchID]
	if d.CascadedFrom != nil {
		d.CascadedFrom.Place, err = p.count(d.BatchID, d.CascadedFrom.Sequence)
	}
	return err
}

func (p *places) count(batch string, upTo int64) (n int, err error) {
	err = p.reader.QueryRowContext(p.ctx, batchPlaceQuery, p.conv, batch, upTo).Scan(&n)
	return n, err
}

// CallResult is a tool call's whole result, as far as it is kept: CodeNotFound
// for those who may not see the call.
func (rs *Requests) CallResult(
	ctx context.Context, actor models.Actor, id models.ResponseID,
) (out *models.CallResult, err error) {
	err = rs.db.Snapshot(ctx, func(ctx context.Context) error {
		out, err = callResult(rs.db.Gorm(ctx).Scopes(visibleTo(actor)), id)
		return err
	})
	return out, err
}

// Entry is one response of a conversation, asked about or not, as it holds now:
// CodeNotFound unless the actor is the conversation's agent, its owner or an
// admin.
func (rs *Requests) Entry(ctx context.Context, actor models.Actor, id models.ResponseID) (*models.Approval, error) {
	a, err := ScanApproval(rs.db.Row(ctx, rs.reads.approval, ApprovalByID, id))
	if err != nil {
		return nil, sqlNotFoundAs(err, models.NotFound("response"))
	}
	if !SeesConversation(actor, &models.Conversation{OwnerID: a.OwnerID, AgentID: a.AgentID}) {
		return nil, models.NotFound("response")
	}
	return At(a, rs.db.Now()), nil
}
