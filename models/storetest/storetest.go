// Package storetest makes fresh databases and what is in them, for tests.
package storetest

import (
	"log/slog"
	"os"
	"sync"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/people"
	"countersign/models/store"
)

// Option changes what the store is opened with.
type Option func(*store.Options)

// WithClock has the store tell the clock's time.
func WithClock(c *Clock) Option { return func(o *store.Options) { o.Now = c.Now } }

// WithDir opens the database of a folder that Dir made, to see what a restart or
// another process leaves there.
func WithDir(dir string) Option { return func(o *store.Options) { o.Dir = dir } }

// New opens a store, on a fresh database unless WithDir says otherwise, and
// closes it with the test. Hashing a password costs next to nothing.
func New(tb testing.TB, opts ...Option) *store.Store {
	tb.Helper()
	o := store.Options{
		Log:          slog.New(slog.DiscardHandler),
		PasswordCost: people.PasswordCost{MemoryKiB: 8, Passes: 1, Threads: 1},
	}
	for _, opt := range opts {
		opt(&o)
	}
	if o.Dir == "" {
		o.Dir = Dir(tb)
	}
	o.URL = dbtest.Migrate(tb, o.Dir)
	s, err := store.Open(tb.Context(), o)
	if err != nil {
		tb.Fatalf("open store: %v", err)
	}
	if o.Keys == "" && dbtest.OnPostgres() { // as the first server does
		Must(tb, Err(s.Key(tb.Context(), models.KeyFile, store.NewSealingKey)))
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Errorf("close store: %v", err)
		}
	})
	return s
}

// Migrate is dbtest.Migrate for tests of commands, which do not know the kernel.
func Migrate(tb testing.TB, dir string) {
	tb.Helper()
	_ = dbtest.Migrate(tb, dir)
}

// URL is the address of the database of a data folder; empty: it is a file there.
func URL(tb testing.TB, dir string) string {
	tb.Helper()
	return dbtest.URL(tb, dir)
}

// AtPostgres is dbtest.AtPostgres.
func AtPostgres(tb testing.TB, address string) (exec func(query string)) {
	tb.Helper()
	return dbtest.AtPostgres(tb, address)
}

// OnlySQLite leaves a test out on PostgreSQL, and says why.
func OnlySQLite(tb testing.TB, why string) {
	tb.Helper()
	dbtest.OnlySQLite(tb, why)
}

// OnPostgres is whether tests run on PostgreSQL.
func OnPostgres() bool { return dbtest.OnPostgres() }

// Before is dbtest.Before for them.
func Before(tb testing.TB, dir string) {
	tb.Helper()
	dbtest.Before(tb, dir)
}

// Dir is a fresh data folder with the mode that the store insists on.
func Dir(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a folder needs its x bit
		tb.Fatalf("make data folder: %v", err)
	}
	return dir
}

// Clock is a clock that stands still until it is moved.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock stands at noon of a day in 2026, UTC.
func NewClock() *Clock { return &Clock{now: time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)} }

// Now is the time the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Step moves the clock and returns what it shows then.
func (c *Clock) Step(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return c.now
}
