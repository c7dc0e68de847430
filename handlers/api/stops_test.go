package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// Agents are stopped and go on over the API, by people only.
func TestAgentsAreStoppedOverTheAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pending := w.call(w.agent, "POST", "/v1/approvals", `{"toolName":"pay"}`)
	pending.want(t, http.StatusAccepted, map[string]any{"status": "pending"})
	conversation := w.call(w.reviewer, "GET", "/conversations/"+pending.text("conversationId"), "")
	id := conversation.text("agent.id")
	if id == "" {
		t.Fatalf("no agent in %s", conversation.body)
	}
	w.unchanged("refused", func() {
		w.call(w.agent, "GET", "/v1/stops", "").want(t, http.StatusForbidden, nil)
		w.call(w.agent, "POST", "/v1/stops", `{"agentId":"`+id+`","note":"x"}`).want(t, http.StatusForbidden, nil)
		w.call(w.reviewer, "POST", "/v1/stops", `{"all":true,"note":"x"}`).want(t, http.StatusForbidden, map[string]any{"code": "forbidden"})
		for _, wrong := range []string{`{"note":"x"}`, `{"agentId":"` + id + `","all":true,"note":"x"}`, `{"agentId":"` + id + `"}`, `{"agentId":"x","note":"x"}`, `{"agentId":"` + id + `","note":"x","colour":1}`} {
			w.call(w.reviewer, "POST", "/v1/stops", wrong).want(t, http.StatusUnprocessableEntity, map[string]any{"code": "invalid"})
		}
		w.call(w.reviewer, "POST", "/v1/stops/nonsense/lift", `{"note":"x"}`).want(t, http.StatusNotFound, nil)
	})
	made := w.call(w.reviewer, "POST", "/v1/stops", `{"agentId":"`+id+`","note":"It deletes things"}`)
	made.want(t, http.StatusCreated, map[string]any{"agentId": id, "note": "It deletes things"})
	if !strings.Contains(made.body, `"cancelled":1`) || made.text("agentName") == "" {
		t.Errorf("%s", made.body)
	}
	w.call(w.reviewer, "POST", "/v1/stops", `{"agentId":"`+id+`","note":"again"}`).want(t, http.StatusConflict, map[string]any{"code": "conflict"})
	if list := w.call(w.reviewer, "GET", "/v1/stops", ""); !strings.Contains(list.body, made.text("stopId")) {
		t.Errorf("%s", list.body)
	}
	w.call(w.agent, "GET", "/v1/approvals/"+pending.text("approvalId"), "").want(t, http.StatusOK, map[string]any{"status": "cancelled", "cause": "stopped"})
	w.call(w.agent, "POST", "/v1/approvals", `{"toolName":"pay"}`).want(t, http.StatusOK, map[string]any{"status": "rejected", "cause": "stopped"})
	w.call(w.agent, "POST", "/api/approval/request", `{"tool_name":"Read","tool_input":{},"session_id":"s","tool_use_id":"t"}`).want(t, http.StatusOK, map[string]any{"status": "REJECTED"})
	w.call(w.reviewer, "POST", "/v1/stops/"+made.text("stopId")+"/lift", `{}`).want(t, http.StatusUnprocessableEntity, nil)
	w.call(w.reviewer, "POST", "/v1/stops/"+made.text("stopId")+"/lift", `{"note":"mended"}`).want(t, http.StatusOK, nil)
	w.call(w.agent, "POST", "/v1/approvals", `{"toolName":"pay"}`).want(t, http.StatusAccepted, map[string]any{"status": "pending"})

	w.call(w.admin, "POST", "/v1/stops", `{"all":true,"note":"Incident 12"}`).want(t, http.StatusCreated, map[string]any{"agentId": nil})
	w.call(w.agent, "POST", "/v1/approvals", `{"toolName":"pay"}`).want(t, http.StatusOK, map[string]any{"status": "rejected", "cause": "stopped"})
}
