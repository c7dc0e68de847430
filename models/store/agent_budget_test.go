package store_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
)

// limited is a talk under a policy that lets an agent spend so much in an hour.
func limited(t *testing.T, energy int64, opts ...storetest.Option) *talk {
	t.Helper()
	c := newTalk(t, opts...)
	c.UsePolicy(t, fmt.Sprintf(`{"budget_per_agent":{"energy":%d,"hours":1}}`, energy))
	return c
}

// replyIn says something in a conversation of the agent's, new or not.
func (c *talk) replyIn(t *testing.T, conv models.ConversationID, energy int64) error {
	t.Helper()
	return second(c.TriesToRespond(t, models.ResponseInput{ConversationID: conv, Kind: models.KindReply, Content: "x", Energy: &energy}))
}

// beyond is the budget request that a refusal names.
func (c *talk) beyond(t *testing.T, err error) *models.Approval {
	t.Helper()
	e := refusal(t, err, models.CodeBudgetExhausted)
	if e.Approval == nil || !e.Approval.AsksForAllowance() {
		t.Fatalf("the refusal names %+v", e.Approval)
	}
	return e.Approval
}

func (c *talk) agentBudget(t *testing.T) models.AgentBudget {
	t.Helper()
	all, err := c.AgentFigures(t.Context(), c.Owner, []models.AgentID{c.Agent.AgentID()})
	storetest.Must(t, err)
	return *all.Of[c.Agent.AgentID()].Budget
}

// TestI14AnAgentsBudgetIsOverAllItsConversations: asks, replies and proposals in
// any of them, one request for more, and never a refusal of a repeat.
func TestI14AnAgentsBudgetIsOverAllItsConversations(t *testing.T) {
	t.Parallel()
	c := limited(t, 10)
	asked := models.AskInput{ToolName: "Bash", ToolUseID: "t1", Explicit: true, Energy: new(int64(4))}
	first := c.AskFor(t, asked)
	storetest.Must(t, c.replyIn(t, c.Conv, 3))
	storetest.Must(t, c.replyIn(t, models.NewID[models.ConversationID](), 2))
	if b := c.agentBudget(t); b != (models.AgentBudget{Energy: 10, Hours: 1, Spent: 9}) {
		t.Fatalf("the agent's budget: %+v", b)
	}
	before := storetest.LedgerAt(t, c.Store)
	request := c.beyond(t, c.replyIn(t, c.Conv, 2))
	if request.Status() != models.StatusPending || request.ConversationID != c.Conv || request.OwnerID != c.Owner.UserID() ||
		!strings.Contains(request.Description, "9 of 10 units of energy in 1 hour") {
		t.Fatalf("the request: %+v", request)
	}
	if got, err := models.AllowanceAsked([]byte(request.ToolInputJSON)); err != nil || got.Energy != 5 || !got.Until.Equal(request.ApprovalTimeoutAt) {
		t.Fatalf("it asks for %+v, %v; deadline %v", got, err, request.ApprovalTimeoutAt)
	}
	owner := " " + string(c.Owner.OwnerID)
	storetest.SameStrings(t, "recorded", storetest.ActionsSince(t, c.Store, before), []string{"approval.requested" + owner})
	two := new(int64(2))
	for name, do := range map[string]func() error{
		"an ask": func() error {
			return second(c.Ask(t.Context(), c.Agent, c.In(models.AskInput{ToolName: "Bash", Energy: two})))
		},
		"an ask in no run": func() error {
			return second(c.Ask(t.Context(), c.Agent, models.AskInput{ToolName: "Grep", Energy: two}))
		},
		"an ask in a new": func() error {
			return second(c.Ask(t.Context(), c.Agent, models.AskInput{RunID: "new", ToolName: "Bash", Energy: two}))
		},
		"what passes": func() error {
			return second(c.Ask(t.Context(), c.Agent, c.In(models.AskInput{ToolName: "Read", Energy: two})))
		},
		"a reply in a new": func() error { return c.replyIn(t, models.NewID[models.ConversationID](), 2) },
		"a proposal": func() error {
			return second(c.TriesToRespond(t, models.ResponseInput{Kind: models.KindProposal, Content: "x", Energy: two}))
		},
		"a reply in the old": func() error { return c.replyIn(t, c.Conv, 2) },
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
	storetest.Must(t, c.replyIn(t, c.Conv, 0)) // what costs nothing is never refused
	storetest.Must(t, c.replyIn(t, c.Conv, 1))
	if b := c.agentBudget(t); b.Spent != 10 || b.Remaining() != 0 {
		t.Errorf("the agent's budget: %+v", b)
	}
	// Another agent has its own.
	other, _ := storetest.AgentToken(t, c.Store, c.Owner, "other")
	storetest.Must(t, second(c.Respond(t.Context(), other, models.ResponseInput{ConversationID: models.NewID[models.ConversationID](), Kind: models.KindReply, Content: "x", Energy: new(int64(10))})))
}

// TestI14NoWindowHoldsTooMuch: a random walk through time never finds more than
// the limit in any window of its length, and spends again what has left it.
func TestI14NoWindowHoldsTooMuch(t *testing.T) {
	t.Parallel()
	const limit = 20
	c := limited(t, limit, storetest.NoLimits)
	type spending struct {
		at     time.Time
		energy int64
	}
	var spent []spending
	total := int64(0)
	for i := range 400 {
		c.Clock.Step(time.Duration(1+(i*i*37)%421) * time.Second)
		now, cost := c.Clock.Now(), int64(1+i%5)
		if c.replyIn(t, c.Conv, cost) == nil {
			spent, total = append(spent, spending{now, cost}), total+cost
		}
		sum := int64(0)
		for _, s := range spent {
			if s.at.After(now.Add(-time.Hour)) {
				sum += s.energy
			}
		}
		if sum > limit {
			t.Fatalf("%d spent in the hour before %v", sum, now)
		}
	}
	if total < 8*limit {
		t.Errorf("only %d spent in all: what has left the window is not free again", total)
	}
	if n := storetest.Scalar[int64](t, c.Store, `SELECT energy_used FROM conversations WHERE id = ?`, c.Conv); n != total {
		t.Errorf("the conversation has spent %d, the responses say %d", n, total)
	}
}

// TestTheWindowMovesOn: to the minute, and never too early.
func TestTheWindowMovesOn(t *testing.T) {
	t.Parallel()
	c := limited(t, 5)
	storetest.Must(t, c.replyIn(t, c.Conv, 5))
	request := c.beyond(t, c.replyIn(t, c.Conv, 1))
	c.Clock.Step(time.Hour - time.Second)
	c.beyond(t, c.replyIn(t, c.Conv, 1))
	c.Clock.Step(time.Minute + time.Second)
	storetest.Must(t, c.replyIn(t, c.Conv, 5))
	// The request was about what has left the window: it has expired by then.
	if n, err := c.ExpireDue(t.Context(), 10); n != 1 || err != nil {
		t.Fatalf("expired %d, %v", n, err)
	}
	if again := c.beyond(t, c.replyIn(t, c.Conv, 1)); again.ID == request.ID || again.Status() != models.StatusPending {
		t.Errorf("asked again: %+v", again)
	}
}

// TestAnApprovedAllowanceEnds and is recorded once.
func TestAnApprovedAllowanceEnds(t *testing.T) {
	t.Parallel()
	c := limited(t, 10)
	storetest.Must(t, c.replyIn(t, c.Conv, 10))
	request := c.beyond(t, c.replyIn(t, c.Conv, 3))
	wantCode(t, storetest.Err3(c.DecideIn(t.Context(), c.Agent, c.Conv, storetest.Approving(request.ID))), models.CodeForbidden)
	withBudget := storetest.Approving(request.ID)
	withBudget.Budget = set(900)
	wantCode(t, storetest.Err3(c.DecideIn(t.Context(), c.Owner, c.Conv, withBudget)), models.CodeInvalid)
	later := strings.Replace(request.ToolInputJSON, "20", "21", 1)
	for _, input := range []string{`{"budget":5}`, `{"energy":5}`, `{"energy":-1,"until":"2026-01-02T15:04:00Z"}`, later} {
		in := storetest.Yes()
		in.Input = []byte(input)
		wantCode(t, second(c.Decide(t.Context(), c.Owner, request.ID, in)), models.CodeInvalid)
	}
	before := storetest.LedgerAt(t, c.Store)
	in := storetest.Yes()
	in.Input = []byte(strings.Replace(request.ToolInputJSON, `"energy":5`, `"energy":3`, 1))
	storetest.Must(t, second(c.Decide(t.Context(), c.Owner, request.ID, in)))
	owner := " " + string(c.Owner.OwnerID)
	storetest.SameStrings(t, "recorded", storetest.ActionsSince(t, c.Store, before), []string{"approval.approved" + owner, "agent.allowance" + owner})
	c.WantBudget(t, -1, 10) // the conversation's own budget is another thing
	storetest.Must(t, c.replyIn(t, models.NewID[models.ConversationID](), 3))
	if b := c.agentBudget(t); b.Total() != 13 || b.Spent != 13 {
		t.Errorf("the agent's budget: %+v", b)
	}
	if again := c.beyond(t, c.replyIn(t, c.Conv, 1)); again.ID == request.ID || again.Status() != models.StatusPending {
		t.Errorf("when that is spent too: %+v", again)
	}
	c.Clock.Step(time.Hour + time.Minute)
	if b := c.agentBudget(t); b.Total() != 10 || b.Spent != 0 {
		t.Errorf("an hour later: %+v", b)
	}
	storetest.Must(t, c.replyIn(t, c.Conv, 10))
	c.beyond(t, c.replyIn(t, c.Conv, 1))
}

// TestAfterARejectedAllowanceNobodyIsAskedUntilTheWindowHasMovedOn.
func TestAfterARejectedAllowanceNobodyIsAskedUntilTheWindowHasMovedOn(t *testing.T) {
	t.Parallel()
	c := limited(t, 10)
	storetest.Must(t, c.replyIn(t, c.Conv, 4))
	c.Clock.Step(30 * time.Minute)
	storetest.Must(t, c.replyIn(t, c.Conv, 6))
	request := c.beyond(t, c.replyIn(t, c.Conv, 1))
	storetest.Must(t, second(c.Decide(t.Context(), c.Owner, request.ID, storetest.No("Enough for today."))))
	c.beyond(t, c.replyIn(t, c.Conv, 1))
	e := storetest.WantUnchanged(t, c.Store, models.CodeBudgetExhausted, func() error { return c.replyIn(t, models.NewID[models.ConversationID](), 1) })
	if e.Approval == nil || e.Approval.ID != request.ID || e.Approval.Status() != models.StatusRejected || !strings.Contains(e.Text, "nobody is asked again before") {
		t.Errorf("the refusal: %+v", e)
	}
	c.Clock.Step(31 * time.Minute)
	storetest.Must(t, c.replyIn(t, c.Conv, 4)) // that much has left the window
	if again := c.beyond(t, c.replyIn(t, c.Conv, 1)); again.ID != request.ID {
		t.Errorf("asked again: %+v", again)
	}
	c.Clock.Step(30 * time.Minute)
	storetest.Must(t, c.replyIn(t, c.Conv, 6))
	if again := c.beyond(t, c.replyIn(t, c.Conv, 1)); again.ID == request.ID || again.Status() != models.StatusPending {
		t.Errorf("a window later: %+v", again)
	}
}

// TestBothBudgetsHaveTheirOwnRequest, also in one conversation, and what one
// refuses is not counted by the other.
func TestBothBudgetsHaveTheirOwnRequest(t *testing.T) {
	t.Parallel()
	c := limited(t, 10)
	storetest.Must(t, c.replyIn(t, c.Conv, 1))
	c.SetsBudget(t, c.Owner, 5)
	own := refusal(t, c.replyIn(t, c.Conv, 6), models.CodeBudgetExhausted).Approval
	if own.AsksForAllowance() || c.agentBudget(t).Spent != 1 {
		t.Fatalf("the conversation's own: %+v; the agent has spent %d", own, c.agentBudget(t).Spent)
	}
	request := c.beyond(t, c.replyIn(t, c.Conv, 10))
	if again := refusal(t, c.replyIn(t, c.Conv, 6), models.CodeBudgetExhausted).Approval; again.ID != own.ID {
		t.Errorf("the conversation's own: %+v", again)
	}
	c.WantBudget(t, 5, 1)
	storetest.Must(t, second(c.Decide(t.Context(), c.Owner, own.ID, storetest.Yes())))
	storetest.Must(t, second(c.Decide(t.Context(), c.Owner, request.ID, storetest.Yes())))
	storetest.Must(t, c.replyIn(t, c.Conv, 6))
	if b := c.agentBudget(t); b.Spent != 7 || b.Total() != 15 {
		t.Errorf("the agent's budget: %+v", b)
	}
}

// TestRulesJudgeARequestForAnAllowance by its own name: a rule that denies it ends
// it at once, and it is not asked again.
func TestRulesJudgeARequestForAnAllowance(t *testing.T) {
	t.Parallel()
	c := newTalk(t)
	c.UsePolicy(t, `{"auto_budget_increase":100,"budget_per_agent":{"energy":2,"hours":24},"rules":[{"name":"never","tools":["allow_agent_energy"],"effect":"deny","reason":"no more"}]}`)
	request := c.beyond(t, c.replyIn(t, c.Conv, 3))
	if request.Status() != models.StatusRejected || request.Cause != models.CausePolicy {
		t.Fatalf("the request: %+v", request)
	}
	if again := c.beyond(t, c.replyIn(t, c.Conv, 3)); again.ID != request.ID {
		t.Errorf("asked again: %+v", again)
	}
	c.UsePolicy(t, `{"auto_budget_increase":100}`)
	storetest.Must(t, c.replyIn(t, c.Conv, 3)) // without the member there is no limit
	if n := storetest.Scalar[int](t, c.Store, `SELECT count(*) FROM agent_energy`); n != 0 {
		t.Errorf("%d minutes counted without a limit", n)
	}
	c.UsePolicy(t, `{"auto_budget_increase":100,"budget_per_agent":{"energy":2,"hours":24}}`)
	storetest.Must(t, c.replyIn(t, c.Conv, 2)) // it counts from when the policy has it
	c.UsePolicy(t, `{"budget_per_agent":{"energy":3,"hours":48}}`)
	storetest.Must(t, c.replyIn(t, c.Conv, 1)) // and goes on counting when it changes
	c.beyond(t, c.replyIn(t, c.Conv, 1))
}

// TestAnAllowanceHeldForUndo is made with its release and not before.
func TestAnAllowanceHeldForUndo(t *testing.T) {
	t.Parallel()
	c := newTalk(t)
	c.UsePolicy(t, `{"undo_seconds":{"medium":10},"budget_per_agent":{"energy":4,"hours":1}}`)
	request := c.beyond(t, c.replyIn(t, c.Conv, 5))
	storetest.Must(t, second(c.Decide(t.Context(), c.Owner, request.ID, storetest.Yes())))
	c.beyond(t, c.replyIn(t, c.Conv, 5))
	c.Clock.Step(10 * time.Second)
	if n, err := c.ReleaseDue(t.Context(), 10); n != 1 || err != nil {
		t.Fatalf("released %d, %v", n, err)
	}
	storetest.Must(t, c.replyIn(t, c.Conv, 5))
}

// TestI14SixtyFourOnOneAgent: callers in many conversations never spend one unit
// too much and leave one request; with two servers on one folder too.
func TestI14SixtyFourOnOneAgent(t *testing.T) {
	t.Parallel()
	for _, servers := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d servers", servers), func(t *testing.T) {
			t.Parallel()
			const callers, each, budget = 64, 4, 101
			c := limited(t, budget, storetest.NoLimits)
			stores := []*store.Store{c.Store}
			if servers == 2 {
				stores = append(stores, storetest.Again(t, c.Store, storetest.WithClock(c.Clock), storetest.NoLimits))
			}
			var stored, refused atomic.Int64
			var requests sync.Map
			var wg sync.WaitGroup
			start := make(chan struct{})
			for i := range callers {
				wg.Go(func() {
					<-start
					ctx := context.WithoutCancel(t.Context())
					for n := range each {
						s, cost := stores[i%len(stores)], int64(1+(i+n)%3)
						var err error
						switch i % 3 {
						case 0:
							_, err = s.Ask(ctx, c.Agent, models.AskInput{ToolName: "Bash", Energy: &cost})
						case 1:
							_, err = s.Ask(ctx, c.Agent, models.AskInput{RunID: fmt.Sprint(i), ToolName: "Bash", Energy: &cost})
						default:
							_, err = s.Respond(ctx, c.Agent, models.ResponseInput{ConversationID: c.Conv, Kind: models.KindProposal, Content: "x", Energy: &cost})
						}
						e, _ := err.(*models.Error)
						switch {
						case err == nil:
							stored.Add(cost)
						case e != nil && e.Code == models.CodeBudgetExhausted && e.Approval != nil:
							refused.Add(1)
							requests.Store(e.Approval.ID, true)
						default:
							t.Errorf("it failed: %v", err)
						}
					}
				})
			}
			close(start)
			wg.Wait()
			sum := storetest.Scalar[int64](t, c.Store, `SELECT sum(energy) FROM responses`)
			if b := c.agentBudget(t); b.Spent > budget || b.Spent != stored.Load() || sum != b.Spent || b.Spent < budget-2 || refused.Load() == 0 {
				t.Errorf("%d of %d spent, %d refused; callers were told of %d, responses have %d", b.Spent, budget, refused.Load(), stored.Load(), sum)
			}
			n := 0
			requests.Range(func(any, any) bool { n++; return true })
			if rows := storetest.Scalar[int](t, c.Store, `SELECT count(*) FROM responses WHERE kind = 'budget'`); n != 1 || rows != 1 {
				t.Errorf("%d budget requests are named, %d stand", n, rows)
			}
			if _, err := c.Ledger.Verify(t.Context(), nil); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestI14TheBuiltInAgentKeepsToItsBudget over all its conversations, with what is
// reserved; it goes on when its owner allows more, and when the window has room.
func TestI14TheBuiltInAgentKeepsToItsBudget(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"budget_per_agent":{"energy":25,"hours":1}}`)
	first, second, third := b.Begins(t, "One", nil), b.Begins(t, "Two", nil), b.Begins(t, "Three", nil)
	runs := map[models.ConversationID]*models.Run{}
	for range 3 {
		run := storetest.Claim(t, b.Store, "one")
		runs[run.ConversationID] = run
	}
	reserve := func(conv *models.Conversation, want bool) {
		t.Helper()
		if fits, err := b.ReserveEnergy(t.Context(), runs[conv.ID], 10); err != nil || fits != want {
			t.Fatalf("reserve: %v, %v; want %v", fits, err, want)
		}
	}
	reserve(first, true)
	reserve(second, true)
	reserve(third, false) // 20 of 25 are reserved
	request := storetest.Scalar[models.ResponseID](t, b.Store, `SELECT id FROM responses WHERE kind = 'budget'`)
	if v := b.ReadConversation(t, third.ID); v.Status != models.ConversationWaitingInput || v.EnergyReserved != 0 {
		t.Fatalf("the third: %+v", v)
	}
	for _, conv := range []*models.Conversation{first, second} {
		seen, err := b.RunContext(t.Context(), runs[conv.ID])
		storetest.Must(t, err)
		storetest.Must(t, storetest.Err(b.StoreTurn(t.Context(), runs[conv.ID], models.TurnInput{Model: "m", Content: "Hello.", Energy: 8, Context: seen})))
	}
	budget := func() models.AgentBudget {
		t.Helper()
		got, err := b.AgentBudget(t.Context(), b.Owner, first.AgentID)
		storetest.Must(t, err)
		return *got
	}
	if got := budget(); got.Spent != 16 || got.Reserved != 0 {
		t.Fatalf("the agent's budget: %+v", got)
	}
	if run := storetest.Claim(t, b.Store, "one"); run != nil {
		t.Fatalf("%s is ready", run.ConversationID)
	}
	// Told to go on, it is refused again, and says why it waits.
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, request, storetest.No(""))))
	runs[third.ID] = storetest.Claim(t, b.Store, "one")
	reserve(third, false)
	if n := storetest.Scalar[int](t, b.Store, `SELECT count(*) FROM messages WHERE conversation_id = ? AND author_kind = 'system' AND content LIKE '%nobody is asked again before%'`, third.ID); n != 1 {
		t.Errorf("%d lines say why it waits", n)
	}
	next, found, err := b.NextRun(t.Context())
	if want := b.Clock.Now().Add(time.Hour).Truncate(time.Minute).Add(time.Minute); err != nil || !found || !next.Equal(want) {
		t.Fatalf("it is ready at %v, %v, %v; want %v", next, found, err, want)
	}
	b.Clock.Step(next.Sub(b.Clock.Now()))
	runs[third.ID] = storetest.Claim(t, b.Store, "one")
	reserve(third, true)
	if v := b.ReadConversation(t, third.ID); v.Status != models.ConversationRunning {
		t.Errorf("the third is %s", v.Status)
	}
	// A policy that sets another limit during the call is kept to as well.
	b.UsePolicy(t, `{"budget_per_agent":{"energy":4,"hours":1}}`)
	seen, err := b.RunContext(t.Context(), runs[third.ID])
	storetest.Must(t, err)
	storetest.Must(t, storetest.Err(b.StoreTurn(t.Context(), runs[third.ID], models.TurnInput{Model: "m", Content: "Hello.", Energy: 8, Context: seen})))
	if got := budget(); got.Spent != 4 {
		t.Errorf("the agent's budget: %+v", got)
	}
	// Another conversation waits for the owner, who allows more: it goes on.
	fourth := b.Begins(t, "Four", nil)
	runs[fourth.ID] = storetest.Claim(t, b.Store, "one")
	reserve(fourth, false)
	fifth := b.Begins(t, "Five", nil)
	runs[fifth.ID] = storetest.Claim(t, b.Store, "one")
	reserve(fifth, false)
	request = storetest.Scalar[models.ResponseID](t, b.Store, `SELECT id FROM responses WHERE kind = 'budget' AND approval_status = 'pending'`)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, request, storetest.Yes())))
	for range 2 {
		run := storetest.Claim(t, b.Store, "one")
		if run == nil {
			t.Fatal("a run still waits")
		}
		runs[run.ConversationID] = run
	}
	reserve(fourth, true)
}
