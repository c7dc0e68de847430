package upkeep

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"countersign/models"
)

// stopCheck compares a stop with the entry that made it or that ended it. A stop that an entry
// made and no entry ended must be there, in force.
func stopCheck(c *rowCheck, e *models.Entry, d *entryData, _ *entryRows) error {
	makes := e.Action == "agents.stopped"
	a, err := c.createdRow(e, "stops", d.Stop, makes)
	if a == nil || err != nil {
		return err
	}
	by := ""
	if e.ActorKind == models.ActorUser {
		by = e.ActorID
	}
	if makes {
		a.is("agent_id", d.Agent)
		a.is("at", fileTime(e.At))
		a.is("by_id", by)
		a.is("by_name", e.ActorName)
		a.text("note", orNote(d.NoteText))
		a.is("lifted_at", null)
		a.is("lifted_id", "")
		a.is("lifted_name", "")
		a.is("lifted_note", "")
		return nil
	}
	a.is("agent_id", d.Agent)
	a.is("lifted_at", fileTime(e.At))
	a.is("lifted_id", by)
	a.is("lifted_name", e.ActorName)
	a.text("lifted_note", orNote(d.NoteText))
	return nil
}

func orNote(digest *string) string {
	if digest == nil {
		return ""
	}
	return *digest
}

// exempt counts the rows of what no entry is compared with, table by table, with the reason:
// whoever reads a report without faults must see what it says nothing about.
func (c *rowCheck) exempt() error {
	for _, table := range slices.Sorted(maps.Keys(columns)) {
		if table == "goose_db_version" { // the schema itself is compared
			continue
		}
		reasons := map[string][]string{}
		for name, col := range columns[table] {
			if reason, not := strings.CutPrefix(col.proof, "not: "); not {
				reasons[reason] = append(reasons[reason], name)
			}
		}
		if len(reasons) == 0 {
			continue
		}
		var rows int64
		if err := c.dbtx.QueryRowContext(c.ctx, `SELECT count(*) FROM `+table).Scan(&rows); err != nil {
			return fmt.Errorf("count %s: %w", table, err)
		}
		if rows == 0 {
			continue
		}
		for reason, names := range reasons {
			c.report.NotCompared[exemptName(table, names)+": "+reason] = rows
		}
	}
	return nil
}

// exemptName names a table, or those columns of it that are not compared. "*" is each column
// that is not named otherwise.
func exemptName(table string, names []string) string {
	slices.Sort(names)
	if slices.Contains(names, "*") {
		if len(proven(table)) == 0 {
			return table
		}
		return table + " (other columns)"
	}
	return table + " (" + strings.Join(names, ", ") + ")"
}
