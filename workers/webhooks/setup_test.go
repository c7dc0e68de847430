package webhooks_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"go.uber.org/goleak"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/workers/outward"
	"countersign/workers/webhooks"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(killedEnv); dir != "" {
		os.Exit(sendUntilKilled(dir))
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"))
}

// patience is how long anything may take that should happen soon.
const patience = time.Minute

// event is what an endpoint got.
type event struct {
	ID   string
	Raw  string
	Head http.Header

	Type string `json:"type"`
	Data struct {
		ID           string `json:"id"`
		Sequence     int64  `json:"sequence"`
		Conversation *struct {
			ID string `json:"id"`
		} `json:"conversation"`
		Actor   map[string]any `json:"actor"`
		Details map[string]any `json:"details"`
		Request map[string]any `json:"request"`
	} `json:"data"`
}

func (e event) stream() string {
	if e.Data.Conversation != nil {
		return e.Data.Conversation.ID
	}
	id, _ := e.Data.Request["id"].(string)
	return id
}

// receiver is an endpoint as somebody else would write it: it verifies by the official library.
type receiver struct {
	*httptest.Server

	mu       sync.Mutex
	verify   *standardwebhooks.Webhook
	answer   func(event) int // nil: 200
	echoes   bool            // it answers with what it got
	head     http.Header     // of each answer
	says     []byte          // the body of each answer
	accepted []event
	seen     []event
	bad      []string
	came     chan struct{}
}

func newReceiver(tb testing.TB) *receiver {
	tb.Helper()
	return newReceiverAt(tb, func(l net.Listener) net.Listener { return l })
}

func newReceiverAt(tb testing.TB, at func(net.Listener) net.Listener) *receiver {
	tb.Helper()
	r := &receiver{came: make(chan struct{}, 1)}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(r.take))
	r.Listener = at(r.Listener)
	r.Start()
	tb.Cleanup(r.Close)
	return r
}

// tap is a listener that keeps every byte that comes in.
type tap struct {
	net.Listener

	mu  sync.Mutex
	all bytes.Buffer
}

func (l *tap) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return &tapped{c, l}, err
}

// heard are the bytes that came so far.
func (l *tap) heard() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

type tapped struct {
	net.Conn

	l *tap
}

func (c *tapped) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	c.l.all.Write(p[:n])
	return n, err
}

func (r *receiver) key(tb testing.TB, secret string) {
	tb.Helper()
	verify, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		tb.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.verify = verify
}

func (r *receiver) take(w http.ResponseWriter, req *http.Request) {
	raw, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	r.mu.Lock()
	e := event{ID: req.Header.Get("webhook-id"), Raw: string(raw), Head: req.Header}
	err = r.verify.VerifyIgnoringTimestamp(raw, req.Header)
	if err == nil {
		err = json.Unmarshal(raw, &e)
	}
	if err != nil || e.ID != e.Data.ID {
		r.bad = append(r.bad, e.Raw)
		r.mu.Unlock()
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	answer, echoes := r.answer, r.echoes
	r.mu.Unlock()
	status := http.StatusOK
	if answer != nil {
		status = answer(e)
	}
	r.mu.Lock()
	r.seen = append(r.seen, e)
	if status >= 200 && status <= 299 {
		r.accepted = append(r.accepted, e)
	}
	r.mu.Unlock()
	maps.Copy(w.Header(), r.head)
	if w.WriteHeader(status); echoes {
		_, _ = w.Write(raw[max(0, len(raw)-1000):])
	}
	_, _ = w.Write(r.says)
	select {
	case r.came <- struct{}{}:
	default:
	}
}

func (r *receiver) set(answer func(event) int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = answer
}

// got are the events that were accepted.
func (r *receiver) got() []event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]event{}, r.accepted...)
}

// count is how many were accepted.
func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.accepted)
}

func (r *receiver) tried() []event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]event{}, r.seen...)
}

// await waits until something is so of what has come.
func (r *receiver) await(tb testing.TB, what string, so func() bool) {
	tb.Helper()
	limit := time.After(patience)
	for !so() {
		select {
		case <-r.came:
		case <-time.After(50 * time.Millisecond):
		case <-limit:
			r.mu.Lock()
			defer r.mu.Unlock()
			tb.Fatalf("%s: not so after %v: %d accepted of %d, %d bad", what, patience, len(r.accepted), len(r.seen), len(r.bad))
		}
	}
}

// place is an office with an admin, an agent and a worker.
type place struct {
	*store.Store

	clock *storetest.Clock
	admin models.Actor
	agent models.Actor
	stop  func()
}

func newPlace(tb testing.TB, opts ...storetest.Option) *place {
	tb.Helper()
	p := &place{clock: storetest.NewClock(), stop: func() {}}
	p.Store = storetest.New(tb, append([]storetest.Option{storetest.WithClock(p.clock), func(o *store.Options) { o.AsksPerMinute, o.PendingPerAgent = -1, -1 }}, opts...)...)
	p.admin = storetest.Admin(tb, p.Store)
	p.agent, _ = storetest.AgentToken(tb, p.Store, p.admin, "bot")
	return p
}

// out is the way out, to the hosts that the office allows.
func (p *place) out(timeout time.Duration) *outward.Client { return outOf(p.Store, timeout) }

func outOf(p *store.Store, timeout time.Duration) *outward.Client {
	return outward.New(outward.Options{Timeout: timeout, Now: p.Now, Hosts: allowedBy(p)})
}

// outBy is the way out as it is described, to the hosts that the office allows.
func (p *place) outBy(o outward.Options) *outward.Client {
	o.Timeout, o.Now, o.Hosts = 5*time.Second, p.Now, allowedBy(p.Store)
	return outward.New(o)
}

func allowedBy(s *store.Store) func(context.Context) (outward.List, error) {
	return func(ctx context.Context) (outward.List, error) {
		hosts, err := s.People.HostsForSending(ctx)
		var list outward.List
		for _, h := range hosts {
			list = append(list, h.Host)
		}
		return list, err
	}
}

// zeros are many, packed.
func zeros(tb testing.TB, n int) []byte {
	tb.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write(make([]byte, n))
	storetest.Must(tb, err)
	storetest.Must(tb, z.Close())
	return packed.Bytes()
}

// runs has a worker run until the test or the returned function ends it.
func (p *place) runs(tb testing.TB, change ...func(*webhooks.Options)) *webhooks.Worker {
	tb.Helper()
	o := webhooks.Options{
		Store: p.Store, Out: p.out(5 * time.Second), Log: slog.New(slog.DiscardHandler), LeaseTTL: 10_000 * time.Hour, KeepEvery: 20 * time.Millisecond,
		RequestURL: func(id models.ResponseID) string { return "https://gate.example/approvals/" + string(id) }, Holder: "test",
	}
	for _, c := range change {
		c(&o)
	}
	w := webhooks.New(o)
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Run(ctx)
	}()
	p.stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	tb.Cleanup(p.stop)
	return w
}

// add adds an endpoint at a receiver.
func (p *place) add(tb testing.TB, r *receiver, in models.WebhookInput) *models.Webhook {
	tb.Helper()
	at, err := url.Parse(r.URL)
	storetest.Must(tb, err)
	storetest.Must(tb, p.People.AllowHost(tb.Context(), p.admin, at.Host))
	if in.Name == "" {
		in.Name = "endpoint " + at.Port()
	}
	in.URL = r.URL + "/hook"
	h, key, err := p.Webhooks.Add(tb.Context(), p.admin, in)
	storetest.Must(tb, err)
	r.key(tb, key)
	return h
}

// ask asks in a conversation that a run names.
func (p *place) ask(tb testing.TB, run, id string) *models.Approval {
	tb.Helper()
	a, err := p.Ask(tb.Context(), p.agent, models.AskInput{ToolName: "deploy", ToolUseID: id, RunID: run, Explicit: true, AcceptsEdits: true, Input: []byte(`{"secret":"input-` + id + `"}`), Explanation: models.Explanation{Description: "described " + id}})
	storetest.Must(tb, err)
	return a
}

// state is an endpoint as admins see it.
func (p *place) state(tb testing.TB, id models.WebhookID) *models.WebhookState {
	tb.Helper()
	s, err := p.Webhooks.Get(tb.Context(), p.admin, id)
	storetest.Must(tb, err)
	return s
}

// wanted are the numbers of all entries after one, by stream, as the ledger has them.
func (p *place) wanted(tb testing.TB, after int64, want func(models.Entry) bool) map[string][]int64 {
	tb.Helper()
	out := map[string][]int64{}
	for {
		page, err := p.Ledger.EntriesAfter(tb.Context(), after, 500)
		storetest.Must(tb, err)
		for _, e := range page {
			after = e.Seq
			if want == nil || want(e) {
				s := string(e.ConversationID)
				if s == "" {
					s = string(e.ResponseID)
				}
				out[s] = append(out[s], e.Seq)
			}
		}
		if len(page) < 500 {
			return out
		}
	}
}

// checkOrder checks that each stream was accepted completely and that each event came for the
// first time in order.
func checkOrder(tb testing.TB, want map[string][]int64, got []event) {
	tb.Helper()
	first := map[string][]int64{}
	known := map[int64]bool{}
	for _, e := range got {
		if !known[e.Data.Sequence] {
			known[e.Data.Sequence] = true
			first[e.stream()] = append(first[e.stream()], e.Data.Sequence)
		}
	}
	for stream, numbers := range want {
		if text := numbersOf(first[stream]); text != numbersOf(numbers) {
			tb.Errorf("stream %q came as %s, want %s", stream, text, numbersOf(numbers))
		}
	}
}

func numbersOf(all []int64) string {
	var out []string
	for _, n := range all {
		out = append(out, strconv.FormatInt(n, 10))
	}
	return strings.Join(out, " ")
}
