package upkeep_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// TestRowsAreComparedOnceAWeek over restarts, and what was found is kept.
func TestRowsAreComparedOnceAWeek(t *testing.T) {
	t.Parallel()
	dir, clock := storetest.Dir(t), storetest.NewClock()
	s := storetest.New(t, storetest.WithDir(dir), storetest.WithClock(clock))
	storetest.Admin(t, s)
	if found, err := upkeep.New(s).CheckRowsIfDue(t.Context()); err != nil || found == nil || found.Found > 0 || found.Rows() == 0 {
		t.Fatalf("the first time: %+v, %v", found, err)
	}
	storetest.Must(t, s.Close())
	clock.Step(6 * 24 * time.Hour)
	s = storetest.New(t, storetest.WithDir(dir), storetest.WithClock(clock))
	if found, err := upkeep.New(s).CheckRowsIfDue(t.Context()); err != nil || found != nil {
		t.Errorf("after six days and a restart: %+v, %v", found, err)
	}
	clock.Step(24 * time.Hour)
	if _, err := storetest.Tamper(t, s).ExecContext(t.Context(), `UPDATE users SET role = 'reviewer'`); err != nil {
		t.Fatal(err)
	}
	found, err := upkeep.New(s).CheckRowsIfDue(t.Context())
	if err != nil || found == nil || found.Found != 1 {
		t.Fatalf("after a week: %+v, %v", found, err)
	}
	n, err := upkeep.New(s).Numbers(t.Context())
	if c := n.RowCheck; err != nil || !c.Failed() || c.Found != 1 || c.EndedAt == nil || !c.EndedAt.Equal(clock.Now()) || !strings.Contains(c.Problem, "the row differs from what was recorded") {
		t.Errorf("kept: %+v, %v", n.RowCheck, err)
	}
}
