package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/runs"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/workers"
	"countersign/workers/agent"
	"countersign/workers/llm"
)

// during has something happen while the model is asked.
func during(do func(), then reply) reply {
	return func(ctx context.Context, r llm.Request, told func(string, bool)) (*llm.Turn, error) {
		do()
		return then(ctx, r, told)
	}
}

// untilCancelled writes a little and then waits for the call to be cancelled, as
// a stream does that is given up.
func untilCancelled(began chan<- struct{}) reply {
	return func(ctx context.Context, _ llm.Request, told func(string, bool)) (*llm.Turn, error) {
		told("half a sen", false)
		close(began)
		<-ctx.Done()
		return nil, fmt.Errorf("the stream broke off: %w", ctx.Err())
	}
}

func TestWordsThatCameWhileTheModelSpokeAreAnsweredNext(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var id models.ConversationID
	b.model.turns = []reply{during(func() { b.say(id, "And the second?", nil) }, says("First."))}
	id = b.begin("The first?", nil)
	if n := b.run(); n != 2 {
		t.Errorf("%d turns, want 2", n)
	}
	turns := b.model.last(t).Turns
	if len(turns) != 3 || turns[1].Content != "First." || turns[2].Content != "And the second?" {
		t.Errorf("the second request shows %+v, want the late words last", turns)
	}
	b.status(id, models.ConversationCompleted)
}

func TestWordsThatCameWhileTheModelProposedDoNotWaitForTheDecision(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var id models.ConversationID
	b.model.turns = []reply{during(func() { b.say(id, "Wait, which logs?", nil) }, calls(proposes("delete"))), says("Those of March.")}
	id = b.begin("Clean up", nil)
	if n := b.run(); n != 2 {
		t.Errorf("%d turns, want 2", n)
	}
	r := b.model.last(t)
	mustContain(t, "the result", results(r)[0], `"status":"pending"`)
	if last := r.Turns[len(r.Turns)-1]; last.Content != "Wait, which logs?" {
		t.Errorf("the request ends with %+v", last)
	}
	b.status(id, models.ConversationWaitingInput)
}

func TestAnOutcomeThatCameWhileTheModelSpokeIsRead(t *testing.T) {
	t.Parallel()
	b := newBench(t, calls(proposes("delete")))
	id := b.begin("Clean up", nil)
	b.run()
	b.model.turns = []reply{during(func() { b.decide(id, models.ConversationDecision{Approved: new(true)}) }, says("Still waiting."))}
	b.say(id, "How is it going?", nil)
	if n := b.run(); n != 2 {
		t.Errorf("%d turns, want 2: the outcome is to be read", n)
	}
	r := b.model.last(t)
	mustContain(t, "the result", results(r)[0], `"status":"approved"`)
	if last := r.Turns[len(r.Turns)-1]; last.Role != llm.RoleUser {
		t.Errorf("the request ends with %s, want a note", last.Role)
	}
	b.status(id, models.ConversationCompleted)
}

func TestPauseAndStopEndACallAndItsResultIsNotStored(t *testing.T) {
	t.Parallel()
	for how, want := range map[models.Steering]models.ConversationStatus{
		models.SteerPause: models.ConversationRunning, models.SteerStop: models.ConversationFailed,
	} {
		t.Run(string(how), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			began := make(chan struct{})
			b.model.turns = []reply{untilCancelled(began)}
			id := b.begin("Write", new(int64(50)))
			done := make(chan struct{})
			go func() {
				defer close(done)
				b.run()
			}()
			<-began
			if text, model, ok := b.agent.Draft(id); !ok || text != "half a sen" || model != "test-model" {
				t.Errorf("draft = %q of %q, %v", text, model, ok)
			}
			if v := b.conversation(id); v.EnergyReserved != 3 {
				t.Errorf("%d reserved during the call, want 3", v.EnergyReserved)
			}
			if _, err := runs.New(b.store).Steer(t.Context(), b.person, id, how); err != nil {
				t.Fatal(err)
			}
			<-done
			if _, _, ok := b.agent.Draft(id); ok {
				t.Error("the draft is left behind")
			}
			v := b.conversation(id)
			if v.Status != want || v.EnergyUsed != 0 || v.EnergyReserved != 0 || len(b.history(id)) != 2 {
				t.Errorf("%s, used %d, reserved %d, %d entries", v.Status, v.EnergyUsed, v.EnergyReserved, len(b.history(id)))
			}
			if how == models.SteerPause {
				if _, err := runs.New(b.store).Steer(t.Context(), b.person, id, models.SteerResume); err != nil {
					t.Fatal(err)
				}
			} else {
				b.say(id, "Go on after all", nil)
			}
			b.run()
			b.status(id, models.ConversationCompleted)
			if n := len(b.responses(id, models.KindReply)); n != 1 {
				t.Errorf("%d replies after it went on, want 1", n)
			}
		})
	}
}

func TestAPausedConversationCanBeDecidedAndIsNotRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, calls(proposes("delete")))
	id := b.begin("Clean up", nil)
	b.run()
	if _, err := runs.New(b.store).Steer(t.Context(), b.person, id, models.SteerPause); err != nil {
		t.Fatal(err)
	}
	b.decide(id, models.ConversationDecision{Approved: new(true)})
	if n := b.run(); n != 0 {
		t.Errorf("%d turns while paused", n)
	}
	if _, some, err := runs.New(b.store).NextRun(t.Context()); some || err != nil {
		t.Errorf("a paused run is due: %v, %v", some, err)
	}
	if _, err := runs.New(b.store).Steer(t.Context(), b.person, id, models.SteerResume); err != nil {
		t.Fatal(err)
	}
	b.run()
	b.status(id, models.ConversationCompleted)
}

func TestStoppingTellsTheModelThatItsProposalWasCancelled(t *testing.T) {
	t.Parallel()
	b := newBench(t, calls(proposes("delete")))
	id := b.begin("Clean up", nil)
	b.run()
	if _, err := runs.New(b.store).Steer(t.Context(), b.person, id, models.SteerStop); err != nil {
		t.Fatal(err)
	}
	b.run()
	b.status(id, models.ConversationFailed)
	b.say(id, "Try again", nil)
	b.run()
	mustContain(t, "the result", results(b.model.last(t))[0], `"status":"cancelled"`, `"cause":"stopped"`)
}

func TestAnExpiryIsToldAsSuch(t *testing.T) {
	t.Parallel()
	b := newBench(t, calls(proposes("delete")))
	b.policy(`"proposal_timeout_minutes": 5`)
	id := b.begin("Clean up", nil)
	b.run()
	b.clock.Step(time.Hour)
	if _, err := b.store.ExpireDue(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	b.run()
	mustContain(t, "the result", results(b.model.last(t))[0], `"status":"expired"`, `"cause":"timeout"`, "timed out (5 minutes)")
	mustContain(t, "the history", b.model.last(t).Ephemeral, `- proposal "delete": expired, cause timeout`)
	b.status(id, models.ConversationCompleted)
}

func TestAPolicysWordIsToldAsSuch(t *testing.T) {
	t.Parallel()
	b := newBench(t, calls(proposes("delete")), calls(setsBudget(60)), calls(setsBudget(100)))
	b.policy(`"auto_budget_increase": 20, "rules": [{"name": "no proposals", "tools": ["respond_with_approval"], "effect": "deny", "reason": "not here"}]`)
	id := b.begin("Clean up", new(int64(50)))
	b.run()
	got := results(b.model.last(t))
	if len(got) != 2 {
		t.Fatalf("results = %q", got)
	}
	mustContain(t, "the proposal's result", got[0], `"status":"rejected"`, `"cause":"policy"`, "not here")
	mustContain(t, "the small raise's result", got[1], `"status":"approved"`, `"cause":"policy"`, `"granted":60`)
	b.status(id, models.ConversationWaitingInput) // the large raise waits
}

func TestADeadProcessesTurnIsMadeAnew(t *testing.T) {
	t.Parallel()
	b := newBench(t, says("Once."))
	id := b.begin("Say it once", new(int64(3)))
	// The process dies in its stream: nothing of it is given back.
	dead, kill := context.WithCancel(t.Context())
	run, err := runs.New(b.store).ClaimRun(dead, "dead", time.Minute)
	if err != nil || run == nil {
		t.Fatalf("claim: %v, %v", run, err)
	}
	seen, err := runs.New(b.store).RunContext(dead, run)
	if err != nil {
		t.Fatal(err)
	}
	if fits, err := runs.New(b.store).ReserveEnergy(dead, run, 3); !fits || err != nil {
		t.Fatalf("reserve: %v, %v", fits, err)
	}
	kill()
	if n := b.run(); n != 0 {
		t.Errorf("%d turns while the lease stands", n)
	}
	next, some, err := runs.New(b.store).NextRun(t.Context())
	if err != nil || !some || next.Sub(b.clock.Now()) > time.Minute || next.Before(b.clock.Now()) {
		t.Errorf("the next run is at %v, %v, %v; want the end of the lease", next, some, err)
	}
	b.clock.Step(time.Minute)
	if n := b.run(); n != 1 {
		t.Errorf("%d turns after the lease ran out, want 1: what was reserved is free again", n)
	}
	// The dead one was only slow: it may not store anything now.
	in := models.TurnInput{Model: "late", Content: "Twice.", Energy: 2, Context: seen}
	if _, err := runs.New(b.store).StoreTurn(t.Context(), run, in); models.ErrorCode(err) != models.CodeConflict {
		t.Errorf("a late turn: %v, want conflict", err)
	}
	if err := runs.New(b.store).ReleaseRun(t.Context(), run); err != nil {
		t.Errorf("giving back what was lost: %v", err)
	}
	v := b.conversation(id)
	if n := len(b.responses(id, models.KindReply)); n != 1 || v.EnergyUsed != 2 || v.EnergyReserved != 0 {
		t.Errorf("%d replies, used %d, reserved %d; want 1, 2, 0", n, v.EnergyUsed, v.EnergyReserved)
	}
}

func TestAModelThatFailsIsToldAndLosesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t,
		calls(proposes("delete")),
		func(context.Context, llm.Request, func(string, bool)) (*llm.Turn, error) {
			return nil, models.Errorf(models.CodeUnavailable, "The model's endpoint cannot be reached; gave up after 5 tries.")
		},
		func(context.Context, llm.Request, func(string, bool)) (*llm.Turn, error) { panic("boom") },
		func(context.Context, llm.Request, func(string, bool)) (*llm.Turn, error) {
			return nil, errors.New("secret detail")
		},
	)
	id := b.begin("Clean up", new(int64(50)))
	b.run()
	b.decide(id, models.ConversationDecision{Approved: new(true)})
	b.run()
	b.status(id, models.ConversationWaitingInput)
	for _, again := range []string{"Again", "And again"} {
		b.say(id, again, nil)
		b.run()
	}
	want := []string{
		"The model could not answer: The model's endpoint cannot be reached; gave up after 5 tries; write to try again.",
		"The model could not answer: It failed; write to try again.",
		"The model could not answer: It failed; write to try again.",
	}
	if got := b.notices(id); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("notices = %q", got)
	}
	b.say(id, "Last try", nil)
	b.run()
	b.status(id, models.ConversationCompleted)
	mustContain(t, "the result", results(b.model.last(t))[0], `"status":"approved"`)
	if v := b.conversation(id); v.EnergyUsed != 4 || v.EnergyReserved != 0 {
		t.Errorf("used %d, reserved %d; want 4, 0", v.EnergyUsed, v.EnergyReserved)
	}
}

func TestTheTurnLimitHoldsUntilAPersonDoesSomething(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for range 60 {
		b.model.turns = append(b.model.turns, calls(call{"fly", `{}`}))
	}
	id := b.begin("Go", nil)
	if n := b.run(); n != 21 || b.model.asked() != 20 { // the last only says so
		t.Errorf("%d rounds, %d calls; want 21 and 20", n, b.model.asked())
	}
	b.status(id, models.ConversationWaitingInput)
	if got := b.notices(id); len(got) != 1 || got[0] != "The agent has taken 20 steps without you and is waiting; write to continue." {
		t.Errorf("notices = %q", got)
	}
	b.say(id, "Go on", nil)
	b.run()
	if b.model.asked() != 40 {
		t.Errorf("%d calls after a message, want 40", b.model.asked())
	}
}

func TestAModelThatSaysNothingIsTold(t *testing.T) {
	t.Parallel()
	b := newBench(t, says(""), calls(setsBudget(50)), says("  "))
	id := b.begin("Hello?", nil)
	b.run()
	b.status(id, models.ConversationWaitingInput)
	if got := b.notices(id); len(got) != 1 {
		t.Errorf("notices = %q", got)
	}
	b.say(id, "Set a budget", nil)
	b.run()
	b.status(id, models.ConversationCompleted) // it has nothing to add
	if got := b.notices(id); len(got) != 1 {
		t.Errorf("notices = %q", got)
	}
	if v := b.conversation(id); v.EnergyUsed != 6 {
		t.Errorf("%d used, want 6", v.EnergyUsed)
	}
}

func TestTwoProcessesNeverRunOneConversation(t *testing.T) {
	t.Parallel()
	const conversations = 12
	dir := storetest.Dir(t)
	one, two := storetest.New(t, storetest.WithDir(dir)), storetest.New(t, storetest.WithDir(dir))
	b := &bench{t: t, store: one, clock: storetest.NewClock(), person: storetest.Reviewer(t, one, "ann@example.com"), model: &model{}}
	var mu sync.Mutex
	under, most := map[string]int{}, 0
	turn := func(ctx context.Context, r llm.Request, told func(string, bool)) (*llm.Turn, error) {
		id := requestID(r)
		mu.Lock()
		under[id]++
		most = max(most, under[id])
		mu.Unlock()
		defer func() {
			mu.Lock()
			under[id]--
			mu.Unlock()
		}()
		if len(r.Turns) < 6 {
			return calls(call{models.ToolRespond, `{"requestId":"ID","content":"more"}`}, call{"fly", "{}"})(ctx, r, told)
		}
		return says("Done.")(ctx, r, told)
	}
	for range conversations * 10 {
		b.model.turns = append(b.model.turns, turn)
	}
	ids := make([]models.ConversationID, conversations)
	for i := range ids {
		ids[i] = b.begin(fmt.Sprintf("number %d", i), nil)
	}
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	for _, a := range []*agent.Agent{b.another(one, "one"), b.another(two, "two")} {
		working.Go(func() { a.Run(ctx) })
	}
	for _, s := range []*store.Store{one, two} { // as the server does
		working.Go(func() {
			workers.Every(ctx, slog.New(slog.DiscardHandler), 50*time.Millisecond, s.CheckOutside)
		})
	}
	for _, id := range ids {
		awaitStatus(t, b, id, models.ConversationCompleted)
	}
	stop()
	working.Wait()
	if most != 1 {
		t.Errorf("%d calls at once for one conversation", most)
	}
	for _, id := range ids {
		if n := len(b.responses(id, models.KindReply)); n != 3 {
			t.Errorf("%d replies, want 3", n)
		}
	}
}

// awaitStatus sleeps until the conversation has the status.
func awaitStatus(t *testing.T, b *bench, id models.ConversationID, want models.ConversationStatus) {
	t.Helper()
	sub := b.store.Bus().Subscribe(8, events.Conversation(string(id)), events.Outside)
	defer sub.Close()
	late := time.After(time.Minute)
	for b.conversation(id).Status != want {
		select {
		case <-sub.C:
		case <-sub.Lag:
		case <-late:
			t.Fatalf("conversation %s is %s, want %s", id, b.conversation(id).Status, want)
		}
	}
}

func TestRunWakesForAMessageAndStopsCleanlyInACall(t *testing.T) {
	t.Parallel()
	b := newBench(t, says("Hello."))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.agent.Run(ctx)
	}()
	id := b.begin("Hi", new(int64(50)))
	awaitStatus(t, b, id, models.ConversationCompleted)
	began := make(chan struct{})
	b.model.mu.Lock()
	b.model.turns = []reply{untilCancelled(began)}
	b.model.mu.Unlock()
	b.say(id, "More", nil)
	<-began
	stop()
	<-ended
	if v := b.conversation(id); v.EnergyReserved != 0 || v.EnergyUsed != 2 {
		t.Errorf("reserved %d, used %d; want 0, 2", v.EnergyReserved, v.EnergyUsed)
	}
	if n := b.run(); n != 1 {
		t.Errorf("%d turns afterwards, want 1: the lease was given back", n)
	}
	b.status(id, models.ConversationCompleted)
}

func TestALeaseIsRenewedWhileTheModelIsAsked(t *testing.T) {
	t.Parallel()
	const ttl = 90 * time.Millisecond // of a clock that is moved by hand; it is renewed by a real one
	b := newBench(t)
	b.agent = agent.New(agent.Options{Store: b.store, Model: b.model, LeaseTTL: ttl, Log: slog.New(slog.DiscardHandler)})
	began, finish := make(chan struct{}), make(chan struct{})
	b.model.turns = []reply{during(func() { close(began); <-finish }, says("Done."))}
	id := b.begin("Take your time", nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.run()
	}()
	<-began
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	late := time.After(time.Minute)
	for range 3 {
		until := b.clock.Step(ttl - time.Millisecond).Add(ttl)
		for {
			next, _, err := runs.New(b.store).NextRun(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !next.Before(until) {
				break
			}
			select {
			case <-look.C:
			case <-late:
				t.Fatalf("the lease ends at %v, want %v", next, until)
			}
		}
	}
	if run, err := runs.New(b.store).ClaimRun(t.Context(), "thief", ttl); run != nil || err != nil {
		t.Errorf("claimed by another: %v, %v", run, err)
	}
	close(finish)
	<-done
	b.status(id, models.ConversationCompleted)
}

func TestDraftsAreToldSeldom(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.begin("Write", nil)
	sub := b.store.Bus().Subscribe(1000, events.Draft(string(id)))
	defer sub.Close()
	heard := make(chan string, 1)
	b.model.turns = []reply{func(_ context.Context, _ llm.Request, told func(string, bool)) (*llm.Turn, error) {
		told("a broken stre", false)
		told("", true)
		for range 1000 {
			told("x", false)
		}
		text, _, _ := b.agent.Draft(id)
		heard <- text
		return &llm.Turn{Content: "x"}, nil
	}}
	start := time.Now()
	b.run()
	if text := <-heard; len(text) != 1000 {
		t.Errorf("the draft is %d long, want 1000 after it began anew", len(text))
	}
	if n, most := len(sub.C), 3+int(time.Since(start)/(250*time.Millisecond)); n == 0 || n > most {
		t.Errorf("the draft was told %d times, at most %d are wanted", n, most)
	}
}
