package agent_test

import (
	"log/slog"
	"testing"

	"countersign/models"
	"countersign/workers/agent"
	"countersign/workers/llm"
	"countersign/workers/llm/llmtest"
)

// onTheWire is a bench whose agent asks an endpoint over HTTP.
func onTheWire(t *testing.T, replies ...llmtest.Reply) (*bench, *llmtest.Server) {
	t.Helper()
	b := newBench(t)
	server := llmtest.New(t, llmtest.Script(replies...))
	b.agent = agent.New(agent.Options{
		Store: b.store, Log: slog.New(slog.DiscardHandler),
		Model: llm.NewOpenAI(llm.OpenAIOptions{BaseURL: server.URL, Model: "wired", HTTP: server.HTTP(), Tries: 1, MaxTokens: 1000}),
	})
	return b, server
}

func proposal(id, content string) llmtest.Call {
	return llmtest.Call{ID: id, Name: models.ToolRespondWithApproval, Arguments: `{"requestId":"$requestId","content":"` + content + `"}`}
}

func lastOf(t *testing.T, server *llmtest.Server, n int) llmtest.Request {
	t.Helper()
	all := server.Requests()
	if len(all) != n {
		t.Fatalf("the endpoint was asked %d times, want %d", len(all), n)
	}
	return all[n-1]
}

func TestARejectionsFeedbackIsInTheNextRequestOnTheWire(t *testing.T) {
	t.Parallel()
	b, server := onTheWire(t,
		llmtest.Reply{Calls: []llmtest.Call{proposal("call_a", "Delete all logs.")}},
		llmtest.Reply{Calls: []llmtest.Call{proposal("call_b", "Delete the logs of March.")}},
		llmtest.Reply{Text: "Done."})
	id := b.begin("Clean up old logs", new(int64(500)))
	b.run()
	first := lastOf(t, server, 1)
	mustContain(t, "the first request's end", first.Last("system"),
		"Use respond_with_approval for every action that needs confirmation",
		"Use set_budget to establish an energy budget, and adjust_budget to change",
		"After a decision the reviewer's feedback is in the context",
		"Approval requests consume energy even when they are rejected",
		"Pending: nothing.", "Energy: 0 of 500 spent, 500 left.", "requestId: "+string(id)+"\n")
	if n := len(first.Tools); n != 4 {
		t.Errorf("%d tools are offered, want 4", n)
	}
	b.decide(id, models.ConversationDecision{Approved: new(false), Feedback: `Too much, "only March"`})
	b.run()
	second := lastOf(t, server, 2)
	if got, want := second.Result("call_a"), `{"status":"rejected","cause":"reviewer","by":"ann@example.com","feedback":"Too much, \"only March\"","budget":{"total":500,"used":1,"reserved":0,"remaining":499}}`; got != want {
		t.Errorf("the result is\n%s, want\n%s", got, want)
	}
	mustContain(t, "the second request's end", second.Last("system"), `- proposal "Delete all logs.": rejected by "ann@example.com"`)
	b.decide(id, models.ConversationDecision{Approved: new(true), Budget: models.BudgetChange{Delta: new(int64(500))}})
	b.run()
	third := lastOf(t, server, 3)
	mustContain(t, "the third request's result", third.Result("call_b"), `"status":"approved"`, `"budgetChange":{"from":500,"to":1000}`, `"total":1000`)
	mustContain(t, "the third request's end", third.Last("system"), `changed the energy budget from 500 to 1000`)
	b.status(id, models.ConversationCompleted)
}

func TestParallelCallsAreAnsweredOneByOneOnTheWire(t *testing.T) {
	t.Parallel()
	b, server := onTheWire(t,
		llmtest.Reply{Text: "Three things.", Calls: []llmtest.Call{proposal("call_a", "one"), proposal("call_b", "two"), {ID: "call_c", Name: models.ToolSetBudget, Arguments: `{"requestId":"$requestId"`}}},
		llmtest.Reply{Text: "Done."})
	id := b.begin("Go", nil)
	b.run()
	proposals := b.responses(id, models.KindProposal)
	b.decide(id, models.ConversationDecision{Approved: new(true), ResponseID: proposals[0].ID})
	b.decide(id, models.ConversationDecision{Approved: new(false), ResponseID: proposals[1].ID, Feedback: "not two"})
	b.run()
	r := lastOf(t, server, 2)
	mustContain(t, "one", r.Result("call_a"), `"status":"approved"`)
	mustContain(t, "two", r.Result("call_b"), `"status":"rejected"`, `"feedback":"not two"`)
	mustContain(t, "the broken call", r.Result("call_c"), `"error":`)
	answered := 0
	for _, m := range r.Messages {
		if m.Role == "tool" {
			answered++
		}
	}
	if answered != 3 {
		t.Errorf("%d results, want 3", answered)
	}
	if replies := b.responses(id, models.KindReply); len(replies) != 2 || replies[0].Content != "Three things." {
		t.Errorf("replies = %+v", replies)
	}
	b.status(id, models.ConversationCompleted)
}

func TestTheBudgetGrowsByApprovalOnTheWire(t *testing.T) {
	t.Parallel()
	const heavy = 6000 // tokens, six units
	b, _ := onTheWire(t,
		llmtest.Reply{Calls: []llmtest.Call{proposal("call_a", "step 1")}, Prompt: heavy},
		llmtest.Reply{Calls: []llmtest.Call{proposal("call_b", "step 2")}, Prompt: heavy},
		llmtest.Reply{Text: "All done.", Prompt: heavy})
	id := b.begin("A long task", new(int64(10)))
	grew := 0
	for range 10 {
		b.run()
		v := b.conversation(id)
		if v.EnergyUsed > *v.EnergyBudget || v.EnergyReserved != 0 {
			t.Fatalf("%d of %d used, %d reserved", v.EnergyUsed, *v.EnergyBudget, v.EnergyReserved)
		}
		if v.Status == models.ConversationCompleted {
			break
		}
		if a := b.decide(id, models.ConversationDecision{Approved: new(true)}); a.Kind == models.KindBudget {
			grew++
		}
	}
	b.status(id, models.ConversationCompleted)
	if grew == 0 || len(b.responses(id, models.KindProposal)) != 2 {
		t.Errorf("the budget grew %d times for %d proposals", grew, len(b.responses(id, models.KindProposal)))
	}
}

func TestAStreamThatBreaksOffLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	b, _ := onTheWire(t, llmtest.Reply{Text: "Half of this is heard.", TextAt: []int{4, 8}, Break: 2}, llmtest.Reply{Text: "Whole."})
	id := b.begin("Speak", new(int64(100)))
	b.run()
	b.status(id, models.ConversationWaitingInput)
	if got := b.notices(id); len(got) != 1 {
		t.Fatalf("notices = %q", got)
	}
	mustContain(t, "the notice", b.notices(id)[0], "The model could not answer: ", "cut off", "write to try again.")
	if v := b.conversation(id); v.EnergyUsed != 0 || v.EnergyReserved != 0 || len(b.responses(id, models.KindReply)) != 0 {
		t.Errorf("used %d, reserved %d", v.EnergyUsed, v.EnergyReserved)
	}
	b.say(id, "Again", nil)
	b.run()
	b.status(id, models.ConversationCompleted)
}
