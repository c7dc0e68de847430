package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
)

// writer is the one connection that writes, with its prepared statements. Only
// the leader of a batch uses it. It is pinned: statements that belong to one
// connection cost half of what database/sql takes to find them on it again.
type writer struct {
	conn                    *sql.Conn
	begin, commit, rollback *Stmt
	version, schema         *Stmt
	lock, mark, find        *Stmt // of PostgreSQL
	all                     []*Stmt
	byText                  map[string]*Stmt // what Tx.Prepared has prepared
	dataVersion             int64            // of the last batch; it moves when another process writes
	otherSchema             error            // a fault, if another program has migrated
	log                     fileID
	args                    []any // room for the arguments of an INSERT

	changes []func(table string)
}

func (d *DB) openWriter(ctx context.Context) (_ *writer, err error) {
	w := &writer{byText: make(map[string]*Stmt)}
	d.forget()
	if d.loss.reopens {
		d.outside.Store(true) // others may have written meanwhile
	}
	d.loss.reopens = true
	if w.conn, err = d.w.Conn(ctx); err != nil {
		return nil, fmt.Errorf("open writing connection: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	texts := d.engine.prepare(w)
	texts[&w.schema] = schemaVersion
	for _, room := range d.rooms {
		maps.Copy(texts, room.Statements)
		if room.Changes != nil {
			w.changes = append(w.changes, room.Changes)
		}
	}
	var errs []error
	for place, text := range texts {
		if *place, err = w.prepare(ctx, text); err != nil {
			errs = append(errs, fmt.Errorf("%s\n    %w", text, err))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	d.listen()
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
		errs = append(errs, stmt.Close())
	}
	if err := errors.Join(append(errs, w.conn.Close())...); err != nil {
		return fmt.Errorf("close writing connection: %w", err)
	}
	return nil
}

// discard closes the connection itself, so that the next batch opens another.
func (w *writer) discard() error {
	for _, stmt := range w.all {
		_ = stmt.Close() // the connection may be beyond that, and goes anyway
	}
	bad := w.conn.Raw(func(any) error { return driver.ErrBadConn })
	if !errors.Is(bad, driver.ErrBadConn) {
		return bad
	}
	return nil
}

// Stmt is a statement that is prepared on the writing connection.
type Stmt struct {
	*sql.Stmt

	table string // that it changes; empty: none, or it can't be told
}

func (w *writer) prepare(ctx context.Context, text string) (*Stmt, error) {
	stmt, err := w.conn.PrepareContext(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("prepare %.40q: %w", text, err)
	}
	s := &Stmt{stmt, tableOf(text)}
	w.all = append(w.all, s)
	return s, nil
}

// Prepared is a statement that is prepared at its first use and kept as long as the connection: for a room
// that registers none. There must be few texts: values are arguments.
func (c *conn) Prepared(text string) (*Stmt, error) {
	if s, ok := c.w.byText[text]; ok {
		return s, nil
	}
	s, err := c.w.prepare(context.Background(), text)
	if err != nil {
		return nil, err
	}
	c.w.byText[text] = s
	return s, nil
}

// Run runs a statement of a room's BeforeCommit, of which the rooms hear nothing.
func (s *Stmt) Run(args ...any) error {
	_, err := s.ExecContext(context.Background(), args...)
	return err
}

// number is the one number that a PRAGMA tells.
func (s *Stmt) number() (n int64, err error) {
	err = s.QueryRowContext(context.Background()).Scan(&n)
	return n, err
}

// changed finds the table in a statement of ours, or of GORM's.
var changeOf = regexp.MustCompile("^(?:INSERT (?:OR IGNORE )?INTO|UPDATE(?: OR IGNORE)?|DELETE FROM) [`\"]?(\\w+)")

// tableOf is the table that a statement changes; empty: it may be any.
func tableOf(text string) string {
	if found := changeOf.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}

// conn is the writing connection as one caller of a batch sees it. It notes
// whether the caller has changed anything, for only then must a failure undo
// the neighbours too. It serves prepared statements and, as a ConnPool, GORM.
type conn struct {
	w     *writer
	wrote bool
}

func (c *conn) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	c.changing("") // what it will be used for cannot be seen here
	return c.w.conn.PrepareContext(ctx, query)
}

func (c *conn) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	c.changing(tableOf(query))
	return c.w.conn.ExecContext(ctx, query, args...)
}

func (c *conn) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	c.noteQuery(query)
	return c.w.conn.QueryContext(ctx, query, args...)
}

func (c *conn) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	c.noteQuery(query)
	return c.w.conn.QueryRowContext(ctx, query, args...)
}

// noteQuery: INSERT … RETURNING comes as a query too.
func (c *conn) noteQuery(query string) {
	if !strings.HasPrefix(query, "SELECT") {
		c.changing(tableOf(query))
	}
}

// changing notes that a statement is about to change a table, and tells the rooms.
func (c *conn) changing(table string) {
	c.wrote = true
	for _, tell := range c.w.changes {
		tell(table)
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

func (c *conn) exec(stmt *Stmt, args []any) (sql.Result, error) {
	c.changing(stmt.table)
	return stmt.ExecContext(context.Background(), args...)
}

// Row runs a prepared SELECT for one row.
func (c *conn) Row(stmt *Stmt, args ...any) *sql.Row {
	return stmt.QueryRowContext(context.Background(), args...)
}

// Rows runs a prepared SELECT for many rows.
func (c *conn) Rows(stmt *Stmt, args ...any) (*sql.Rows, error) {
	return stmt.QueryContext(context.Background(), args...)
}

// ChangeRow runs a prepared INSERT, UPDATE or DELETE … RETURNING one row.
func (c *conn) ChangeRow(stmt *Stmt, args ...any) *sql.Row {
	c.changing(stmt.table)
	return c.Row(stmt, args...)
}

// ChangeRows is ChangeRow for many rows.
func (c *conn) ChangeRows(stmt *Stmt, args ...any) (*sql.Rows, error) {
	c.changing(stmt.table)
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
