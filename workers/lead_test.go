package workers_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/workers"
)

// post is a right that a test gives and takes.
type post struct {
	mu      sync.Mutex
	number  int64
	err     error
	takes   chan struct{} // one for each try
	dropped []int64

	begun, ended chan int64
	wake         chan struct{}
}

func (p *post) set(number int64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.number, p.err = number, err
}

func (p *post) lead(t *testing.T, renew time.Duration, log *slog.Logger) (stop func()) {
	t.Helper()
	p.takes, p.begun, p.ended, p.wake = make(chan struct{}, 1000), make(chan int64, 10), make(chan int64, 10), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		workers.Lead(ctx, log, workers.Post{
			Name: "post", Renew: renew, Wake: p.wake,
			Take: func(context.Context) (int64, error) {
				p.mu.Lock()
				defer p.mu.Unlock()
				p.takes <- struct{}{}
				return p.number, p.err
			},
			Drop: func(ctx context.Context, n int64) error {
				p.dropped = append(p.dropped, n)
				return ctx.Err()
			},
			Work: func(ctx context.Context, n int64) {
				p.begun <- n
				<-ctx.Done()
				p.ended <- n
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
	case <-time.After(20 * time.Second):
		t.Fatalf("%s: nothing", what)
	}
}

func TestWorkFollowsTheRightToIt(t *testing.T) {
	t.Parallel()
	p, said := &post{}, &bytes.Buffer{}
	stop := p.lead(t, time.Millisecond, slog.New(slog.NewTextHandler(said, nil)))
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
	p := &post{}
	stop := p.lead(t, time.Hour, slog.New(slog.DiscardHandler))
	<-p.takes
	p.set(1, nil)
	p.wake <- struct{}{}
	<-p.takes
	got(t, "begun", p.begun, 1)
	p.wake <- struct{}{} // it has it
	p.wake <- struct{}{}
	if len(p.takes) != 0 {
		t.Error("who has the right asks for it at each call")
	}
	stop()
	if len(p.dropped) != 1 {
		t.Errorf("given back: %v", p.dropped)
	}
}

func TestWhoNeverHadTheRightGivesNothingBack(t *testing.T) {
	t.Parallel()
	p := &post{}
	stop := p.lead(t, time.Millisecond, slog.New(slog.DiscardHandler))
	<-p.takes
	stop()
	if len(p.dropped) != 0 || len(p.begun) != 0 {
		t.Errorf("given back: %v", p.dropped)
	}
}
