package notify_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/workers/notify"
)

// patience is how long anything may take that should happen soon.
const patience = time.Minute

// running has a worker run until the test ends, and hands on what it sends.
func running(t *testing.T, s *store.Store) <-chan message {
	t.Helper()
	out := make(chan message, 100)
	p := &post{now: s.Now, hook: func(m message) { out <- m }}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		notify.New(notify.Options{Store: s, Sender: p, Log: slog.New(slog.DiscardHandler), LeaseTTL: time.Second}).Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return out
}

func next(t *testing.T, from <-chan message) message {
	t.Helper()
	select {
	case m := <-from:
		return m
	case <-time.After(patience):
		t.Fatal("nothing is sent")
		return message{}
	}
}

// The worker begins with the first channel that is there, and hears of what comes.
func TestTheWorkerTellsWhatComes(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	p := &place{Store: s, admin: storetest.Admin(t, s)}
	p.agent, _ = storetest.AgentToken(t, s, p.admin, "bot")
	sent := running(t, s)
	ann := storetest.Reviewer(t, s, "ann@example.com")
	c, err := s.People.AddChannel(t.Context(), ann, models.ChannelInput{Kind: models.ChannelEmail, Target: models.ChannelTarget{Address: ann.Name}})
	storetest.Must(t, err)
	code := next(t, sent)
	if code.Kind != models.NoticeCode || code.to != ann.Name {
		t.Fatalf("%v", code)
	}
	storetest.Must(t, s.People.VerifyChannel(t.Context(), ann, c.ID, code.Code))
	p.rule(t, models.RiskMedium, 60, ann.Name)
	a := p.ask(t)
	if m := next(t, sent); m.Kind != models.NoticeWaiting || m.Request != a.ID {
		t.Fatalf("%v", m)
	}
}

// A channel that another process has added counts with the next ask: what the writer
// remembers is dropped.
func TestAChannelOfAnotherProcessCounts(t *testing.T) {
	t.Parallel()
	dir, clock := storetest.Dir(t), storetest.NewClock()
	s := storetest.New(t, storetest.WithDir(dir), storetest.WithClock(clock))
	p := &place{Store: s, clock: clock, admin: storetest.Admin(t, s), post: &post{now: s.Now}}
	p.agent, _ = storetest.AgentToken(t, s, p.admin, "bot")
	p.rule(t, models.RiskMedium, 60, p.admin.Name)
	p.ask(t)
	notices := func() int { return storetest.Scalar[int](t, s, `SELECT count(*) FROM notices`) }
	if n := notices(); n != 0 {
		t.Fatalf("%d notices without a channel", n)
	}
	other := &place{Store: storetest.New(t, storetest.WithDir(dir), storetest.WithClock(clock)), clock: clock, admin: p.admin, post: p.post}
	other.open(t)
	c := other.mail(t, p.admin)
	p.ask(t)
	if n := notices(); n != 2 {
		t.Errorf("%d notices of one request, want at once and at a tenth", n)
	}
	storetest.Must(t, other.People.RemoveChannel(t.Context(), p.admin, c.ID))
	p.ask(t)
	if n := notices(); n != 0 {
		t.Errorf("%d notices after the last channel was removed", n)
	}
}
