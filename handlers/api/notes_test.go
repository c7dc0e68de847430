package api_test

import (
	"strings"
	"testing"
	"time"
)

func TestAQuestionIsAskedBackCarriedAndAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.ask(`{"toolUseId":"tu","toolName":"deploy","runId":"r"}`)
	w.clock.Step(time.Minute)
	stream, others := w.listen(w.agent, queueStream, ""), w.listen(w.agent, eventStream, "")
	asked := w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/notes", `{"text":"Is the migration in it?"}`)
	asked.want(t, 201, map[string]any{
		"approvalId": id, "note.text": "Is the migration in it?", "note.asks": true, "note.by.kind": "user", "note.by.id": w.owner.ID,
		"note.by.name": "owner@example.com", "note.at": "2026-03-02T12:01:00Z", "openNote.id": asked.text("note.id"), "timeoutAt": "2026-03-02T13:01:00Z",
	})
	about(stream, "approvalId", id).want(t, 0, map[string]any{"openNote.text": "Is the migration in it?", "openNote.id": asked.text("note.id"), "timeoutAt": "2026-03-02T13:01:00Z"})
	// Every form of an approval carries it, also to its agent.
	note := asked.text("note.id")
	for _, token := range []string{w.agent, w.reviewer, w.admin} {
		w.call(token, "GET", "/v1/approvals/"+id, "").want(t, 200, map[string]any{
			"status": "pending", "openNote.id": note, "openNote.text": "Is the migration in it?", "openNote.by.name": "owner@example.com", "openNote.at": "2026-03-02T12:01:00Z",
			"timeoutAt": "2026-03-02T13:01:00Z",
		})
		w.call(token, "GET", "/api/approval/invocation/tu", "").want(t, 200, map[string]any{"status": "PENDING", "open_note.id": note})
		for _, list := range []string{"/v1/approvals", "/v1/approvals/pending", "/api/approval/pending/r"} {
			if a := w.call(token, "GET", list, ""); !strings.Contains(a.body, `"id":"`+note+`"`) {
				t.Errorf("%s does not carry it: %s", list, a.body)
			}
		}
	}
	w.call(w.agent, "POST", "/api/approval/request", `{"tool_use_id":"tu","tool_name":"deploy","session_id":"r"}`).want(t, 200, map[string]any{"open_note.id": note})
	w.clock.Step(time.Minute)
	w.call(w.agent, "POST", "/v1/approvals/"+id+"/notes", `{"text":"No, it ran yesterday."}`).want(t, 201, map[string]any{
		"note.asks": false, "note.by.kind": "agent", "note.by.name": "deployer", "openNote": nil, "timeoutAt": "2026-03-02T12:06:00Z",
	})
	w.call(w.agent, "GET", "/v1/approvals/"+id, "").want(t, 200, map[string]any{"openNote": nil, "timeoutAt": "2026-03-02T12:06:00Z"})
	w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true}`).want(t, 200, nil)
	about(others, "data.approval_id", id).want(t, 0, map[string]any{"type": "approval_resolved"}) // which has no word for notes
	if all := w.call(w.reviewer, "GET", "/v1/approvals/"+id+"/notes", ""); len(all.at("notes").([]any)) != 2 {
		t.Errorf("notes: %s", all.body)
	}
	for body, field := range map[string]string{`{"text":" "}`: "text", `{}`: "text", `{"text":"x","by":"ann"}`: "by", `{"text":"` + strings.Repeat("x", 4001) + `"}`: "text"} {
		a := w.call(w.agent, "POST", "/v1/approvals/"+w.ask(`{"toolName":"rm"}`)+"/notes", body)
		a.want(t, 422, map[string]any{"code": "invalid"})
		if errs, _ := a.at("errors").([]any); len(errs) == 0 || errs[0].(map[string]any)["field"] != field {
			t.Errorf("%.40s: %s", body, a.body)
		}
	}
}

// A wait ends early for a question only where it is asked to, and only for one
// that it has not carried yet.
func TestAWaitCarriesAQuestionOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"approvalId":"` + uuid + `1","toolName":"rm"}`
	asleep := w.waiting(w.agent, "POST", "/v1/approvals?wait=50s", body)
	sleeps := w.waiting(w.agent, "GET", "/v1/approvals/"+uuid+"1?wait=50s", "")
	posts := w.waiting(w.agent, "POST", "/v1/approvals?wait=50s&seenNote=", body)
	gets := w.waiting(w.agent, "GET", "/v1/approvals/"+uuid+"1?wait=50s&seenNote=", "")
	note := w.call(w.reviewer, "POST", "/v1/approvals/"+uuid+"1/notes", `{"text":"Why?"}`).text("note.id")
	post, get := <-posts, <-gets
	post.want(t, 202, map[string]any{"status": "pending", "openNote.id": note})
	get.want(t, 200, map[string]any{"status": "pending", "openNote.id": note})
	w.call(w.agent, "POST", "/v1/approvals?wait=50s&seenNote=", body).want(t, 202, map[string]any{"openNote.id": note})
	again := w.waiting(w.agent, "POST", "/v1/approvals?wait=50s&seenNote="+note, body)
	w.call(w.agent, "POST", "/v1/approvals/"+uuid+"1/notes", `{"text":"So."}`).want(t, 201, nil)
	w.call(w.reviewer, "POST", "/v1/approvals/"+uuid+"1/extend", `{"minutes":60}`).want(t, 200, nil)
	next := w.call(w.reviewer, "POST", "/v1/approvals/"+uuid+"1/notes", `{"text":"And who?"}`).text("note.id")
	got := <-again
	got.want(t, 202, map[string]any{"openNote.id": next})
	w.call(w.reviewer, "POST", "/v1/approvals/"+uuid+"1/respond", `{"approved":true}`).want(t, 200, nil)
	for _, answers := range []<-chan answer{asleep, sleeps} {
		got := <-answers
		got.want(t, 200, map[string]any{"status": "approved", "openNote": nil})
	}
}

func TestADeadlineIsExtended(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.ask(`{"toolUseId":"1","toolName":"rm"}`)
	w.clock.Step(time.Minute)
	w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/extend", `{"minutes":60}`).want(t, 200, map[string]any{"status": "pending", "timeoutAt": "2026-03-02T13:01:00Z"})
	for _, body := range []string{`{"minutes":59}`, `{"minutes":0}`, `{"minutes":-5}`, `{"minutes":1441}`, `{"minutes":9223372036854775807}`, `{}`} {
		a := w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/extend", body)
		a.want(t, 422, map[string]any{"code": "invalid"})
		if errs, _ := a.at("errors").([]any); len(errs) == 0 || errs[0].(map[string]any)["field"] != "minutes" {
			t.Errorf("%s: %s", body, a.body)
		}
	}
}

// What agents see does not tell that an approval is held: only approvals are.
func TestI1AnApprovalInItsWindowIsToldToPeopleAndToNoAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"undo_seconds":{"medium":30}}`)
	id := w.ask(`{"toolUseId":"tu","toolName":"deploy","runId":"r"}`)
	conv := w.call(w.agent, "GET", "/v1/approvals/"+id, "").text("conversationId")
	waits := w.waiting(w.agent, "GET", "/v1/approvals/"+id+"?wait=50s&seenNote=", "")
	settled := w.listen(w.agent, eventStream, "")
	w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true,"reason":"go"}`).want(t, 202, map[string]any{
		"status": "pending", "held.reason": "undo", "held.until": "2026-03-02T12:00:30Z", "response.approved": false, "verdict": "approve",
	})
	paths := map[string]string{"/v1/approvals/" + id: "pending", "/api/approval/invocation/tu": "PENDING", "/v1/approvals/" + id + "?wait=1ms": "pending"}
	for path, status := range paths {
		w.call(w.reviewer, "GET", path, "").want(t, 200, map[string]any{"status": status, "held.reason": "undo", "held.until": "2026-03-02T12:00:30Z"})
		w.call(w.agent, "GET", path, "").want(t, 200, map[string]any{"status": status, "held": nil})
	}
	for _, list := range []string{"/v1/approvals", "/v1/approvals?status=pending", "/v1/approvals/pending", "/api/approval/pending/r", "/conversations/" + conv, "/conversations/" + conv + "/approvals"} {
		if a := w.call(w.reviewer, "GET", list, ""); !strings.Contains(a.body, `"held":{"reason":"undo"`) {
			t.Errorf("%s does not tell a person: %s", list, a.body)
		}
		if a := w.call(w.agent, "GET", list, ""); a.status != 200 || strings.Contains(a.body, `"held"`) {
			t.Errorf("%s tells the agent: %s", list, a.body)
		}
	}
	for _, sent := range []struct{ path, body string }{
		{"/v1/approvals", `{"toolUseId":"tu","toolName":"deploy","runId":"r"}`},
		{"/api/approval/request", `{"tool_use_id":"tu","tool_name":"deploy","session_id":"r"}`},
	} {
		if a := w.call(w.agent, "POST", sent.path, sent.body); a.status >= 300 || strings.Contains(a.body, `"held"`) {
			t.Errorf("%s tells the agent: %d %s", sent.path, a.status, a.body)
		}
	}
	w.call(w.admin, "POST", "/v1/approvals/"+id+"/respond", `{"approved":false}`).want(t, 409, map[string]any{"code": "being_decided", "approval.held.reason": "undo"})
	w.call(w.admin, "POST", "/v1/approvals/"+id+"/undo", "").want(t, 409, map[string]any{"code": "being_decided", "approval.held.reason": "undo"})
	w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/undo", "").want(t, 200, map[string]any{"status": "pending", "held": nil})
	w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/undo", "").want(t, 200, map[string]any{"status": "pending", "held": nil})
	w.call(w.admin, "POST", "/v1/approvals/"+id+"/undo", "").want(t, 409, map[string]any{"code": "conflict", "approval.status": "pending"})

	w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true,"reason":"go"}`).want(t, 202, nil)
	w.clock.Step(30 * time.Second)
	w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/undo", "").want(t, 409, map[string]any{"code": "being_decided"})
	if n, err := w.store.ReleaseDue(t.Context(), 10); n != 1 || err != nil {
		t.Fatalf("%d released, %v", n, err)
	}
	told := <-waits
	told.want(t, 200, map[string]any{"status": "approved", "decision.by.name": "owner@example.com", "decision.at": "2026-03-02T12:00:30Z"})
	about(settled, "data.approval_id", id).want(t, 0, map[string]any{"type": "approval_resolved", "data.decision": "approved"})
	w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/undo", "").want(t, 409, map[string]any{"code": "already_decided", "approval.status": "approved"})
}

func TestABudgetThatComesWithAHeldApprovalIsNotToldAsSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"undo_seconds":{"medium":30}}`)
	conv := w.call(w.agent, "POST", "/conversations/"+uuid+"1/responses", `{"kind":"proposal","content":"May I?"}`).text("requestId")
	w.call(w.reviewer, "POST", "/conversations/"+conv+"/approve", `{"newBudget":7}`).want(t, 202, map[string]any{
		"status": "pending", "held.reason": "undo", "budgetUpdated": false, "newBudget": nil,
	})
	w.call(w.agent, "GET", "/conversations/"+conv, "").want(t, 200, map[string]any{"status": "waiting_input", "budget.total": nil})
	w.clock.Step(30 * time.Second)
	if _, err := w.store.ReleaseDue(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	w.call(w.agent, "GET", "/conversations/"+conv, "").want(t, 200, map[string]any{"status": "running", "budget.total": jsonNumber("7")})
}
