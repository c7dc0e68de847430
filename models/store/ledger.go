package store

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/db"
)

// ledgerHead is the head as this transaction sees it.
func (t *tx) ledgerHead() (models.Head, error) {
	k := &t.s.known
	if !k.headKnown {
		if err := t.Row(t.s.hot.head).Scan(&k.head.Seq, &k.head.Hash); err != nil {
			return models.Head{}, fmt.Errorf("read ledger head: %w", err)
		}
		k.headKnown = true
	}
	return k.head, nil
}

// subject is what a ledger entry is about.
type subject struct {
	owner        models.UserID
	conversation models.ConversationID
	response     models.ResponseID
	readers      []models.UserID // whom the request was routed to
}

func subjectOf(r *models.Response, readers []models.UserID) subject {
	return subject{owner: r.OwnerID, conversation: r.ConversationID, response: r.ID, readers: readers}
}

// record appends one entry. One object changed is one entry (I7); data holds
// digests and outcomes, never inputs.
func (t *tx) record(actor models.Actor, action string, about subject, data any) error {
	raw, err := json.Marshal(data, json.Deterministic(true))
	if err != nil {
		return fmt.Errorf("encode ledger data: %w", err)
	}
	head, err := t.ledgerHead()
	if err != nil {
		return err
	}
	e := models.Entry{
		At: t.Now.Format(db.TimeFormat), ActorKind: actor.Kind, ActorID: actor.ID, ActorName: actor.Name, Action: action,
		OwnerID: about.owner, ConversationID: about.conversation, ResponseID: about.response, Data: string(raw),
	}
	next := models.Seal(head, &e)
	if e.Prev == nil {
		e.Prev = []byte{}
	}
	if err := t.Insert(insertEntry, t.s.hot.addEntry, t.s.hot.addEntry, &e); err != nil {
		return fmt.Errorf("append to ledger: %w", err)
	}
	t.s.known.head, t.s.known.moved = next, true
	for _, reader := range about.readers {
		if _, err := t.Exec(t.s.hot.addReader, reader, e.Seq); err != nil {
			return fmt.Errorf("store reader of an entry: %w", err)
		}
	}
	return nil
}

// storeHead keeps the head that a batch has moved.
func (s *Store) storeHead() error {
	k := &s.known
	if !k.moved {
		return nil
	}
	k.moved = false
	if _, err := s.hot.setHead.ExecContext(context.Background(), k.head.Seq, k.head.Hash); err != nil {
		return fmt.Errorf("store ledger head: %w", err)
	}
	return nil
}

// LedgerHead is the recorded head: the number and hash to keep elsewhere.
func (s *Store) LedgerHead(ctx context.Context) (models.Head, error) {
	var h models.Head
	if err := s.db.Reads().QueryRowContext(ctx, `SELECT seq, hash FROM ledger_head WHERE id = 1`).Scan(&h.Seq, &h.Hash); err != nil {
		return h, fmt.Errorf("read ledger head: %w", err)
	}
	return h, nil
}

// VerifyLedger walks the whole chain in one snapshot and compares its end with
// the recorded head and, where one is given, with a head that was kept outside.
// A broken chain is a *models.ChainError; any other error means that it could
// not be checked.
func (s *Store) VerifyLedger(ctx context.Context, kept *models.Head) (models.Head, error) {
	return chainOf(ctx, s.db.Reads(), kept)
}

func chainOf(ctx context.Context, pool *sql.DB, kept *models.Head) (models.Head, error) {
	return walkChain(ctx, pool, kept, func(int64, int64) {})
}

// toldEvery is after how many entries a walk tells how far it is.
const toldEvery = 4096

func walkChain(ctx context.Context, pool *sql.DB, kept *models.Head, told func(read, of int64)) (models.Head, error) {
	dbtx, err := pool.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return models.Head{}, fmt.Errorf("read ledger: %w", err)
	}
	defer dbtx.Rollback() //nolint:errcheck // nothing was written
	var recorded models.Head
	if err := dbtx.QueryRowContext(ctx, `SELECT seq, hash FROM ledger_head WHERE id = 1`).Scan(&recorded.Seq, &recorded.Hash); err != nil {
		return models.Head{}, fmt.Errorf("read ledger head: %w", err)
	}
	walk := func(yield func(*models.Entry, error) bool) {
		var read int64
		for e, err := range entries(ctx, dbtx) {
			if read++; read%toldEvery == 0 {
				told(read, recorded.Seq)
			}
			if !yield(e, err) {
				return
			}
		}
	}
	return models.VerifyChain(walk, recorded, kept)
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
	entryColumns  = entryRow.Columns("", nil)
	selectEntries = `SELECT ` + entryColumns + ` FROM ledger ORDER BY seq` //nolint:gosec // the columns are the model's
)

// entryReader scans entryColumns.
type entryReader struct{ *db.Reader[models.Entry] }

func newEntryReader() entryReader { return entryReader{db.ReaderOf[models.Entry](entryRow)} }

func (r entryReader) read(rows *sql.Rows) (models.Entry, error) {
	e, err := r.Reader.Read(rows)
	if err != nil {
		return e, fmt.Errorf("read ledger entry: %w", err)
	}
	return e, nil
}

// EntryTime reads the time of a ledger entry.
func EntryTime(e models.Entry) time.Time {
	t, err := time.Parse(db.TimeFormat, e.At)
	if err != nil {
		return time.Time{}
	}
	return t
}
