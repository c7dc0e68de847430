package db_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"countersign/models/db"
	"countersign/models/db/dbtest"
)

// onlyHere are words of SQL that SQLite alone understands, or says in its own way. They
// stand in this folder only, as functions and constants with a name.
//
// What stays elsewhere, because other databases understand it too or there is no name
// for it: RETURNING, comparing rows ((a, b) > (?, ?)), WITH … AS MATERIALIZED,
// octet_length, substr, CROSS JOIN (which SQLite, and only it, takes as the order in
// which to join), the numbered and named parameters (?1, :me), the column that stands
// bare beside max() in energy.go, and what the migrations make (migrations/sqlite).
var onlyHere = regexp.MustCompile(`(?i)\bON CONFLICT\b|\bINSERT OR (IGNORE|REPLACE)\b|\bREPLACE INTO\b|\bjson_[a-z_]+\(|->>|\b(group_concat|iif|ifnull|instr|strftime|datetime|julianday|unixepoch|total_changes|changes|last_insert_rowid|sqlite_version|randomblob|likelihood|unlikely|typeof|printf)\(|\bPRAGMA\b|\bpragma_[a-z_]+|\bsqlite_(master|schema|sequence)\b|\browid\b|\bINDEXED BY\b|\b(?-i:VACUUM)\b|\bGLOB '|(^|[ (,])\+[a-z_.]+ (=|IN|GLOB|LIKE)|0x40000002`)

// The rooms put their queries together of what this folder names.
func TestOnlyThisFolderKnowsTheDialect(t *testing.T) {
	read := 0
	each := func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			// storetest plants rows and looks into files, for tests; headline reads what agents
			// ask of databases of any kind, and sends nothing to ours.
			switch filepath.ToSlash(path) {
			case "../../models/db", "../../models/storetest", "../../models/headline":
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_templ.go") {
			return nil
		}
		read++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok {
				if word := onlyHere.FindString(text.Value); word != "" {
					t.Errorf("%s: %q is said in models/db only (dialect.go, hints.go)", set.Position(text.Pos()), word)
				}
			}
			return true
		})
		return nil
	}
	// The top itself is not listed: what is built there would have go test run again.
	for _, folder := range []string{"cmd", "handlers", "migrations", "models", "workers"} {
		if err := filepath.WalkDir(filepath.Join("..", "..", folder), each); err != nil {
			t.Fatal(err)
		}
	}
	if read < 100 {
		t.Fatalf("%d files read", read)
	}
}

// What is written while a transaction reads is not seen by it, on either database.
func TestAReadIsOfOneState(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	read, err := db.BeginRead(t.Context(), d.Reads())
	if err != nil {
		t.Fatal(err)
	}
	defer read.Rollback()
	leases := func() (n int) {
		t.Helper()
		if err := read.QueryRowContext(t.Context(), `SELECT count(*) FROM leases`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := leases()
	if err := d.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.ExecContext(t.Context(), `INSERT INTO leases (name, number, holder, until) VALUES ('one', 1, 'h', ?)`, tx.Now)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if after := leases(); after != before {
		t.Errorf("%d rows, then %d within one read", before, after)
	}
}
