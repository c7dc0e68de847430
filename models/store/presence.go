package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/events"
)

const (
	// presenceGrace is how long an agent may take from one wait to the next: clients
	// wait in slices.
	presenceGrace = 3 * time.Second
	// pollGrace is the same for an agent that polls: the SDKs do so every 3 seconds, and
	// those who poll too often are delayed.
	pollGrace = 15 * time.Second
	// maxPresences bounds the memory of waits that ended before their request did.
	maxPresences = 20_000
)

// presence says how an agent waits for one request.
type presence struct {
	waits int
	owner string    // the request's
	left  time.Time // when the last one ended
	until time.Time // the agent counts as waiting, if it does not
	ways  []wayIn
}

// wayIn is one of the ways by which the agent waits for a request. Other servers read it as JSON.
type wayIn struct {
	Name  string    `json:"name"` // as the surface calls it; empty: it gave no name
	Waits int       `json:"waits"`
	Until time.Time `json:"until"` // it counts as a wait without being one
}

// wayOf is the record of a way, made if there is none. Ways that ended long ago are
// dropped for it.
func (p *presence) wayOf(name string, now time.Time) *wayIn {
	i := slices.IndexFunc(p.ways, func(w wayIn) bool { return w.Name == name })
	if i < 0 {
		p.ways = slices.DeleteFunc(p.ways, func(w wayIn) bool { return !w.here(now) })
		p.ways, i = append(p.ways, wayIn{Name: name}), len(p.ways)
	}
	return &p.ways[i]
}

// here reports whether the agent waits by this way: now, or a moment ago, for clients wait
// in slices.
func (w *wayIn) here(now time.Time) bool { return w.Waits > 0 || now.Before(w.Until) }

// enter notes that an agent waits for a request of an owner's, by a way.
func (w *waiters) enter(owner models.UserID, id models.ResponseID, way string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.presenceOf(owner, id)
	p.waits++
	p.wayOf(way, now).Waits++
	w.agents++
	w.ofOwner[p.owner]++
	w.differs(id)
}

// presenceOf is the presence for a request, made if there is none.
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
	p.wayOf(way, now).Until = p.until
	w.differs(r.ID)
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
	w.differs(id)
	by := p.wayOf(way, now)
	by.Waits, by.Until = by.Waits-1, later(by.Until, now.Add(presenceGrace))
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

// byAnother reports whether the agent waits by another way than one. Of waits without a name one that goes on is
// another than one that has no name either and is over.
func (p *presence) byAnother(way string, now time.Time) bool {
	return p != nil && slices.ContainsFunc(p.ways, func(in wayIn) bool {
		return in.Name != way && in.here(now) || in.Name == "" && in.Waits > 0
	})
}

// byAnother reports whether an agent waits for a request, at this server, by another way than one.
func (w *waiters) byAnother(id models.ResponseID, way string, now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.present[id].byAnother(way, now)
}

// forget drops the presence of a settled request, once no caller waits for it.
func (w *waiters) forget(id models.ResponseID) {
	if p := w.present[id]; p != nil && p.waits == 0 {
		delete(w.present, id)
		w.differs(id)
	}
}

// forgetSome makes room: whose waits are forgotten is only not told of.
func (w *waiters) forgetSome() {
	for id, p := range w.present {
		if p.waits == 0 {
			delete(w.present, id)
			w.differs(id)
		}
		if len(w.present) < maxPresences*9/10 {
			return
		}
	}
}

// Presences tell whether the agent of each request waits for it now, at any server, and since when it
// does not. They know nothing of the time before the server started.
func (s *Store) Presences(ctx context.Context, ids ...models.ResponseID) (map[models.ResponseID]models.Presence, error) {
	now, out := s.db.Now(), make(map[models.ResponseID]models.Presence, len(ids))
	s.waiters.mu.Lock()
	for _, id := range ids {
		out[id] = s.waiters.present[id].at(now)
	}
	s.waiters.mu.Unlock()
	others, err := s.elsewhere(ctx, ids...)
	for id, all := range others {
		for _, p := range all {
			out[id] = either(out[id], p.at(now))
		}
	}
	return out, err
}

// at is the presence as of now.
func (p *presence) at(now time.Time) models.Presence {
	if p == nil {
		return models.Presence{}
	}
	out := models.Presence{Waiting: p.waits > 0 || now.Before(p.until), Left: p.left}
	if p.waits == 0 && out.Waiting {
		out.Until = p.until
	}
	return out
}

// either are two servers' presences as one: the agent waits if it does at one of them.
func either(a, b models.Presence) models.Presence {
	out := models.Presence{Waiting: a.Waiting || b.Waiting, Left: later(a.Left, b.Left)}
	if goesOn := a.Waiting && a.Until.IsZero() || b.Waiting && b.Until.IsZero(); out.Waiting && !goesOn {
		out.Until = later(a.Until, b.Until)
	}
	return out
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

const (
	// presencesAtOnce are told to other servers in one transaction: their names fit into one notice.
	presencesAtOnce = 100
	// tellPresenceEvery is how often at most.
	tellPresenceEvery = 200 * time.Millisecond
)

// differs notes that the presence for a request is another than other servers know.
func (w *waiters) differs(id models.ResponseID) {
	if w.untold == nil {
		return
	}
	w.untold[id] = struct{}{}
	select {
	case w.toTell <- struct{}{}:
	default:
	}
}

// TellPresence tells other servers how agents wait here, as it changes, until ctx ends. Where there are none it returns
// at once.
func (s *Store) TellPresence(ctx context.Context) {
	if !s.db.Shared() {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.waiters.toTell:
		}
		if err := s.tellPresences(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "other servers don't know who waits here", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(tellPresenceEvery):
		}
	}
}

func (s *Store) tellPresences(ctx context.Context) error {
	w := &s.waiters
	for {
		waits, over, err := w.takeUntold()
		if err != nil || len(waits)+len(over) == 0 {
			return err
		}
		if err := s.Nodes.Tell(ctx, waits, over); err != nil {
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, wait := range waits {
				w.differs(wait.ResponseID)
			}
			for _, id := range over {
				w.differs(id)
			}
			return err
		}
	}
}

// takeUntold are some of the presences that others do not know: how agents wait, and where none does any more.
func (w *waiters) takeUntold() (waits []models.Wait, over []models.ResponseID, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.untold {
		if len(waits)+len(over) == presencesAtOnce {
			break
		}
		delete(w.untold, id)
		p := w.present[id]
		if p == nil {
			over = append(over, id)
			continue
		}
		ways, err := json.Marshal(p.ways)
		if err != nil {
			return nil, nil, fmt.Errorf("tell who waits: %w", err)
		}
		waits = append(waits, models.Wait{
			ResponseID: id, Waits: p.waits, Ways: string(ways), Until: timeOrNil(p.until), LeftAt: timeOrNil(p.left),
		})
	}
	return waits, over, nil
}

func timeOrNil(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// elsewhere is how agents wait for requests at other servers.
func (s *Store) elsewhere(ctx context.Context, ids ...models.ResponseID) (map[models.ResponseID][]*presence, error) {
	rows, err := s.Nodes.Elsewhere(ctx, ids...)
	out := make(map[models.ResponseID][]*presence, len(rows))
	for i := range rows {
		r := &rows[i]
		p := &presence{waits: r.Waits}
		if r.Until != nil {
			p.until = *r.Until
		}
		if r.LeftAt != nil {
			p.left = *r.LeftAt
		}
		if err := json.Unmarshal([]byte(r.Ways), &p.ways); err != nil {
			return nil, fmt.Errorf("read who waits elsewhere: %w", err)
		}
		out[r.ResponseID] = append(out[r.ResponseID], p)
	}
	return out, err
}
