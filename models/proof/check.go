package proof

import (
	"context"
	"database/sql"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/db"
)

// Said is what the data of an entry says of rows, by their names: see Change.
type Said struct {
	Proof map[string]string `json:"proof"`
}

// wasLength is how much of a digest names it: it is in an entry before.
const wasLength = 16

// Change is what an entry says of a row: the beginning of the digest that it had, if it was there,
// a point, and the digest that it has, if it is there. A new row has no point.
func Change(before, now string) string {
	if before == "" {
		return now
	}
	return before[:wasLength] + "." + now
}

// SealedAction lists rows that were there before entries had digests. Done says that it was all.
const SealedAction = "ledger.rows_sealed"

// Sealed is the data of such an entry, beside the digests.
type Sealed struct {
	Table string `json:"table,omitzero"` // the last row that it lists
	Key   string `json:"key,omitzero"`
	Done  bool   `json:"done,omitzero"`
}

// What a report says of rows that were there before entries proved them.
const (
	asFound  = ": as they were when all rows were first listed"
	unlisted = ": no entry proves them until a program of this version has opened the database"
)

var (
	entryRow      = db.RowOf(&models.Entry{})
	selectEntries = `SELECT ` + entryRow.Columns("", nil) + ` FROM ledger ORDER BY seq` //nolint:gosec // the columns are the model's
)

// Check walks the ledger, verifies its chain, and compares all rows with what it says of them. All
// is read in one transaction. each hears of every entry. A broken chain is a *models.ChainError:
// nothing is said about rows then.
func Check(
	ctx context.Context, dbtx *sql.Tx, kept *models.Head, report *models.RowReport, each func(*models.Entry),
) error {
	rows, err := Open(ctx, dbtx)
	if err != nil {
		return err
	}
	c := &check{
		ctx: ctx, dbtx: dbtx, rows: rows, report: report, each: each, seed: maphash.MakeSeed(),
		newest: map[uint64]saying{}, isList: map[uint32]struct{}{},
	}
	if err := c.ledger(kept); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(rows.readers)) {
		if err := c.table(name); err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
	}
	if err := c.missing(); err != nil {
		return err
	}
	return c.countRest()
}

type check struct {
	ctx    context.Context
	dbtx   *sql.Tx
	rows   *Rows
	report *models.RowReport
	each   func(*models.Entry)

	seed   maphash.Seed
	newest map[uint64]saying   // the newest digest of each row, by a hash of its name
	isList map[uint32]struct{} // the entries that list earlier rows
	whole  bool                // all rows are in an entry
}

// saying is the entry that named a row last, and hashes of its digest and of its beginning: twenty bytes a row with the
// key. The seed is secret, so no one can make two digests with one hash.
type saying struct{ entry, sum, begin uint32 }

func (c *check) sum(text string) uint32 { return uint32(maphash.String(c.seed, text)) }

func (c *check) fault(name string, entry uint32, text string) {
	table, id, _ := strings.Cut(name, "/")
	c.report.Add(models.RowFault{Table: table, ID: id, Entry: int64(entry), Text: text})
}

func (c *check) ledger(kept *models.Head) error {
	var record models.Head
	if err := c.dbtx.QueryRowContext(c.ctx, `SELECT seq, hash FROM ledger_head WHERE id = 1`).Scan(&record.Seq,
		&record.Hash); err != nil {
		return fmt.Errorf("read ledger head: %w", err)
	}
	c.whole = record.Seq == 0
	head, err := models.VerifyChain(c.entries, record, kept)
	c.report.Head = head
	return err
}

func (c *check) entries(yield func(*models.Entry, error) bool) {
	rows, err := c.dbtx.QueryContext(c.ctx, selectEntries)
	if err != nil {
		yield(nil, fmt.Errorf("read ledger: %w", err))
		return
	}
	defer rows.Close()
	read := db.ReaderOf[models.Entry](entryRow)
	for rows.Next() {
		e, err := read.Read(rows)
		if err != nil {
			yield(nil, fmt.Errorf("read ledger entry: %w", err))
			return
		}
		c.entry(&e)
		c.each(&e)
		if !yield(&e, nil) {
			return
		}
	}
	if err := rows.Err(); err != nil {
		yield(nil, fmt.Errorf("read ledger: %w", err))
	}
}

func (c *check) entry(e *models.Entry) {
	var said struct {
		Said
		Sealed
	}
	number := uint32(e.Seq) // there are no four billion entries
	if err := json.Unmarshal([]byte(e.Data), &said.Said); err != nil {
		c.fault(fmt.Sprintf("ledger/%d", e.Seq), number, "the entry cannot be read")
		return
	}
	if e.Seq == 1 && said.Proof != nil {
		c.whole = true
	}
	if e.Action == SealedAction {
		c.isList[number] = struct{}{}
		if err := json.Unmarshal([]byte(e.Data), &said.Sealed); err == nil && said.Done {
			c.whole = true
		}
	}
	for name, digest := range said.Proof {
		table, _, _ := strings.Cut(name, "/")
		if c.rows.readers[table] == nil {
			c.fault(fmt.Sprintf("ledger/%d", e.Seq), number, "the entry names a row of a table that nothing proves")
			continue
		}
		c.says(name, digest, number, e.Action == SealedAction)
	}
}

// says compares what an entry says a row was with what the entry before said of it, and keeps
// what it says the row is. An edit of a row is found so also where an act has changed the row
// since.
func (c *check) says(name, said string, number uint32, isList bool) {
	was, digest, changes := strings.Cut(said, ".")
	if !changes {
		was, digest = "", said
	}
	key := maphash.String(c.seed, name)
	last, known := c.newest[key]
	switch {
	case isList:
	case known && !changes:
		c.fault(name, number, fmt.Sprintf("this entry says that the row is new, and entry %d had recorded it", last.entry))
	case known && last.begin != c.sum(was):
		c.fault(name, number,
			fmt.Sprintf("when this entry was made, the row differed from what entry %d had recorded", last.entry))
	case !known && changes && c.whole:
		c.fault(name, number, "the entry changes a row that no entry had named")
	}
	if digest == "" {
		delete(c.newest, key)
		return
	}
	c.newest[key] = saying{number, c.sum(digest), c.sum(digest[:min(wasLength, len(digest))])}
}

// table compares the rows of a table.
func (c *check) table(name string) error {
	r := c.rows.readers[name]
	rows, err := c.dbtx.QueryContext(c.ctx, r.all)
	if err != nil {
		return err
	}
	defer rows.Close()
	var id string
	into := append([]any{&id}, r.into...)
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		c.report.Checked[name]++
		key := maphash.String(c.seed, name+"/"+id)
		said, ok := c.newest[key]
		delete(c.newest, key)
		_, isList := c.isList[said.entry]
		switch digest := r.digest(); {
		case !ok && c.whole:
			c.fault(name+"/"+id, 0, "no entry of the ledger names this row")
		case !ok:
			c.report.NotCovered[name+unlisted]++
		case c.sum(digest) != said.sum:
			c.fault(name+"/"+id, said.entry, "the row differs from what was recorded")
		case isList:
			c.report.NotCovered[name+asFound]++
		}
	}
	return rows.Err()
}

// missing names the rows that are left over: entries named them, and they are not there.
func (c *check) missing() error {
	for key, said := range c.newest {
		var data string
		if err := c.dbtx.QueryRowContext(c.ctx, `SELECT data FROM ledger WHERE seq = ?`, said.entry).Scan(&data); err != nil {
			return fmt.Errorf("read ledger entry: %w", err)
		}
		var in Said
		if err := json.Unmarshal([]byte(data), &in); err != nil {
			return fmt.Errorf("read ledger entry: %w", err)
		}
		for name := range in.Proof {
			if maphash.String(c.seed, name) != key {
				continue
			}
			if table, _, _ := strings.Cut(name, "/"); tables[table] == nil || tables[table].vanish == "" {
				c.fault(name, said.entry, "the row is missing")
			}
		}
	}
	return nil
}

// countRest counts the rows that are not compared, with the reason: a report without faults must name its gaps.
func (c *check) countRest() error {
	columns, err := db.Columns(c.ctx, c.dbtx)
	if err != nil {
		return err
	}
	for _, name := range Tables() {
		t := tables[name]
		if len(t.not) == 0 {
			continue
		}
		var n int64
		if err := c.dbtx.QueryRowContext(c.ctx, `SELECT count(*) FROM `+name).Scan(&n); err != nil {
			return fmt.Errorf("count %s: %w", name, err)
		}
		if n == 0 {
			continue
		}
		for why, of := range t.not {
			what := name
			if of != "*" && len(strings.Fields(of)) < len(columns[name]) {
				what += " (" + strings.Join(strings.Fields(of), ", ") + ")"
			}
			c.report.NotCompared[what+": "+string(why)] = n
		}
	}
	return nil
}
