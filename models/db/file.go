package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
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
func Strings(ctx context.Context, pool *sql.DB, query string) ([]string, error) {
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
	err := from.QueryRowContext(ctx,
		`SELECT (SELECT * FROM pragma_freelist_count), (SELECT * FROM pragma_page_size)`).Scan(&free, &size)
	if err != nil {
		return 0, fmt.Errorf("read free pages: %w", err)
	}
	return free * size, nil
}

// fileURI is a file as SQLite opens it with parameters.
func fileURI(file, parameters string) string {
	return "file:" + (&url.URL{Path: file}).EscapedPath() + "?" + parameters
}
