package poll_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"countersign/models"
	"countersign/models/outside"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/workers/poll"
	"countersign/workers/upstream/upstreamtest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"))
}

const key = "key-77aa01c4"

// patience is how long anything may take that should happen soon.
const patience = time.Minute

// place is a store with one person, who owns all upstreams.
type place struct {
	*store.Store

	clock *storetest.Clock
	owner models.Actor
	said  *syncBuffer
}

type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func newPlace(t *testing.T, opts ...storetest.Option) *place {
	t.Helper()
	p := &place{clock: storetest.NewClock(), said: &syncBuffer{}}
	if opts == nil {
		opts = []storetest.Option{storetest.WithClock(p.clock)}
	}
	p.Store = storetest.New(t, opts...)
	p.owner = storetest.Admin(t, p.Store)
	return p
}

// upstream adds a fake upstream.
func (p *place) upstream(t *testing.T, name string, o upstreamtest.Options) *upstreamtest.Server {
	t.Helper()
	o.Key = key
	s := upstreamtest.New(t, o)
	dialect := "plain"
	if o.Cloud {
		dialect = "cloud"
	}
	_, err := outside.New(p.Store).AddUpstream(t.Context(), p.owner, outside.NewUpstream{Name: name, BaseURL: s.URL, Dialect: dialect, Key: key, OwnerID: p.owner.OwnerID})
	must(t, err)
	return s
}

// counting is an HTTP client that counts what it is asked for.
type counting struct {
	http.RoundTripper

	n atomic.Int64
}

func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	c.n.Add(1)
	return c.RoundTripper.RoundTrip(r)
}

func (p *place) poller(t *testing.T, o poll.Options) (*poll.Poller, *counting) {
	t.Helper()
	c := &counting{RoundTripper: &http.Transport{}}
	o.Store, o.Log, o.HTTP = p.Store, slog.New(slog.NewTextHandler(p.said, &slog.HandlerOptions{Level: slog.LevelDebug})), &http.Client{Transport: c}
	if o.Timeout == 0 {
		o.Timeout = patience
	}
	made := poll.New(o)
	t.Cleanup(o.HTTP.CloseIdleConnections)
	return made, c
}

// once polls all upstreams that are due, one after the other.
func (p *place) once(t *testing.T, made *poll.Poller) {
	t.Helper()
	l, err := p.Nodes.TakeLease(t.Context(), "poll", "test", 1000*time.Hour)
	must(t, err)
	due, _, err := outside.New(p.Store).DueUpstreams(t.Context())
	must(t, err)
	for i := range due {
		made.Once(t.Context(), l, &due[i])
	}
}

// run has a poller run until the test ends or stop is called.
func run(t *testing.T, made *poll.Poller) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		made.Run(ctx)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	t.Cleanup(stop)
	return stop
}

func (p *place) state(t *testing.T) models.UpstreamState {
	t.Helper()
	all, err := outside.New(p.Store).UpstreamStates(t.Context(), p.owner)
	must(t, err)
	return all[0]
}

// stand is how the requests of upstreams stand, by their calls.
func (p *place) stand(t *testing.T) map[string]string {
	t.Helper()
	rows, err := storetest.Beside(t, p.Store).QueryContext(t.Context(), `SELECT call_id, trim(approval_status || ' ' || cause) FROM responses WHERE upstream_id IS NOT NULL`)
	must(t, err)
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var call, status string
		must(t, rows.Scan(&call, &status))
		out[call] = status
	}
	must(t, rows.Err())
	return out
}

func eventually(t *testing.T, what string, seen func() bool) {
	t.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	late := time.After(patience)
	for !seen() {
		select {
		case <-look.C:
		case <-late:
			t.Fatalf("not seen in %v: %s", patience, what)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
