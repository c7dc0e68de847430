package store_test

import (
	"testing"
	"time"

	"countersign/models"
)

// What another system says of its run and time is kept with the request, however it found
// its place, and is part of what the ledger proves.
func TestAnOutsideRunAndTimeAreKept(t *testing.T) {
	t.Parallel()
	asked := time.Date(2026, 3, 1, 9, 30, 0, 123456000, time.UTC)
	for name, tt := range map[string]struct {
		item models.OutsideItem
		open []models.RunInput
		kept *string
	}{
		"own run":   {call("c", "r", "bash", `{"n":1}`), []models.RunInput{{RunID: "r"}}, nil},
		"run below": {call("c", "top", "bash", `{"n":1}`), []models.RunInput{{RunID: "low", ParentRunID: "top"}}, new("top")},
		"no run":    {call("c", "theirs", "bash", `{"n":1}`), nil, new("theirs")},
		"none said": {call("c", "", "bash", `{"n":1}`), nil, nil},
		"contact":   {contact("c", "theirs", "Which region?"), nil, new("theirs")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newOutsideWorld(t)
			for _, run := range tt.open {
				w.open(t, run, reported("u", "bash", `{"n":1}`))
			}
			tt.item.AskedAt = asked
			w.take(t, tt.item)
			w.take(t, tt.item)
			a := w.stands(t, w.of(t, "c").id)
			switch {
			case a.ClaimedAt == nil || !a.ClaimedAt.Equal(asked) || !a.AskedTime().Equal(asked):
				t.Errorf("asked at %v", a.ClaimedAt)
			case (a.OutsideRun == nil) != (tt.kept == nil) || tt.kept != nil && *a.OutsideRun != *tt.kept:
				t.Errorf("its run is %v", a.OutsideRun)
			case tt.item.RunID != "" && (a.AskedRun() == nil || *a.AskedRun() != tt.item.RunID):
				t.Errorf("asked for run %v", a.AskedRun())
			}
			w.verifyRows(t)
		})
	}
}
