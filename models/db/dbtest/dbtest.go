// Package dbtest opens fresh databases and reads the plans of queries, for tests of the
// rooms above the kernel.
package dbtest

import (
	"path/filepath"
	"strings"
	"testing"

	"countersign/models/db"
)

// Open opens a fresh database and closes it with the test.
func Open(tb testing.TB) *db.DB {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "data")
	Migrate(tb, dir)
	d, err := db.Open(tb.Context(), db.Options{Dir: dir})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := d.Close(); err != nil {
			tb.Error(err)
		}
	})
	return d
}

// Dir is the data folder of an open database.
func Dir(d *db.DB) string { return filepath.Dir(d.Path()) }

// Plan is how SQLite would answer a query, a step a line.
func Plan(tb testing.TB, d *db.DB, query string, args ...any) string {
	tb.Helper()
	rows, err := d.Reads().QueryContext(tb.Context(), `EXPLAIN QUERY PLAN `+query, args...)
	if err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var lines []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			tb.Fatal(err)
		}
		lines = append(lines, detail)
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
