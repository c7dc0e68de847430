package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"sort"
	"strconv"
	"time"

	"countersign/models"
	"countersign/models/db"
)

// Query narrows the ledger; the zero value is all of it. Members combine.
type Query struct {
	Who          string // id of a person or agent that acted, or of the person concerned
	Action       string // exact, such as token.revoked
	Conversation models.ConversationID
	From, Until  time.Time // from the first to before the second; zero: no bound
	Before       int64     // numbers below this one only; 0: from the newest
	Limit        int

	Text db.Part // a condition that reads other tables as well; empty: none
	Look int     // how many entries are read for a page then
}

// Page is one page of the ledger, newest first.
type Page struct {
	Entries []models.Entry
	Next    int64 // to pass as Before; 0: that was all
	// StoppedEarly says, where Next is set and the page is not full, that reading stopped early: several filters
	// together found little in the entries that were read.
	StoppedEarly bool
}

// ledgerLook bounds how many entries of one index are read for a page, where a
// further filter may leave few of them.
const ledgerLook = 20_000

// Page is everybody's audit trail. For admins and the operator, else
// CodeForbidden. One filter drives, by its index; the others pick from what it
// finds.
func (l *Ledger) Page(ctx context.Context, actor models.Actor, q Query) (Page, error) {
	if err := actor.NeedOversight(); err != nil {
		return Page{}, err
	}
	dbtx, err := db.BeginRead(ctx, l.db.Reads())
	if err != nil {
		return Page{}, fmt.Errorf("read ledger: %w", err)
	}
	defer dbtx.Rollback()
	low, high, err := q.Span(ctx, dbtx)
	if err != nil || low >= high {
		return Page{}, err
	}
	rare, err := q.rareAction(ctx, dbtx, low, high)
	if err != nil {
		return Page{}, err
	}
	return PageIn(ctx, dbtx, q.list(dbtx, low, high, rare))
}

// Entries is a list of entries, newest first, along some indexes. Where picks leave only
// some, at most look of them are read for a page.
func Entries(dbtx *sql.Tx, limit, look int, picks []db.Part, walks ...db.Walk) *db.List[models.Entry] {
	return &db.List[models.Entry]{
		Walks: walks, Order: []db.Key{{Name: `seq`, Is: `seq`}}, Down: true, Limit: limit, Picks: picks, Search: look,
		Columns: entryColumns, From: `ledger`, In: `seq`,
		Read: func(ctx context.Context, query string, args ...any) ([]models.Entry, error) {
			return EntriesIn(ctx, dbtx, query, args...)
		},
		Cursor: func(e *models.Entry) db.Cursor { return db.Cursor{ID: strconv.FormatInt(e.Seq, 10)} },
	}
}

// PageIn reads a page of entries within a read transaction. It judges no rights: its caller
// has.
func PageIn(ctx context.Context, dbtx *sql.Tx, l *db.List[models.Entry]) (Page, error) {
	found, next, err := l.Page(ctx)
	out := Page{Entries: found}
	if err != nil {
		return Page{}, err
	}
	if next != "" {
		out.Next = found[len(found)-1].Seq
		return out, nil
	}
	if out.Next, out.StoppedEarly, err = l.StoppedEarly(ctx, dbtx); err != nil {
		return Page{}, fmt.Errorf("read ledger: %w", err)
	}
	return out, nil
}

// list is the page of a query: one filter drives, by its keys. rare: see rareAction.
func (q Query) list(dbtx *sql.Tx, low, high int64, rare bool) *db.List[models.Entry] {
	walks := []db.Walk{{From: db.Say(`ledger`), Where: []db.Part{db.Say(`seq >= ? AND seq < ?`, low, high)}}}
	switch {
	case q.Conversation != "":
		walks = Through(low, high, Key{ByConversation, string(q.Conversation)})
	case q.Who != "" && !rare:
		walks = Through(low, high, Concerning(q.Who)...)
	case q.Action != "":
		walks = Through(low, high, Key{ByAction, q.Action})
	}
	return Entries(dbtx, db.PageSize(q.Limit), cmp.Or(q.Look, ledgerLook), q.picks(rare), walks...)
}

// rareAction reports whether the action is done so seldom that it should drive, and
// not the person: then all of it is read and nothing is left for further back.
func (q Query) rareAction(ctx context.Context, dbtx *sql.Tx, low, high int64) (bool, error) {
	if q.Action == "" || q.Who == "" || q.Conversation != "" {
		return false, nil
	}
	var n int
	list := Entries(dbtx, 0, 0, nil, Through(low, high, Key{ByAction, q.Action})...)
	list.Count = db.Say(`?`, ledgerLook)
	keys := list.Keys()
	if err := dbtx.QueryRowContext(ctx, `SELECT count(*) FROM (`+keys.Text+`)`, keys.Args...).Scan(&n); err != nil {
		return false, fmt.Errorf("count entries of an action: %w", err)
	}
	return n < ledgerLook, nil
}

// picks are the filters that do not drive.
func (q Query) picks(rare bool) []db.Part {
	var out []db.Part
	if q.Who != "" && (q.Conversation != "" || rare) {
		out = append(out, db.Say(`(actor_id = ? OR owner_id = ?)`, q.Who, q.Who))
	}
	if q.Action != "" && !rare && (q.Conversation != "" || q.Who != "") {
		out = append(out, db.Say(`action = ?`, q.Action))
	}
	if q.Text.Text != "" {
		out = append(out, q.Text)
	}
	return out
}

// Span turns times and the key of the page before into numbers of entries: from
// low to before high.
func (q Query) Span(ctx context.Context, dbtx *sql.Tx) (low, high int64, err error) {
	low, high = 1, 1<<62
	if !q.From.IsZero() {
		if low, err = FirstSince(ctx, dbtx, q.From); err != nil {
			return 0, 0, err
		}
	}
	if !q.Until.IsZero() {
		if high, err = FirstSince(ctx, dbtx, q.Until); err != nil {
			return 0, 0, err
		}
	}
	if q.Before > 0 {
		high = min(high, q.Before)
	}
	return low, high, nil
}

// FirstSince finds by halving the first entry that is not older than at, or the
// number after the last. Entries are written one after another under one lock,
// each with the clock's time: their times rise with their numbers unless the
// clock was set back, and then the answer is one of the borders.
func FirstSince(ctx context.Context, dbtx db.RowQuerier, at time.Time) (int64, error) {
	var last int64
	if err := dbtx.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM ledger`).Scan(&last); err != nil {
		return 0, fmt.Errorf("read ledger: %w", err)
	}
	var err error
	want := at.UTC().Format(db.TimeFormat)
	found := sort.Search(int(last), func(i int) bool {
		var end bool
		if err == nil {
			err = dbtx.QueryRowContext(ctx, `SELECT at >= ? FROM ledger WHERE seq = ?`, want, i+1).Scan(&end)
		}
		return end
	})
	if err != nil {
		return 0, fmt.Errorf("read ledger by time: %w", err)
	}
	return int64(found) + 1, nil
}

// EntriesIn runs a query of entryColumns.
func EntriesIn(ctx context.Context, pool db.Querier, query string, args ...any) ([]models.Entry, error) {
	rows, err := pool.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	defer rows.Close()
	var out []models.Entry
	entries := newEntryReader()
	for rows.Next() {
		e, err := entries.read(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	return out, nil
}

// actionsQuery leaps from one action to the next through the keys, and reads the tail.
var actionsQuery = fmt.Sprintf(`WITH RECURSIVE known(action) AS (
 SELECT min(key) FROM ledger_keys WHERE kind = %[1]d
 UNION ALL SELECT (SELECT min(k.key) FROM ledger_keys k WHERE k.kind = %[1]d AND k.key > known.action) FROM known WHERE known.action IS NOT NULL)
 SELECT action FROM known WHERE action IS NOT NULL UNION SELECT action FROM ledger WHERE `+inTail+` ORDER BY action`, ByAction)

// Actions names every action that the ledger holds, in order. For admins
// and the operator, else CodeForbidden.
func (l *Ledger) Actions(ctx context.Context, actor models.Actor) ([]string, error) {
	if err := actor.NeedOversight(); err != nil {
		return nil, err
	}
	var out []string
	if err := l.db.Gorm(ctx).Raw(actionsQuery).Scan(&out).Error; err != nil {
		return nil, fmt.Errorf("list actions: %w", err)
	}
	return out, nil
}

// Entry is one entry and the hash of the one before it (nil for the
// first). For admins and the operator, else CodeForbidden; CodeNotFound if there
// is none of that number.
func (l *Ledger) Entry(
	ctx context.Context, actor models.Actor, seq int64,
) (entry *models.Entry, before []byte, err error) {
	if err := actor.NeedOversight(); err != nil {
		return nil, nil, err
	}
	dbtx, err := db.BeginRead(ctx, l.db.Reads())
	if err != nil {
		return nil, nil, fmt.Errorf("read ledger: %w", err)
	}
	defer dbtx.Rollback()
	found, err := EntriesIn(ctx, dbtx, `SELECT `+entryColumns+` FROM ledger WHERE seq IN (?, ?) ORDER BY seq DESC`, seq,
		seq-1)
	if err != nil {
		return nil, nil, err
	}
	if len(found) == 0 || found[0].Seq != seq {
		return nil, nil, models.NotFound("ledger entry")
	}
	if len(found) > 1 {
		before = found[1].Hash
	}
	return &found[0], before, nil
}

// CheckChain is Verify that tells, now and then, how many entries it has
// read of how many.
func (l *Ledger) CheckChain(ctx context.Context, progress func(read, of int64)) (models.Head, error) {
	return walkChain(ctx, l.db.Reads(), nil, progress)
}
