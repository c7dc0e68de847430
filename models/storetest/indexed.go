package storetest

import (
	"testing"

	"countersign/models/ledger"
	"countersign/models/store"
)

// IndexLedger has the ledger indexed up to an entry, and not after it: what is read must
// not depend on where that is.
func IndexLedger(tb testing.TB, s *store.Store, seq int64) {
	tb.Helper()
	tx, err := Beside(tb, s).BeginTx(tb.Context(), nil)
	Must(tb, err)
	defer tx.Rollback()
	for _, text := range []string{`UPDATE ledger_head SET indexed = 0`, `DELETE FROM ledger_keys`, ledger.IndexTail} {
		_, err := tx.ExecContext(tb.Context(), text)
		Must(tb, err)
	}
	_, err = tx.ExecContext(tb.Context(), `DELETE FROM ledger_keys WHERE seq > ?`, seq)
	Must(tb, err)
	_, err = tx.ExecContext(tb.Context(), `UPDATE ledger_head SET indexed = ?`, seq)
	Must(tb, err)
	Must(tb, tx.Commit())
}
