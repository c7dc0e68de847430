package api_test

import (
	"strings"
	"testing"
	"time"
)

// request sends a call of the owner's agent as an orchestrator does.
func (w *world) request(toolUse, tool, session string) answer {
	w.tb.Helper()
	return w.call(w.agent, "POST", "/api/approval/request",
		`{"tool_use_id":"`+toolUse+`","tool_name":"`+tool+`","tool_input":{"n":9007199254740993},"session_id":"`+session+`","job_id":"job 1"}`)
}

// TestAnOrchestratorPausesATool is the whole way: what is held and what is not,
// the pause, the decision, and what comes too late.
func TestAnOrchestratorPausesATool(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	refused := w.call(w.admin, "PUT", "/api/approval/config", `{"required_approval_tools":["send_email","/.*delete.*/","/(/"]}`)
	refused.want(t, 422, map[string]any{"code": "invalid"})
	if !strings.Contains(refused.body, `"field":"required_approval_tools[2]"`) {
		t.Errorf("the path of the regular expression is not named: %s", refused.body)
	}
	w.call(w.agent, "GET", "/api/approval/config", "").want(t, 200, map[string]any{"approval_enabled": true, "default_timeout_minutes": jsonNumber("5")})
	w.call(w.admin, "PUT", "/api/approval/config", `{"required_approval_tools":["send_email","/.*delete.*/"],"default_timeout_minutes":10}`).want(t, 200, nil)

	for tool, held := range map[string]bool{
		"send_email": true, "delete_user": true, "bulk_delete_rows": true, "send_email_draft": false, "read_file": false, "Send-Email": true,
	} {
		status := "APPROVED"
		if held {
			status = "PENDING"
		}
		w.request("which "+tool, tool, "which").want(t, 200, map[string]any{"requires_approval": held, "status": status, "session_id": "which", "job_id": "job 1"})
	}

	asked := w.request("toolu_1", "delete_user", "run 1")
	asked.want(t, 200, map[string]any{
		"requires_approval": true, "status": "PENDING", "cause": "", "tool_use_id": "toolu_1", "job_id": "job 1", "session_id": "run 1",
		"timeout_at": "2026-03-02T12:10:00Z",
	})
	pending := w.call(w.reviewer, "GET", "/api/approval/pending/run%201", "")
	if list, _ := pending.at("pending").([]any); len(list) != 1 || !strings.Contains(pending.body, `"tool_input":{"n":9007199254740993}`) {
		t.Fatalf("pending in the session: %s", pending.body)
	}

	waits := w.waiting(w.agent, "GET", "/api/approval/invocation/toolu_1?session_id=run+1&wait=50s", "")
	w.clock.Step(time.Minute)
	decided := w.call(w.reviewer, "POST", "/api/approval/decide", `{"tool_use_id":"toolu_1","decision":"APPROVED","reason":"go on"}`)
	decided.want(t, 200, map[string]any{"status": "APPROVED", "session_id": "run 1", "decided_by.name": "owner@example.com"})
	(<-waits).want(t, 200, map[string]any{
		"tool_use_id": "toolu_1", "tool_call_id": asked.text("tool_call_id"), "job_id": "job 1", "session_id": "run 1", "tool_name": "delete_user",
		"requires_approval": true, "status": "APPROVED", "cause": "reviewer", "reason": "go on", "risk": "medium", "decided_by.name": "owner@example.com",
		"requested_at": "2026-03-02T12:00:00Z", "decided_at": "2026-03-02T12:01:00Z",
	})
	w.call(w.admin, "POST", "/api/approval/decide", `{"tool_use_id":"toolu_1","decision":"REJECTED"}`).want(t, 409, map[string]any{
		"code": "already_decided", "approval.status": "APPROVED", "approval.tool_use_id": "toolu_1", "approval.decided_by.name": "owner@example.com", "approval.reason": "go on",
	})
	w.request("toolu_1", "delete_user", "run 1").want(t, 200, map[string]any{"status": "APPROVED", "reason": "go on", "tool_call_id": asked.text("tool_call_id")})
	if list, ok := w.call(w.agent, "GET", "/api/approval/pending/run%201", "").at("pending").([]any); !ok || len(list) != 0 {
		t.Error("what was decided waits still")
	}

	w.request("toolu_2", "delete_user", "run 1").want(t, 200, map[string]any{"status": "PENDING"})
	w.clock.Step(10 * time.Minute)
	late := w.call(w.reviewer, "POST", "/api/approval/decide", `{"tool_use_id":"toolu_2","decision":"APPROVED"}`)
	late.want(t, 409, map[string]any{"code": "expired", "approval.status": "TIMED_OUT", "approval.decided_by": nil})
	w.call(w.admin, "POST", "/api/approval/cleanup", "").want(t, 200, map[string]any{"expired": jsonNumber("5")})
	w.call(w.agent, "GET", "/api/approval/invocation/toolu_2?wait=50s", "").want(t, 200, map[string]any{
		"status": "TIMED_OUT", "cause": "timeout", "reason": "Approval request timed out (10 minutes)", "decided_at": "2026-03-02T12:11:00Z",
	})
}

// The wait on this surface is the one of /v1: it ends with pending, by stop, and
// with the token.
func TestAWaitForAnInvocation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"required_approval_tools":["rm"]}`)
	w.request("tu", "rm", "s")
	const path = "/api/approval/invocation/tu?wait="
	w.call(w.agent, "GET", path+"5ms", "").want(t, 200, map[string]any{"status": "PENDING", "session_id": "s"})
	w.call(w.agent, "GET", path+"soon", "").want(t, 422, map[string]any{"code": "invalid"})
	revoked := w.waiting(w.agent, "GET", path+"50s", "")
	actor, err := w.store.People.AuthenticateToken(t.Context(), w.agent)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.People.RevokeToken(t.Context(), w.adminAs, actor.TokenID); err != nil {
		t.Fatal(err)
	}
	(<-revoked).want(t, 401, map[string]any{"code": "unauthenticated"})
	stopped := w.waiting(w.reviewer, "GET", path+"50s", "")
	w.store.EndWaits()
	(<-stopped).want(t, 200, map[string]any{"status": "PENDING", "tool_use_id": "tu"})
}
