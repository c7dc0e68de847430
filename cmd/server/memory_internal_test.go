package server

import (
	"math"
	"testing"
	"testing/fstest"
)

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
		if rests := m.isIdle(look.allocated); rests != look.rests {
			t.Errorf("look %d, %d bytes: rests %t", i, look.allocated, rests)
		}
	}
}

// The limit is that of the process's own group, or of one above it.
func TestTheLimitIsThatOfTheProcesssGroup(t *testing.T) {
	t.Parallel()
	mount := fstest.MapFS{
		"system.slice/memory.max":                     {Data: []byte("900\n")},
		"system.slice/countersign.service/memory.max": {Data: []byte("max\n")},
		"system.slice/small.service/memory.max":       {Data: []byte("500\n")},
		"memory/docker/one/memory.limit_in_bytes":     {Data: []byte("700\n")},
		"memory/docker/memory.limit_in_bytes":         {Data: []byte("9223372036854771712\n")},
		"user.slice/memory.max":                       {Data: []byte("1\n")},
	}
	for groups, want := range map[string]int64{
		"0::/system.slice/countersign.service\n":             900,
		"0::/system.slice/small.service\n":                   500,
		"5:cpu,cpuacct:/x\n4:memory:/docker/one\n0::/init\n": 700,
		"0::/\n": math.MaxInt64, "": math.MaxInt64,
	} {
		if got := groupLimit(mount, groups); got != want {
			t.Errorf("%q: %d, want %d", groups, got, want)
		}
	}
	if got := groupLimit(fstest.MapFS{"memory.max": {Data: []byte("300")}}, "0::/\n"); got != 300 {
		t.Errorf("within a container: %d, want 300", got)
	}
}
