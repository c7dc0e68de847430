package runs_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/runs"
	"countersign/models/store"
	"countersign/models/storetest"
)

func toolCall(conv models.ConversationID, name, rest string) models.TurnCall {
	return models.TurnCall{ID: "call_" + name, Name: name, Arguments: `{"requestId":"` + string(conv) + `",` + rest + `}`}
}

func TestARunIsClaimedByOneAndTakenOverWhenItsLeaseRunsOut(t *testing.T) {
	t.Parallel()
	b := storetest.NewBench(t)
	if storetest.Claim(t, b.Store, "one") != nil {
		t.Fatal("a run without a conversation")
	}
	conv := b.Begins(t, "Hello", nil)
	first := storetest.Claim(t, b.Store, "one")
	if first == nil || first.ConversationID != conv.ID || first.OwnerID != b.Owner.OwnerID || first.Lease != 1 {
		t.Fatalf("claimed %+v", first)
	}
	if storetest.Claim(t, b.Store, "two") != nil {
		t.Fatal("claimed twice")
	}
	b.Clock.Step(storetest.RunLease - time.Second)
	if err := b.RenewRun(t.Context(), first, storetest.RunLease); err != nil {
		t.Fatalf("renew: %v", err)
	}
	b.Clock.Step(storetest.RunLease - time.Second)
	if storetest.Claim(t, b.Store, "two") != nil {
		t.Fatal("claimed although it was renewed")
	}
	if next, some, err := b.NextRun(t.Context()); err != nil || !some || !next.Equal(b.Clock.Now().Add(time.Second)) {
		t.Errorf("the next run is at %v, %v, %v; want the end of the lease", next, some, err)
	}
	b.Clock.Step(time.Second)
	heir := storetest.Claim(t, b.Store, "two")
	if heir == nil || heir.Lease != 2 {
		t.Fatalf("taken over as %+v", heir)
	}
	storetest.Refused(t, b.RenewRun(t.Context(), first, storetest.RunLease), models.CodeConflict)
	storetest.Refused(t, b.CheckRun(t.Context(), first), models.CodeConflict)
	storetest.Refused(t, storetest.Err(b.RunContext(t.Context(), first)), models.CodeConflict)
	storetest.Refused(t, storetest.Err(b.ReserveEnergy(t.Context(), first, 1)), models.CodeConflict)
	before := storetest.Dump(t, b.Store)
	storetest.Refused(t, storetest.Err(b.StoreTurn(t.Context(), first, models.TurnInput{Content: "late", Context: &models.RunContext{}})), models.CodeConflict)
	storetest.Refused(t, b.RestRun(t.Context(), first, "late", true), models.CodeConflict)
	if err := b.ReleaseRun(t.Context(), first); err != nil {
		t.Errorf("release of what is lost: %v", err)
	}
	if storetest.Dump(t, b.Store) != before {
		t.Error("one that lost its lease has changed something")
	}
	if err := b.ReleaseRun(t.Context(), heir); err != nil {
		t.Fatal(err)
	}
	if storetest.Claim(t, b.Store, "one") == nil {
		t.Error("what was given back is not ready")
	}
}

func TestManyHoldersOfTwoProcessesClaimEachRunOnce(t *testing.T) {
	t.Parallel()
	const conversations, holders = 20, 16
	dir := storetest.Dir(t)
	one, two := storetest.New(t, storetest.WithDir(dir)), storetest.New(t, storetest.WithDir(dir))
	owner := storetest.Reviewer(t, one, "owner@example.com")
	for i := range conversations {
		if _, err := runs.New(one).Say(t.Context(), owner, models.MessageInput{Content: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	var claiming sync.WaitGroup
	var mu sync.Mutex
	got := map[models.ConversationID]int{}
	for i := range holders {
		s := []*store.Store{one, two}[i%2]
		claiming.Go(func() {
			for {
				run, err := runs.New(s).ClaimRun(t.Context(), fmt.Sprint(i), storetest.RunLease)
				if err != nil {
					t.Errorf("claim: %v", err)
				}
				if run == nil {
					return
				}
				mu.Lock()
				got[run.ConversationID]++
				mu.Unlock()
			}
		})
	}
	claiming.Wait()
	if len(got) != conversations {
		t.Errorf("%d conversations were claimed, want %d", len(got), conversations)
	}
	for id, n := range got {
		if n != 1 {
			t.Errorf("%s was claimed %d times", id, n)
		}
	}
}

func TestDyingAnywhereInATurnStoresNothingTwice(t *testing.T) {
	t.Parallel()
	for died, until := range map[string]int{"after the claim": 0, "after reading": 1, "after reserving": 2, "after storing": 3} {
		t.Run(died, func(t *testing.T) {
			t.Parallel()
			b := storetest.NewBench(t)
			conv := b.Begins(t, "Say it once", new(int64(10)))
			in := models.TurnInput{Model: "m", Content: "Once.", Energy: 4}
			run := storetest.Claim(t, b.Store, "dead")
			if until > 0 {
				var err error
				if in.Context, err = b.RunContext(t.Context(), run); err != nil {
					t.Fatal(err)
				}
			}
			if until > 1 {
				if fits, err := b.ReserveEnergy(t.Context(), run, 10); err != nil || !fits {
					t.Fatalf("reserve: %v, %v", fits, err)
				}
			}
			if until > 2 {
				if _, err := b.StoreTurn(t.Context(), run, in); err != nil {
					t.Fatal(err)
				}
			}
			b.Clock.Step(storetest.RunLease)
			if next := storetest.Claim(t, b.Store, "heir"); next != nil {
				if until == 3 {
					t.Error("a turn that was stored is made again")
				}
				if v := b.ReadConversation(t, conv.ID); v.EnergyReserved != 0 {
					t.Errorf("%d are still reserved by the dead", v.EnergyReserved)
				}
				b.TurnsOf(t, next, in)
			} else if until < 3 {
				t.Error("a turn that was not stored is lost")
			}
			v := b.ReadConversation(t, conv.ID)
			history, err := b.Requests.History(t.Context(), b.Owner, conv.ID, requests.HistoryQuery{})
			replies := 0
			for _, e := range history.Entries {
				if e.Response != nil {
					replies++
				}
			}
			if err != nil || replies != 1 || v.EnergyUsed != 4 || v.EnergyReserved != 0 || v.Status != models.ConversationCompleted {
				t.Errorf("%d replies, used %d, reserved %d, %s, %v", replies, v.EnergyUsed, v.EnergyReserved, v.Status, err)
			}
		})
	}
}

func TestConcurrentRunsNeverOverspendOneBudget(t *testing.T) {
	t.Parallel()
	const holders, budget, worst = 64, 50, 7
	dir := storetest.Dir(t)
	s := storetest.New(t, storetest.WithDir(dir))
	owner := storetest.Reviewer(t, s, "owner@example.com")
	out, err := runs.New(s).Say(t.Context(), owner, models.MessageInput{Content: "Go", EnergyBudget: new(int64(budget))})
	if err != nil {
		t.Fatal(err)
	}
	id := out.Conversation.ID
	// turn claims the run and tries one turn; it says whether there was a run to claim.
	turn := func(holder string) bool {
		run, err := runs.New(s).ClaimRun(t.Context(), holder, time.Nanosecond) // every lease has run out at once
		if err != nil || run == nil {
			if err != nil {
				t.Errorf("claim: %v", err)
			}
			return false
		}
		seen, err := runs.New(s).RunContext(t.Context(), run)
		if models.ErrorCode(err) == models.CodeConflict {
			return true
		}
		if err != nil {
			t.Errorf("read: %v", err)
			return false
		}
		fits, err := runs.New(s).ReserveEnergy(t.Context(), run, worst)
		if v, err := s.Requests.Conversation(t.Context(), owner, id); err != nil || v.EnergyUsed+v.EnergyReserved > budget {
			t.Errorf("%d used and %d reserved of %d, %v", v.EnergyUsed, v.EnergyReserved, budget, err)
		}
		if !fits || err != nil {
			return true
		}
		_, err = runs.New(s).StoreTurn(t.Context(), run, models.TurnInput{
			Model: "m", Energy: worst + 5, Context: seen, Calls: []models.TurnCall{toolCall(id, "fly", `"x":1`)},
		})
		if err != nil && models.ErrorCode(err) != models.CodeConflict {
			t.Errorf("store: %v", err)
		}
		return true
	}
	// They take the run from each other, so that most turns come to nothing: each tries a few
	// times, and one alone brings to its end what they left.
	var running sync.WaitGroup
	for i := range holders {
		running.Go(func() {
			for range 10 {
				if !turn(fmt.Sprint(i)) {
					return
				}
			}
		})
	}
	running.Wait()
	for range budget {
		if !turn("last") {
			break
		}
	}
	v, err := s.Requests.Conversation(t.Context(), owner, id)
	if err != nil || v.EnergyUsed != 49 || v.EnergyReserved != 0 || v.Status != models.ConversationWaitingInput {
		t.Errorf("used %d, reserved %d, %s, %v; want seven turns of 7, then a request", v.EnergyUsed, v.EnergyReserved, v.Status, err)
	}
}

func TestABudgetLoweredDuringACallIsNotPassed(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ budget, lowered, cost, want int64 }{
		"as reserved":         {50, 50, 10, 10},
		"more than reserved":  {50, 50, 30, 10},
		"less than reserved":  {50, 50, 3, 3},
		"lowered, some left":  {50, 4, 10, 4},
		"lowered, none left":  {50, 0, 10, 0},
		"lowered, still fits": {50, 20, 10, 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := storetest.NewBench(t)
			conv := b.Begins(t, "Go", &row.budget)
			run := storetest.Claim(t, b.Store, "one")
			seen, err := b.RunContext(t.Context(), run)
			if err != nil {
				t.Fatal(err)
			}
			if fits, err := b.ReserveEnergy(t.Context(), run, 10); err != nil || !fits {
				t.Fatalf("reserve: %v, %v", fits, err)
			}
			if _, err := b.ChangeBudget(t.Context(), b.Owner, conv.ID, models.BudgetChange{Set: &row.lowered}, ""); err != nil {
				t.Fatal(err)
			}
			if _, err := b.StoreTurn(t.Context(), run, models.TurnInput{Model: "m", Content: "Hello.", Energy: row.cost, Context: seen}); err != nil {
				t.Fatalf("store: %v", err)
			}
			v := b.ReadConversation(t, conv.ID)
			if v.EnergyUsed != row.want || v.EnergyReserved != 0 {
				t.Errorf("used %d, reserved %d; want %d, 0", v.EnergyUsed, v.EnergyReserved, row.want)
			}
		})
	}
}

// TestApprovalRequestsAreAddedUpdatedAndFound walks through the four operations
// of the agent's inbox: a request is added, found as pending, found as the latest
// pending, and updated by a decision.
func TestApprovalRequestsAreAddedUpdatedAndFound(t *testing.T) {
	t.Parallel()
	b := storetest.NewBench(t)
	conv := b.Begins(t, "Go", new(int64(100)))
	turn := b.Turns(t, models.TurnInput{Model: "m", Energy: 4, Calls: []models.TurnCall{
		toolCall(conv.ID, models.ToolRespondWithApproval, `"content":"first","energyBudget":70`),
		toolCall(conv.ID, models.ToolRespondWithApproval, `"content":"second"`),
		toolCall(conv.ID, models.ToolAdjustBudget, `"delta":20`),
	}})
	first, second, budget := turn.Calls[0].ResponseID, turn.Calls[1].ResponseID, turn.Calls[2].ResponseID
	pending := func(want ...models.ResponseID) {
		t.Helper()
		list, err := b.Requests.Approvals(t.Context(), b.Owner, requests.ListQuery{Conversation: conv.ID, Status: models.StatusPending})
		if err != nil || len(list.Items) != len(want) {
			t.Fatalf("%d pending, %v; want %d", len(list.Items), err, len(want))
		}
		for i, id := range want {
			if list.Items[i].ID != id {
				t.Errorf("pending %d is %s %q", i, list.Items[i].Kind, list.Items[i].Content)
			}
		}
	}
	pending(budget, second, first)
	a, err := b.Requests.Approval(t.Context(), b.Owner, first)
	if err != nil || a.Kind != models.KindProposal || a.Content != "first" || *a.EnergyBudget != 70 || a.Energy != 4 || a.ModelUsed != "m" {
		t.Fatalf("the request is %+v, %v", a, err)
	}
	if v := b.ReadConversation(t, conv.ID); *v.EnergyBudget != 100 || v.Status != models.ConversationWaitingInput {
		t.Errorf("budget %d, %s: what a proposal wishes is not applied", *v.EnergyBudget, v.Status)
	}
	for _, step := range []struct {
		approved bool
		decided  models.ResponseID
		left     []models.ResponseID
		budget   int64
	}{
		{true, budget, []models.ResponseID{second, first}, 120},
		{false, second, []models.ResponseID{first}, 120},
		{true, first, nil, 120},
	} {
		b.Clock.Step(time.Second)
		a, conv, err := b.DecideIn(t.Context(), b.Owner, conv.ID, models.ConversationDecision{Approved: &step.approved, Feedback: "so be it"})
		if err != nil || a.ID != step.decided || a.Feedback() != "so be it" || a.ApprovalTimestamp == nil {
			t.Fatalf("decided %+v, %v", a, err)
		}
		pending(step.left...)
		if *conv.EnergyBudget != step.budget {
			t.Errorf("the budget is %d, want %d", *conv.EnergyBudget, step.budget)
		}
	}
	_, _, err = b.DecideIn(t.Context(), b.Owner, conv.ID, models.ConversationDecision{Approved: new(true)})
	storetest.Refused(t, err, models.CodeNoPendingApproval)
	if v := b.ReadConversation(t, conv.ID); v.Status != models.ConversationRunning {
		t.Errorf("the conversation is %s: nothing is pending any more", v.Status)
	}
	if storetest.Claim(t, b.Store, "one") == nil {
		t.Error("the run does not go on")
	}
}

func TestAContextIsBoundedAndKeepsItsTurnsWhole(t *testing.T) {
	t.Parallel()
	b := storetest.NewBench(t)
	conv := b.Begins(t, "word 0", nil)
	for i := range 120 {
		if i > 0 {
			if _, err := b.Say(t.Context(), b.Owner, models.MessageInput{ConversationID: conv.ID, Content: fmt.Sprintf("word %d", i)}); err != nil {
				t.Fatal(err)
			}
		}
		b.Turns(t, models.TurnInput{Model: "m", Content: fmt.Sprintf("answer %d", i), Energy: 1})
	}
	if _, err := b.Say(t.Context(), b.Owner, models.MessageInput{ConversationID: conv.ID, Content: "last"}); err != nil {
		t.Fatal(err)
	}
	c, err := b.RunContext(t.Context(), storetest.Claim(t, b.Store, "one"))
	if err != nil {
		t.Fatal(err)
	}
	if !c.Earlier || len(c.Messages) > 100 || len(c.Turns) > 100 || len(c.Turns) < 90 {
		t.Errorf("earlier %v, %d messages, %d turns", c.Earlier, len(c.Messages), len(c.Turns))
	}
	if c.Messages[0].Sequence > c.Turns[len(c.Turns)-1].Sequence || c.Messages[len(c.Messages)-1].Content != "last" || !c.Unread() {
		t.Error("the context does not end with the last words")
	}
	if c.Read != c.Messages[len(c.Messages)-1].Sequence {
		t.Errorf("read up to %d, want %d", c.Read, c.Messages[len(c.Messages)-1].Sequence)
	}
}

func TestAnOutcomeBetweenReadingAndRestingIsNotLost(t *testing.T) {
	t.Parallel()
	b := storetest.NewBench(t)
	conv := b.Begins(t, "Go", new(int64(100)))
	b.Turns(t, models.TurnInput{Model: "m", Calls: []models.TurnCall{toolCall(conv.ID, models.ToolRespondWithApproval, `"content":"first"`)}})
	if _, err := b.ChangeBudget(t.Context(), b.Owner, conv.ID, models.BudgetChange{Set: new(int64(90))}, ""); err != nil {
		t.Fatal(err)
	}
	run := storetest.Claim(t, b.Store, "one")
	seen, err := b.RunContext(t.Context(), run)
	if err != nil || seen.Unread() || len(seen.Pending) != 1 {
		t.Fatalf("unread %v, %d pending, %v", seen.Unread(), len(seen.Pending), err)
	}
	if _, _, err := b.DecideIn(t.Context(), b.Owner, conv.ID, models.ConversationDecision{Approved: new(true)}); err != nil {
		t.Fatal(err)
	}
	if err := b.IdleRun(t.Context(), run, seen); err != nil {
		t.Fatal(err)
	}
	if v := b.ReadConversation(t, conv.ID); v.Status != models.ConversationRunning {
		t.Errorf("the conversation is %s", v.Status)
	}
	if storetest.Claim(t, b.Store, "one") == nil {
		t.Error("the outcome is not read")
	}
}
