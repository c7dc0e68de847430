package upkeep

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// exempt counts the rows of what no entry is compared with, table by table, with the reason: a
// report without faults must say what was left out.
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
