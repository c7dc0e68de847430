package store

import (
	"context"
	"database/sql"
	"strings"
)

// conn is the connection of one caller within a shared transaction. It notes
// whether the caller has changed anything, for only then must a failure undo
// the neighbours too. It serves prepared statements and, as a ConnPool, GORM.
type conn struct {
	tx    *sql.Tx
	wrote bool
}

func (c *conn) PrepareContext(ctx context.Context, query string) (*sql.Stmt, error) {
	c.wrote = true                         // what it will be used for cannot be seen here
	return c.tx.PrepareContext(ctx, query) //nolint:wrapcheck // a pass-through
}

func (c *conn) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	c.wrote = true
	return c.tx.ExecContext(ctx, query, args...) //nolint:wrapcheck // a pass-through
}

func (c *conn) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	c.noteQuery(query)
	return c.tx.QueryContext(ctx, query, args...) //nolint:wrapcheck // a pass-through
}

func (c *conn) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	c.noteQuery(query)
	return c.tx.QueryRowContext(ctx, query, args...)
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
	res, err := c.tx.StmtContext(context.Background(), stmt).ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err //nolint:wrapcheck // the caller says what it tried
	}
	return res.RowsAffected() //nolint:wrapcheck // never fails with this driver
}

// row runs a prepared SELECT for one row.
func (c *conn) row(stmt *sql.Stmt, args ...any) *sql.Row {
	return c.tx.StmtContext(context.Background(), stmt).QueryRowContext(context.Background(), args...)
}

// change runs a prepared INSERT, UPDATE or DELETE … RETURNING.
func (c *conn) change(stmt *sql.Stmt, args ...any) (*sql.Rows, error) {
	c.wrote = true
	return c.tx.StmtContext(context.Background(), stmt).QueryContext(context.Background(), args...) //nolint:wrapcheck // the caller says what it tried
}

// changeRow is change for exactly one returned row.
func (c *conn) changeRow(stmt *sql.Stmt, args ...any) *sql.Row {
	c.wrote = true
	return c.row(stmt, args...)
}

// rows runs a prepared SELECT for many rows.
func (c *conn) rows(stmt *sql.Stmt, args ...any) (*sql.Rows, error) {
	return c.tx.StmtContext(context.Background(), stmt).QueryContext(context.Background(), args...) //nolint:wrapcheck // the caller says what it tried
}
