package expire_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/workers/expire"
)

func ask(t *testing.T, s *store.Store, agent models.Actor, seconds int64) {
	t.Helper()
	_, err := s.Ask(t.Context(), agent, models.AskInput{
		ApprovalID: string(models.NewID[models.ResponseID]()), ToolName: "deploy", TimeoutSeconds: &seconds, Explicit: true,
	})
	if err != nil {
		t.Fatalf("ask: %v", err)
	}
}

func pendingRows(t *testing.T, s *store.Store) bool {
	t.Helper()
	_, some, err := s.NextDeadline(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return some
}

func TestOnceWritesDownAllThatIsDueAndSaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	agent, _ := storetest.AgentToken(t, s, storetest.Admin(t, s), "bot")
	for range 250 { // more than two batches
		ask(t, s, agent, 10)
	}
	ask(t, s, agent, 40)
	for _, step := range []struct{ passes, sleeps time.Duration }{
		{0, 10 * time.Second},
		{9 * time.Second, time.Second},
		{time.Second, 30 * time.Second},
		{30 * time.Second, time.Minute},
	} {
		clock.Step(step.passes)
		sleep, err := expire.Once(t.Context(), s)
		if err != nil || sleep != step.sleeps {
			t.Errorf("%v later: sleeps %v, %v; want %v", step.passes, sleep, err, step.sleeps)
		}
	}
	if pendingRows(t, s) {
		t.Error("something is still stored as pending")
	}
}

func TestRunHearsOfADeadlineThatIsStoredWhileItSleeps(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	agent, _ := storetest.AgentToken(t, s, storetest.Admin(t, s), "bot")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		expire.Run(ctx, slog.New(slog.DiscardHandler), s)
	}()
	ask(t, s, agent, 1)
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	late := time.After(10 * time.Second)
	for pendingRows(t, s) {
		select {
		case <-look.C:
		case <-late:
			t.Fatal("the expiry was not written down")
		}
	}
	cancel()
	<-done
}
