package hooks_test

import (
	"runtime"
	"strings"
	"testing"
)

// What an agent hands over is not held while it waits, or one agent's waits would fill the
// memory: a repeat is counted by no limit.
func TestWaitsHoldNoBodies(t *testing.T) {
	w := newWorld(t)
	const waits, size = 40, 800 << 10
	big := strings.Repeat("x", size)
	used := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for name, more := range map[string]string{"a member of another moment": `,"last_assistant_message":"` + big + `"`, "a long name": `,"agent_type":"` + big + `"`} {
		e := event("PreToolUse", call("Bash", `{"command":"rm"}`, strings.ReplaceAll(name, " ", "-"))+more)
		before, begun := used(), w.store.Waiters()
		for range waits {
			w.begin(t.Context(), w.agent, "", e)
		}
		w.eventually("all wait", func() bool { return w.store.Waiters() == begun+waits })
		if grown := int64(used()) - int64(before); grown > waits*size/2 {
			t.Errorf("%s: %d waits hold %d KiB", name, waits, grown>>10)
		}
	}
	w.store.EndWaits()
	w.eventually("nobody waits", func() bool { return w.store.Waiters() == 0 })
}
