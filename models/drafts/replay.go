package drafts

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"countersign/models"
	"countersign/models/policy"
)

// MaxReplayed is over how many calls a policy can be replayed at once.
const MaxReplayed = 10_000

// ReplayQuery names the calls to replay.
type ReplayQuery struct {
	Last  int       // the newest so many, at most MaxReplayed; 0: MaxReplayed
	Since time.Time // not those before; zero: no limit
}

// ReplayedCall is a call of which another policy says something else.
type ReplayedCall struct {
	policy.Shift

	Number    int64
	ID        models.ResponseID
	Tool      string
	AgentName string
	At        time.Time
}

// Replay is what another policy would have made of real calls.
type Replay struct {
	policy.Tally

	Changes []ReplayedCall // the newest first
	Oldest  time.Time      // when the oldest of the calls was asked; zero: there were none
}

// Of a replay: how much of the calls one worker takes at a time, and how many work. Two
// shares wait or are read while two are judged, so 20 MiB of inputs are held at most.
const (
	replayShareCalls = 128
	replayShareBytes = 4 << 20
	replayWorkers    = 2
	replayPage       = 500 // rows of one read
)

// callColumns are those of a callRow, in its order: %s is the input, where it is needed.
const (
	callColumns = `r.number, r.id, r.tool_name, r.created_at, r.policy_rule, r.template, r.owner_id, r.conversation_id, c.run_id, a.name AS agent_name, %s AS input, r.removed IS NOT NULL AS removed`
	callJoins   = ` JOIN agents a ON a.id = r.agent_id JOIN conversations c ON c.id = r.conversation_id`
)

// selectCalls reads calls downwards from a number.
const selectCalls = `SELECT ` + callColumns + ` FROM responses r` + callJoins + `
 WHERE r.number < ? AND r.kind = 'tool_call' AND r.asked = TRUE AND r.policy_version > 0 ORDER BY r.number DESC LIMIT ?`

type callRow struct {
	Number         int64
	ID             models.ResponseID
	ToolName       string
	CreatedAt      time.Time
	PolicyRule     string
	Template       string
	OwnerID        models.UserID
	ConversationID models.ConversationID
	RunID          *string
	AgentName      string
	Input          string
	Removed        bool
}

// fields are where a row of callColumns goes.
func (r *callRow) fields() []any {
	return []any{
		&r.Number, &r.ID, &r.ToolName, &r.CreatedAt, &r.PolicyRule, &r.Template, &r.OwnerID, &r.ConversationID, &r.RunID,
		&r.AgentName, &r.Input, &r.Removed,
	}
}

// Replay judges calls that agents asked about by two policies, and tells of which the
// second says something else. Progress is called from time to time with how many were
// read. Nothing is written, and a context that ends ends it. Admins and policy editors only.
func (d *Drafts) Replay(
	ctx context.Context, actor models.Actor, old, next *policy.Policy, q ReplayQuery, progress func(read int),
) (*Replay, error) {
	if err := actor.NeedDrafting(); err != nil {
		return nil, err
	}
	if q.Last < 0 || q.Last > MaxReplayed {
		return nil, models.Invalid("last", "must be from 1 to %d", MaxReplayed)
	}
	q.Last = cmp.Or(q.Last, MaxReplayed)
	r := &replayRun{old: old, next: next, shares: make(chan []callRow)}
	workers := make([]replayWorker, replayWorkers)
	var group sync.WaitGroup
	owners := d.ownerEmails(ctx)
	for i := range workers {
		group.Go(func() { workers[i].judge(r, owners) })
	}
	oldest, err := d.readReplay(ctx, r, q, progress)
	close(r.shares)
	group.Wait()
	if err != nil {
		return nil, err
	}
	out := &Replay{Oldest: oldest}
	for i := range workers {
		if workers[i].err != nil {
			return nil, workers[i].err
		}
		out.Join(&workers[i].tally)
		out.Changes = append(out.Changes, workers[i].changes...)
	}
	slices.SortFunc(out.Changes, func(a, b ReplayedCall) int { return cmp.Compare(b.Number, a.Number) })
	return out, nil
}

// replayRun is a replay under way.
type replayRun struct {
	old, next *policy.Policy
	shares    chan []callRow
}

// readReplay hands the calls to the workers, page by page.
func (d *Drafts) readReplay(
	ctx context.Context, r *replayRun, q ReplayQuery, progress func(int),
) (oldest time.Time, err error) {
	input := `''`
	if r.old.HasConditions() || r.next.HasConditions() {
		input = `r.tool_input_json`
	}
	w := replayWalk{statement: fmt.Sprintf(selectCalls, input), before: math.MaxInt64, since: q.Since}
	for !w.over && w.read < q.Last {
		if err := w.page(ctx, d.db.Reads(), r, min(replayPage, q.Last-w.read)); err != nil {
			return oldest, fmt.Errorf("read calls: %w", err)
		}
		progress(w.read)
	}
	return w.oldest, nil
}

// replayWalk is how far down the calls were read.
type replayWalk struct {
	statement string
	before    int64 // the number under which it goes on
	since     time.Time
	read      int
	oldest    time.Time
	over      bool // there are no more
}

// page reads some calls, and hands them over share by share.
func (w *replayWalk) page(ctx context.Context, from *sql.DB, r *replayRun, n int) error {
	rows, err := from.QueryContext(ctx, w.statement, w.before, n)
	if err != nil {
		return err
	}
	defer rows.Close()
	var share []callRow
	found, size := 0, 0
	for rows.Next() {
		var row callRow
		if err := rows.Scan(row.fields()...); err != nil {
			return err
		}
		if w.over = row.CreatedAt.Before(w.since); w.over {
			break
		}
		found, w.read, w.before, w.oldest = found+1, w.read+1, row.Number, row.CreatedAt
		share, size = append(share, row), size+len(row.Input)
		if len(share) >= replayShareCalls || size >= replayShareBytes {
			if err := r.hand(ctx, share); err != nil {
				return err
			}
			share, size = nil, 0
		}
	}
	w.over = w.over || found < n
	return errors.Join(rows.Err(), r.hand(ctx, share))
}

func (r *replayRun) hand(ctx context.Context, share []callRow) error {
	select {
	case r.shares <- share:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// replayWorker is what one worker found.
type replayWorker struct {
	tally   policy.Tally
	changes []ReplayedCall
	err     error
}

func (w *replayWorker) judge(r *replayRun, owner func(models.UserID) (string, error)) {
	for share := range r.shares {
		for i := range share {
			if w.err == nil {
				w.one(r, &share[i], owner)
			}
		}
	}
}

func (w *replayWorker) one(r *replayRun, row *callRow, owner func(models.UserID) (string, error)) {
	c := policy.CallAgain(models.KindToolCall, row.ToolName, row.PolicyRule, row.Template, row.CreatedAt)
	if r.old.Conditional(row.ToolName) || r.next.Conditional(row.ToolName) {
		email, err := owner(row.OwnerID)
		if err != nil {
			w.err = err
			return
		}
		c.Facts = policy.Facts{
			Agent: row.AgentName, Owner: email, Conversation: models.NameOfConversation(row.ConversationID, row.RunID),
			Input: []byte(row.Input), Removed: row.Removed,
		}
	}
	shift, differs, counts := policy.Compare(r.old, r.next, c)
	w.tally.Add(row.ToolName, shift, differs, counts)
	if differs && counts {
		w.changes = append(w.changes,
			ReplayedCall{
				Shift: shift, Number: row.Number, ID: row.ID, Tool: row.ToolName, AgentName: row.AgentName, At: row.CreatedAt,
			})
	}
}

// ownerEmails finds the e-mails of owners, each read once.
func (d *Drafts) ownerEmails(ctx context.Context) func(models.UserID) (string, error) {
	var mu sync.Mutex
	known := map[models.UserID]string{}
	return func(id models.UserID) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if email, ok := known[id]; ok {
			return email, nil
		}
		var email string
		if err := d.db.Gorm(ctx).Model(&models.User{}).Where("id = ?", id).Pluck("email", &email).Error; err != nil {
			return "", fmt.Errorf("read the agent's owner: %w", err)
		}
		known[id] = email
		return email, nil
	}
}
