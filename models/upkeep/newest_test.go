package upkeep_test

import (
	"testing"
	"time"

	"countersign/models/db/dbtest"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// TestTheNewestEntryIsNotTheLast: where the clock was set back, entries of before are later than
// those that follow.
func TestTheNewestEntryIsNotTheLast(t *testing.T) {
	t.Parallel()
	dir, clock := storetest.Dir(t), storetest.NewClock()
	s := storetest.New(t, storetest.WithDir(dir), storetest.WithClock(clock))
	storetest.Admin(t, s)
	clock.Step(2 * time.Hour)
	ahead := s.Now()
	storetest.Reviewer(t, s, "ahead@example.com")
	clock.Step(-time.Hour)
	storetest.Reviewer(t, s, "back@example.com")
	folder, err := upkeep.Inspect(t.Context(), dir, dbtest.URL(t, dir))
	storetest.Must(t, err)
	defer folder.Close()
	if _, newest, err := folder.Ledger(t.Context()); err != nil || newest.Before(ahead) {
		t.Errorf("the newest entry is from %s, %v; want %s or later", newest, err, ahead)
	}
}
