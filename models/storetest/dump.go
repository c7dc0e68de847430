package storetest

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models/db/dbtest"
	"countersign/models/store"
)

// Dump is everything that is stored, row by row, but for the bookkeeping of
// last uses: two dumps are equal when nothing was changed between them.
func Dump(tb testing.TB, s *store.Store) string {
	tb.Helper()
	db := dbtest.Look(tb, s.Path())
	var out strings.Builder
	for _, table := range dbtest.Tables(tb, db) {
		columns := slices.DeleteFunc(dbtest.ColumnsOf(tb, db, table), func(c string) bool { return strings.HasPrefix(c, "last_") })
		if len(columns) == 0 {
			continue
		}
		fmt.Fprintf(&out, "%s\n%s\n", table, strings.Join(rowsOf(tb, db, table, columns), "\n"))
	}
	return out.String()
}

// rowsOf are the rows of a table, a line each, in order.
func rowsOf(tb testing.TB, db *sql.DB, table string, columns []string) (lines []string) {
	tb.Helper()
	rows, err := db.QueryContext(tb.Context(), `SELECT "`+strings.Join(columns, `", "`)+`" FROM "`+table+`"`) //nolint:gosec // names of the schema
	Must(tb, err)
	defer rows.Close()
	for rows.Next() {
		row, places := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			places[i] = &row[i]
		}
		Must(tb, rows.Scan(places...))
		for i := range row {
			if at, ok := row[i].(time.Time); ok {
				row[i] = at.UTC()
			}
		}
		lines = append(lines, fmt.Sprintf("%q", row))
	}
	Must(tb, rows.Err())
	slices.Sort(lines)
	return lines
}
