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
	db, err := openAlone(file)
	if err != nil {
		return Verified{}, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return verify(ctx, db)
}

func verify(ctx context.Context, db *sql.DB) (Verified, error) {
	var v Verified
	if err := soundPages(ctx, db); err != nil {
		return v, err
	}
	has, wants, err := schemaOf(ctx, db)
	if err != nil {
		return v, err
	}
	if has > wants {
		return v, fmt.Errorf("the file has schema %d, and this program knows %d: it was written by a newer one", has, wants)
	}
	v.Schema = has
	v.Head, err = chainOf(ctx, db, nil)
	return v, err
}

// soundPages has SQLite read every page and follow every reference.
func soundPages(ctx context.Context, db *sql.DB) error {
	faults, err := strs(ctx, db, `PRAGMA integrity_check(5)`)
	if err != nil {
		return fmt.Errorf("check the database: %w", err)
	}
	if len(faults) != 1 || faults[0] != "ok" {
		return fmt.Errorf("the database is damaged: %s", strings.Join(faults, "; "))
	}
	faults, err = strs(ctx, db, `SELECT "table" || ' -> ' || parent FROM pragma_foreign_key_check LIMIT 5`)
	if err != nil {
		return fmt.Errorf("check the references: %w", err)
	}
	if len(faults) > 0 {
		return fmt.Errorf("rows refer to others that are not there: %s", strings.Join(faults, "; "))
	}
	return nil
}

// schemaOf is the last migration that a database has, and the last that this
// program knows.
func schemaOf(ctx context.Context, db *sql.DB) (has, wants int64, err error) {
	if wants, err = newestMigration(); err != nil {
		return 0, 0, err
	}
	err = db.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&has)
	if err != nil {
		return 0, wants, fmt.Errorf("read the schema's version: %w", err)
	}
	return has, wants, nil
}

func strs(ctx context.Context, db *sql.DB, query string) ([]string, error) {
	rows, err := db.QueryContext(ctx, query)
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
