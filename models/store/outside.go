package store

import (
	"context"
	"fmt"

	"countersign/models/events"
)

// seesOutside notes, at the begin of a batch, whether another process has
// written since the last one. On the writing connection data_version changes
// with other processes' commits only, not with our own.
func (s *Store) seesOutside(w *writer) error {
	var v int64
	if err := w.version.QueryRowContext(context.Background()).Scan(&v); err != nil {
		return fmt.Errorf("read data version: %w", err)
	}
	if v == w.known.dataVersion {
		return nil
	}
	first := w.known.dataVersion == 0
	w.known.dataVersion = v
	w.known.drop()
	if !first {
		s.outside.Store(true)
	}
	return nil
}

// CheckOutside notices what another process (the command line, a second server)
// has committed: it drops cached credentials and has waiters, streams and the
// expirer look again. The server calls it each second.
func (s *Store) CheckOutside(ctx context.Context) error {
	if err := s.writeAnyway(ctx, func(*tx) error { return nil }); err != nil {
		return err
	}
	if !s.outside.Swap(false) {
		return nil
	}
	s.access.drop()
	s.quota.forget()
	s.waiters.wakeAll()
	s.bus.Publish(events.Outside, events.Access)
	select {
	case s.deadline <- struct{}{}:
	default:
	}
	return nil
}
