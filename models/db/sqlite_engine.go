package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/mattn/go-sqlite3"
	"golang.org/x/sys/unix"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"

	"countersign/models/events"
)

// sqliteEngine is SQLite, in a file.
type sqliteEngine struct {
	path string
	file fileID // of the database
}

func (e *sqliteEngine) open(ctx context.Context, d *DB) (writes, reads *sql.DB, err error) {
	if err := TempIn(ctx, filepath.Dir(e.path)); err != nil {
		return nil, nil, err
	}
	if err := migrate(ctx, e.path, d.opts.Version, &progress{log: d.log, every: rowsALine}); err != nil {
		return nil, nil, err
	}
	if e.file, err = idOf(e.path); err != nil {
		return nil, nil, fmt.Errorf("look at the database: %w", err)
	}
	if d.schema, err = newestMigration(); err != nil {
		return nil, nil, err
	}
	if writes, err = OpenFile(writeDSN(e.path)); err != nil {
		return nil, nil, err
	}
	if reads, err = OpenFile(readDSN(e.path)); err != nil {
		return nil, nil, errors.Join(err, writes.Close())
	}
	return writes, reads, nil
}

func (*sqliteEngine) gorm(pool *sql.DB) gorm.Dialector { return sqlite.New(sqlite.Config{Conn: pool}) }

func (*sqliteEngine) prepare(w *writer) map[**Stmt]string {
	return map[**Stmt]string{
		&w.begin: `BEGIN IMMEDIATE`, &w.commit: `COMMIT`, &w.rollback: `ROLLBACK`, &w.version: `PRAGMA data_version`,
	}
}

// present sees that the name of the database, and of its log, leads to the file that is open: later writes would be lost.
func (e *sqliteEngine) present(w *writer) error {
	if w == nil {
		return samePlace(e.path, e.file)
	}
	if w.log == (fileID{}) {
		var err error
		if w.log, err = idOf(e.path + "-wal"); err != nil {
			return &fault{movedText, err}
		}
	}
	return samePlace(e.path+"-wal", w.log) // it is there as long as w is open
}

// version: on the writing connection data_version changes with other processes' commits only, not with our own.
func (*sqliteEngine) version(w *writer) (number int64, at time.Time, err error) {
	number, err = w.version.number()
	return number, at, err
}

func (*sqliteEngine) mark(*writer, []events.Topic) (int64, error) { return 0, nil }

func (*sqliteEngine) listen(context.Context, *DB) {}

func (*sqliteEngine) leave(*DB) error { return nil }

// awaitOthers has nothing to wait for: one process decides.
func (*sqliteEngine) awaitOthers(context.Context, *DB) error { return nil }

func (*sqliteEngine) lost(error) bool { return false }

func (*sqliteEngine) committed(*writer, int64) (bool, error) { return false, nil }

func (*sqliteEngine) fault(err error) *fault {
	e, ok := errors.AsType[sqlite3.Error](err)
	if !ok {
		return nil
	}
	switch e.Code {
	case sqlite3.ErrIoErr, sqlite3.ErrReadonly, sqlite3.ErrCantOpen, sqlite3.ErrCorrupt, sqlite3.ErrNotADB,
		sqlite3.ErrPerm, sqlite3.ErrFull:
		return &fault{unwritableText, err}
	case sqlite3.ErrBusy, sqlite3.ErrLocked, sqlite3.ErrProtocol:
		return &fault{"Another process keeps the database from being written; ask again.", err}
	default:
		return nil
	}
}

// migratedInMemory is made once: it does not change while the program runs.
var migratedInMemory = sync.OnceValues(func() (out map[string]Statement, err error) {
	err = InMemory(context.Background(), func(pool *sql.DB) (err error) {
		out, err = Schema(context.Background(), pool)
		return err
	})
	return out, err
})

func (*sqliteEngine) migrated(context.Context) (map[string]Statement, error) {
	return migratedInMemory()
}

func (e *sqliteEngine) sizes(context.Context, *DB) (database, log, free int64, err error) {
	for end, size := range map[string]*int64{"": &database, "-wal": &log} {
		switch info, err := os.Stat(e.path + end); {
		case err == nil:
			*size = info.Size()
		case end == "" || !errors.Is(err, fs.ErrNotExist): // the log comes with the first connection that writes
			return 0, 0, 0, fmt.Errorf("look at the database: %w", err)
		}
	}
	var room unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(e.path), &room); err != nil {
		return 0, 0, 0, fmt.Errorf("look at the disk: %w", err)
	}
	return database, log, int64(room.Bavail) * int64(room.Bsize), nil //nolint:unconvert // the type differs between systems
}

func (*sqliteEngine) full(err error) bool {
	e, ok := errors.AsType[sqlite3.Error](err)
	if !ok {
		return false
	}
	return e.Code == sqlite3.ErrFull ||
		e.Code == sqlite3.ErrIoErr && (errors.Is(e.SystemErrno, syscall.ENOSPC) || errors.Is(e.SystemErrno, syscall.EDQUOT))
}
