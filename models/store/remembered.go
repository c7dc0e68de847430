package store

import (
	"fmt"
	"sync"
	"time"

	"countersign/models"
	"countersign/models/db"
)

// remembered are requests that wait for a decision, as the database has them: the agent's
// wait and the decision would else each read the row that was stored a moment ago.
//
// A row comes here after the commit of its ask and leaves with the first statement that
// may change it, whoever runs it: the writer hears of all of them (Store.changes). The
// writer may trust what is here, for the first statement of each batch tells whether
// another process has written. Others may not: what another process did in the last half
// second is not known. Who may see a row is never remembered.
type remembered struct {
	// Of the writer.
	fresh []*models.Approval       // stored in this batch, and not on the disk yet
	names map[models.UserID]string // of owners

	mu    sync.Mutex
	rows  map[models.ResponseID]*models.Approval // never changed: get copies
	order []models.ResponseID                    // as they came; some have left since
}

const (
	maxRemembered     = 1024 // rows
	maxRememberedText = 8 << 10
)

// get is a copy of a row; nil: it is not remembered.
func (m *remembered) get(id models.ResponseID) *models.Approval {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, ok := m.rows[id]
	if !ok {
		return nil
	}
	out := *a
	return &out
}

// committed takes in what the batch has stored.
func (m *remembered) committed() {
	if len(m.fresh) == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.fresh {
		if len(m.order) >= maxRemembered {
			delete(m.rows, m.order[0])
			m.order = m.order[1:]
		}
		m.rows[a.ID] = a
		m.order = append(m.order, a.ID)
	}
	clear(m.fresh)
	m.fresh = m.fresh[:0]
}

// pendingFor is a row that waits, for an agent that opened it; nil: it is to be read. It
// does for those who will be told of what they miss, and for nobody else.
func (m *remembered) pendingFor(actor models.Actor, id models.ResponseID, now time.Time) *models.Approval {
	a := m.get(id)
	if a == nil || !actor.IsAgent() || !actor.Sees(&a.Response, false) || a.PastDeadline(now) {
		return nil
	}
	return a
}

// drop forgets one row, which is about to be changed.
func (m *remembered) drop(id models.ResponseID) {
	for i, a := range m.fresh {
		if a.ID == id {
			m.fresh = append(m.fresh[:i], m.fresh[i+1:]...)
			break
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.rows, id)
}

// forget drops everything.
func (m *remembered) forget() {
	m.fresh, m.names = nil, make(map[models.UserID]string)
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.rows) > 0 || m.rows == nil {
		m.rows, m.order = make(map[models.ResponseID]*models.Approval), nil
	}
}

// approvalTables are those of which an approval has columns.
var approvalTables = map[string]bool{"responses": true, "conversations": true, "agents": true, "users": true, "votes": true, "notes": true}

// changes hears of every statement that is about to change something.
func (s *Store) changes(stmt *db.Stmt, c db.Change, args []any) {
	s.known.pending.changes(&s.hot, stmt, c, args)
	if c.Table == "" || recipientTables[c.Table] {
		s.known.recipients = nil
	}
	if c.Table == "" || substitutionTables[c.Table] {
		s.known.substitutions = nil
		s.nobodyActs.Store(false)
	}
	if c.New || c.Table != "" && !approvalTables[c.Table] {
		return
	}
	switch stmt {
	case nil: // not prepared: it may change any row
	case s.hot.takeSequence, s.hot.nextSequence, s.hot.nextOfRest, s.hot.touch:
		return // an approval has none of their columns
	default:
		if s.remembered.dropAny(args) {
			return
		}
	}
	s.remembered.forget()
}

// dropAny drops the row that a prepared statement changes. It is the one that its
// arguments name.
func (m *remembered) dropAny(args []any) (dropped bool) {
	for _, arg := range args {
		if id, ok := arg.(models.ResponseID); ok {
			m.drop(id)
			dropped = true
		}
	}
	return dropped
}

// remember keeps a request, if somebody will decide it, as it was stored just now: what
// changes the row afterwards, in the same share too, drops it.
func (t *tx) remember(a *models.Approval) error {
	if a.Status() != models.StatusPending || len(a.ToolInputJSON)+len(a.Context)+len(a.Preview)+len(a.Description)+len(a.Options)+len(a.ClientDataJSON) > maxRememberedText {
		return nil
	}
	m := &t.s.remembered
	name, known := m.names[a.OwnerID]
	if !known {
		if err := t.Row(t.s.hot.nameOfUser, a.OwnerID).Scan(&name); err != nil {
			return fmt.Errorf("read the owner's name: %w", err)
		}
		if len(m.names) >= maxRemembered {
			clear(m.names)
		}
		m.names[a.OwnerID] = name
	}
	kept := *a
	kept.OwnerName = name
	m.fresh = append(m.fresh, &kept)
	return nil
}

// checkRemembered is set by tests: each row is read too then, and compared.
var checkRemembered func(remembered, read *models.Approval)
