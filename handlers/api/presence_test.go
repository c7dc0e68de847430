package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// agentsWait returns once so many waits of agents are counted.
func (w *world) agentsWait(n string) {
	w.tb.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for !strings.Contains(w.call(w.admin, "GET", "/v1/approvals/stats", "").body, `"resolversCount":`+n+`,`) {
		select {
		case <-deadline.C:
			w.tb.Fatalf("not %s agents wait", n)
		default:
		}
	}
}

// TestWhoMayNotSeeARequestIsNotSeenWaiting: it neither makes a request look waited
// for, nor has its waits counted as its owner's, nor takes a place with an id that
// it made up.
func TestWhoMayNotSeeARequestIsNotSeenWaiting(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.ask(`{"toolName":"deploy"}`)
	w.call(w.foreign, "GET", "/v1/approvals/"+id+"?wait=1s", "").want(t, http.StatusNotFound, nil)
	if got := w.call(w.reviewer, "GET", "/v1/approvals/"+id, "").at("waiting"); got != false {
		t.Errorf("once a foreign agent was refused, waiting is %v", got)
	}
	told := w.waiting(w.agent, "GET", "/v1/approvals/"+id+"?wait=50s", "")
	w.agentsWait("1")
	for who, want := range map[string]struct{ token, n string }{"its owner": {w.reviewer, "1"}, "the other agent's owner": {w.stranger, "0"}} {
		if got := w.call(want.token, "GET", "/v1/approvals/stats", "").body; !strings.Contains(got, `"resolversCount":`+want.n+`,`) {
			t.Errorf("%s: %s, want %s", who, got, want.n)
		}
	}
	w.store.EndWaits()
	(<-told).want(t, http.StatusOK, nil)

	w.call(w.agent, "GET", "/v1/approvals/"+uuid+"9?wait=1s", "").want(t, http.StatusNotFound, nil)
	if got := storetest.PresenceOf(t, w.store, uuid+"9"); got != (models.Presence{}) {
		t.Errorf("a made-up id takes a place: %+v", got)
	}
}
