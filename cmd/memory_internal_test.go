package cmd

import "testing"

// A limit below what is alive would have the collector run without an end, and so would
// giving back what is not there to give.
func TestTheMemoryLimitFollowsWhatIsAlive(t *testing.T) {
	t.Parallel()
	const mb = 1 << 20
	for _, tt := range []struct {
		name     string
		used     usedMemory
		most     int64
		limit    int64
		giveBack bool
	}{
		{"little", usedMemory{alive: 20 * mb, idle: 50 * mb, itself: 10 * mb}, 4000 * mb, memoryFloor, false},
		{"little, and much that is idle", usedMemory{alive: 20 * mb, idle: 300 * mb, itself: 10 * mb}, 4000 * mb, memoryFloor, true},
		{"ten thousand who wait", usedMemory{alive: 184 * mb, idle: 8 * mb, itself: 32 * mb}, 4000 * mb, 239 * mb, false},
		{"most of them have gone", usedMemory{alive: 40 * mb, idle: 160 * mb, itself: 32 * mb}, 4000 * mb, memoryFloor, true},
		{"all that there may be", usedMemory{alive: 800 * mb, idle: 90 * mb, itself: 32 * mb}, 512 * mb, 512 * mb, false},
	} {
		limit, giveBack := (&memory{on: true, most: tt.most}).limitFor(tt.used)
		if limit != tt.limit || giveBack != tt.giveBack {
			t.Errorf("%s: %d MiB, give back %v; want %d MiB, %v", tt.name, limit/mb, giveBack, tt.limit/mb, tt.giveBack)
		}
		if tt.most > tt.limit && limit <= tt.used.alive+tt.used.itself {
			t.Errorf("%s: the limit is below what is alive", tt.name)
		}
	}
	if u := usedNow(); u.alive <= 0 || u.idle < 0 || u.itself <= 0 {
		t.Errorf("used: %+v", u)
	}
}

func TestAServerThatRestsGivesMemoryBackOnceForMuchWork(t *testing.T) {
	t.Parallel()
	m := &memory{on: true}
	for i, look := range []struct {
		allocated int64
		rests     bool
	}{
		{worthBytes, false}, // it works
		{worthBytes, true},
		{worthBytes, false}, // there is nothing new
		{worthBytes + quietBytes, false},
		{2*worthBytes + quietBytes + 1, false},
		{2*worthBytes + 2*quietBytes + 1, true},
		{2*worthBytes + 3*quietBytes + 1, false}, // it rests, but for little
	} {
		if rests := m.rests(look.allocated); rests != look.rests {
			t.Errorf("look %d, %d bytes: rests %t", i, look.allocated, rests)
		}
	}
}
