package store_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/events"
	"countersign/models/store"
	"countersign/models/storetest"
)

// secondNode is another process on the database, that listens.
func secondNode(t *testing.T, s *store.Store, opts ...storetest.Option) *store.Store {
	t.Helper()
	if !dbtest.OnPostgres() {
		t.Skip("only on PostgreSQL: SQLite has one node")
	}
	node := storetest.Again(t, s, append(opts, func(o *store.Options) { o.Listen = true })...)
	storetest.Must(t, node.CheckOutside(t.Context())) // as a server does each second: it listens from then on
	return node
}

// A wait on one node hears of a decision on another, and a page there of a request, without anybody looking again.
func TestWhatOneNodeDecidesTheOtherHears(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	node := secondNode(t, b.Store, storetest.WithClock(b.Clock))
	inbox := node.Bus().Subscribe(10, events.InboxOf(string(b.Owner.UserID())))
	defer inbox.Close()
	for { // it listens once it hears this
		storetest.Must(t, storetest.Err(b.Requests.Approval(t.Context(), b.Owner, b.AskFor(t, models.AskInput{}).ID)))
		select {
		case <-inbox.C:
		case <-time.After(50 * time.Millisecond):
			continue
		}
		break
	}
	a := b.AskFor(t, models.AskInput{})
	w := node.Watch(t.Context(), b.Agent, a.ID, time.Hour)
	defer w.Close()
	if _, done, err := w.Look(t.Context()); done || err != nil {
		t.Fatalf("at first: %v, %v", done, err)
	}
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, storetest.Yes())))
	for {
		got, done, err := w.Look(t.Context())
		storetest.Must(t, err)
		if done {
			if got.Status() != models.StatusApproved {
				t.Errorf("it hears %s", got.Status())
			}
			return
		}
		storetest.Must(t, storetest.Err(w.Sleep(t.Context())))
	}
}

// Nodes whose machines' clocks differ judge a deadline alike: by the database's.
func TestI3NodesJudgeADeadlineByTheDatabasesClock(t *testing.T) {
	t.Parallel()
	off := func(by time.Duration) storetest.Option {
		return func(o *store.Options) { o.Machine = func() time.Time { return time.Now().Add(by) } }
	}
	s := storetest.New(t, off(-time.Hour))
	node := secondNode(t, s, off(time.Hour))
	owner := storetest.Reviewer(t, s, "ada@example.com")
	agent, _ := storetest.AgentToken(t, s, owner, "bot")
	a, err := s.Ask(t.Context(), agent, models.AskInput{ToolName: "deploy", Explicit: true, TimeoutSeconds: new(int64(600))})
	storetest.Must(t, err)
	if left := time.Until(a.ApprovalTimeoutAt); left < 9*time.Minute || left > 11*time.Minute {
		t.Errorf("the deadline is in %s", left)
	}
	got, err := node.Decide(t.Context(), owner, a.ID, storetest.Yes())
	if err != nil || got.Status() != models.StatusApproved {
		t.Errorf("another node, two hours ahead: %v", err)
	}
	if n, err := node.ExpireDue(t.Context(), 10); n != 0 || err != nil {
		t.Errorf("it expires %d, %v", n, err)
	}
}

// A reader takes no request for expired that another node is approving in time.
func TestI1NodesDoNotSayExpiredWhileOneApproves(t *testing.T) {
	t.Parallel()
	if !dbtest.OnPostgres() {
		t.Skip("only on PostgreSQL: SQLite has one node")
	}
	b := newBench(t)
	var holds atomic.Bool
	held, release := make(chan struct{}), make(chan struct{})
	node := storetest.Again(t, b.Store, storetest.WithClock(b.Clock), func(o *store.Options) {
		o.BeforeCommit = func() {
			if holds.Swap(false) {
				held <- struct{}{}
				<-release
			}
		}
	})
	a := b.AskFor(t, models.AskInput{TimeoutSeconds: new(int64(60))})
	decided, read := make(chan error, 1), make(chan *models.Approval, 1)
	holds.Store(true)
	go func() { decided <- storetest.Err(node.Decide(t.Context(), b.Owner, a.ID, storetest.Yes())) }()
	<-held
	b.Clock.Step(time.Hour)
	go func() { read <- b.Read(t, a.ID) }()
	select {
	case got := <-read:
		t.Errorf("while another node commits, it is %s", got.Status())
		read <- got
	case <-time.After(200 * time.Millisecond):
	}
	close(release)
	storetest.Must(t, <-decided)
	if got := <-read; got.Status() != models.StatusApproved {
		t.Errorf("afterwards it is %s", got.Status())
	}
}

// TestALeaseOfAProcessThatEndedIsTakenOverAtOnce: not when its time is over. The lock of one that
// lives keeps it.
func TestALeaseOfAProcessThatEndedIsTakenOverAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.OnlySQLite(t, "other machines don't see a process's locks: its leases end by their time")
	dir := storetest.Dir(t)
	one, two := storetest.New(t, storetest.WithDir(dir)), storetest.New(t, storetest.WithDir(dir))
	first, err := one.Nodes.Holder()
	storetest.Must(t, err)
	second, err := two.Nodes.Holder()
	storetest.Must(t, err)
	l, err := one.Nodes.TakeLease(t.Context(), "webhooks", first, time.Hour)
	if err != nil || l == nil {
		t.Fatalf("the first: %v, %v", l, err)
	}
	if l, err := two.Nodes.TakeLease(t.Context(), "webhooks", second, time.Hour); err != nil || l != nil {
		t.Errorf("while the first lives, the second gets %v, %v", l, err)
	}
	storetest.Must(t, one.Close()) // without giving it back
	after, err := two.Nodes.TakeLease(t.Context(), "webhooks", second, time.Hour)
	if err != nil || after == nil || after.Number != l.Number+1 {
		t.Errorf("once it has ended, the second gets %v, %v", after, err)
	}
}

// What a token may do in a minute it may do at all servers together, and a restart forgives nothing.
func TestServersCountTogetherAgainstALimit(t *testing.T) {
	t.Parallel()
	limits := func(o *store.Options) { o.AsksPerMinute = 2 }
	b := newBench(t, limits)
	two := storetest.Again(t, b.Store, storetest.WithClock(b.Clock), limits)
	ask := func(s *store.Store) error {
		return storetest.Err(s.Ask(t.Context(), b.Agent, models.AskInput{ToolName: "ls"}))
	}
	storetest.Must(t, ask(b.Store))
	storetest.Must(t, ask(two))
	for _, s := range []*store.Store{b.Store, two} {
		if e := storetest.Refused(t, ask(s), models.CodeTooManyRequests); e.RetryAfterSeconds != 30 {
			t.Errorf("again in %d s, want 30", e.RetryAfterSeconds)
		}
	}
	storetest.Must(t, two.Close())
	three := storetest.Again(t, b.Store, storetest.WithClock(b.Clock), limits)
	storetest.Refused(t, ask(three), models.CodeTooManyRequests)
	b.Clock.Step(30 * time.Second)
	storetest.Must(t, ask(three))
	storetest.Refused(t, ask(b.Store), models.CodeTooManyRequests)
	b.Clock.Step(time.Minute)
	storetest.Must(t, b.Tidy(t.Context()))
	if n := storetest.Scalar[int](t, b.Store, `SELECT count(*) FROM rates`); n != 0 {
		t.Errorf("%d limits are kept of who may do everything again", n)
	}
}

// A page at one server knows that the agent waits at another, and nothing is cancelled there as given up; a server that
// is not seen any more has nobody waiting.
func TestServersKnowWhoWaitsAtAnother(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	node := secondNode(t, b.Store, storetest.WithClock(b.Clock))
	storetest.Must(t, node.Nodes.Beat(t.Context(), "two", "v1", b.Clock.Now()))
	a := b.AskFor(t, models.AskInput{})
	ctx, stop := context.WithCancel(t.Context())
	go node.TellPresence(ctx)
	defer stop()
	w := node.Watch(t.Context(), b.Agent, a.ID, time.Hour, store.ByWay("hook"))
	if _, done, err := w.Look(t.Context()); done || err != nil {
		t.Fatalf("it does not wait: %v", err)
	}
	until := func(waiting bool) {
		for storetest.PresenceOf(t, b, a.ID).Waiting != waiting {
			if t.Context().Err() != nil {
				t.Fatalf("it is never told that waiting is %v", waiting)
			}
		}
	}
	until(true)
	stats, err := b.Stats(t.Context(), b.Admin)
	if err != nil || stats.Waiters != 1 {
		t.Errorf("%d wait, %v", stats.Waiters, err)
	}
	got, err := b.GiveUp(t.Context(), b.Agent, a.ID, "ask")
	if err != nil || got.Status() != models.StatusPending {
		t.Errorf("while another waits, giving up makes it %s, %v", got.Status(), err)
	}
	if got, err := b.GiveUp(t.Context(), b.Agent, a.ID, "hook"); err != nil || got.Status() != models.StatusCancelled {
		t.Errorf("given up by the way that waits: %s, %v", got.Status(), err)
	}
	b.Clock.Step(models.NodeSilent)
	until(false)
	w.Close()
}

// A server without the key file that the others have is refused, and says what to do; with it, or with --accept-keys,
// it starts.
func TestServersHaveOneKey(t *testing.T) {
	t.Parallel()
	own := t.TempDir()
	s := storetest.New(t, func(o *store.Options) { o.Keys = own })
	key, err := s.Key(t.Context(), models.KeyFile, store.NewSealingKey)
	storetest.Must(t, err)
	if again, err := s.Key(t.Context(), models.KeyFile, store.NewSealingKey); err != nil || !bytes.Equal(again, key) {
		t.Errorf("it is another one later, %v", err)
	}
	theirs := t.TempDir()
	node := secondNode(t, s, func(o *store.Options) { o.Keys = theirs })
	for _, what := range []string{"without a file", "with another file"} {
		if _, err := node.Key(t.Context(), models.KeyFile, store.NewSealingKey); err == nil || !strings.Contains(err.Error(), "copy that file") {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := node.Sealer().Seal("secret", "it"); err == nil {
			t.Errorf("%s it seals", what)
		}
		storetest.Must(t, os.WriteFile(filepath.Join(theirs, models.KeyFile), bytes.Repeat([]byte{7}, 32), 0o600))
	}
	lost := storetest.Again(t, s, func(o *store.Options) { o.Keys, o.AcceptKeys = theirs, true })
	storetest.Must(t, storetest.Err(lost.Key(t.Context(), models.KeyFile, store.NewSealingKey)))
	if _, err := s.Key(t.Context(), models.KeyFile, store.NewSealingKey); err == nil {
		t.Error("the former key is still good")
	}
	storetest.Must(t, os.WriteFile(filepath.Join(own, models.KeyFile), bytes.Repeat([]byte{7}, 32), 0o600))
	sealed, err := s.Sealer().Seal("secret", "it")
	storetest.Must(t, err)
	if got, err := node.Sealer().Unseal(sealed, "it"); err != nil || got != "secret" {
		t.Errorf("%q, %v", got, err)
	}
}
