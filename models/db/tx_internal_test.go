package db

import (
	"errors"
	"testing"

	"countersign/models"
)

// TestARefusalThatCommitsSharesABatch: what it leaves stands, and its neighbours
// neither lose it nor are lost with it.
func TestARefusalThatCommitsSharesABatch(t *testing.T) {
	t.Parallel()
	d, room := openTemp(t, Options{})
	refuses := models.Errorf(models.CodeBudgetExhausted, "no more")
	broken := errors.New("broken")
	add := func(action string, err error) func(*Tx) error {
		return func(t *Tx) error {
			if failed := room.add(t, action); failed != nil {
				return failed
			}
			return err
		}
	}
	for _, tt := range []struct {
		name   string
		spoils error // of a neighbour
		panics bool
	}{{"alone in good company", nil, false}, {"beside one that fails after writing", broken, false}, {"beside one that panics", nil, true}} {
		before := [3]int64{room.stands(t, "before"), room.stands(t, "refused"), room.stands(t, "after")}
		neighbour := add("spoilt", tt.spoils)
		if tt.panics {
			neighbour = func(t *Tx) error { t.wrote = true; panic("no") }
		}
		errs := together(t, d, make(chan struct{}), add("before", nil), add("refused", Commits(refuses)), neighbour, add("after", nil))
		if errs[0] != nil || !errors.Is(errs[1], refuses) || errs[3] != nil {
			t.Errorf("%s: %v", tt.name, errs)
		}
		if e, ok := errs[1].(*models.Error); !ok || e.Code != models.CodeBudgetExhausted {
			t.Errorf("%s: the caller is told %T", tt.name, errs[1])
		}
		if after := [3]int64{room.stands(t, "before"), room.stands(t, "refused"), room.stands(t, "after")}; after != [3]int64{before[0] + 1, before[1] + 1, before[2] + 1} {
			t.Errorf("%s: %v stood, %v stand", tt.name, before, after)
		}
	}
	room.check(t)
}
