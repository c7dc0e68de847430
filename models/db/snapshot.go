package db

import (
	"context"
	"database/sql"
	"fmt"

	"gorm.io/gorm"
)

// BeginRead begins to read one state of a pool's database, whatever is written meanwhile; end it by Rollback. Without
// the isolation PostgreSQL shows each statement the newest state.
func BeginRead(ctx context.Context, pool *sql.DB) (*sql.Tx, error) {
	return pool.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}) //nolint:forbidigo // here it is right
}

// Snapshot runs fn with a context whose reads are all of one state: they run in one
// read transaction. They see nothing that is written meanwhile. A snapshot within
// another is that one. All that fn reads must go through Reader, Row, Prepared or Gorm
// with that context: what takes a second connection could wait for itself.
func (d *DB) Snapshot(ctx context.Context, fn func(context.Context) error) error {
	if d.snapshotOf(ctx) != nil {
		return fn(ctx)
	}
	// The driver starts a goroutine for each context that can end.
	tx, err := BeginRead(context.WithoutCancel(ctx), d.r)
	if err != nil {
		return fmt.Errorf("begin to read: %w", err)
	}
	s := &snapshot{tx: tx, before: d.opts.BeforeRead}
	defer s.end(ctx, d)
	return fn(context.WithValue(ctx, snapshotKey{d}, s))
}

// snapshotKey is the place of a database's snapshot in a context.
type snapshotKey struct{ d *DB }

func (d *DB) snapshotOf(ctx context.Context) *snapshot {
	s, _ := ctx.Value(snapshotKey{d}).(*snapshot)
	return s
}

// Reader is where reads of a context go: to its snapshot, or to the pool, where each
// is of a state of its own.
func (d *DB) Reader(ctx context.Context) Querier {
	if s := d.snapshotOf(ctx); s != nil {
		return s
	}
	return d.r
}

// Gorm is Reader through GORM.
func (d *DB) Gorm(ctx context.Context) *gorm.DB {
	s := d.snapshotOf(ctx)
	if s == nil {
		return d.gr.WithContext(ctx)
	}
	g := d.gr.Session(&gorm.Session{NewDB: true, Context: context.WithoutCancel(ctx)})
	g.Statement.ConnPool = s
	return g
}

// Row reads one row by a prepared statement of the pool, within the context's snapshot
// if it has one.
func (d *DB) Row(ctx context.Context, stmt *sql.Stmt, text string, args ...any) *sql.Row {
	s := d.snapshotOf(ctx)
	ctx = context.WithoutCancel(ctx)
	if s == nil {
		return stmt.QueryRowContext(ctx, args...)
	}
	s.tell(text)
	return s.tx.StmtContext(ctx, stmt).QueryRowContext(ctx, args...)
}

// snapshot is a read transaction.
type snapshot struct {
	tx     *sql.Tx
	before func(text string)
	wishes []string // statements that are to be prepared when it has ended
}

// prepared is a statement that ends with the snapshot. The pool would prepare it on a
// second connection, for which all snapshots could wait at once.
func (s *snapshot) prepared(ctx context.Context, d *DB, text string) (*sql.Stmt, error) {
	ctx = context.WithoutCancel(ctx)
	s.tell(text)
	if stmt := d.reads.known(text); stmt != nil {
		return s.tx.StmtContext(ctx, stmt), nil
	}
	s.wishes = append(s.wishes, text)
	stmt, err := s.tx.PrepareContext(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("prepare %.40q: %w", text, err)
	}
	return stmt, nil
}

// end gives the connection back.
func (s *snapshot) end(ctx context.Context, d *DB) {
	s.tx.Rollback()
	for _, text := range s.wishes {
		if _, err := d.reads.of(ctx, d.r, text); err != nil {
			return // the next caller that wants it gets the reason
		}
	}
}

func (s *snapshot) tell(text string) {
	if s.before != nil {
		s.before(text)
	}
}

func (s *snapshot) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s.tell(query)
	return s.tx.QueryContext(ctx, query, args...)
}

func (s *snapshot) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	s.tell(query)
	return s.tx.QueryRowContext(ctx, query, args...)
}

// PrepareContext and ExecContext are what GORM wants of a connection besides.
func (s *snapshot) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	return s.tx.PrepareContext(ctx, query)
}

func (s *snapshot) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return s.tx.ExecContext(ctx, query, args...)
}
