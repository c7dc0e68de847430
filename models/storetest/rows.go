package storetest

import (
	"context"
	"testing"

	"countersign/models/store"
)

// CheckRows finds every row as the ledger tells of it.
func CheckRows(tb testing.TB, s *store.Store) {
	tb.Helper()
	found, err := s.VerifyRows(context.WithoutCancel(tb.Context()), nil)
	if err != nil {
		tb.Errorf("compare the rows with the ledger: %v", err)
		return
	}
	for _, f := range found.Faults {
		tb.Errorf("rows: %s %s %s (entry %d): %s", f.Table, f.ID, f.Column, f.Entry, f.Text)
	}
}
