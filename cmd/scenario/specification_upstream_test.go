package scenario_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"countersign/cmd/process"
	"countersign/models/storetest"
)

// An upstream that has the specification's items is polled, a reported call is
// found by its run, a client of the specification's events sees it and decides it,
// and the upstream hears the decision in the specification's words (000).
func TestAnUpstreamBySpecification(t *testing.T) {
	t.Parallel()
	h := newHub(t, "a-key-of-the-hub")
	v := process.NewVictim(t, "--poll-every", "50ms", "--takeover-after", "1s")
	process.Must(t, "a-key-of-the-hub\n", "upstream", "add", "hub", "--data", v.Dir, "--url", h.URL, "--dialect", "plain", "--owner", storetest.AdminEmail)
	s := &script{World: &process.World{Server: &process.Server{Addr: v.Addr}, Agent: v.Agent, Reviewer: v.Reviewer}, t: t}
	events := s.listen(s.Reviewer, "/v1/events")

	// The agent's run reports its call, and the other system asks for the same one.
	_, run := s.send(s.Agent, "POST", "/v1/conversations", `{"runId":"run_9"}`)
	status, answer := s.send(s.Agent, "POST", "/v1/conversations/"+s.text(run, "id")+"/events",
		`[{"type":"tool_call","id":"e1","toolUseId":"toolu_9","toolName":"drop_table","input":{"table":"orders"}}]`)
	if status >= 300 {
		t.Fatalf("%d %v", status, answer)
	}
	h.ask("call_1", "drop_table", map[string]any{"table": "orders"})
	asked := approvalIn(s, events, "function_call")
	s.has(asked, object{"call_id": "call_1", "run_id": "run_9", "type": "function_call", "status": "pending", "function_name": "drop_table"})
	s.has(s.at(asked, "function_args"), object{"table": "orders"})
	for _, name := range []string{"id", "requested_at", "timeout_at"} {
		s.text(asked, name)
	}
	h.askPerson("call_2", "Which region?")
	contact := approvalIn(s, events, "human_contact")
	s.has(contact, object{"call_id": "call_2", "status": "pending"})

	for id, body := range map[string]string{s.text(asked, "id"): `{"approved":false,"reason":"not on a Friday"}`, s.text(contact, "id"): `{"approved":true,"answer":"eu-west-1"}`} {
		if status, answer := s.send(s.Reviewer, "POST", "/v1/approvals/"+id+"/respond", body); status >= 300 {
			t.Fatalf("%d %v", status, answer)
		}
	}
	outcomes := map[string]string{}
	for len(outcomes) < 2 {
		e := nextOf(s, events, "approval_resolved")
		outcomes[s.text(e, "approval_id")] = s.text(e, "decision")
	}
	if outcomes[s.text(asked, "id")] != "denied" || outcomes[s.text(contact, "id")] != "approved" {
		t.Errorf("told %v", outcomes)
	}
	if a, b := h.heard("call_1"), h.heard("call_2"); !slices.Equal(a, []string{"deny not on a Friday"}) || !slices.Equal(b, []string{"eu-west-1"}) {
		t.Errorf("the upstream heard %q and %q", a, b)
	}
}

// nextOf is the data of the next event of a type on /v1/events.
func nextOf(s *script, events <-chan streamed, kind string) object {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), process.Patience)
	defer cancel()
	for {
		select {
		case e := <-events:
			if e.data["type"] == kind {
				return s.at(e.data, "data")
			}
		case <-ctx.Done():
			s.t.Fatalf("no %s was told", kind)
		}
	}
}

// approvalIn is the next approval of a type that new_approval tells.
func approvalIn(s *script, events <-chan streamed, kind string) object {
	s.t.Helper()
	for {
		list, _ := nextOf(s, events, "new_approval")["approvals"].([]any)
		for _, one := range list {
			if approval := object(one.(map[string]any)); strings.EqualFold(approval["type"].(string), kind) {
				return approval
			}
		}
	}
}
