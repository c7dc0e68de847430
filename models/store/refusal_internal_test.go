package store

import (
	"errors"
	"testing"

	"countersign/models"
)

// TestARefusalThatCommitsSharesABatch: what it leaves stands, and its neighbours
// neither lose it nor are lost with it.
func TestARefusalThatCommitsSharesABatch(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	refuses := models.Errorf(models.CodeBudgetExhausted, "no more")
	broken := errors.New("broken")
	add := func(action string, err error) func(*tx) error {
		return func(t *tx) error {
			if failed := t.record(models.System("test"), action, subject{}, nil); failed != nil {
				return failed
			}
			return err
		}
	}
	stands := func(action string) int {
		t.Helper()
		var n int
		if err := s.r.QueryRowContext(t.Context(), `SELECT count(*) FROM ledger WHERE action = ?`, action).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, tt := range []struct {
		name   string
		spoils error // of a neighbour
		panics bool
	}{{"alone in good company", nil, false}, {"beside one that fails after writing", broken, false}, {"beside one that panics", nil, true}} {
		before := [3]int{stands("before"), stands("refused"), stands("after")}
		neighbour := add("spoilt", tt.spoils)
		if tt.panics {
			neighbour = func(t *tx) error { t.conn.wrote = true; panic("no") }
		}
		errs := together(t, s, make(chan struct{}), add("before", nil), add("refused", commits(refuses)), neighbour, add("after", nil))
		if errs[0] != nil || !errors.Is(errs[1], refuses) || errs[3] != nil {
			t.Errorf("%s: %v", tt.name, errs)
		}
		if e, ok := errs[1].(*models.Error); !ok || e.Code != models.CodeBudgetExhausted { //nolint:errorlint // exactly this type is promised
			t.Errorf("%s: the caller is told %T", tt.name, errs[1])
		}
		if after := [3]int{stands("before"), stands("refused"), stands("after")}; after != [3]int{before[0] + 1, before[1] + 1, before[2] + 1} {
			t.Errorf("%s: %v stood, %v stand", tt.name, before, after)
		}
	}
	if _, err := s.VerifyLedger(t.Context(), nil); err != nil {
		t.Error(err)
	}
}
