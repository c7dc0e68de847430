package outside_test

import (
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
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
		"own run":   {storetest.Call("c", "r", "bash", `{"n":1}`), []models.RunInput{{RunID: "r"}}, nil},
		"run below": {storetest.Call("c", "top", "bash", `{"n":1}`), []models.RunInput{{RunID: "low", ParentRunID: "top"}}, new("top")},
		"no run":    {storetest.Call("c", "theirs", "bash", `{"n":1}`), nil, new("theirs")},
		"none said": {storetest.Call("c", "", "bash", `{"n":1}`), nil, nil},
		"contact":   {storetest.Contact("c", "theirs", "Which region?"), nil, new("theirs")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, run := range tt.open {
				w.Open(t, run, storetest.Reported("u", "bash", `{"n":1}`))
			}
			tt.item.AskedAt = asked
			w.Take(t, tt.item)
			w.Take(t, tt.item)
			a := w.Read(t, w.Of(t, "c").ID)
			switch {
			case a.ClaimedAt == nil || !a.ClaimedAt.Equal(asked) || !a.AskedTime().Equal(asked):
				t.Errorf("asked at %v", a.ClaimedAt)
			case (a.OutsideRun == nil) != (tt.kept == nil) || tt.kept != nil && *a.OutsideRun != *tt.kept:
				t.Errorf("its run is %v", a.OutsideRun)
			case tt.item.RunID != "" && (a.AskedRun() == nil || *a.AskedRun() != tt.item.RunID):
				t.Errorf("asked for run %v", a.AskedRun())
			}
			w.VerifyRows(t)
		})
	}
}
