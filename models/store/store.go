// Package store keeps everything in one SQLite file through GORM. One exported
// method is one use case is one transaction; write.go is the only way to change
// anything, and what it commits is on the disk before anyone hears of it (I2).
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/policy"
)

// Options are what a Store is opened with.
type Options struct {
	Dir string           // the data folder; made with mode 0700 if missing
	Now func() time.Time // the clock; time.Now if nil
	Log *slog.Logger     // slog.Default if nil

	// See ARCHITECTURE.md, "Limits"; zero means the default, negative means off.
	AsksPerMinute   int // per token, initially 600
	PendingPerAgent int // initially 10,000
	ReportsPerHour  int // events, per token, initially 20,000
	RunsPerHour     int // per token, initially 1,000
	MessagesPerHour int // per token or person, initially 1,000

	PasswordCost PasswordCost // what hashing a password takes; zero: as advised
	// BeforeHash is called whenever a password is hashed or compared; tests
	// count and hold back with it.
	BeforeHash func()

	// Observe hears of every commit that wrote: how many callers shared it and
	// how long it took. It must be quick and must not call the store.
	Observe func(callers int, took time.Duration)
	// ObserveOutcome hears of every request that was settled, at the ask or
	// later, after the commit. It must be quick and must not call the store.
	ObserveOutcome func(models.Outcome)
	// ObserveSignInFailure hears of every sign-in that failed, and why in one word. It
	// must be quick and must not call the store.
	ObserveSignInFailure func(reason string)
	// BeforeCommit is called before each COMMIT; tests hold the commit back
	// with it to see that nobody was told early.
	BeforeCommit func()
}

// Store is the open database. All methods are safe for concurrent use.
type Store struct {
	opts Options
	now  func() time.Time
	log  *slog.Logger

	logsInfo, logsDebug bool
	path                string

	w, r   *sql.DB  // the pool of the one writing connection, and the read pool
	gw, gr *gorm.DB // the same two through GORM
	writer *writer  // used by the leader of a batch only
	hot    hotReading
	lists  listStatements

	queue   queue
	under   underway
	bus     *events.Bus
	waiters waiters
	access  accessCache
	quota   quota
	ready   readiness
	disk    disk

	passwords passwordHasher

	outside  atomic.Bool // another process wrote, and not all were told yet
	policies sync.Map    // int64 version -> *policy.Policy, compiled once

	deadline  chan struct{} // signalled when an earlier deadline was stored
	ending    chan struct{} // closed: waits return what stands
	endOnce   sync.Once
	closeOnce sync.Once
}

// Open makes or opens the database in the data folder, brings its schema up to
// date and seeds the first policy version. The server and the command line
// open it alike and may do so side by side.
func Open(ctx context.Context, opts Options) (*Store, error) {
	if opts.Now == nil {
		opts.Now = time.Now //nolint:forbidigo // the one place that reads the clock, and the default only
	}
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	path, err := prepareDir(opts.Dir)
	if err != nil {
		return nil, err
	}
	s := &Store{
		opts: opts, log: opts.Log, logsInfo: logsAt(opts.Log, slog.LevelInfo), logsDebug: logsAt(opts.Log, slog.LevelDebug), path: path,
		now:      func() time.Time { return stamp(opts.Now()) },
		bus:      events.NewBus(),
		deadline: make(chan struct{}, 1),
		ending:   make(chan struct{}),
	}
	s.disk.path = filepath.Join(opts.Dir, ReserveFile)
	s.waiters.init()
	s.access.init()
	s.passwords.init(opts)
	s.quota.init(opts)
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.closeDatabases())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	if err := migrate(ctx, s.path); err != nil {
		return err
	}
	var err error
	if s.w, err = openDatabase(writeDSN(s.path)); err != nil {
		return err
	}
	s.w.SetMaxOpenConns(1)
	s.w.SetMaxIdleConns(1)
	if s.r, err = openDatabase(readDSN(s.path)); err != nil {
		return err
	}
	s.r.SetMaxOpenConns(readers)
	s.r.SetMaxIdleConns(readers)
	if s.gw, err = openGORM(s.w, s.log); err != nil {
		return err
	}
	if s.gr, err = openGORM(s.r, s.log); err != nil {
		return err
	}
	if err := s.hot.prepare(ctx, s.r); err != nil {
		return err
	}
	return s.seedPolicy(ctx)
}

// Close waits for writes that have begun, refuses new ones, ends open waits and
// closes the database; a clean stop leaves one file. Closing twice is harmless.
func (s *Store) Close() error {
	var err error
	s.closeOnce.Do(func() {
		flushed := s.FlushLastUse(context.Background())
		s.EndWaits()
		s.queue.close()
		err = errors.Join(flushed, s.closeDatabases())
	})
	return err
}

func (s *Store) closeDatabases() error {
	var errs []error
	errs = append(errs, s.hot.close(), s.lists.close(), s.writer.close())
	// Readers first: the last connection to close folds the log into the file,
	// and only one that may write can do so.
	for _, db := range []*sql.DB{s.r, s.w} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close database: %w", err)
	}
	return nil
}

// Path is the database file.
func (s *Store) Path() string { return s.path }

// Now is the store's clock: UTC, cut to the precision that is stored.
func (s *Store) Now() time.Time { return s.now() }

// Bus is where changes are announced after they were committed.
func (s *Store) Bus() *events.Bus { return s.bus }

// stamp is the one place where times are cut to what is stored: UTC, whole
// microseconds, no monotonic part.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond).Round(0) }

// policyFor returns the compiled form of a stored version; doc is parsed once.
func (s *Store) policyFor(version int64, doc func() (string, error)) (*policy.Policy, error) {
	if p, ok := s.policies.Load(version); ok {
		return p.(*policy.Policy), nil
	}
	text, err := doc()
	if err != nil {
		return nil, err
	}
	p, err := policy.ParseStored([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("policy version %d: %w", version, err)
	}
	s.policies.Store(version, p)
	return p, nil
}

func notFound(what string) error {
	return models.Errorf(models.CodeNotFound, "No such %s.", what)
}

// prepareDir makes the data folder and the database file with narrow modes, or
// refuses a folder that others may read.
func prepareDir(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("no data folder given")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make data folder: %w", err)
	}
	return checkModes(dir)
}
