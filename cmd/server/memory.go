package server

import (
	"context"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
)

const (
	// memoryFloor is what the server may always take before the collector works
	// harder: some thousands of callers who wait fit into it.
	memoryFloor = 208 << 20
	// quietBytes is what a server without requests allocates between two looks at most.
	quietBytes = 256 << 10
	// worthBytes is how much is allocated before giving back is worth its time: milliseconds for the collector, and as
	// much again until the memory is back in use.
	worthBytes = 8 << 20
)

// CollectRarely lets four times what lives be allocated before the collector runs: little lives
// between requests. What the server takes is limited otherwise.
func CollectRarely() {
	if !collectorIsSet() {
		debug.SetGCPercent(400)
	}
}

// collectorIsSet reports whether GOGC or GOMEMLIMIT is set, which go before what we choose.
func collectorIsSet() bool { return os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" }

// memory trades memory for speed: a soft limit that follows the live heap, up to most. A fixed limit would choke a
// server that needs more, and none at all would let garbage pile up to five times the live heap. GOGC and GOMEMLIMIT go
// before it.
type memory struct {
	on   bool
	most int64

	seen, gaveAt int64 // what had been allocated at the last look, and when memory was last given back
}

func newMemory(most int64) *memory {
	if collectorIsSet() {
		return &memory{}
	}
	if most == 0 {
		most = memoryThere() / 4 * 3
	}
	debug.SetMemoryLimit(min(memoryFloor, most))
	return &memory{on: true, most: most}
}

// follow looks, twice a second: it moves the limit with the use of memory, and gives back memory above it, or of an
// idle server. Without requests nothing is collected for minutes.
func (m *memory) follow(context.Context) error {
	if !m.on {
		return nil
	}
	use := usedNow()
	limit, giveBack := m.limitFor(use)
	debug.SetMemoryLimit(limit)
	if m.isIdle(use.allocation) || giveBack {
		debug.FreeOSMemory()
	}
	return nil
}

// isIdle reports whether a server that has worked rests now.
func (m *memory) isIdle(allocation int64) bool {
	quiet := allocation-m.seen <= quietBytes
	m.seen = allocation
	if !quiet || allocation-m.gaveAt < worthBytes {
		return false
	}
	m.gaveAt = allocation
	return true
}

// usedMemory is what the program holds, in bytes, but for what it has given back.
type usedMemory struct {
	alive  int64 // found alive when it was last collected, and stacks
	idle   int64 // what a collection may free, or has freed
	itself int64 // the runtime's own, which lies within the limit and is not collected

	allocation int64 // since the start, with memory that is free again
}

func usedNow() usedMemory {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"},
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/gc/heap/allocs:bytes"},
	}
	metrics.Read(samples)
	of := func(i int) int64 { return int64(samples[i].Value.Uint64()) }
	u := usedMemory{alive: of(0) + of(1), idle: max(0, of(2)+of(3)+of(4)-of(0)), allocation: of(7)}
	u.itself = of(5) - of(6) - u.alive - u.idle
	return u
}

// limitFor is an eighth above the live heap. giveBack: more than that is idle.
func (m *memory) limitFor(u usedMemory) (limit int64, giveBack bool) {
	limit = min(max(memoryFloor, u.itself+u.alive+u.alive/8), m.most)
	return limit, u.idle > u.alive/8 && u.itself+u.alive+u.idle > limit
}

// memoryThere is what the machine, or the control group that this runs in, has.
func memoryThere() int64 {
	there := int64(math.MaxInt64)
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		var kib int64
		if _, err := fmt.Sscanf(string(text), "MemTotal: %d kB", &kib); err == nil {
			there = kib << 10
		}
	}
	groups, _ := os.ReadFile("/proc/self/cgroup") // without it: the mount's own
	return min(there, groupLimit(os.DirFS("/sys/fs/cgroup"), string(groups)))
}

// groupLimit is the least limit of a process's control group and of those above it, of version 2
// or 1. groups is its /proc/PID/cgroup.
func groupLimit(mount fs.FS, groups string) int64 {
	least := int64(math.MaxInt64)
	look := func(folder, file, group string) {
		for at := path.Join("/", group); ; at = path.Dir(at) {
			text, err := fs.ReadFile(mount, path.Join(folder, "."+at, file))
			if n, convErr := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && convErr == nil && n > 0 {
				least = min(least, n)
			}
			if at == "/" {
				return
			}
		}
	}
	look(".", "memory.max", "/")
	look("memory", "memory.limit_in_bytes", "/")
	for line := range strings.Lines(groups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) < 3:
		case parts[1] == "":
			look(".", "memory.max", parts[2])
		case slices.Contains(strings.Split(parts[1], ","), "memory"):
			look("memory", "memory.limit_in_bytes", parts[2])
		}
	}
	return least
}
