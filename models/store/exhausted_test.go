package store_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// TestI14TheBudgetIsNeverPassed: 402 for asks, replies and proposals, with one
// budget request, and never for a repeat.
func TestI14TheBudgetIsNeverPassed(t *testing.T) {
	t.Parallel()
	c := begun(t, 3)
	asked := c.In(models.AskInput{ToolName: "Bash", ToolUseID: "t1", Explicit: true})
	first := c.AskFor(t, asked)
	c.WantBudget(t, 3, 2)
	two := new(int64(2))
	before := storetest.LedgerAt(t, c.Store)
	request := refusal(t, second(c.Ask(t.Context(), c.Agent, c.In(models.AskInput{ToolName: "Bash", Energy: two}))), models.CodeBudgetExhausted).Approval
	if request == nil || request.Status() != models.StatusPending || request.ToolInputJSON != `{"budget":4}` || !strings.Contains(request.Description, "2 of 3") {
		t.Fatalf("the budget request: %+v", request)
	}
	owner := " " + string(c.Owner.OwnerID)
	storetest.SameStrings(t, "recorded", storetest.ActionsSince(t, c.Store, before), []string{"approval.requested" + owner})
	c.WantStatus(t, models.ConversationWaitingInput)
	for name, do := range map[string]func() error{
		"an ask": func() error {
			return storetest.Err(c.Ask(t.Context(), c.Agent, c.In(models.AskInput{ToolName: "Bash", Energy: two})))
		},
		"a question": func() error {
			return storetest.Err(c.Ask(t.Context(), c.Agent, c.In(models.AskInput{Kind: models.KindQuestion, Explanation: models.Explanation{Description: "?"}, Energy: two})))
		},
		"what passes": func() error {
			return storetest.Err(c.Ask(t.Context(), c.Agent, c.In(models.AskInput{ToolName: "Read", Energy: two})))
		},
		"a reply": func() error {
			return storetest.Err(c.TriesToRespond(t, models.ResponseInput{Kind: models.KindReply, Content: "x", Energy: two}))
		},
		"a proposal": func() error {
			return storetest.Err(c.TriesToRespond(t, models.ResponseInput{Kind: models.KindProposal, Content: "x", Energy: two}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := storetest.WantUnchanged(t, c.Store, models.CodeBudgetExhausted, do)
			if e.Approval == nil || e.Approval.ID != request.ID {
				t.Errorf("it names %+v", e)
			}
		})
	}
	if again := c.AskFor(t, asked); again.ID != first.ID {
		t.Errorf("a repeat: %+v", again)
	}
	c.Replies(t, "One unit fits.")
	c.Responds(t, models.ResponseInput{Kind: models.KindReply, Content: "And nothing always does.", Energy: new(int64(0))})
	c.WantBudget(t, 3, 3)
	c.DecidesIn(t, c.Owner, storetest.Approving(""))
	c.WantBudget(t, 4, 3)
	c.Replies(t, "Four.")
	c.WantBudget(t, 4, 4)
}

// TestTheOwnConversationHasABudgetToo: it takes its sequence another way.
func TestTheOwnConversationHasABudgetToo(t *testing.T) {
	t.Parallel()
	c := newTalk(t)
	a := c.AskFor(t, models.AskInput{ToolUseID: "one"})
	c.Conv = a.ConversationID
	c.SetsBudget(t, c.Owner, 2)
	c.AskFor(t, models.AskInput{ToolUseID: "two"})
	e := refusal(t, second(c.Ask(t.Context(), c.Agent, models.AskInput{ToolName: "Bash", ToolUseID: "three"})), models.CodeBudgetExhausted)
	if e.Approval == nil || e.Approval.ConversationID != a.ConversationID {
		t.Fatalf("the budget request: %+v", e.Approval)
	}
	if again := c.AskFor(t, models.AskInput{ToolUseID: "one"}); again.ID != a.ID {
		t.Errorf("a repeat: %+v", again)
	}
	c.WantBudget(t, 2, 2)
}

// TestARuleSaysWhatACallCostsAtLeast, whatever the agent says.
func TestARuleSaysWhatACallCostsAtLeast(t *testing.T) {
	t.Parallel()
	c := begun(t, 100)
	c.UsePolicy(t, `{"rules":[{"name":"dear","tools":["deploy","respond","respond_with_approval","set_budget"],"effect":"require","energy":10}]}`)
	c.AskFor(t, c.In(models.AskInput{ToolName: "deploy", Energy: new(int64(0))}))
	c.WantBudget(t, 100, 11)
	c.Replies(t, "x")
	c.Responds(t, models.ResponseInput{Kind: models.KindProposal, Content: "x", Energy: new(int64(12))})
	c.WantBudget(t, 100, 33)
	if a := c.ChangesBudget(t, c.Agent, set(200)).Approval; a.Energy != 0 {
		t.Errorf("a budget request costs %d", a.Energy)
	}
	c.WantBudget(t, 100, 33)
}

// TestABudgetBelowWhatIsUsedIsExhausted and allowed.
func TestABudgetBelowWhatIsUsedIsExhausted(t *testing.T) {
	t.Parallel()
	c := begun(t, 50)
	c.Responds(t, models.ResponseInput{Kind: models.KindReply, Content: "x", Energy: new(int64(39))})
	b := c.SetsBudget(t, c.Owner, 10).Budget
	if !b.Exhausted() || *b.Remaining() != 0 {
		t.Errorf("budget: %+v", b)
	}
	e := refusal(t, second(c.TriesToRespond(t, models.ResponseInput{Kind: models.KindReply, Content: "y"})), models.CodeBudgetExhausted)
	if e.Approval.ToolInputJSON != `{"budget":41}` {
		t.Errorf("it asks for %s, which would not be enough", e.Approval.ToolInputJSON)
	}
	c.WantBudget(t, 10, 40)
}

func TestAfterARejectionNobodyIsAskedAgain(t *testing.T) {
	t.Parallel()
	goesOn := map[string]func(*testing.T, *talk){
		"a person writes": func(t *testing.T, c *talk) { t.Helper(); c.Says(t, "Go on.", nil) },
		"an admin writes": func(t *testing.T, c *talk) {
			t.Helper()
			storetest.Must(t, storetest.Err(c.Say(t.Context(), c.Admin, models.MessageInput{ConversationID: c.Conv, Content: "x"})))
		},
		"the budget is raised":  func(t *testing.T, c *talk) { t.Helper(); c.SetsBudget(t, c.Owner, 51) },
		"the budget is lowered": func(t *testing.T, c *talk) { t.Helper(); c.SetsBudget(t, c.Owner, 49) },
		"a decision brings a budget": func(t *testing.T, c *talk) {
			t.Helper()
			p := c.Responds(t, models.ResponseInput{Kind: models.KindProposal, Content: "x", Energy: new(int64(0))})
			in := storetest.No("")
			in.Budget = delta(1)
			storetest.Must(t, storetest.Err(c.Decide(t.Context(), c.Owner, p.ID, in)))
		},
		"an approval changes nothing": nil,
		"an agent lowers its budget":  nil,
		"the same budget is set":      nil,
	}
	for name, change := range goesOn {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := begun(t, 50)
			first := c.Exhausts(t)
			c.DecidesIn(t, c.Owner, storetest.Rejecting())
			c.WantStatus(t, models.ConversationRunning)
			for range 2 {
				e := storetest.WantUnchanged(t, c.Store, models.CodeBudgetExhausted, func() error {
					return second(c.TriesToRespond(t, models.ResponseInput{Kind: models.KindReply, Content: "x", Energy: new(int64(1000))}))
				})
				if e.Approval == nil || e.Approval.ID != first.ID || e.Approval.Status() != models.StatusRejected {
					t.Errorf("the refusal names %+v", e.Approval)
				}
			}
			e := storetest.WantUnchanged(t, c.Store, models.CodeAlreadyDecided, func() error { return second(c.ChangeBudget(t.Context(), c.Agent, c.Conv, set(900), "")) })
			if e.Approval == nil || e.Approval.ID != first.ID {
				t.Errorf("the refusal names %+v", e.Approval)
			}
			switch {
			case change != nil:
				change(t, c)
				if again := c.Exhausts(t); again.ID == first.ID || again.Status() != models.StatusPending {
					t.Errorf("asked again: %+v", again)
				}
				return
			case strings.HasPrefix(name, "an approval"):
				c.Responds(t, models.ResponseInput{Kind: models.KindProposal, Content: "x", Energy: new(int64(0))})
				c.DecidesIn(t, c.Owner, storetest.Approving(""))
			case strings.HasPrefix(name, "an agent"):
				c.SetsBudget(t, c.Agent, 49)
			default:
				c.SetsBudget(t, c.Owner, 50)
			}
			if again := c.Exhausts(t); again.ID != first.ID {
				t.Errorf("asked again: %+v", again)
			}
		})
	}
}

// TestAutoBudgetIncrease: what the system may add in all, since a person last set
// or decided the budget.
func TestAutoBudgetIncrease(t *testing.T) {
	t.Parallel()
	c := begun(t, 10)
	c.UsePolicy(t, `{"auto_budget_increase":5}`)
	at := storetest.LedgerAt(t, c.Store)
	r := c.ChangesBudget(t, c.Agent, delta(3))
	if r.Approval == nil || r.Approval.Status() != models.StatusApproved || r.Approval.Cause != models.CausePolicy || r.Approval.DecidedBy != nil || *r.Budget.Total != 13 {
		t.Fatalf("a small increase: %+v, %+v", r, r.Approval)
	}
	owner := " " + string(c.Owner.OwnerID)
	storetest.SameStrings(t, "recorded", storetest.ActionsSince(t, c.Store, at), []string{"approval.requested" + owner, "approval.approved" + owner, "conversation.budget" + owner})
	c.WantStatus(t, models.ConversationRunning)
	if r := c.ChangesBudget(t, c.Agent, delta(3)); r.Approval.Status() != models.StatusPending {
		t.Fatalf("6 in all: %s", r.Approval.Status())
	}
	c.DecidesIn(t, c.Owner, storetest.Rejecting()) // a person has decided: it counts from here
	c.Exhausts(t)
	c.Says(t, "Go on.", nil)
	if r := c.ChangesBudget(t, c.Agent, delta(5)); r.Approval.Status() != models.StatusApproved {
		t.Fatalf("after a person's decision: %s", r.Approval.Status())
	}
	if r := c.ChangesBudget(t, c.Agent, delta(1)); r.Approval.Status() != models.StatusPending {
		t.Fatalf("one more: %s", r.Approval.Status())
	}
	// Approved with what stands: nothing changes, and yet a person has decided.
	in := storetest.Yes()
	in.Input = []byte(`{"budget":18}`)
	a := c.ChangesBudget(t, c.Agent, delta(1)).Approval
	storetest.Must(t, storetest.Err(c.Decide(t.Context(), c.Owner, a.ID, in)))
	c.WantBudget(t, 18, 1)
	// What an ask lacks is granted in the ask itself, no more than is allowed.
	c.Responds(t, models.ResponseInput{Kind: models.KindReply, Content: "x", Energy: new(int64(20))})
	c.WantBudget(t, 23, 21)
	c.SetsBudget(t, c.Owner, 21)
	if e := refusal(t, second(c.TriesToRespond(t, models.ResponseInput{Kind: models.KindReply, Content: "x", Energy: new(int64(6))})), models.CodeBudgetExhausted); e.Approval.Status() != models.StatusPending {
		t.Errorf("more than is allowed: %+v", e.Approval)
	}
	steps, err := c.Requests.BudgetSteps(t.Context(), c.Owner, c.Conv, 0, 0)
	storetest.Must(t, err)
	var system int
	for _, s := range steps {
		if s.ActorKind == models.ActorSystem {
			system++
			if s.ResponseID == nil || s.Reason == "" {
				t.Errorf("a step of the system: %+v", s)
			}
		}
	}
	if system != 3 {
		t.Errorf("%d steps of the system", system)
	}
}

// TestAutoBudgetIncreaseGoesAroundNoPerson: not a rule that wants one, nor a
// rejection.
func TestAutoBudgetIncreaseGoesAroundNoPerson(t *testing.T) {
	t.Parallel()
	c := begun(t, 10)
	c.UsePolicy(t, `{"auto_budget_increase":5,"rules":[{"name":"look","tools":["set_budget"],"effect":"require"}]}`)
	if r := c.ChangesBudget(t, c.Agent, delta(1)); r.Approval.Status() != models.StatusPending {
		t.Fatalf("a rule wants a person: %s", r.Approval.Status())
	}
	c.DecidesIn(t, c.Owner, storetest.Rejecting())
	c.UsePolicy(t, `{"auto_budget_increase":5}`)
	c.SetsBudget(t, c.Agent, 9)
	wantCode(t, second(c.ChangeBudget(t.Context(), c.Agent, c.Conv, delta(5), "")), models.CodeAlreadyDecided)
	c.WantBudget(t, 9, 1)
	c.UsePolicy(t, `{"auto_budget_increase":5,"rules":[{"name":"never","tools":["set_budget"],"effect":"deny","reason":"no more"}]}`)
	c.SetsBudget(t, c.Owner, 10)
	r := c.ChangesBudget(t, c.Agent, delta(1))
	if r.Approval.Status() != models.StatusRejected || r.Approval.Cause != models.CausePolicy || r.Approval.Feedback() != "no more" {
		t.Errorf("a rule denies: %+v", r.Approval)
	}
	c.WantBudget(t, 10, 1)
	if e := c.Exhausts(t); e.ID != r.Approval.ID {
		t.Errorf("it is asked again: %+v", e)
	}
	for _, doc := range []string{`{"rules":[{"name":"yes","tools":["/.*/"],"effect":"allow"}]}`, `{"approval_enabled":false}`} {
		c.UsePolicy(t, doc)
		c.SetsBudget(t, c.Owner, 10+int64(len(doc)))
		if r := c.ChangesBudget(t, c.Agent, delta(1)); r.Approval.Status() != models.StatusPending {
			t.Errorf("%s: %s", doc, r.Approval.Status())
		}
		c.DecidesIn(t, c.Owner, storetest.Rejecting())
	}
}

// TestI3AnExpiredBudgetRequestMakesRoom, written down or not.
func TestI3AnExpiredBudgetRequestMakesRoom(t *testing.T) {
	t.Parallel()
	for _, written := range []bool{true, false} {
		t.Run(fmt.Sprintf("written down: %v", written), func(t *testing.T) {
			t.Parallel()
			c := begun(t, 50)
			c.UsePolicy(t, `{"proposal_timeout_minutes":10}`)
			first := c.Exhausts(t)
			c.WantStatus(t, models.ConversationWaitingInput)
			c.Clock.Step(10 * time.Minute)
			if written {
				if n, err := c.ExpireDue(t.Context(), 10); n != 1 || err != nil {
					t.Fatalf("expired %d, %v", n, err)
				}
				c.WantStatus(t, models.ConversationRunning)
			}
			wantCode(t, storetest.Err3(c.DecideIn(t.Context(), c.Owner, c.Conv, storetest.Approving(""))), models.CodeNoPendingApproval)
			wantCode(t, storetest.Err3(c.DecideIn(t.Context(), c.Owner, c.Conv, storetest.Approving(first.ID))), models.CodeExpired)
			again := c.Exhausts(t)
			if again.ID == first.ID || again.Status() != models.StatusPending {
				t.Errorf("asked again: %+v", again)
			}
			if got := c.Reads(t, first.ID); got.Status() != models.StatusExpired || got.Cause != models.CauseTimeout {
				t.Errorf("the first: %+v", got)
			}
			c.WantStatus(t, models.ConversationWaitingInput)
			c.DecidesIn(t, c.Owner, storetest.Approving(""))
			c.WantStatus(t, models.ConversationRunning)
		})
	}
}

// TestABudgetGrantedOtherwiseSettlesTheRequest, so that whoever waits goes on.
func TestABudgetGrantedOtherwiseSettlesTheRequest(t *testing.T) {
	t.Parallel()
	c := begun(t, 50)
	a := c.Exhausts(t)
	c.SetsBudget(t, c.Owner, 40)
	if got := c.Reads(t, a.ID); got.Status() != models.StatusPending {
		t.Errorf("a lower budget made it %s", got.Status())
	}
	at := storetest.LedgerAt(t, c.Store)
	c.SetsBudget(t, c.Owner, 60)
	if got := c.Reads(t, a.ID); got.Status() != models.StatusResolved || got.Cause != models.CauseElsewhere {
		t.Errorf("a higher budget made it %s, %s", got.Status(), got.Cause)
	}
	c.WantStatus(t, models.ConversationRunning)
	owner := " " + string(c.Owner.OwnerID)
	entries := storetest.ActionsSince(t, c.Store, at)
	slices.Sort(entries)
	storetest.SameStrings(t, "recorded", entries, []string{"approval.resolved" + owner, "conversation.budget" + owner})
	// Beside a proposal the conversation waits on.
	a, p := c.Exhausts(t), c.Proposes(t, "Shall I?")
	storetest.Must(t, storetest.Err(c.Decide(t.Context(), c.Owner, a.ID, storetest.No(""))))
	c.WantStatus(t, models.ConversationWaitingInput)
	storetest.Must(t, storetest.Err(c.Decide(t.Context(), c.Owner, p.ID, storetest.Yes())))
	c.WantStatus(t, models.ConversationRunning)
}

func TestAnAgentWithdrawsItsBudgetRequest(t *testing.T) {
	t.Parallel()
	c := begun(t, 50)
	a := c.Exhausts(t)
	storetest.Must(t, storetest.Err(c.Cancel(t.Context(), c.Agent, a.ID)))
	c.WantStatus(t, models.ConversationRunning)
	if again := c.Exhausts(t); again.ID == a.ID {
		t.Error("the withdrawn one stands")
	}
}

// TestCallsOfOneTurnSeeEachOthersBudget: one has the system add to it, the next
// changes it by a step.
func TestCallsOfOneTurnSeeEachOthersBudget(t *testing.T) {
	t.Parallel()
	c := newTalk(t)
	c.UsePolicy(t, `{"auto_budget_increase":3,"rules":[{"name":"dear","tools":["respond"],"effect":"require","energy":3}]}`)
	said, err := c.Say(t.Context(), c.Owner, models.MessageInput{Content: "Hello.", EnergyBudget: new(int64(2))})
	storetest.Must(t, err)
	c.Conv = said.Conversation.ID
	run, err := c.ClaimRun(t.Context(), "me", time.Minute)
	storetest.Must(t, err)
	seen, err := c.RunContext(t.Context(), run)
	storetest.Must(t, err)
	call := func(tool, member string) models.TurnCall {
		return models.TurnCall{ID: tool, Name: tool, Arguments: fmt.Sprintf(`{"requestId":%q,%s}`, c.Conv, member)}
	}
	turn, err := c.StoreTurn(t.Context(), run, models.TurnInput{Model: "m", Context: seen, Calls: []models.TurnCall{
		call(models.ToolRespond, `"content":"It costs three."`), call(models.ToolAdjustBudget, `"delta":-1`),
	}})
	storetest.Must(t, err)
	c.WantBudget(t, 2, 3) // raised to 3 by the system, less the step
	steps, err := c.Requests.BudgetSteps(t.Context(), c.Owner, c.Conv, 0, 1)
	storetest.Must(t, err)
	if *steps[0].Old != 3 || steps[0].New != 2 || steps[0].ActorID != string(run.AgentID) {
		t.Errorf("the last change: %+v; results: %+v", steps[0], turn.Calls)
	}
}
