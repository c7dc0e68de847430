package webhooks_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/workers/webhooks"
)

// killedEnv holds the folder of the process that is to be killed, killedURLEnv its database; killRoundsEnv how often that
// happens, where it is not as often as in make test.
const killedEnv, killedURLEnv, killRoundsEnv = "WEBHOOKS_KILLED", "WEBHOOKS_KILLED_URL", "KILL_ROUNDS"

// sendUntilKilled is the process that is killed: a worker as a server has it.
func sendUntilKilled(dir string) int {
	ctx := context.Background()
	log := slog.New(slog.DiscardHandler)
	s, err := store.Open(ctx, store.Options{Dir: dir, URL: os.Getenv(killedURLEnv), Log: log})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	go func() { // as a server does: what is asked comes from another process
		for range time.Tick(20 * time.Millisecond) {
			_ = s.CheckOutside(ctx)
		}
	}()
	webhooks.New(webhooks.Options{Store: s, Out: outOf(s, 5*time.Second), Log: log, LeaseTTL: 300 * time.Millisecond, KeepEvery: 50 * time.Millisecond}).Run(ctx)
	return 0
}

// sender is a process that sends.
func sender(t *testing.T, dir string) (kill func()) {
	t.Helper()
	process := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0])
	process.Env = append(os.Environ(), killedEnv+"="+dir, killedURLEnv+"="+storetest.URL(t, dir))
	process.Stderr = os.Stderr
	storetest.Must(t, process.Start())
	return sync.OnceFunc(func() {
		_ = process.Process.Kill() // kill -9
		_ = process.Wait()
	})
}

// Killed with kill -9 again and again while requests come in, some of which are refused, the
// worker sends every event, in order within each conversation, and counts none as sent that was
// not (I8).
func TestKilledWhileSendingI8(t *testing.T) {
	t.Parallel()
	rounds, err := strconv.Atoi(os.Getenv(killRoundsEnv))
	if err != nil {
		rounds = 10
	}
	dir, r := storetest.Dir(t), newReceiver(t)
	p := newPlace(t, storetest.WithDir(dir), func(o *store.Options) { o.Now = time.Now })
	h := p.add(t, r, models.WebhookInput{})
	r.set(func(event) int {
		if rand.IntN(20) == 0 {
			return http.StatusServiceUnavailable
		}
		return http.StatusOK
	})
	kill := sender(t, dir)
	defer func() { kill() }()
	for round := range rounds {
		enough, before := make(chan struct{}), r.count()
		var asking sync.WaitGroup
		asking.Go(func() {
			pace := time.NewTicker(5 * time.Millisecond)
			defer pace.Stop()
			for n := 0; !isClosed(enough); <-pace.C {
				if n-(r.count()-before)/2 > 30 { // the worker needs the lock of the database too: more would starve it
					continue
				}
				n++
				a := p.ask(t, fmt.Sprint("run ", n%5), fmt.Sprint(round, " ", n))
				if _, err := p.Decide(t.Context(), p.admin, a.ID, models.DecisionInput{Approved: new(n%2 == 0), Digest: a.Digest}); err != nil {
					t.Errorf("decide: %v", err)
				}
			}
		})
		goal := before + 20 + rand.IntN(100)
		r.await(t, "events", func() bool { return r.count() >= goal })
		kill()
		close(enough)
		asking.Wait()
		p.checkSent(t, h, r)
		kill = sender(t, dir)
	}
	r.set(nil)
	storetest.Must(t, p.Webhooks.RetryNow(t.Context(), p.admin, h.ID))
	for came := -1; !p.sent(t, h.ID); { // as long as it gets on
		if came == r.count() {
			t.Fatalf("it gets on no more: %+v", p.state(t, h.ID))
		}
		came = r.count()
		for limit := time.Now().Add(patience); r.count() == came && !p.sent(t, h.ID) && time.Now().Before(limit); {
			<-time.After(100 * time.Millisecond)
		}
	}
	kill()
	p.checkSent(t, h, r)
	got := r.got()
	want := p.wanted(t, h.Cursor, nil)
	checkOrder(t, want, got)
	entries := 0
	for _, numbers := range want {
		entries += len(numbers)
	}
	if len(r.bad) > 0 {
		t.Errorf("%d could not be verified, such as %s", len(r.bad), r.bad[0])
	}
	ids := map[int64]string{}
	for _, e := range r.tried() {
		if id := ids[e.Data.Sequence]; id != "" && id != e.ID {
			t.Errorf("entry %d came as %s and as %s", e.Data.Sequence, id, e.ID)
		}
		ids[e.Data.Sequence] = e.ID
	}
	t.Logf("%d kills: %d events, %d of them again", rounds, entries, len(got)-entries)
}

// checkSent checks that all that counts as sent was accepted.
func (p *place) checkSent(t *testing.T, h *models.Webhook, r *receiver) {
	t.Helper()
	blocks, err := p.Webhooks.Blocks(t.Context(), p.admin, h.ID)
	storetest.Must(t, err)
	cursor := p.state(t, h.ID).Cursor
	from := map[string]int64{}
	for _, b := range blocks {
		from[b.Stream] = b.Seq
	}
	came := map[int64]bool{}
	for _, e := range r.got() {
		came[e.Data.Sequence] = true
	}
	for stream, numbers := range p.wanted(t, h.Cursor, nil) {
		for _, seq := range numbers {
			if blocked, ok := from[stream]; seq <= cursor && (!ok || seq < blocked) && !came[seq] {
				t.Fatalf("entry %d of %q counts as sent, and was not", seq, stream)
			}
		}
	}
}

// sent reports whether an endpoint has got all.
func (p *place) sent(t *testing.T, id models.WebhookID) bool {
	t.Helper()
	s := p.state(t, id)
	return s.Behind == 0 && s.BlockCount == 0
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
