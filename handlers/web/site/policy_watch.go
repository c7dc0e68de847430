package site

import (
	"context"
	"sync"
	"sync/atomic"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/policy"
	"countersign/models/store"
)

// PolicyWatch keeps the policy's document at hand for the warnings on every
// page, and reads it again when it was changed here or by another process.
type PolicyWatch struct {
	store   *store.Store
	changes *events.Subscription
	mu      sync.Mutex
	doc     *policy.Document
	stops   []models.Stop
	closed  atomic.Bool
}

func watchPolicy(s *store.Store) *PolicyWatch {
	return &PolicyWatch{store: s, changes: s.Bus().Subscribe(1, events.Policy, events.Outside)}
}

// Document is the policy's document as it is now.
func (w *PolicyWatch) Document(ctx context.Context) (policy.Document, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.look(ctx); err != nil {
		return policy.Document{}, err
	}
	return *w.doc, nil
}

// stopped are the stops in force.
func (w *PolicyWatch) stopped(ctx context.Context) ([]models.Stop, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.look(ctx); err != nil {
		return nil, err
	}
	return w.stops, nil
}

// look reads again what may have changed.
func (w *PolicyWatch) look(ctx context.Context) error {
	if w.doc != nil && !w.changed() && !w.closed.Load() {
		return nil
	}
	w.doc = nil
	v, err := w.store.CurrentPolicy(ctx)
	if err != nil {
		return err
	}
	if w.stops, err = w.store.StopsInForce(ctx); err != nil {
		return err
	}
	doc := v.Program.Document()
	w.doc = &doc
	return nil
}

func (w *PolicyWatch) changed() bool {
	changed := false
	for {
		select {
		case <-w.changes.C:
			changed = true
		case <-w.changes.Lag:
			changed = true
		default:
			return changed
		}
	}
}

func (w *PolicyWatch) close() {
	w.closed.Store(true)
	w.changes.Close()
}
