package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"countersign/migrations"
	"countersign/models"
)

// readyFor is how long a success is believed: whoever asks without signing in
// must not be able to keep the disk busy.
const readyFor = time.Second

// readiness remembers the last time that all was well.
type readiness struct {
	mu sync.Mutex
	at time.Time
}

// Ready tells whether this server can do its work: the database can be written
// (an fsync included), the ledger's head read, and the schema is the one that
// this program knows. CodeUnavailable, with a text that names what is wrong and
// nothing of its cause, which is logged.
func (s *Store) Ready(ctx context.Context) error {
	s.ready.mu.Lock()
	defer s.ready.mu.Unlock()
	if s.disk.full.Load() {
		if err := s.KeepReserve(ctx); err != nil || s.disk.full.Load() {
			return models.Errorf(models.CodeUnavailable, "Not ready: disk full.")
		}
	}
	now := s.now()
	if since := now.Sub(s.ready.at); since >= 0 && since < readyFor {
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
			if s.disk.full.Load() {
				return models.Errorf(models.CodeUnavailable, "Not ready: disk full.")
			}
			s.log.WarnContext(ctx, "not ready", slog.String("error", err.Error()))
			return models.Errorf(models.CodeUnavailable, "%s", check.text)
		}
	}
	s.ready.at = now
	return nil
}

// checkWrite changes nothing, but takes it to the disk.
func (s *Store) checkWrite(ctx context.Context) error {
	return s.writeAnyway(ctx, func(t *tx) error {
		return t.gorm().Exec(`UPDATE ledger_head SET seq = seq WHERE id = 1`).Error
	})
}

func (s *Store) checkHead(ctx context.Context) error {
	_, err := s.LedgerHead(ctx)
	return err
}

func (s *Store) checkSchema(ctx context.Context) error {
	have, want, err := s.Schema(ctx)
	if err == nil && have != want {
		err = fmt.Errorf("schema version %d stands, want %d", have, want)
	}
	return err
}

// Schema is the version of the schema that stands and the one that this program
// brings: numbers of migration files.
func (s *Store) Schema(ctx context.Context) (have, want int64, err error) {
	if want, err = newestMigration(); err != nil {
		return 0, 0, err
	}
	if err := s.r.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&have); err != nil {
		return 0, want, fmt.Errorf("read schema version: %w", err)
	}
	return have, want, nil
}

// newestMigration is the number that the last migration file begins with.
func newestMigration() (int64, error) {
	names, err := fs.Glob(migrations.SQLite, "sqlite/*.sql")
	if err != nil {
		return 0, fmt.Errorf("read migrations: %w", err)
	}
	if len(names) == 0 {
		return 0, errors.New("read migrations: there are none")
	}
	number, _, _ := strings.Cut(path.Base(names[len(names)-1]), "_")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read migrations: %w", err)
	}
	return n, nil
}
