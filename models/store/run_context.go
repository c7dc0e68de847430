package store

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/db"
)

// How far back a run's context is read. The rest is cut by length, by who makes
// the request of it.
const (
	contextEntries = 100 // messages, and as many turns
	contextPending = 20
	contextDecided = 5
	// decidedWithin is how many entries back the latest decisions are looked for.
	decidedWithin = 500
)

const (
	runTurnsQuery = `SELECT conversation_id, sequence, at, model, prompt_tokens, completion_tokens, energy, said
 FROM turns WHERE conversation_id = ? ORDER BY sequence DESC LIMIT ?`
)

var (
	runMessagesQuery = `SELECT ` + messageRow.Columns("", nil) + ` FROM messages WHERE conversation_id = ? ORDER BY sequence DESC LIMIT ?`
	runStepsQuery    = `SELECT ` + stepRow.Columns("", nil) + ` FROM budget_steps WHERE conversation_id = ? ORDER BY sequence DESC LIMIT ?`
)

// RunContext reads what the next turn of a run is made from, as it stands at one
// moment. CodeConflict if the run does not stand.
func (s *Store) RunContext(ctx context.Context, run *models.Run) (*models.RunContext, error) {
	c := &models.RunContext{}
	err := s.db.Snapshot(context.WithoutCancel(ctx), func(ctx context.Context) error {
		r := runReader{ctx: ctx, from: s.db.Reader(ctx), gorm: s.db.Gorm(ctx), now: s.db.Now(), conv: run.ConversationID}
		stands, err := db.Exists(r.from.QueryRowContext(ctx, leaseQuery, run.ConversationID, run.Lease, run.Holder))
		if err != nil {
			return err
		}
		var view models.ConversationView
		if err := scanView(r.from.QueryRowContext(ctx, selectView+` WHERE c.id = ?`, run.ConversationID), &view); err != nil {
			return fmt.Errorf("read conversation: %w", err)
		}
		if err := mayRun(stands, &view.Conversation); err != nil {
			return err
		}
		c.Conversation, c.Read = view.Conversation, view.NextSequence-1
		if err := r.entries(c); err != nil {
			return err
		}
		return r.requests(c)
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// runReader reads the parts of a context from one snapshot.
type runReader struct {
	ctx  context.Context //nolint:containedctx // of the one use case that makes it
	from db.Querier
	gorm *gorm.DB
	now  time.Time
	conv models.ConversationID
}

// entries reads messages, turns and changes of the budget. What is left out is
// left out of both lists at one place.
func (r *runReader) entries(c *models.RunContext) error {
	messages := db.ReaderOf[models.Message](messageRow)
	err := r.each(runMessagesQuery, func(row db.Scanner) error {
		m, err := messages.Read(row)
		c.Messages = append(c.Messages, m)
		return err
	}, r.conv, contextEntries+1)
	if err != nil {
		return fmt.Errorf("read messages: %w", err)
	}
	err = r.each(runTurnsQuery, func(row db.Scanner) error {
		var turn models.Turn
		var said string
		if err := row.Scan(&turn.ConversationID, &turn.Sequence, &turn.At, &turn.Model, &turn.PromptTokens, &turn.CompletionTokens, &turn.Energy, &said); err != nil {
			return err
		}
		err := json.Unmarshal([]byte(said), &turn.TurnOutput)
		c.Turns = append(c.Turns, turn)
		return err
	}, r.conv, contextEntries+1)
	if err != nil {
		return fmt.Errorf("read model calls: %w", err)
	}
	slices.Reverse(c.Messages)
	slices.Reverse(c.Turns)
	from := int64(0)
	if len(c.Messages) > contextEntries {
		from = c.Messages[1].Sequence
	}
	if len(c.Turns) > contextEntries {
		from = max(from, c.Turns[1].Sequence)
	}
	c.Earlier = from > 0
	c.Messages = slices.DeleteFunc(c.Messages, func(m models.Message) bool { return m.Sequence < from })
	c.Turns = slices.DeleteFunc(c.Turns, func(t models.Turn) bool { return t.Sequence < from })
	return r.steps(c)
}

func (r *runReader) steps(c *models.RunContext) error {
	read := int64(0)
	if len(c.Turns) > 0 {
		read = c.Turns[len(c.Turns)-1].Read
	}
	c.Granted = make(map[models.ResponseID]models.BudgetStep)
	steps := db.ReaderOf[models.BudgetStep](stepRow)
	err := r.each(runStepsQuery, func(row db.Scanner) error {
		b, err := steps.Read(row)
		if b.ResponseID != nil {
			c.Granted[*b.ResponseID] = b
		}
		if b.Sequence > read && b.ActorKind != models.ActorAgent {
			c.Steps = append(c.Steps, b)
		}
		return err
	}, r.conv, contextEntries)
	if err != nil {
		return fmt.Errorf("read changes of the budget: %w", err)
	}
	slices.Reverse(c.Steps)
	return nil
}

// requests reads the proposals and budget requests as they stand now: those of
// the turns, those that wait, and the latest that were settled.
func (r *runReader) requests(c *models.RunContext) error {
	c.Responses = make(map[models.ResponseID]*models.Approval)
	var ids []models.ResponseID
	for i := range c.Turns {
		for _, call := range c.Turns[i].Calls {
			if call.ResponseID != "" {
				ids = append(ids, call.ResponseID)
			}
		}
	}
	if len(ids) > 0 {
		asked, err := findApprovals(r.gorm.Where("id IN ?", ids), r.now)
		if err != nil {
			return err
		}
		for i := range asked {
			c.Responses[asked[i].ID] = &asked[i]
		}
	}
	pending, err := findApprovals(r.spoken().Scopes(pendingAt(r.now)).Limit(contextPending), r.now)
	if err != nil {
		return err
	}
	for i := range slices.Backward(pending) { // the earliest first
		c.Pending = append(c.Pending, &pending[i])
	}
	decided, err := findApprovals(r.spoken().Where("sequence > ? AND requires_approval", c.Read-decidedWithin).Limit(contextPending+contextDecided), r.now)
	if err != nil {
		return err
	}
	for i := range decided {
		if decided[i].Status() != models.StatusPending && len(c.Decided) < contextDecided {
			c.Decided = append(c.Decided, &decided[i])
		}
	}
	return nil
}

// spoken are the run's proposals and requests for more budget, newest first.
func (r *runReader) spoken() *gorm.DB {
	return r.gorm.Scopes(spoken).Where("conversation_id = ?", r.conv).Order("sequence DESC")
}

func (r *runReader) each(query string, scan func(db.Scanner) error, args ...any) error {
	rows, err := r.from.QueryContext(r.ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

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
func (s *Store) RunDetails(ctx context.Context, actor models.Actor, conv models.ConversationID, from, to int64) (map[models.ResponseID]models.CallDetail, error) {
	if _, err := s.Conversation(ctx, actor, conv); err != nil {
		return nil, err
	}
	var out map[models.ResponseID]models.CallDetail
	err := s.db.Snapshot(ctx, func(ctx context.Context) (err error) {
		out, err = s.runDetails(ctx, conv, from, to)
		return err
	})
	return out, err
}

// runDetails is RunDetails within a snapshot, for whoever sees the conversation.
func (s *Store) runDetails(ctx context.Context, conv models.ConversationID, from, to int64) (map[models.ResponseID]models.CallDetail, error) {
	ctx = context.WithoutCancel(ctx)
	var calls []models.CallDetail
	now, reader := s.db.Now(), s.db.Reader(ctx)
	err := eachRow(ctx, reader, runDetailsQuery, []any{conv, from, to, models.MaxBrief}, func(row db.Scanner) error {
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
	err := row.Scan(&d.ID, &d.Sequence, &d.BatchID, &d.ParentToolUseID, &d.ReportedAt, &d.Completed, &d.CompletedAt, &d.IsError, &d.Result, &d.ResultBytes,
		&d.Closed, &d.Contradiction, &d.MatchedBy, &r.ApprovalStatus, &r.ApprovalTimestamp, &r.ApprovalTimeoutAt, &r.HeldUntil, &fromID, &fromSequence)
	if err != nil {
		return d, err
	}
	r.IsCompleted, r.Closed, r.IsError = d.Completed, d.Closed, d.IsError
	d.Denied = r.Status() == models.StatusRejected
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

// places counts where calls stand in their batches. The calls of a page come in
// order and without gaps, so that each batch is counted once.
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
	if _, counted := p.of[d.BatchID]; !counted {
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
func (s *Store) CallResult(ctx context.Context, actor models.Actor, id models.ResponseID) (out *models.CallResult, err error) {
	err = s.db.Snapshot(ctx, func(ctx context.Context) error {
		out, err = callResult(s.db.Gorm(ctx).Scopes(visibleTo(actor)), id)
		return err
	})
	return out, err
}

// Entry is one response of a conversation, asked about or not, as it holds now:
// CodeNotFound unless the actor is the conversation's agent, its owner or an
// admin.
func (s *Store) Entry(ctx context.Context, actor models.Actor, id models.ResponseID) (*models.Approval, error) {
	a, err := scanApproval(s.db.Row(ctx, s.reads.approval, approvalByID, id))
	if err != nil {
		return nil, sqlNotFoundAs(err, models.NotFound("response"))
	}
	if !seesConversation(actor, &models.Conversation{OwnerID: a.OwnerID, AgentID: a.AgentID}) {
		return nil, models.NotFound("response")
	}
	return at(a, s.db.Now()), nil
}
