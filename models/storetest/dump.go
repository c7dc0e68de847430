package storetest

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"countersign/models/store"
)

// Dump is everything that is stored, row by row, but for the bookkeeping of
// last uses: two dumps are equal when nothing was changed between them.
func Dump(tb testing.TB, s *store.Store) string {
	tb.Helper()
	db, err := sql.Open("sqlite3", "file:"+s.Path()+"?mode=ro")
	if err != nil {
		tb.Fatalf("open the database beside the store: %v", err)
	}
	defer db.Close()
	var out strings.Builder
	for _, table := range columnOf(tb, db, `SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`) {
		columns := columnOf(tb, db, `SELECT name FROM pragma_table_info('`+table+`')`)
		columns = slices.DeleteFunc(columns, func(c string) bool { return strings.HasPrefix(c, "last_") })
		if len(columns) == 0 {
			continue
		}
		rows := columnOf(tb, db, `SELECT quote(`+strings.Join(columns, `) || ' ' || quote(`)+`) FROM "`+table+`" ORDER BY 1`)
		fmt.Fprintf(&out, "%s\n%s\n", table, strings.Join(rows, "\n"))
	}
	return out.String()
}

func columnOf(tb testing.TB, db *sql.DB, query string) []string {
	tb.Helper()
	rows, err := db.QueryContext(tb.Context(), query)
	if err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			tb.Fatalf("%s: %v", query, err)
		}
		out = append(out, s)
	}
	if err := rows.Err(); err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	return out
}
