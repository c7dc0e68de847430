package store_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/requests"
	"countersign/models/store"
	"countersign/models/storetest"
)

func TestI1OneOutcomeWhoeverRaces(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.AskFor(t, models.AskInput{})
	var won, lost atomic.Int32
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range 64 {
		wg.Go(func() {
			<-start
			in := storetest.Yes()
			if i%2 == 0 {
				in = storetest.No("no")
			}
			who := b.Owner
			if i%3 == 0 {
				who = b.Admin
			}
			got, err := b.Decide(context.WithoutCancel(t.Context()), who, a.ID, in)
			if err == nil {
				won.Add(1)
				return
			}
			e, ok := err.(*models.Error)
			if !ok || e.Code != models.CodeAlreadyDecided || e.Approval == nil || !e.Approval.Status().Final() || e.Approval.Vote == nil {
				t.Errorf("a loser got %v, %v", got, err)
			}
			lost.Add(1)
		})
	}
	close(start)
	wg.Wait()
	if won.Load() != 1 || lost.Load() != 63 {
		t.Errorf("%d won and %d lost, want 1 and 63", won.Load(), lost.Load())
	}
	trail, err := b.Requests.Trail(t.Context(), b.Owner, requests.TrailQuery{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	outcomes := 0
	for _, e := range trail.Entries {
		if e.ResponseID == a.ID && e.Action != "approval.requested" {
			outcomes++
		}
	}
	if outcomes != 1 {
		t.Errorf("the ledger has %d outcomes", outcomes)
	}
}

func TestI1ApproveAgainstExpiryNeverBoth(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	second := int64(1)
	for range 200 {
		a := b.AskFor(t, models.AskInput{TimeoutSeconds: &second})
		var wg sync.WaitGroup
		var decided error
		var expired int
		wg.Go(func() { b.Clock.Step(time.Second) })
		wg.Go(func() { _, decided = b.Decide(t.Context(), b.Owner, a.ID, storetest.Yes()) })
		wg.Go(func() { expired, _ = b.ExpireDue(t.Context(), 10) })
		wg.Wait()
		n, err := b.ExpireDue(t.Context(), 10)
		if err != nil {
			t.Fatal(err)
		}
		expired += n
		got, _ := b.Requests.Approval(t.Context(), b.Agent, a.ID)
		switch {
		case decided == nil && expired == 0 && got.Status() == models.StatusApproved:
		case models.ErrorCode(decided) == models.CodeExpired && expired == 1 && got.Status() == models.StatusExpired:
		default:
			t.Fatalf("decide said %v, %d expired, the row is %s", decided, expired, got.Status())
		}
	}
}

func TestADecisionBeforeTheWaitIsNeverMissed(t *testing.T) {
	t.Parallel()
	b := newBench(t, storetest.NoLimits)
	rounds := 10_000
	if testing.Short() {
		rounds = 500
	}
	var wg sync.WaitGroup
	work := make(chan int)
	for range 32 {
		wg.Go(func() {
			for range work {
				a, err := b.Ask(t.Context(), b.Agent, models.AskInput{ToolName: "Bash", Explicit: true})
				if err != nil {
					t.Errorf("ask: %v", err)
					continue
				}
				told := make(chan *models.Approval, 1)
				go func() {
					got, err := b.Await(t.Context(), b.Agent, a.ID, time.Minute)
					if err != nil {
						t.Errorf("wait: %v", err)
					}
					told <- got
				}()
				if _, err := b.Decide(t.Context(), b.Owner, a.ID, storetest.Yes()); err != nil {
					t.Errorf("decide: %v", err)
				}
				select {
				case got := <-told:
					if got == nil || got.Status() != models.StatusApproved {
						t.Errorf("told %v", got)
					}
				case <-time.After(time.Minute):
					t.Error("a waiter was not told")
				}
			}
		})
	}
	for i := range rounds {
		work <- i
	}
	close(work)
	wg.Wait()
}

func TestTenThousandWaitersAreAllTold(t *testing.T) {
	b := newBench(t, storetest.NoLimits)
	const n = 10_000
	before := runtime.NumGoroutine()
	ids := make([]models.ResponseID, n)
	var wg sync.WaitGroup
	for part := range 50 {
		wg.Go(func() {
			for i := part; i < n; i += 50 {
				a, err := b.Ask(t.Context(), b.Agent, models.AskInput{ToolName: "Bash", Explicit: true})
				if err != nil {
					t.Errorf("ask: %v", err)
					return
				}
				ids[i] = a.ID
			}
		})
	}
	wg.Wait()
	var told sync.WaitGroup
	for _, id := range ids {
		told.Go(func() {
			got, err := b.Await(t.Context(), b.Agent, id, 10*time.Minute)
			if err != nil || got.ID != id || got.Status() != models.StatusApproved {
				t.Errorf("%s: told %v, %v", id, got, err)
			}
		})
	}
	for b.Waiters() < n {
		runtime.Gosched()
	}
	for part := range 50 {
		wg.Go(func() {
			for i := part; i < n; i += 50 {
				if _, err := b.Decide(t.Context(), b.Owner, ids[i], storetest.Yes()); err != nil {
					t.Errorf("decide: %v", err)
				}
			}
		})
	}
	wg.Wait()
	told.Wait()
	if b.Waiters() != 0 {
		t.Errorf("%d waiters are left", b.Waiters())
	}
	for i := 0; runtime.NumGoroutine() > before+5 && i < 1_000_000; i++ {
		runtime.Gosched()
	}
	if after := runtime.NumGoroutine(); after > before+5 {
		t.Errorf("%d goroutines, %d before", after, before)
	}
}

func TestI2NobodyHearsBeforeTheCommit(t *testing.T) {
	t.Parallel()
	var hold atomic.Bool
	held, release := make(chan struct{}, 1), make(chan struct{})
	b := newBench(t, func(o *store.Options) {
		o.BeforeCommit = func() {
			if hold.Load() {
				held <- struct{}{}
				<-release
			}
		}
	})
	a := b.AskFor(t, models.AskInput{})
	topics := b.Bus().Subscribe(10, "inbox:admins", events.Approval(string(a.ID)))
	defer topics.Close()
	told, decided := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		if got, err := b.Await(t.Context(), b.Agent, a.ID, time.Minute); err != nil || got.Status() != models.StatusApproved {
			t.Errorf("told %v, %v", got, err)
		}
	}()
	for b.Waiters() == 0 {
		runtime.Gosched()
	}
	hold.Store(true)
	go func() {
		defer close(decided)
		if _, err := b.Decide(t.Context(), b.Owner, a.ID, storetest.Yes()); err != nil {
			t.Errorf("decide: %v", err)
		}
	}()
	<-held
	// The vote and the outcome are written, the commit is not: give everyone who
	// might have been told early the time to show it.
	select {
	case <-told:
		t.Error("the waiter was told before the commit")
	case <-decided:
		t.Error("the decider was told before the commit")
	case topic := <-topics.C:
		t.Errorf("the bus announced %s before the commit", topic)
	case <-time.After(200 * time.Millisecond):
	}
	if got, err := b.Requests.Approval(t.Context(), b.Agent, a.ID); err != nil || got.Status() != models.StatusPending {
		t.Errorf("a reader saw %v, %v before the commit", got, err)
	}
	hold.Store(false)
	close(release)
	<-told
	<-decided
}

func TestARevokedCredentialEndsItsWait(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.AskFor(t, models.AskInput{})
	failed := make(chan error, 1)
	go func() {
		_, err := b.Await(t.Context(), b.Agent, a.ID, time.Minute)
		failed <- err
	}()
	for b.Waiters() == 0 {
		runtime.Gosched()
	}
	if err := b.People.RevokeToken(t.Context(), storetest.Operator(), b.Agent.TokenID); err != nil {
		t.Fatal(err)
	}
	wantCode(t, <-failed, models.CodeUnauthenticated)
}

func TestEndWaitsReturnsWhatStands(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.AskFor(t, models.AskInput{})
	done := make(chan error, 1)
	go func() {
		got, err := b.Await(t.Context(), b.Agent, a.ID, time.Minute)
		if err == nil && got.Status() != models.StatusPending {
			err = fmt.Errorf("ended as %s", got.Status())
		}
		done <- err
	}()
	for b.Waiters() == 0 {
		runtime.Gosched()
	}
	b.EndWaits()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestI2ARevokedTokenHearsNoOutcomeThatCameWithIt: both are told to a wait that sleeps, and
// it must not be left to chance which of them it takes.
func TestI2ARevokedTokenHearsNoOutcomeThatCameWithIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for range 20 {
		actor, _ := storetest.AgentToken(t, b.Store, b.Owner, "agent")
		a, err := b.Ask(t.Context(), actor, models.AskInput{ToolName: "Bash", Input: []byte(`{}`), Explicit: true})
		if err != nil {
			t.Fatal(err)
		}
		w := b.Watch(t.Context(), actor, a.ID, time.Hour)
		if _, done, err := w.Look(t.Context()); done || err != nil {
			t.Fatalf("it is over: %v, %v", done, err)
		}
		if err := b.People.RevokeToken(t.Context(), b.Admin, actor.TokenID); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Decide(t.Context(), b.Owner, a.ID, storetest.Yes()); err != nil {
			t.Fatal(err)
		}
		told, err := w.Sleep(t.Context())
		if told != nil || err != nil {
			t.Fatalf("told %v, %v", told, err)
		}
		_, _, err = w.Look(t.Context())
		wantCode(t, err, models.CodeUnauthenticated)
		w.Close()
	}
}

// TestI14SixtyFourOnOneBudget: responses, proposals and asks at once never spend
// one unit too much and leave one budget request; with two servers on one folder
// too.
func TestI14SixtyFourOnOneBudget(t *testing.T) {
	t.Parallel()
	for _, servers := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d servers", servers), func(t *testing.T) {
			t.Parallel()
			const callers, each, budget = 64, 4, 101
			c := begun(t, budget, storetest.NoLimits)
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
					for n := range each {
						s, cost := stores[i%len(stores)], int64(1+(i+n)%3)
						var err error
						switch i % 3 {
						case 0:
							_, err = s.Ask(context.WithoutCancel(t.Context()), c.Agent, c.In(models.AskInput{ToolName: "Bash", Energy: &cost}))
						case 1:
							_, err = s.Respond(context.WithoutCancel(t.Context()), c.Agent, models.ResponseInput{ConversationID: c.Conv, Kind: models.KindReply, Content: "x", Energy: &cost})
						default:
							_, err = s.Respond(context.WithoutCancel(t.Context()), c.Agent, models.ResponseInput{ConversationID: c.Conv, Kind: models.KindProposal, Content: "x", Energy: &cost})
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
			v := c.View(t)
			sum := storetest.Scalar[int64](t, c.Store, `SELECT sum(energy) FROM responses WHERE conversation_id = ?`, c.Conv)
			if v.EnergyUsed > budget || v.EnergyUsed != stored.Load()+1 || sum != v.EnergyUsed {
				t.Errorf("%d used of %d; callers were told of %d, responses have %d", v.EnergyUsed, budget, stored.Load(), sum)
			}
			if v.EnergyUsed < budget-2 || refused.Load() == 0 {
				t.Errorf("only %d of %d used, %d refused", v.EnergyUsed, budget, refused.Load())
			}
			n := 0
			requests.Range(func(any, any) bool { n++; return true })
			if rows := storetest.Scalar[int](t, c.Store, `SELECT count(*) FROM responses WHERE kind = 'budget'`); n != 1 || rows != 1 {
				t.Errorf("%d budget requests are named, %d stand", n, rows)
			}
			if v.Status != models.ConversationWaitingInput {
				t.Errorf("the conversation is %s", v.Status)
			}
			if _, err := c.Ledger.Verify(t.Context(), nil); err != nil {
				t.Error(err)
			}
		})
	}
}
