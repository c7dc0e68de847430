package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/storetest"
)

// openRoutes need no sign-in.
var openRoutes = map[string]bool{"GET /openapi.json": true}

// verdicts are bodies with which one might try to decide, change or mint.
var verdicts = []string{
	``,
	`{}`,
	`{"approved":true}`,
	`{"approved":true,"reason":"self","digest":"DIGEST"}`,
	`{"approved":false}`,
	`{"approved":true,"input":{}}`,
	`{"answer":"yes"}`,
	`{"toolName":"rm","toolUseId":"tu-ID","approved":true}`,
	`{"toolName":"rm","toolUseId":"tu-ID","status":"approved"}`,
	`{"toolName":"rm","approvalId":"ID","fallback":{"at":"2026-03-02T12:00:00Z"}}`,
	`{"timeoutSeconds":86400,"toolName":"rm","approvalId":"ID"}`,
	`{"approval_enabled":false}`,
	`{"scope":"admin","name":"mine"}`,
	`{"tool_use_id":"TU","decision":"APPROVED","digest":"DIGEST"}`,
	`{"tool_use_id":"TU","session_id":"CONVERSATION","decision":"REJECTED"}`,
	`{"tool_use_id":"TU","session_id":"CONVERSATION","tool_name":"rm","tool_input":{"n":1}}`,
	`{"required_approval_tools":["nothing"],"default_timeout_minutes":1}`,
	`{"content":"yes","id":"CONVERSATION","approvalResponse":{"approved":true,"budgetChange":5}}`,
	`{"content":"begin","energyBudget":5}`,
	`{"responseId":"ID","digest":"DIGEST"}`,
	`{"newBudget":2000000}`,
	`{"budget":3000000}`,
	`{"delta":7}`,
	`{"text":"Why?"}`,
	`{"minutes":60}`,
	`{"kind":"proposal","content":"may I?"}`,
	`{"kind":"reply","content":"done","status":"approved"}`,
	`{"runId":"mine","energyBudget":9000000,"onReject":"cascade"}`,
	`{"id":"CONVERSATION","runId":"TU","energyBudget":9000000}`,
	`[{"type":"tool_call","toolUseId":"TU","toolName":"rm","input":{"n":1}},{"type":"tool_result","toolUseId":"TU","result":"done"}]`,
	`[{"type":"tool_call","toolUseId":"TU","toolName":"rm","input":{"n":2},"approved":true},{"type":"status","id":"s","status":"running"}]`,
}

// agentMay are the ledger's actions that an agent may cause.
var agentMay = map[string]bool{
	"approval.requested": true, "approval.cancelled": true, "approval.rejected": true, "approval.let_through": true, "approval.ran": true, "conversation.opened": true,
	"response.added": true, "conversation.status": true, "conversation.budget": true, "conversation.described": true,
	"run.reported": true, "response.adopted": true, "approval.note_added": true,
}

// TestI4AgentsNeverDecide sends every verdict to every route of the router with
// every kind of token; a new route is covered by being registered. Only an
// admin's token moves the policy.
func TestI4AgentsNeverDecide(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, auditor := storetest.ReviewerToken(t, w.store, storetest.User(t, w.store, "auditor@example.com", models.RoleAuditor))
	_, editor := storetest.ReviewerToken(t, w.store, storetest.User(t, w.store, "editor@example.com", models.RolePolicyEditor))
	version := w.policyVersion()
	tries, decided, moved, routes := 0, 0, 0, w.api.Routes()
	if len(routes) < 8 {
		t.Fatalf("only %d routes", len(routes))
	}
	for _, route := range routes {
		for kind, token := range map[string]string{
			"none": "", "nonsense": "nonsense", "own agent": w.agent, "other agent": w.second, "foreign agent": w.foreign,
			"stranger": w.stranger, "owner": w.reviewer, "admin": w.admin, "auditor": auditor, "policy editor": editor,
		} {
			tried := verdicts
			if route.Method == http.MethodGet {
				tried = verdicts[:4] // what is sent with it is read by no route
			}
			for _, verdict := range tried {
				name := fmt.Sprintf("%s %s by %s with %s", route.Method, route.Path, kind, verdict)
				tries++
				toolUse := fmt.Sprintf("tu %d", tries)
				asked := w.call(w.agent, "POST", "/v1/approvals", `{"toolName":"rm","input":{"n":1},"toolUseId":"`+toolUse+`"}`)
				id, conversation := asked.text("approvalId"), asked.text("conversationId")
				if strings.Contains(route.Path, ":requestId") || route.Path == "/message" { // what might be decided without being named
					w.call(w.agent, "POST", "/conversations/"+conversation+"/responses", `{"kind":"proposal","content":"may I?"}`).want(t, 202, nil)
				}
				budget := w.budgetOf(conversation)
				before := w.head()
				body := strings.NewReplacer("TU", toolUse, "CONVERSATION", conversation, "ID", id, "DIGEST", asked.text("digest")).Replace(verdict)
				path := strings.NewReplacer(":tool_use_id", url.PathEscape(toolUse), ":session_id", conversation, ":requestId", conversation, ":conversationId", conversation, ":id", id).Replace(route.Path)
				if strings.Contains(path, ":") {
					t.Fatalf("no value for the parameters of %s", route.Path)
				}
				got := w.call(token, route.Method, path, body)
				if now := w.policyVersion(); now != version {
					if kind != "admin" {
						t.Errorf("%s: the policy moved from version %d to %d", name, version, now)
					}
					w.policy(`{}`)
					version = w.policyVersion()
					moved++
				}
				stands := w.call(w.agent, "GET", "/v1/approvals/"+id, "").text("status")

				if open := openRoutes[route.Method+" "+route.Path]; (kind == "none" || kind == "nonsense") && !open && got.status != 401 {
					t.Errorf("%s: %d, want 401", name, got.status)
				}
				if route.Method == http.MethodGet && w.head().Seq != before.Seq {
					t.Errorf("%s: a GET changed something (I15)", name)
				}
				people := kind == "owner" || kind == "admin"
				if stands == "approved" || stands == "rejected" {
					if !people {
						t.Errorf("%s: the request is %s now", name, stands)
					}
					decided++
				}
				if stands == "cancelled" && kind != "own agent" && !people {
					t.Errorf("%s: the request was withdrawn", name)
				}
				if strings.Contains(kind, "agent") {
					w.onlyAgentsActions(name, before.Seq)
					if now := w.budgetOf(conversation); budget != nil && (now == nil || *now > *budget) {
						t.Errorf("%s: raised the budget from %d", name, *budget)
					}
				}
			}
		}
	}
	if decided == 0 {
		t.Error("nobody decided anything: the test looks at the wrong routes")
	}
	if moved == 0 {
		t.Error("no admin moved the policy: the test looks at the wrong routes")
	}
}

// budgetOf is the budget that stands in a conversation; nil for none.
func (w *world) budgetOf(conversation string) *int64 {
	w.tb.Helper()
	v, err := w.store.Requests.Conversation(w.tb.Context(), w.adminAs, models.ConversationID(conversation))
	if err != nil {
		w.tb.Fatal(err)
	}
	return v.EnergyBudget
}

// onlyAgentsActions fails if anything after seq is more than an agent may do.
func (w *world) onlyAgentsActions(name string, seq int64) {
	w.tb.Helper()
	trail, err := w.store.Requests.Trail(w.tb.Context(), w.adminAs, requests.TrailQuery{Limit: 10})
	if err != nil {
		w.tb.Fatal(err)
	}
	for _, e := range trail.Entries {
		if e.Seq > seq && !agentMay[e.Action] {
			w.tb.Errorf("%s: led to %s", name, e.Action)
		}
	}
}

// TestAnAuditorChangesNothing makes the owner of the agent, to whom its requests go and who might do everything with
// them, an auditor, and sends every verdict to every route with their token: the database stays as it is. What an
// admin reads, they read.
func TestAnAuditorChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asked := w.call(w.agent, "POST", "/v1/approvals", `{"toolName":"rm","input":{"n":1},"toolUseId":"tu"}`)
	id, conversation := asked.text("approvalId"), asked.text("conversationId")
	w.call(w.agent, "POST", "/conversations/"+conversation+"/responses", `{"kind":"proposal","content":"may I?"}`).want(t, 202, nil)
	foreign := w.call(w.foreign, "POST", "/v1/approvals", `{"toolName":"rm","input":{"n":1},"toolUseId":"theirs"}`).text("approvalId")
	storetest.Must(t, w.store.People.SetRole(t.Context(), w.adminAs, w.owner.UserID(), models.RoleAuditor))
	before, refused := storetest.Dump(t, w.store), 0
	for _, route := range w.api.Routes() {
		for _, verdict := range verdicts {
			name := fmt.Sprintf("%s %s with %s", route.Method, route.Path, verdict)
			body := strings.NewReplacer("TU", "tu", "CONVERSATION", conversation, "ID", id, "DIGEST", asked.text("digest")).Replace(verdict)
			path := strings.NewReplacer(":tool_use_id", url.PathEscape("tu"), ":session_id", conversation, ":requestId", conversation, ":conversationId", conversation, ":id", id).Replace(route.Path)
			got := w.call(w.reviewer, route.Method, path, body)
			if route.Method != http.MethodGet && got.status != http.StatusForbidden {
				t.Errorf("%s: %d, want 403", name, got.status)
			}
			refused++
			if route.Method == http.MethodGet {
				break
			}
		}
	}
	if after := storetest.Dump(t, w.store); after != before {
		t.Errorf("an auditor changed what is stored:\n%s\n---\n%s", before, after)
	}
	if refused < 500 {
		t.Errorf("only %d tries", refused)
	}
	for _, path := range []string{"/v1/approvals/" + id, "/v1/approvals/" + foreign, "/v1/approvals", "/v1/policy", "/conversations/" + conversation} {
		w.call(w.reviewer, "GET", path, "").want(t, 200, nil)
	}
}

// A policy editor tries, replays and lints the policy with a reviewer's token, and neither changes nor decides.
func TestAPolicyEditorDoesNotSaveThePolicy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, token := storetest.ReviewerToken(t, w.store, storetest.User(t, w.store, "editor@example.com", models.RolePolicyEditor))
	id := w.ask(`{"toolUseId":"1","toolName":"rm"}`)
	version := w.policyVersion()
	for path, body := range map[string]string{
		"/v1/policy/try": `{"toolName":"rm"}`, "/v1/policy/replay": `{"document":{}}`, "/v1/policy/lint": `{"document":{}}`,
	} {
		w.call(token, "POST", path, body).want(t, 200, nil)
		w.call(w.stranger, "POST", path, body).want(t, 403, nil)
	}
	w.call(token, "GET", "/v1/policy", "").want(t, 200, nil)
	w.call(w.stranger, "GET", "/v1/policy", "").want(t, 403, nil)
	w.putPolicy(token, "*", `{"document":{}}`).want(t, 403, nil)
	w.call(token, "PUT", "/api/approval/config", `{"approval_enabled":false}`).want(t, 403, nil)
	w.call(token, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true}`).want(t, 404, nil)
	if now := w.policyVersion(); now != version {
		t.Errorf("the policy moved from version %d to %d", version, now)
	}
}
