package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"strings"
)

// writer is the one connection that writes, with its prepared statements. Only
// the leader of a batch uses it. It is pinned: statements that belong to one
// connection cost half of what database/sql takes to find them on it again.
type writer struct {
	conn                    *sql.Conn
	begin, commit, rollback *Stmt
	version, schema         *Stmt
	all                     []*Stmt
	dataVersion             int64 // of the last batch; it moves when another process writes
	otherSchema             error // a fault, if another program has migrated
	log                     fileID
	args                    []any // room for the arguments of an INSERT

	hear []func(*Stmt, Change, []any)
}

func (d *DB) openWriter(ctx context.Context) (_ *writer, err error) {
	w := &writer{}
	d.forget()
	if w.conn, err = d.w.Conn(ctx); err != nil {
		return nil, fmt.Errorf("open writing connection: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	texts := map[**Stmt]string{
		&w.begin: `BEGIN IMMEDIATE`, &w.commit: `COMMIT`, &w.rollback: `ROLLBACK`, &w.version: `PRAGMA data_version`,
		&w.schema: schemaVersion,
	}
	for _, room := range d.rooms {
		maps.Copy(texts, room.Statements)
		if room.Changes != nil {
			w.hear = append(w.hear, room.Changes)
		}
	}
	for place, text := range texts {
		if *place, err = w.prepare(ctx, text); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// close finishes the statements, without which the file would stay open, and
// gives the connection back.
func (w *writer) close() error {
	if w == nil {
		return nil
	}
	var errs []error
	for _, stmt := range w.all {
		errs = append(errs, stmt.close())
	}
	if err := errors.Join(append(errs, w.conn.Close())...); err != nil {
		return fmt.Errorf("close writing connection: %w", err)
	}
	return nil
}

// discard closes the connection itself, so that the next batch opens another.
func (w *writer) discard() error {
	for _, stmt := range w.all {
		_ = stmt.close() // the connection may be beyond that, and goes anyway
	}
	bad := w.conn.Raw(func(any) error { return driver.ErrBadConn })
	if !errors.Is(bad, driver.ErrBadConn) {
		return bad
	}
	return nil
}

// conn is the writing connection as one caller of a batch sees it. It notes
// whether the caller has changed anything, for only then must a failure undo
// the neighbours too. It serves prepared statements and, as a ConnPool, GORM.
type conn struct {
	w     *writer
	wrote bool
}

func (c *conn) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	c.changing(nil, Change{}, nil) // what it will be used for cannot be seen here
	return c.w.conn.PrepareContext(ctx, query)
}

func (c *conn) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	c.changing(nil, changeOf(query), args)
	return c.w.conn.ExecContext(ctx, query, args...)
}

func (c *conn) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	c.noteQuery(query, args)
	return c.w.conn.QueryContext(ctx, query, args...)
}

func (c *conn) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	c.noteQuery(query, args)
	return c.w.conn.QueryRowContext(ctx, query, args...)
}

// noteQuery: INSERT … RETURNING comes as a query too.
func (c *conn) noteQuery(query string, args []any) {
	if !strings.HasPrefix(query, "SELECT") {
		c.changing(nil, changeOf(query), args)
	}
}

// changing notes that a statement is about to change something, and tells the rooms.
func (c *conn) changing(stmt *Stmt, what Change, args []any) {
	c.wrote = true
	for _, hear := range c.w.hear {
		hear(stmt, what, args)
	}
}

// Exec runs a prepared statement that changes something and says how many rows.
func (c *conn) Exec(stmt *Stmt, args ...any) (int64, error) {
	res, err := c.exec(stmt, args)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (c *conn) exec(stmt *Stmt, args []any) (driver.Result, error) {
	c.changing(stmt, stmt.change, args)
	return stmt.exec(args)
}

// Row runs a prepared SELECT for one row.
func (c *conn) Row(stmt *Stmt, args ...any) *sql.Row {
	return stmt.rows.QueryRowContext(context.Background(), args...)
}

// Rows runs a prepared SELECT for many rows.
func (c *conn) Rows(stmt *Stmt, args ...any) (*sql.Rows, error) {
	return stmt.rows.QueryContext(context.Background(), args...)
}

// ChangeRow runs a prepared INSERT, UPDATE or DELETE … RETURNING one row.
func (c *conn) ChangeRow(stmt *Stmt, args ...any) *sql.Row {
	c.changing(stmt, stmt.change, args)
	return c.Row(stmt, args...)
}

// ChangeRows is ChangeRow for many rows.
func (c *conn) ChangeRows(stmt *Stmt, args ...any) (*sql.Rows, error) {
	c.changing(stmt, stmt.change, args)
	return c.Rows(stmt, args...)
}

// forget has the rooms drop what they remember.
func (d *DB) forget() {
	for _, room := range d.rooms {
		if room.Forget != nil {
			room.Forget()
		}
	}
}
