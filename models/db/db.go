package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/events"
)

// Options are what a DB is opened with.
type Options struct {
	Dir     string           // the data folder; made with mode 0700 if missing
	URL     string           // of a PostgreSQL database; empty: SQLite, in the data folder
	Now     func() time.Time // the clock; nil: the database's, or this machine's where it has none
	Log     *slog.Logger     // slog.Default if nil
	Version string           // of this program, for those that meet its schema

	// Machine is this machine's clock, time.Now if nil; tests have one that is wrong.
	Machine func() time.Time

	// Patience is how long callers wait for a database that has gone; 0: ten seconds.
	Patience time.Duration
	// DespiteMove opens a database also where a move has left its mark.
	DespiteMove bool
	// Listen has the rooms and the bus hear what other processes commit, as they do. On SQLite nothing tells:
	// CheckOutside finds it out.
	Listen bool
	// Observe hears of every commit that wrote: how many callers shared it and
	// how long it took. It must be quick and must not call the database.
	Observe func(callers int, took time.Duration)
	// BeforeCommit is called before each COMMIT; tests hold the commit back with it to see that no caller gets an
	// answer early.
	BeforeCommit func()
	// BeforeRead is called before each statement of a Snapshot; tests write between two
	// of them with it.
	BeforeRead func(text string)
}

// DB is the open database. All methods are safe for concurrent use.
type DB struct {
	opts Options
	path string
	log  *slog.Logger

	w, r   *sql.DB  // the pool of the one writing connection, and the read pool
	gw, gr *gorm.DB // the same two through GORM
	rooms  []Room
	engine engine
	writer *writer // used by the leader of a batch only
	loss   loss    // as writer
	heard  heard
	lag    atomic.Int64 // nanoseconds

	listener listener
	reads    statementCache

	queue   queue
	clock   clock
	under   currentTx
	disk    disk
	faults  faults
	holder  holder
	schema  int64 // that this program writes
	bus     *events.Bus
	outside atomic.Bool // another process wrote, and not all were told yet

	closeOnce sync.Once
}

// Room is what a room of the data layer has the kernel do for it. Each part may be
// nil. All but Outside run on behalf of the one writer, never two at a time: what they
// share needs no lock.
type Room struct {
	// Statements are prepared on the writing connection, each into its place, again
	// whenever that connection is opened.
	Statements map[**Stmt]string
	// Forget drops what the room remembers from one batch to the next: it may be wrong,
	// because another process has written or a batch was rolled back.
	Forget func()
	// Changes hears of each statement that is about to change something, from any caller: which table; empty: it may be
	// any.
	Changes func(table string)
	// BeforeCommit is the last step of each batch.
	BeforeCommit func() error
	// OnCommit hears that a batch is on the disk, before any of its callers and before the
	// next batch begins.
	OnCommit func()
	// Heard hears what a batch of another process has changed, by the topics that it published.
	Heard func(topics []events.Topic)
	// Outside hears that another process has written, once for any number of commits.
	Outside func()
}

// Open makes or opens the database in the data folder and brings its schema up to
// date. The server and the command line open it alike and may do so side by side.
func Open(ctx context.Context, opts Options) (*DB, error) {
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	path, err := prepareDir(opts.Dir, opts.URL == "")
	if err != nil {
		return nil, err
	}
	d := &DB{opts: opts, log: opts.Log, path: path, bus: events.NewBus(), engine: engineOf(opts, path)}
	d.clock.now, d.clock.fixed = opts.Now, opts.Now != nil
	if !d.clock.fixed {
		d.clock.now = opts.Machine
	}
	if d.clock.now == nil {
		d.clock.now = time.Now //nolint:forbidigo // the one place that reads the clock, and the default only
	}
	d.disk.path = filepath.Join(opts.Dir, models.ReserveFile)
	if err := d.open(ctx); err != nil {
		return nil, errors.Join(err, d.closeAll())
	}
	return d, nil
}

func (d *DB) open(ctx context.Context) error {
	var err error
	if d.w, d.r, err = d.engine.open(ctx, d); err != nil {
		return err
	}
	d.w.SetMaxOpenConns(1)
	d.w.SetMaxIdleConns(1)
	d.r.SetMaxOpenConns(readers)
	d.r.SetMaxIdleConns(readers)
	if d.gw, err = openGORM(d.engine.gorm(d.w), d.log); err != nil {
		return err
	}
	if d.gr, err = openGORM(d.engine.gorm(d.r), d.log); err != nil || d.opts.DespiteMove {
		return err
	}
	move, err := MoveOf(ctx, d.r)
	if err == nil && move != nil {
		err = move.Refusal()
	}
	return err
}

// Register adds a room. It must come before the first write, for which the statements
// are prepared.
func (d *DB) Register(r Room) {
	if d.writer != nil {
		panic("db: a room was registered after the first write")
	}
	if r.Forget != nil {
		r.Forget()
	}
	d.rooms = append(d.rooms, r)
}

// Close waits for writes that have begun, refuses new ones and closes the database; a
// clean stop leaves one file. Closing twice is harmless.
func (d *DB) Close() error {
	var err error
	d.closeOnce.Do(func() {
		d.queue.close()
		d.listener.end()
		err = d.closeAll()
	})
	return err
}

func (d *DB) closeAll() error {
	var errs []error
	errs = append(errs, d.reads.close(), d.writer.close(), d.holder.close())
	if d.writer != nil {
		errs = append(errs, d.engine.leave(d))
	}
	// Readers first: the last connection to close folds the log into the file,
	// and only one that may write can do so.
	for _, pool := range []*sql.DB{d.r, d.w} {
		if pool != nil {
			errs = append(errs, pool.Close())
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close database: %w", err)
	}
	return nil
}

// Shared reports whether processes on other machines may be on the database too.
func (d *DB) Shared() bool { return d.opts.URL != "" }

// Path is the database file.
func (d *DB) Path() string { return d.path }

// Log is where the data layer logs.
func (d *DB) Log() *slog.Logger { return d.log }

// Bus is where changes are announced after they were committed.
func (d *DB) Bus() *events.Bus { return d.bus }

// Reads is the pool of connections that read.
func (d *DB) Reads() *sql.DB { return d.r }

// TimeFormat is how times are written where text holds them: fixed width,
// microseconds, UTC.
const TimeFormat = "2006-01-02T15:04:05.000000Z"

// FileFormat is how the file writes a time.
const FileFormat = "2006-01-02 15:04:05.999999999-07:00"

// StoredTime is a place for a time that an aggregate gives, which has no type by which SQLite's driver would read it;
// zero: NULL.
type StoredTime struct{ time.Time }

// Scan reads a time as one of the drivers gives it.
func (s *StoredTime) Scan(value any) error {
	switch v := value.(type) {
	case nil:
		s.Time = time.Time{}
	case time.Time:
		s.Time = v.UTC()
	case string:
		at, err := time.Parse(FileFormat, v)
		if err != nil {
			return fmt.Errorf("read a stored time: %w", err)
		}
		s.Time = at.UTC()
	default:
		return fmt.Errorf("read a stored time: it is a %T", value)
	}
	return nil
}
