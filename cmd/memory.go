package cmd

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// gcPercent lets the little that lives between requests be collected rarely;
	// the limit below keeps the whole small all the same.
	gcPercent = 400
	// memoryFloor is what the server may always take before the collector works
	// harder: ten thousand callers who wait fit into it.
	memoryFloor = 190 << 20
)

// memory trades memory for speed: a soft limit that follows what is alive. A
// fixed limit would choke a server that needs more, and none at all would let
// garbage pile up to five times of what lives. GOGC and GOMEMLIMIT go before it.
type memory struct{ on bool }

func newMemory() memory {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return memory{}
	}
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(memoryFloor)
	return memory{on: true}
}

// follow moves the limit to an eighth above what is alive.
func (m memory) follow(context.Context) error {
	if !m.on {
		return nil
	}
	samples := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	metrics.Read(samples)
	alive := samples[0].Value.Uint64() + samples[1].Value.Uint64()
	debug.SetMemoryLimit(max(memoryFloor, int64(alive+alive/8)))
	return nil
}
