package store_test

import (
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
	c.Replies(t, "Hello.")
	storetest.WantUnchanged(t, c.Store, models.CodeNoBudget, func() error { return second(c.ChangeBudget(t.Context(), c.Agent, c.Conv, delta(5), "")) })
	if r := c.ChangesBudget(t, c.Agent, set(50)); r.Approval != nil || *r.Budget.Total != 50 {
		t.Errorf("set where none stands: %+v", r)
	}
	if r := c.ChangesBudget(t, c.Agent, set(40)); r.Approval != nil || *r.Budget.Total != 40 {
		t.Errorf("lowered: %+v", r)
	}
	if r := c.ChangesBudget(t, c.Agent, delta(-10)); r.Approval != nil || *r.Budget.Total != 30 {
		t.Errorf("lowered by a step: %+v", r)
	}
	storetest.WantUnchanged(t, c.Store, "", func() error { return storetest.Err(c.ChangeBudget(t.Context(), c.Agent, c.Conv, set(30), "")) })
	r := c.ChangesBudget(t, c.Agent, delta(45))
	if r.Approval == nil || r.Approval.Status() != models.StatusPending || r.Approval.ToolInputJSON != `{"budget":75}` || *r.Budget.Total != 30 {
		t.Fatalf("raised: %+v, %+v", r, r.Approval)
	}
	if a := c.Reads(t, r.Approval.ID); a.Kind != models.KindBudget || a.Energy != 0 || a.HasDeadline() || a.ToolName != models.ToolSetBudget || a.Description == "" {
		t.Errorf("the request: %+v", a)
	}
	c.WantStatus(t, models.ConversationWaitingInput)
	// One waits, and a wish for another budget is not swallowed.
	e := storetest.WantUnchanged(t, c.Store, models.CodeKeyConflict, func() error { return second(c.ChangeBudget(t.Context(), c.Agent, c.Conv, set(900), "")) })
	if e.Approval == nil || e.Approval.ID != r.Approval.ID || !strings.Contains(e.Text, "75") {
		t.Errorf("another wish: %+v", e)
	}
	storetest.WantUnchanged(t, c.Store, "", func() error {
		again, err := c.ChangeBudget(t.Context(), c.Agent, c.Conv, set(75), "")
		if err == nil && again.Approval.ID != r.Approval.ID {
			t.Errorf("a second request: %+v", again.Approval)
		}
		return err
	})
	if r := c.ChangesBudget(t, c.Agent, delta(-100)); r.Approval != nil || *r.Budget.Total != 0 {
		t.Errorf("lowered below nothing: %+v", r)
	}
	c.DecidesIn(t, c.Owner, storetest.Approving(""))
	c.WantBudget(t, 75, 1)
	c.WantStatus(t, models.ConversationRunning)
}

func TestChangeBudgetRefuses(t *testing.T) {
	t.Parallel()
	c := begun(t, 50)
	sibling, _ := storetest.AgentToken(t, c.Store, c.Owner, "sibling")
	for _, tt := range []struct {
		name   string
		who    models.Actor
		conv   models.ConversationID
		change models.BudgetChange
		reason string
		code   models.Code
		field  string
	}{
		{"a stranger", c.Stranger, c.Conv, set(5), "", models.CodeNotFound, ""},
		{"a stranger's agent", c.Other, c.Conv, set(5), "", models.CodeNotFound, ""},
		{"another agent of the owner", sibling, c.Conv, set(5), "", models.CodeNotFound, ""},
		{"the operator", storetest.Operator(), c.Conv, set(5), "", models.CodeNotFound, ""},
		{"nobody", models.Actor{}, c.Conv, set(5), "", models.CodeNotFound, ""},
		{"no such conversation", c.Admin, models.NewID[models.ConversationID](), set(5), "", models.CodeNotFound, ""},
		{"a negative one", c.Owner, c.Conv, set(-1), "", models.CodeInvalid, "budget"},
		{"a negative one by an agent", c.Agent, c.Conv, set(-1), "", models.CodeInvalid, "budget"},
		{"an absurd one", c.Agent, c.Conv, set(math.MaxInt64), "", models.CodeInvalid, "budget"},
		{"an absurd step", c.Agent, c.Conv, delta(math.MinInt64), "", models.CodeInvalid, "delta"},
		{"a step too far", c.Owner, c.Conv, delta(models.MaxBudget), "", models.CodeInvalid, "delta"},
		{"both", c.Owner, c.Conv, models.BudgetChange{Set: new(int64(1)), Delta: new(int64(1))}, "", models.CodeInvalid, "delta"},
		{"neither", c.Owner, c.Conv, models.BudgetChange{}, "", models.CodeInvalid, "budget"},
		{"a long reason", c.Owner, c.Conv, set(5), strings.Repeat("x", models.MaxReason+1), models.CodeInvalid, "reason"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := storetest.WantUnchanged(t, c.Store, tt.code, func() error { return second(c.ChangeBudget(t.Context(), tt.who, tt.conv, tt.change, tt.reason)) })
			if tt.field != "" && e.Fields[tt.field] == "" {
				t.Errorf("fields %v, want %s", e.Fields, tt.field)
			}
		})
	}
}

func TestABudgetRequestIsDecidedLikeAToolCall(t *testing.T) {
	t.Parallel()
	edited := func(input string) models.DecisionInput {
		in := storetest.Yes()
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
		{"approved", storetest.Yes(), 90, ""},
		{"approved with another sum", edited(`{"budget": 60}`), 60, ""},
		{"approved with less than stands", edited(`{"budget":0}`), 0, ""},
		{"approved with what stands", edited(`{"budget":50}`), 50, ""},
		{"approved with a new budget", with(storetest.Yes(), set(100)), 100, ""},
		{"approved with a step", with(storetest.Yes(), delta(-10)), 40, ""},
		{"rejected", storetest.No("no"), 50, ""},
		{"rejected with a new budget", with(storetest.No("less"), set(55)), 55, ""},
		{"rejected with a step", with(storetest.No("less"), delta(5)), 55, ""},
		{"edited and a new budget", with(edited(`{"budget":60}`), set(70)), 0, models.CodeInvalid},
		{"a negative sum", edited(`{"budget":-1}`), 0, models.CodeInvalid},
		{"an absurd sum", edited(`{"budget":1e15}`), 0, models.CodeInvalid},
		{"no sum", edited(`{}`), 0, models.CodeInvalid},
		{"a word", edited(`{"budget":"much"}`), 0, models.CodeInvalid},
		{"another member", edited(`{"budget":60,"forever":true}`), 0, models.CodeInvalid},
		{"both", with(storetest.Yes(), models.BudgetChange{Set: new(int64(1)), Delta: new(int64(1))}), 0, models.CodeInvalid},
		{"an absurd step", with(storetest.Yes(), delta(math.MaxInt64)), 0, models.CodeInvalid},
		{"an answer", models.DecisionInput{Answer: new("90")}, 0, models.CodeWrongDecisionKind},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := begun(t, 50)
			a := c.ChangesBudget(t, c.Agent, set(90)).Approval
			if tt.code != "" {
				storetest.WantUnchanged(t, c.Store, tt.code, func() error { return second(c.Decide(t.Context(), c.Owner, a.ID, tt.in)) })
				return
			}
			storetest.Must(t, storetest.Err(c.Decide(t.Context(), c.Owner, a.ID, tt.in)))
			c.WantBudget(t, tt.want, 1)
			c.WantStatus(t, models.ConversationRunning)
			steps, err := c.Requests.BudgetSteps(t.Context(), c.Owner, c.Conv, 0, 0)
			storetest.Must(t, err)
			if last := steps[0]; tt.want != 50 && (last.New != tt.want || *last.Old != 50 || last.ActorID != c.Owner.ID || last.ResponseID == nil || *last.ResponseID != a.ID || last.Reason != tt.in.Reason) {
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
		a := c.Proposes(t, "Shall I?")
		d := models.ConversationDecision{Approved: &approved, Budget: set(100), Feedback: "because"}
		at := storetest.LedgerAt(t, c.Store)
		got := c.DecidesIn(t, c.Owner, d)
		if got.ID != a.ID || (got.Status() == models.StatusApproved) != approved {
			t.Errorf("decided: %+v", got)
		}
		c.WantBudget(t, 100, 2)
		owner, outcome := " "+string(c.Owner.OwnerID), map[bool]string{true: "approval.approved", false: "approval.rejected"}[approved]
		entries := storetest.ActionsSince(t, c.Store, at)
		slices.Sort(entries)
		storetest.SameStrings(t, "recorded", entries, []string{outcome + owner, "conversation.budget" + owner})
	}
	c := newTalk(t)
	c.Proposes(t, "Shall I?")
	d := models.ConversationDecision{Approved: new(true), Budget: delta(50)}
	storetest.WantUnchanged(t, c.Store, models.CodeNoBudget, func() error { return storetest.Err3(c.DecideIn(t.Context(), c.Owner, c.Conv, d)) })
}

func TestWhoMayChangeTheBudgetWithAVerdict(t *testing.T) {
	t.Parallel()
	c := begun(t, 50)
	c.UsePolicy(t, `{"rules":[{"name":"route","tools":["respond_with_approval","set_budget"],"effect":"require","reviewers":["stranger@example.com"]}]}`)
	noAdmin := c.Admin
	noAdmin.Admin = false
	a, raise := c.Proposes(t, "Shall I?"), c.ChangesBudget(t, c.Agent, set(90)).Approval
	d := models.ConversationDecision{Approved: new(true), ResponseID: a.ID, Budget: set(70)}
	storetest.WantUnchanged(t, c.Store, models.CodeForbidden, func() error { return storetest.Err3(c.DecideIn(t.Context(), c.Stranger, c.Conv, d)) })
	storetest.WantUnchanged(t, c.Store, models.CodeNotFound, func() error { return storetest.Err3(c.DecideIn(t.Context(), noAdmin, c.Conv, d)) })
	for _, nameless := range []models.ConversationDecision{storetest.Approving(""), {Budget: set(5)}} {
		storetest.WantUnchanged(t, c.Store, models.CodeNotFound, func() error { return storetest.Err3(c.DecideIn(t.Context(), c.Stranger, c.Conv, nameless)) })
	}
	storetest.WantUnchanged(t, c.Store, models.CodeForbidden, func() error { return storetest.Err3(c.DecideIn(t.Context(), c.Agent, c.Conv, d)) })
	in := storetest.Yes()
	in.Budget = set(70)
	storetest.WantUnchanged(t, c.Store, models.CodeForbidden, func() error { return second(c.Decide(t.Context(), c.Stranger, a.ID, in)) })
	// Whoever it was routed to decides what the request asks for.
	c.DecidesIn(t, c.Stranger, storetest.Approving(a.ID))
	in.Budget, in.Input = models.BudgetChange{}, []byte(`{"budget":60}`)
	storetest.Must(t, storetest.Err(c.Decide(t.Context(), c.Stranger, raise.ID, in)))
	c.WantBudget(t, 60, 2)
	// An admin decides and changes all.
	c.Proposes(t, "And now?")
	c.DecidesIn(t, c.Admin, models.ConversationDecision{Approved: new(false), Budget: delta(-60)})
	c.WantBudget(t, 0, 3)
}

// TestDecideInTellsAStrangerNothing: of a conversation that is there no more than
// of one that is not.
func TestDecideInTellsAStrangerNothing(t *testing.T) {
	t.Parallel()
	c := newTalk(t)
	a := c.Proposes(t, "Shall I?")
	there := storetest.WantUnchanged(t, c.Store, models.CodeNotFound, func() error {
		return storetest.Err3(c.DecideIn(t.Context(), c.Stranger, c.Conv, storetest.Approving(a.ID)))
	})
	nowhere := storetest.WantUnchanged(t, c.Store, models.CodeNotFound, func() error {
		return storetest.Err3(c.DecideIn(t.Context(), c.Stranger, models.NewID[models.ConversationID](), storetest.Approving(a.ID)))
	})
	if there.Text != nowhere.Text {
		t.Errorf("%q and %q", there.Text, nowhere.Text)
	}
}

func TestBudgetStepsPageNewestFirst(t *testing.T) {
	t.Parallel()
	c := begun(t, 0)
	for n := range int64(9) {
		c.SetsBudget(t, c.Owner, n+1)
	}
	var got []int64
	for before := int64(0); ; {
		steps, err := c.Requests.BudgetSteps(t.Context(), c.Owner, c.Conv, before, 4)
		storetest.Must(t, err)
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
		c.Clock.Step(time.Second)
		c.Responds(t, models.ResponseInput{Kind: models.KindReply, Content: "x", Energy: &n})
		if n == 20 {
			c.SetsBudget(t, c.Owner, 2000)
		}
	}
	want := c.View(t).EnergyUsed
	for _, most := range []int{1, 2, 7, 40, 43, 44, 1000} {
		points, err := c.EnergyOf(t.Context(), c.Owner, c.Conv, most)
		storetest.Must(t, err)
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
	shares, err := c.EnergyBy(t.Context(), c.Owner, c.Conv, 10)
	storetest.Must(t, err)
	if len(shares) != 1 || shares[0].Kind != models.KindReply || shares[0].Count != 40 || shares[0].Energy != want {
		t.Errorf("shares: %+v; want %d", shares, want)
	}
}

// What a long conversation has spent is read from its last entries: the sums are those of all,
// and the budget is the one that stood.
func TestEnergyOfALongConversation(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	agent, id := long(t, s, longHistory)
	v, err := s.Requests.Conversation(t.Context(), agent, id)
	storetest.Must(t, err)
	const read, each = 2000, 11
	for _, most := range []int{1, 7, 200} {
		points, err := s.EnergyOf(t.Context(), agent, id, most)
		storetest.Must(t, err)
		if len(points) == 0 || len(points) > most {
			t.Fatalf("%d points, at most %d", len(points), most)
		}
		if last := points[len(points)-1]; last.Used != v.EnergyUsed || last.Sequence != longHistory || *last.Budget != longHistory/30*30+1 {
			t.Errorf("it ends with %+v, budget %d; %d are used", last, *last.Budget, v.EnergyUsed)
		}
		if most != 200 {
			continue
		}
		// Two in three entries cost one unit, and every thirtieth changes the budget.
		first := points[0]
		if begin := int64(longHistory + 1 - read); first.Sequence != begin+each-1 || first.Used < begin*2/3 || first.Used > (begin+each)*2/3 || *first.Budget != first.Sequence/30*30+1 {
			t.Errorf("it begins with %+v, budget %d", first, *first.Budget)
		}
	}
	shares, err := s.EnergyBy(t.Context(), agent, id, 50)
	storetest.Must(t, err)
	if len(shares) != 2 || shares[0].Kind != models.KindReply || shares[0].Count > read || shares[1].Before != longHistory+1-read || shares[0].Energy+shares[1].Energy != v.EnergyUsed {
		t.Errorf("shares: %+v; %d are used", shares, v.EnergyUsed)
	}
}
