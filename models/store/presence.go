package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
)

const (
	// presenceGrace is how long an agent may take from one wait to the next: clients
	// wait in slices.
	presenceGrace = 3 * time.Second
	// maxPresences bounds what is remembered of waits that ended before their request
	// did.
	maxPresences = 20_000
)

// presence is what is known of an agent's waits for one request.
type presence struct {
	waits int
	owner string    // the request's
	left  time.Time // when the last one ended
}

// enter notes that an agent waits for a request of an owner's.
func (w *waiters) enter(owner models.UserID, id models.ResponseID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.present[id]
	if p == nil {
		if len(w.present) >= maxPresences {
			w.forgetSome()
		}
		p = &presence{owner: string(owner)}
		w.present[id] = p
	}
	p.waits++
	w.agents++
	w.ofOwner[p.owner]++
}

// exit notes that a wait of an agent's ended; over says that its request has, too.
func (w *waiters) exit(id models.ResponseID, over bool, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.present[id]
	if p == nil {
		return
	}
	w.agents--
	if w.ofOwner[p.owner]--; w.ofOwner[p.owner] == 0 {
		delete(w.ofOwner, p.owner)
	}
	if p.waits--; p.waits > 0 {
		return
	}
	if p.left = now; over {
		delete(w.present, id)
	}
}

// forget drops what is known of a request that is over, once nobody waits for it.
func (w *waiters) forget(id models.ResponseID) {
	if p := w.present[id]; p != nil && p.waits == 0 {
		delete(w.present, id)
	}
}

// forgetSome makes room: whose waits are forgotten is only not told of.
func (w *waiters) forgetSome() {
	for id, p := range w.present {
		if p.waits == 0 {
			delete(w.present, id)
		}
		if len(w.present) < maxPresences*9/10 {
			return
		}
	}
}

// Presence tells whether the agent of a request waits for it now, and since when it
// does not. It knows nothing of the time before the server started.
func (s *Store) Presence(id models.ResponseID) models.Presence {
	now := s.db.Now()
	s.waiters.mu.Lock()
	defer s.waiters.mu.Unlock()
	p := s.waiters.present[id]
	if p == nil {
		return models.Presence{}
	}
	return models.Presence{Waiting: p.waits > 0 || now.Sub(p.left) < presenceGrace, Left: p.left}
}

// tellPresence has open pages of a request look again; most have none.
func (s *Store) tellPresence(id models.ResponseID) {
	topic := events.Presence(string(id))
	if s.db.Bus().Subscribers(topic) > 0 {
		s.db.Bus().Publish(topic)
	}
}

// agentWaits counts the waits of agents for what the actor may see.
func (s *Store) agentWaits(ctx context.Context, actor models.Actor) (int, error) {
	w := &s.waiters
	w.mu.Lock()
	switch {
	case actor.Admin:
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
	routed, err := s.routedAmong(ctx, actor, slices.Collect(maps.Keys(others)))
	for _, id := range routed {
		n += others[id]
	}
	return n, err
}

// routedQuery finds which of the ids, a JSON array, were routed to a person.
const routedQuery = `SELECT response_id FROM reviewers WHERE user_id = ? AND response_id IN (SELECT value FROM json_each(?))`

func (s *Store) routedAmong(ctx context.Context, person models.Actor, ids []models.ResponseID) ([]models.ResponseID, error) {
	if some, err := db.Exists(s.db.Reads().QueryRowContext(ctx, `SELECT 1 FROM reviewers WHERE user_id = ? LIMIT 1`, person.ID)); err != nil || !some {
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
