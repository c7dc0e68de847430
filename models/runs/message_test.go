package runs_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/people"
	"countersign/models/storetest"
)

func TestAMessageWithoutAConversationBeginsOne(t *testing.T) {
	t.Parallel()
	b := storetest.NewBench(t)
	at := storetest.LedgerAt(t, b.Store)
	r, err := b.Say(t.Context(), b.Owner, models.MessageInput{Content: "  Tidy up the logs.\nAll of them.", EnergyBudget: new(int64(50))})
	storetest.Must(t, err)
	if r.Approval != nil || r.Message == nil || r.Message.AuthorID != b.Owner.ID || r.Message.AuthorKind != models.ActorUser {
		t.Errorf("said: %+v", r)
	}
	owner := " " + string(b.Owner.OwnerID)
	storetest.SameStrings(t, "recorded", storetest.ActionsSince(t, b.Store, at),
		[]string{"agent.registered" + owner, "conversation.opened" + owner, "conversation.budget" + owner, "message.added" + owner})
	v, err := b.Requests.Conversation(t.Context(), b.Owner, r.Conversation.ID)
	storetest.Must(t, err)
	if !v.BuiltIn || v.AgentName != models.BuiltIn || v.Title != "Tidy up the logs." || v.Status != models.ConversationRunning || *v.EnergyBudget != 50 || v.OwnerID != b.Owner.UserID() {
		t.Errorf("begun: %+v", v)
	}
	if ready := storetest.Scalar[int](t, b.Store, `SELECT count(*) FROM agent_inbox WHERE conversation_id = ? AND ready_at IS NOT NULL`, v.ID); ready != 1 {
		t.Error("the built-in agent has not heard of it")
	}
	again, err := b.Say(t.Context(), b.Owner, models.MessageInput{Content: strings.Repeat("ä", 200)})
	storetest.Must(t, err)
	if again.Conversation.AgentID != v.AgentID || again.Conversation.ID == v.ID || len([]rune(again.Conversation.Title)) != models.MaxTitle {
		t.Errorf("a second one: %+v", again.Conversation)
	}
	other, err := b.Say(t.Context(), b.Admin, models.MessageInput{Content: "Hello."})
	storetest.Must(t, err)
	if other.Conversation.AgentID == v.AgentID || other.Conversation.OwnerID != b.Admin.UserID() {
		t.Errorf("another person's: %+v", other.Conversation)
	}
	storetest.Refused(t, storetest.Err(b.Requests.Conversation(t.Context(), b.Stranger, v.ID)), models.CodeNotFound)
}

func TestNobodyElseIsCalledBuiltIn(t *testing.T) {
	t.Parallel()
	b := storetest.NewBench(t)
	storetest.Must(t, storetest.Err(b.Say(t.Context(), b.Owner, models.MessageInput{Content: "Hello."})))
	for _, who := range []models.Actor{b.Owner, b.Stranger} {
		_, _, err := b.People.AddToken(t.Context(), storetest.Operator(), people.NewToken{Scope: models.ScopeAgent, Agent: models.BuiltIn, UserID: who.OwnerID})
		if err == nil {
			t.Error("a token for the system's own agent")
		}
	}
	if n := storetest.Scalar[int](t, b.Store, `SELECT count(*) FROM agents WHERE name = 'built-in'`); n != 1 {
		t.Errorf("%d agents are called built-in", n)
	}
}

func TestSayRefuses(t *testing.T) {
	t.Parallel()
	c := begun(t)
	foreign := newTalk(t).Conv
	call := c.AskFor(t, c.In(models.AskInput{ToolName: "Bash"}))
	reply := c.Replies(t, "x")
	yes, no := new(true), new(false)
	into := func(content string, d models.ConversationDecision) models.MessageInput {
		return models.MessageInput{ConversationID: c.Conv, Content: content, Decision: &d}
	}
	for _, tt := range []struct {
		name  string
		who   models.Actor
		in    models.MessageInput
		code  models.Code
		field string
	}{
		{"the agent", c.Agent, into("x", models.ConversationDecision{Budget: models.BudgetChange{Set: new(int64(5))}}), models.CodeForbidden, ""},
		{"nobody", models.Actor{}, into("x", models.ConversationDecision{Budget: models.BudgetChange{Set: new(int64(5))}}), models.CodeForbidden, ""},
		{"a stranger", c.Stranger, into("x", models.ConversationDecision{Budget: models.BudgetChange{Set: new(int64(5))}}), models.CodeNotFound, ""},
		{"an unknown conversation", c.Owner, models.MessageInput{ConversationID: foreign, Content: "x"}, models.CodeNotFound, ""},
		{"an unknown conversation, by an admin", c.Admin, models.MessageInput{ConversationID: foreign, Content: "x"}, models.CodeNotFound, ""},
		{"nothing", c.Owner, models.MessageInput{}, models.CodeInvalid, "content"},
		{"blanks", c.Owner, models.MessageInput{Content: " \n\t"}, models.CodeInvalid, "content"},
		{"nothing in a conversation", c.Owner, models.MessageInput{ConversationID: c.Conv}, models.CodeInvalid, "content"},
		{"too much", c.Owner, models.MessageInput{Content: strings.Repeat("x", models.MaxContent+1)}, models.CodeInvalid, "content"},
		{"no text", c.Owner, models.MessageInput{Content: "\xff"}, models.CodeInvalid, "content"},
		{"a negative budget", c.Owner, models.MessageInput{Content: "x", EnergyBudget: new(int64(-1))}, models.CodeInvalid, "energyBudget"},
		{"an absurd budget", c.Owner, models.MessageInput{Content: "x", EnergyBudget: new(int64(math.MaxInt64))}, models.CodeInvalid, "energyBudget"},
		{"a first budget for one that stands", c.Owner, models.MessageInput{ConversationID: c.Conv, Content: "x", EnergyBudget: new(int64(5))}, models.CodeInvalid, "energyBudget"},
		{"a decision nowhere", c.Owner, models.MessageInput{Content: "x", Decision: &models.ConversationDecision{Approved: yes}}, models.CodeInvalid, "id"},
		{"an empty decision", c.Owner, into("x", models.ConversationDecision{}), models.CodeInvalid, "approved"},
		{"a request and no verdict", c.Owner, into("x", models.ConversationDecision{ResponseID: call.ID, Budget: models.BudgetChange{Set: new(int64(5))}}), models.CodeInvalid, "approved"},
		{"two budgets", c.Owner, into("x", models.ConversationDecision{Budget: models.BudgetChange{Set: new(int64(1)), Delta: new(int64(1))}}), models.CodeInvalid, "budgetChange"},
		{"a negative new budget", c.Owner, into("x", models.ConversationDecision{Budget: models.BudgetChange{Set: new(int64(-1))}}), models.CodeInvalid, "newBudget"},
		{"an absurd step", c.Owner, into("x", models.ConversationDecision{Budget: models.BudgetChange{Delta: new(int64(math.MaxInt64))}}), models.CodeInvalid, "budgetChange"},
		{"a long feedback", c.Owner, into("x", models.ConversationDecision{Approved: yes, Feedback: strings.Repeat("x", models.MaxReason+1)}), models.CodeInvalid, "feedback"},
		{"nothing to approve", c.Owner, into("x", models.ConversationDecision{Approved: yes}), models.CodeNoPendingApproval, ""},
		{"nothing to reject, with a budget", c.Owner, into("x", models.ConversationDecision{Approved: no, Budget: models.BudgetChange{Set: new(int64(5))}}), models.CodeNoPendingApproval, ""},
		{"a reply", c.Owner, into("x", models.ConversationDecision{Approved: yes, ResponseID: reply.ID}), models.CodeAlreadyDecided, ""},
		{"a request that is not there", c.Owner, into("x", models.ConversationDecision{Approved: yes, ResponseID: models.NewID[models.ResponseID]()}), models.CodeNotFound, ""},
		{"another digest", c.Owner, into("x", models.ConversationDecision{Approved: yes, ResponseID: call.ID, Digest: reply.Digest}), models.CodeDigestMismatch, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := storetest.WantUnchanged(t, c.Store, tt.code, func() error { return storetest.Err(c.Say(t.Context(), tt.who, tt.in)) })
			if tt.field != "" && e.Fields[tt.field] == "" {
				t.Errorf("fields %v, want %s", e, tt.field)
			}
		})
	}
	elsewhere := c.Responds(t, models.ResponseInput{ConversationID: models.NewID[models.ConversationID](), Kind: models.KindProposal, Content: "Shall I?"})
	t.Run("a request of another conversation", func(t *testing.T) {
		storetest.WantUnchanged(t, c.Store, models.CodeNotFound, func() error {
			return storetest.Err(c.Say(t.Context(), c.Owner, into("x", models.ConversationDecision{Approved: yes, ResponseID: elsewhere.ID})))
		})
	})
}

// TestAMessageDecidesTheMostRecentProposal or budget request, and no tool call.
func TestAMessageDecidesTheMostRecentProposal(t *testing.T) {
	t.Parallel()
	c := begun(t)
	first, last := c.Proposes(t, "First?"), c.Proposes(t, "Second?")
	call := c.AskFor(t, c.In(models.AskInput{ToolName: "Bash"}))
	r := c.Says(t, "Yes.", &models.ConversationDecision{Approved: new(true)})
	if r.Approval == nil || r.Approval.ID != last.ID || r.Message.ResponseID == nil || *r.Message.ResponseID != last.ID {
		t.Fatalf("decided: %+v", r.Approval)
	}
	c.WantStatus(t, models.ConversationWaitingInput)
	request := c.Exhausts(t)
	if r = c.Says(t, "", &models.ConversationDecision{Approved: new(false), Feedback: "no"}); r.Approval.ID != request.ID || r.Message != nil {
		t.Errorf("decided: %+v, said: %+v", r.Approval, r.Message)
	}
	if r = c.Says(t, "No.", &models.ConversationDecision{Approved: new(false)}); r.Approval.ID != first.ID || r.Conversation.Status != models.ConversationWaitingInput {
		t.Errorf("decided: %+v in %+v", r.Approval, r.Conversation)
	}
	if got := c.Reads(t, call.ID); got.Status() != models.StatusPending {
		t.Errorf("the tool call is %s", got.Status())
	}
	// By its id a tool call is decided here too.
	d := storetest.Approving(call.ID)
	d.Digest = call.Digest
	if r = c.Says(t, "", &d); r.Approval.ID != call.ID || r.Approval.Status() != models.StatusApproved || r.Conversation.Status != models.ConversationRunning {
		t.Errorf("decided: %+v", r.Approval)
	}
	storetest.WantUnchanged(t, c.Store, models.CodeAlreadyDecided, func() error {
		return storetest.Err(c.Say(t.Context(), c.Owner, models.MessageInput{ConversationID: c.Conv, Content: "x", Decision: &d}))
	})
}

// TestMessageDecisionAndBudgetAreOneTransaction: the examples of a proposal that
// is approved with more budget, and of a step alone.
func TestMessageDecisionAndBudgetAreOneTransaction(t *testing.T) {
	t.Parallel()
	c := begun(t)
	p := c.Proposes(t, "I could delete the old logs.")
	at := storetest.LedgerAt(t, c.Store)
	r := c.Says(t, "Go on, and more of it.", &models.ConversationDecision{Approved: new(true), Budget: models.BudgetChange{Set: new(int64(100))}, Feedback: "fine"})
	b := r.Conversation.Budget()
	if r.Approval.ID != p.ID || r.Approval.Status() != models.StatusApproved || *b.Total != 100 || b.Used != 2 || *b.Remaining() != 98 || r.Conversation.Status != models.ConversationRunning {
		t.Errorf("approved: %+v, %+v", r.Approval, b)
	}
	owner := " " + string(c.Owner.OwnerID)
	storetest.SameStrings(t, "recorded", storetest.ActionsSince(t, c.Store, at),
		[]string{"approval.approved" + owner, "conversation.budget" + owner, "message.added" + owner})
	r = c.Says(t, "", &models.ConversationDecision{Budget: models.BudgetChange{Delta: new(int64(50))}})
	if r.Approval != nil || r.Message != nil || *r.Conversation.EnergyBudget != 150 {
		t.Errorf("a step alone: %+v", r)
	}
	c.WantBudget(t, 150, 2)
}

func TestAMessageResumes(t *testing.T) {
	t.Parallel()
	c := begun(t)
	storetest.Must(t, storetest.Err(c.Steer(t.Context(), c.Owner, c.Conv, models.SteerStop)))
	storetest.Must(t, storetest.Err(c.Steer(t.Context(), c.Owner, c.Conv, models.SteerArchive)))
	c.WantStatus(t, models.ConversationFailed)
	r := c.Says(t, "Once more.", nil)
	if v := c.View(t); v.Status != models.ConversationRunning || v.ArchivedAt != nil || r.Conversation.Status != models.ConversationRunning {
		t.Errorf("resumed: %+v", v)
	}
	// A proposal that has expired is waited for no more.
	c.UsePolicy(t, `{"proposal_timeout_minutes":10}`)
	c.Proposes(t, "Shall I?")
	c.Says(t, "Wait.", nil)
	c.WantStatus(t, models.ConversationWaitingInput)
	c.Clock.Step(10 * time.Minute)
	c.Says(t, "Well?", nil)
	c.Proposes(t, "And now?")
	if n, err := c.ExpireDue(t.Context(), 10); n != 1 || err != nil {
		t.Errorf("expired %d, %v", n, err)
	}
	c.WantStatus(t, models.ConversationWaitingInput)
	c.Clock.Step(10 * time.Minute)
	if n, err := c.ExpireDue(t.Context(), 10); n != 1 || err != nil {
		t.Errorf("expired %d, %v", n, err)
	}
	c.WantStatus(t, models.ConversationRunning)
}
