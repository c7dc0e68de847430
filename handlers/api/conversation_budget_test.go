package api_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"
)

// spent is the run with a budget of which nothing is left.
func spent(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.respond(`{"kind":"reply","content":"hello","energy":2}`).want(t, 200, nil)
	w.call(w.agent, "PUT", "/conversations/"+run+"/budget", `{"budget":2}`).want(t, 200, map[string]any{"budget.remaining": jsonNumber("0")})
	return w
}

// A spent budget is told on every surface in the same way: 402 with the one
// request to wait for, which stands in the inbox; a repeat is never refused.
func TestASpentBudgetNamesTheRequestOnEverySurface(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reply := `{"kind":"reply","content":"hello","energy":2,"responseId":"` + uuid + `1"}`
	w.respond(reply).want(t, 200, nil)
	standing := w.ask(`{"toolUseId":"1","toolName":"rm","conversationId":"` + run + `"}`)
	w.call(w.agent, "PUT", "/conversations/"+run+"/budget", `{"budget":3}`).want(t, 200, nil)

	first := w.respond(`{"kind":"reply","content":"more"}`)
	first.want(t, 402, map[string]any{
		"code": "budget_exhausted", "approval.kind": "budget", "approval.status": "pending", "approval.toolName": "set_budget",
		"approval.energy": jsonNumber("0"), "approval.requestId": run,
	})
	id := first.text("approvalId")
	if id == "" || first.text("approval.responseId") != id || first.at("approval.input.budget") == nil || first.text("approval.description") == "" {
		t.Fatalf("402 without its request: %s", first.body)
	}
	for _, tt := range []struct{ path, body, named string }{
		{"/conversations/" + run + "/responses", `{"kind":"proposal","content":"may I?"}`, "approval.responseId"},
		{"/v1/approvals", `{"toolUseId":"2","toolName":"rm","conversationId":"` + run + `"}`, "approval.approvalId"},
		{"/v1/approvals?wait=5s", `{"toolUseId":"3","toolName":"rm","conversationId":"` + run + `"}`, "approval.approvalId"},
		{"/api/approval/request", `{"tool_use_id":"4","tool_name":"rm","session_id":"` + run + `"}`, "approval.tool_call_id"},
	} {
		w.unchanged(tt.path, func() { // the request stands already
			w.call(w.agent, "POST", tt.path, tt.body).want(t, 402, map[string]any{"code": "budget_exhausted", "approvalId": id, tt.named: id})
		})
	}
	w.respond(reply).want(t, 200, map[string]any{"responseId": uuid + "1"})
	w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"1","toolName":"rm","conversationId":"`+run+`"}`).want(t, 202, map[string]any{"approvalId": standing})
	w.stands().want(t, 200, map[string]any{"status": "waiting_input", "budget.used": jsonNumber("3"), "budget.remaining": jsonNumber("0")})
	pending := w.call(w.reviewer, "GET", "/v1/approvals/pending", "").entries("pending")
	if len(pending) != 2 {
		t.Errorf("%d requests wait, want the call and one for the budget", len(pending))
	}
}

// An outside agent waits for the request that 402 names, and repeats.
func TestAnAgentWaitsForItsBudgetAndRepeats(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, decide, body string
		total              string
		stands             map[string]any
	}{
		{"as asked", "", `{"approved":true,"reason":"fine"}`, "3", map[string]any{"status": "approved", "decision.edited": false, "decision.reason": "fine"}},
		{"edited", "", `{"approved":true,"input":{"budget":40}}`, "40", map[string]any{"status": "approved", "decision.edited": true, "decision.input.budget": jsonNumber("40")}},
		{"approved in the conversation", "/conversations/" + run + "/approve", `{}`, "3", map[string]any{"status": "approved", "cause": "reviewer"}},
		{"approved by a message with another sum", "/message", `{"content":"ok","id":"` + run + `","approvalResponse":{"approved":true,"newBudget":9}}`, "9", map[string]any{"status": "approved"}},
		{"raised otherwise", "/message", `{"content":"ok","id":"` + run + `","approvalResponse":{"budgetChange":7}}`, "9", map[string]any{"status": "resolved", "cause": "elsewhere"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := spent(t)
			more := `{"kind":"reply","content":"more","responseId":"` + uuid + `2"}`
			id := w.respond(more).text("approvalId")
			waits := w.waiting(w.agent, "GET", "/v1/approvals/"+id+"?wait=50s", "")
			path, status := tt.decide, http.StatusOK
			switch tt.decide {
			case "":
				path = "/v1/approvals/" + id + "/respond"
			case "/message":
				status = http.StatusAccepted
			}
			w.call(w.reviewer, "POST", path, tt.body).want(t, status, nil)
			(<-waits).want(t, 200, tt.stands)
			w.respond(more).want(t, 200, map[string]any{"responseId": uuid + "2"})
			w.stands().want(t, 200, map[string]any{"status": "running", "budget.total": jsonNumber(tt.total), "budget.used": jsonNumber("3")})
		})
	}
}

// After a rejection nobody is asked again, until the budget changes or a person
// writes.
func TestARefusedBudgetIsNotAskedForAgain(t *testing.T) {
	t.Parallel()
	w := spent(t)
	more := `{"kind":"reply","content":"more"}`
	id := w.respond(more).text("approvalId")
	w.call(w.reviewer, "POST", "/conversations/"+run+"/reject", `{"feedback":"enough"}`).want(t, 200, map[string]any{"responseId": id, "status": "rejected"})
	w.clock.Step(time.Second)
	w.unchanged("asking again", func() {
		w.respond(more).want(t, 402, map[string]any{"approvalId": id, "approval.status": "rejected", "approval.decision.reason": "enough"})
		w.call(w.agent, "PUT", "/conversations/"+run+"/budget", `{"delta":5}`).
			want(t, 409, map[string]any{"code": "already_decided", "approval.responseId": id, "approval.status": "rejected"})
	})
	w.say(`{"content":"what do you need?","id":"`+run+`"}`).want(t, 202, nil)
	again := w.respond(more)
	again.want(t, 402, map[string]any{"approval.status": "pending"})
	if again.text("approvalId") == id {
		t.Error("the rejected request is named still")
	}
}

func TestTheSystemApprovesSmallIncreases(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"auto_budget_increase":10}`)
	w.respond(`{"kind":"reply","content":"hello"}`).want(t, 200, nil)
	budget := "/conversations/" + run + "/budget"
	w.call(w.reviewer, "PUT", budget, `{"budget":20}`).want(t, 200, nil)
	small := w.call(w.agent, "PUT", budget, `{"delta":6}`)
	small.want(t, 200, map[string]any{"budget.total": jsonNumber("26"), "approval.status": "approved", "approval.kind": "budget"})
	w.call(w.agent, "GET", "/v1/approvals/"+small.text("approvalId"), "").want(t, 200, map[string]any{"cause": "policy", "decision.by": nil})
	w.call(w.agent, "PUT", budget, `{"delta":6}`).want(t, 202, map[string]any{"budget.total": jsonNumber("26"), "approval.status": "pending"})
}

// I4: an agent sets a budget where none stands and lowers it; raising one asks.
func TestI4AgentsNeverRaiseABudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.respond(`{"kind":"reply","content":"hello"}`).want(t, 200, nil)
	budget := "/conversations/" + run + "/budget"
	w.call(w.agent, "PUT", budget, `{"budget":50}`).want(t, 200, map[string]any{"budget.total": jsonNumber("50")})
	w.call(w.agent, "PUT", budget, `{"delta":-10}`).want(t, 200, map[string]any{"budget.total": jsonNumber("40")})
	w.call(w.agent, "PUT", budget, `{"budget":40}`).want(t, 200, map[string]any{"budget.total": jsonNumber("40"), "approvalId": nil})
	raised := w.call(w.agent, "PUT", budget, `{"delta":5}`)
	raised.want(t, 202, map[string]any{"budget.total": jsonNumber("40"), "approval.status": "pending", "approval.kind": "budget"})
	id := raised.text("approvalId")
	if got := raised.header.Get("Location"); got != "/v1/approvals/"+id {
		t.Errorf("Location %q", got)
	}
	w.call(w.agent, "PUT", budget, `{"budget":45}`).want(t, 202, map[string]any{"approvalId": id, "budget.total": jsonNumber("40")})
	w.call(w.agent, "PUT", budget, `{"budget":90}`).want(t, 409, map[string]any{"code": "key_conflict", "approval.responseId": id})
	for _, token := range []string{w.agent, w.second, w.foreign} {
		w.unchanged("an agent's verdict", func() {
			for path, body := range map[string]string{
				"/message":                           `{"content":"yes","id":"` + run + `","approvalResponse":{"approved":true}}`,
				"/conversations/" + run + "/approve": `{"newBudget":90}`, "/conversations/" + run + "/reject": `{}`,
				"/v1/approvals/" + id + "/respond": `{"approved":true}`,
			} {
				w.call(token, "POST", path, body).want(t, 403, map[string]any{"code": "forbidden"})
			}
		})
	}
	w.call(w.agent, "GET", "/v1/approvals/"+id, "").want(t, 200, map[string]any{
		"kind": "budget", "toolName": "set_budget", "input.budget": jsonNumber("45"), "requiresApproval": true, "timeoutAt": nil,
	})
	for _, edit := range []string{`{"budget":-1}`, `{"budget":1.5}`, `{"budget":"5"}`, `{"budget":1e400}`, `{}`, `{"budget":5,"x":1}`, `[]`, `{"budget":1000000000001}`} {
		w.unchanged("the edit "+edit, func() {
			w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true,"input":`+edit+`}`).want(t, 422, nil)
		})
	}
	w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true,"input":{"budget":60}}`).want(t, 200, map[string]any{"status": "approved"})
	w.stands().want(t, 200, map[string]any{"budget.total": jsonNumber("60")})
}

// I14: sixty-four responses at once never spend more than there is.
func TestI14SixtyFourResponsesOnOneBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.respond(`{"kind":"reply","content":"hello","energy":0}`).want(t, 200, nil)
	w.call(w.reviewer, "PUT", "/conversations/"+run+"/budget", `{"budget":100}`).want(t, 200, nil)
	const each, fit = 3, 33 // of 64
	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		stored  int
		request = map[string]bool{}
		start   = make(chan struct{})
	)
	for i := range 64 {
		wg.Go(func() {
			<-start
			kind := [...]string{"reply", "proposal"}[i%2]
			body := fmt.Sprintf(`{"kind":%q,"content":"number %d","energy":%d}`, kind, i, each)
			got, err := w.try(w.agent, "POST", "/conversations/"+run+"/responses", body, "")
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				t.Errorf("response %d: %v", i, err)
			case got.status == http.StatusPaymentRequired:
				request[got.text("approvalId")] = true
			case got.status == http.StatusOK && i%2 == 0, got.status == http.StatusAccepted && i%2 == 1:
				stored++
			default:
				t.Errorf("response %d: %d %s", i, got.status, got.body)
			}
		})
	}
	close(start)
	wg.Wait()
	if stored != fit || len(request) != 1 {
		t.Errorf("%d were stored, want %d; %d budget requests, want 1", stored, fit, len(request))
	}
	stands := w.stands()
	stands.want(t, 200, map[string]any{"budget.total": jsonNumber("100"), "budget.used": jsonNumber("99"), "budget.remaining": jsonNumber("1")})
	sum, pending := int64(0), 0
	for _, e := range stands.entries("entries") {
		if n, ok := e.at("response.energy").(interface{ Int64() (int64, error) }); ok {
			energy, _ := n.Int64()
			sum += energy
		}
		if e.text("response.kind") == "budget" && e.text("response.status") == "pending" {
			pending++
		}
	}
	if sum != 99 || pending != 1 {
		t.Errorf("the responses cost %d in all, want 99; %d budget requests are pending, want 1", sum, pending)
	}
}

// What a rule demands is the least that a response costs.
func TestEnergyIsAtLeastWhatARuleDemands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"rules":[{"name":"dear","tools":["deploy","respond_with_approval"],"effect":"require","energy":5}]}`)
	ask := func(n, energy string) {
		w.ask(`{"toolUseId":"` + n + `","toolName":"deploy","conversationId":"` + run + `"` + energy + `}`)
	}
	for i, want := range []string{"5", "10", "17"} {
		ask(want, []string{``, `,"energy":2`, `,"energy":7`}[i])
		w.stands().want(t, 200, map[string]any{"budget.used": jsonNumber(want)})
	}
	w.propose("something dear").want(t, 202, map[string]any{"energy": jsonNumber("5")})
	w.stands().want(t, 200, map[string]any{"budget.used": jsonNumber("22")})
}
