package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// TestAnAgentsOwnTimeIsKept beside the server's, and told where it is another one.
func TestAnAgentsOwnTimeIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := w.clock.Now()
	for _, tt := range []struct {
		sent  string
		shown any
	}{
		{now.Format(time.RFC3339), nil},
		{now.Add(-time.Minute).Format(time.RFC3339), nil},
		{now.Add(-time.Hour).In(time.FixedZone("", 7200)).Format(time.RFC3339Nano), now.Add(-time.Hour).Format(time.RFC3339)},
		{"2031-01-02T03:04:05.678Z", "2031-01-02T03:04:05.678Z"},
	} {
		a := w.call(w.agent, "POST", "/v1/approvals", `{"toolName":"deploy","toolUseId":"`+tt.sent+`","timestamp":"`+tt.sent+`"}`)
		a.want(t, http.StatusAccepted, map[string]any{"timestamp": now.Format(time.RFC3339), "requestedAt": now.Format(time.RFC3339), "claimedAt": tt.shown})
		again := w.call(w.agent, "POST", "/v1/approvals", `{"toolName":"deploy","toolUseId":"`+tt.sent+`"}`)
		again.want(t, http.StatusAccepted, map[string]any{"approvalId": a.text("approvalId"), "digest": a.text("digest"), "claimedAt": tt.shown})
	}
	for _, bad := range []string{`"yesterday"`, `12`, `"2026-03-02"`} {
		w.call(w.agent, "POST", "/v1/approvals", `{"toolName":"deploy","timestamp":`+bad+`}`).want(t, http.StatusUnprocessableEntity, map[string]any{"code": "invalid"})
	}
	storetest.CheckRows(t, w.store)
}

// TestSettledRequestsTellTheDecisionInShort, however they ended; pending ones tell none.
func TestSettledRequestsTellTheDecisionInShort(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"unmatched":"allow","rules":[{"name":"never","tools":["format"],"effect":"deny","reason":"Never."},{"name":"reads","tools":["read"],"effect":"allow","reason":"Harmless."}]}`)
	stream := w.listen(w.reviewer, queueStream, "")
	stream.from()
	check := func(how string, a answer, approved bool, reason string) {
		t.Helper()
		if a.at("approved") != approved || a.text("reason") != reason || a.at("response.approved") != approved || a.text("response.reason") != reason ||
			a.text("response.timestamp") != a.text("decision.at") || a.text("timestamp") == "" {
			t.Errorf("%s: %s", how, a.body)
		}
	}
	ask := func(body string) answer {
		t.Helper()
		a := w.call(w.agent, "POST", "/v1/approvals", body)
		for _, member := range []string{"approved", "reason", "response"} {
			if got := a.at(member); a.status == http.StatusAccepted && got != nil {
				t.Errorf("a pending request has %s: %v", member, got)
			}
		}
		return a
	}
	read := func(id string) answer { return w.call(w.agent, "GET", "/v1/approvals/"+id, "") }
	decide := func(body, verdict string) answer {
		t.Helper()
		id := ask(body).text("approvalId")
		w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", verdict).want(t, http.StatusOK, nil)
		return read(id)
	}
	check("approved", decide(`{"toolName":"deploy"}`, `{"approved":true,"reason":"go"}`), true, "go")
	check("approved without a word", decide(`{"toolName":"deploy"}`, `{"approved":true}`), true, "")
	check("rejected", decide(`{"toolName":"deploy"}`, `{"approved":false,"reason":"no"}`), false, "no")
	check("answered", decide(`{"kind":"question","description":"Which?"}`, `{"answer":"this"}`), true, "")
	check("declined", decide(`{"kind":"question","description":"Which?"}`, `{"approved":false,"reason":"ask another"}`), false, "ask another")
	check("denied", ask(`{"toolName":"format"}`), false, "Never.")
	check("let through", ask(`{"toolName":"read"}`), true, "Harmless.")
	id := ask(`{"toolName":"deploy"}`).text("approvalId")
	check("cancelled", w.call(w.agent, "POST", "/v1/approvals/"+id+"/cancel", ""), false, "withdrawn by the agent")
	id = ask(`{"toolName":"deploy"}`).text("approvalId")
	w.clock.Step(5 * time.Minute)
	check("expired", read(id), false, "Approval request timed out (5 minutes)")
	for _, one := range w.call(w.reviewer, "GET", "/v1/approvals", "").entries("approvals") {
		if one.at("approved") == nil || one.at("response") == nil {
			t.Errorf("the list lacks it: %v", one.object)
		}
	}
	for {
		e := stream.next()
		if e.name != "approval_required" {
			if e.at("approved") != true || e.at("response.reason") != "go" || e.at("timestamp") == nil {
				t.Errorf("%s: %s", e.name, e.data)
			}
			break
		}
		if e.at("timestamp") == nil || e.at("risk") != "medium" || e.at("digest") == nil {
			t.Errorf("%s: %s", e.name, e.data)
		}
	}
}

// TestEveryProblemSaysErrorToo wherever it is made: by a use case, by what reads
// bodies, by the router and in front of it.
func TestEveryProblemSaysErrorToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, a := range map[string]answer{
		"no token":         w.call("", "GET", "/v1/approvals", ""),
		"no such token":    w.call("nobody", "GET", "/v1/approvals", ""),
		"an agent decides": w.call(w.agent, "POST", "/v1/approvals/x/respond", `{"approved":true}`),
		"no such request":  w.call(w.reviewer, "POST", "/v1/approvals/x/respond", `{"approved":true}`),
		"no such route":    w.call(w.agent, "GET", "/v1/nothing", ""),
		"no such method":   w.call(w.agent, "PATCH", "/v1/approvals", ""),
		"no JSON":          w.call(w.agent, "POST", "/v1/approvals", "no"),
		"a wrong member":   w.call(w.agent, "POST", "/v1/approvals", `{"toolname":"x"}`),
		"a wrong query":    w.call(w.agent, "GET", "/v1/approvals?limit=x", ""),
		"a large body":     w.call(w.agent, "POST", "/v1/approvals", `"`+strings.Repeat("x", models.MaxBody)+`"`),
		"snake case":       w.call(w.agent, "POST", "/api/approval/request", `{}`),
		"a conversation":   w.call(w.reviewer, "POST", "/message", `{"content":""}`),
	} {
		if a.status < 400 || a.text("error") == "" || a.text("error") != a.text("detail") || a.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %s %s", name, a.status, a.header.Get("Content-Type"), a.body)
		}
	}
	doc := w.call("", "GET", "/openapi.json", "")
	if doc.at("components.schemas.Problem.properties.error") == nil || doc.at("components.schemas.AskRequest.properties.timestamp") == nil {
		t.Error("the document does not say so")
	}
	if doc.object["paths"].(map[string]any)["/conversations/{requestId}/reject"].(map[string]any)["post"].(map[string]any)["requestBody"].(map[string]any)["required"] == true {
		t.Error("the document says that a rejection needs a body")
	}
}

// TestWhoWaitsIsToldToPeople: the counts hold the waits of agents for what one may
// see, and requests say whether their agent waits.
func TestWhoWaitsIsToldToPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"rules":[{"name":"money","tools":["pay"],"effect":"require","reviewers":["stranger@example.com"]}]}`)
	id, routed := w.ask(`{"toolName":"deploy","runId":"r"}`), w.ask(`{"toolName":"pay","runId":"r"}`)
	waitFor := func(token, id string) <-chan answer {
		return w.waiting(token, "GET", "/v1/approvals/"+id+"?wait=50s", "")
	}
	resolvers := func(token string) string { return w.call(token, "GET", "/v1/approvals/stats", "").body }
	waits := func(token, id string) any { return w.call(token, "GET", "/v1/approvals/"+id, "").at("waiting") }

	if got := waits(w.reviewer, id); got != false {
		t.Errorf("nobody waits, and waiting is %v", got)
	}
	told := []<-chan answer{waitFor(w.agent, id), waitFor(w.agent, routed), waitFor(w.reviewer, id)} // a person's wait is not an agent's
	w.agentsWait("2")
	for who, want := range map[string]struct{ token, n string }{
		"the agent": {w.agent, "2"}, "its owner": {w.reviewer, "2"}, "an admin": {w.admin, "2"}, "who was asked too": {w.stranger, "1"},
		"another agent": {w.second, "0"}, "a foreign agent": {w.foreign, "0"},
	} {
		if got := resolvers(want.token); !strings.Contains(got, `"resolversCount":`+want.n+`,`) {
			t.Errorf("%s: %s, want %s", who, got, want.n)
		}
	}
	if got := waits(w.reviewer, id); got != true {
		t.Errorf("waiting is %v", got)
	}
	if got := waits(w.agent, id); got != nil {
		t.Errorf("an agent is told %v", got)
	}
	for path, list := range map[string]string{"/v1/approvals": "approvals", "/v1/approvals/pending": "pending", "/api/approval/pending/r": "pending"} {
		all := w.call(w.reviewer, "GET", path, "").entries(list)
		if len(all) != 2 || all[0].at("waiting") != true || all[1].at("waiting") != true {
			t.Errorf("%s: %v", path, all)
		}
	}
	conversation := "/conversations/" + w.call(w.reviewer, "GET", "/v1/approvals/"+id, "").text("conversationId")
	for _, one := range w.call(w.reviewer, "GET", conversation+"/approvals", "").entries("approvals") {
		if one.at("waiting") != true {
			t.Errorf("the conversation's list: %v", one.object)
		}
	}
	for _, one := range w.call(w.reviewer, "GET", conversation, "").entries("entries") {
		if one.at("response.waiting") != true {
			t.Errorf("the history: %v", one.object)
		}
	}
	w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true}`).want(t, http.StatusOK, nil)
	w.blocked(1)
	if got := waits(w.reviewer, id); got != nil {
		t.Errorf("of a settled request waiting is %v", got)
	}
	if got := resolvers(w.admin); !strings.Contains(got, `"resolversCount":1,`) {
		t.Error(got)
	}
	w.call(w.stranger, "POST", "/v1/approvals/"+routed+"/respond", `{"approved":false}`).want(t, http.StatusOK, nil)
	for _, answered := range told {
		if a := <-answered; a.status != http.StatusOK || a.at("waiting") != nil {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
}
