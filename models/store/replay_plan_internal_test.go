package store

import (
	"fmt"
	"strings"
	"testing"
)

// A replay walks the calls from the newest down by their key, and looks up what belongs to
// each.
func TestAReplayWalksByKey(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	plan := explain(t, s, fmt.Sprintf(replayedCalls, `r.tool_input_json`), []any{9, 9})
	if !strings.Contains(plan, "SEARCH r USING INTEGER PRIMARY KEY (rowid<?)") || strings.Contains(plan, "SCAN") || strings.Contains(plan, "B-TREE") {
		t.Error(plan)
	}
}
