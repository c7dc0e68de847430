package ledger_test

import (
	"errors"
	"testing"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/db/dbtest"
	"countersign/models/ledger"
)

// Whatever is written, by whom and with what luck: no entry is far from being indexed,
// and what is indexed is what the ledger says.
func TestTheLedgerIsIndexedCloseBehindItsHead(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	one, err := ledger.New(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	beside := dbtest.Again(t, d)
	other, err := ledger.New(t.Context(), beside)
	if err != nil {
		t.Fatal(err)
	}
	number := func(query string) (n int64) {
		t.Helper()
		if err := d.Reads().QueryRowContext(t.Context(), query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	spoilt := errors.New("spoilt")
	for i, w := range []struct {
		l       *ledger.Ledger
		d       *db.DB
		entries int
		err     error
	}{
		{l: one, d: d, entries: 1},
		{l: one, d: d, entries: 199},
		{l: one, d: d, entries: 1, err: spoilt},
		{l: one, d: d, entries: 1},
		{l: one, d: d, entries: 700, err: spoilt},
		{l: one, d: d, entries: 150},
		{l: other, d: beside, entries: 60},
		{l: one, d: d, entries: 20},
		{l: one, d: d, entries: 1800},
		{l: other, d: beside, entries: 1},
	} {
		before := number(`SELECT count(*) FROM ledger`)
		err := w.d.Write(t.Context(), func(tx *db.Tx) error {
			for n := range w.entries {
				if err := w.l.Append(tx, models.Actor{Kind: models.ActorSystem, Name: "test"}, []string{"test.one", "test.two"}[n%2], ledger.Subject{Owner: "u", Conversation: "c"}, n); err != nil {
					return err
				}
			}
			return w.err
		})
		if !errors.Is(err, w.err) {
			t.Fatal(err)
		}
		want := before + int64(w.entries)
		if w.err != nil {
			want = before
		}
		indexed, keys := number(`SELECT indexed FROM ledger_head`), number(`SELECT count(*) FROM ledger_keys`)
		if got := number(`SELECT count(*) FROM ledger`); got != want || got-indexed > 200 || indexed > got || keys != indexed*3 {
			t.Errorf("after %d: %d entries, want %d; indexed %d with %d keys", i, got, want, indexed, keys)
		}
		if faults := number(`SELECT count(*) FROM (` + ledger.StrayKeys + ` UNION ALL ` + ledger.MissingKeys + `)`); faults != 0 {
			t.Errorf("after %d: %d keys are stray or missing", i, faults)
		}
	}
}
