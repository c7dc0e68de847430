package upkeep

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/proof"
)

// VerifyRows walks the ledger as VerifyLedger does, and compares what it says
// with the rows of all tables and with the schema that the migrations make. All of
// it is one snapshot, which keeps no writer waiting; nothing is written. A broken
// chain is a *models.ChainError: nothing is said about rows then.
func (u *Upkeep) VerifyRows(ctx context.Context, kept *models.Head) (*models.RowReport, error) {
	return verifyRows(ctx, u.db.Reads(), u.db.Migrated, kept)
}

// Rows is VerifyRows for a folder. It needs the schema that this program brings.
func (i *Inspection) Rows(ctx context.Context) (*models.RowReport, error) {
	return verifyRows(ctx, i.db, i.migrated, nil)
}

func verifyRows(
	ctx context.Context, pool *sql.DB, target func(context.Context) (map[string]db.Statement, error), kept *models.Head,
) (*models.RowReport, error) {
	dbtx, err := db.BeginRead(ctx, pool)
	if err != nil {
		return nil, fmt.Errorf("read rows: %w", err)
	}
	defer dbtx.Rollback()
	c := &rowCheck{
		ctx: ctx, dbtx: dbtx, target: target, rest: map[[2]string]struct{}{},
		report: &models.RowReport{
			Checked: map[string]int64{}, NotCovered: map[string]int64{}, NotCompared: map[string]int64{},
		},
	}
	if err := c.schema(); err != nil {
		return nil, fmt.Errorf("compare the schema with the migrations: %w", err)
	}
	for _, step := range [...]func() error{
		func() error { return proof.Check(ctx, dbtx, kept, c.report, c.leaves) }, c.derived,
	} {
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
	c.fault("schema", "rows", "not all rows could be compared: %v", err)
	return nil
}

// rowCheck compares rows that no entry proves.
type rowCheck struct {
	ctx    context.Context
	dbtx   *sql.Tx
	report *models.RowReport

	target func(context.Context) (map[string]db.Statement, error)

	// left are the people who were asked about a request, and are no longer.
	rest map[[2]string]struct{}
}

func (c *rowCheck) fault(table, id, format string, args ...any) {
	c.report.Add(models.RowFault{Table: table, ID: id, Text: fmt.Sprintf(format, args...)})
}

// leaves notes who an entry says is not asked about a request any more.
func (c *rowCheck) leaves(e *models.Entry) {
	if e.Action != "approval.routed" {
		return
	}
	var said struct {
		Left []string `json:"left"`
	}
	if err := json.Unmarshal([]byte(e.Data), &said); err != nil {
		return // that is reported already
	}
	for _, user := range said.Left {
		c.rest[[2]string{user, string(e.ResponseID)}] = struct{}{}
	}
}

// strayReaders are the entries that a person reads of a request that was not routed to them.
const strayReaders = `SELECT k.reader_id, k.seq, coalesce(l.response_id, '') FROM ledger_readers k LEFT JOIN ledger l ON l.seq = k.seq
 WHERE NOT EXISTS (SELECT 1 FROM reviewers v WHERE v.user_id = k.reader_id AND v.response_id = l.response_id)`

// readers looks for people who read entries without having been asked. Who has left a group
// keeps the entries of when they were in it; what they tell of the request is hidden.
func (c *rowCheck) readers() error {
	rows, err := c.dbtx.QueryContext(c.ctx, strayReaders)
	if err != nil {
		return fmt.Errorf("read readers: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var reader, seq, response string
		if err := rows.Scan(&reader, &seq, &response); err != nil {
			return fmt.Errorf("read readers: %w", err)
		}
		if _, rest := c.rest[[2]string{reader, response}]; !rest {
			c.fault("ledger_readers", reader+" "+seq, "this person was not asked about the entry's request")
		}
	}
	return rows.Err()
}
