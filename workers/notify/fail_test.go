package notify_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
	"countersign/workers/notify"
)

// What fails is tried again, later each time, as the same message; a channel that keeps
// failing is marked, its person told by another, and what works again is as before.
func TestAChannelThatKeepsFailingIsToldOfByAnother(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann := storetest.Reviewer(t, p.Store, "ann@example.com")
	p.mail(t, ann)
	hook := p.add(t, ann, models.ChannelInput{Kind: models.ChannelWebhook, Label: "pager", Target: models.ChannelTarget{URL: "https://hook.example/secret-path"}})
	p.rule(t, models.RiskMedium, 600, ann.Name)
	p.settings(t, ann, onlyAtOnce)
	p.post.fails["https://hook.example/secret-path"] = models.SendResult{Class: models.SendUnavailable, Status: 503}
	p.ask(t)
	begun := p.Now()
	p.wait(t, 6*time.Minute)
	var tries []message
	for _, m := range p.post.take() {
		if m.to == "https://hook.example/secret-path" {
			tries = append(tries, m)
		}
	}
	if len(tries) != 4 || tries[3].ID != tries[0].ID || tries[1].when.Sub(begun) != 5*time.Second || tries[2].when.Sub(begun) != 25*time.Second {
		t.Fatalf("tried %d times: %v", len(tries), tries)
	}
	p.wait(t, 20*time.Minute)
	got := p.post.take() // two attempts more, the first of which is the fifth
	if len(got) != 3 || got[1].Kind != models.NoticeChannelFailing || got[1].to != ann.Name || got[1].Channel != "pager (hook.example)" {
		t.Fatalf("told %v", got)
	}
	backlog, err := p.notices().Backlog(t.Context(), p.admin)
	storetest.Must(t, err)
	if len(backlog.Failures) != 1 || backlog.Failures[0].ID != hook.ID || backlog.Failures[0].Owner != ann.Name || !backlog.Failures[0].FailingSince.Equal(begun) ||
		backlog.Failures[0].LastClass != models.SendUnavailable || backlog.Failures[0].LastStatus != 503 || backlog.Unsent != 1 {
		t.Errorf("%+v", backlog)
	}
	delete(p.post.fails, "https://hook.example/secret-path")
	p.wait(t, 15*time.Minute)
	if backlog, err = p.notices().Backlog(t.Context(), p.admin); err != nil || len(backlog.Failures)+backlog.Unsent != 0 {
		t.Errorf("%+v, %v", backlog, err)
	}
}

// What is refused is not sent again; an address that is gone is not used again.
func TestWhatIsRefusedIsGivenUp(t *testing.T) {
	t.Parallel()
	for class, disabled := range map[models.SendClass]bool{models.SendRejected: false, models.SendGone: true} {
		p := newPlace(t)
		ann := storetest.Reviewer(t, p.Store, "ann@example.com")
		p.mail(t, ann)
		p.rule(t, models.RiskMedium, 60, ann.Name)
		p.settings(t, ann, onlyAtOnce)
		p.post.fails[ann.Name] = models.SendResult{Class: class, Status: 404}
		p.ask(t)
		p.wait(t, 30*time.Minute)
		wantKinds(t, p.post.take(), "ann waiting")
		mine, err := p.People.Channels(t.Context(), ann)
		storetest.Must(t, err)
		if len(mine) != 1 || (mine[0].DisabledAt != nil) != disabled {
			t.Errorf("%s: %+v", class, mine)
		}
		p.ask(t)
		p.wait(t, 0)
		if got := p.post.take(); (len(got) == 0) != disabled {
			t.Errorf("%s: then told %v", class, got)
		}
	}
}

// A service that asks for patience gets it.
func TestRetryAfterIsKept(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann := storetest.Reviewer(t, p.Store, "ann@example.com")
	p.mail(t, ann)
	p.rule(t, models.RiskMedium, 60, ann.Name)
	p.settings(t, ann, onlyAtOnce)
	p.post.fails[ann.Name] = models.SendResult{Class: models.SendUnavailable, Status: 429, RetryAfter: 10 * time.Minute}
	p.ask(t)
	p.wait(t, 10*time.Minute-time.Second)
	wantKinds(t, p.post.take(), "ann waiting")
	p.wait(t, time.Second)
	wantKinds(t, p.post.take(), "ann waiting")
}

// A process that dies between sending and noting it costs one message more, with the same id,
// and loses none (I8).
func TestACrashCostsAtMostOneMessageMoreI8(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann := storetest.Reviewer(t, p.Store, "ann@example.com")
	p.mail(t, ann)
	p.rule(t, models.RiskMedium, 60, ann.Name)
	p.settings(t, ann, onlyAtOnce)
	p.ask(t)
	_, err := p.notices().Take(t.Context(), p.lease)
	storetest.Must(t, err)
	due, _, err := p.notices().Due(t.Context(), 10)
	storetest.Must(t, err)
	sending, err := p.notices().Begin(t.Context(), p.lease, due[0].ID)
	storetest.Must(t, err)
	p.post.Send(t.Context(), sending.Channel.Kind, sending.Target, sending.Notice)
	// Here the process dies. Another takes over once the lease is free.
	storetest.Must(t, p.Nodes.DropLease(t.Context(), p.lease))
	was := p.lease
	p.lease, err = p.Nodes.TakeLease(t.Context(), "notify", "another", 10_000*time.Hour)
	storetest.Must(t, err)
	p.notifier = notify.New(notify.Options{Store: p.Store, Sender: p.post, Log: slog.New(slog.DiscardHandler)})
	p.wait(t, time.Hour)
	got := p.post.take()
	wantKinds(t, got[:2], "ann waiting", "ann waiting")
	if got[0].ID != got[1].ID || got[1].when.Sub(got[0].when) != 5*time.Second {
		t.Errorf("%v", got)
	}
	// The first comes back, and can't say anything about what is no longer its own.
	if err := p.notices().End(t.Context(), was, sending, models.SendResult{Class: models.SendSent}); models.ErrorCode(err) != models.CodeConflict {
		t.Errorf("who lost the lease noted an end: %v", err)
	}
}

// A restart loses nothing that was to be told (I8): rows are written with the ask.
func TestARestartLosesNoNoticeI8(t *testing.T) {
	t.Parallel()
	dir, clock := storetest.Dir(t), storetest.NewClock()
	first := newPlace(t, storetest.WithDir(dir), storetest.WithClock(clock))
	first.clock = clock
	first.post.now = clock.Now
	ann := storetest.Reviewer(t, first.Store, "ann@example.com")
	first.mail(t, ann)
	first.rule(t, models.RiskHigh, 60, ann.Name)
	a := first.ask(t)
	storetest.Must(t, first.Nodes.DropLease(t.Context(), first.lease))
	storetest.Must(t, first.Close())

	second := &place{clock: clock, post: &post{now: clock.Now}, admin: first.admin, agent: first.agent}
	second.Store = storetest.New(t, storetest.WithDir(dir), storetest.WithClock(clock))
	second.open(t)
	second.wait(t, 55*time.Minute)
	got := second.post.take()
	wantKinds(t, got, "ann waiting", "ann half", "ann tenth")
	for _, m := range got {
		if m.Request != a.ID {
			t.Errorf("told of %s", m.Request)
		}
	}
}

// A worker that stops in the midst of sending has not seen the channel fail.
func TestAStopIsNoFailure(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann := storetest.Reviewer(t, p.Store, "ann@example.com")
	p.mail(t, ann)
	p.rule(t, models.RiskMedium, 60, ann.Name)
	p.ask(t)
	_, err := p.notices().Take(t.Context(), p.lease)
	storetest.Must(t, err)
	due, _, err := p.notices().Due(t.Context(), 10)
	storetest.Must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	p.post.hook = func(message) { cancel() }
	p.post.fails[ann.Name] = models.SendResult{Class: models.SendTimeout}
	if err := p.notifier.Once(ctx, p.lease, due[0].ID); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	mine, err := p.People.Channels(t.Context(), ann)
	storetest.Must(t, err)
	if mine[0].LastClass == models.SendTimeout {
		t.Errorf("%+v", mine[0])
	}
}

// A test says how it went: what was answered to admins only.
func TestTheBodyOfATestIsForAdmins(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	ann := storetest.Reviewer(t, p.Store, "ann@example.com")
	mine, theirs := p.mail(t, ann), p.mail(t, p.admin)
	p.post.fails[ann.Name] = models.SendResult{Class: models.SendRejected, Status: 550, Body: []byte("no such box")}
	p.post.fails[p.admin.Name] = p.post.fails[ann.Name]
	got, err := p.notifier.Test(t.Context(), ann, mine.ID)
	if err != nil || got.Class != models.SendRejected || got.Status != 550 || got.Body != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = p.notifier.Test(t.Context(), p.admin, theirs.ID); err != nil || string(got.Body) != "no such box" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err = p.notifier.Test(t.Context(), ann, theirs.ID); models.ErrorCode(err) != models.CodeNotFound {
		t.Errorf("a test by somebody else's channel: %v", err)
	}
}
