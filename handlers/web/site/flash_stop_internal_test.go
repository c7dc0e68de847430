package site

import (
	"strings"
	"testing"

	"countersign/models"
	"countersign/views"
)

// What a stop ended is told by counts alone: nothing that comes with a cookie is text on a page.
func TestAStopTellsWhatItEnded(t *testing.T) {
	t.Parallel()
	f := agentsStopped(StoppedFlash(3, &models.Stop{Withdrawn: 2, InFlight: 1}))
	if f == nil || f.Tone != views.ToneWarn {
		t.Fatalf("%+v", f)
	}
	for _, want := range []string{"cancelled: 3", "received them: 2", "may take effect: 1"} {
		if !strings.Contains(f.Text, want) {
			t.Errorf("%q does not say %q", f.Text, want)
		}
	}
	if f := agentsStopped(StoppedFlash(0, &models.Stop{})); f == nil || f.Tone != views.ToneGood || strings.Contains(f.Text, "received") {
		t.Errorf("%+v", f)
	}
	for _, name := range []string{"", "agents-stopped", "agents-stopped.x.1.1", "agents-stopped.-1.0.0", "other.1.2.3"} {
		if f := agentsStopped(name); f != nil {
			t.Errorf("%q is a message: %+v", name, f)
		}
	}
}
