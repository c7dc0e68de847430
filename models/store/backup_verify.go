package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
)

// Verified is what a sound database file holds.
type Verified struct {
	Schema int64 // number of its last migration
	Head   models.Head
}

// VerifyFile checks a database file that no server uses, such as a backup: it
// is whole, its references hold, its ledger verifies, and this program knows its
// schema. It changes nothing.
func VerifyFile(ctx context.Context, file string) (_ Verified, err error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return Verified{}, err
	case !info.Mode().IsRegular() || info.Size() == 0:
		return Verified{}, fmt.Errorf("%s is no database file", file)
	}
	if log, err := os.Stat(file + "-wal"); err == nil && log.Size() > 0 {
		return Verified{}, fmt.Errorf("%s has a log beside it: it is in use, or was copied from under a server", file)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Verified{}, err
	}
	pool, err := openAlone(file)
	if err != nil {
		return Verified{}, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	return verify(ctx, pool)
}

func verify(ctx context.Context, pool *sql.DB) (Verified, error) {
	var v Verified
	if err := soundPages(ctx, pool); err != nil {
		return v, err
	}
	has, wants, err := db.SchemaOf(ctx, pool)
	if err != nil {
		return v, err
	}
	if has > wants {
		return v, fmt.Errorf("the file has schema %d, and this program knows %d: it was written by a newer one", has, wants)
	}
	v.Schema = has
	v.Head, err = ledger.VerifyIn(ctx, pool, nil)
	return v, err
}

// soundPages has SQLite read every page and follow every reference.
func soundPages(ctx context.Context, pool *sql.DB) error {
	faults, err := strs(ctx, pool, `PRAGMA integrity_check(5)`)
	if err != nil {
		return fmt.Errorf("check the database: %w", err)
	}
	if len(faults) != 1 || faults[0] != "ok" {
		return fmt.Errorf("the database is damaged: %s", strings.Join(faults, "; "))
	}
	faults, err = strs(ctx, pool, `SELECT "table" || ' -> ' || parent FROM pragma_foreign_key_check LIMIT 5`)
	if err != nil {
		return fmt.Errorf("check the references: %w", err)
	}
	if len(faults) > 0 {
		return fmt.Errorf("rows refer to others that are not there: %s", strings.Join(faults, "; "))
	}
	return nil
}

func strs(ctx context.Context, pool *sql.DB, query string) ([]string, error) {
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

// fileURI is a file as SQLite opens it with parameters.
func fileURI(file, parameters string) string {
	return "file:" + (&url.URL{Path: file}).EscapedPath() + "?" + parameters
}
