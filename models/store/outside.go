package store

import (
	"context"
	"fmt"

	"countersign/models/events"
)

func (s *Store) readDataVersion(ctx context.Context) (int64, error) {
	var v int64
	// On the writing connection: there it changes with other processes' commits
	// only, not with our own.
	if err := s.w.QueryRowContext(ctx, `PRAGMA data_version`).Scan(&v); err != nil {
		return 0, fmt.Errorf("read data version: %w", err)
	}
	return v, nil
}

// CheckOutside notices what another process (the command line, a second server)
// has committed: it drops cached credentials and has waiters, streams and the
// expirer look again. The server calls it each second.
func (s *Store) CheckOutside(ctx context.Context) error {
	v, err := s.readDataVersion(ctx)
	if err != nil {
		return err
	}
	if s.dataVersion.Swap(v) == v {
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
