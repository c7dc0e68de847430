package store_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
)

// racing are the ends that a request may have when everything happens at once.
var racing = map[string]models.Status{
	"approval.approved": models.StatusApproved, "approval.rejected": models.StatusRejected,
	"approval.cancelled": models.StatusCancelled, "approval.expired": models.StatusExpired,
}

// TestI1OneOutcomeWithUndoWhoeverRaces: 64 people decide, take back, release,
// cancel and extend while the deadline and the window pass. However it goes, the
// request ends once, and the ledger tells the same story as the rows.
func TestI1OneOutcomeWithUndoWhoeverRaces(t *testing.T) {
	t.Parallel()
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	b := newBench(t, storetest.NoLimits)
	b.UsePolicy(t, `{"undo_seconds":{"medium":1}}`)
	ctx := context.WithoutCancel(t.Context())
	ends := map[string]int{}
	for round := range rounds {
		a := b.AskFor(t, models.AskInput{TimeoutSeconds: new(int64(2))})
		told := make(chan *models.Approval, 2)
		for range 2 {
			go func() {
				got, err := b.Await(ctx, b.Agent, a.ID, time.Minute)
				if err != nil {
					t.Errorf("wait: %v", err)
				}
				told <- got
			}()
		}
		start := make(chan struct{})
		var wg sync.WaitGroup
		race := func(does func() error) {
			wg.Go(func() {
				<-start
				if err := does(); models.ErrorCode(err) == models.CodeInternal {
					t.Errorf("it broke: %v", err)
				}
			})
		}
		for i := range 64 {
			who := []models.Actor{b.Owner, b.Admin}[i%2]
			switch {
			case i%16 == 3:
				race(func() error { return storetest.Err(b.Undo(ctx, who, a.ID)) })
			case i%16 == 5:
				race(func() error { return storetest.Err(b.ReleaseDue(ctx, 10)) })
			case i%16 == 7:
				race(func() error { return storetest.Err(b.ExpireDue(ctx, 10)) })
			case i%16 == 9 && round%5 > 1, i%4 == 1 && round%5 == 1:
				race(func() error { b.Clock.Step(300 * time.Millisecond); return nil })
			case i == 32 && round%3 == 0:
				race(func() error { return storetest.Err(b.Cancel(ctx, b.Agent, a.ID)) })
			case i == 33:
				race(func() error { return storetest.Err(b.AskBack(ctx, who, a.ID, "Why?")) })
			case i == 34:
				race(func() error { return storetest.Err3(b.AnswerNote(ctx, b.Agent, a.ID, "So.")) })
			case i == 35:
				race(func() error { return storetest.Err(b.Extend(ctx, who, a.ID, b.Clock.Now().Add(3*time.Second))) })
			case i%4 == round%8: // in half of the rounds
				race(func() error { return storetest.Err(b.Decide(ctx, who, a.ID, storetest.No("no"))) })
			default:
				race(func() error { return storetest.Err(b.Decide(ctx, who, a.ID, storetest.Yes())) })
			}
		}
		close(start)
		wg.Wait()
		b.Clock.Step(2 * time.Hour) // whatever still holds it or lets it wait is over
		storetest.Must(t, storetest.Err(b.ReleaseDue(ctx, 10)))
		storetest.Must(t, storetest.Err(b.ExpireDue(ctx, 10)))
		ends[string(b.oneOutcome(t, a.ID, <-told, <-told))]++
	}
	t.Logf("outcomes: %v", ends)
	if _, err := b.Ledger.Verify(ctx, nil); err != nil {
		t.Error(err)
	}
}

// oneOutcome holds row, votes and what waiters were told against the ledger.
func (b *bench) oneOutcome(t *testing.T, id models.ResponseID, told ...*models.Approval) models.Status {
	t.Helper()
	var outcomes []string
	held := 0
	for _, entry := range b.entriesOf(t, id) {
		_, action, _ := strings.Cut(entry, " ")
		switch {
		case racing[action] != "":
			outcomes = append(outcomes, action)
		case len(outcomes) > 0:
			t.Errorf("%s after the outcome", entry)
		case action == "approval.voted":
			if held++; held > 1 {
				t.Error("two verdicts hold it at once")
			}
		case action == "approval.taken_back":
			if held--; held < 0 {
				t.Error("what was not held was taken back")
			}
		}
	}
	if len(outcomes) != 1 {
		t.Fatalf("the ledger has the outcomes %v", outcomes)
	}
	got := b.standsAs(t, id, racing[outcomes[0]])
	for _, other := range told {
		if other == nil || other.Status() != got.Status() || other.Cause != got.Cause {
			t.Errorf("a waiter was told %v, the row is %s", other, got.Status())
		}
	}
	standing := storetest.Column(t, b.Store, `SELECT verdict FROM votes WHERE response_id = ? AND withdrawn_at IS NULL`, id)
	want := map[models.Status]int{models.StatusApproved: 1, models.StatusRejected: 1}[got.Status()]
	if len(standing) != want {
		t.Errorf("%s with the votes %v", got.Status(), standing)
	}
	if got.HeldUntil != nil {
		t.Error("it is still held")
	}
	if left := storetest.Column(t, b.Store, `SELECT user_id FROM deciders WHERE response_id = ?`, id); len(left) > 0 {
		t.Errorf("it is still in inboxes: %v", left)
	}
	return got.Status()
}

// A verdict that came in time may be committed after the deadline: until then
// nobody is told that the request has expired.
func TestI1NobodyIsToldOfAnExpiryWhileAVerdictInTimeCommits(t *testing.T) {
	t.Parallel()
	var hold atomic.Bool
	holding, release := make(chan struct{}, 1), make(chan struct{})
	b := newBench(t, func(o *store.Options) {
		o.BeforeCommit = func() {
			if hold.Load() {
				holding <- struct{}{}
				<-release
			}
		}
	})
	a := b.AskFor(t, models.AskInput{TimeoutSeconds: new(int64(1))})
	hold.Store(true)
	decided := make(chan error, 1)
	go func() {
		decided <- storetest.Err(b.Decide(context.WithoutCancel(t.Context()), b.Owner, a.ID, storetest.Yes()))
	}()
	<-holding
	b.Clock.Step(time.Second)
	read := make(chan *models.Approval, 1)
	go func() {
		got, err := b.Requests.Approval(context.WithoutCancel(t.Context()), b.Agent, a.ID)
		if err != nil {
			t.Errorf("read: %v", err)
		}
		read <- got
	}()
	select {
	case got := <-read:
		t.Errorf("it was told as %s before the commit", got.Status())
	case <-time.After(200 * time.Millisecond):
	}
	hold.Store(false)
	close(release)
	storetest.Must(t, <-decided)
	if got := <-read; got == nil || got.Status() != models.StatusApproved {
		t.Errorf("told %v, want approved", got)
	}
}
