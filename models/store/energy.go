package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"countersign/models"
	"countersign/models/db"
)

// taken is a place in a conversation, and what taking it tells.
type place struct {
	sequence int64
	runs     bool // the conversation is shown as running: nothing in it waits yet
}

// take takes a conversation's next sequence and spends energy there, in one
// statement; fits is false, and nothing is changed, where that would pass the
// budget (I14).
func (t *Tx) take(id models.ConversationID, energy int64) (next place, fits bool, err error) {
	err = t.ChangeRow(t.s.hot.nextSequence, energy, t.Now, id).Scan(&next.sequence, &next.runs)
	if errors.Is(err, sql.ErrNoRows) {
		return place{}, false, nil
	}
	if err != nil {
		return place{}, false, fmt.Errorf("take next sequence: %w", err)
	}
	return next, true, t.touch(id)
}

// NextSequence takes the next place in a conversation, at no cost.
func (t *Tx) NextSequence(id models.ConversationID) (int64, error) {
	next, _, err := t.take(id, 0)
	return next.sequence, err
}

// spend is take for an agent's requests and messages. If the conversation's budget, or the agent's limit in the
// policy, does not allow it, there is a budget request afterwards, and the error is a refusal that commits:
// CodeBudgetExhausted with that request. If the policy lets the system approve it, the energy is spent after all.
func (t *Tx) spend(actor models.Actor, id models.ConversationID, energy int64) (place, error) {
	fits, err := t.spendOfAgent(actor.AgentID(), energy)
	if err != nil {
		return place{}, err
	}
	if !fits {
		return place{}, t.refusedByAgentBudget(actor, id, energy)
	}
	next, fits, err := t.take(id, energy)
	if fits || err != nil {
		return next, err
	}
	conv, err := t.Conversation(id)
	if err != nil {
		return place{}, err
	}
	if conv == nil {
		return place{}, fmt.Errorf("take next sequence: no conversation %s", id)
	}
	request, err := t.AskForEnergy(actor, conv, energy)
	if err != nil {
		return place{}, err
	}
	if request.Status() == models.StatusApproved {
		if next, fits, err = t.take(id, energy); fits || err != nil {
			return next, err
		}
	}
	if err := t.refundAgent(actor.AgentID(), energy); err != nil {
		return place{}, err
	}
	return place{}, db.Commits(exhausted(conv, energy, request))
}

// placeAtRest is place for the agent's default conversation, which mostly exists and has the energy, in one step; if
// it does not, placed is false and nothing is changed.
func (t *Tx) placeAtRest(actor models.Actor, a *models.Approval) (runs, ok bool, err error) {
	if fits, err := t.spendOfAgent(actor.AgentID(), a.Energy); !fits || err != nil {
		return false, false, err
	}
	err = t.ChangeRow(t.s.hot.nextOfRest, a.Energy, t.Now, actor.ID).Scan(&a.Sequence, &a.ConversationID,
		&a.ConversationTitle, &runs)
	if errors.Is(err, sql.ErrNoRows) {
		return false, false, t.refundAgent(actor.AgentID(), a.Energy)
	}
	if err != nil {
		return false, false, fmt.Errorf("take next sequence: %w", err)
	}
	return runs, true, t.touch(a.ConversationID)
}

func exhausted(conv *models.Conversation, energy int64, request *models.Approval) *models.Error {
	b := conv.Budget()
	text := fmt.Sprintf("The conversation's energy budget does not allow this: it costs %d, and %d of %d are left.",
		energy, *b.Remaining(), *b.Total)
	if request.Status() == models.StatusPending {
		text += " A person was asked for more: wait for that request, then repeat this one."
	} else {
		text += " More was requested and not approved; nobody is asked again until the budget changes or a person writes."
	}
	return &models.Error{Code: models.CodeBudgetExhausted, Text: text, Approval: request}
}

// AskForEnergy asks for more energy in a conversation whose budget does not allow the next response: it returns the
// current request, else a new one, which the policy may have settled already. A new one asks for half as much again,
// or for the energy that is needed if that is more.
func (t *Tx) AskForEnergy(actor models.Actor, conv *models.Conversation, energy int64) (*models.Approval, error) {
	standing := *conv.EnergyBudget
	need := conv.EnergyUsed + conv.EnergyReserved + energy
	want := max(need, standing+max(1, standing/2))
	_, p, err := t.Policy()
	if err != nil {
		return nil, err
	}
	// What the system may still add is asked for first, where that is enough.
	if most := standing + p.Document().AutoBudgetIncrease - conv.BudgetAdded; most >= need {
		want = min(want, most)
	}
	why := fmt.Sprintf("%d of %d units of energy are spent", conv.EnergyUsed, standing)
	if conv.EnergyReserved > 0 {
		why += fmt.Sprintf(", %d more are reserved", conv.EnergyReserved)
	}
	return t.requestBudget(actor, conv, min(want, models.MaxBudget),
		fmt.Sprintf("%s, and the next response needs %d.", why, energy))
}

// ReserveEnergy sets aside the most that the next turn can cost in a conversation of the built-in agent, in place of
// the earlier reservation; if that would exceed the budget, fits is false and nothing is changed (I14).
func (t *Tx) ReserveEnergy(id models.ConversationID, worst int64) (fits bool, err error) {
	res := t.Gorm().Exec(`UPDATE conversations SET energy_reserved = ?1
 WHERE id = ?2 AND (energy_budget IS NULL OR energy_used + ?1 <= energy_budget)`, worst, id)
	if res.Error != nil {
		return false, fmt.Errorf("reserve energy: %w", res.Error)
	}
	t.changed(id)
	return db.ExactlyOne(res.RowsAffected), nil
}

// FreeEnergy frees the energy reserved in a conversation.
func (t *Tx) FreeEnergy(id models.ConversationID) error {
	res := t.Gorm().Exec(`UPDATE conversations SET energy_reserved = 0 WHERE id = ? AND energy_reserved > 0`, id)
	if res.Error != nil {
		return fmt.Errorf("free reserved energy: %w", res.Error)
	}
	if res.RowsAffected > 0 {
		t.changed(id)
	}
	return nil
}

// SettleEnergy frees the energy reserved in a conversation and spends the cost of the turn: never more than was
// reserved, nor, if a budget was lowered meanwhile, than is left (I14).
func (t *Tx) SettleEnergy(conv *models.Conversation, actual int64) (int64, error) {
	spent := min(max(actual, 0), conv.EnergyReserved)
	if b, err := t.AgentBudget(conv.AgentID, conv.ID); err != nil {
		return 0, err
	} else if b != nil {
		spent = min(spent, b.Remaining())
	}
	conv.EnergyReserved = 0
	if left := conv.Budget().Remaining(); left != nil {
		spent = min(spent, *left)
	}
	if spent < actual {
		t.s.log.WarnContext(t.Caller, "a model call cost more than was reserved or is left",
			slog.String("conversation", string(conv.ID)),
			slog.Int64("energy", actual), slog.Int64("counted", spent))
	}
	conv.EnergyUsed += spent
	err := t.Gorm().Exec(`UPDATE conversations SET energy_used = energy_used + ?, energy_reserved = 0 WHERE id = ?`, spent,
		conv.ID).Error
	if err != nil {
		return 0, fmt.Errorf("settle energy: %w", err)
	}
	t.changed(conv.ID)
	if fits, err := t.spendOfAgent(conv.AgentID, spent); err != nil {
		return 0, err
	} else if !fits {
		return 0, fmt.Errorf("settle energy of %s: its agent's budget does not allow it", conv.ID)
	}
	return spent, nil
}

// minute is how exactly active_at is kept.
const minute = time.Minute

// touch notes that a conversation is active. Lists are ordered by it, so it is
// kept to the minute: most asks write nothing.
func (t *Tx) touch(id models.ConversationID) error {
	at, known := t.Now.Truncate(minute), t.s.known.active
	if known[id].Equal(at) {
		return nil
	}
	if len(known) >= maxKnownConversations {
		clear(known)
	}
	known[id] = at
	if _, err := t.Exec(t.s.hot.touch, at, id); err != nil {
		return fmt.Errorf("note activity: %w", err)
	}
	return nil
}

// maxKnownConversations bounds what the writer remembers of conversations.
const maxKnownConversations = 10_000

// energyEntries is how many of a conversation's last entries are read to say what its energy was spent on. Earlier
// energy is the rest of its sum, so that a page of a conversation costs the same however long that is.
const energyEntries = 2_000

// The energy spent from sequence ?3 on, in steps: each is as wide as ?2 sequences, so that many entries give no more
// points than few.
const (
	spentByResponses = `SELECT (sequence - ?3) / ?2, max(sequence), max(created_at), sum(energy) FROM responses` +
		db.ByResponsesHistory + `
 WHERE conversation_id = ?1 AND sequence >= ?3 GROUP BY (sequence - ?3) / ?2`
	spentByTurns = `SELECT (sequence - ?3) / ?2, max(sequence), max(at), sum(energy) FROM turns
 WHERE conversation_id = ?1 AND sequence >= ?3 GROUP BY (sequence - ?3) / ?2`
	// Each of them, in their order: the last one counts.
	budgetBySteps = `SELECT (sequence - ?3) / ?2, sequence, at, new FROM budget_steps
 WHERE conversation_id = ?1 AND sequence >= ?3 ORDER BY sequence`
	budgetBefore = `SELECT new FROM budget_steps WHERE conversation_id = ? AND sequence < ? ORDER BY sequence DESC LIMIT 1`

	// How much each kind of thing cost.
	energyByTool = `SELECT kind, tool_name, count(*), sum(energy) FROM responses` + db.ByResponsesHistory + `
 WHERE conversation_id = ? AND sequence >= ? AND energy > 0 GROUP BY kind, tool_name ORDER BY sum(energy) DESC, kind, tool_name LIMIT ?`
	spentFrom = `SELECT (SELECT coalesce(sum(energy), 0) FROM responses` + db.ByResponsesHistory +
		` WHERE conversation_id = ?1 AND sequence >= ?2)
 + (SELECT coalesce(sum(energy), 0) FROM turns WHERE conversation_id = ?1 AND sequence >= ?2)`
)

// energyFrom is the first of the entries that are read; 0: all are.
func energyFrom(v *models.ConversationView) int64 { return max(0, v.NextSequence-energyEntries) }

// EnergyOf is what a conversation has spent, and its budget, over its last energyEntries
// entries: at most most points, evenly thinned. CodeNotFound as for Conversation.
func (s *Store) EnergyOf(
	ctx context.Context, actor models.Actor, id models.ConversationID, most int,
) ([]models.EnergyPoint, error) {
	var points []models.EnergyPoint
	err := s.db.Snapshot(ctx, func(ctx context.Context) error {
		v, err := s.Requests.Conversation(ctx, actor, id)
		if err != nil {
			return err
		}
		points, err = s.energyOf(ctx, v, most)
		return err
	})
	return points, err
}

// energyOf is EnergyOf of a conversation that was read in the same snapshot.
func (s *Store) energyOf(ctx context.Context, v *models.ConversationView, most int) ([]models.EnergyPoint, error) {
	from := energyFrom(v)
	width := (v.NextSequence-from)/int64(max(1, most)) + 1
	args, points, sum := []any{v.ID, width, from}, energyBuckets{}, int64(0)
	for _, query := range []string{spentByResponses, spentByTurns} {
		err := s.eachEnergy(ctx, query, args, func(row db.Scanner) error {
			var bucket, sequence, n int64
			var at db.StoredTime
			err := row.Scan(&bucket, &sequence, &at, &n)
			points.of(bucket, sequence, at.Time).spent += n
			sum += n
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	err := s.eachEnergy(ctx, budgetBySteps, args, func(row db.Scanner) error {
		var bucket, sequence, n int64
		var at time.Time
		err := row.Scan(&bucket, &sequence, &at, &n)
		points.of(bucket, sequence, at).Budget = &n
		return err
	})
	if err != nil {
		return nil, err
	}
	if from == 0 {
		return burnt(points, 0, nil), nil
	}
	budget, err := s.budgetBefore(ctx, v.ID, from)
	return burnt(points, v.EnergyUsed-sum, budget), err
}

// budgetBefore is the budget that stood before an entry; nil: none.
func (s *Store) budgetBefore(ctx context.Context, id models.ConversationID, sequence int64) (*int64, error) {
	var budget int64
	err := s.db.Reader(ctx).QueryRowContext(context.WithoutCancel(ctx), budgetBefore, id, sequence).Scan(&budget)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil //nolint:nilnil // nobody had set one
	case err != nil:
		return nil, fmt.Errorf("read energy: %w", err)
	}
	return &budget, nil
}

// eachEnergy hands on each row of a query of this file.
func (s *Store) eachEnergy(ctx context.Context, query string, args []any, each func(db.Scanner) error) error {
	if err := db.EachRow(context.WithoutCancel(ctx), s.db.Reader(ctx), query, args, each); err != nil {
		return fmt.Errorf("read energy: %w", err)
	}
	return nil
}

// energyBuckets are points before the sums, by their number.
type energyBuckets map[int64]*energyBucket

type energyBucket struct {
	models.EnergyPoint

	spent int64
}

// of is the bucket of that number, which notes the latest thing in it.
func (b energyBuckets) of(number, sequence int64, at time.Time) *energyBucket {
	p := b[number]
	if p == nil {
		p = &energyBucket{}
		b[number] = p
	}
	p.Sequence = max(p.Sequence, sequence)
	if at.After(p.At) {
		p.At = at
	}
	return p
}

// burnt are the points in their order, with the sums after each: used and budget are what
// stood before them.
func burnt(points energyBuckets, used int64, budget *int64) []models.EnergyPoint {
	out := make([]models.EnergyPoint, 0, len(points))
	spent := make(map[int64]int64, len(points))
	for _, p := range points {
		out = append(out, p.EnergyPoint)
		spent[p.Sequence] = p.spent
	}
	slices.SortFunc(out, func(a, b models.EnergyPoint) int { return cmp.Compare(a.Sequence, b.Sequence) })
	for i := range out {
		used += spent[out[i].Sequence]
		out[i].Used = used
		if out[i].Budget != nil {
			budget = out[i].Budget
		}
		out[i].Budget = budget
	}
	return out
}

// EnergyBy returns the energy of a conversation's last energyEntries entries by what it was spent on, the largest
// first, at most most shares; after them the energy spent before these entries, if any. CodeNotFound as for
// Conversation.
func (s *Store) EnergyBy(
	ctx context.Context, actor models.Actor, id models.ConversationID, most int,
) ([]models.EnergyShare, error) {
	var shares []models.EnergyShare
	err := s.db.Snapshot(ctx, func(ctx context.Context) error {
		v, err := s.Requests.Conversation(ctx, actor, id)
		if err != nil {
			return err
		}
		shares, err = s.energyBy(ctx, v, most)
		return err
	})
	return shares, err
}

// energyBy is EnergyBy of a conversation that was read in the same snapshot.
func (s *Store) energyBy(ctx context.Context, v *models.ConversationView, most int) ([]models.EnergyShare, error) {
	var out []models.EnergyShare
	from := energyFrom(v)
	ctx = context.WithoutCancel(ctx)
	err := s.eachEnergy(ctx, energyByTool, []any{v.ID, from, most}, func(row db.Scanner) error {
		var e models.EnergyShare
		err := row.Scan(&e.Kind, &e.ToolName, &e.Count, &e.Energy)
		out = append(out, e)
		return err
	})
	if err != nil || from == 0 {
		return out, err
	}
	var spent int64
	if err := s.db.Reader(ctx).QueryRowContext(ctx, spentFrom, v.ID, from).Scan(&spent); err != nil {
		return nil, fmt.Errorf("read energy: %w", err)
	}
	if before := v.EnergyUsed - spent; before > 0 {
		out = append(out, models.EnergyShare{Before: from, Energy: before})
	}
	return out, nil
}
