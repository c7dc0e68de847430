package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/db/postgres"
)

// Held is a database that no other process has open, or can open until Close: for a move. It has one connection,
// on which a file's references are not checked.
type Held struct {
	Pool *sql.DB

	url string // of PostgreSQL; empty: it is a file
}

// holdPatience is how long a process that ends may take to let a database go.
const holdPatience = 3 * time.Second

// Hold opens a database as it is; ErrInUse if another process has it open. A file that is only read is taken as one
// that does not change.
func Hold(ctx context.Context, path, url string, readOnly bool) (*Held, error) {
	patience, stop := context.WithTimeout(ctx, holdPatience)
	defer stop()
	for {
		pool, err := openHeld(ctx, path, url, readOnly)
		if err == nil {
			return &Held{pool, url}, nil
		}
		if !errors.Is(err, ErrInUse) {
			return nil, err
		}
		select {
		case <-patience.Done():
			return nil, err
		case <-time.After(lossPause):
		}
	}
}

func openHeld(ctx context.Context, path, url string, readOnly bool) (*sql.DB, error) {
	switch {
	case url != "":
		return postgres.OpenAlone(ctx, url, ofCatalog)
	case readOnly:
		return OpenInspected(ctx, path, "mode=ro&immutable=1")
	}
	if err := TempIn(ctx, filepath.Dir(path)); err != nil {
		return nil, err
	}
	pool, err := sql.Open("sqlite3", fileURI(path, "mode=rw&_locking_mode=EXCLUSIVE&_synchronous=FULL&_foreign_keys=off&_cache_size=-128000&_busy_timeout=100"))
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	pool.SetMaxOpenConns(1) // which keeps the lock
	if _, err = pool.ExecContext(ctx, `BEGIN EXCLUSIVE; COMMIT`); err == nil {
		return pool, nil
	}
	if isBusy(err) {
		err = ErrInUse
	}
	return nil, errors.Join(fmt.Errorf("open database: %w", err), pool.Close())
}

// Close lets the database go: others can open it when it returns.
func (h *Held) Close() error {
	var err error
	if h.url != "" {
		_, err = h.Pool.ExecContext(context.Background(), `SELECT pg_advisory_unlock_all()`)
	}
	return errors.Join(err, h.Pool.Close())
}

// Migrated is the schema that the migrations make there.
func (h *Held) Migrated(ctx context.Context) (map[string]Statement, error) {
	return MigratedAt(ctx, h.url)
}

// Fill stores rows of a table: all of them, or none.
func (h *Held) Fill(ctx context.Context, table string, columns []string, rows [][]any) error {
	if h.url != "" {
		conn, err := h.Pool.Conn(ctx)
		if err != nil {
			return err
		}
		defer conn.Close()
		return postgres.Copy(ctx, conn, table, columns, rows)
	}
	tx, err := h.Pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	stmt, err := tx.PrepareContext(ctx, `INSERT INTO "`+table+`" ("`+strings.Join(columns, `", "`)+`") VALUES (?`+strings.Repeat(", ?", len(columns)-1)+`)`) //nolint:gosec // names of the schema
	if err != nil {
		return err
	}
	defer stmt.Close()
	for _, row := range rows {
		if _, err := stmt.ExecContext(ctx, row...); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// Loosen takes away, in a transaction, what rows are better stored without: indexes and references. Fasten puts them back.
func (*Held) Loosen(ctx context.Context, tx *sql.Tx) error { return runEach(ctx, tx, looseQuery) }

// runEach runs the statements that a query gives.
func runEach(ctx context.Context, tx *sql.Tx, query string) error {
	statements, err := Strings(ctx, tx, query)
	if err != nil {
		return err
	}
	for _, text := range statements {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// Fasten makes each index and reference that the migrations make and that is missing, and has rows that come later
// numbered after those that are there.
func (h *Held) Fasten(ctx context.Context) error {
	want, err := h.Migrated(ctx)
	if err != nil {
		return err
	}
	tx, err := h.Pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	have, err := Schema(ctx, tx)
	if err != nil {
		return err
	}
	for _, kind := range [...]string{"index ", "constraint "} { // references need indexes
		for _, what := range slices.Sorted(maps.Keys(want)) {
			name, ok := strings.CutPrefix(what, kind)
			if _, there := have[what]; !ok || there {
				continue
			}
			text := string(want[what])
			if table, constraint, ok := strings.Cut(name, "."); ok {
				text = `ALTER TABLE "` + table + `" ADD CONSTRAINT "` + constraint + `" ` + text
			}
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return fmt.Errorf("make %s: %w", what, err)
			}
		}
	}
	if err := runEach(ctx, tx, numberQuery); err != nil {
		return err
	}
	return tx.Commit()
}

var moveRow = RowOf(&models.Move{})

// MoveOf is the mark that a move has left in a database; nil: there is none.
func MoveOf(ctx context.Context, from Querier) (move *models.Move, err error) {
	err = EachRow(ctx, from, `SELECT `+moveRow.Columns("", nil)+` FROM moves`, nil, func(row Scanner) error {
		read, err := ReaderOf[models.Move](moveRow).Read(row)
		move = &read
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read whether the installation was moved: %w", err)
	}
	return move, nil
}

// MarkMove leaves the mark of a move, in place of any other.
func MarkMove(ctx context.Context, tx *sql.Tx, m models.Move) error {
	if _, err := tx.ExecContext(ctx, `INSERT INTO moves (id, gone, place, head, at) VALUES (1, ?, ?, ?, ?)`+OrReplace(`id`, `gone`, `place`, `head`, `at`), m.Gone, m.Place, m.Head, m.At); err != nil { //nolint:gosec // columns of ours
		return fmt.Errorf("mark the move: %w", err)
	}
	return nil
}

// Location says where a database is: its folder, or the server and the name there.
func Location(dir, url string) (string, error) {
	if url != "" {
		return postgres.Location(url)
	}
	full, err := filepath.Abs(dir)
	return "the data folder " + full, err
}

// Blank reports whether a database is to be made first. It is an error if there are tables, and none of ours.
func Blank(ctx context.Context, url string) (_ bool, err error) {
	pool, err := OpenPostgres(ctx, url, true)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	columns, err := Columns(ctx, pool)
	if err != nil || columns["goose_db_version"] != nil {
		return false, err
	}
	schema, err := Schema(ctx, pool)
	if len(schema) > 0 {
		return false, errors.New("it has tables that are not Countersign's: name an empty database")
	}
	return err == nil, err
}
