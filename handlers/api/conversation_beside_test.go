package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models"
)

// The other surfaces show proposals and budget requests for what they are, and
// decide them.
func TestOtherSurfacesShowProposalsAndBudgets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.respond(`{"kind":"reply","content":"hello","responseId":"`+uuid+`0"}`).want(t, 200, nil)
	w.call(w.agent, "PUT", "/conversations/"+run+"/budget", `{"budget":2}`).want(t, 200, nil)
	proposal := w.respond(`{"kind":"proposal","content":"Delete logs","energyBudget":30}`).text("responseId")
	request := w.respond(`{"kind":"reply","content":"more"}`).text("approvalId")

	pending := w.call(w.reviewer, "GET", "/v1/approvals/pending", "").entries("pending")
	if len(pending) != 2 {
		t.Fatalf("%d requests wait, want 2", len(pending))
	}
	pending[0].want(t, 0, map[string]any{
		"approvalId": proposal, "kind": "proposal", "toolName": "respond_with_approval", "content": "Delete logs", "input": nil,
		"energyBudget": jsonNumber("30"), "conversationId": run, "timeoutAt": nil,
	})
	pending[1].want(t, 0, map[string]any{"approvalId": request, "kind": "budget", "toolName": "set_budget", "input.budget": jsonNumber("3"), "content": nil})
	session := w.call(w.agent, "GET", "/api/approval/pending/"+run, "").entries("pending")
	if len(session) != 2 {
		t.Fatalf("%d wait in the session, want 2", len(session))
	}
	session[0].want(t, 0, map[string]any{"tool_call_id": proposal, "kind": "proposal", "content": "Delete logs", "tool_input": nil, "tool_use_id": "", "status": "PENDING"})
	session[1].want(t, 0, map[string]any{"tool_call_id": request, "kind": "budget", "tool_input.budget": jsonNumber("3")})

	path := "/v1/approvals/" + proposal + "/respond"
	for body, code := range map[string]string{
		`{"answer":"yes"}`: "wrong_decision_kind", `{"approved":true,"input":{}}`: "wrong_decision_kind", `{"reason":"x"}`: "invalid",
	} {
		w.unchanged(body, func() { w.call(w.reviewer, "POST", path, body).want(t, 422, map[string]any{"code": code}) })
	}
	w.call(w.reviewer, "POST", path, `{"approved":true,"reason":"go"}`).want(t, 200, map[string]any{"status": "approved", "response.reason": "go"})
	w.stands().want(t, 200, map[string]any{"status": "waiting_input"}) // the budget is asked for still
	w.call(w.reviewer, "POST", "/v1/approvals/"+request+"/respond", `{"approved":true}`).want(t, 200, map[string]any{"status": "approved"})
	w.stands().want(t, 200, map[string]any{"status": "running", "budget.total": jsonNumber("3")})
	w.call(w.agent, "GET", "/v1/approvals/"+proposal, "").want(t, 200, map[string]any{"decision.input": nil, "decision.edited": false, "status": "approved"})
	w.call(w.agent, "GET", "/v1/approvals/"+request, "").want(t, 200, map[string]any{"decision.input.budget": jsonNumber("3")})

	own := w.propose("withdrawn") // the agent withdraws what it proposed
	w.call(w.agent, "POST", "/v1/approvals/"+own.text("responseId")+"/cancel", "").want(t, 200, map[string]any{"status": "cancelled", "cause": "cancelled"})
	w.stands().want(t, 200, map[string]any{"status": "running"})
}

func TestStreamsTellOfConversations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.respond(`{"kind":"reply","content":"hello"}`).want(t, 200, nil)
	for name, token := range map[string]string{"agent": w.agent, "owner": w.reviewer, "admin": w.admin} {
		t.Run(name, func(t *testing.T) {
			queue, tools, all := w.listen(token, queueStream, ""), w.listen(token, toolStream, ""), w.listen(token, eventStream, "")
			proposal := w.propose("by " + name).text("responseId")
			asked := queue.next()
			if asked.name != "approval_required" || asked.at("approvalId") != proposal || asked.at("kind") != "proposal" || asked.at("content") != "by "+name || asked.at("input") != nil {
				t.Errorf("told %+v", asked)
			}
			if e := tools.next(); e.name != "approval_requested" || e.at("tool_call_id") != proposal || e.at("content") != "by "+name || e.at("kind") != "proposal" {
				t.Errorf("told %+v", e)
			}
			w.say(`{"content":"no","id":"`+run+`","approvalResponse":{"approved":false}}`).want(t, 202, nil)
			if e := queue.next(); e.name != "approval_settled" || e.at("status") != "rejected" || e.at("kind") != "proposal" {
				t.Errorf("told %+v", e)
			}
			said := map[string]int{}
			for range 4 {
				e := all.next()
				kind, _ := e.at("type").(string)
				said[fmt.Sprint(kind, " ", e.at("data.old_status"), " ", e.at("data.new_status"))]++
				if e.at("data.session_id") == nil && e.at("data.approvals") == nil || e.at("data.session_id") != nil && e.at("data.session_id") != run {
					t.Errorf("told %+v", e)
				}
			}
			for _, want := range []string{
				"new_approval <nil> <nil>", "approval_resolved <nil> <nil>",
				"session_status_changed running waiting_input", "session_status_changed waiting_input running",
			} {
				if said[want] != 1 {
					t.Errorf("told %v, want once %s", said, want)
				}
			}
		})
	}
}

func TestClientOfConversations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	agent, person := client.New(w.url, w.agent), client.New(w.url, w.reviewer)
	proposal := wire.ResponseRequest{Kind: wire.KindProposal, Content: "Delete logs", ResponseID: uuid + "1", Energy: new(wire.WholeNumber(2))}
	got, err := agent.Say(ctx, run, proposal, 0)
	if err != nil || *got.Status != wire.StatusPending || got.Energy != 2 {
		t.Fatalf("say: %+v %v", got, err)
	}
	if b, err := person.ChangeBudget(ctx, run, wire.BudgetRequest{Budget: new(wire.WholeNumber(2))}); err != nil || *b.Budget.Remaining != 0 {
		t.Fatalf("budget: %+v %v", b, err)
	}
	var answered *client.AnswerError
	if _, err = agent.Say(ctx, run, wire.ResponseRequest{Kind: wire.KindReply, Content: "more"}, 0); !errors.As(err, &answered) || answered.Status != 402 || answered.ApprovalID == "" {
		t.Fatalf("spent: %#v", err)
	}
	request := answered.ApprovalID
	sent, err := person.Send(ctx, wire.MessageRequest{Content: "go", ID: run, ApprovalResponse: &wire.ApprovalResponse{Approved: new(true), ResponseID: uuid + "1"}})
	if err != nil || sent.Approval.Status != wire.StatusApproved || sent.Approval.ResponseID != uuid+"1" {
		t.Fatalf("send: %+v %v", sent, err)
	}
	if got, err = agent.Say(ctx, run, proposal, time.Minute); err != nil || !got.Decision.Approved {
		t.Fatalf("say again: %+v %v", got, err)
	}
	history, err := agent.Conversation(ctx, run, 0, time.Minute)
	if err != nil || len(history.Entries) != 4 || history.Entries[0].Response.ResponseID != uuid+"1" || history.Entries[3].Message.Content != "go" {
		t.Fatalf("conversation: %+v %v", history, err)
	}
	if history.Entries[2].Response.ResponseID != request || history.Entries[2].Response.Kind != wire.KindBudget {
		t.Errorf("the budget request: %+v", history.Entries[2].Response)
	}
	if _, err = agent.Send(ctx, wire.MessageRequest{Content: "me too", ID: run}); !errors.As(err, &answered) || answered.Code != wire.CodeForbidden {
		t.Errorf("an agent's message: %#v", err)
	}
}

// everyOther request arrives; the server of the others is away.
type everyOther struct{ sent atomic.Int64 }

func (e *everyOther) RoundTrip(r *http.Request) (*http.Response, error) {
	if e.sent.Add(1)%2 == 0 {
		return nil, errors.New("connection refused")
	}
	return http.DefaultTransport.RoundTrip(r)
}

// AskUntilDecided waits for the budget request that 402 names, through restarts
// of the server, and repeats the same ask.
func TestAskUntilDecidedWaitsForTheBudget(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, path, body string
		refused          wire.Status // of the budget request; empty: the ask is taken
		says             string
	}{
		{"approved", "/conversations/" + run + "/approve", `{}`, "", ""},
		{"raised otherwise", "/message", `{"id":"` + run + `","approvalResponse":{"budgetChange":9}}`, "", ""},
		{"approved with less", "/conversations/" + run + "/approve", `{"newBudget":2}`, "", ""},
		{"rejected", "/conversations/" + run + "/reject", `{"feedback":"enough"}`, wire.StatusRejected, "rejected by owner@example.com: enough"},
		{"expired", "", "", wire.StatusExpired, "expired: Approval request timed out"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.policy(`{"proposal_timeout_minutes":1,"rules":[{"name":"ls","tools":["ls"],"effect":"allow"}]}`)
			w.respond(`{"kind":"reply","content":"hello","energy":2}`).want(t, 200, nil)
			w.call(w.agent, "PUT", "/conversations/"+run+"/budget", `{"budget":2}`).want(t, 200, nil)
			flaky := client.New(w.url, w.agent)
			flaky.HTTP = &http.Client{Transport: new(everyOther)}
			spent := make(chan *wire.Approval, 4)
			req := wire.AskRequest{ToolName: "ls", ToolUseID: "1", ConversationID: run}
			type outcome struct {
				a   *wire.Approval
				err error
			}
			done := make(chan outcome, 1)
			go func() {
				a, err := flaky.AskUntilDecided(t.Context(), req, client.WaitOptions{Connect: 10 * time.Second, OnBudgetRequest: func(a *wire.Approval) { spent <- a }})
				done <- outcome{a, err}
			}()
			request := <-spent
			if request.Kind != wire.KindBudget || request.Status != wire.StatusPending || request.URL == "" {
				t.Errorf("waits for %+v", request)
			}
			w.blocked(1)
			if tt.path == "" {
				w.clock.Step(2 * time.Minute)
				if _, err := w.store.ExpireDue(t.Context(), 10); err != nil {
					t.Fatal(err)
				}
			} else if got := w.call(w.reviewer, "POST", tt.path, tt.body); got.status >= 300 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			if tt.name == "approved with less" { // it asks anew, and is given enough
				if again := <-spent; again.ApprovalID == request.ApprovalID {
					t.Error("it waits for the request that was decided")
				}
				w.call(w.reviewer, "POST", "/conversations/"+run+"/approve", `{"newBudget":20}`).want(t, 200, nil)
			}
			got := <-done
			var refused *client.BudgetError
			switch {
			case tt.refused == "" && (got.err != nil || got.a.Status != wire.StatusApproved || got.a.Cause != wire.Cause(models.CausePolicy)):
				t.Errorf("%+v %v", got.a, got.err)
			case tt.refused != "" && (!errors.As(got.err, &refused) || refused.Request.Status != tt.refused || !strings.Contains(refused.Error(), tt.says)):
				t.Errorf("%+v %v", got.a, got.err)
			}
		})
	}
	t.Run("left meanwhile", func(t *testing.T) {
		t.Parallel()
		w := spent(t)
		ctx, leave := context.WithCancel(t.Context())
		agent := client.New(w.url, w.agent)
		_, err := agent.AskUntilDecided(ctx, wire.AskRequest{ToolName: "ls", ConversationID: run}, client.WaitOptions{Connect: time.Second, OnBudgetRequest: func(*wire.Approval) { leave() }})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
	})
}
