package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Statements of the writing connection that return no rows run on the driver itself:
// database/sql looks at each argument, takes two locks and looks for the statement's
// connection, which together takes about as long as what SQLite does for a row. This may
// go past database/sql because the connection is pinned, and only the leader of a batch
// uses it. Statements that return rows, and all of GORM's, are run by database/sql on the
// same connection.

// Stmt is a statement that is prepared on the writing connection.
type Stmt struct {
	change Change
	rows   *sql.Stmt   // of a statement that returns rows
	runs   driver.Stmt // of one that returns none
	args   []driver.NamedValue
}

// prepare prepares a statement on the pinned connection.
func (w *writer) prepare(ctx context.Context, text string) (*Stmt, error) {
	s := &Stmt{change: changeOf(text)}
	w.all = append(w.all, s)
	if strings.HasPrefix(text, "SELECT") || strings.Contains(text, " RETURNING ") {
		var err error
		if s.rows, err = w.conn.PrepareContext(ctx, text); err != nil {
			return nil, fmt.Errorf("prepare %.40q: %w", text, err)
		}
		return s, nil
	}
	err := w.conn.Raw(func(c any) (err error) {
		preparer, ok := c.(driver.ConnPrepareContext)
		if !ok {
			return fmt.Errorf("a connection of type %T can't prepare", c)
		}
		s.runs, err = preparer.PrepareContext(ctx, text)
		return err //nolint:wrapcheck // below
	})
	if err != nil {
		return nil, fmt.Errorf("prepare %.40q: %w", text, err)
	}
	if _, ok := s.runs.(runner); !ok {
		return nil, fmt.Errorf("a statement of type %T can't run", s.runs)
	}
	s.args = make([]driver.NamedValue, max(0, s.runs.NumInput()))
	for i := range s.args {
		s.args[i].Ordinal = i + 1
	}
	return s, nil
}

// runner is what the driver's statements are.
type runner interface {
	driver.StmtExecContext
	driver.StmtQueryContext
}

// Run runs a statement of a room's BeforeCommit, of which the rooms hear nothing.
func (s *Stmt) Run(args ...any) error {
	_, err := s.exec(args)
	return err
}

// exec runs a statement that returns no rows.
func (s *Stmt) exec(args []any) (driver.Result, error) {
	if err := s.take(args); err != nil {
		return nil, err
	}
	res, err := s.runs.(runner).ExecContext(context.Background(), s.args) //nolint:forcetypeassert // prepare has looked
	for i := range s.args {
		s.args[i].Value = nil
	}
	return res, err //nolint:wrapcheck // as database/sql would return it
}

// take puts the arguments where the driver reads them, as database/sql would.
func (s *Stmt) take(args []any) error {
	if len(args) != len(s.args) {
		return fmt.Errorf("a statement takes %d arguments and has %d", len(s.args), len(args))
	}
	for i, arg := range args {
		v, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return fmt.Errorf("argument %d: %w", i+1, err)
		}
		s.args[i].Value = v
	}
	return nil
}

// number is the one number that a PRAGMA tells.
func (s *Stmt) number() (n int64, err error) {
	rows, err := s.runs.(runner).QueryContext(context.Background(), s.args) //nolint:forcetypeassert // prepare has looked
	if err != nil {
		return 0, err //nolint:wrapcheck // the caller says what it is
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var values [1]driver.Value
	if err := rows.Next(values[:]); err != nil && !errors.Is(err, io.EOF) {
		return 0, err //nolint:wrapcheck // as above
	}
	n, ok := values[0].(int64)
	if !ok {
		return 0, fmt.Errorf("it tells %v", values[0])
	}
	return n, nil
}

func (s *Stmt) close() error {
	switch {
	case s.rows != nil:
		return s.rows.Close() //nolint:wrapcheck // the caller says what it is
	case s.runs != nil:
		return s.runs.Close() //nolint:wrapcheck // as above
	}
	return nil
}
