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
	late := time.After(time.Minute)
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

// The gate comes on again at its end, and the worker comes back for it: it is told of an end
// that is stored while it sleeps, as of a deadline.
func TestOnceWritesDownTheEndOfASwitchI3(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	admin := storetest.Admin(t, s)
	undo(t, s, admin, `{"approval_enabled":false,"approval_off_until":"2026-03-02T12:02:00Z","fallback_auto_approve":true,"fallback_until":"2026-03-02T12:03:00Z"}`)
	select {
	case <-s.DeadlineStored():
	default:
		t.Error("the worker was not told of the end")
	}
	for _, step := range []struct {
		passes, sleeps time.Duration
		version        int64
	}{
		{0, time.Minute, 2},
		{119 * time.Second, time.Second, 2},
		{time.Second, time.Minute, 3},
		{time.Minute, time.Minute, 4},
		{time.Minute, time.Minute, 4},
	} {
		clock.Step(step.passes)
		sleep, err := expire.Once(t.Context(), s)
		if err != nil || sleep != step.sleeps {
			t.Errorf("%v later: sleeps %v, %v; want %v", step.passes, sleep, err, step.sleeps)
		}
		v, err := s.CurrentPolicy(t.Context())
		if d := v.Program.Document(); err != nil || v.Version != step.version || d.ApprovalEnabled != (step.version > 2) || d.FallbackAutoApprove != (step.version < 4) {
			t.Errorf("%v later: version %d, %v: %s", step.passes, v.Version, err, v.Document)
		}
	}
}
