package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The migrations were once 46; migrations/sqlite/0001_initial.sql makes the schema that
// these made. This file, what calls it and testdata/0046.sql can go once no database of theirs
// is left, and before there is a migration of that number.
const (
	baseline     = 1
	lastOfBefore = 46
)

// ErrOlder says that a database stopped before the last of the 46 migrations.
var ErrOlder = errors.New("run `countersign migrate` of commit ad764860 on it, once, before this version: that has the migrations which this one lacks")

// fromBefore tells whether a database has the 46 migrations, of which has is the last. One that
// has only some of them is ErrOlder: what shows it is the column that the last one added.
func fromBefore(ctx context.Context, from RowQuerier, has int64) (bool, error) {
	if has < baseline || has >= lastOfBefore {
		return has == lastOfBefore, nil
	}
	var last bool
	err := from.QueryRowContext(ctx, hasLastOfBefore).Scan(&last)
	if err != nil {
		return false, fmt.Errorf("read the schema's version: %w", err)
	}
	if !last {
		return false, fmt.Errorf("the database has an older schema, %d of %d: %w", has, lastOfBefore, ErrOlder)
	}
	return false, nil
}

// takeOver marks a database that has the 46 migrations as being at the baseline, in one
// transaction, if its schema is what the baseline makes; else it says what differs and changes
// nothing. Any other database it leaves alone.
func takeOver(ctx context.Context, pool *sql.DB) error {
	dbtx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("take over the database: %w", err)
	}
	defer dbtx.Rollback()
	has, err := versionIn(ctx, dbtx)
	if err != nil || has != lastOfBefore {
		return err
	}
	have, err := Schema(ctx, dbtx)
	if err != nil {
		return err
	}
	var want map[string]Statement
	err = inMemory(ctx, baseline, func(empty *sql.DB) (err error) {
		want, err = Schema(ctx, empty)
		return err
	})
	if err != nil {
		return err
	}
	if differs := differences(have, want); len(differs) > 0 {
		return fmt.Errorf("somebody has changed the schema: %s; nothing was migrated: put the schema back as it was, or restore a backup from before that, and start again",
			strings.Join(differs, ", "))
	}
	if _, err := dbtx.ExecContext(ctx, `DELETE FROM goose_db_version WHERE version_id > ?`, baseline); err != nil {
		return fmt.Errorf("take over the database: %w", err)
	}
	// All 46 have ended, whether or not that was noted.
	if _, err := dbtx.ExecContext(ctx, `PRAGMA user_version = 0`); err != nil {
		return fmt.Errorf("take over the database: %w", err)
	}
	if err := dbtx.Commit(); err != nil {
		return fmt.Errorf("take over the database: %w", err)
	}
	return nil
}

// differences names each part in which two schemas differ.
func differences(have, want map[string]Statement) []string {
	var out []string
	for _, what := range slices.Sorted(maps.Keys(want)) {
		switch text, ok := have[what]; {
		case !ok:
			out = append(out, what+" is missing")
		case !text.Same(want[what]):
			out = append(out, what+" is changed")
		}
	}
	for _, what := range slices.Sorted(maps.Keys(have)) {
		if _, ok := want[what]; !ok {
			out = append(out, what+" was added")
		}
	}
	return out
}
