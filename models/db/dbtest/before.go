package dbtest

import (
	"database/sql"
	_ "embed"
	"os"
	"path/filepath"
	"testing"

	"countersign/models"
)

//go:embed testdata/0046.sql
var before string

// Before puts a database into a folder that has none: one of before the migrations became one,
// with the 46 of then, and with rows.
func Before(tb testing.TB, dir string) {
	tb.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	file := filepath.Join(dir, models.DatabaseFile)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		tb.Fatal(err)
	}
	pool, err := sql.Open("sqlite3", file)
	if err != nil {
		tb.Fatal(err)
	}
	defer pool.Close()
	if _, err := pool.ExecContext(tb.Context(), before+`PRAGMA journal_mode = WAL`); err != nil {
		tb.Fatalf("make a database of before: %v", err)
	}
}
