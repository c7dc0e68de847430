package demo

import (
	"encoding/json"
	"strings"
	"testing"

	"countersign/handlers/api/wire"
)

func TestDemoAgentReactsDifferentlyToEachOutcome(t *testing.T) {
	t.Parallel()
	for _, s := range stops {
		if s.explains == "" {
			t.Errorf("%s: nothing to say to whoever asks back", s.ask.Description)
		}
		released := &wire.Decision{Approved: true, Input: s.ask.Input}
		edited := &wire.Decision{Approved: true, Edited: true, Input: json.RawMessage(`{"command": 7, "new_string": "x", "amount": "1"}`)}
		if s.answered != nil {
			released, edited = &wire.Decision{Approved: true, Option: new("plain")}, &wire.Decision{Approved: true, Answer: new("Closed in August")}
		}
		outcomes := map[string]*wire.Approval{
			"approve":  {Status: wire.StatusApproved, Decision: released},
			"edit":     {Status: wire.StatusApproved, Decision: edited},
			"reject":   {Status: wire.StatusRejected, Decision: &wire.Decision{}},
			"expiry":   {Status: wire.StatusExpired, Decision: &wire.Decision{}},
			"withdraw": {Status: wire.StatusCancelled, Decision: &wire.Decision{}},
		}
		seen := map[string]string{}
		for name, got := range outcomes {
			did := s.react(got)
			if other, ok := seen[did]; ok || did == "" {
				t.Errorf("%s: %s is answered like %s: %q", s.ask.Description, name, other, did)
			}
			seen[did] = name
		}
		outcomes["reject"].Decision.Reason = "too early"
		if did := s.react(outcomes["reject"]); !strings.Contains(did, "too early") {
			t.Errorf("%s: the reason is not heard: %q", s.ask.Description, did)
		}
	}
}

func TestTourGoesOnOnlyWhenAskedTo(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]bool{"Yes!": true, "again": true, "no": false, "yesterday": false, "": false} {
		a := &wire.Approval{Status: wire.StatusApproved, Decision: &wire.Decision{Approved: true, Answer: &answer}}
		if got := wantsMore(a); got != want {
			t.Errorf("%q: %v, want %v", answer, got, want)
		}
	}
	if wantsMore(&wire.Approval{Status: wire.StatusApproved, Decision: &wire.Decision{Option: new("enough")}}) ||
		wantsMore(&wire.Approval{Status: wire.StatusRejected, Decision: &wire.Decision{}}) {
		t.Error("it goes on without being asked to")
	}
}
