package upkeep

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
)

// Installation is where one is: its data folder, the address of its database if that is PostgreSQL's, and the folder of
// its key files if that is another.
type Installation struct{ Dir, URL, Keys string }

func (i Installation) file() string { return filepath.Join(i.Dir, models.DatabaseFile) }

func (i Installation) kind() string {
	if i.URL != "" {
		return "PostgreSQL"
	}
	return "SQLite"
}

// Move is a move of an installation to another database.
type Move struct {
	From, To Installation
	By       models.Actor
	Version  string // of this program
	Now      time.Time
	// Tell hears what the move does, and, while it copies, how far it is.
	Tell func(MoveState)
}

// MoveState is what a move does now.
type MoveState struct {
	Text     string
	Rows, Of int64 // that are done, of all; 0 of 0: it does not go by rows
}

// TableDigest is of a table that is the same on both sides.
type TableDigest struct {
	Name   string
	Rows   int64
	Digest string // over all values, in the order of the key
}

// MoveResult is the outcome of a move.
type MoveResult struct {
	Tables   []TableDigest
	Rows     int64
	Head     models.Head // of the ledger, before the entry that says so
	From, To string      // the two places
	Keys     []string    // key files that were copied
	ReadOnly bool        // the source can't be written: it has no mark
}

// mover is a move that goes on.
type mover struct {
	Move

	from, to           *db.Held
	fromPlace, toPlace string
	readOnly           bool         // the source
	gone, arrival      *models.Move // the marks that source and target have already
	head               models.Head
	tables             []*columnSet
	rows, of           int64
}

// localTables are those of single processes, and of the database itself: they stay.
var localTables = []string{"batches", "goose_db_version", "leases", "moves", "nodes", "presences", "schema_use"}

// begunWith are the other tables in which the migrations put rows.
var begunWith = []string{"ledger_head", "position_key", "row_checks"}

// Run moves the installation: it copies all rows, compares them, and marks the source as moved. A move that was cut off
// goes on when it is run again.
func (m Move) Run(ctx context.Context) (_ *MoveResult, err error) {
	r := &mover{Move: m}
	defer func() { err = errors.Join(err, r.close()) }()
	for _, step := range [...]func(context.Context) error{r.openSource, r.openTarget, r.verifySource, r.begin, r.copyAll} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	result, err := r.compareAll(ctx)
	if err != nil {
		return nil, err
	}
	if result.Keys, err = r.copyKeys(); err != nil {
		return nil, err
	}
	return result, r.end(ctx, result)
}

func (m *mover) close() (err error) {
	for _, end := range [...]**db.Held{&m.from, &m.to} {
		if *end != nil {
			err = errors.Join(err, (*end).Close())
			*end = nil
		}
	}
	return err
}

// hold opens one of the two databases, which must have this program's schema.
func hold(ctx context.Context, at Installation, place string, readOnly bool) (*db.Held, error) {
	held, err := db.Hold(ctx, at.file(), at.URL, readOnly)
	if errors.Is(err, db.ErrInUse) {
		return nil, inUse(place)
	}
	if err != nil {
		return nil, fmt.Errorf("%s can't be opened: %w", place, err)
	}
	has, wants, err := db.SchemaOf(ctx, held.Pool)
	if err == nil && has == wants && !readOnly {
		_, err = held.Pool.ExecContext(ctx, `UPDATE moves SET id = id WHERE gone IS NULL`) // a replica can't be marked
	}
	if err == nil && has != wants {
		err = fmt.Errorf("%s has schema %d, and this program schema %d: start the server of this version there once, then move", place, has, wants)
	}
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	return held, nil
}

// openSource keeps others off the source, which must have all that was acknowledged.
func (m *mover) openSource(ctx context.Context) (err error) {
	if m.fromPlace, err = db.Location(m.From.Dir, m.From.URL); err == nil {
		m.toPlace, err = db.Location(m.To.Dir, m.To.URL)
	}
	if err == nil && m.From.URL == "" {
		_, err = databaseIn(m.From.Dir)
	}
	if err != nil {
		return err
	}
	m.readOnly = m.From.URL == "" && isReadOnly(m.From.Dir) && logSize(m.From.file()) == 0
	if m.from, err = hold(ctx, m.From, m.fromPlace, m.readOnly); err != nil {
		return err
	}
	if m.gone, err = db.MoveOf(ctx, m.from.Pool); err != nil {
		return err
	}
	switch {
	case m.gone == nil:
		err = ledger.LostIn(ctx, m.from.Pool, m.From.file())
	case !m.gone.Gone || m.gone.Place != m.toPlace:
		err = m.gone.Refusal()
	}
	if err != nil {
		return err
	}
	if err := m.from.Pool.QueryRowContext(ctx, `SELECT seq, hash FROM ledger_head`).Scan(&m.head.Seq, &m.head.Hash); err != nil {
		return fmt.Errorf("read ledger head: %w", err)
	}
	return m.readTables(ctx)
}

func (m *mover) verifySource(ctx context.Context) error {
	_, err := m.verify(ctx, m.from, m.fromPlace)
	return err
}

// verify walks the chain of one of the two, and compares all its rows with it.
func (m *mover) verify(ctx context.Context, held *db.Held, place string) (*models.RowReport, error) {
	m.Tell(MoveState{Text: "comparing the rows of " + place + " with its ledger"})
	report, err := verifyRows(ctx, held.Pool, held.Migrated, nil)
	if err == nil && report.Found > 0 {
		err = fmt.Errorf("%s: %d rows or parts of the schema differ from its ledger, the first is: %s. `countersign audit verify --rows` names all", place, report.Found, report.Faults[0])
	}
	return report, err
}

// openTarget makes the target, or takes up this very move into it. Any other database is refused.
func (m *mover) openTarget(ctx context.Context) error {
	blank, err := m.blank(ctx)
	if err != nil {
		return fmt.Errorf("--to: %s: %w", m.toPlace, err)
	}
	if blank {
		d, err := db.Open(ctx, db.Options{Dir: m.To.Dir, URL: m.To.URL, Version: m.Version, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			return fmt.Errorf("--to: %w", err)
		}
		if err := d.Close(); err != nil {
			return err
		}
	}
	if m.to, err = hold(ctx, m.To, m.toPlace, false); err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	if m.arrival, err = db.MoveOf(ctx, m.to.Pool); err != nil {
		return err
	}
	switch {
	case m.arrival == nil && m.gone != nil:
		return m.gone.Refusal()
	case m.arrival == nil:
		return m.empty(ctx)
	case m.arrival.Gone || m.arrival.Place != m.fromPlace:
		return fmt.Errorf("--to: %s is not empty: a move between it and %s was begun; name another database or folder", m.toPlace, m.arrival.Place)
	case m.arrival.Head != m.head.String():
		return fmt.Errorf("--to: %s was started after this move began, so what is in %s is out of date: make that empty again, then run the move", m.fromPlace, m.toPlace)
	}
	m.Tell(MoveState{Text: "going on with the move that began on " + m.arrival.At.UTC().Format(time.DateTime) + "Z"})
	return nil
}

// blank reports whether there is no database yet.
func (m *mover) blank(ctx context.Context) (bool, error) {
	if m.To.URL != "" {
		return db.Blank(ctx, m.To.URL)
	}
	info, err := os.Stat(m.To.file())
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return err == nil && info.Size() == 0, err
}

// empty refuses a target that has rows, but for those that the migrations put there.
func (m *mover) empty(ctx context.Context) error {
	for _, t := range m.tables {
		rows, err := db.Exists(m.to.Pool.QueryRowContext(ctx, `SELECT 1 FROM "`+t.name+`" LIMIT 1`))
		if err != nil {
			return err
		}
		if rows && !slices.Contains(begunWith, t.name) {
			return fmt.Errorf("--to: %s is not empty, its table %s has rows: name an empty database, or a folder without one", m.toPlace, t.name)
		}
	}
	return nil
}

// begin marks the target, which no program starts from here on, and makes it ready to be filled.
func (m *mover) begin(ctx context.Context) error {
	if m.arrival != nil {
		return nil
	}
	return inTx(ctx, m.to.Pool, func(tx *sql.Tx) error {
		for _, name := range begunWith {
			if _, err := tx.ExecContext(ctx, `DELETE FROM `+name); err != nil { //nolint:gosec // a name of ours
				return err
			}
		}
		if err := m.to.Loosen(ctx, tx); err != nil {
			return err
		}
		return db.MarkMove(ctx, tx, models.Move{Place: m.fromPlace, Head: m.head.String(), At: db.Stamp(m.Now)})
	})
}

func inTx(ctx context.Context, pool *sql.DB, fn func(*sql.Tx) error) error {
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// copyKeys copies the key files into a new folder, and says which. One that is there stays.
func (m *mover) copyKeys() (names []string, err error) {
	for _, name := range [...]string{models.KeyFile, models.PushKeyFile} {
		raw, err := os.ReadFile(filepath.Join(cmp.Or(m.From.Keys, m.From.Dir), name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		f, err := os.OpenFile(filepath.Join(cmp.Or(m.To.Keys, m.To.Dir), name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		_, err = f.Write(raw)
		if err = errors.Join(err, db.OwnAsFolder(f), f.Sync(), f.Close()); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// end marks the source first, so that at no moment both can be started; then the target's ledger says who moved it.
func (m *mover) end(ctx context.Context, result *MoveResult) error {
	if result.ReadOnly = m.readOnly; !m.readOnly {
		gone := models.Move{Gone: true, Place: m.toPlace, Head: m.head.String(), At: db.Stamp(m.Now)}
		if err := inTx(ctx, m.from.Pool, func(tx *sql.Tx) error { return db.MarkMove(ctx, tx, gone) }); err != nil {
			return err
		}
	}
	if err := m.close(); err != nil {
		return err
	}
	return unmark(ctx, m.To, m.By, "ledger.moved", moveEntry{From: m.From.kind(), To: m.To.kind(), Rows: result.Rows, Tables: len(result.Tables), Head: m.head.String()})
}

// moveEntry is the data of the entry of a move.
type moveEntry struct {
	From   string `json:"from,omitzero"`
	To     string `json:"to"`
	Rows   int64  `json:"rows,omitzero"`
	Tables int    `json:"tables,omitzero"`
	Head   string `json:"head,omitzero"` // of the ledger that was moved
	Kept   string `json:"kept_head,omitzero"`
}

// unmark takes the mark of a move away, with an entry.
func unmark(ctx context.Context, at Installation, by models.Actor, action string, data moveEntry) (err error) {
	d, err := db.Open(ctx, db.Options{Dir: at.Dir, URL: at.URL, DespiteMove: true, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	l, err := ledger.New(ctx, d)
	if err != nil {
		return err
	}
	if err := d.Write(ctx, func(t *db.Tx) error {
		if err := t.Gorm().Exec(`DELETE FROM moves`).Error; err != nil {
			return err
		}
		return l.Append(t, by, action, ledger.Subject{}, data)
	}); err != nil || isReadOnly(at.Dir) {
		return err
	}
	return l.Keep(ctx)
}

// UndoMove has an installation that was moved start again where it was, and says where it had gone. Its ledger notes
// it, with the last entry that was kept in its data folder: the new place may have added some.
func UndoMove(ctx context.Context, at Installation, by models.Actor) (place string, err error) {
	here, err := db.Location(at.Dir, at.URL)
	if err == nil && at.URL == "" {
		_, err = databaseIn(at.Dir)
	}
	if err != nil {
		return "", err
	}
	held, err := hold(ctx, at, here, false)
	if err != nil {
		return "", err
	}
	mark, err := db.MoveOf(ctx, held.Pool)
	if err = errors.Join(err, held.Close()); err != nil {
		return "", err
	}
	switch {
	case mark == nil:
		return "", fmt.Errorf("%s was not moved: there is nothing to undo", here)
	case !mark.Gone:
		return "", mark.Refusal()
	}
	data := moveEntry{To: at.kind(), Head: mark.Head}
	kept, err := ledger.ReadKept(at.file())
	if err != nil {
		return "", err
	}
	if kept != nil {
		data.Kept = kept.String()
	}
	return mark.Place, unmark(ctx, at, by, "ledger.move_undone", data)
}
