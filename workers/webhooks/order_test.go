package webhooks_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/storetest"
	"countersign/workers/webhooks"
)

// requested are endpoints that get requests and nothing else.
func requested() models.WebhookInput {
	return models.WebhookInput{Types: []string{"approval.requested"}}
}

// attempts counts those to send a request.
func attempts(all []event, a *models.Approval) (n int) {
	for _, e := range all {
		if e.Data.Request["id"] == string(a.ID) {
			n++
		}
	}
	return n
}

// hanging is an answer that does not come until it is let go, for requests of one conversation.
func hanging(t *testing.T, stream func() string, otherwise func(event) int) (answer func(event) int, letGo func()) {
	t.Helper()
	gone := make(chan struct{})
	letGo = sync.OnceFunc(func() { close(gone) })
	t.Cleanup(letGo)
	return func(e event) int {
		if e.stream() != stream() {
			return otherwise(e)
		}
		select {
		case <-gone:
			return http.StatusOK
		case <-t.Context().Done():
			return http.StatusServiceUnavailable
		}
	}, letGo
}

// What somebody skipped is never sent again, not even where the ledger is read again from before
// it, after a restart.
func TestASkippedEventIsNotSentAfterARestart(t *testing.T) {
	t.Parallel()
	p, r := newPlace(t), newReceiver(t)
	h := p.add(t, r, requested())
	slow, skipped, next := p.ask(t, "slow", "s1"), p.ask(t, "run", "one"), p.ask(t, "run", "two")
	refuse := func(e event) int {
		if e.Data.Request["id"] == string(skipped.ID) {
			return http.StatusBadRequest
		}
		return http.StatusOK
	}
	answer, letGo := hanging(t, func() string { return string(slow.ConversationID) }, refuse)
	r.set(answer)
	patient := func(o *webhooks.Options) { o.Out = p.out(time.Hour) }
	p.runs(t, patient)
	r.await(t, "the refusal", func() bool { return p.state(t, h.ID).BlockCount == 1 })
	blocks, err := p.Webhooks.Blocks(t.Context(), p.admin, h.ID)
	storetest.Must(t, err)
	storetest.Must(t, p.Webhooks.Skip(t.Context(), p.admin, h.ID, blocks[0].Seq, "it can't take it"))
	if s := p.state(t, h.ID); s.Cursor >= blocks[0].Seq {
		t.Fatalf("the cursor is %d: this test shows nothing", s.Cursor)
	}
	storetest.Refused(t, p.Webhooks.Skip(t.Context(), p.admin, h.ID, blocks[0].Seq+1, "it was not refused"), models.CodeConflict)
	p.stop()
	p.runs(t, patient)
	r.await(t, "what follows is kept", func() bool { return attempts(r.got(), next) == 1 && p.state(t, h.ID).LastAcceptedAt != nil })
	p.stop()
	p.runs(t, patient)
	last := p.ask(t, "run", "three")
	r.await(t, "the last", func() bool { return attempts(r.got(), last) == 1 })
	letGo()
	r.await(t, "all", func() bool { return p.sent(t, h.ID) })
	if n := attempts(r.tried(), skipped); n != 1 {
		t.Errorf("it was sent %d times", n)
	}
}

// Another process changes which events an endpoint gets while this one sends: none that is
// wanted since is passed over, though this one has read it by then.
func TestTypesChangeInAnotherProcess(t *testing.T) {
	t.Parallel()
	p, r := newPlace(t), newReceiver(t)
	h := p.add(t, r, models.WebhookInput{Types: []string{"conversation.opened"}})
	p.runs(t)
	p.ask(t, "first", "one")
	r.await(t, "an event", func() bool { return p.sent(t, h.ID) && len(r.got()) == 1 })
	other := storetest.Again(t, p.Store, storetest.WithClock(p.clock))
	in := requested()
	in.Name = h.Name
	storetest.Must(t, other.Webhooks.Change(t.Context(), p.admin, h.ID, in))
	a := p.ask(t, "second", "two")
	r.await(t, "what is wanted now", func() bool { return attempts(r.got(), a) > 0 })
	for _, e := range r.got()[1:] {
		if e.Type != "approval.requested" {
			t.Errorf("it got %s", e.Type)
		}
	}
}

// What another process has changed of an endpoint counts for the next event, though nobody has
// told this one: no input goes out without the right, and nothing to where it was before.
func TestAnEndpointIsReadAtSending(t *testing.T) {
	t.Parallel()
	p, r, moved, gone := newPlace(t), newReceiver(t), newReceiver(t), newReceiver(t)
	in := requested()
	in.Name, in.Inputs = "hook", true
	h := p.add(t, r, in)
	g := p.add(t, gone, requested())
	p.runs(t)
	p.ask(t, "run", "first")
	r.await(t, "with its input", func() bool { return len(r.got()) == 1 && len(gone.got()) == 1 })
	if !strings.Contains(r.got()[0].Raw, "input-first") {
		t.Fatal("no input came: this test shows nothing")
	}
	other := storetest.Again(t, p.Store, storetest.WithClock(p.clock))
	storetest.Must(t, other.Webhooks.Pause(t.Context(), p.admin, g.ID))
	in.Inputs = false
	storetest.Must(t, other.Webhooks.Change(t.Context(), p.admin, h.ID, in))
	p.ask(t, "run", "second")
	r.await(t, "the second", func() bool { return len(r.got()) == 2 })
	if strings.Contains(r.got()[1].Raw, "input-second") {
		t.Error("an input was sent, and the right to it was gone")
	}
	storetest.Must(t, other.People.AllowHost(t.Context(), p.admin, moved.Listener.Addr().String()))
	key, err := other.Webhooks.Rotate(t.Context(), p.admin, h.ID)
	storetest.Must(t, err)
	moved.key(t, key)
	in.URL = moved.URL
	storetest.Must(t, other.Webhooks.Change(t.Context(), p.admin, h.ID, in))
	p.ask(t, "run", "third")
	moved.await(t, "the third elsewhere", func() bool { return len(moved.got()) == 1 })
	if len(r.tried()) != 2 || len(gone.tried()) != 1 || len(moved.bad) > 0 {
		t.Errorf("%d attempts at the old address, %d at the one that was paused, %d not verified", len(r.tried()), len(gone.tried()), len(moved.bad))
	}
}

// Where the clock is set back, what was refused does not wait for the time of before.
func TestTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	p, r := newPlace(t), newReceiver(t)
	h := p.add(t, r, requested())
	r.set(func(event) int { return http.StatusServiceUnavailable })
	p.runs(t)
	a := p.ask(t, "run", "one")
	r.await(t, "a refusal", func() bool { return p.state(t, h.ID).BlockCount == 1 })
	p.clock.Step(-48 * time.Hour)
	r.set(nil)
	p.Bus().Publish(events.Webhooks)
	r.await(t, "the event", func() bool { return attempts(r.got(), a) == 1 })
}

// A cursor and blocks that are beyond the ledger's end, as when somebody has put files together,
// keep nothing back.
func TestAPositionBeyondTheLedgerKeepsNothingBack(t *testing.T) {
	t.Parallel()
	p, r := newPlace(t), newReceiver(t)
	h := p.add(t, r, requested())
	first := p.ask(t, "run", "one")
	for _, change := range []string{
		`UPDATE webhooks SET cursor = 100000`,
		`INSERT INTO webhook_blocks (webhook_id, stream, conversation_id, response_id, next_seq, type, since, due_at, attempts, class, status)
 SELECT '` + string(h.ID) + `', '` + string(first.ConversationID) + `', '` + string(first.ConversationID) + `', '', 100000, 'approval.requested', created_at, created_at, 1, 'rejected', 400 FROM webhooks`,
		`INSERT INTO webhook_blocks (webhook_id, stream, conversation_id, response_id, next_seq, type, since, due_at, attempts, class, status)
 SELECT '` + string(h.ID) + `', '', '', '', 100000, '', created_at, created_at, 0, '', 0 FROM webhooks`,
	} {
		storetest.Must(t, storetest.Err(storetest.Tamper(t, p.Store).ExecContext(t.Context(), change)))
	}
	p.runs(t)
	r.await(t, "nothing is blocked", func() bool { s := p.state(t, h.ID); return s.BlockCount == 0 && s.Cursor < 1000 })
	a := p.ask(t, "run", "two")
	r.await(t, "the event", func() bool { return attempts(r.got(), a) == 1 })
}

// A process that has lost its lease in the middle of an attempt spoils nothing: another goes on
// in order, and all arrives.
func TestAnotherProcessTakesOverInTheMiddleOfAnAttempt(t *testing.T) {
	t.Parallel()
	p, r := newPlace(t), newReceiver(t)
	h := p.add(t, r, requested())
	var mu sync.Mutex
	first := true
	gone := make(chan struct{})
	letGo := sync.OnceFunc(func() { close(gone) })
	t.Cleanup(letGo)
	r.set(func(event) int {
		mu.Lock()
		hangs := first
		first = false
		mu.Unlock()
		if hangs {
			<-gone
		}
		return http.StatusOK
	})
	const ttl = 10 * time.Second
	lasting := func(name string) func(*webhooks.Options) {
		return func(o *webhooks.Options) { o.LeaseTTL, o.Holder, o.Out = ttl, name, p.out(time.Hour) }
	}
	p.runs(t, lasting("one"))
	for i := range 4 {
		p.ask(t, "run", fmt.Sprint(i))
	}
	r.await(t, "the first attempt", func() bool { mu.Lock(); defer mu.Unlock(); return !first })
	q := *p
	q.Store = storetest.Again(t, p.Store, storetest.WithClock(p.clock))
	q.runs(t, lasting("two"))
	r.await(t, "the other takes over", func() bool {
		if r.count() == 0 {
			p.clock.Step(2 * ttl)
			q.Bus().Publish(events.Webhooks)
		}
		return r.count() >= 4
	})
	letGo()
	r.await(t, "all is kept", func() bool { return p.sent(t, h.ID) })
	p.stop()
	q.stop()
	checkOrder(t, p.wanted(t, h.Cursor, func(e models.Entry) bool { return e.Action == "approval.requested" }), r.got())
	if len(r.bad) > 0 {
		t.Errorf("%q", r.bad)
	}
}

// Endpoints that never answer don't hold up one that does, however many they are.
func TestManySilentEndpointsHoldUpNoOther(t *testing.T) {
	t.Parallel()
	p, good, silent := newPlace(t), newReceiver(t), newReceiver(t)
	silent.Config.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-t.Context().Done():
		}
	})
	for i := range models.MaxWebhooks - 1 {
		in := requested()
		in.Name = fmt.Sprint("silent ", i)
		p.add(t, silent, in)
	}
	h := p.add(t, good, requested())
	p.runs(t, func(o *webhooks.Options) { o.Out = p.out(time.Hour) })
	for i := range 20 {
		p.ask(t, fmt.Sprint("run ", i), fmt.Sprint(i))
	}
	good.await(t, "the good one gets all", func() bool { return p.sent(t, h.ID) })
	if len(good.got()) != 20 {
		t.Errorf("it got %d", len(good.got()))
	}
	p.stop()
}

// An endpoint that refuses everything leaves no rows without end: so many conversations wait, the
// cursor waits with them, and so many answers are kept. Once it takes events, all come.
func TestWhatARefusingEndpointLeavesIsBounded(t *testing.T) {
	t.Parallel()
	p, r := newPlace(t), newReceiver(t)
	h := p.add(t, r, requested())
	r.set(func(event) int { return http.StatusUnprocessableEntity })
	for i := range models.MaxWebhookBlocks + 50 {
		p.ask(t, fmt.Sprint("run ", i), fmt.Sprint(i))
	}
	want := p.wanted(t, h.Cursor, func(e models.Entry) bool { return e.Action == "approval.requested" })
	p.runs(t)
	r.await(t, "as many as may be", func() bool { return p.state(t, h.ID).BlockCount == models.MaxWebhookBlocks })
	for range 5 {
		before := len(r.tried())
		p.clock.Step(models.WebhookLongPause)
		p.Bus().Publish(events.Webhooks)
		r.await(t, "they are tried again", func() bool { return len(r.tried()) > before })
	}
	if s := p.state(t, h.ID); s.BlockCount > models.MaxWebhookBlocks || s.Behind < 50 {
		t.Errorf("%d wait, and the cursor is %d behind", s.BlockCount, s.Behind)
	}
	if n := storetest.Scalar[int](t, p.Store, `SELECT count(*) FROM webhook_answers`); n != models.WebhookAnswers {
		t.Errorf("%d answers are kept", n)
	}
	r.set(nil)
	storetest.Must(t, p.Webhooks.RetryNow(t.Context(), p.admin, h.ID))
	r.await(t, "all", func() bool { return p.sent(t, h.ID) })
	checkOrder(t, want, r.got())
	if n := storetest.Scalar[int](t, p.Store, `SELECT count(*) FROM webhook_blocks`); n != 0 {
		t.Errorf("%d rows of blocks are left", n)
	}
}

// After an outage, an event that an endpoint still can't take keeps none of the others: neither
// where it says that the event is wrong, nor where it fails on it.
func TestOneEventThatFailsAfterAnOutageKeepsNoOther(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusUnprocessableEntity, http.StatusInternalServerError} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			p, r := newPlace(t), newReceiver(t)
			h := p.add(t, r, requested())
			r.set(func(event) int { return http.StatusServiceUnavailable })
			first := p.ask(t, "run 0", "first")
			p.runs(t)
			r.await(t, "the first is refused", func() bool { return p.state(t, h.ID).BlockCount == 1 })
			for i := range models.WebhookDownAfter + 2 {
				p.ask(t, fmt.Sprint("run ", i+1), fmt.Sprint(i))
			}
			passes := func() {
				p.clock.Step(2 * models.WebhookLongPause)
				p.Bus().Publish(events.Webhooks)
			}
			r.await(t, "all are refused", func() bool {
				passes()
				return p.state(t, h.ID).BlockCount == models.WebhookDownAfter+3
			})
			r.set(func(e event) int {
				if e.Data.Request["id"] == string(first.ID) {
					return status
				}
				return http.StatusOK
			})
			r.await(t, "all but the first", func() bool {
				if r.count() == 0 {
					passes()
				}
				return r.count() == models.WebhookDownAfter+2
			})
			r.await(t, "it is kept", func() bool { return p.state(t, h.ID).BlockCount == 1 })
		})
	}
}
