package cmd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
)

const (
	// gcPercent lets the little that lives between requests be collected rarely;
	// the limit below keeps the whole small all the same.
	gcPercent = 400
	// memoryFloor is what the server may always take before the collector works
	// harder: ten thousand callers who wait fit into it.
	memoryFloor = 190 << 20
)

// memory trades memory for speed: a soft limit that follows what is alive, up to
// most. A fixed limit would choke a server that needs more, and none at all would
// let garbage pile up to five times the live heap. GOGC and GOMEMLIMIT go before it.
type memory struct {
	on   bool
	most int64
}

func newMemory(most int64) memory {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return memory{}
	}
	if most == 0 {
		most = memoryThere() / 4 * 3
	}
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(min(memoryFloor, most))
	return memory{on: true, most: most}
}

// follow moves the limit to an eighth above what is alive, and gives back what is
// held above it: without requests nothing is collected for minutes.
func (m memory) follow(context.Context) error {
	if !m.on {
		return nil
	}
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	alive := samples[0].Value.Uint64() + samples[1].Value.Uint64()
	limit := min(max(memoryFloor, int64(alive+alive/8)), m.most)
	debug.SetMemoryLimit(limit)
	if held := samples[2].Value.Uint64() - samples[3].Value.Uint64(); int64(held) > limit && int64(alive) < limit {
		debug.FreeOSMemory()
	}
	return nil
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
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 {
			there = min(there, n)
		}
	}
	return there
}

// memoryUnits are how a limit is written.
var memoryUnits = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1}}

// minMemory is what the server needs to work at all.
const minMemory = 64 << 20

func setMemoryLimit(c *Config, v string) error {
	if v == "" {
		return nil
	}
	for _, unit := range memoryUnits {
		number, ok := strings.CutSuffix(v, unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil || n > math.MaxInt64/unit.bytes || n*unit.bytes < minMemory {
			break
		}
		c.MemoryLimit = n * unit.bytes
		return nil
	}
	return errors.New("must be a size from 64MiB on, such as 512MiB or 2GiB")
}
