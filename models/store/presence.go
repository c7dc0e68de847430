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
	// pollGrace is the same for an agent that polls: the SDKs do so every 3 seconds, and
	// those who poll too often are delayed.
	pollGrace = 15 * time.Second
	// maxPresences bounds what is remembered of waits that ended before their request
	// did.
	maxPresences = 20_000
)

// presence is what is known of an agent's waits for one request.
type presence struct {
	waits int
	owner string    // the request's
	left  time.Time // when the last one ended
	until time.Time // the agent counts as waiting, if it does not
	ways  []wayIn
}

// wayIn is one of the ways by which the agent waits for a request.
type wayIn struct {
	name  string // as the surface calls it; empty: it gave no name
	waits int
	until time.Time // it counts as a wait without being one
}

// wayOf is the record of a way, made if there is none. Ways that ended long ago are
// dropped for it.
func (p *presence) wayOf(name string, now time.Time) *wayIn {
	i := slices.IndexFunc(p.ways, func(w wayIn) bool { return w.name == name })
	if i < 0 {
		p.ways = slices.DeleteFunc(p.ways, func(w wayIn) bool { return !w.here(now) })
		p.ways, i = append(p.ways, wayIn{name: name}), len(p.ways)
	}
	return &p.ways[i]
}

// here reports whether the agent waits by this way: now, or a moment ago, for clients wait
// in slices.
func (w *wayIn) here(now time.Time) bool { return w.waits > 0 || now.Before(w.until) }

// enter notes that an agent waits for a request of an owner's, by a way.
func (w *waiters) enter(owner models.UserID, id models.ResponseID, way string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.presenceOf(owner, id)
	p.waits++
	p.wayOf(way, now).waits++
	w.agents++
	w.ofOwner[p.owner]++
}

// presenceOf is what is known of the waits for a request, made if nothing is.
func (w *waiters) presenceOf(owner models.UserID, id models.ResponseID) *presence {
	p := w.present[id]
	if p == nil {
		if len(w.present) >= maxPresences {
			w.forgetSome()
		}
		p = &presence{owner: string(owner)}
		w.present[id] = p
	}
	return p
}

// poll notes that an agent asked what became of a request, and will ask again; false: it
// has heard the outcome.
func (w *waiters) poll(r *models.Response, way string, now time.Time) (again bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.Status() != models.StatusPending {
		w.forget(r.ID)
		return false
	}
	p := w.presenceOf(r.OwnerID, r.ID)
	p.left, p.until = now, now.Add(pollGrace)
	p.wayOf(way, now).until = p.until
	return true
}

// exit notes that a wait of an agent's ended; over says that its request has, too.
func (w *waiters) exit(id models.ResponseID, over bool, way string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.present[id]
	if p == nil {
		return
	}
	by := p.wayOf(way, now)
	by.waits, by.until = by.waits-1, later(by.until, now.Add(presenceGrace))
	w.agents--
	if w.ofOwner[p.owner]--; w.ofOwner[p.owner] == 0 {
		delete(w.ofOwner, p.owner)
	}
	if p.waits--; p.waits > 0 {
		return
	}
	if p.left, p.until = now, later(p.until, now.Add(presenceGrace)); over {
		delete(w.present, id)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// byAnother reports whether an agent waits for a request by another way than one. Of waits
// without a name one that goes on is another than one that has no name either and is over.
func (w *waiters) byAnother(id models.ResponseID, way string, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.present[id]
	return p != nil && slices.ContainsFunc(p.ways, func(in wayIn) bool {
		return in.name != way && in.here(now) || in.name == "" && in.waits > 0
	})
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
	return models.Presence{Waiting: p.waits > 0 || now.Before(p.until), Left: p.left}
}

// Polled notes that an agent was told how a request of its own is, and will ask again while
// it is pending: it waits by that way until it has not asked for a while.
func (s *Store) Polled(actor models.Actor, a *models.Approval, way string) {
	if !actor.IsAgent() || actor.AgentID() != a.AgentID {
		return
	}
	if !s.waiters.poll(&a.Response, way, s.db.Now()) {
		return
	}
	if s.db.Bus().Subscribers(events.Presence(string(a.ID))) > 0 {
		s.tellPresence(a.ID)
		time.AfterFunc(pollGrace, func() { s.tellPresence(a.ID) })
	}
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
var routedQuery = `SELECT response_id FROM reviewers WHERE user_id = ? AND response_id` + db.Within(`?`)

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

// A conversation with an undecided request is shown as waiting_input. That is
// read from the index of what is pending and never stored: the entry of the ask
// or outcome with which the waiting begins or ends tells the change (I7).
const (
	undecided = `EXISTS (SELECT 1 FROM responses p` + db.ByResponsesPendingConversation + `
 WHERE p.conversation_id = conversations.id AND p.approval_status = 'pending')`
	// shownRunning is true of a conversation that is shown as running: the next ask
	// makes it wait, or the last outcome has just made it go on.
	shownRunning = `(status = 'running' AND NOT ` + undecided + `)`
	statusQuery  = `SELECT status, ` + undecided + ` FROM conversations WHERE id = ?`
)

// isRunning reports whether a conversation is shown as running now.
func (t *tx) isRunning(id models.ConversationID) (running bool, err error) {
	if err := t.Row(t.s.hot.isRunning, id).Scan(&running); err != nil {
		return false, fmt.Errorf("read status: %w", err)
	}
	return running, nil
}

// waitBegins is the change of status that a request brings as the first in its
// conversation; nil: there is none. running is from before it was stored.
func waitBegins(a *models.Approval, running bool) *models.StatusChange {
	if !running || a.Status() != models.StatusPending {
		return nil
	}
	return &models.StatusChange{Old: models.ConversationRunning, New: models.ConversationWaitingInput}
}

// waitEnds is the change of status that the last outcome of a conversation brings;
// nil: there is none. running is from after it.
func waitEnds(running bool) *models.StatusChange {
	if !running {
		return nil
	}
	return &models.StatusChange{Old: models.ConversationWaitingInput, New: models.ConversationRunning}
}

// waitEndsFor is waitEnds where a row has left its conversation for another.
func waitEndsFor(a *models.Approval, running bool) *models.StatusChange {
	return waitEnds(running && a.Status() == models.StatusPending)
}

// restOn has a run of the built-in agent wait for a request for energy: in its own
// conversation that shows as long as it is pending; for any other, and once it was
// refused, the conversation waits by itself.
func (t *tx) restOn(run *models.Run, conv *models.Conversation, request *models.Approval) error {
	status := models.ConversationWaitingInput
	if request.Status() == models.StatusPending && request.ConversationID == conv.ID {
		status = models.ConversationRunning
	}
	return t.setStatus(run.Actor(), conv, status, "")
}

// showStatus turns the stored status of a conversation into the one that readers
// are told.
func (t *tx) showStatus(c *models.Conversation) error {
	if c == nil {
		return nil
	}
	var waits bool
	if err := t.QueryRowContext(context.Background(), statusQuery, c.ID).Scan(&c.Status, &waits); err != nil {
		return fmt.Errorf("read status: %w", err)
	}
	c.Status = c.Status.Shown(waits)
	return nil
}

// Stats counts what waits and what was decided in the last minute: own rows for
// agents and reviewers, all for admins; capped at models.StatsCap.
func (s *Store) Stats(ctx context.Context, actor models.Actor) (models.Stats, error) {
	now := s.db.Now()
	since := now.Add(-time.Minute)
	var pending, settled string
	args, settledArgs := []any{actor.ID, now}, []any{actor.ID, since}
	switch {
	case actor.IsAgent():
		pending = `responses r` + db.ByResponsesPendingAgent + ` WHERE r.agent_id = ? AND r.approval_status = 'pending' AND r.approval_timeout_at > ?`
		settled = `responses r` + db.ByResponsesSettled + ` WHERE r.agent_id = ? AND r.approval_timestamp > ?`
	case !actor.IsPerson():
		return models.Stats{}, models.Errorf(models.CodeForbidden, "Only agents and people read the counts.")
	case actor.Admin:
		pending = `responses r` + db.ByResponsesPendingRisk + ` WHERE r.approval_status = 'pending' AND r.approval_timeout_at > ?`
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
	out := models.Stats{Waiters: min(waits, models.StatsCap)}
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
