package expire_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/workers/expire"
)

func approve(t *testing.T, s *store.Store, person models.Actor) models.ResponseID {
	t.Helper()
	page, err := s.Requests.Inbox(t.Context(), person, requests.InboxQuery{Limit: 1})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("inbox: %v, %v", page.Items, err)
	}
	if _, err := s.Decide(t.Context(), person, page.Items[0].ID, models.DecisionInput{Approved: new(true)}); err != nil {
		t.Fatal(err)
	}
	return page.Items[0].ID
}

func undo(t *testing.T, s *store.Store, person models.Actor, document string) {
	t.Helper()
	if _, err := s.ApplyPolicy(t.Context(), person, []byte(document), "", 0); err != nil {
		t.Fatal(err)
	}
}

func TestOnceReleasesWhatWasHeldAndComesBackForWhicheverIsFirst(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	admin := storetest.Admin(t, s)
	agent, _ := storetest.AgentToken(t, s, admin, "bot")
	undo(t, s, admin, `{"undo_seconds":{"medium":10}}`)
	ask(t, s, agent, 4) // approved in time, and held past its deadline
	id := approve(t, s, admin)
	ask(t, s, agent, 15)
	for _, step := range []struct {
		passes, sleeps time.Duration
		status         models.Status
	}{
		{0, 10 * time.Second, models.StatusPending},
		{9 * time.Second, time.Second, models.StatusPending},
		{time.Second, 5 * time.Second, models.StatusApproved},
		{5 * time.Second, time.Minute, models.StatusApproved},
	} {
		clock.Step(step.passes)
		sleep, err := expire.Once(t.Context(), s)
		if err != nil || sleep != step.sleeps {
			t.Errorf("%v later: sleeps %v, %v; want %v", step.passes, sleep, err, step.sleeps)
		}
		if got, err := s.Requests.Approval(t.Context(), agent, id); err != nil || got.Status() != step.status {
			t.Errorf("%v later: %v, %v; want %s", step.passes, got, err, step.status)
		}
	}
	if pendingRows(t, s) {
		t.Error("something is still stored as pending")
	}
}

func TestRunHearsOfAVerdictThatIsHeldWhileItSleeps(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	admin := storetest.Admin(t, s)
	agent, _ := storetest.AgentToken(t, s, admin, "bot")
	undo(t, s, admin, `{"undo_seconds":{"medium":1}}`)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		expire.Run(ctx, slog.New(slog.DiscardHandler), s)
	}()
	ask(t, s, agent, 600)
	id := approve(t, s, admin)
	got, err := s.Await(t.Context(), agent, id, 10*time.Second)
	if err != nil || got.Status() != models.StatusApproved {
		t.Errorf("%v, %v; want it released", got, err)
	}
	cancel()
	<-done
}
