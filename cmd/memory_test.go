package cmd_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"
)

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
