package api_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"countersign/handlers"
	"countersign/handlers/api"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
)

func TestMain(m *testing.M) {
	storetest.ManyAtOnce()
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait")) // idle connections of the tests' client
}

// world is one server over a fresh store, with an owner, a stranger, an admin
// and their tokens.
type world struct {
	tb    testing.TB
	store *store.Store
	clock *storetest.Clock
	api   *api.API
	url   string
	log   *logBuffer

	streams *handlers.Streams

	owner    models.Actor
	agent    string // the owner's agent
	second   string // another agent of the owner's
	reviewer string // the owner
	stranger string // somebody else, who owns nothing here
	foreign  string // the stranger's agent, of the same name
	admin    string
	adminAs  models.Actor
}

func newWorld(tb testing.TB, opts ...storetest.Option) *world {
	tb.Helper()
	w := &world{tb: tb, clock: storetest.NewClock(), log: new(logBuffer), streams: handlers.NewStreams(0)}
	w.store = storetest.New(tb, append([]storetest.Option{storetest.WithClock(w.clock), noLimits}, opts...)...)
	w.owner = storetest.Reviewer(tb, w.store, "owner@example.com")
	stranger := storetest.Reviewer(tb, w.store, "stranger@example.com")
	w.adminAs = storetest.Admin(tb, w.store)
	_, w.agent = storetest.AgentToken(tb, w.store, w.owner, "deployer")
	_, w.second = storetest.AgentToken(tb, w.store, w.owner, "second")
	_, w.foreign = storetest.AgentToken(tb, w.store, stranger, "deployer")
	_, w.reviewer = storetest.ReviewerToken(tb, w.store, w.owner)
	_, w.stranger = storetest.ReviewerToken(tb, w.store, stranger)
	_, w.admin = storetest.AdminToken(tb, w.store, w.adminAs)

	kit := handlers.Kit{Log: slog.New(models.LogHandler(slog.NewJSONHandler(w.log, nil))), AccessLog: true, Now: time.Now, PublicURL: &url.URL{Scheme: "https", Host: "sign.example.com"}, Streams: w.streams}
	surface, err := api.New(kit, w.store, "test")
	if err != nil {
		tb.Fatal(err)
	}
	surface.KeepAlive(time.Hour) // no stream looks by chance whether it has to end
	w.api = surface
	server := httptest.NewServer(surface)
	tb.Cleanup(server.Close)
	w.url = server.URL
	return w
}

// logBuffer is a log that may be read while it is written.
type logBuffer struct {
	mu  sync.Mutex
	buf strings.Builder
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func noLimits(o *store.Options) {
	o.AsksPerMinute, o.PendingPerAgent, o.ReportsPerHour, o.RunsPerHour, o.MessagesPerHour = -1, -1, -1, -1, -1
}

// policy puts a policy document in force.
func (w *world) policy(document string) {
	w.tb.Helper()
	if _, err := w.store.ApplyPolicy(w.tb.Context(), w.adminAs, []byte(document), "", 0); err != nil {
		w.tb.Fatalf("apply policy: %v", err)
	}
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
	object map[string]any
}

// at reads a member by path: "decision.by.name". Missing ones are nil.
func (a answer) at(path string) any {
	var v any = a.object
	for name := range strings.SplitSeq(path, ".") {
		switch within := v.(type) {
		case map[string]any:
			v = within[name]
		case []any:
			n, err := strconv.Atoi(name)
			if err != nil || n < 0 || n >= len(within) {
				return nil
			}
			v = within[n]
		default:
			return nil
		}
	}
	return v
}

func (a answer) text(path string) string {
	s, _ := a.at(path).(string)
	return s
}

// call sends one request; an empty token sends no Authorization.
func (w *world) call(token, method, path, body string) answer {
	w.tb.Helper()
	return w.callWith(token, method, path, body, "")
}

// callWith sends the fallback header besides, unless it is empty.
func (w *world) callWith(token, method, path, body, fallback string) answer {
	w.tb.Helper()
	a, err := w.try(token, method, path, body, fallback)
	if err != nil {
		w.tb.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

func (w *world) try(token, method, path, body, fallback string) (answer, error) {
	req, err := http.NewRequestWithContext(w.tb.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if fallback != "" {
		req.Header.Set(wire.HeaderFallback, fallback)
	}
	return do(req)
}

// do sends a request and reads the answer.
func do(req *http.Request) (answer, error) {
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	if res.Header.Get("Content-Type") == "text/event-stream" {
		return answer{status: res.StatusCode, header: res.Header}, nil // it does not end
	}
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: res.StatusCode, header: res.Header, body: string(raw)}
	dec := json.NewDecoder(strings.NewReader(a.body))
	dec.UseNumber()
	_ = dec.Decode(&a.object)
	return a, nil
}

// ask opens a request of the owner's agent and returns its id.
func (w *world) ask(body string) string {
	w.tb.Helper()
	a := w.call(w.agent, "POST", "/v1/approvals", body)
	if a.status != http.StatusAccepted {
		w.tb.Fatalf("ask %s: %d %s", body, a.status, a.body)
	}
	return a.text("approvalId")
}

// want fails unless the answer has the status and the members.
func (a answer) want(tb testing.TB, status int, members map[string]any) {
	tb.Helper()
	if a.status != status {
		tb.Errorf("status %d, want %d: %s", a.status, status, a.body)
	}
	for path, want := range members {
		if got := a.at(path); got != want {
			tb.Errorf("%s = %#v, want %#v", path, got, want)
		}
	}
}

func jsonNumber(s string) json.Number { return json.Number(s) }

func (w *world) head() models.Head {
	w.tb.Helper()
	head, err := w.store.Ledger.Head(w.tb.Context())
	if err != nil {
		w.tb.Fatal(err)
	}
	return head
}

func (w *world) policyVersion() int64 {
	w.tb.Helper()
	v, err := w.store.CurrentPolicy(w.tb.Context())
	if err != nil {
		w.tb.Fatal(err)
	}
	return v.Version
}
