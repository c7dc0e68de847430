package store_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/proof"
	"countersign/models/store"
	"countersign/models/storetest"
)

// TestEachColumnIsProvedAsDeclared changes, in each table, one value of each column beside the
// store. What is proved is found, in its table and row; what is said to follow from other rows is
// found somewhere; and what is said not to be proved is not.
func TestEachColumnIsProvedAsDeclared(t *testing.T) {
	t.Parallel()
	w := pastOf(t)
	w.othersAct(t)
	spent := limited(t, 10)
	storetest.Must(t, spent.replyIn(t, spent.conv, 10))
	storetest.Must(t, second(spent.Decide(t.Context(), spent.owner, spent.beyond(t, spent.replyIn(t, spent.conv, 3)).ID, yes())))
	files := []*sql.DB{unguarded(t, w.Store), unguarded(t, spent.Store)}
	for _, table := range proof.Tables() {
		columns := map[string]string{}
		var key []string
		for _, name := range storetest.Column(t, w.Store, `SELECT name FROM pragma_table_info('`+table+`')`) {
			columns[name] = storetest.Column(t, w.Store, `SELECT type FROM pragma_table_info('`+table+`') WHERE name = ?`, name)[0]
		}
		key = storetest.Column(t, w.Store, `SELECT name FROM pragma_table_info('`+table+`') WHERE pk > 0 ORDER BY pk`)
		of := strings.Join(key, ", ")
		for name, kind := range columns {
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
	w.substitute(t, w.owner, eve)
	w.handsOver(t, w.owner, w.run(t, "hand over", "/else").ID, eve)
	w.away(t, w.owner, eve)
	storetest.Must(t, storetest.Err(w.People.AddChannel(t.Context(), eve, models.ChannelInput{Kind: models.ChannelEmail, Target: models.ChannelTarget{Address: "eve@example.com"}})))
	storetest.CheckRows(t, w.Store)
}

// unguarded is a copy of a database without what would refuse an edit.
func unguarded(t *testing.T, s *store.Store) *sql.DB {
	t.Helper()
	file, err := sql.Open("sqlite3", "file:"+copyOf(t, s))
	storetest.Must(t, err)
	t.Cleanup(func() { file.Close() })
	file.SetMaxOpenConns(1)
	for _, name := range storetest.Column(t, s, `SELECT name FROM sqlite_master WHERE type = 'trigger'`) {
		_, err := file.ExecContext(t.Context(), `DROP TRIGGER `+name)
		storetest.Must(t, err)
	}
	_, err = file.ExecContext(t.Context(), `PRAGMA ignore_check_constraints = ON`)
	storetest.Must(t, err)
	return file
}

// another is SQL for another value of a column.
func another(name, kind string) string {
	switch kind {
	case "DATETIME":
		return `'2036-01-01 00:00:00+00:00'`
	case "INTEGER", "BOOLEAN":
		return `coalesce("` + name + `", 0) + 1000`
	case "BLOB":
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
		defer dbtx.Rollback() //nolint:errcheck // that is what it is for
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
