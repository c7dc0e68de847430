package scenario_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"countersign/cmd/config"
	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/storetest"
	"countersign/workers/llm/llmtest"
)

// talk is a person's side of a conversation with the built-in agent, over HTTP.
type talk struct {
	*process.World

	id models.ConversationID
}

// talkTo starts a server whose built-in agent asks a model, and begins a
// conversation with a budget of 50.
func talkTo(t *testing.T, model *llmtest.Server) *talk {
	t.Helper()
	endpoint, err := url.Parse(model.URL)
	if err != nil {
		t.Fatal(err)
	}
	w := &process.World{Server: process.Serve(t, storetest.Dir(t), "", func(c *config.Config) { c.LLM = config.LLM{BaseURL: endpoint, Model: "fake"} })}
	w.Admin = storetest.Admin(t, w.Store())
	_, w.Reviewer = storetest.ReviewerToken(t, w.Store(), w.Admin)
	c := &talk{World: w}
	got := c.send(t, wire.MessageRequest{Content: "The disk is full. What can we do?", EnergyBudget: new(wire.WholeNumber(50))})
	c.id = models.ConversationID(got.ID)
	return c
}

func (c *talk) send(t *testing.T, m wire.MessageRequest) *wire.MessageAnswer {
	t.Helper()
	if c.id != "" {
		m.ID = string(c.id)
	}
	got, err := c.Client(c.Reviewer).Send(t.Context(), m)
	if err != nil {
		t.Fatalf("send: %v", err)
	}
	return got
}

// is waits until the conversation has a status, and reads it.
func (c *talk) is(t *testing.T, want models.ConversationStatus) *wire.ConversationHistory {
	t.Helper()
	var got *wire.ConversationHistory
	process.Eventually(t, "the conversation is "+string(want), func() bool {
		var err error
		if got, err = c.Client(c.Reviewer).Conversation(t.Context(), wire.ConversationID(c.id), 0, 0); err != nil {
			t.Fatal(err)
		}
		return models.ConversationStatus(got.Status) == want
	})
	return got
}

const oldLogs = "I would delete the logs that are older than 30 days, 3 GB in all."

// proposes is a model that proposes to delete old logs, and reports when it was
// approved.
func proposes(r llmtest.Request) llmtest.Reply {
	switch result := r.Result("p1"); {
	case result == "":
		return llmtest.Reply{Calls: []llmtest.Call{{ID: "p1", Name: models.ToolRespondWithApproval, Arguments: `{"requestId":"$requestId","content":"` + oldLogs + `"}`}}}
	case strings.Contains(result, `"status":"approved"`):
		return llmtest.Reply{Text: "The old logs are gone."}
	}
	return llmtest.Reply{Text: "Then I leave them."}
}

func (c *talk) last(t *testing.T, h *wire.ConversationHistory) string {
	t.Helper()
	for _, e := range slices.Backward(h.Entries) {
		if e.Response != nil {
			return e.Response.Content
		}
	}
	t.Fatal("the agent has said nothing")
	return ""
}

func TestAProposalApprovedByAMessageGoesOn(t *testing.T) {
	t.Parallel()
	c := talkTo(t, llmtest.New(t, proposes))
	if got := c.last(t, c.is(t, models.ConversationWaitingInput)); got != oldLogs {
		t.Errorf("the agent proposes %q", got)
	}
	got := c.send(t, wire.MessageRequest{Content: "Yes, do it.", ApprovalResponse: &wire.ApprovalResponse{Approved: new(true)}})
	if got.Approval == nil || got.Approval.Kind != wire.KindProposal || got.Approval.Status != wire.StatusApproved || got.MessageID == nil {
		t.Errorf("the answer is %+v", got)
	}
	if got := c.last(t, c.is(t, models.ConversationCompleted)); got != "The old logs are gone." {
		t.Errorf("the agent goes on with %q", got)
	}
}

func TestAnApprovalWithANewBudgetSetsIt(t *testing.T) {
	t.Parallel()
	model := llmtest.New(t, proposes)
	c := talkTo(t, model)
	c.is(t, models.ConversationWaitingInput)
	got := c.send(t, wire.MessageRequest{
		Content:          "Yes, and take your time.",
		ApprovalResponse: &wire.ApprovalResponse{Approved: new(true), NewBudget: new(wire.WholeNumber(100))},
	})
	if got.Budget.Total == nil || *got.Budget.Total != 100 || got.Budget.Used < 1 || *got.Budget.Remaining != 100-got.Budget.Used {
		t.Errorf("the budget is %+v, want 100 in all", got.Budget)
	}
	done := c.is(t, models.ConversationCompleted)
	var steps []string
	for _, e := range done.Entries {
		if e.Budget != nil {
			steps = append(steps, e.Author.Name)
		}
	}
	if len(steps) != 2 || *done.Budget.Total != 100 {
		t.Errorf("budget changes by %q, %+v", steps, done.Budget)
	}
	if result := model.Requests()[1].Result("p1"); !strings.Contains(result, `"total":100`) {
		t.Errorf("the model is told %s, want the budget of 100", result)
	}
}

func TestABudgetChangeAloneIsToldToTheModelNext(t *testing.T) {
	t.Parallel()
	model := llmtest.New(t, func(llmtest.Request) llmtest.Reply { return llmtest.Reply{Text: "I am listening."} })
	c := talkTo(t, model)
	c.is(t, models.ConversationCompleted)
	got := c.send(t, wire.MessageRequest{ApprovalResponse: &wire.ApprovalResponse{BudgetChange: new(wire.WholeNumber(50))}})
	if got.Approval != nil || got.MessageID != nil || *got.Budget.Total != 100 {
		t.Errorf("the answer is %+v", got)
	}
	c.send(t, wire.MessageRequest{Content: "Go on."})
	next := model.Await(2)[1]
	if all := string(next.Raw); !strings.Contains(all, "from 50 to 100") {
		t.Errorf("the model's next context does not tell of the budget:\n%s", all)
	}
	c.is(t, models.ConversationCompleted)
}
