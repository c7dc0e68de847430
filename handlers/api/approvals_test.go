package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign/models"
)

const uuid = "0190f5a0-0000-7000-8000-00000000000"

func TestAskShowsTheWholeApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.call(w.agent, "POST", "/v1/approvals", `{"approvalId":"`+uuid+`1","runId":"run 1","toolUseId":"tu_1","jobId":"job_1",
		"toolName":"deploy","input":{"b":1,"a":[9007199254740993]},"description":"1.4 to production","context":"all tests pass"}`)
	a.want(t, http.StatusAccepted, map[string]any{
		"approvalId": uuid + "1", "kind": "tool_call", "toolName": "deploy", "description": "1.4 to production",
		"context": "all tests pass", "toolUseId": "tu_1", "jobId": "job_1", "runId": "run 1", "risk": "medium",
		"status": "pending", "cause": "", "requiresApproval": true, "decision": nil,
		"requestedAt": "2026-03-02T12:00:00Z", "timeoutAt": "2026-03-02T12:05:00Z",
		"url": "https://sign.example.com/approvals/" + uuid + "1",
	})
	if got, want := a.header.Get("Location"), "/v1/approvals/"+uuid+"1"; got != want {
		t.Errorf("Location %q, want %q", got, want)
	}
	for _, member := range []string{"conversationId", "sequence", "input", "digest", "advice", "policy", "decision", "timeoutAt"} {
		if _, ok := a.object[member]; !ok {
			t.Errorf("no member %q in %s", member, a.body)
		}
	}
	if !strings.Contains(a.body, `"input":{"b":1,"a":[9007199254740993]}`) {
		t.Errorf("input is not as sent: %s", a.body)
	}
	if len(a.text("digest")) != 64 || a.at("policy.version") == nil {
		t.Errorf("digest or policy missing: %s", a.body)
	}
	for header, want := range map[string]string{"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Content-Type": "application/json"} {
		if got := a.header.Get(header); got != want {
			t.Errorf("%s: %q, want %q", header, got, want)
		}
	}
	if a.header.Get("X-Request-Id") == "" {
		t.Error("no request id")
	}
	again := w.call(w.agent, "GET", a.header.Get("Location"), "")
	again.want(t, http.StatusOK, map[string]any{"approvalId": uuid + "1", "digest": a.text("digest")})
}

func TestI9ARepeatIsTheSameRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := `{"approvalId":"` + uuid + `1","toolName":"pay","input":{"amount":1.50},"description":"first"}`
	id := w.ask(first)
	keyed := w.ask(`{"toolUseId":"tu","toolName":"pay","input":{}}`)
	for _, tt := range []struct {
		name, body string
		status     int
		members    map[string]any
	}{
		{"as sent", first, 202, map[string]any{"approvalId": id}},
		{"members in another order", `{"input":{"amount":1.50},"toolName":"pay","approvalId":"` + id + `"}`, 202, map[string]any{"approvalId": id, "description": "first"}},
		{"another description", `{"approvalId":"` + id + `","toolName":"pay","input":{"amount":1.50},"description":"second"}`, 202, map[string]any{"description": "first"}},
		{"another timeout", `{"approvalId":"` + id + `","toolName":"pay","input":{"amount":1.50},"timeoutSeconds":9}`, 202, map[string]any{"timeoutAt": "2026-03-02T12:05:00Z"}},
		{"by tool use id", `{"toolUseId":"tu","toolName":"pay"}`, 202, map[string]any{"approvalId": keyed}},
		{"with a job sent later", `{"toolUseId":"tu","toolName":"pay","jobId":"j"}`, 409, map[string]any{"code": "key_conflict", "approval.approvalId": keyed}},
		{"another input", `{"approvalId":"` + id + `","toolName":"pay","input":{"amount":1.51}}`, 409, map[string]any{"code": "key_conflict"}},
		{"another tool", `{"approvalId":"` + id + `","toolName":"pay2","input":{"amount":1.50}}`, 409, map[string]any{"code": "key_conflict"}},
		{"another kind", `{"approvalId":"` + id + `","toolName":"pay","kind":"question","input":{"amount":1.50}}`, 409, map[string]any{"code": "key_conflict"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w.call(w.agent, "POST", "/v1/approvals", tt.body).want(t, tt.status, tt.members)
		})
	}
	w.call(w.foreign, "POST", "/v1/approvals", first).want(t, 409, map[string]any{"code": "id_taken", "approval": nil})
	list := w.call(w.agent, "GET", "/v1/approvals", "")
	if n := len(list.at("approvals").([]any)); n != 2 {
		t.Errorf("%d requests stand, want 2", n)
	}
}

func TestRespond(t *testing.T) {
	t.Parallel()
	question := `{"kind":"question","toolUseId":"q","input":{"text":"Which region?"},"options":[{"name":"eu","title":"Europe"},{"name":"us"}]}`
	call := `{"toolUseId":"c","toolName":"rm","input":{"path":"/tmp/x","n":9007199254740993},"acceptsEdits":true}`
	for _, tt := range []struct {
		name, ask, respond string
		status             int
		answered           map[string]any // the answer to the reviewer
		stands             map[string]any // what the agent sees
	}{
		{
			"approve", call, `{"approved":true,"reason":"fine"}`, 200,
			map[string]any{"success": true, "status": "approved", "response.approved": true, "response.reason": "fine", "response.timestamp": "2026-03-02T12:00:00Z"},
			map[string]any{"status": "approved", "cause": "reviewer", "decision.approved": true, "decision.reason": "fine", "decision.edited": false, "decision.by.name": "owner@example.com"},
		},
		{
			"reject", call, `{"approved":false,"reason":"not today"}`, 200,
			map[string]any{"success": true, "status": "rejected", "response.approved": false},
			map[string]any{"status": "rejected", "decision.approved": false, "decision.reason": "not today", "decision.input": nil},
		},
		{
			"edit", call, `{"approved":true,"input":{"path":"/tmp/y"}}`, 200,
			map[string]any{"success": true},
			map[string]any{"status": "approved", "decision.edited": true, "decision.input.path": "/tmp/y", "input.path": "/tmp/x"},
		},
		{"null input is no edit", call, `{"approved":true,"input":null,"answer":null,"option":null}`, 200, nil, map[string]any{"decision.edited": false, "decision.input.path": "/tmp/x"}},
		{"no verdict", call, `{"reason":"hm"}`, 422, map[string]any{"code": "invalid"}, map[string]any{"status": "pending"}},
		{"an answer to a tool call", call, `{"approved":true,"answer":"yes"}`, 422, map[string]any{"code": "wrong_decision_kind"}, map[string]any{"status": "pending"}},
		{"another digest", call, `{"approved":true,"digest":"` + strings.Repeat("0", 64) + `"}`, 409, map[string]any{"code": "digest_mismatch", "approval.status": "pending"}, map[string]any{"status": "pending"}},
		{"reason too long", call, `{"approved":false,"reason":"` + strings.Repeat("x", 4001) + `"}`, 422, map[string]any{"code": "invalid"}, map[string]any{"status": "pending"}},
		{
			"answer", question, `{"answer":"the near one"}`, 200,
			map[string]any{"status": "approved", "response.approved": true},
			map[string]any{"status": "approved", "toolName": "question", "decision.answer": "the near one", "decision.option": nil, "decision.input": nil},
		},
		{"option", question, `{"option":"eu"}`, 200, nil, map[string]any{"status": "approved", "decision.option": "eu"}},
		{"decline", question, `{"approved":false,"reason":"ask later"}`, 200, nil, map[string]any{"status": "rejected", "decision.reason": "ask later"}},
		{"bare approve of a question", question, `{"approved":true}`, 422, map[string]any{"code": "wrong_decision_kind"}, map[string]any{"status": "pending"}},
		{"option not offered", question, `{"option":"mars"}`, 422, nil, map[string]any{"status": "pending"}},
		{"empty answer", question, `{"answer":""}`, 422, nil, map[string]any{"status": "pending"}},
		{"I5: a body that names the decider", call, `{"approved":true,"by":{"name":"boss"}}`, 422, map[string]any{"code": "invalid"}, map[string]any{"status": "pending"}},
		{"I5: a body that names a user", call, `{"approved":true,"userId":"` + uuid + `9"}`, 422, map[string]any{"code": "invalid"}, map[string]any{"status": "pending"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.ask(tt.ask)
			w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", tt.respond).want(t, tt.status, tt.answered)
			w.call(w.agent, "GET", "/v1/approvals/"+id, "").want(t, 200, tt.stands)
		})
	}
}

func TestHighRiskNeedsTheDigestToApprove(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"rules":[{"name":"dangerous","tools":["drop"],"effect":"require","risk":"high","reason":"loses data"}]}`)
	id := w.ask(`{"toolUseId":"1","toolName":"drop"}`)
	path := "/v1/approvals/" + id
	w.call(w.reviewer, "POST", path+"/respond", `{"approved":true}`).want(t, 422, map[string]any{"code": "digest_required"})
	seen := w.call(w.reviewer, "GET", path, "")
	seen.want(t, 200, map[string]any{"risk": "high", "policy.rule": "dangerous", "policy.reason": "loses data"})
	w.call(w.reviewer, "POST", path+"/respond", `{"approved":true,"digest":"`+seen.text("digest")+`"}`).want(t, 200, nil)
	other := w.ask(`{"toolUseId":"2","toolName":"drop"}`)
	w.call(w.reviewer, "POST", "/v1/approvals/"+other+"/respond", `{"approved":false}`).want(t, 200, map[string]any{"status": "rejected"})
}

func TestASecondDecisionMeetsTheOutcome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.ask(`{"toolUseId":"1","toolName":"rm"}`)
	path := "/v1/approvals/" + id
	w.call(w.reviewer, "POST", path+"/respond", `{"approved":false,"reason":"no"}`).want(t, 200, nil)
	again := w.call(w.admin, "POST", path+"/respond", `{"approved":true}`)
	again.want(t, 409, map[string]any{
		"code": "already_decided", "status": jsonNumber("409"), "approval.approvalId": id, "approval.status": "rejected",
		"approval.decision.by.name": "owner@example.com", "approval.decision.reason": "no",
	})
	if got := again.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("Content-Type %q", got)
	}
	late := w.ask(`{"toolUseId":"2","toolName":"rm","timeoutSeconds":90}`)
	w.clock.Step(90 * time.Second)
	w.call(w.reviewer, "POST", "/v1/approvals/"+late+"/respond", `{"approved":true}`).
		want(t, 409, map[string]any{"code": "expired", "approval.status": "expired"})
	w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"2","toolName":"rm","timeoutSeconds":90}`).want(t, 200, map[string]any{
		"status": "expired", "cause": "timeout", "decision.approved": false, "decision.by": nil,
		"decision.reason": "Approval request timed out (1 minute 30 seconds)",
	})
}

func TestCancel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.ask(`{"toolUseId":"1","toolName":"rm"}`)
	path := "/v1/approvals/" + id
	w.call(w.second, "POST", path+"/cancel", "").want(t, 404, nil)
	w.call(w.agent, "POST", path+"/cancel", "").want(t, 200, map[string]any{"status": "cancelled", "cause": "cancelled", "decision.approved": false, "decision.by": nil})
	w.call(w.reviewer, "POST", path+"/respond", `{"approved":true}`).want(t, 409, map[string]any{"code": "already_decided", "approval.status": "cancelled"})
}

func TestWhatIsSettledByPolicyIsToldAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"rules":[
		{"name":"reading","tools":["read"],"effect":"allow","reason":"harmless"},
		{"name":"never","tools":["format"],"effect":"deny","reason":"not on these machines"}]}`)
	w.call(w.agent, "POST", "/v1/approvals?wait=50s", `{"toolUseId":"1","toolName":"read","input":[1]}`).want(t, 200, map[string]any{
		"status": "approved", "cause": "policy", "requiresApproval": false, "decision.approved": true, "decision.by": nil,
		"policy.rule": "reading", "timeoutAt": nil,
	})
	denied := w.call(w.agent, "POST", "/v1/approvals?wait=50s", `{"toolUseId":"2","toolName":"format"}`)
	denied.want(t, 200, map[string]any{"status": "rejected", "cause": "policy", "decision.approved": false, "decision.by": nil, "policy.rule": "never"})
	if want := models.Advice(models.StatusRejected, models.CausePolicy, models.KindToolCall); denied.text("advice") != want {
		t.Errorf("advice %q, want %q", denied.text("advice"), want)
	}
}

func TestFallbackIsReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	report := `{"toolUseId":"1","toolName":"deploy","fallback":{"at":"2026-03-02T11:59:00Z"}}`
	w.call(w.agent, "POST", "/v1/approvals", strings.Replace(report, "2026-03-02T11:59:00Z", "soon", 1)).want(t, 422, map[string]any{"code": "invalid"})
	w.policy(`{"fallback_auto_approve":true}`)
	w.clock.Step(time.Minute)
	w.call(w.agent, "POST", "/v1/approvals", strings.Replace(report, "11:59:00", "12:00:30", 1)).want(t, 200, map[string]any{
		"status": "ran", "cause": "fallback", "requiresApproval": true, "approved": false, "decision.approved": false, "decision.by": nil, "decision.input": nil,
	})
}
