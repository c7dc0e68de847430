package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/requests"
)

// Stats counts pending requests and those decided in the last minute: own rows for agents and reviewers, all for
// admins; capped at models.StatsCap.
func (s *Store) Stats(ctx context.Context, actor models.Actor) (models.Stats, error) {
	now := s.db.Now()
	since := now.Add(-time.Minute)
	var pending, settled string
	args, settledArgs := []any{actor.ID, now}, []any{actor.ID, since}
	switch {
	case actor.IsAgent():
		pending = `responses r` + db.ByResponsesPendingAgent +
			` WHERE r.agent_id = ? AND r.approval_status = 'pending' AND r.approval_timeout_at > ?`
		settled = `responses r` + db.ByResponsesSettled + ` WHERE r.agent_id = ? AND r.approval_timestamp > ?`
	case !actor.IsPerson():
		return models.Stats{}, models.Errorf(models.CodeForbidden, "Only agents and people read the counts.")
	case actor.Oversees():
		pending = `responses r` + db.ByResponsesPendingRisk +
			` WHERE r.approval_status = 'pending' AND r.approval_timeout_at > ?`
		settled = `responses r` + db.ByResponsesSettled + ` WHERE r.approval_timestamp > ?`
		args, settledArgs = args[1:], settledArgs[1:]
	default:
		pending = `deciders d WHERE d.user_id = ? AND d.deadline > ?`
		settled = `responses r` + db.ByResponsesSettled + ` WHERE r.owner_id = ? AND r.approval_timestamp > ?`
	}
	waits, err := s.agentWaits(ctx, actor)
	if err != nil {
		return models.Stats{}, err
	}
	others, err := s.Nodes.CountElsewhere(ctx, requests.SeenBy(actor, `r`))
	if err != nil {
		return models.Stats{}, err
	}
	out := models.Stats{Waiters: min(waits+others, models.StatsCap)}
	for _, c := range []struct {
		from string
		args []any
		into *int
	}{{pending, args, &out.Pending}, {settled, settledArgs, &out.Responses}} {
		query := `SELECT count(*) FROM (SELECT 1 FROM ` + c.from + ` LIMIT ?)`
		if err := s.db.Reads().QueryRowContext(ctx, query, append(c.args, models.StatsCap)...).Scan(c.into); err != nil {
			return models.Stats{}, fmt.Errorf("count: %w", err)
		}
	}
	return out, nil
}

// Sending is how many requests a person has approved that are not sent yet: they
// may still be undone, and no longer wait for that person.
func (s *Store) Sending(ctx context.Context, actor models.Actor) (int, error) {
	if !actor.IsPerson() {
		return 0, nil
	}
	now := s.db.Now()
	var n int
	err := s.db.Reads().QueryRowContext(ctx, `SELECT count(*) FROM responses r`+db.ByResponsesHeld+`
 WHERE r.approval_status = 'pending' AND r.held_until IS NOT NULL AND r.upstream_id IS NULL AND r.held_until > ?
 AND EXISTS (SELECT 1 FROM votes v WHERE v.response_id = r.id AND v.user_id = ? AND v.undo_until > ? AND v.withdrawn_at IS NULL)`, now, actor.ID, now).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count what is being sent: %w", err)
	}
	return n, nil
}

// agentWaits counts the waits of agents for what the actor may see.
func (s *Store) agentWaits(ctx context.Context, actor models.Actor) (int, error) {
	w := &s.waiters
	w.mu.Lock()
	switch {
	case actor.Oversees():
		defer w.mu.Unlock()
		return w.agents, nil
	case actor.IsAgent():
		defer w.mu.Unlock()
		return w.of[actor.ID], nil
	}
	n, others := w.ofOwner[actor.ID], map[models.ResponseID]int{}
	if n < w.agents {
		for id, p := range w.present {
			if p.waits > 0 && p.owner != actor.ID {
				others[id] = p.waits
			}
		}
	}
	w.mu.Unlock()
	if len(others) == 0 {
		return n, nil
	}
	routes, err := s.routedAmong(ctx, actor, slices.Collect(maps.Keys(others)))
	for _, id := range routes {
		n += others[id]
	}
	return n, err
}

// routedQuery finds which of the ids, a JSON array, were routed to a person.
var routedQuery = `SELECT response_id FROM reviewers WHERE user_id = ? AND response_id` + db.Within(`?`)

func (s *Store) routedAmong(
	ctx context.Context, person models.Actor, ids []models.ResponseID,
) ([]models.ResponseID, error) {
	if some, err := db.Exists(s.db.Reads().QueryRowContext(ctx, `SELECT 1 FROM reviewers WHERE user_id = ? LIMIT 1`,
		person.ID)); err != nil || !some {
		return nil, err
	}
	raw, err := json.Marshal(ids)
	if err != nil {
		return nil, fmt.Errorf("count waits: %w", err)
	}
	rows, err := s.db.Reads().QueryContext(ctx, routedQuery, person.ID, string(raw))
	if err != nil {
		return nil, fmt.Errorf("count waits: %w", err)
	}
	defer rows.Close()
	var out []models.ResponseID
	for rows.Next() {
		var id models.ResponseID
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("count waits: %w", err)
		}
		out = append(out, id)
	}
	return out, rows.Err()
}

const (
	lastResponse = `SELECT coalesce(max(number), 0) FROM responses`
	// responseFrom is the first response with a number, or after it.
	responseFrom = `SELECT number, created_at FROM responses WHERE number >= ? ORDER BY number LIMIT 1`
)

// agentFigures reads a row for each agent, of those of a list that the actor may see.
var agentFigures = figuresQuery()

func figuresQuery() string {
	count := func(index, where string) string {
		return `, (SELECT count(*) FROM (SELECT 1 FROM responses` + index + ` WHERE agent_id = a.id AND ` + where + ` LIMIT ?))`
	}
	return `SELECT a.id, (SELECT created_at FROM responses` + db.ByResponsesAgent +
		` WHERE agent_id = a.id AND asked = TRUE ORDER BY number DESC LIMIT 1)` +
		count(db.ByResponsesPendingAgent, `approval_status = 'pending' AND `+stillWaits) +
		count(db.ByResponsesPendingAgent, stopEnds+` AND `+stillWaits) +
		strings.Repeat(count(db.ByResponsesAgent, `asked = TRUE AND number >= ? AND number < ?`), models.AgentDays) +
		` FROM agents a WHERE a.id` + db.Within(`?`) + ` AND (a.owner_id = ? OR ?)`
}

// AgentFigures counts what some agents asked, what of it is pending, and what they spent: of the actor's own agents,
// for admins of all. Others are left out. Agents get CodeForbidden.
func (s *Store) AgentFigures(
	ctx context.Context, actor models.Actor, agents []models.AgentID,
) (out models.AgentsFigures, err error) {
	if !actor.IsPerson() {
		return out, models.Errorf(models.CodeForbidden, "Only a person may see the figures of agents.")
	}
	list, err := json.Marshal(agents)
	if err != nil {
		return out, fmt.Errorf("count what agents asked: %w", err)
	}
	err = s.db.Snapshot(ctx, func(ctx context.Context) error {
		if out.Of, err = s.countOfAgents(ctx, actor, string(list), len(agents)); err != nil || !actor.Oversees() {
			return err
		}
		return s.db.Reader(ctx).QueryRowContext(ctx, cancelsOfAll, s.db.Now(), models.StatsCap).Scan(&out.AllCancels)
	})
	if err != nil {
		return out, fmt.Errorf("count what agents asked: %w", err)
	}
	spent, err := s.agentBudgets(ctx, `a.id`+db.Within(`?3`)+` AND (a.owner_id = ?4 OR ?5)`, string(list), actor.ID, actor.Oversees())
	for id, b := range spent {
		f := out.Of[id]
		f.Budget = &b
		out.Of[id] = f
	}
	return out, err
}

// countOfAgents reads the counts of the agents of a list, a JSON array.
func (s *Store) countOfAgents(
	ctx context.Context, actor models.Actor, list string, n int,
) (map[models.AgentID]models.AgentFigures, error) {
	now, out := s.db.Now(), make(map[models.AgentID]models.AgentFigures, n)
	days, err := s.dayStarts(ctx, now)
	if err != nil {
		return nil, err
	}
	args := []any{now, models.StatsCap, now, models.StatsCap}
	for i := range models.AgentDays {
		args = append(args, days[i], days[i+1], models.StatsCap)
	}
	err = db.EachRow(ctx, s.db.Reader(ctx), agentFigures, append(args, list, actor.ID, actor.Oversees()),
		func(row db.Scanner) error {
			var id models.AgentID
			var f models.AgentFigures
			into := []any{&id, &f.LastAskAt, &f.Pending, &f.Cancels}
			for i := range f.Days {
				into = append(into, &f.Days[i])
			}
			err := row.Scan(into...)
			out[id] = f
			return err
		})
	return out, err
}

// dayStarts are the numbers of the first response of each of the last days, and the one after the last response.
// Numbers are in the order of arrival, so each is found by halving: an index by agent and time would cost every ask a
// page.
func (s *Store) dayStarts(ctx context.Context, now time.Time) (out [models.AgentDays + 1]int64, err error) {
	var last int64
	if err := s.db.Reader(ctx).QueryRowContext(ctx, lastResponse).Scan(&last); err != nil {
		return out, err
	}
	out[models.AgentDays] = last + 1
	midnight := now.UTC().Truncate(24 * time.Hour)
	low := int64(1)
	for i := range models.AgentDays {
		day := midnight.AddDate(0, 0, i+1-models.AgentDays)
		if low, err = s.firstSince(ctx, day, low, last+1); err != nil {
			return out, err
		}
		out[i] = low
	}
	return out, nil
}

// firstSince is the number from low on of the first response that came at a time or later; high: there is none.
func (s *Store) firstSince(ctx context.Context, at time.Time, low, high int64) (int64, error) {
	for low < high {
		middle := low + (high-low)/2
		var number int64
		var came time.Time
		if err := s.db.Reader(ctx).QueryRowContext(ctx, responseFrom, middle).Scan(&number, &came); err != nil {
			return 0, err
		}
		if came.Before(at) {
			low = number + 1
		} else {
			high = middle
		}
	}
	return low, nil
}
