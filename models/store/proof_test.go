package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/proof"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// TestEachColumnIsProvedAsDeclared changes, in each table, one value of each column beside the
// store. What is proved is found, in its table and row; what is said to follow from other rows is
// found somewhere; and what is said not to be proved is not.
func TestEachColumnIsProvedAsDeclared(t *testing.T) {
	t.Parallel()
	w := pastOf(t)
	w.othersAct(t)
	spent := limited(t, 10)
	storetest.Must(t, spent.replyIn(t, spent.Conv, 10))
	storetest.Must(t, second(spent.Decide(t.Context(), spent.Owner, spent.beyond(t, spent.replyIn(t, spent.Conv, 3)).ID, storetest.Yes())))
	files := []*sql.DB{unguarded(t, w.Store), unguarded(t, spent.Store)}
	for _, table := range proof.Tables() {
		columns := dbtest.Columns(t, files[0], table)
		var key []string
		for _, c := range columns {
			if c.Key {
				key = append(key, c.Name)
			}
		}
		of := strings.Join(key, ", ")
		for _, c := range columns {
			name, kind := c.Name, c.Type
			why, followed := proof.Unproved(table, name)
			if followed {
				continue // TestEachEditOfARowIsFound edits these
			}
			edit := fmt.Sprintf(`UPDATE %s SET "%s" = %s WHERE (%s) = (SELECT %s FROM %s LIMIT 1)`, table, name, another(name, kind), of, of, table)
			found, changed := editedRows(t, edit, files...)
			in := slices.ContainsFunc(found, func(f models.RowFault) bool { return f.Table == table && f.ID != "" })
			switch {
			case !changed && why == "":
				t.Errorf("no world has a row of %s", table)
			case why == "" && !in:
				t.Errorf("%s.%s is proved, and a change of it is not found: %v", table, name, found)
			case why != "" && len(found) > 0:
				t.Errorf("%s.%s is not proved (%s), and a change of it is found: %v", table, name, why, found)
			}
		}
	}
}

// othersAct has people act for others, and a channel in use.
func (w *outsideWorld) othersAct(t *testing.T) {
	t.Helper()
	eve := storetest.Reviewer(t, w.Store, "eve@example.com")
	w.substitute(t, w.Owner, eve)
	w.handsOver(t, w.Owner, w.run(t, "hand over", "/else").ID, eve)
	w.away(t, w.Owner, eve)
	storetest.Must(t, storetest.Err(w.People.AddChannel(t.Context(), eve, models.ChannelInput{Kind: models.ChannelEmail, Target: models.ChannelTarget{Address: "eve@example.com"}})))
	storetest.CheckRows(t, w.Store)
}

// unguarded is a copy of a database without what would refuse an edit.
func unguarded(t *testing.T, s *store.Store) *sql.DB {
	t.Helper()
	file := dbtest.Beside(t, filepath.Join(copyOf(t, s), models.DatabaseFile))
	file.SetMaxOpenConns(1)
	dbtest.NoRules(t, file)
	return file
}

// another is SQL for another value of a column.
func another(name, kind string) string {
	switch kind {
	case "datetime", "timestamp with time zone":
		return `'2036-01-01 00:00:00+00:00'`
	case "boolean":
		if dbtest.OnPostgres() {
			return `NOT coalesce("` + name + `", FALSE)`
		}
		fallthrough
	case "integer", "bigint":
		return `coalesce("` + name + `", 0) + 1000`
	case "blob", "bytea":
		return `x'00'`
	}
	return `coalesce("` + name + `", '') || 'x'`
}

// editedRows are the faults of the first file in which an edit changes something; it is undone.
func editedRows(t *testing.T, edit string, files ...*sql.DB) (_ []models.RowFault, changed bool) {
	t.Helper()
	for _, file := range files {
		dbtx, err := file.BeginTx(t.Context(), nil)
		storetest.Must(t, err)
		defer dbtx.Rollback()
		res, err := dbtx.ExecContext(t.Context(), edit)
		if err != nil {
			t.Fatalf("%v\n%s", err, edit)
		}
		n, err := res.RowsAffected()
		storetest.Must(t, err)
		if n == 0 {
			continue
		}
		report := &models.RowReport{Checked: map[string]int64{}, NotCovered: map[string]int64{}, NotCompared: map[string]int64{}}
		storetest.Must(t, proof.Check(t.Context(), dbtx, nil, report, func(*models.Entry) {}))
		return report.Faults, true
	}
	return nil, false
}

// TestAnEditIsFoundAfterAnActHasChangedTheRow: an act records what it found, so it explains
// nothing that was there before it.
func TestAnEditIsFoundAfterAnActHasChangedTheRow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.AskFor(t, models.AskInput{ToolName: "Bash", Input: []byte(`{}`), Explanation: models.Explanation{Description: "Removes all."}})
	file := storetest.Tamper(t, b.Store)
	dbtest.Forge(t, file, `UPDATE responses SET description = 'Looks around.'`)
	dbtest.Forge(t, file, `UPDATE users SET role = 'admin' WHERE email LIKE 'stranger%'`)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, storetest.Yes())))
	storetest.Must(t, b.People.SetPassword(t.Context(), b.Admin, b.Stranger.UserID(), "another correct horse"))
	report, err := upkeep.New(b.Store).VerifyRows(t.Context(), nil)
	storetest.Must(t, err)
	for _, row := range [][2]string{{"responses", string(a.ID)}, {"users", string(b.Stranger.UserID())}} {
		if !slices.ContainsFunc(report.Faults, func(f models.RowFault) bool {
			return f.Table == row[0] && f.ID == row[1] && strings.Contains(f.Text, "when this entry was made")
		}) {
			t.Errorf("%s is not named: %v", row, report.Faults)
		}
	}
}

// TestRowsOfAnOlderDatabaseAreListedOnce, also where that is broken off, and are proved then.
func TestRowsOfAnOlderDatabaseAreListedOnce(t *testing.T) {
	t.Parallel()
	dir := folderOf46(t)
	ctx, stop := context.WithCancel(t.Context())
	commits := 0
	_, err := store.Open(ctx, store.Options{Dir: dir, Log: slog.New(slog.DiscardHandler), BeforeCommit: func() {
		if commits++; commits == 3 {
			stop()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("open: %v", err)
	}
	const listed = `SELECT count(*) || ' ' || count(DISTINCT data ->> 'table') FROM ledger WHERE action = 'ledger.rows_sealed'`
	if n := lines(t, dir, listed); n[0] != "3 3" {
		t.Errorf("entries and tables when it was broken off: %s", n)
	}
	s := storetest.New(t, storetest.WithDir(dir), storetest.WithClock(afterDump()))
	report, err := upkeep.New(s).VerifyRows(t.Context(), nil)
	storetest.Must(t, err)
	if rows := report.Rows() - report.Checked["schema"]; report.Found > 0 || report.Uncovered() != rows || rows == 0 {
		t.Errorf("%d of %d rows are told to be as they were found, and there are the faults %v", report.Uncovered(), rows, report.Faults)
	}
	before := lines(t, dir, listed)
	storetest.Must(t, s.Close())
	s = storetest.New(t, storetest.WithDir(dir), storetest.WithClock(afterDump()))
	if now := lines(t, dir, listed); now[0] != before[0] {
		t.Errorf("entries and tables: %s, and after another start %s", before, now)
	}
	_, err = storetest.Tamper(t, s).ExecContext(t.Context(), `INSERT INTO users (id, email, name, role, password_hash, created_at, disabled_at) SELECT 'made-up', 'eve@example.com', name, role, password_hash, created_at, NULL FROM users LIMIT 1`)
	storetest.Must(t, err)
	storetest.Must(t, s.Close())
	s = storetest.New(t, storetest.WithDir(dir), storetest.WithClock(afterDump()))
	report, err = upkeep.New(s).VerifyRows(t.Context(), nil)
	storetest.Must(t, err)
	if report.Found != 1 || report.Faults[0].ID != "made-up" {
		t.Errorf("a row that was put in before another start: %v", report.Faults)
	}
}
