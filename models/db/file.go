package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"countersign/models/db/postgres"
)

// CopyInto copies a database within one read transaction, so that writers go on meanwhile. Deleted rows are not copied.
func CopyInto(ctx context.Context, source, target string) (err error) {
	if err := TempIn(ctx, filepath.Dir(source)); err != nil {
		return err
	}
	pool, err := OpenFile(DSN(source, nil))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	to, err := Unfinished(ctx, pool)
	if err != nil {
		return err
	}
	if to != 0 {
		return fmt.Errorf("the database is in the middle of its migrations to schema %d: start the server, "+
			"which ends them or logs what stops them", to)
	}
	_, err = pool.ExecContext(ctx, `VACUUM INTO ?`, target)
	return err
}

// OpenAlone opens a file that no other process uses, without leaving anything beside it.
func OpenAlone(file string) (*sql.DB, error) {
	return sql.Open("sqlite3", fileURI(file, "mode=ro&immutable=1&_query_only=on"))
}

// OpenInspected opens a file as it is, whatever its schema, in one of SQLite's modes.
func OpenInspected(ctx context.Context, path, mode string) (*sql.DB, error) {
	if err := TempIn(ctx, filepath.Dir(path)); err != nil {
		return nil, err
	}
	pool, err := sql.Open("sqlite3", fileURI(path, mode+"&_txlock=immediate&_foreign_keys=on&_busy_timeout="+BusyTimeout))
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	var tables int
	if err := pool.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master`).Scan(&tables); err != nil {
		return nil, errors.Join(fmt.Errorf("open database: %w", err), pool.Close())
	}
	return pool, nil
}

// SoundPages has SQLite read every page and follow every reference.
func SoundPages(ctx context.Context, pool *sql.DB) error {
	faults, err := Strings(ctx, pool, `PRAGMA integrity_check(5)`)
	if err != nil {
		return fmt.Errorf("check the database: %w", err)
	}
	if len(faults) != 1 || faults[0] != "ok" {
		return fmt.Errorf("the database is damaged: %s", strings.Join(faults, "; "))
	}
	faults, err = Strings(ctx, pool, `SELECT "table" || ' -> ' || parent FROM pragma_foreign_key_check LIMIT 5`)
	if err != nil {
		return fmt.Errorf("check the references: %w", err)
	}
	if len(faults) > 0 {
		return fmt.Errorf("rows refer to others that do not exist: %s", strings.Join(faults, "; "))
	}
	return nil
}

// Strings are the values of a query of one column.
func Strings(ctx context.Context, pool Querier, query string) ([]string, error) {
	rows, err := pool.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// FreeBytes is how much of the file is empty: Vacuum gives it back.
func FreeBytes(ctx context.Context, from RowQuerier) (int64, error) {
	var free, size int64
	err := from.QueryRowContext(ctx, freeQuery).Scan(&free, &size)
	if err != nil {
		return 0, fmt.Errorf("read free pages: %w", err)
	}
	return free * size, nil
}

// fileURI is a file as SQLite opens it with parameters.
func fileURI(file, parameters string) string {
	return "file:" + (&url.URL{Path: file}).EscapedPath() + "?" + parameters
}

// SQLite's locks on a database file: each process that has it open holds some of the shared bytes.
const (
	sharedFirst = 0x40000002
	sharedSize  = 510
)

// ErrInUse is that another process has the database open.
var ErrInUse = postgres.ErrHeld

// LockFile keeps other processes off a database file until it is closed; nil
// where there is none, or an empty one. It asks the operating system and not SQLite,
// for the file may be damaged: that is when backups are needed.
func LockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the existing database: %w", err)
	}
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: sharedFirst, Len: sharedSize}
	if err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &lock); err != nil {
		return nil, errors.Join(ErrInUse, f.Close())
	}
	if info, err := f.Stat(); err != nil || info.Size() == 0 {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// temporary is where SQLite keeps its temporary files, for the whole process: the first
// data folder that it opens.
var temporary struct {
	mu  sync.Mutex
	dir string
}

// TempIn has SQLite keep its temporary files in a data folder. Sorting for an index, a migration and VACUUM need such
// files, and a container has no other folder for them. They hold rows as the database does, so they belong where others
// can't read. A folder that can't be written stays unchanged: a reader needs no such file.
func TempIn(ctx context.Context, dir string) (err error) {
	temporary.mu.Lock()
	defer temporary.mu.Unlock()
	if temporary.dir != "" {
		return nil
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("choose a folder for temporary files: %w", err)
	}
	if err := unix.Access(dir, unix.W_OK); err != nil {
		if errors.Is(err, unix.EROFS) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("choose a folder for temporary files: %w", err)
	}
	pool, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		return fmt.Errorf("choose a folder for temporary files: %w", err)
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	quote := "'" + strings.ReplaceAll(dir, "'", "''") + "'"
	if _, err := pool.ExecContext(ctx, `PRAGMA temp_store_directory = `+quote); err != nil {
		return fmt.Errorf("choose a folder for temporary files: %w", err)
	}
	temporary.dir = dir
	return nil
}
