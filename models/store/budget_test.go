package store_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

func set(n int64) models.BudgetChange   { return models.BudgetChange{Set: &n} }
func delta(n int64) models.BudgetChange { return models.BudgetChange{Delta: &n} }

// TestI4AnAgentSetsAndLowersAndAsksToRaise: the effects of its two tools.
func TestI4AnAgentSetsAndLowersAndAsksToRaise(t *testing.T) {
	t.Parallel()
	c := newTalk(t)
	c.reply(t, "Hello.")
	wantUnchanged(t, c.Store, models.CodeNoBudget, func() error { return second(c.ChangeBudget(t.Context(), c.agent, c.conv, delta(5), "")) })
	if r := c.change(t, c.agent, set(50)); r.Approval != nil || *r.Budget.Total != 50 {
		t.Errorf("set where none stands: %+v", r)
	}
	if r := c.change(t, c.agent, set(40)); r.Approval != nil || *r.Budget.Total != 40 {
		t.Errorf("lowered: %+v", r)
	}
	if r := c.change(t, c.agent, delta(-10)); r.Approval != nil || *r.Budget.Total != 30 {
		t.Errorf("lowered by a step: %+v", r)
	}
	wantUnchanged(t, c.Store, "", func() error { return errOf(c.ChangeBudget(t.Context(), c.agent, c.conv, set(30), "")) })
	r := c.change(t, c.agent, delta(45))
	if r.Approval == nil || r.Approval.Status() != models.StatusPending || r.Approval.ToolInputJSON != `{"budget":75}` || *r.Budget.Total != 30 {
		t.Fatalf("raised: %+v, %+v", r, r.Approval)
	}
	if a := c.approval(t, r.Approval.ID); a.Kind != models.KindBudget || a.Energy != 0 || a.HasDeadline() || a.ToolName != models.ToolSetBudget || a.Description == "" {
		t.Errorf("the request: %+v", a)
	}
	c.wantStatus(t, models.ConversationWaitingInput)
	// One stands, whatever is wished.
	wantUnchanged(t, c.Store, "", func() error {
		again, err := c.ChangeBudget(t.Context(), c.agent, c.conv, set(900), "")
		if err == nil && again.Approval.ID != r.Approval.ID {
			t.Errorf("a second request: %+v", again.Approval)
		}
		return err
	})
	if r := c.change(t, c.agent, delta(-100)); r.Approval != nil || *r.Budget.Total != 0 {
		t.Errorf("lowered below nothing: %+v", r)
	}
	c.decideIn(t, c.owner, approve(""))
	c.wantBudget(t, 75, 1)
	c.wantStatus(t, models.ConversationRunning)
}

func TestChangeBudgetRefuses(t *testing.T) {
	t.Parallel()
	c := begun(t, 50)
	sibling, _ := storetest.AgentToken(t, c.Store, c.owner, "sibling")
	for _, tt := range []struct {
		name   string
		who    models.Actor
		conv   models.ConversationID
		change models.BudgetChange
		reason string
		code   models.Code
		field  string
	}{
		{"a stranger", c.stranger, c.conv, set(5), "", models.CodeNotFound, ""},
		{"a stranger's agent", c.other, c.conv, set(5), "", models.CodeNotFound, ""},
		{"another agent of the owner", sibling, c.conv, set(5), "", models.CodeNotFound, ""},
		{"the operator", storetest.Operator(), c.conv, set(5), "", models.CodeNotFound, ""},
		{"nobody", models.Actor{}, c.conv, set(5), "", models.CodeNotFound, ""},
		{"no such conversation", c.admin, models.NewID[models.ConversationID](), set(5), "", models.CodeNotFound, ""},
		{"a negative one", c.owner, c.conv, set(-1), "", models.CodeInvalid, "budget"},
		{"a negative one by an agent", c.agent, c.conv, set(-1), "", models.CodeInvalid, "budget"},
		{"an absurd one", c.agent, c.conv, set(math.MaxInt64), "", models.CodeInvalid, "budget"},
		{"an absurd step", c.agent, c.conv, delta(math.MinInt64), "", models.CodeInvalid, "delta"},
		{"a step too far", c.owner, c.conv, delta(models.MaxBudget), "", models.CodeInvalid, "delta"},
		{"both", c.owner, c.conv, models.BudgetChange{Set: new(int64(1)), Delta: new(int64(1))}, "", models.CodeInvalid, "delta"},
		{"neither", c.owner, c.conv, models.BudgetChange{}, "", models.CodeInvalid, "budget"},
		{"a long reason", c.owner, c.conv, set(5), strings.Repeat("x", models.MaxReason+1), models.CodeInvalid, "reason"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := wantUnchanged(t, c.Store, tt.code, func() error { return second(c.ChangeBudget(t.Context(), tt.who, tt.conv, tt.change, tt.reason)) })
			if tt.field != "" && (e == nil || e.Fields[tt.field] == "") {
				t.Errorf("fields %v, want %s", e.Fields, tt.field)
			}
		})
	}
}

func TestABudgetRequestIsDecidedLikeAToolCall(t *testing.T) {
	t.Parallel()
	edited := func(input string) models.DecisionInput {
		in := yes()
		in.Input = []byte(input)
		return in
	}
	with := func(in models.DecisionInput, change models.BudgetChange) models.DecisionInput {
		in.Budget = change
		return in
	}
	for _, tt := range []struct {
		name string
		in   models.DecisionInput
		want int64
		code models.Code
	}{
		{"approved", yes(), 90, ""},
		{"approved with another sum", edited(`{"budget": 60}`), 60, ""},
		{"approved with less than stands", edited(`{"budget":0}`), 0, ""},
		{"approved with what stands", edited(`{"budget":50}`), 50, ""},
		{"approved with a new budget", with(yes(), set(100)), 100, ""},
		{"approved with a step", with(yes(), delta(-10)), 40, ""},
		{"rejected", no("no"), 50, ""},
		{"rejected with a new budget", with(no("less"), set(55)), 55, ""},
		{"rejected with a step", with(no("less"), delta(5)), 55, ""},
		{"edited and a new budget", with(edited(`{"budget":60}`), set(70)), 0, models.CodeInvalid},
		{"a negative sum", edited(`{"budget":-1}`), 0, models.CodeInvalid},
		{"an absurd sum", edited(`{"budget":1e15}`), 0, models.CodeInvalid},
		{"no sum", edited(`{}`), 0, models.CodeInvalid},
		{"a word", edited(`{"budget":"much"}`), 0, models.CodeInvalid},
		{"another member", edited(`{"budget":60,"forever":true}`), 0, models.CodeInvalid},
		{"both", with(yes(), models.BudgetChange{Set: new(int64(1)), Delta: new(int64(1))}), 0, models.CodeInvalid},
		{"an absurd step", with(yes(), delta(math.MaxInt64)), 0, models.CodeInvalid},
		{"an answer", models.DecisionInput{Answer: new("90")}, 0, models.CodeWrongDecisionKind},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := begun(t, 50)
			a := c.change(t, c.agent, set(90)).Approval
			if tt.code != "" {
				wantUnchanged(t, c.Store, tt.code, func() error { return second(c.Decide(t.Context(), c.owner, a.ID, tt.in)) })
				return
			}
			mustDo(t, errOf(c.Decide(t.Context(), c.owner, a.ID, tt.in)))
			c.wantBudget(t, tt.want, 1)
			c.wantStatus(t, models.ConversationRunning)
			steps, err := c.BudgetSteps(t.Context(), c.owner, c.conv, 0, 0)
			mustDo(t, err)
			if last := steps[0]; tt.want != 50 && (last.New != tt.want || *last.Old != 50 || last.ActorID != c.owner.ID || last.ResponseID == nil || *last.ResponseID != a.ID || last.Reason != tt.in.Reason) {
				t.Errorf("the change: %+v", last)
			}
			if tt.want == 50 && len(steps) != 1 {
				t.Errorf("no change is told as %+v", steps)
			}
		})
	}
}

// TestABudgetChangesWithTheVerdict: whichever verdict, in one transaction.
func TestABudgetChangesWithTheVerdict(t *testing.T) {
	t.Parallel()
	for _, approved := range []bool{true, false} {
		c := begun(t, 50)
		a := c.propose(t, "Shall I?")
		d := models.ConversationDecision{Approved: &approved, Budget: set(100), Feedback: "because"}
		at := ledgerAt(t, c.Store)
		got := c.decideIn(t, c.owner, d)
		if got.ID != a.ID || (got.Status() == models.StatusApproved) != approved {
			t.Errorf("decided: %+v", got)
		}
		c.wantBudget(t, 100, 2)
		owner, outcome := " "+string(c.owner.OwnerID), map[bool]string{true: "approval.approved", false: "approval.rejected"}[approved]
		entries := actionsSince(t, c.Store, at)
		slices.Sort(entries)
		sameStrings(t, "recorded", entries, []string{outcome + owner, "conversation.budget" + owner, "conversation.status" + owner})
	}
	c := newTalk(t)
	c.propose(t, "Shall I?")
	d := models.ConversationDecision{Approved: new(true), Budget: delta(50)}
	wantUnchanged(t, c.Store, models.CodeNoBudget, func() error { return third(c.DecideIn(t.Context(), c.owner, c.conv, d)) })
}

func TestWhoMayChangeTheBudgetWithAVerdict(t *testing.T) {
	t.Parallel()
	c := begun(t, 50)
	c.policy(t, `{"rules":[{"name":"route","tools":["respond_with_approval","set_budget"],"effect":"require","reviewers":["stranger@example.com"]}]}`)
	noAdmin := c.admin
	noAdmin.Admin = false
	a, raise := c.propose(t, "Shall I?"), c.change(t, c.agent, set(90)).Approval
	d := models.ConversationDecision{Approved: new(true), ResponseID: a.ID, Budget: set(70)}
	wantUnchanged(t, c.Store, models.CodeForbidden, func() error { return third(c.DecideIn(t.Context(), c.stranger, c.conv, d)) })
	wantUnchanged(t, c.Store, models.CodeNotFound, func() error { return third(c.DecideIn(t.Context(), noAdmin, c.conv, d)) })
	for _, nameless := range []models.ConversationDecision{approve(""), {Budget: set(5)}} {
		wantUnchanged(t, c.Store, models.CodeNotFound, func() error { return third(c.DecideIn(t.Context(), c.stranger, c.conv, nameless)) })
	}
	wantUnchanged(t, c.Store, models.CodeForbidden, func() error { return third(c.DecideIn(t.Context(), c.agent, c.conv, d)) })
	in := yes()
	in.Budget = set(70)
	wantUnchanged(t, c.Store, models.CodeForbidden, func() error { return second(c.Decide(t.Context(), c.stranger, a.ID, in)) })
	// Whoever it was routed to decides what the request asks for.
	c.decideIn(t, c.stranger, approve(a.ID))
	in.Budget, in.Input = models.BudgetChange{}, []byte(`{"budget":60}`)
	mustDo(t, errOf(c.Decide(t.Context(), c.stranger, raise.ID, in)))
	c.wantBudget(t, 60, 2)
	// An admin decides and changes all.
	c.propose(t, "And now?")
	c.decideIn(t, c.admin, models.ConversationDecision{Approved: new(false), Budget: delta(-60)})
	c.wantBudget(t, 0, 3)
}

// TestDecideInTellsAStrangerNothing: of a conversation that is there no more than
// of one that is not.
func TestDecideInTellsAStrangerNothing(t *testing.T) {
	t.Parallel()
	c := newTalk(t)
	a := c.propose(t, "Shall I?")
	there := wantUnchanged(t, c.Store, models.CodeNotFound, func() error { return third(c.DecideIn(t.Context(), c.stranger, c.conv, approve(a.ID))) })
	nowhere := wantUnchanged(t, c.Store, models.CodeNotFound, func() error {
		return third(c.DecideIn(t.Context(), c.stranger, models.NewID[models.ConversationID](), approve(a.ID)))
	})
	if there.Error() != nowhere.Error() {
		t.Errorf("%q and %q", there, nowhere)
	}
}

// TestI14TheBudgetIsNeverPassed: 402 for asks, replies and proposals, with one
// budget request, and never for a repeat.
func TestI14TheBudgetIsNeverPassed(t *testing.T) {
	t.Parallel()
	c := begun(t, 3)
	asked := c.in(models.AskInput{ToolName: "Bash", ToolUseID: "t1", Explicit: true})
	first := c.ask(t, asked)
	c.wantBudget(t, 3, 2)
	two := new(int64(2))
	before := ledgerAt(t, c.Store)
	request := refusal(t, second(c.Ask(t.Context(), c.agent, c.in(models.AskInput{ToolName: "Bash", Energy: two}))), models.CodeBudgetExhausted).Approval
	if request == nil || request.Status() != models.StatusPending || request.ToolInputJSON != `{"budget":4}` || !strings.Contains(request.Description, "2 of 3") {
		t.Fatalf("the budget request: %+v", request)
	}
	owner := " " + string(c.owner.OwnerID)
	sameStrings(t, "recorded", actionsSince(t, c.Store, before), []string{"approval.requested" + owner, "conversation.status" + owner})
	c.wantStatus(t, models.ConversationWaitingInput)
	for name, do := range map[string]func() error{
		"an ask": func() error {
			return errOf(c.Ask(t.Context(), c.agent, c.in(models.AskInput{ToolName: "Bash", Energy: two})))
		},
		"a question": func() error {
			return errOf(c.Ask(t.Context(), c.agent, c.in(models.AskInput{Kind: models.KindQuestion, Description: "?", Energy: two})))
		},
		"what passes": func() error {
			return errOf(c.Ask(t.Context(), c.agent, c.in(models.AskInput{ToolName: "Read", Energy: two})))
		},
		"a reply": func() error {
			return errOf(c.tryRespond(t, models.ResponseInput{Kind: models.KindReply, Content: "x", Energy: two}))
		},
		"a proposal": func() error {
			return errOf(c.tryRespond(t, models.ResponseInput{Kind: models.KindProposal, Content: "x", Energy: two}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := wantUnchanged(t, c.Store, models.CodeBudgetExhausted, do)
			if e == nil || e.Approval == nil || e.Approval.ID != request.ID {
				t.Errorf("it names %+v", e)
			}
		})
	}
	if again := c.ask(t, asked); again.ID != first.ID {
		t.Errorf("a repeat: %+v", again)
	}
	c.reply(t, "One unit fits.")
	c.respond(t, models.ResponseInput{Kind: models.KindReply, Content: "And nothing always does.", Energy: new(int64(0))})
	c.wantBudget(t, 3, 3)
	c.decideIn(t, c.owner, approve(""))
	c.wantBudget(t, 4, 3)
	c.reply(t, "Four.")
	c.wantBudget(t, 4, 4)
}

// TestTheStandingConversationHasABudgetToo: it takes its sequence another way.
func TestTheStandingConversationHasABudgetToo(t *testing.T) {
	t.Parallel()
	c := newTalk(t)
	a := c.ask(t, models.AskInput{ToolUseID: "one"})
	c.conv = a.ConversationID
	c.set(t, c.owner, 2)
	c.ask(t, models.AskInput{ToolUseID: "two"})
	e := refusal(t, second(c.Ask(t.Context(), c.agent, models.AskInput{ToolName: "Bash", ToolUseID: "three"})), models.CodeBudgetExhausted)
	if e.Approval == nil || e.Approval.ConversationID != a.ConversationID {
		t.Fatalf("the budget request: %+v", e.Approval)
	}
	if again := c.ask(t, models.AskInput{ToolUseID: "one"}); again.ID != a.ID {
		t.Errorf("a repeat: %+v", again)
	}
	c.wantBudget(t, 2, 2)
}

// TestARuleSaysWhatACallCostsAtLeast, whatever the agent says.
func TestARuleSaysWhatACallCostsAtLeast(t *testing.T) {
	t.Parallel()
	c := begun(t, 100)
	c.policy(t, `{"rules":[{"name":"dear","tools":["deploy","respond","respond_with_approval","set_budget"],"effect":"require","energy":10}]}`)
	c.ask(t, c.in(models.AskInput{ToolName: "deploy", Energy: new(int64(0))}))
	c.wantBudget(t, 100, 11)
	c.reply(t, "x")
	c.respond(t, models.ResponseInput{Kind: models.KindProposal, Content: "x", Energy: new(int64(12))})
	c.wantBudget(t, 100, 33)
	if a := c.change(t, c.agent, set(200)).Approval; a.Energy != 0 {
		t.Errorf("a budget request costs %d", a.Energy)
	}
	c.wantBudget(t, 100, 33)
}

// TestABudgetBelowWhatIsUsedIsExhausted and allowed.
func TestABudgetBelowWhatIsUsedIsExhausted(t *testing.T) {
	t.Parallel()
	c := begun(t, 50)
	c.respond(t, models.ResponseInput{Kind: models.KindReply, Content: "x", Energy: new(int64(39))})
	b := c.set(t, c.owner, 10).Budget
	if !b.Exhausted() || *b.Remaining() != 0 {
		t.Errorf("budget: %+v", b)
	}
	e := refusal(t, second(c.tryRespond(t, models.ResponseInput{Kind: models.KindReply, Content: "y"})), models.CodeBudgetExhausted)
	if e.Approval.ToolInputJSON != `{"budget":41}` {
		t.Errorf("it asks for %s, which would not be enough", e.Approval.ToolInputJSON)
	}
	c.wantBudget(t, 10, 40)
}

func TestAfterARejectionNobodyIsAskedAgain(t *testing.T) {
	t.Parallel()
	goesOn := map[string]func(*testing.T, *talk){
		"a person writes": func(t *testing.T, c *talk) { t.Helper(); c.say(t, "Go on.", nil) },
		"an admin writes": func(t *testing.T, c *talk) {
			t.Helper()
			mustDo(t, errOf(c.Say(t.Context(), c.admin, models.MessageInput{ConversationID: c.conv, Content: "x"})))
		},
		"the budget is raised":  func(t *testing.T, c *talk) { t.Helper(); c.set(t, c.owner, 51) },
		"the budget is lowered": func(t *testing.T, c *talk) { t.Helper(); c.set(t, c.owner, 49) },
		"a decision brings a budget": func(t *testing.T, c *talk) {
			t.Helper()
			p := c.respond(t, models.ResponseInput{Kind: models.KindProposal, Content: "x", Energy: new(int64(0))})
			in := no("")
			in.Budget = delta(1)
			mustDo(t, errOf(c.Decide(t.Context(), c.owner, p.ID, in)))
		},
		"an approval changes nothing": nil,
		"an agent lowers its budget":  nil,
		"the same budget is set":      nil,
	}
	for name, change := range goesOn {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := begun(t, 50)
			first := c.exhausted(t)
			c.decideIn(t, c.owner, reject(""))
			c.wantStatus(t, models.ConversationRunning)
			for range 2 {
				e := wantUnchanged(t, c.Store, models.CodeBudgetExhausted, func() error {
					return second(c.tryRespond(t, models.ResponseInput{Kind: models.KindReply, Content: "x", Energy: new(int64(1000))}))
				})
				if e.Approval == nil || e.Approval.ID != first.ID || e.Approval.Status() != models.StatusRejected {
					t.Errorf("the refusal names %+v", e.Approval)
				}
			}
			e := wantUnchanged(t, c.Store, models.CodeAlreadyDecided, func() error { return second(c.ChangeBudget(t.Context(), c.agent, c.conv, set(900), "")) })
			if e.Approval == nil || e.Approval.ID != first.ID {
				t.Errorf("the refusal names %+v", e.Approval)
			}
			switch {
			case change != nil:
				change(t, c)
				if again := c.exhausted(t); again.ID == first.ID || again.Status() != models.StatusPending {
					t.Errorf("asked again: %+v", again)
				}
				return
			case strings.HasPrefix(name, "an approval"):
				c.respond(t, models.ResponseInput{Kind: models.KindProposal, Content: "x", Energy: new(int64(0))})
				c.decideIn(t, c.owner, approve(""))
			case strings.HasPrefix(name, "an agent"):
				c.set(t, c.agent, 49)
			default:
				c.set(t, c.owner, 50)
			}
			if again := c.exhausted(t); again.ID != first.ID {
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
	c.policy(t, `{"auto_budget_increase":5}`)
	at := ledgerAt(t, c.Store)
	r := c.change(t, c.agent, delta(3))
	if r.Approval == nil || r.Approval.Status() != models.StatusApproved || r.Approval.Cause != models.CausePolicy || r.Approval.DecidedBy != nil || *r.Budget.Total != 13 {
		t.Fatalf("a small increase: %+v, %+v", r, r.Approval)
	}
	owner := " " + string(c.owner.OwnerID)
	sameStrings(t, "recorded", actionsSince(t, c.Store, at), []string{"approval.requested" + owner, "approval.approved" + owner, "conversation.budget" + owner})
	c.wantStatus(t, models.ConversationRunning)
	if r := c.change(t, c.agent, delta(3)); r.Approval.Status() != models.StatusPending {
		t.Fatalf("6 in all: %s", r.Approval.Status())
	}
	c.decideIn(t, c.owner, reject("")) // a person has decided: it counts from here
	c.exhausted(t)
	c.say(t, "Go on.", nil)
	if r := c.change(t, c.agent, delta(5)); r.Approval.Status() != models.StatusApproved {
		t.Fatalf("after a person's decision: %s", r.Approval.Status())
	}
	if r := c.change(t, c.agent, delta(1)); r.Approval.Status() != models.StatusPending {
		t.Fatalf("one more: %s", r.Approval.Status())
	}
	// Approved with what stands: nothing changes, and yet a person has decided.
	in := yes()
	in.Input = []byte(`{"budget":18}`)
	a := c.change(t, c.agent, delta(1)).Approval
	mustDo(t, errOf(c.Decide(t.Context(), c.owner, a.ID, in)))
	c.wantBudget(t, 18, 1)
	// What an ask lacks is granted in the ask itself, no more than is allowed.
	c.respond(t, models.ResponseInput{Kind: models.KindReply, Content: "x", Energy: new(int64(20))})
	c.wantBudget(t, 23, 21)
	c.set(t, c.owner, 21)
	if e := refusal(t, second(c.tryRespond(t, models.ResponseInput{Kind: models.KindReply, Content: "x", Energy: new(int64(6))})), models.CodeBudgetExhausted); e.Approval.Status() != models.StatusPending {
		t.Errorf("more than is allowed: %+v", e.Approval)
	}
	steps, err := c.BudgetSteps(t.Context(), c.owner, c.conv, 0, 0)
	mustDo(t, err)
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
	c.policy(t, `{"auto_budget_increase":5,"rules":[{"name":"look","tools":["set_budget"],"effect":"require"}]}`)
	if r := c.change(t, c.agent, delta(1)); r.Approval.Status() != models.StatusPending {
		t.Fatalf("a rule wants a person: %s", r.Approval.Status())
	}
	c.decideIn(t, c.owner, reject(""))
	c.policy(t, `{"auto_budget_increase":5}`)
	c.set(t, c.agent, 9)
	wantCode(t, second(c.ChangeBudget(t.Context(), c.agent, c.conv, delta(5), "")), models.CodeAlreadyDecided)
	c.wantBudget(t, 9, 1)
	c.policy(t, `{"auto_budget_increase":5,"rules":[{"name":"never","tools":["set_budget"],"effect":"deny","reason":"no more"}]}`)
	c.set(t, c.owner, 10)
	r := c.change(t, c.agent, delta(1))
	if r.Approval.Status() != models.StatusRejected || r.Approval.Cause != models.CausePolicy || r.Approval.ApprovalFeedback != "no more" {
		t.Errorf("a rule denies: %+v", r.Approval)
	}
	c.wantBudget(t, 10, 1)
	if e := c.exhausted(t); e.ID != r.Approval.ID {
		t.Errorf("it is asked again: %+v", e)
	}
	for _, doc := range []string{`{"rules":[{"name":"yes","tools":["/.*/"],"effect":"allow"}]}`, `{"approval_enabled":false}`} {
		c.policy(t, doc)
		c.set(t, c.owner, 10+int64(len(doc)))
		if r := c.change(t, c.agent, delta(1)); r.Approval.Status() != models.StatusPending {
			t.Errorf("%s: %s", doc, r.Approval.Status())
		}
		c.decideIn(t, c.owner, reject(""))
	}
}

// TestI3AnExpiredBudgetRequestMakesRoom, written down or not.
func TestI3AnExpiredBudgetRequestMakesRoom(t *testing.T) {
	t.Parallel()
	for _, written := range []bool{true, false} {
		t.Run(fmt.Sprintf("written down: %v", written), func(t *testing.T) {
			t.Parallel()
			c := begun(t, 50)
			c.policy(t, `{"proposal_timeout_minutes":10}`)
			first := c.exhausted(t)
			c.wantStatus(t, models.ConversationWaitingInput)
			c.clock.Step(10 * time.Minute)
			if written {
				if n, err := c.ExpireDue(t.Context(), 10); n != 1 || err != nil {
					t.Fatalf("expired %d, %v", n, err)
				}
				c.wantStatus(t, models.ConversationRunning)
			}
			wantCode(t, third(c.DecideIn(t.Context(), c.owner, c.conv, approve(""))), models.CodeNoPendingApproval)
			wantCode(t, third(c.DecideIn(t.Context(), c.owner, c.conv, approve(first.ID))), models.CodeExpired)
			again := c.exhausted(t)
			if again.ID == first.ID || again.Status() != models.StatusPending {
				t.Errorf("asked again: %+v", again)
			}
			if got := c.approval(t, first.ID); got.Status() != models.StatusExpired || got.Cause != models.CauseTimeout {
				t.Errorf("the first: %+v", got)
			}
			c.wantStatus(t, models.ConversationWaitingInput)
			c.decideIn(t, c.owner, approve(""))
			c.wantStatus(t, models.ConversationRunning)
		})
	}
}

// TestABudgetGrantedOtherwiseSettlesTheRequest, so that whoever waits goes on.
func TestABudgetGrantedOtherwiseSettlesTheRequest(t *testing.T) {
	t.Parallel()
	c := begun(t, 50)
	a := c.exhausted(t)
	c.set(t, c.owner, 40)
	if got := c.approval(t, a.ID); got.Status() != models.StatusPending {
		t.Errorf("a lower budget made it %s", got.Status())
	}
	at := ledgerAt(t, c.Store)
	c.set(t, c.owner, 60)
	if got := c.approval(t, a.ID); got.Status() != models.StatusResolved || got.Cause != models.CauseElsewhere {
		t.Errorf("a higher budget made it %s, %s", got.Status(), got.Cause)
	}
	c.wantStatus(t, models.ConversationRunning)
	owner := " " + string(c.owner.OwnerID)
	entries := actionsSince(t, c.Store, at)
	slices.Sort(entries)
	sameStrings(t, "recorded", entries, []string{"approval.resolved" + owner, "conversation.budget" + owner, "conversation.status" + owner})
	// Beside a proposal the conversation waits on.
	a, p := c.exhausted(t), c.propose(t, "Shall I?")
	mustDo(t, errOf(c.Decide(t.Context(), c.owner, a.ID, no(""))))
	c.wantStatus(t, models.ConversationWaitingInput)
	mustDo(t, errOf(c.Decide(t.Context(), c.owner, p.ID, yes())))
	c.wantStatus(t, models.ConversationRunning)
}

func TestAnAgentWithdrawsItsBudgetRequest(t *testing.T) {
	t.Parallel()
	c := begun(t, 50)
	a := c.exhausted(t)
	mustDo(t, errOf(c.Cancel(t.Context(), c.agent, a.ID)))
	c.wantStatus(t, models.ConversationRunning)
	if again := c.exhausted(t); again.ID == a.ID {
		t.Error("the withdrawn one stands")
	}
}

func TestBudgetStepsPageNewestFirst(t *testing.T) {
	t.Parallel()
	c := begun(t, 0)
	for n := range int64(9) {
		c.set(t, c.owner, n+1)
	}
	var got []int64
	for before := int64(0); ; {
		steps, err := c.BudgetSteps(t.Context(), c.owner, c.conv, before, 4)
		mustDo(t, err)
		for _, s := range steps {
			got = append(got, s.New)
			before = s.Sequence
		}
		if len(steps) < 4 {
			break
		}
	}
	if !slices.Equal(got, []int64{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}) {
		t.Errorf("steps = %v", got)
	}
}

func TestEnergyOfIsThinnedAndAddsUp(t *testing.T) {
	t.Parallel()
	c := begun(t, 1000)
	for n := range int64(40) {
		c.clock.Step(time.Second)
		c.respond(t, models.ResponseInput{Kind: models.KindReply, Content: "x", Energy: &n})
		if n == 20 {
			c.set(t, c.owner, 2000)
		}
	}
	want := c.view(t).EnergyUsed
	for _, most := range []int{1, 2, 7, 40, 43, 44, 1000} {
		points, err := c.EnergyOf(t.Context(), c.owner, c.conv, most)
		mustDo(t, err)
		if len(points) == 0 || len(points) > most {
			t.Fatalf("%d points, at most %d", len(points), most)
		}
		last := models.EnergyPoint{}
		for i, p := range points {
			if p.Sequence <= last.Sequence || p.Used < last.Used || p.At.Before(last.At) || (i > 0 && p.Budget == nil) {
				t.Errorf("at most %d: %+v after %+v", most, p, last)
			}
			last = p
		}
		if last.Used != want || last.Budget == nil || *last.Budget != 2000 {
			t.Errorf("at most %d: it ends with %+v, want %d used", most, last, want)
		}
	}
	shares, err := c.EnergyBy(t.Context(), c.owner, c.conv, 10)
	mustDo(t, err)
	if len(shares) != 1 || shares[0].Kind != models.KindReply || shares[0].Count != 40 || shares[0].Energy != want {
		t.Errorf("shares: %+v; want %d", shares, want)
	}
}
