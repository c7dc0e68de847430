package store

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"countersign/models"
	"countersign/models/db"
)

// readyFor is how long a success is believed: a caller without a sign-in must not be able to keep the disk busy.
const readyFor = time.Second

// readiness remembers the last time that all was well.
type readiness struct {
	mu sync.Mutex
	at time.Time
}

// Ready checks that a write would succeed: the last one did, or one that is tried now does (an fsync included), the
// database is the file that was opened, the ledger's head is readable, and this program knows the schema.
// CodeUnavailable, with a text that names the fault and not its cause, which is logged.
func (s *Store) Ready(ctx context.Context) error {
	s.ready.mu.Lock()
	defer s.ready.mu.Unlock()
	if s.db.Full() {
		if err := s.KeepReserve(ctx); err != nil || s.db.Full() {
			return models.Errorf(models.CodeUnavailable, "Not ready: disk full.")
		}
	}
	now := s.db.Now()
	if since := now.Sub(s.ready.at); since >= 0 && since < readyFor && s.db.Failing() == nil {
		return nil
	}
	s.ready.at = time.Time{}
	for _, check := range []struct {
		text string
		do   func(context.Context) error
	}{
		{"Not ready: the database cannot be written.", s.checkWrite},
		{"Not ready: the head of the ledger cannot be read.", s.checkHead},
		{"Not ready: the schema of the database is not this program's.", s.checkSchema},
	} {
		if err := check.do(ctx); err != nil {
			if s.db.Full() {
				return models.Errorf(models.CodeUnavailable, "Not ready: disk full.")
			}
			if fault := s.db.Failing(); fault != nil {
				return models.Errorf(models.CodeUnavailable, "Not ready: %s", fault)
			}
			s.log.WarnContext(ctx, "not ready", slog.String("error", err.Error()))
			return models.Errorf(models.CodeUnavailable, "%s", check.text)
		}
	}
	s.ready.at = now
	return nil
}

// checkWrite changes nothing in the end, but has a page written to the disk: SQLite writes
// none where a row gets the values that it has.
func (s *Store) checkWrite(ctx context.Context) error {
	return s.writeAnyway(ctx, func(t *Tx) error {
		if err := t.Gorm().Exec(`UPDATE ledger_head SET seq = seq + 1 WHERE id = 1`).Error; err != nil {
			return err
		}
		return t.Gorm().Exec(`UPDATE ledger_head SET seq = seq - 1 WHERE id = 1`).Error
	})
}

func (s *Store) checkHead(ctx context.Context) error {
	_, err := s.Ledger.Head(ctx)
	return err
}

func (s *Store) checkSchema(ctx context.Context) error {
	have, want, err := db.SchemaOf(ctx, s.db.Reads())
	if err != nil {
		return err
	}
	return db.CheckUse(ctx, s.db.Reads(), have, want)
}
