package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"maps"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/proof"
)

// Ledger is the append-only, hash-chained list of what happened: the audit trail, and
// the source of every stream of events. All methods are safe for concurrent use.
type Ledger struct {
	db         *db.DB
	statements statements
	rows       *proof.Rows

	grown chan struct{}

	keepLock sync.Mutex
	kept     models.Head // in the file beside the database

	// Of the writer: what it remembers from one batch to the next.
	head      models.Head
	indexEnd  int64 // how far ledger_keys goes
	headKnown bool  // and indexed
	hasGrown  bool  // it has grown in this batch
	stored    bool  // it has, and its head is stored
	changes   changing
}

type statements struct{ head, setHead, addEntry, addReader, indexTail, setIndex *db.Stmt }

var (
	// EntryRow is the definition of an entry.
	EntryRow    = db.RowOf(&models.Entry{})
	insertEntry = db.InsertionOf(nil, EntryRow)
)

func (s *statements) texts() map[**db.Stmt]string {
	return map[**db.Stmt]string{
		&s.head:      `SELECT seq, hash, indexed FROM ledger_head WHERE id = 1`,
		&s.setHead:   `UPDATE ledger_head SET seq = ?, hash = ? WHERE id = 1`,
		&s.addEntry:  insertEntry.Full(),
		&s.addReader: `INSERT INTO ledger_readers (reader_id, seq) VALUES (?, ?)`,
		&s.indexTail: IndexTail,
		&s.setIndex:  `UPDATE ledger_head SET indexed = seq WHERE id = 1`,
	}
}

// New is the ledger of a database, with which it registers.
func New(ctx context.Context, d *db.DB) (*Ledger, error) {
	rows, err := proof.Open(ctx, d.Reads())
	if err != nil {
		return nil, err
	}
	l := &Ledger{db: d, rows: rows, grown: make(chan struct{}, 1)}
	texts := l.statements.texts()
	maps.Copy(texts, rows.Statements())
	d.Register(db.Room{
		Statements:   texts,
		Forget:       func() { l.headKnown, l.hasGrown, l.stored, l.changes = false, false, false, changing{} },
		BeforeCommit: l.storeHead,
		OnCommit:     l.tellGrown,
	})
	return l, nil
}

// Grown is signalled after a commit of this process with entries. It is for one reader, who then reads on: one signal
// covers all commits until it is taken.
func (l *Ledger) Grown() <-chan struct{} { return l.grown }

func (l *Ledger) tellGrown() {
	if !l.stored {
		return
	}
	l.stored = false
	select {
	case l.grown <- struct{}{}:
	default:
	}
}

// headNow is the head as the transaction sees it.
func (l *Ledger) headNow(t *db.Tx) (models.Head, error) {
	if !l.headKnown {
		if err := t.Row(l.statements.head).Scan(&l.head.Seq, &l.head.Hash, &l.indexEnd); err != nil {
			return models.Head{}, fmt.Errorf("read ledger head: %w", err)
		}
		l.headKnown = true
	}
	return l.head, nil
}

// HeadIn is the head within a transaction: all that it has appended is counted.
func (l *Ledger) HeadIn(t *db.Tx) (models.Head, error) { return l.headNow(t) }

// Subject is what a ledger entry is about.
type Subject struct {
	Owner        models.UserID
	Conversation models.ConversationID
	Response     models.ResponseID
	readers      []models.UserID // whom the request was routed to
}

// SubjectOf is a request as subject; readers are those to whom it was routed.
func SubjectOf(r *models.Response, readers []models.UserID) Subject {
	return Subject{Owner: r.OwnerID, Conversation: r.ConversationID, Response: r.ID, readers: readers}
}

// ofTheirOwn are the acts by which a person changes only their own account: all that an auditor may do. Whatever else one
// tries, on whatever way, comes to its entry here and is undone with it.
var ofTheirOwn = map[string]bool{
	"invite.used": true, "user.added": true, "session.opened": true, "session.closed": true, "user.password_changed": true,
	"token.added": true, "token.revoked": true,
}

// Append is the only way to write an entry. One object changed is one entry (I7); data, an
// object, holds digests and outcomes, never inputs. The entry proves the rows of which Changes
// and Adds were told since the entry before: so it comes after the changes. CodeForbidden for what an auditor may not do.
func (l *Ledger) Append(t *db.Tx, actor models.Actor, action string, about Subject, data any) error {
	if !ofTheirOwn[action] {
		if err := actor.NeedToAct(); err != nil {
			return err
		}
	}
	raw, err := json.Marshal(data, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode ledger data: %w", err)
	}
	head, err := l.headNow(t)
	if err != nil {
		return err
	}
	if l.changes.by == t || head.Seq == 0 { // the first says that all that follow prove their rows
		if raw, err = l.withProof(t, raw); err != nil {
			return err
		}
	}
	e := models.Entry{
		At: t.Now.Format(db.TimeFormat), ActorKind: actor.Kind, ActorID: actor.ID, ActorName: actor.Name, Action: action,
		OwnerID: about.Owner, ConversationID: about.Conversation, ResponseID: about.Response, Data: string(raw),
	}
	next := models.Seal(head, &e)
	if e.Prev == nil {
		e.Prev = []byte{}
	}
	if _, err := t.Insert(insertEntry, l.statements.addEntry, l.statements.addEntry, &e); err != nil {
		return fmt.Errorf("append to ledger: %w", err)
	}
	l.head, l.hasGrown = next, true
	for _, reader := range about.readers {
		if _, err := t.Exec(l.statements.addReader, reader, e.Seq); err != nil {
			return fmt.Errorf("store reader of an entry: %w", err)
		}
	}
	return nil
}

// storeHead keeps the head that a batch has moved, and the keys of its entries when there
// are many without: the last step before its commit.
func (l *Ledger) storeHead() error {
	if !l.hasGrown {
		return nil
	}
	l.hasGrown, l.stored = false, true
	if err := l.statements.setHead.Run(l.head.Seq, l.head.Hash); err != nil {
		return fmt.Errorf("store ledger head: %w", err)
	}
	return l.storeKeys()
}

// Head is the recorded head: the number and hash to keep elsewhere.
func (l *Ledger) Head(ctx context.Context) (models.Head, error) {
	var h models.Head
	if err := l.db.Reads().QueryRowContext(ctx, `SELECT seq, hash FROM ledger_head WHERE id = 1`).Scan(&h.Seq,
		&h.Hash); err != nil {
		return h, fmt.Errorf("read ledger head: %w", err)
	}
	return h, nil
}

const newestQuery = `SELECT coalesce(max(at), '') FROM ledger`

// Newest is the largest time of an entry, which is not that of the last one where a clock was set
// back; zero: there is none.
func (l *Ledger) Newest(ctx context.Context) (time.Time, error) { return NewestIn(ctx, l.db.Reads()) }

// NewestIn is Newest of a database that is open by other means.
func NewestIn(ctx context.Context, pool *sql.DB) (time.Time, error) {
	e := models.Entry{}
	if err := pool.QueryRowContext(ctx, newestQuery).Scan(&e.At); err != nil {
		return time.Time{}, fmt.Errorf("read the newest time of the ledger: %w", err)
	}
	return TimeOf(e), nil
}

// Verify walks the whole chain in one snapshot and compares its end with
// the recorded head and, where one is given, with a head that was kept outside.
// A broken chain is a *models.ChainError; any other error means that it could
// not be checked.
func (l *Ledger) Verify(ctx context.Context, kept *models.Head) (models.Head, error) {
	return VerifyIn(ctx, l.db.Reads(), kept)
}

// VerifyIn is Verify of a database that is open by other means.
func VerifyIn(ctx context.Context, pool *sql.DB, kept *models.Head) (models.Head, error) {
	return walkChain(ctx, pool, kept, func(int64, int64) {})
}

// progressEvery is after how many entries a walk reports its progress.
const progressEvery = 4096

func walkChain(
	ctx context.Context, pool *sql.DB, kept *models.Head, progress func(read, of int64),
) (models.Head, error) {
	dbtx, err := db.BeginRead(ctx, pool)
	if err != nil {
		return models.Head{}, fmt.Errorf("read ledger: %w", err)
	}
	defer dbtx.Rollback()
	var head models.Head
	if err := dbtx.QueryRowContext(ctx, `SELECT seq, hash FROM ledger_head WHERE id = 1`).Scan(&head.Seq,
		&head.Hash); err != nil {
		return models.Head{}, fmt.Errorf("read ledger head: %w", err)
	}
	walk := func(yield func(*models.Entry, error) bool) {
		var read int64
		for e, err := range entries(ctx, dbtx) {
			if read++; read%progressEvery == 0 {
				progress(read, head.Seq)
			}
			if !yield(e, err) {
				return
			}
		}
	}
	return models.VerifyChain(walk, head, kept)
}

func entries(ctx context.Context, dbtx *sql.Tx) iter.Seq2[*models.Entry, error] {
	return func(yield func(*models.Entry, error) bool) {
		rows, err := dbtx.QueryContext(ctx, selectEntries)
		if err != nil {
			yield(nil, fmt.Errorf("read ledger: %w", err))
			return
		}
		defer rows.Close()
		read := newEntryReader()
		for rows.Next() {
			e, err := read.read(rows)
			if !yield(&e, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, fmt.Errorf("read ledger: %w", err))
		}
	}
}

var (
	entryColumns  = EntryRow.Columns("", nil)
	selectEntries = `SELECT ` + entryColumns + ` FROM ledger ORDER BY seq` //nolint:gosec // the columns are the model's
)

// entryReader scans entryColumns.
type entryReader struct{ rows *db.Reader[models.Entry] }

func newEntryReader() entryReader { return entryReader{db.ReaderOf[models.Entry](EntryRow)} }

func (r entryReader) read(rows *sql.Rows) (models.Entry, error) {
	e, err := r.rows.Read(rows)
	if err != nil {
		return e, fmt.Errorf("read ledger entry: %w", err)
	}
	return e, nil
}

// TimeOf reads the time of a ledger entry.
func TimeOf(e models.Entry) time.Time {
	t, err := time.Parse(db.TimeFormat, e.At)
	if err != nil {
		return time.Time{}
	}
	return t
}
