package webhooks_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/workers/webhooks"
)

// pace is how many loops a second the paced benchmarks make.
const pace = 50

// BenchmarkLoopBesideWebhooks is ask and decide at a pace that a busy office has, and as fast as
// it goes, without a webhook and beside ten, of which one is dead and one slow. The endpoints
// and the worker share the machine with the loop.
func BenchmarkLoopBesideWebhooks(b *testing.B) {
	for _, endpoints := range []int{0, 10} {
		for _, paced := range []bool{true, false} {
			b.Run(fmt.Sprintf("endpoints=%d/paced=%v", endpoints, paced), func(b *testing.B) {
				p := newBenchPlace(b)
				if endpoints > 0 {
					p.addTen(b)
					p.runs(b, func(o *webhooks.Options) { o.KeepEvery = 0 })
				}
				p.loops(b, b.N, paced)
			})
		}
	}
}

// BenchmarkCatchUp is an endpoint that was down for a day in which 100,000 entries were made:
// how long it takes to get all, and what a loop takes meanwhile.
func BenchmarkCatchUp(b *testing.B) {
	const entries = 100_000
	p := newBenchPlace(b)
	h := p.addAt(b, "back", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	storetest.SeedLedger(b, p.Store, p.agent, p.admin, entries)
	for b.Loop() {
		storetest.Must(b, p.Webhooks.Replay(b.Context(), p.admin, h.ID, models.WebhookFrom{Seq: 1}))
		began := time.Now()
		p.runs(b, func(o *webhooks.Options) { o.KeepEvery = 0 })
		n := 0
		for p.state(b, h.ID).Behind > 50 {
			p.loops(b, 20, true)
			n += 20
		}
		p.stop()
		b.ReportMetric(time.Since(began).Seconds(), "s/100000")
	}
}

func newBenchPlace(b *testing.B) *place {
	b.Helper()
	return newPlace(b, func(o *store.Options) { o.Now = time.Now })
}

// addTen adds eight endpoints that answer at once, one that is dead and one that is slow.
func (p *place) addTen(b *testing.B) {
	b.Helper()
	for i := range 8 {
		p.addAt(b, fmt.Sprint("good ", i), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	}
	done := make(chan struct{})
	p.addAt(b, "slow", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		select {
		case <-time.After(3 * time.Second):
		case <-done:
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	b.Cleanup(func() { close(done) })
	dead := storetest.ClosedPort(b)
	storetest.Must(b, p.People.AllowHost(b.Context(), p.admin, dead))
	storetest.Must(b, storetest.Err3(p.Webhooks.Add(b.Context(), p.admin, models.WebhookInput{Name: "dead", URL: "http://" + dead})))
}

func (p *place) addAt(b *testing.B, name string, handler http.Handler) *models.Webhook {
	b.Helper()
	server := httptest.NewServer(handler)
	b.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	storetest.Must(b, err)
	storetest.Must(b, p.People.AllowHost(b.Context(), p.admin, at.Host))
	h, _, err := p.Webhooks.Add(b.Context(), p.admin, models.WebhookInput{Name: name, URL: server.URL})
	storetest.Must(b, err)
	return h
}

// loops makes n loops, several at once, and reports how long the middle one and the hundredth
// slowest took.
func (p *place) loops(b *testing.B, n int, paced bool) {
	b.Helper()
	const askers = 4
	var mu sync.Mutex
	var took []time.Duration
	var all sync.WaitGroup
	next := time.NewTicker(time.Second / pace)
	defer next.Stop()
	for one := range askers {
		all.Go(func() {
			for i := one; i < n; i += askers {
				if paced {
					<-next.C
				}
				began := time.Now()
				a := p.ask(b, fmt.Sprint("run ", i%20), string(models.NewID[models.ResponseID]()))
				if _, err := p.Decide(b.Context(), p.admin, a.ID, models.DecisionInput{Approved: new(true), Digest: a.Digest}); err != nil {
					b.Errorf("decide: %v", err)
				}
				mu.Lock()
				took = append(took, time.Since(began))
				mu.Unlock()
			}
		})
	}
	all.Wait()
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}
