package store

import (
	"fmt"
	"slices"
	"time"

	"countersign/models"
	"countersign/models/db"
)

// The writer keeps in memory where the next response of a conversation goes and what waits
// there, so that an ask and a decision write without having to read. A statement that writes
// and returns rows (RETURNING) has SQLite build a table for them, which costs as much as the
// writing; so what the hot statements would return is remembered here.
//
// It is exact for the same reason as remembered is: only the writer uses it, the first
// statement of each batch tells whether another process has written, a rollback drops it
// all, and so does each statement that may change what it follows (Store.changes), but for
// the few that tell it themselves what they change. What is unknown is read. Nothing rests
// on it alone where that can be had in the same statement: the sequence is taken by a
// compare-and-set that judges the budget too (I14).

// pendingKnown is what the writer knows of what waits.
type pendingKnown struct {
	courses map[models.ConversationID]*course
	rests   map[models.AgentID]models.ConversationID // their standing conversations
	waiting map[models.AgentID]digests
	digests int                            // in all of waiting
	alone   map[models.ResponseID]struct{} // pending, and routed to nobody but their owner
}

// course is what is known of a conversation.
type course struct {
	title   string // of a standing one
	next    int64  // the next sequence
	waiting int    // requests that wait in it; it runs apart from them. unknownWaiting: neither is known
}

const unknownWaiting = -1

// digests are the calls of an agent that wait, by digest, without those that another system
// asks for. nil: they are many, and are looked up.
type digests map[string][]waitingCall

type waitingCall struct {
	id    models.ResponseID
	until time.Time
}

const (
	// maxReadDigests is how much of what waits is read to know it all.
	maxReadDigests = 64
	// maxKnownDigests bounds what is known of all agents.
	maxKnownDigests = 20_000
)

func (p *pendingKnown) forget() {
	if p.courses != nil && len(p.courses)+len(p.rests)+len(p.waiting)+len(p.alone) == 0 {
		return
	}
	*p = pendingKnown{
		courses: make(map[models.ConversationID]*course), rests: make(map[models.AgentID]models.ConversationID),
		waiting: make(map[models.AgentID]digests), alone: make(map[models.ResponseID]struct{}),
	}
}

// checkKnown is set by tests: what is remembered is read too then, and compared.
var checkKnown func(what string, remembered, read any)

// follow remembers a conversation of which a place was taken just now. running is how it is
// shown.
func (p *pendingKnown) follow(id models.ConversationID, taken int64, running bool) *course {
	c := p.courses[id]
	if c == nil {
		if len(p.courses) >= maxKnownConversations {
			clear(p.courses)
			clear(p.rests)
		}
		c = &course{waiting: unknownWaiting}
		p.courses[id] = c
	}
	c.next = taken + 1
	if running {
		c.waiting = 0
	}
	return c
}

// takeKnown takes the next sequence of a conversation that is known, and spends energy
// there; fits is false, and nothing is changed, where it is not known, or would pass the
// budget.
func (t *tx) takeKnown(id models.ConversationID, energy int64) (next taken, fits bool, err error) {
	pending := &t.s.known.pending
	c := pending.courses[id]
	if c == nil {
		return taken{}, false, nil
	}
	n, err := t.Exec(t.s.hot.takeSequence, energy, t.Now, id, c.next)
	if err != nil {
		return taken{}, false, fmt.Errorf("take next sequence: %w", err)
	}
	if !db.ExactlyOne(n) {
		delete(pending.courses, id)
		return taken{}, false, nil
	}
	next.sequence = c.next
	c.next++
	next.running, err = t.shownRunning(id)
	return next, true, err
}

// shownRunning reports whether a conversation is shown as running now.
func (t *tx) shownRunning(id models.ConversationID) (bool, error) {
	c := t.s.known.pending.courses[id]
	if c != nil && c.waiting != unknownWaiting {
		running := c.waiting == 0
		if checkKnown != nil {
			read, err := t.isRunning(id)
			if err != nil {
				return false, err
			}
			checkKnown("shown as running", running, read)
		}
		return running, nil
	}
	running, err := t.isRunning(id)
	if c != nil && running {
		c.waiting = 0
	}
	return running, err
}

// begins follows a response that was stored just now.
func (p *pendingKnown) begins(r *models.Response) {
	if r.Status() != models.StatusPending {
		return
	}
	if len(p.alone) >= maxKnownConversations {
		clear(p.alone)
	}
	p.alone[r.ID] = struct{}{} // until it is routed to somebody
	if c := p.courses[r.ConversationID]; c != nil && c.waiting != unknownWaiting {
		c.waiting++
	}
	of := p.waiting[r.AgentID]
	if of == nil || r.UpstreamID != nil {
		return
	}
	of[r.Digest] = append(of[r.Digest], waitingCall{r.ID, r.ApprovalTimeoutAt})
	if p.digests++; p.digests > maxKnownDigests {
		p.forgetDigests()
	}
}

// ends follows a request that has left pending just now.
func (p *pendingKnown) ends(r *models.Response) {
	delete(p.alone, r.ID)
	if c := p.courses[r.ConversationID]; c != nil && c.waiting != unknownWaiting {
		c.waiting--
	}
	of := p.waiting[r.AgentID]
	calls := of[r.Digest]
	at := slices.IndexFunc(calls, func(c waitingCall) bool { return c.id == r.ID })
	if at < 0 {
		return
	}
	p.digests--
	if of[r.Digest] = slices.Delete(calls, at, at+1); len(calls) == 1 {
		delete(of, r.Digest)
	}
}

// forgetDigests drops what waits by digest.
func (p *pendingKnown) forgetDigests() {
	clear(p.waiting)
	p.digests = 0
}

// waitingWith is what waits of an agent with a digest, as byPendingDigest has it; known is
// false where it is to be looked up.
func (t *tx) waitingWith(agent models.AgentID, digest string) (ids []models.ResponseID, known bool, err error) {
	p := &t.s.known.pending
	of, read := p.waiting[agent]
	if !read {
		if of, err = t.readDigests(agent); err != nil {
			return nil, false, err
		}
		n := 0
		for _, calls := range of {
			n += len(calls)
		}
		if len(p.waiting) >= maxKnownConversations || p.digests+n > maxKnownDigests {
			p.forgetDigests()
		}
		p.waiting[agent] = of
		p.digests += n
	}
	if of == nil {
		return nil, false, nil
	}
	for _, call := range of[digest] {
		if !call.until.After(t.Now) {
			return nil, false, nil // unless something holds it
		}
		if ids = append(ids, call.id); len(ids) == 2 {
			break
		}
	}
	return ids, true, nil
}

// readDigests reads what waits of an agent; nil: it is much.
func (t *tx) readDigests(agent models.AgentID) (digests, error) {
	rows, err := t.Rows(t.s.hot.pendingDigests, agent, maxReadDigests+1)
	if err != nil {
		return nil, fmt.Errorf("read what waits: %w", err)
	}
	defer rows.Close()
	out, n := digests{}, 0
	for rows.Next() {
		var digest string
		var call waitingCall
		if err := rows.Scan(&digest, &call.id, &call.until); err != nil {
			return nil, fmt.Errorf("read what waits: %w", err)
		}
		out[digest] = append(out[digest], call)
		n++
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read what waits: %w", err)
	}
	if n > maxReadDigests {
		return nil, nil
	}
	return out, nil
}

// wasRouted finds to whom a request was routed, beside its owner.
func (t *tx) wasRouted(r *models.Response) ([]models.UserID, error) {
	if _, alone := t.s.known.pending.alone[r.ID]; alone && checkKnown == nil {
		return nil, nil
	} else if alone {
		routed, err := t.readRouted(r)
		checkKnown("routed to nobody else", 0, len(routed))
		return routed, err
	}
	return t.readRouted(r)
}

func (t *tx) readRouted(r *models.Response) ([]models.UserID, error) {
	rows, err := t.Rows(t.s.hot.routedTo, r.ID)
	if err != nil {
		return nil, fmt.Errorf("read reviewers: %w", err)
	}
	defer rows.Close()
	var out []models.UserID
	for rows.Next() {
		var id models.UserID
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("read reviewers: %w", err)
		}
		if id != r.OwnerID {
			out = append(out, id)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read reviewers: %w", err)
	}
	return out, nil
}

// changes hears of every statement that is about to change something.
func (p *pendingKnown) changes(h *hotWriting, stmt *db.Stmt, c db.Change, args []any) {
	switch c.Table {
	case "conversations":
		switch stmt {
		case h.takeSequence, h.nextSequence, h.nextOfRest, h.touch:
			return // take and placeAtRest follow
		}
		if c.New {
			return // nothing is known of it
		}
	case "responses":
		switch stmt {
		case nil:
		case h.addResponse, h.addWholeResponse, h.addReported, h.addWholeReported:
			return // insertResponse follows
		case h.settle, h.settleHeld, h.expire:
			return // settled follows
		case h.hold, h.complete, h.closeCall, h.contradict, h.joinReported:
			return // they leave what waits as it is
		}
	case "reviewers":
		if !dropNamed(p.alone, stmt, args) {
			clear(p.alone)
		}
		return
	case "":
	default:
		return
	}
	p.forget()
}

// dropNamed drops the requests that the arguments of a prepared statement name.
func dropNamed(from map[models.ResponseID]struct{}, stmt *db.Stmt, args []any) (dropped bool) {
	if stmt == nil {
		return false
	}
	for _, arg := range args {
		if id, ok := arg.(models.ResponseID); ok {
			delete(from, id)
			dropped = true
		}
	}
	return dropped
}
