package api_test

import (
	"net/http"
	"testing"
)

// TestAPersonWhoWaitsIsToldWhatAPersonIsTold: where a request comes from, who may
// approve it, and whether its agent waits.
func TestAPersonWhoWaitsIsToldWhatAPersonIsTold(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	w.report(w.agent, w.openRun(`{"runId":"r"}`), ndjson, `{"type":"tool_call","toolUseId":"u","toolName":"bash","input":{"command":"ls"}}`)
	id := w.wants(t, outsideCall("call-1", "bash", `{"command":"ls"}`))
	for path, want := range map[string]map[string]any{
		"/v1/approvals/" + id:        {"status": "pending", "waiting": false, "origin.upstream": "orders"},
		"/api/approval/invocation/u": {"status": "PENDING", "waiting": false},
	} {
		at, waited := w.call(w.reviewer, "GET", path, ""), w.call(w.reviewer, "GET", path+"?wait=5ms", "")
		at.want(t, http.StatusOK, want)
		waited.want(t, http.StatusOK, want)
		if at.body != waited.body {
			t.Errorf("%s: at once %s, after a wait %s", path, at.body, waited.body)
		}
	}
	for _, path := range []string{"/v1/approvals/" + id, "/api/approval/invocation/u"} {
		got := w.call(w.agent, "GET", path+"?wait=5ms", "")
		if got.want(t, http.StatusOK, nil); got.at("waiting") != nil || got.at("origin") != nil {
			t.Errorf("an agent is told %s", got.body)
		}
	}
	decided := w.call(w.reviewer, "POST", "/api/approval/decide", `{"tool_use_id":"u","decision":"APPROVED"}`)
	if decided.want(t, http.StatusAccepted, nil); decided.at("waiting") == nil {
		t.Errorf("whoever decides is not told whether the agent waits: %s", decided.body)
	}
}
