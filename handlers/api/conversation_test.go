package api_test

import (
	"strings"
	"testing"

	"countersign/models/storetest"
)

// run is a conversation that the owner's agent opened.
const run = uuid + "a"

// responses adds a response of the owner's agent to the run.
func (w *world) respond(body string) answer {
	w.tb.Helper()
	return w.call(w.agent, "POST", "/conversations/"+run+"/responses", body)
}

// propose has the owner's agent propose something and returns the proposal.
func (w *world) propose(content string) answer {
	w.tb.Helper()
	a := w.respond(`{"kind":"proposal","content":"` + content + `"}`)
	a.want(w.tb, 202, map[string]any{"kind": "proposal", "status": "pending", "content": content})
	return a
}

// say sends a message of the owner's.
func (w *world) say(body string) answer {
	w.tb.Helper()
	return w.call(w.reviewer, "POST", "/message", body)
}

// stands is the run as its owner sees it, from the beginning.
func (w *world) stands() answer {
	w.tb.Helper()
	return w.call(w.reviewer, "GET", "/conversations/"+run+"?after=0&limit=200", "")
}

// entries are a history's, as objects that can be asked by path.
func (a answer) entries(list string) (out []answer) {
	items, _ := a.at(list).([]any)
	for _, item := range items {
		object, _ := item.(map[string]any)
		out = append(out, answer{object: object})
	}
	return out
}

// unchanged fails if fn changes anything that is stored.
func (w *world) unchanged(name string, fn func()) {
	w.tb.Helper()
	before := storetest.Dump(w.tb, w.store)
	fn()
	if after := storetest.Dump(w.tb, w.store); after != before {
		w.tb.Errorf("%s changed what is stored", name)
	}
}

// Must show: the proposal about old logs, approved by a message, and the agent
// goes on.
func TestAProposalIsApprovedByAMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"kind":"proposal","content":"Delete logs older than 90 days","responseId":"` + uuid + `1","energy":2,"modelUsed":"m-1","energyBudget":80}`
	w.respond(body).want(t, 202, map[string]any{
		"responseId": uuid + "1", "requestId": run, "sequence": jsonNumber("1"), "kind": "proposal", "content": "Delete logs older than 90 days",
		"status": "pending", "toolName": "respond_with_approval", "input": nil, "energy": jsonNumber("2"), "energyBudget": jsonNumber("80"), "modelUsed": "m-1",
		"timeoutAt": nil, "decision": nil, "requiresApproval": true, "url": "https://sign.example.com/approvals/" + uuid + "1",
	})
	w.stands().want(t, 200, map[string]any{"status": "waiting_input", "pending": jsonNumber("1"), "budget.total": nil, "budget.used": jsonNumber("2"), "agent.name": "deployer"})
	waits := w.waiting(w.agent, "POST", "/conversations/"+run+"/responses?wait=50s", body)
	said := w.say(`{"content":"Go ahead","id":"` + run + `","approvalResponse":{"approved":true,"feedback":"keep the newest"}}`)
	said.want(t, 202, map[string]any{
		"id": run, "status": "running", "approval.responseId": uuid + "1", "approval.kind": "proposal", "approval.status": "approved", "approval.held": nil,
		"budget.total": nil, "budget.used": jsonNumber("2"), "budget.reserved": jsonNumber("0"), "budget.remaining": nil,
	})
	if got := said.header.Get("Location"); got != "/conversations/"+run {
		t.Errorf("Location %q", got)
	}
	outcome := <-waits
	outcome.want(t, 200, map[string]any{
		"responseId": uuid + "1", "status": "approved", "cause": "reviewer", "decision.approved": true, "decision.reason": "keep the newest",
		"decision.by.name": "owner@example.com", "content": "Delete logs older than 90 days",
	})
	if got := outcome.header.Get("Location"); got != "/v1/approvals/"+uuid+"1" {
		t.Errorf("Location %q", got)
	}
	w.respond(`{"kind":"reply","content":"Deleted 2.1 GB"}`).want(t, 200, map[string]any{"kind": "reply", "status": nil, "decision": nil, "url": nil, "requiresApproval": false, "energy": jsonNumber("1")})
	stands := w.stands()
	stands.want(t, 200, map[string]any{"status": "running", "budget.used": jsonNumber("3"), "before": nil, "after": jsonNumber("3"), "owner.name": "owner@example.com"})
	entries := stands.entries("entries")
	if len(entries) != 3 {
		t.Fatalf("%d entries: %s", len(entries), stands.body)
	}
	entries[0].want(t, 0, map[string]any{"type": "response", "author.kind": "agent", "author.name": "deployer", "response.kind": "proposal", "response.status": "approved"})
	entries[1].want(t, 0, map[string]any{
		"type": "message", "author.kind": "user", "author.name": "owner@example.com", "message.content": "Go ahead",
		"message.responseId": uuid + "1", "message.id": said.text("messageId"),
	})
	entries[2].want(t, 0, map[string]any{"type": "response", "sequence": jsonNumber("3"), "response.content": "Deleted 2.1 GB", "response.status": nil})
}

// Must show: an approval raises the budget from 50 to 100.
func TestAnApprovalBringsANewBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.call(w.agent, "POST", "/conversations/"+run+"/responses", `{"kind":"reply","content":"hello"}`).want(t, 200, nil)
	w.call(w.reviewer, "PUT", "/conversations/"+run+"/budget", `{"budget":50}`).
		want(t, 200, map[string]any{"requestId": run, "budget.total": jsonNumber("50"), "budget.remaining": jsonNumber("49"), "approvalId": nil, "approval": nil})
	proposal := w.propose("Analyse the other hosts")
	w.say(`{"content":"Yes","id":"`+run+`","approvalResponse":{"approved":true,"newBudget":100}}`).want(t, 202, map[string]any{
		"approval.responseId": proposal.text("responseId"), "approval.status": "approved",
		"budget.total": jsonNumber("100"), "budget.used": jsonNumber("2"), "budget.remaining": jsonNumber("98"), "status": "running",
	})
	var steps []answer
	for _, e := range w.stands().entries("entries") {
		if e.text("type") == "budget" {
			steps = append(steps, e)
		}
	}
	if len(steps) != 2 {
		t.Fatalf("%d changes of the budget", len(steps))
	}
	steps[0].want(t, 0, map[string]any{"budget.old": nil, "budget.new": jsonNumber("50"), "budget.responseId": nil})
	steps[1].want(t, 0, map[string]any{
		"budget.old": jsonNumber("50"), "budget.new": jsonNumber("100"), "budget.responseId": proposal.text("responseId"), "author.name": "owner@example.com",
	})
}

// Must show: a change of the budget alone decides nothing, and the agent that
// waits hears of it.
func TestABudgetIsChangedAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.call(w.agent, "PUT", "/conversations/"+run+"/budget", `{"budget":50}`).want(t, 404, nil) // it stands nowhere yet
	w.respond(`{"kind":"reply","content":"hello"}`).want(t, 200, nil)
	w.call(w.agent, "PUT", "/conversations/"+run+"/budget", `{"budget":50}`).want(t, 200, map[string]any{"budget.total": jsonNumber("50")})
	proposal := w.propose("May I go on?")
	after := w.stands().at("after")
	w.say(`{"content":"Take more time","id":"`+run+`","approvalResponse":{"budgetChange":50}}`).want(t, 202, map[string]any{
		"approval": nil, "status": "waiting_input", "budget.total": jsonNumber("100"), "budget.used": jsonNumber("2"), "budget.remaining": jsonNumber("98"),
	})
	heard := w.call(w.agent, "GET", "/conversations/"+run+"?wait=50s&after="+after.(interface{ String() string }).String(), "")
	heard.want(t, 200, map[string]any{"budget.total": jsonNumber("100")})
	entries := heard.entries("entries")
	if len(entries) != 2 {
		t.Fatalf("the agent heard %s", heard.body)
	}
	entries[0].want(t, 0, map[string]any{"type": "budget", "budget.old": jsonNumber("50"), "budget.new": jsonNumber("100")})
	entries[1].want(t, 0, map[string]any{"type": "message", "message.content": "Take more time", "message.responseId": nil})
	w.call(w.agent, "GET", "/v1/approvals/"+proposal.text("responseId"), "").want(t, 200, map[string]any{"status": "pending"})
	w.say(`{"id":"`+run+`","approvalResponse":{"budgetChange":-500}}`).want(t, 202, map[string]any{ // stops at 0, and nothing is said
		"messageId": nil, "budget.total": jsonNumber("0"), "budget.remaining": jsonNumber("0"),
	})
}

func TestAMessageBeginsAConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	said := w.say(`{"content":"The disk is full\nplease look","energyBudget":50.0}`)
	said.want(t, 202, map[string]any{"status": "running", "approval": nil, "budget.total": jsonNumber("50"), "budget.used": jsonNumber("0")})
	id := said.text("id")
	stands := w.call(w.reviewer, "GET", "/conversations/"+id, "")
	stands.want(t, 200, map[string]any{"id": id, "title": "The disk is full", "agent.name": "built-in", "owner.name": "owner@example.com", "runId": nil, "pausedAt": nil, "archivedAt": nil})
	if n := len(stands.entries("entries")); n != 2 {
		t.Errorf("%d entries, want the budget and the message: %s", n, stands.body)
	}
	for _, token := range []string{w.agent, w.second, w.foreign, w.stranger} {
		w.call(token, "GET", "/conversations/"+id, "").want(t, 404, map[string]any{"code": "not_found"})
	}
	w.call(w.admin, "GET", "/conversations/"+id, "").want(t, 200, nil)
	w.say(`{"content":"Without a budget"}`).want(t, 202, map[string]any{"budget.total": nil, "budget.remaining": nil})
}

// Conversations that use neither approvals nor budgets are read like others.
func TestConversationsThatOnlyHoldToolCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.ask(`{"toolUseId":"1","toolName":"deploy","input":{"v":1},"description":"1.4 to production","conversationId":"` + run + `"}`)
	w.policy(`{"rules":[{"name":"ls","tools":["ls"],"effect":"allow"}]}`)
	w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"2","toolName":"ls","input":{"path":"/"},"conversationId":"`+run+`"}`).want(t, 200, nil)
	stands := w.stands()
	stands.want(t, 200, map[string]any{"status": "waiting_input", "budget.used": jsonNumber("2")})
	entries := stands.entries("entries")
	entries[0].want(t, 0, map[string]any{"response.kind": "tool_call", "response.status": "pending", "response.input.v": jsonNumber("1")})
	entries[1].want(t, 0, map[string]any{"response.kind": "tool_call", "response.status": "approved", "response.requiresApproval": false})
	list := w.call(w.agent, "GET", "/conversations/"+run+"/approvals", "").entries("approvals")
	if len(list) != 2 {
		t.Fatalf("%d approvals", len(list))
	}
	list[0].want(t, 0, map[string]any{"kind": "tool_call", "content": `ls {"path":"/"}`, "status": "approved"})
	list[1].want(t, 0, map[string]any{"id": id, "content": "deploy: 1.4 to production", "status": "pending", "approvalTimestamp": nil, "feedback": nil})
	for name, verdict := range map[string]string{
		"approve": "/conversations/" + run + "/approve", "reject": "/conversations/" + run + "/reject",
	} {
		w.unchanged(name, func() {
			w.call(w.reviewer, "POST", verdict, `{}`).want(t, 409, map[string]any{"code": "no_pending_approval", "approval": nil})
		})
	}
}

func TestApproveAndRejectInAConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second, third := w.propose("first"), w.propose("second"), w.propose("third")
	call := w.ask(`{"toolUseId":"1","toolName":"deploy","conversationId":"` + run + `"}`) // the newest, and never chosen
	path := "/conversations/" + run
	w.call(w.reviewer, "POST", path+"/reject", `{"feedback":"not the third"}`).
		want(t, 200, map[string]any{"status": "rejected", "responseId": third.text("responseId")})
	w.call(w.reviewer, "POST", path+"/approve", `{"responseId":"`+first.text("responseId")+`","digest":"`+first.text("digest")+`","newBudget":70}`).
		want(t, 200, map[string]any{"status": "approved", "responseId": first.text("responseId"), "budgetUpdated": true, "newBudget": jsonNumber("70")})
	w.call(w.reviewer, "POST", path+"/approve", `{"budgetChange":-20,"feedback":"ok"}`).
		want(t, 200, map[string]any{"responseId": second.text("responseId"), "budgetUpdated": true, "newBudget": jsonNumber("50")})
	w.propose("fourth")
	w.respond(`{"kind":"reply","content":"which asks for nothing"}`).want(t, 200, nil)
	w.call(w.reviewer, "POST", path+"/approve", ``).want(t, 200, map[string]any{"status": "approved", "budgetUpdated": false, "newBudget": nil})
	w.stands().want(t, 200, map[string]any{"status": "waiting_input", "budget.total": jsonNumber("50"), "pending": jsonNumber("1"), "budget.used": jsonNumber("6")})
	w.call(w.reviewer, "POST", path+"/approve", `{"responseId":"`+call+`"}`).want(t, 200, map[string]any{"status": "approved", "responseId": call})
	w.stands().want(t, 200, map[string]any{"status": "running", "pending": jsonNumber("0")})

	list := w.call(w.agent, "GET", path+"/approvals", "").entries("approvals")
	var got []string
	for _, a := range list {
		got = append(got, a.text("content")+" "+a.text("status")+" "+a.text("feedback"))
	}
	if want := "fourth approved |deploy {} approved |third rejected not the third|second approved ok|first approved "; strings.Join(got, "|") != want {
		t.Errorf("the history: %s\nwant %s", strings.Join(got, "|"), want)
	}
}
