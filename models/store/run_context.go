package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

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
	runPendingQuery  = selectApproval + ` WHERE r.number IN (SELECT p.number FROM responses p INDEXED BY responses_pending_spoken
 WHERE p.conversation_id = ? AND p.approval_status = 'pending' AND p.kind IN ('proposal', 'budget') AND (p.approval_timeout_at > ? OR p.held_until IS NOT NULL)
 ORDER BY p.sequence DESC LIMIT ?) ORDER BY r.sequence`
	runDecidedQuery = selectApproval + ` WHERE r.conversation_id = ? AND r.sequence > ? AND r.kind IN ('proposal', 'budget') AND r.requires_approval
 ORDER BY r.sequence DESC LIMIT ?`
)

func runResponsesQuery(n int) string {
	return selectApproval + ` WHERE r.id IN (?` + strings.Repeat(`, ?`, n-1) + `)`
}

// RunContext reads what the next turn of a run is made from, as it stands at one
// moment. CodeConflict if the run does not stand.
func (s *Store) RunContext(ctx context.Context, run *models.Run) (*models.RunContext, error) {
	ctx = context.WithoutCancel(ctx)
	dbtx, err := s.db.Reads().BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	defer dbtx.Rollback() //nolint:errcheck // nothing was written
	r := runReader{ctx: ctx, tx: dbtx, now: s.db.Now(), conv: run.ConversationID}
	c := &models.RunContext{}
	stands, err := db.Exists(dbtx.QueryRowContext(ctx, leaseQuery, run.ConversationID, run.Lease, run.Holder))
	if err != nil {
		return nil, err
	}
	var view models.ConversationView
	if err := scanView(dbtx.QueryRowContext(ctx, selectView+` WHERE c.id = ?`, run.ConversationID), &view); err != nil {
		return nil, fmt.Errorf("read conversation: %w", err)
	}
	if err := mayRun(stands, &view.Conversation); err != nil {
		return nil, err
	}
	c.Conversation, c.Read = view.Conversation, view.NextSequence-1
	if err := r.entries(c); err != nil {
		return nil, err
	}
	return c, r.requests(c)
}

// runReader reads the parts of a context from one snapshot.
type runReader struct {
	ctx  context.Context //nolint:containedctx // of the one use case that makes it
	tx   *sql.Tx
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
		err := json.Unmarshal([]byte(said), &turn.Said)
		c.Turns = append(c.Turns, turn)
		return err
	}, r.conv, contextEntries+1)
	if err != nil {
		return fmt.Errorf("read turns: %w", err)
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
	ids := []any{}
	for i := range c.Turns {
		for _, call := range c.Turns[i].Calls {
			if call.ResponseID != "" {
				ids = append(ids, call.ResponseID)
			}
		}
	}
	if len(ids) > 0 {
		if err := r.approvals(func(a *models.Approval) { c.Responses[a.ID] = a }, runResponsesQuery(len(ids)), ids...); err != nil {
			return fmt.Errorf("read responses: %w", err)
		}
	}
	pending := func(a *models.Approval) { c.Pending = append(c.Pending, a) }
	if err := r.approvals(pending, runPendingQuery, r.conv, r.now, contextPending); err != nil {
		return fmt.Errorf("read what is pending: %w", err)
	}
	decided := func(a *models.Approval) {
		if a.Status() != models.StatusPending && len(c.Decided) < contextDecided {
			c.Decided = append(c.Decided, a)
		}
	}
	if err := r.approvals(decided, runDecidedQuery, r.conv, c.Read-decidedWithin, contextPending+contextDecided); err != nil {
		return fmt.Errorf("read what was decided: %w", err)
	}
	return nil
}

func (r *runReader) approvals(take func(*models.Approval), query string, args ...any) error {
	return r.each(query, func(row db.Scanner) error {
		a, err := scanApproval(row)
		if err != nil {
			return err
		}
		take(at(a, r.now))
		return nil
	}, args...)
}

func (r *runReader) each(query string, scan func(db.Scanner) error, args ...any) error {
	rows, err := r.tx.QueryContext(r.ctx, query, args...)
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
