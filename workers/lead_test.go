package workers_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/workers"
)

// post is a lease that a test gives and takes.
type post struct {
	mu      sync.Mutex
	number  int64 // 0: another process has it
	idle    bool  // nobody needs it
	err     error
	takes   chan struct{} // one for each try
	dropped []int64
	holders map[string]bool

	begun, ended chan int64
	bus          *events.Bus
}

func (p *post) set(number int64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.number, p.err = number, err
}

// TakeLease gives the lease as the test says.
func (p *post) TakeLease(_ context.Context, name, holder string, ttl time.Duration) (*models.Lease, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holders[holder] = true
	if p.takes <- struct{}{}; p.err != nil || p.number == 0 {
		return nil, p.err
	}
	if name != "post" || ttl <= 0 {
		return nil, errors.New("not our lease")
	}
	return &models.Lease{Name: name, Holder: holder, Number: p.number}, nil
}

// DropLease notes what is given back.
func (p *post) DropLease(ctx context.Context, l *models.Lease) error {
	p.dropped = append(p.dropped, l.Number)
	return ctx.Err()
}

func (p *post) lead(t *testing.T, ttl time.Duration, log *slog.Logger) (stop func()) {
	t.Helper()
	p.takes, p.begun, p.ended, p.bus = make(chan struct{}, 1000), make(chan int64, 10), make(chan int64, 10), events.NewBus()
	p.holders = map[string]bool{}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		workers.Lead(ctx, log, workers.Post{
			Name: "post", TTL: ttl, Leases: p, Bus: p.bus, Topics: []events.Topic{events.Outside},
			HasWork: func(context.Context) (bool, error) {
				p.mu.Lock()
				defer p.mu.Unlock()
				return !p.idle, nil
			},
			Work: func(ctx context.Context, l *models.Lease) {
				p.begun <- l.Number
				<-ctx.Done()
				p.ended <- l.Number
			},
		})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	t.Cleanup(stop)
	return stop
}

func got(t *testing.T, what string, from <-chan int64, want int64) {
	t.Helper()
	select {
	case n := <-from:
		if n != want {
			t.Fatalf("%s: %d, want %d", what, n, want)
		}
	case <-time.After(time.Minute):
		t.Fatalf("%s: nothing", what)
	}
}

func TestWorkFollowsTheRightToIt(t *testing.T) {
	t.Parallel()
	p, said := &post{}, &bytes.Buffer{}
	stop := p.lead(t, 4*time.Millisecond, slog.New(slog.NewTextHandler(said, nil)))
	<-p.takes
	p.set(3, nil)
	got(t, "begun", p.begun, 3)
	// One that cannot be renewed refuses writes by itself; the work goes on.
	p.set(0, errors.New("the disk is full"))
	for n := len(p.takes) + 2; n > 0; n-- {
		<-p.takes
	}
	p.set(3, nil)
	// Lost and got back: what began under the old number ends first.
	p.set(5, nil)
	got(t, "ended", p.ended, 3)
	got(t, "begun", p.begun, 5)
	p.set(0, nil)
	got(t, "ended", p.ended, 5)
	p.set(7, nil)
	got(t, "begun", p.begun, 7)
	stop()
	got(t, "ended", p.ended, 7)
	if len(p.dropped) != 1 || p.dropped[0] != 7 {
		t.Errorf("given back: %v", p.dropped)
	}
	if text := said.String(); !strings.Contains(text, "the disk is full") || strings.Contains(text, "not given back") {
		t.Errorf("said %s", text)
	}
}

func TestWhoHasNoRightToWorkIsWoken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &post{}
		stop := p.lead(t, time.Hour, slog.New(slog.DiscardHandler))
		tell := func() (tries int) {
			synctest.Wait()
			before := len(p.takes)
			p.bus.Publish(events.Outside)
			synctest.Wait()
			return len(p.takes) - before
		}
		if n := tell(); n != 1 {
			t.Errorf("who has no right tries %d times when told", n)
		}
		p.set(1, nil)
		if n := tell(); n != 1 || len(p.begun) != 1 {
			t.Errorf("who may have it tries %d times, and began %d times", n, len(p.begun))
		}
		if n := tell(); n != 0 {
			t.Errorf("who has the right asks for it %d times when told", n)
		}
		stop()
		if len(p.dropped) != 1 {
			t.Errorf("given back: %v", p.dropped)
		}
	})
}

func TestWhoNeverHadTheRightGivesNothingBack(t *testing.T) {
	t.Parallel()
	p := &post{}
	stop := p.lead(t, 4*time.Millisecond, slog.New(slog.DiscardHandler))
	<-p.takes
	stop()
	if len(p.dropped) != 0 || len(p.begun) != 0 {
		t.Errorf("given back: %v", p.dropped)
	}
}

// A process keeps one name, made up where it has none, and lets go of work that nobody
// needs any more.
func TestWorkEndsWhereNobodyNeedsIt(t *testing.T) {
	t.Parallel()
	p := &post{number: 2}
	stop := p.lead(t, 4*time.Millisecond, slog.New(slog.DiscardHandler))
	got(t, "begun", p.begun, 2)
	p.mu.Lock()
	p.idle = true
	p.mu.Unlock()
	got(t, "ended", p.ended, 2)
	stop()
	if len(p.holders) != 1 || p.holders[""] {
		t.Errorf("held as %v", p.holders)
	}
	if len(p.dropped) != 0 {
		t.Errorf("given back after it was let go: %v", p.dropped)
	}
}
