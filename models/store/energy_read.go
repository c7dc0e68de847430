package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"countersign/models"
	"countersign/models/db"
)

// What was spent, in steps: each is as wide as ?2 sequences, so that a long
// history gives no more points than a short one.
const (
	spentByResponses = `SELECT sequence / ?2, max(sequence), max(created_at), sum(energy) FROM responses INDEXED BY responses_history
 WHERE conversation_id = ?1 GROUP BY sequence / ?2`
	spentByTurns = `SELECT sequence / ?2, max(sequence), max(at), sum(energy) FROM turns WHERE conversation_id = ?1 GROUP BY sequence / ?2`
	// With a bare column beside max(), SQLite takes it from the row of the maximum.
	budgetBySteps = `SELECT sequence / ?2, max(sequence), max(at), new FROM budget_steps WHERE conversation_id = ?1 GROUP BY sequence / ?2`

	// How much each kind of thing cost.
	energyByTool = `SELECT kind, tool_name, count(*), sum(energy) FROM responses INDEXED BY responses_history
 WHERE conversation_id = ? AND energy > 0 GROUP BY kind, tool_name ORDER BY sum(energy) DESC, kind, tool_name LIMIT ?`
)

// EnergyOf is what a conversation has spent, and its budget, over its history:
// at most most points, evenly thinned. CodeNotFound as for Conversation.
func (s *Store) EnergyOf(ctx context.Context, actor models.Actor, id models.ConversationID, most int) ([]models.EnergyPoint, error) {
	v, err := s.Conversation(ctx, actor, id)
	if err != nil {
		return nil, err
	}
	width := v.NextSequence/int64(max(1, most)) + 1
	ctx = context.WithoutCancel(ctx)
	dbtx, err := s.db.Reads().BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("read energy: %w", err)
	}
	defer dbtx.Rollback() //nolint:errcheck // nothing was written
	points := map[int64]*energyBucket{}
	for _, query := range []string{spentByResponses, spentByTurns, budgetBySteps} {
		err := eachRow(ctx, dbtx, query, []any{id, width}, func(row db.Scanner) error {
			var bucket, sequence, n int64
			var when string
			if err := row.Scan(&bucket, &sequence, &when, &n); err != nil {
				return err
			}
			p := points[bucket]
			if p == nil {
				p = &energyBucket{}
				points[bucket] = p
			}
			if err := p.note(sequence, when); err != nil {
				return err
			}
			if query == budgetBySteps {
				p.Budget = &n
			} else {
				p.spent += n
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read energy: %w", err)
		}
	}
	return burnt(points), nil
}

// energyBucket is a point before the sums.
type energyBucket struct {
	models.EnergyPoint

	spent int64
}

// note takes the latest thing of the bucket.
func (b *energyBucket) note(sequence int64, when string) error {
	at, err := db.StoredTime(when)
	if err != nil {
		return err
	}
	b.Sequence = max(b.Sequence, sequence)
	if at.After(b.At) {
		b.At = at
	}
	return nil
}

func burnt(points map[int64]*energyBucket) []models.EnergyPoint {
	out := make([]models.EnergyPoint, 0, len(points))
	spent := make(map[int64]int64, len(points))
	for _, p := range points {
		out = append(out, p.EnergyPoint)
		spent[p.Sequence] = p.spent
	}
	slices.SortFunc(out, func(a, b models.EnergyPoint) int { return cmp.Compare(a.Sequence, b.Sequence) })
	var used int64
	var budget *int64
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

// EnergyBy is what a conversation's energy was spent on, the dearest first, at
// most most of them. CodeNotFound as for Conversation.
func (s *Store) EnergyBy(ctx context.Context, actor models.Actor, id models.ConversationID, most int) ([]models.EnergyShare, error) {
	if _, err := s.Conversation(ctx, actor, id); err != nil {
		return nil, err
	}
	rows, err := s.db.Reads().QueryContext(context.WithoutCancel(ctx), energyByTool, id, most)
	if err != nil {
		return nil, fmt.Errorf("read energy: %w", err)
	}
	defer rows.Close()
	var out []models.EnergyShare
	for rows.Next() {
		var e models.EnergyShare
		if err := rows.Scan(&e.Kind, &e.ToolName, &e.Count, &e.Energy); err != nil {
			return nil, fmt.Errorf("read energy: %w", err)
		}
		out = append(out, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read energy: %w", err)
	}
	return out, nil
}
