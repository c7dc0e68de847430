package api_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"countersign/handlers/api/wire"
	"countersign/models"
)

// A client that knows the specification's words alone understands every request
// on /v1/events, and finds its outcome by the same id.
func TestNewApprovalsCarryTheSpecificationsMembers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		what, path, body string
		kind, name, args string
	}{
		{"a call", "/v1/approvals", `{"runId":"run-1","toolUseId":"tu-1","toolName":"rm","input":{"path":"/tmp"},"timeoutSeconds":60}`, "function_call", "rm", `{"path":"/tmp"}`},
		{
			"a question", "/v1/approvals", `{"runId":"run-1","kind":"question","description":"Which?","options":[{"name":"eu"}],"timeoutSeconds":60}`,
			"human_contact", "question", `{"message":"Which?","options":[{"name":"eu"}]}`,
		},
	} {
		t.Run(tt.what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			all := w.listen(w.reviewer, eventStream, "")
			asked := w.call(w.agent, "POST", tt.path, tt.body)
			id := asked.text("approvalId")
			if id == "" {
				t.Fatal(asked.body)
			}
			var e struct {
				Type string
				Data struct {
					RunID     string `json:"run_id"`
					Approvals []struct {
						ID           string
						CallID       *string `json:"call_id"`
						RunID        string  `json:"run_id"`
						Type         string
						Status       string
						FunctionName string          `json:"function_name"`
						FunctionArgs json.RawMessage `json:"function_args"`
						RequestedAt  string          `json:"requested_at"`
						TimeoutAt    string          `json:"timeout_at"`
						ApprovalID   string          `json:"approval_id"` // ours stays beside
					}
				}
			}
			if status := all.next().data; !strings.Contains(status, "session_status_changed") {
				t.Errorf("told %s before the request", status)
			}
			if err := json.Unmarshal([]byte(all.next().data), &e); err != nil || e.Type != "new_approval" || len(e.Data.Approvals) != 1 {
				t.Fatalf("%v %+v", err, e)
			}
			a := e.Data.Approvals[0]
			if a.ID != id || a.ApprovalID != id || a.RunID != "run-1" || a.Type != tt.kind || a.Status != "pending" || a.FunctionName != tt.name || string(a.FunctionArgs) != tt.args {
				t.Errorf("%+v, arguments %s", a, a.FunctionArgs)
			}
			if a.RequestedAt != "2026-03-02T12:00:00Z" || a.TimeoutAt != "2026-03-02T12:01:00Z" {
				t.Errorf("asked at %s until %s", a.RequestedAt, a.TimeoutAt)
			}
			w.call(w.agent, "POST", "/v1/approvals/"+id+"/cancel", "").want(t, 200, nil)
			about(all, "data.approval_id", id).want(t, 0, map[string]any{"type": "approval_resolved", "data.decision": "denied", "data.status": "cancelled"})
		})
	}
}

// An admin's token takes back a decision that another system does not hear of.
func TestAnAdminWithdrawsADecisionByProgram(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	id := w.wants(t, outsideCall("call-1", "bash", `{}`))
	path := "/v1/approvals/" + id + "/withdraw-decision"
	w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true}`).want(t, 202, nil)
	w.call(w.agent, "POST", path, `{"reason":"no"}`).want(t, 403, nil)
	w.call(w.reviewer, "POST", path, `{"reason":"no"}`).want(t, 403, nil)
	w.call(w.admin, "POST", path, `{"reason":""}`).want(t, 422, map[string]any{"code": "comment_required"})
	w.tells(t, id, models.DeliveryEnd{Result: models.DeliveryLater, Text: "It answered 500."})
	w.call(w.admin, "POST", path, `{"reason":"orders is broken"}`).want(t, 200, map[string]any{"status": "pending", "held": nil})
	w.call(w.admin, "POST", path, `{"reason":"again"}`).want(t, 409, nil)
	w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":false,"reason":"then not"}`).want(t, 202, nil)
	w.tells(t, id, models.DeliveryEnd{Result: models.DeliveryRefused, Status: 422, Words: "no\u202e", Text: "The upstream refuses the decision (422)."})
	got := w.call(w.reviewer, "GET", "/v1/approvals/"+id, "")
	got.want(t, 200, map[string]any{"status": "pending", "held": nil})
	var told struct {
		Origin struct{ Withdrawn []wire.Withdrawal }
	}
	if err := json.Unmarshal([]byte(got.body), &told); err != nil {
		t.Fatal(err)
	}
	at := w.clock.Now()
	want := []wire.Withdrawal{
		{Verdict: wire.Verdict(models.VerdictApprove), Decider: w.owner.Name, At: at, Kind: wire.WithdrawalKind(models.WithdrawalByAdmin), By: w.adminAs.Name, Said: "orders is broken"},
		{Verdict: wire.Verdict(models.VerdictReject), Decider: w.owner.Name, At: at, Kind: wire.WithdrawalKind(models.WithdrawalRefused), By: "orders", Status: 422, Said: "no\u202e"},
	}
	if !slices.Equal(told.Origin.Withdrawn, want) {
		t.Errorf("%+v, want %+v", told.Origin.Withdrawn, want)
	}
	w.call(w.agent, "GET", "/v1/approvals/"+id, "").want(t, 404, nil) // it is the other system's own
}
