package deliver_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"countersign/models"
	"countersign/models/outside"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/workers/deliver"
	"countersign/workers/upstream/upstreamtest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"))
}

const key = "key-31bd00e7"

// patience is how long anything may take that should happen soon.
const patience = time.Minute

// place is a store with one person, who owns all upstreams.
type place struct {
	*store.Store

	owner models.Actor
	poll  *models.Lease
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
	p := &place{Store: storetest.New(t, opts...), said: &syncBuffer{}}
	p.owner = storetest.Admin(t, p.Store)
	var err error
	p.poll, err = p.Nodes.TakeLease(t.Context(), "poll", "test", 1000*time.Hour)
	must(t, err)
	return p
}

// far is a fake upstream of a place.
type far struct {
	*upstreamtest.Server

	p  *place
	id models.UpstreamID
}

func (p *place) upstream(t *testing.T, name string, o upstreamtest.Options) *far {
	t.Helper()
	o.Key = key
	s := upstreamtest.New(t, o)
	dialect := "plain"
	if o.Cloud {
		dialect = "cloud"
	}
	u, err := outside.New(p.Store).AddUpstream(t.Context(), p.owner, outside.NewUpstream{Name: name, BaseURL: s.URL, Dialect: dialect, Key: key, OwnerID: p.owner.OwnerID})
	must(t, err)
	return &far{s, p, u.ID}
}

// call has the upstream ask about a call, takes it, and decides it.
func (f *far) call(t *testing.T, id string, approved bool) models.ResponseID {
	t.Helper()
	f.Ask(upstreamtest.Call{CallID: id, Fn: "bash"})
	return f.decide(t, models.OutsideItem{Kind: models.OutsideCallKind, CallID: id, Name: "bash", Arguments: []byte(`{}`)}, models.DecisionInput{Approved: &approved, Reason: "as decided"})
}

func (f *far) contact(t *testing.T, id string, in models.DecisionInput, options ...string) models.ResponseID {
	t.Helper()
	f.AskHuman(upstreamtest.Contact{CallID: id, Msg: "Why?", Options: options})
	item := models.OutsideItem{Kind: models.OutsideContact, CallID: id, Message: "Why?"}
	for _, name := range options {
		item.Options = append(item.Options, models.Option{Name: name})
	}
	return f.decide(t, item, in)
}

func (f *far) decide(t *testing.T, item models.OutsideItem, in models.DecisionInput) models.ResponseID {
	t.Helper()
	must(t, outside.New(f.p.Store).Take(t.Context(), f.p.poll, f.id, item))
	var id models.ResponseID
	f.p.read(t, `SELECT id FROM responses WHERE upstream_id = ? AND call_id = ?`, []any{f.id, item.CallID}, &id)
	_, err := f.p.Decide(t.Context(), f.p.owner, id, in)
	must(t, err)
	return id
}

func (p *place) read(t *testing.T, query string, args []any, into ...any) {
	t.Helper()
	must(t, storetest.Beside(t, p.Store).QueryRowContext(t.Context(), query, args...).Scan(into...))
}

// stands is the status and cause of a request, and what its delivery came to.
func (p *place) stands(t *testing.T, id models.ResponseID) string {
	t.Helper()
	var status string
	p.read(t, `SELECT trim(r.approval_status || ' ' || r.cause) || ', ' || d.outcome FROM responses r JOIN deliveries d ON d.response_id = r.id WHERE r.id = ?`, []any{id}, &status)
	return status
}

func (p *place) deliverer(t *testing.T, o deliver.Options) *deliver.Deliverer {
	t.Helper()
	o.Store, o.Log, o.HTTP = p.Store, slog.New(slog.NewTextHandler(p.said, &slog.HandlerOptions{Level: slog.LevelDebug})), &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 20}}
	if o.Timeout == 0 {
		o.Timeout = patience
	}
	if o.FirstRetry == 0 {
		o.FirstRetry = time.Millisecond
	}
	made := deliver.New(o)
	t.Cleanup(o.HTTP.CloseIdleConnections)
	return made
}

// run has a deliverer run until the test ends or stop is called.
func run(t *testing.T, made *deliver.Deliverer) (stop func()) {
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
