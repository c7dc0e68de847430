package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"countersign/models"
)

// writer is the one connection that writes, with its prepared statements. Only
// the leader of a batch uses it. It is pinned: statements that belong to one
// connection cost half of what database/sql takes to find them on it anew.
type writer struct {
	conn                    *sql.Conn
	hot                     hotWriting
	begin, commit, rollback *sql.Stmt
	version                 *sql.Stmt
	all                     []*sql.Stmt
	known                   known
}

// known is what the writer remembers from one batch to the next. It holds as
// long as no other process has written, which the first statement of a batch
// tells, and is dropped when this process changes it or rolls back.
type known struct {
	dataVersion int64
	head        models.Head
	headKnown   bool
	policy      int64
	enabled     map[models.UserID]bool
	active      map[models.ConversationID]time.Time // the minute that active_at has
	early       *bool                               // whether results wait for their calls; nil: not looked yet
	wanted      *bool                               // whether outside approvals wait for their calls; nil: not looked yet
	grants      *time.Time                          // when the last grant that was not revoked expires, zero: there is none; nil: not looked yet
}

func (k *known) drop() {
	*k = known{
		dataVersion: k.dataVersion, enabled: make(map[models.UserID]bool), active: make(map[models.ConversationID]time.Time),
	}
}

func openWriter(ctx context.Context, db *sql.DB) (_ *writer, err error) {
	w := &writer{}
	w.known.drop()
	if w.conn, err = db.Conn(ctx); err != nil {
		return nil, fmt.Errorf("open writing connection: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	texts := w.hot.texts()
	texts[&w.begin], texts[&w.commit], texts[&w.rollback] = `BEGIN IMMEDIATE`, `COMMIT`, `ROLLBACK`
	texts[&w.version] = `PRAGMA data_version`
	for place, text := range texts {
		if *place, err = w.conn.PrepareContext(ctx, text); err != nil { //nolint:sqlclosecheck // close does, through all
			return nil, fmt.Errorf("prepare %.40q: %w", text, err)
		}
		w.all = append(w.all, *place)
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

// conn is the writing connection as one caller of a batch sees it. It notes
// whether the caller has changed anything, for only then must a failure undo
// the neighbours too. It serves prepared statements and, as a ConnPool, GORM.
type conn struct {
	w     *writer
	wrote bool
}

func (c *conn) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	c.wrote = true // what it will be used for cannot be seen here
	return c.w.conn.PrepareContext(ctx, query)
}

func (c *conn) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	c.wrote = true
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
		c.wrote = true
	}
}

// exec runs a prepared statement that changes something and says how many rows.
func (c *conn) exec(stmt *sql.Stmt, args ...any) (int64, error) {
	c.wrote = true
	res, err := stmt.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// row runs a prepared SELECT for one row.
func (c *conn) row(stmt *sql.Stmt, args ...any) *sql.Row {
	return stmt.QueryRowContext(context.Background(), args...)
}

// rows runs a prepared SELECT for many rows.
func (c *conn) rows(stmt *sql.Stmt, args ...any) (*sql.Rows, error) {
	return stmt.QueryContext(context.Background(), args...)
}

// changeRow runs a prepared INSERT, UPDATE or DELETE … RETURNING one row.
func (c *conn) changeRow(stmt *sql.Stmt, args ...any) *sql.Row {
	c.wrote = true
	return c.row(stmt, args...)
}

// changeRows is changeRow for many rows.
func (c *conn) changeRows(stmt *sql.Stmt, args ...any) (*sql.Rows, error) {
	c.wrote = true
	return c.rows(stmt, args...)
}
