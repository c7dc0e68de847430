package requests

import (
	"testing"
	"time"

	"countersign/models"
)

// What is compared is what runs: of another system's request its own input.
func TestWhatRunsIsCompared(t *testing.T) {
	t.Parallel()
	outside := func(reported, runs string) *models.Approval {
		return &models.Approval{Response: models.Response{
			Kind: models.KindToolCall, UpstreamID: new("u"), ToolName: "Bash", ToolInputJSON: reported, Explanation: models.Explanation{Context: runs}, Digest: "d",
		}}
	}
	last, a := outside(`{"command":"ls"}`, `{"command":"make"}`), outside(`{"command":"ls"}`, `{"command":"rm -rf /"}`)
	if c := newComparison("id", "l", a, last, releasedWith(last), time.Time{}); c.Same || c.Added != "+1" {
		t.Errorf("another input is told as the same: %+v", c)
	}
	last.Context = a.Context
	if c := newComparison("id", "l", a, last, releasedWith(last), time.Time{}); !c.Same {
		t.Errorf("the same input is told as another: %+v", c)
	}
}
