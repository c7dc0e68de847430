package storetest

import (
	"errors"
	"testing"

	"countersign/models"
	"countersign/models/store"
)

// Talk is a conversation of the owner's agent.
type Talk struct {
	b *Bench

	Conv models.ConversationID
}

// NewTalk is one that has not begun.
func NewTalk(b *Bench) *Talk { return &Talk{b: b, Conv: models.NewID[models.ConversationID]()} }

// Begun has the agent say something, and the owner set that budget.
func (c *Talk) Begun(tb testing.TB, budget int64) {
	tb.Helper()
	c.Replies(tb, "Hello.")
	c.SetsBudget(tb, c.b.Owner, budget)
}

// Responds has the agent add a response.
func (c *Talk) Responds(tb testing.TB, in models.ResponseInput) *models.Approval {
	tb.Helper()
	a, err := c.TriesToRespond(tb, in)
	if err != nil {
		tb.Fatalf("respond: %v", err)
	}
	return a
}

// TriesToRespond has the agent try to.
func (c *Talk) TriesToRespond(tb testing.TB, in models.ResponseInput) (*models.Approval, error) {
	tb.Helper()
	if in.ConversationID == "" {
		in.ConversationID = c.Conv
	}
	return c.b.Respond(tb.Context(), c.b.Agent, in)
}

// Replies has the agent say something.
func (c *Talk) Replies(tb testing.TB, content string) *models.Approval {
	tb.Helper()
	return c.Responds(tb, models.ResponseInput{Kind: models.KindReply, Content: content})
}

// Proposes has the agent propose something.
func (c *Talk) Proposes(tb testing.TB, content string) *models.Approval {
	tb.Helper()
	return c.Responds(tb, models.ResponseInput{Kind: models.KindProposal, Content: content})
}

// In names the conversation in an ask.
func (c *Talk) In(in models.AskInput) models.AskInput {
	in.ConversationID = string(c.Conv)
	return in
}

// View is the conversation as its owner sees it.
func (c *Talk) View(tb testing.TB) *models.ConversationView {
	tb.Helper()
	v, err := c.b.Requests.Conversation(tb.Context(), c.b.Owner, c.Conv)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// WantStatus compares the status.
func (c *Talk) WantStatus(tb testing.TB, want models.ConversationStatus) {
	tb.Helper()
	if got := c.View(tb).Status; got != want {
		tb.Fatalf("the conversation is %s, want %s", got, want)
	}
}

// WantBudget compares the budget: -1 is none.
func (c *Talk) WantBudget(tb testing.TB, total, used int64) {
	tb.Helper()
	got := int64(-1)
	b := c.View(tb).Budget()
	if b.Total != nil {
		got = *b.Total
	}
	if got != total || b.Used != used {
		tb.Fatalf("budget %d, used %d; want %d, %d", got, b.Used, total, used)
	}
}

// ChangesBudget has somebody change the budget.
func (c *Talk) ChangesBudget(tb testing.TB, who models.Actor, change models.BudgetChange) *models.BudgetResult {
	tb.Helper()
	r, err := c.b.ChangeBudget(tb.Context(), who, c.Conv, change, "")
	if err != nil {
		tb.Fatalf("change budget: %v", err)
	}
	return r
}

// SetsBudget has somebody set the budget.
func (c *Talk) SetsBudget(tb testing.TB, who models.Actor, budget int64) *models.BudgetResult {
	tb.Helper()
	return c.ChangesBudget(tb, who, models.BudgetChange{Set: &budget})
}

// Says has the owner say something, and perhaps decide.
func (c *Talk) Says(tb testing.TB, content string, d *models.ConversationDecision) *models.MessageResult {
	tb.Helper()
	r, err := c.b.Say(tb.Context(), c.b.Owner, models.MessageInput{ConversationID: c.Conv, Content: content, Decision: d})
	if err != nil {
		tb.Fatalf("say: %v", err)
	}
	return r
}

// Exhausts has the agent ask for more than is left, and returns the budget
// request that the refusal names.
func (c *Talk) Exhausts(tb testing.TB) *models.Approval {
	tb.Helper()
	e := Refused(tb,
		Err(c.TriesToRespond(tb, models.ResponseInput{Kind: models.KindReply, Content: "More.", Energy: new(int64(1000))})),
		models.CodeBudgetExhausted)
	if e.Approval == nil || e.Approval.Kind != models.KindBudget {
		tb.Fatalf("the refusal names %+v", e.Approval)
	}
	return e.Approval
}

// Steers has the owner steer the conversation.
func (c *Talk) Steers(tb testing.TB, how models.Steering) *models.Conversation {
	tb.Helper()
	conv, err := c.b.Steer(tb.Context(), c.b.Owner, c.Conv, how)
	if err != nil {
		tb.Fatalf("%s: %v", how, err)
	}
	return conv
}

// Reads is a request as the owner sees it.
func (c *Talk) Reads(tb testing.TB, id models.ResponseID) *models.Approval {
	tb.Helper()
	a, err := c.b.Requests.Approval(tb.Context(), c.b.Owner, id)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// Approving approves a request of a conversation; empty: the newest.
func Approving(id models.ResponseID) models.ConversationDecision {
	return models.ConversationDecision{Approved: new(true), ResponseID: id, Page: models.NoPage}
}

// Rejecting rejects the newest request of a conversation.
func Rejecting() models.ConversationDecision {
	return models.ConversationDecision{Approved: new(false)}
}

// DecidesIn has somebody decide in the conversation.
func (c *Talk) DecidesIn(tb testing.TB, who models.Actor, d models.ConversationDecision) *models.Approval {
	tb.Helper()
	a, _, err := c.b.DecideIn(tb.Context(), who, c.Conv, d)
	if err != nil {
		tb.Fatalf("decide: %v", err)
	}
	return a
}

// WantUnchanged runs what is refused with a code and finds every table as it was.
func WantUnchanged(tb testing.TB, s *store.Store, code models.Code, do func() error) models.Error {
	tb.Helper()
	before := Dump(tb, s)
	err := do()
	if models.ErrorCode(err) != code {
		tb.Errorf("error = %v (code %q), want code %q", err, models.ErrorCode(err), code)
	}
	if after := Dump(tb, s); after != before {
		tb.Errorf("a refused call changed something:\n%s", Difference(before, after))
	}
	if e, ok := errors.AsType[*models.Error](err); ok {
		return *e
	}
	return models.Error{}
}
