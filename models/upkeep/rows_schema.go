package upkeep

import (
	"database/sql"
	"fmt"

	"countersign/models/db"
	"countersign/models/ledger"
)

// derivedRows are rows that follow from others: a row of each query is one that
// does not.
var derivedRows = []struct{ table, text, query string }{
	{
		"deciders", "this person may not decide the request, or it does not wait until then",
		`SELECT d.user_id || ' ' || d.response_id FROM deciders d LEFT JOIN responses r ON r.id = d.response_id
 WHERE r.approval_status IS NOT 'pending' OR d.deadline <> r.approval_timeout_at
 OR (d.user_id <> r.owner_id AND NOT EXISTS (SELECT 1 FROM reviewers v WHERE v.user_id = d.user_id AND v.response_id = d.response_id))`,
	},
	{
		"deciders", "the request waits, and is missing in the inbox of its owner",
		`SELECT r.owner_id || ' ' || r.id FROM responses r` + db.ByResponsesPendingRisk + `
 WHERE r.approval_status = 'pending' AND NOT EXISTS (SELECT 1 FROM deciders d WHERE d.user_id = r.owner_id AND d.deadline = r.approval_timeout_at AND d.response_id = r.id)`,
	},
	{
		"reviewers", "nobody asked this person",
		`SELECT v.user_id || ' ' || v.response_id FROM reviewers v LEFT JOIN responses r ON r.id = v.response_id
 WHERE r.id IS NULL OR r.requires_approval = FALSE`,
	},
	{
		"reviewers", "its number is not the request's",
		`SELECT v.user_id || ' ' || v.response_id FROM reviewers v CROSS JOIN responses r ON r.id = v.response_id WHERE v.number <> r.number`,
	},
	{"ledger_keys", "no indexed entry of the ledger has this key", ledger.StrayKeys},
	{"ledger_keys", "an entry of the ledger has this key, and is not found by it", ledger.MissingKeys},
	{"conversations", "its energy is not what its responses and model calls have spent", energySums},
}

func (c *rowCheck) derived() error {
	for _, d := range derivedRows {
		rows, err := c.dbtx.QueryContext(c.ctx, d.query)
		if err != nil {
			return fmt.Errorf("read %s: %w", d.table, err)
		}
		if err := c.eachID(rows, func(id string) { c.fault(d.table, id, "%s", d.text) }); err != nil {
			return fmt.Errorf("read %s: %w", d.table, err)
		}
	}
	return c.readers()
}

func (c *rowCheck) eachID(rows *sql.Rows, do func(id string)) error {
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return err
		}
		do(id)
	}
	return rows.Err()
}

// schema compares tables, indexes, triggers and views with those that the
// migrations make.
func (c *rowCheck) schema() error {
	want, err := c.target(c.ctx)
	if err != nil {
		return err
	}
	have, err := db.Schema(c.ctx, c.dbtx)
	if err != nil {
		return err
	}
	for what, statement := range want {
		c.report.Checked["schema"]++
		switch found, ok := have[what]; {
		case !ok:
			c.fault("schema", what, "it is missing: a migration makes it")
		case !found.Same(statement):
			c.fault("schema", what, "it is not as the migrations make it")
		}
	}
	for what := range have {
		if _, ok := want[what]; !ok {
			c.fault("schema", what, "no migration makes it")
		}
	}
	return nil
}
