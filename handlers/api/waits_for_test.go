package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/people"
	"countersign/models/storetest"
)

// TestAnswersNameWhoMayDecide on each surface, in its own casing, while the request waits
// and no longer. An agent is told names and no e-mails.
func TestAnswersNameWhoMayDecide(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ rule, reviewers, text string }{
		"nobody in particular": {`{"name":"r","tools":["rm","respond_with_approval"],"effect":"require"}`, `["owner@example.com","admins"]`, "a decision by owner@example.com or an admin"},
		"a reviewer": {
			`{"name":"r","tools":["rm","respond_with_approval"],"effect":"require","reviewers":["stranger@example.com"]}`,
			`["owner@example.com","stranger@example.com","admins"]`, "a decision by owner@example.com, stranger@example.com or an admin",
		},
		"only one, who has a name": {
			`{"name":"r","tools":["rm","respond_with_approval"],"effect":"require","reviewers":["bo@example.com"],"reviewers_only":true}`,
			`["Bo Lind"]`, "a decision by Bo Lind",
		},
		"a group, and not the owner": {
			`{"name":"r","tools":["rm","respond_with_approval"],"effect":"require","reviewers":["group:finance"],"self_approval":"never"}`,
			`["group:finance","admins"]`, "a decision by somebody in finance or an admin",
		},
		"who can't sign in": {
			`{"name":"r","tools":["rm","respond_with_approval"],"effect":"require","reviewers":["gone@example.com"]}`, `["owner@example.com","admins"]`, "a decision by owner@example.com or an admin",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.namedPeople()
			w.policy(`{"rules":[` + tt.rule + `]}`)
			id := w.ask(`{"toolUseId":"t1","runId":"s","toolName":"rm"}`)
			conv := w.call(w.agent, "GET", "/v1/approvals/"+id, "").text("conversationId")
			tool := w.request("t2", "rm", "s")
			surfaces := map[string]answer{
				"ask":         w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"t1","toolName":"rm"}`),
				"get":         w.call(w.agent, "GET", "/v1/approvals/"+id, ""),
				"by a person": w.call(w.reviewer, "GET", "/v1/approvals/"+id, ""),
				"list":        w.first(w.agent, "/v1/approvals", "approvals"),
				"pending":     w.first(w.reviewer, "/v1/approvals/pending", "pending"),
				"tool":        tool,
				"invocation":  w.call(w.agent, "GET", "/api/approval/invocation/t1", ""),
				"session":     w.first(w.agent, "/api/approval/pending/s", "pending"),
				"proposal":    w.call(w.agent, "POST", "/conversations/"+conv+"/responses", `{"kind":"proposal","content":"Go?"}`),
			}
			for surface, a := range surfaces {
				text, other := "waitingFor", "waiting_for"
				if a.at("tool_use_id") != nil {
					text, other = other, text
				}
				raw, err := json.Marshal(a.at("reviewers"))
				if err != nil || string(raw) != tt.reviewers || a.at(text) != tt.text || a.at(other) != nil {
					t.Errorf("%s: reviewers %s, %q, want %s, %q: %s", surface, raw, a.at(text), tt.reviewers, tt.text, a.body)
				}
				if surface != "by a person" && surface != "pending" && strings.Contains(a.body, "bo@") {
					t.Errorf("%s tells an e-mail: %s", surface, a.body)
				}
			}
			w.call(w.admin, "POST", "/v1/approvals/"+id+"/respond", `{"approved":false,"reason":"no"}`).want(t, http.StatusOK, nil)
			for _, path := range []string{"/v1/approvals/" + id, "/api/approval/invocation/t1"} {
				w.call(w.agent, "GET", path, "").want(t, http.StatusOK, map[string]any{"reviewers": nil, "waitingFor": nil, "waiting_for": nil})
			}
		})
	}
}

// namedPeople adds Bo, and somebody whose account is disabled, and a group with Bo in it.
func (w *world) namedPeople() {
	w.tb.Helper()
	const bo = "bo@example.com"
	storetest.Must(w.tb, storetest.Err(w.store.People.AddUser(w.tb.Context(), storetest.Operator(), people.NewUser{Email: bo, Name: "Bo Lind", Role: models.RoleReviewer, Password: storetest.Password})))
	gone := storetest.Reviewer(w.tb, w.store, "gone@example.com")
	storetest.Must(w.tb, storetest.Err(w.store.People.DisableUser(w.tb.Context(), w.adminAs, gone.UserID())))
	storetest.Must(w.tb, w.store.People.AddGroup(w.tb.Context(), w.adminAs, "finance", ""))
	storetest.Must(w.tb, w.store.People.JoinGroup(w.tb.Context(), w.adminAs, "finance", bo))
}

// first is the first row of a list.
func (w *world) first(token, path, list string) answer {
	w.tb.Helper()
	a := w.call(token, "GET", path, "")
	rows, _ := a.at(list).([]any)
	if len(rows) == 0 {
		w.tb.Fatalf("%s lists nothing: %s", path, a.body)
	}
	a.object, _ = rows[len(rows)-1].(map[string]any)
	return a
}

// TestI1WhatIsWaitedForTellsAnAgentNoDecision before it is the outcome, and tells a person.
func TestI1WhatIsWaitedForTellsAnAgentNoDecision(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"undo_seconds":{"medium":8}}`)
	id := w.ask(`{"toolUseId":"t1","toolName":"rm"}`)
	const path = "/v1/approvals/"
	before := w.call(w.agent, "GET", path+id, "").body
	w.call(w.reviewer, "POST", path+id+"/respond", `{"approved":true}`).want(t, http.StatusAccepted, nil)
	if after := w.call(w.agent, "GET", path+id, "").body; after != before {
		t.Errorf("an agent is told\n%s\nand was told\n%s", after, before)
	}
	w.clock.Step(time.Second)
	w.call(w.reviewer, "GET", path+id, "").want(t, http.StatusOK, map[string]any{"waitingFor": "the release of owner@example.com's approval in 7 seconds"})
	w.clock.Step(1500 * time.Millisecond)
	w.call(w.reviewer, "GET", path+id, "").want(t, http.StatusOK, map[string]any{"waitingFor": "the release of owner@example.com's approval in 6 seconds"})
}

// TestWhatIsWaitedForFollowsTheRequest: a question to a person, and one to the agent.
func TestWhatIsWaitedForFollowsTheRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const path = "/v1/approvals/"
	question := w.ask(`{"toolUseId":"q","kind":"question","description":"Which?"}`)
	w.call(w.agent, "GET", path+question, "").want(t, http.StatusOK, map[string]any{"waitingFor": "an answer from owner@example.com or an admin"})
	w.call(w.reviewer, "POST", path+question+"/notes", `{"text":"Why?"}`)
	w.call(w.agent, "GET", path+question, "").want(t, http.StatusOK, map[string]any{"waitingFor": "the agent's answer to a question that a reviewer asked"})
}

// TestWhatWaitsForDeliverySaysSo, and names the other system to people only.
func TestWhatWaitsForDeliverySaysSo(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	id := w.wants(t, outsideCall("call-1", "bash", `{"n":1}`))
	w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true}`).want(t, http.StatusAccepted, map[string]any{"held.reason": "upstream"})
	w.call(w.reviewer, "GET", "/v1/approvals/"+id, "").want(t, http.StatusOK, map[string]any{"waitingFor": "delivery of the decision to orders"})
}
