package upkeep

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"countersign/models"
)

// removedFrom is under which name rows are noted that an entry says contents were
// removed from.
func removedFrom(table string) string { return table + ", removed" }

// keyColumns name a row where that is not its id.
var keyColumns = map[string][]string{
	"turns": {"conversation_id", "sequence"}, "budget_steps": {"conversation_id", "sequence"},
	"early_results": {"conversation_id", "tool_use_id"}, "outside_approvals": {"number"}, "deliveries": {"response_id"}, "withdrawals": {"vote_id"},
}

// removedCheck compares the rows that a step of a purge names: where it says that
// contents were removed, the mark stands and nothing else. All else is compared
// with the other entries as ever.
func removedCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	for _, said := range d.Rows {
		if _, ok := contentColumns[said.Table]; !ok {
			c.fault("ledger", fmt.Sprint(e.Seq), "data", e.Seq, "the entry names a table from which nothing is removed")
			continue
		}
		c.name(removedFrom(said.Table), said.ID)
		mark := d.Removed
		if said.Mark != "" {
			mark = said.Mark
		}
		if err := c.removedRow(e, &said, mark); err != nil {
			return err
		}
	}
	return nil
}

func (c *rowCheck) removedRow(e *models.Entry, said *removedRow, mark string) error {
	read := proven(said.Table)
	if _, listed := columns[said.Table]["*"]; listed || len(read) == 0 {
		return nil // nothing of such a table is proven
	}
	columns := keyColumns[said.Table]
	if columns == nil {
		columns = []string{"id"}
	}
	key := strings.SplitN(said.ID, " ", len(columns))
	args := make([]any, len(key))
	for i := range key {
		args[i] = key[i]
	}
	row, err := c.lookUp(said.Table, strings.Join(columns, " = ? AND ")+" = ?", args...)
	if err != nil || !row.found {
		return err // that it is missing is told by the entry that made it
	}
	a := c.compare(e, said.Table, said.ID, row)
	for _, column := range said.Columns {
		if slices.Contains(read, column) {
			a.removed(column, markIn(said.Table, column, mark))
		}
	}
	if slices.Contains(read, "removed") {
		a.is("removed", mark)
	}
	switch said.Table {
	case "responses":
		a.proves(askProven, said.Digest, askProof(row))
	case "votes":
		a.proves("undo_until, budget_set, budget_delta, answer or option", said.Digest, heldProof(row))
		if slices.Contains(said.Columns, "option") {
			a.settled("answer") // one of the two is what was answered
		}
	}
	return nil
}

// removed: the mark stands in the place of what was in the column.
func (a *comparison) removed(column, mark string) {
	if a.row.text(column) == mark {
		a.settled(column)
		return
	}
	a.claim(column, claim{entry: a.entry, text: "the ledger says that the contents were removed, and the row has something else there"})
}

// markIn is a mark in the form in which it stands in a column.
func markIn(table, column, mark string) string {
	switch columns[table][column].removal {
	case markObject:
		return `{"removed":"` + mark + `"}`
	case markList:
		return `["` + mark + `"]`
	case markOptions:
		return `[{"name":"` + mark + `"}]`
	}
	return mark
}

// unsaid looks for rows that say that contents were removed although no entry does.
func (c *rowCheck) unsaid() error {
	for _, table := range sortedKeys(contentColumns) {
		if !slices.Contains(proven(table), "removed") {
			continue
		}
		key := cmp.Or(strings.Join(keyColumns[table], ` || ' ' || `), "id")
		rows, err := c.dbtx.QueryContext(c.ctx, `SELECT `+key+` FROM `+table+` WHERE removed IS NOT NULL`) //nolint:gosec // names of ours
		if err != nil {
			return fmt.Errorf("read %s: %w", table, err)
		}
		if err := c.eachID(rows, func(id string) {
			if !c.isNamed(removedFrom(table), id) {
				c.fault(table, id, "removed", 0, "the row says that contents were removed, and no entry of the ledger does")
			}
		}); err != nil {
			return fmt.Errorf("read %s: %w", table, err)
		}
	}
	return nil
}
