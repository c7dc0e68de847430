package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/policy"
)

// What all conversations of an agent spend (budget_per_agent) is counted by the
// minute, and only while the policy limits it. A minute counts until all of it is
// outside the window, so that no window of that length holds too much (I14).
const (
	reservedOfAgent = `(SELECT coalesce(sum(energy_reserved), 0) FROM conversations` + db.ByConversationsReserved +
		` WHERE agent_id = ?2 AND energy_reserved > 0)`

	windowIsCurrent = `SELECT 1 FROM agent_windows WHERE agent_id = ? AND minute = ? AND hours = ?`
	dropOldEnergy   = `DELETE FROM agent_energy WHERE agent_id = ? AND minute < ?`
	readWindow      = `SELECT w.spent, w.allowed,
 (SELECT coalesce(sum(c.energy_reserved), 0) FROM conversations c` + db.ByConversationsReserved + ` WHERE c.agent_id = ?1 AND c.energy_reserved > 0 AND c.id <> ?2)
 FROM agent_windows w WHERE w.agent_id = ?1`
	roomAt = `SELECT min(minute) FROM (SELECT minute, sum(energy) OVER (ORDER BY minute) AS freed FROM agent_energy
 WHERE agent_id = ?1 AND minute >= ?2) WHERE freed >= ?3`
)

// moveWindow adds up an agent's window again. Minutes after this one count too: the clock may have been set back.
var moveWindow = `INSERT INTO agent_windows (agent_id, minute, hours, spent, allowed) SELECT ?1, CAST(?2 AS bigint), ?3,
 (SELECT coalesce(sum(energy), 0) FROM agent_energy WHERE agent_id = ?1 AND minute >= ?4),
 (SELECT coalesce(sum(energy), 0) FROM agent_allowances WHERE agent_id = ?1 AND until > ?2)
 WHERE TRUE` + db.OrReplace(`agent_id`, `minute`, `hours`, `spent`, `allowed`)

// minuteOf numbers the minutes.
func minuteOf(at time.Time) int64 { return at.Unix() / 60 }

func startOf(minute int64) time.Time { return time.Unix(minute*60, 0).UTC() }

// windowEnd is when all that was spent until now has left a window of some hours.
func windowEnd(now time.Time, hours int) time.Time {
	return startOf(minuteOf(now) + int64(hours)*60 + 1)
}

// spendOfAgent counts energy as spent by an agent; fits is false, and nothing is
// changed, where that would pass what the policy allows it. What costs nothing
// always fits.
func (t *Tx) spendOfAgent(agent models.AgentID, energy int64) (fits bool, err error) {
	if energy == 0 {
		return true, nil
	}
	limit, err := t.agentLimit()
	if limit == nil || err != nil {
		return err == nil, err
	}
	for {
		n, err := t.Exec(t.s.hot.spendOfAgent, energy, agent, minuteOf(t.Now), limit.Hours, limit.Energy)
		if err != nil {
			return false, fmt.Errorf("spend an agent's energy: %w", err)
		}
		if db.ExactlyOne(n) {
			return true, t.addAgentEnergy(agent, energy)
		}
		if ok, err := t.moveWindow(agent, limit.Hours); !ok || err != nil {
			return false, err
		}
	}
}

// refundAgent undoes spendOfAgent in the same transaction: the conversation's own
// budget did not allow it.
func (t *Tx) refundAgent(agent models.AgentID, energy int64) error {
	if limit, err := t.agentLimit(); energy == 0 || limit == nil || err != nil {
		return err
	}
	now := minuteOf(t.Now)
	for _, do := range []struct {
		query string
		args  []any
	}{
		{`UPDATE agent_windows SET spent = spent - ? WHERE agent_id = ?`, []any{energy, agent}},
		{`UPDATE agent_energy SET energy = energy - ? WHERE agent_id = ? AND minute = ?`, []any{energy, agent, now}},
		{`DELETE FROM agent_energy WHERE agent_id = ? AND minute = ? AND energy = 0`, []any{agent, now}},
	} {
		if err := t.Gorm().Exec(do.query, do.args...).Error; err != nil {
			return fmt.Errorf("refund an agent's energy: %w", err)
		}
	}
	return nil
}

func (t *Tx) addAgentEnergy(agent models.AgentID, energy int64) error {
	if _, err := t.Exec(t.s.hot.addAgentEnergy, agent, minuteOf(t.Now), energy); err != nil {
		return fmt.Errorf("count an agent's energy: %w", err)
	}
	return nil
}

// agentLimit is what the policy lets each agent spend; nil: without a limit.
func (t *Tx) agentLimit() (*policy.BudgetPerAgent, error) {
	_, p, err := t.Policy()
	if err != nil {
		return nil, err
	}
	return p.BudgetPerAgent(), nil
}

// moveWindow adds up an agent's window again if the stored sum is of another minute; moved is false if it is of this
// one.
func (t *Tx) moveWindow(agent models.AgentID, hours int) (ok bool, err error) {
	now := minuteOf(t.Now)
	current, err := db.Exists(t.QueryRowContext(context.Background(), windowIsCurrent, agent, now, hours))
	if current || err != nil {
		return false, err
	}
	if err := t.Gorm().Exec(dropOldEnergy, agent, now-policy.MaxBudgetHours*60).Error; err != nil {
		return false, fmt.Errorf("drop an agent's old energy: %w", err)
	}
	if _, err := t.ExecContext(context.Background(), moveWindow, agent, now, hours, now-60*int64(hours)); err != nil {
		return false, fmt.Errorf("add up an agent's energy: %w", err)
	}
	return true, nil
}

// AgentBudget is an agent's limit and the energy it has spent, without the energy reserved in one of its conversations
// (none: empty). Nil: the policy does not limit it.
func (t *Tx) AgentBudget(agent models.AgentID, except models.ConversationID) (*models.AgentBudget, error) {
	limit, err := t.agentLimit()
	if limit == nil || err != nil {
		return nil, err
	}
	if _, err := t.moveWindow(agent, limit.Hours); err != nil {
		return nil, err
	}
	b := &models.AgentBudget{Energy: limit.Energy, Hours: limit.Hours}
	if err := t.QueryRowContext(context.Background(), readWindow, agent, except).Scan(&b.Spent, &b.Allowed,
		&b.Reserved); err != nil {
		return nil, fmt.Errorf("read an agent's budget: %w", err)
	}
	return b, nil
}

// RoomForAgent is when the window will have moved so far that energy fits, if
// nothing else is spent; at the latest when all that was spent has left it.
func (t *Tx) RoomForAgent(agent models.AgentID, b *models.AgentBudget, energy int64) (time.Time, error) {
	over := b.Spent + b.Reserved + energy - b.Total()
	var last sql.NullInt64
	err := t.QueryRowContext(context.Background(), roomAt, agent, minuteOf(t.Now)-int64(b.Hours)*60, over).Scan(&last)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, fmt.Errorf("look for room in an agent's budget: %w", err)
	}
	if !last.Valid {
		return windowEnd(t.Now, b.Hours), nil
	}
	return windowEnd(startOf(last.Int64), b.Hours), nil
}

const budgetsOfAgents = `SELECT a.id,
 (SELECT coalesce(sum(e.energy), 0) FROM agent_energy e WHERE e.agent_id = a.id AND e.minute >= ?1),
 (SELECT coalesce(sum(w.energy), 0) FROM agent_allowances w WHERE w.agent_id = a.id AND w.until > ?2),
 (SELECT coalesce(sum(c.energy_reserved), 0) FROM conversations c` + db.ByConversationsReserved + ` WHERE c.agent_id = a.id AND c.energy_reserved > 0)
 FROM agents a WHERE `

// AgentBudget is what one agent may spend and has spent, for its owner and admins; nil where the policy
// does not limit it, or for all others.
func (s *Store) AgentBudget(ctx context.Context, actor models.Actor, id models.AgentID) (*models.AgentBudget, error) {
	if !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only a person may see the budget of an agent.")
	}
	found, err := s.agentBudgets(ctx, `a.id = ?3 AND (a.owner_id = ?4 OR ?5)`, id, actor.ID, actor.Oversees())
	if b, ok := found[id]; ok {
		return &b, err
	}
	return nil, err
}

func (s *Store) agentBudgets(
	ctx context.Context, which string, args ...any,
) (map[models.AgentID]models.AgentBudget, error) {
	p, err := s.CurrentPolicy(ctx)
	if err != nil {
		return nil, err
	}
	limit := p.Program.BudgetPerAgent()
	if limit == nil {
		return nil, nil
	}
	now := minuteOf(s.db.Now())
	rows, err := s.db.Reader(ctx).QueryContext(ctx, budgetsOfAgents+which,
		append([]any{now - int64(limit.Hours)*60, now}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("read the budgets of agents: %w", err)
	}
	defer rows.Close()
	out := make(map[models.AgentID]models.AgentBudget)
	for rows.Next() {
		var id models.AgentID
		b := models.AgentBudget{Energy: limit.Energy, Hours: limit.Hours}
		if err := rows.Scan(&id, &b.Spent, &b.Allowed, &b.Reserved); err != nil {
			return nil, fmt.Errorf("read the budgets of agents: %w", err)
		}
		out[id] = b
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the budgets of agents: %w", err)
	}
	return out, nil
}
