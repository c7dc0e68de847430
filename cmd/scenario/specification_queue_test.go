package scenario_test

import (
	"net/http"
	"strings"
	"testing"

	"countersign/cmd/process"
)

// TestTheQueueBySpecification runs the approval queue as document 003 describes it:
// the agent blocks, the frontend hears of the request, shows it and responds.
func TestTheQueueBySpecification(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	events := s.listen(s.Reviewer, "/v1/approvals/stream")
	for _, tt := range []struct {
		name, respond string
		settled       object // the agent's ApprovalResponse
	}{
		{"approved", `{"approved":true}`, object{"approved": true, "reason": ""}},
		{"approved with a reason", `{"approved":true,"reason":"go ahead"}`, object{"approved": true, "reason": "go ahead"}},
		{"rejected", `{"approved":false,"reason":"not the home page"}`, object{"approved": false, "reason": "not the home page"}},
	} {
		id := newUUID()
		request := `{"approvalId":"` + id + `","toolName":"cms_deletePage","input":{"slug":"home"},"description":"Delete page \"home\"","timestamp":"2026-03-02T12:00:00.000Z"}`
		blocked := make(chan object, 1)
		go func() {
			_, answer, err := s.try(s.Agent, "POST", "/v1/approvals?wait=50s", request)
			if err != nil {
				t.Error(err)
			}
			blocked <- answer
		}()

		event := s.hears(events, "approval_required")
		s.has(event, object{"approvalId": id, "toolName": "cms_deletePage", "description": `Delete page "home"`})
		s.has(s.at(event, "input"), object{"slug": "home"})
		s.text(event, "timestamp")
		process.Eventually(t, "the agent is blocked", func() bool {
			_, stats := s.send(s.Reviewer, "GET", "/v1/approvals/stats", "")
			return stats["pendingCount"] == 1.0 && stats["resolversCount"] == 1.0
		})
		_, list := s.send(s.Reviewer, "GET", "/v1/approvals/pending", "")
		pending := s.only(list, "pending")
		s.has(pending, object{"approvalId": id, "toolName": "cms_deletePage", "description": `Delete page "home"`, "waiting": true})
		s.text(pending, "timestamp")
		for _, member := range []string{"approved", "reason", "response"} {
			if got, there := pending[member]; there {
				t.Errorf("%s: a pending request has %s: %v", tt.name, member, got)
			}
		}

		status, done := s.send(s.Reviewer, "POST", "/v1/approvals/"+id+"/respond", tt.respond)
		if s.has(done, object{"success": true}); status != http.StatusOK {
			t.Errorf("%s: %d %v", tt.name, status, done)
		}
		s.has(s.at(done, "response"), tt.settled)
		s.text(s.at(done, "response"), "timestamp")

		answer := <-blocked
		s.has(answer, tt.settled)
		s.has(s.at(answer, "response"), tt.settled)
		s.text(answer, "timestamp")
		s.text(s.at(answer, "response"), "timestamp")

		// A second response is refused, with the text where the specification has it.
		status, done = s.send(s.Reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true}`)
		if s.text(done, "error"); status < 400 {
			t.Errorf("%s: a second response: %d", tt.name, status)
		}
	}
	unknown := newUUID()
	status, answer := s.send(s.Reviewer, "POST", "/v1/approvals/"+unknown+"/respond", `{"approved":true}`)
	if text := s.text(answer, "error"); status != http.StatusNotFound || !strings.HasPrefix(text, "No pending approval request for ID: "+unknown) {
		t.Errorf("%d %v", status, answer)
	}
	var stats object
	process.Eventually(t, "no agent is blocked", func() bool { // each was answered before its wait was over
		_, stats = s.send(s.Reviewer, "GET", "/v1/approvals/stats", "")
		return stats["resolversCount"] == 0.0
	})
	s.has(stats, object{"pendingCount": 0.0, "responsesCount": 3.0})
}

// TestToolApprovalBySpecification runs the tool approval service as document 001
// describes it, with its own examples of a configuration.
func TestToolApprovalBySpecification(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	_, admin := storetestAdminToken(t, s)
	production := `{"approval_enabled":true,"required_approval_tools":["str_replace_editor","execute_in_runner_session","/.*delete.*/","/.*remove.*/","/.*sudo.*/"],` +
		`"default_timeout_minutes":10,"fallback_auto_approve":false}`
	if status, answer := s.send(admin, "PUT", "/api/approval/config", production); status != http.StatusOK {
		t.Fatalf("%d %v", status, answer)
	}
	_, config := s.send(s.Agent, "GET", "/api/approval/config", "")
	s.has(config, object{"approval_enabled": true, "default_timeout_minutes": 10.0, "fallback_auto_approve": false})
	if tools, _ := config["required_approval_tools"].([]any); len(tools) != 5 {
		t.Errorf("the tools are %v", tools)
	}
	events := s.listen(s.Reviewer, "/api/approval/events")

	request := func(use, tool string) object {
		t.Helper()
		status, answer := s.send(s.Agent, "POST", "/api/approval/request",
			`{"tool_use_id":"`+use+`","job_id":"job-`+use+`","tool_name":"`+tool+`","tool_input":{"path":"/etc/hosts"},"session_id":"test-session"}`)
		if status >= 400 {
			t.Fatalf("%s: %d %v", tool, status, answer)
		}
		return answer
	}
	s.has(request("free", "read_file"), object{"requires_approval": false, "status": "APPROVED"})
	for use, tt := range map[string]struct{ tool, decision string }{
		"exact": {"str_replace_editor", "APPROVED"}, "pattern": {"bulk_delete_rows", "REJECTED"}, "case": {"DELETE_page", "APPROVED"},
	} {
		s.has(request(use, tt.tool), object{"requires_approval": true, "status": "PENDING", "tool_use_id": use, "job_id": "job-" + use})
		s.has(s.hears(events, "approval_requested"), object{"tool_use_id": use, "tool_name": tt.tool, "job_id": "job-" + use, "session_id": "test-session"})
		_, list := s.send(s.Reviewer, "GET", "/api/approval/pending/test-session", "")
		pending := s.only(list, "pending")
		s.has(pending, object{"tool_use_id": use, "tool_name": tt.tool, "status": "PENDING"})
		s.text(pending, "tool_call_id")

		blocked := make(chan object, 1)
		go func() {
			_, answer, err := s.try(s.Agent, "GET", "/api/approval/invocation/"+use+"?wait=50s", "")
			if err != nil {
				t.Error(err)
			}
			blocked <- answer
		}()
		if status, answer := s.send(s.Reviewer, "POST", "/api/approval/decide", `{"tool_use_id":"`+use+`","decision":"`+tt.decision+`","reason":"seen"}`); status != http.StatusOK {
			t.Fatalf("%s: %d %v", use, status, answer)
		}
		s.has(s.hears(events, "approval_decided"), object{"tool_use_id": use, "status": tt.decision})
		s.has(<-blocked, object{"status": tt.decision, "reason": "seen"})
	}
	status, answer := s.send(s.Reviewer, "POST", "/api/approval/decide", `{"tool_use_id":"exact","decision":"REJECTED"}`)
	if s.text(answer, "error"); status != http.StatusConflict {
		t.Errorf("a second decision: %d", status)
	}
	if status, answer := s.send(admin, "POST", "/api/approval/cleanup", ""); status != http.StatusOK {
		t.Errorf("cleanup: %d %v", status, answer)
	}
}

// TestOneSurfaceIsEnoughForHighRisk: whoever knows one surface only finds there the
// digest that an approval of high risk needs.
func TestOneSurfaceIsEnoughForHighRisk(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	s.ApplyPolicy(t, `{"rules":[{"name":"money","tools":["pay"],"effect":"require","risk":"high"}]}`)
	events := s.listen(s.Reviewer, "/v1/approvals/stream")
	ask := func() object {
		t.Helper()
		status, answer := s.send(s.Agent, "POST", "/api/approval/request", `{"tool_use_id":"`+newUUID()+`","tool_name":"pay","tool_input":{"sum":7},"session_id":"s"}`)
		if status >= 400 {
			t.Fatalf("%d %v", status, answer)
		}
		return s.hears(events, "approval_required")
	}
	approve := func(surface, path, body string, seen object) {
		t.Helper()
		if s.has(seen, object{"risk": "high"}); len(s.text(seen, "digest")) != 64 {
			t.Errorf("%s: %v", surface, seen)
		}
		status, answer := s.send(s.Reviewer, "POST", path, strings.TrimSuffix(body, "}")+`,"digest":"`+s.text(seen, "digest")+`"}`)
		if status >= 300 {
			t.Errorf("%s: %d %v", surface, status, answer)
		}
	}
	seen := ask()
	approve("the stream", "/v1/approvals/"+s.text(seen, "approvalId")+"/respond", `{"approved":true}`, seen)

	ask()
	_, list := s.send(s.Reviewer, "GET", "/api/approval/pending/s", "")
	pending := s.only(list, "pending")
	approve("tool approval", "/api/approval/decide", `{"decision":"APPROVED","tool_use_id":"`+s.text(pending, "tool_use_id")+`"}`, pending)

	seen = ask()
	_, one := s.send(s.Reviewer, "GET", "/v1/approvals/"+s.text(seen, "approvalId"), "")
	conversation := "/conversations/" + s.text(one, "conversationId")
	_, list = s.send(s.Reviewer, "GET", conversation+"/approvals", "")
	first, _ := list["approvals"].([]any)[0].(map[string]any)
	s.has(first, object{"status": "pending", "feedback": nil})
	approve("conversations", conversation+"/approve", `{"responseId":"`+s.text(first, "id")+`"}`, first)
}
