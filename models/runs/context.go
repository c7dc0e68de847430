package runs

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/requests"
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
	runMessagesQuery = `SELECT ` + requests.MessageRow.Columns("", nil) +
		` FROM messages WHERE conversation_id = ? ORDER BY sequence DESC LIMIT ?`
	runStepsQuery = `SELECT ` + requests.StepRow.Columns("", nil) +
		` FROM budget_steps WHERE conversation_id = ? ORDER BY sequence DESC LIMIT ?`
)

// RunContext reads the input of a run's next turn, at one moment. CodeConflict if the run was taken over, paused or
// stopped.
func (r *Runs) RunContext(ctx context.Context, run *models.Run) (*models.RunContext, error) {
	c := &models.RunContext{}
	err := r.db.Snapshot(context.WithoutCancel(ctx), func(ctx context.Context) error {
		r := runReader{ctx: ctx, from: r.db.Reader(ctx), gorm: r.db.Gorm(ctx), now: r.db.Now(), conv: run.ConversationID}
		valid, err := db.Exists(r.from.QueryRowContext(ctx, leaseQuery, run.ConversationID, run.Lease, run.Holder))
		if err != nil {
			return err
		}
		var view models.ConversationView
		if err := requests.ScanView(r.from.QueryRowContext(ctx, requests.SelectView+` WHERE c.id = ?`, run.ConversationID),
			&view); err != nil {
			return fmt.Errorf("read conversation: %w", err)
		}
		if err := mayRun(valid, &view.Conversation); err != nil {
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

// entries reads messages, turns and changes of the budget. Both lists begin at the same entry.
func (r *runReader) entries(c *models.RunContext) error {
	messages := db.ReaderOf[models.Message](requests.MessageRow)
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
		if err := row.Scan(&turn.ConversationID, &turn.Sequence, &turn.At, &turn.Model, &turn.PromptTokens,
			&turn.CompletionTokens, &turn.Energy, &said); err != nil {
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
	steps := db.ReaderOf[models.BudgetStep](requests.StepRow)
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

// requests reads the current state of proposals and budget requests: those of the turns, the pending ones, and the
// latest that were settled.
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
		asked, err := requests.FindApprovals(r.gorm.Where("id IN ?", ids), r.now)
		if err != nil {
			return err
		}
		for i := range asked {
			c.Responses[asked[i].ID] = &asked[i]
		}
	}
	pending, err := requests.FindApprovals(r.spoken().Scopes(requests.PendingAt(r.now)).Limit(contextPending), r.now)
	if err != nil {
		return err
	}
	for i := range slices.Backward(pending) { // the earliest first
		c.Pending = append(c.Pending, &pending[i])
	}
	decided, err := requests.FindApprovals(r.spoken().Where("sequence > ? AND requires_approval",
		c.Read-decidedWithin).Limit(contextPending+contextDecided), r.now)
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
	return r.gorm.Scopes(requests.Spoken).Where("conversation_id = ?", r.conv).Order("sequence DESC")
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
