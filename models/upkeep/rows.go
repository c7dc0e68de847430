package upkeep

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/maphash"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/ledger"
)

// VerifyRows walks the ledger as VerifyLedger does, and compares what it says
// with the rows of all tables and with the schema that the migrations make. All of
// it is one snapshot, which keeps no writer waiting; nothing is written. A broken
// chain is a *models.ChainError: nothing is said about rows then.
func (u *Upkeep) VerifyRows(ctx context.Context, kept *models.Head) (*models.RowReport, error) {
	return verifyRows(ctx, u.db.Reads(), kept)
}

// Rows is VerifyRows for a folder. It needs the schema that this program brings.
func (i *Inspection) Rows(ctx context.Context) (*models.RowReport, error) {
	return verifyRows(ctx, i.db, nil)
}

func verifyRows(ctx context.Context, pool *sql.DB, kept *models.Head) (_ *models.RowReport, err error) {
	dbtx, err := pool.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("read rows: %w", err)
	}
	defer dbtx.Rollback() //nolint:errcheck // nothing was written
	c := &rowCheck{
		ctx: ctx, dbtx: dbtx, seed: maphash.MakeSeed(), open: map[rowKey]map[string]claim{}, named: map[string]map[uint64]struct{}{},
		held: map[string]string{}, waits: map[[2]string]string{}, uses: map[string]grantUse{}, routing: map[string][]string{}, left: map[[2]string]struct{}{}, lookUps: map[string]*sql.Stmt{},
		report: &models.RowReport{Checked: map[string]int64{}, NotCovered: map[string]int64{}, NotCompared: map[string]int64{}},
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.schema(); err != nil {
		return nil, fmt.Errorf("compare the schema with the migrations: %w", err)
	}
	for _, step := range [...]func() error{func() error { return c.ledger(kept) }, c.grantUses, c.claims, c.responses, c.unnamed, c.unsaid, c.derived, c.exempt} {
		if err := c.continueAfter(step()); err != nil {
			return nil, err
		}
	}
	return c.report, nil
}

// continueAfter notes an error as a fault and continues, where the error comes from a changed
// schema: that change is the finding, and must be reported.
func (c *rowCheck) continueAfter(err error) error {
	if err == nil {
		return nil
	}
	if _, broken := errors.AsType[*models.ChainError](err); broken || c.ctx.Err() != nil || c.report.Found == 0 {
		return fmt.Errorf("compare rows with the ledger: %w", err)
	}
	c.fault("schema", "rows", "", 0, "not all rows could be compared: %v", err)
	return nil
}

// rowCheck compares rows with entries. Every row is compared as it is now with
// each entry about it: what an entry says and the row does not is kept in open
// until a later entry says what the row does. So memory follows what is under way
// at a time, beside a bit for each response and eight bytes for each other row.
type rowCheck struct {
	ctx     context.Context //nolint:containedctx // one check is one call
	dbtx    *sql.Tx
	seed    maphash.Seed
	report  *models.RowReport
	lookUps map[string]*sql.Stmt

	open  map[rowKey]map[string]claim
	begun []uint64                       // a bit for each response that an entry began, by its number
	named map[string]map[uint64]struct{} // rows of other tables that an entry made, by a hash of their id
	held  map[string]string              // the vote that holds a response
	waits map[[2]string]string           // the edit that waits for others, of a response and a person
	uses  map[string]grantUse

	// routing is to whom a request was routed as of the entry before, where that is not so
	// any more.
	routing map[string][]string
	// left are the people who were asked about a request, and are no longer.
	left map[[2]string]struct{}
}

type rowKey struct{ table, id string }

// claim is what an entry says against a row.
type claim struct {
	entry int64
	text  string
}

type grantUse struct {
	count, entry int64
	at           string
}

func (c *rowCheck) close() error {
	var errs []error
	for _, stmt := range c.lookUps {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(errs...)
}

func (c *rowCheck) fault(table, id, column string, entry int64, format string, args ...any) {
	c.report.Add(models.RowFault{Table: table, ID: id, Column: column, Entry: entry, Text: fmt.Sprintf(format, args...)})
}

func (c *rowCheck) sum(id string) uint64 { return maphash.String(c.seed, id) }

// name notes that an entry made a row.
func (c *rowCheck) name(table, id string) {
	ids := c.named[table]
	if ids == nil {
		ids = map[uint64]struct{}{}
		c.named[table] = ids
	}
	ids[c.sum(id)] = struct{}{}
}

func (c *rowCheck) isNamed(table, id string) bool {
	_, ok := c.named[table][c.sum(id)]
	return ok
}

// claims turns what no later entry has explained into faults.
func (c *rowCheck) claims() error {
	for key, columns := range c.open {
		for column, cl := range columns {
			c.fault(key.table, key.id, column, cl.entry, "%s", cl.text)
		}
	}
	return nil
}

// comparison is a row beside an entry that says something about it.
type comparison struct {
	*rowCheck

	key   rowKey
	entry int64
	row   *rowValues
	was   map[string]claim
}

func (c *rowCheck) compare(e *models.Entry, table, id string, row *rowValues) *comparison {
	key := rowKey{table, id}
	return &comparison{rowCheck: c, key: key, entry: e.Seq, row: row, was: c.open[key]}
}

// is compares a column with the value that the entry gives it.
func (a *comparison) is(column, want string) {
	have, ok := a.row.get(column)
	if !ok {
		have = null
	}
	if have == want {
		a.settled(column)
		return
	}
	a.claim(column, claim{entry: a.entry, text: "the row says " + shown(have) + ", and the ledger says " + shown(want)})
}

// isSet checks that a column has a value, as the entry says.
func (a *comparison) isSet(column string) {
	if _, ok := a.row.get(column); ok {
		a.settled(column)
		return
	}
	a.claim(column, claim{entry: a.entry, text: "the row says nothing, and the ledger says that something was set"})
}

// proves compares digests: the one in the entry and the one of the row.
func (a *comparison) proves(column, want, have string) {
	if want == have {
		a.settled(column)
		return
	}
	a.claim(column, claim{entry: a.entry, text: "the row differs from the digest in the ledger"})
}

// text compares the text in a column with its digest in the entry.
func (a *comparison) text(column, digest string) {
	a.proves(column, digest, models.DigestOfText(a.row.text(column)))
}

func (a *comparison) settled(column string) {
	if a.was == nil {
		return
	}
	delete(a.was, column)
	if len(a.was) == 0 {
		delete(a.open, a.key)
		a.was = nil
	}
}

func (a *comparison) claim(column string, cl claim) {
	if a.was == nil {
		a.was = map[string]claim{}
		a.open[a.key] = a.was
	}
	a.was[column] = cl
}

// uncovered counts what an entry of an older program cannot prove.
func (c *rowCheck) uncovered(what string) { c.report.NotCovered[what]++ }

// ledger walks all entries, and checks the chain on the way.
func (c *rowCheck) ledger(kept *models.Head) error {
	var recorded models.Head
	if err := c.dbtx.QueryRowContext(c.ctx, `SELECT seq, hash FROM ledger_head WHERE id = 1`).Scan(&recorded.Seq, &recorded.Hash); err != nil {
		return fmt.Errorf("read ledger head: %w", err)
	}
	var last int64
	if err := c.dbtx.QueryRowContext(c.ctx, `SELECT coalesce(max(number), 0) FROM responses`).Scan(&last); err != nil {
		return fmt.Errorf("count responses: %w", err)
	}
	c.begun = make([]uint64, min(last, maxResponses)/64+1)
	head, err := models.VerifyChain(c.entries, recorded, kept)
	c.report.Head = head
	return err
}

// maxResponses bounds what a made-up number can have allocated: 128 MiB.
const maxResponses = 1 << 30

func (c *rowCheck) entries(yield func(*models.Entry, error) bool) {
	rows, err := c.dbtx.QueryContext(c.ctx, entriesWithRows)
	if err != nil {
		yield(nil, fmt.Errorf("read ledger: %w", err))
		return
	}
	defer rows.Close()
	response, vote := newRowValues("responses"), newRowValues("votes")
	for rows.Next() {
		var e models.Entry
		into := ledger.EntryRow.Targets(&e)
		var number sql.NullInt64
		var routed sql.NullString
		into = append(append(append(into, &number, &routed), response.into...), vote.into...)
		if err := rows.Scan(into...); err != nil {
			yield(nil, fmt.Errorf("read ledger entry: %w", err))
			return
		}
		_, response.found = response.get("id")
		_, vote.found = vote.get("id")
		if err := c.entry(&e, &entryRows{response: response, vote: vote, number: number.Int64, routed: routed.String}); err != nil {
			yield(nil, err)
			return
		}
		if !yield(&e, nil) {
			return
		}
	}
	if err := rows.Err(); err != nil {
		yield(nil, fmt.Errorf("read ledger: %w", err))
	}
}

// entryRows is what stands beside an entry: the response that it is about, and
// that response's vote.
type entryRows struct {
	response, vote *rowValues
	number         int64
	routed         string
}

func (c *rowCheck) entry(e *models.Entry, with *entryRows) error {
	check, ok := entryChecks[e.Action]
	if !ok {
		return nil
	}
	var d entryData
	if err := json.Unmarshal([]byte(e.Data), &d); err != nil {
		c.fault("ledger", fmt.Sprint(e.Seq), "data", e.Seq, "the entry cannot be read")
		return nil //nolint:nilerr // it is told as a fault
	}
	return check(c, e, &d, with)
}
