package ledger

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sort"
	"strings"
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
}

// Page is one page of the ledger, newest first.
type Page struct {
	Entries []models.Entry
	Next    int64 // to pass as Before; 0: that was all
	// StoppedEarly says, where Next is set and the page is not full, that reading
	// stopped early: several filters together found little in what was read.
	StoppedEarly bool
}

// ledgerLook bounds how many entries of one index are read for a page, where a
// further filter may leave few of them.
const ledgerLook = 20_000

// Page is everybody's audit trail. For admins and the operator, else
// CodeForbidden. One filter drives, by its index; the others pick from what it
// finds.
func (l *Ledger) Page(ctx context.Context, actor models.Actor, q Query) (Page, error) {
	if err := actor.NeedAdmin(); err != nil {
		return Page{}, err
	}
	dbtx, err := l.db.Reads().BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return Page{}, fmt.Errorf("read ledger: %w", err)
	}
	defer dbtx.Rollback() //nolint:errcheck // nothing was written
	low, high, err := q.Span(ctx, dbtx)
	if err != nil || low >= high {
		return Page{}, err
	}
	limit := db.PageSize(q.Limit)
	rare, err := q.rareAction(ctx, dbtx, low, high)
	if err != nil {
		return Page{}, err
	}
	keys, args, alone := q.keys(low, high, limit+1, rare)
	picks, pickArgs := q.picks(rare)
	read := Read{Keys: keys, Args: args, Picks: picks, PickArgs: pickArgs, Most: ledgerLook}
	if alone {
		read.Most = 0
	}
	return PageIn(ctx, dbtx, read, limit)
}

// Read is how a page of the ledger is read: keys from an index, and what
// picks from them.
type Read struct {
	Keys     string
	Args     []any
	Picks    string
	PickArgs []any
	Most     int // how many keys there are at most; 0: a page's worth, nothing picks
}

func PageIn(ctx context.Context, dbtx *sql.Tx, r Read, limit int) (Page, error) {
	args := append(slices.Clone(r.Args), r.PickArgs...)
	found, err := EntriesIn(ctx, dbtx, SelectPicked(r.Keys, r.Picks), append(args, limit+1)...)
	if err != nil {
		return Page{}, err
	}
	out := Page{Entries: found}
	if len(found) > limit {
		out.Entries = found[:limit]
		out.Next = out.Entries[limit-1].Seq
		return out, nil
	}
	if r.Most == 0 {
		return out, nil
	}
	var last, read int64
	if err := dbtx.QueryRowContext(ctx, `SELECT coalesce(min(seq), 0), count(*) FROM (`+r.Keys+`)`, r.Args...).Scan(&last, &read); err != nil {
		return Page{}, fmt.Errorf("read ledger: %w", err)
	}
	if read >= int64(r.Most) {
		out.Next, out.StoppedEarly = last, true
	}
	return out, nil
}

// SelectPicked reads the entries of keys that pass the other filters.
func SelectPicked(keys, picks string) string {
	return `SELECT ` + entryColumns + ` FROM ledger WHERE seq IN (` + keys + `)` + picks + ` ORDER BY seq DESC LIMIT ?`
}

// KeysThrough reads numbers of entries, newest first, through one index.
func KeysThrough(index, column string) string {
	return `SELECT seq FROM ledger` + db.By(index) + ` WHERE ` + column + ` = ? AND ` + column +
		` <> '' AND seq >= ? AND seq < ? ORDER BY seq DESC LIMIT ?`
}

// ConcerningQuery reads the entries of which somebody is the owner or the actor. An
// entry whose actor is the owner is in both halves; UNION drops one.
var ConcerningQuery = `SELECT seq FROM (SELECT seq FROM (` + KeysThrough("ledger_owner", "owner_id") +
	`) UNION SELECT seq FROM (` + KeysThrough("ledger_actor", "actor_id") + `)) ORDER BY seq DESC LIMIT ?`

// keys is the driving part: numbers of entries, newest first, through one index.
// alone says that nothing else filters, so that a page's worth is enough.
func (q Query) keys(low, high int64, page int, rare bool) (text string, args []any, alone bool) {
	filters := 0
	for _, set := range []bool{q.Who != "", q.Action != "", q.Conversation != ""} {
		if set {
			filters++
		}
	}
	alone = filters <= 1
	most := page
	if !alone {
		most = ledgerLook
	}
	through := func(index, column string, value any) (string, []any) {
		return KeysThrough(index, column), []any{value, low, high, most}
	}
	switch {
	case q.Conversation != "":
		text, args = through("ledger_conversation", "conversation_id", q.Conversation)
	case q.Who != "" && !rare:
		text, args = ConcerningQuery, []any{q.Who, low, high, most, q.Who, low, high, most, most}
	case q.Action != "":
		text, args = through("ledger_action", "action", q.Action)
	default:
		text = `SELECT seq FROM ledger WHERE seq >= ? AND seq < ? ORDER BY seq DESC LIMIT ?`
		args = []any{low, high, most}
	}
	return text, args, alone
}

// rareAction reports whether the action is done so seldom that it should drive, and
// not the person: then all of it is read and nothing is left for further back.
func (q Query) rareAction(ctx context.Context, dbtx *sql.Tx, low, high int64) (bool, error) {
	if q.Action == "" || q.Who == "" || q.Conversation != "" {
		return false, nil
	}
	var n int
	if err := dbtx.QueryRowContext(ctx, actionCount, q.Action, low, high, ledgerLook).Scan(&n); err != nil {
		return false, fmt.Errorf("count entries of an action: %w", err)
	}
	return n < ledgerLook, nil
}

const actionCount = `SELECT count(*) FROM (SELECT 1 FROM ledger` + db.ByLedgerAction + ` WHERE action = ? AND seq >= ? AND seq < ? LIMIT ?)`

// picks are the filters that do not drive.
func (q Query) picks(rare bool) (string, []any) {
	var text strings.Builder
	var args []any
	if q.Who != "" && (q.Conversation != "" || rare) {
		text.WriteString(` AND (+actor_id = ? OR +owner_id = ?)`)
		args = append(args, q.Who, q.Who)
	}
	if q.Action != "" && !rare && (q.Conversation != "" || q.Who != "") {
		text.WriteString(` AND +action = ?`)
		args = append(args, q.Action)
	}
	return text.String(), args
}

// span turns times and the key of the page before into numbers of entries: from
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

// firstSince finds by halving the first entry that is not older than at, or the
// number after the last. Entries are written one after another under one lock,
// each with the clock's time: their times rise with their numbers unless the
// clock was set back, and then the answer is one of the borders.
func FirstSince(ctx context.Context, dbtx *sql.Tx, at time.Time) (int64, error) {
	var last int64
	if err := dbtx.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM ledger`).Scan(&last); err != nil {
		return 0, fmt.Errorf("read ledger: %w", err)
	}
	var err error
	want := at.UTC().Format(db.TimeFormat)
	found := sort.Search(int(last), func(i int) bool {
		var reached bool
		if err == nil {
			err = dbtx.QueryRowContext(ctx, `SELECT at >= ? FROM ledger WHERE seq = ?`, want, i+1).Scan(&reached)
		}
		return reached
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

// actionsQuery leaps from one action to the next through the index.
const actionsQuery = `WITH RECURSIVE known(action) AS (
 SELECT min(action) FROM ledger UNION ALL SELECT (SELECT min(l.action) FROM ledger l WHERE l.action > known.action) FROM known WHERE known.action IS NOT NULL)
 SELECT action FROM known WHERE action IS NOT NULL`

// Actions names every action that the ledger holds, in order. For admins
// and the operator, else CodeForbidden.
func (l *Ledger) Actions(ctx context.Context, actor models.Actor) ([]string, error) {
	if err := actor.NeedAdmin(); err != nil {
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
func (l *Ledger) Entry(ctx context.Context, actor models.Actor, seq int64) (entry *models.Entry, before []byte, err error) {
	if err := actor.NeedAdmin(); err != nil {
		return nil, nil, err
	}
	dbtx, err := l.db.Reads().BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, nil, fmt.Errorf("read ledger: %w", err)
	}
	defer dbtx.Rollback() //nolint:errcheck // nothing was written
	found, err := EntriesIn(ctx, dbtx, `SELECT `+entryColumns+` FROM ledger WHERE seq IN (?, ?) ORDER BY seq DESC`, seq, seq-1)
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
