package cmd_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"
)

func TestAServerThatRestsGivesMemoryBack(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	most := v.memory(t)
	for range 100 { // what a page takes is not held
		get(t, "http://"+v.addr+"/signin")
		most = max(most, v.memory(t))
	}
	least := most
	eventually(t, "the server takes a quarter less memory than before", func() bool {
		least = min(least, v.memory(t))
		return least < most/4*3
	})
	v.ready(t) // it still answers
}

// With Go's own setting it runs twice while packages begin: a quarter of the time of a
// short command, as each call of a hook is one.
func TestNoCollectorRunsInAShortCommand(t *testing.T) {
	t.Parallel()
	c := exec.CommandContext(context.Background(), binary, "--version")
	c.Env = []string{"GODEBUG=gctrace=1"}
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "version") || strings.Contains(string(out), "gc 1 @") {
		t.Errorf("--version: %v\n%s", err, out)
	}
}
