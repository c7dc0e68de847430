package humanlayer_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// decisions are bodies with which one might try to decide, or to give oneself a say.
var decisions = []string{
	`{}`,
	`{"approved":true}`,
	`{"approved":true,"comment":"self","digest":"DIGEST","user_info":{"name":"owner@example.com"},"responded_at":"2026-03-02T12:00:00Z"}`,
	`{"approved":false}`,
	`{"response":"yes"}`,
	`{"response":"a","response_option_name":"a"}`,
	`{"run_id":"run-1","call_id":"ID","spec":{"fn":"send_email","kwargs":{}},"status":{"approved":true}}`,
	`{"run_id":"run-1","call_id":"ID","spec":{"fn":"other","kwargs":{}}}`,
	`{"run_id":"run-1","call_id":"ID","spec":{"msg":"other"}}`,
	`{"escalation_msg":"Approve it.","additional_recipients":[{"address":"me@example.test","field":"to"}]}`,
}

// TestI4AgentsNeverDecideHere sends each body to each route of this API with each kind of
// token. Only people decide, and only those who may; an agent hears 403 before anything is
// looked up, and a GET changes nothing (I15).
func TestI4AgentsNeverDecideHere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.calls.Pace(1_000_000, time.Hour) // the clock stands still
	_, auditor := storetest.ReviewerToken(t, w.store, storetest.User(t, w.store, "auditor@example.com", models.RoleAuditor))
	tokens := map[string]string{
		"auditor": auditor,
		"none":    "", "nonsense": "nonsense", "own agent": w.agent, "other agent": w.second, "foreign agent": w.foreign, "stranger": w.stranger, "owner": w.reviewer,
	}
	routes, decided, n := 0, 0, 0
	for _, route := range w.api.Routes() {
		path, ours := strings.CutPrefix(route.Path, "/humanlayer/v1")
		if !ours {
			continue
		}
		routes++
		contact := strings.Contains(path, "contact")
		for kind, token := range tokens {
			for _, decision := range decisions {
				n++
				id, read := fmt.Sprintf("call-%d", n), "/function_calls/"
				ask := w.ask
				if contact {
					read, ask = "/contact_requests/", w.contact
				}
				made := ask(id)
				before, err := w.store.Ledger.Head(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				name := fmt.Sprintf("%s %s by %s with %s", route.Method, route.Path, kind, decision)
				body := strings.NewReplacer("ID", id, "DIGEST", made.text("digest")).Replace(decision)
				got := w.call(token, route.Method, strings.ReplaceAll(path, ":call_id", id), body)
				after, err := w.store.Ledger.Head(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				now := w.call(w.agent, "GET", read+id, "").want(t, 200, nil)
				settled := now.at("status.approved") != nil || now.at("status.response") != nil
				switch {
				case (kind == "none" || kind == "nonsense") && got.status != 401:
					t.Errorf("%s: %d, want 401", name, got.status)
				case settled && kind != "owner":
					t.Errorf("%s: it is decided: %s", name, now.body)
				case route.Method == http.MethodGet && after.Seq != before.Seq:
					t.Errorf("%s: a GET changed something (I15)", name)
				case strings.HasSuffix(path, "/respond") && strings.HasSuffix(kind, "agent") && got.status != 403:
					t.Errorf("%s: %d, want 403", name, got.status)
				}
				if settled {
					decided++
				}
			}
		}
	}
	if routes < 13 || decided < 4 {
		t.Errorf("%d routes, %d decisions of the owner", routes, decided)
	}
	for _, path := range []string{"/agent/function_calls/nope/respond", "/agent/human_contacts/nope/respond"} {
		w.call(w.agent, "POST", path, `not JSON`).want(t, 403, map[string]any{"error.code": "forbidden"})
		w.call(w.reviewer, "POST", path, `{"approved":true,"response":"x"}`)
	}
}
