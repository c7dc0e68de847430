package store

import (
	"slices"
	"time"

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

// forget drops the presence of a settled request, once no caller waits for it.
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
	out := models.Presence{Waiting: p.waits > 0 || now.Before(p.until), Left: p.left}
	if p.waits == 0 && out.Waiting {
		out.Until = p.until
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
