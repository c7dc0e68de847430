package storetest

import (
	"context"
	"sync"
	"testing"

	"countersign/models/store"
	"countersign/models/upkeep"
)

var tampered sync.Map

// Tampered says that a test writes rows beside the store, which the ledger does
// not tell of: CheckRows leaves them alone.
func Tampered(s *store.Store) { tampered.Store(s.Path(), true) }

// CheckRows finds every row as the ledger tells of it.
func CheckRows(tb testing.TB, s *store.Store) {
	tb.Helper()
	if _, ok := tampered.Load(s.Path()); ok {
		return
	}
	found, err := upkeep.New(s).VerifyRows(context.WithoutCancel(tb.Context()), nil)
	if err != nil {
		tb.Errorf("compare the rows with the ledger: %v", err)
		return
	}
	for _, f := range found.Faults {
		tb.Errorf("rows: %s %s (entry %d): %s", f.Table, f.ID, f.Entry, f.Text)
	}
}
