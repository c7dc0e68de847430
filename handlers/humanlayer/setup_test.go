package humanlayer_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"countersign/handlers"
	"countersign/handlers/api"
	"countersign/handlers/humanlayer"
	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait")) // idle connections of the tests' client
}

// world is the API's router over a fresh store, with an owner, a stranger, an admin and
// their tokens.
type world struct {
	tb    testing.TB
	store *store.Store
	clock *storetest.Clock
	log   *logBuffer
	calls *humanlayer.Surface
	api   *api.API
	url   string

	owner    models.Actor
	adminAs  models.Actor
	agentAs  models.Actor
	agent    string // the owner's agent
	second   string // another agent of the owner's
	reviewer string // the owner
	stranger string // somebody else
	foreign  string // the stranger's agent, of the same name
	admin    string
}

func newWorld(tb testing.TB, opts ...storetest.Option) *world {
	tb.Helper()
	w := &world{tb: tb, clock: storetest.NewClock(), log: new(logBuffer)}
	w.store = storetest.New(tb, append([]storetest.Option{storetest.WithClock(w.clock), noLimits}, opts...)...)
	w.owner = storetest.Reviewer(tb, w.store, "owner@example.com")
	stranger := storetest.Reviewer(tb, w.store, "stranger@example.com")
	w.adminAs = storetest.Admin(tb, w.store)
	w.agentAs, w.agent = storetest.AgentToken(tb, w.store, w.owner, "deployer")
	_, w.second = storetest.AgentToken(tb, w.store, w.owner, "second")
	_, w.foreign = storetest.AgentToken(tb, w.store, stranger, "deployer")
	_, w.reviewer = storetest.ReviewerToken(tb, w.store, w.owner)
	_, w.stranger = storetest.ReviewerToken(tb, w.store, stranger)
	_, w.admin = storetest.AdminToken(tb, w.store, w.adminAs)
	w.serve()
	return w
}

// serve puts the API over the store.
func (w *world) serve() {
	w.tb.Helper()
	kit := handlers.Kit{Log: slog.New(models.LogHandler(slog.NewJSONHandler(w.log, nil))), Now: time.Now, PublicURL: &url.URL{Scheme: "https", Host: "sign.example.com"}, Lists: handlers.NewLists()}
	var err error
	if w.api, err = api.New(kit, w.store, "test"); err != nil {
		w.tb.Fatal(err)
	}
	w.calls = humanlayer.New(kit, w.store)
	w.calls.Register(w.api.Echo())
	server := httptest.NewServer(w.api)
	w.tb.Cleanup(server.Close)
	w.url = server.URL
}

func noLimits(o *store.Options) { o.AsksPerMinute, o.PendingPerAgent = -1, -1 }

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

// at reads a member by path: "status.approved". Missing ones are nil.
func (a answer) at(path string) any {
	var v any = a.object
	for name := range strings.SplitSeq(path, ".") {
		object, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = object[name]
	}
	return v
}

func (a answer) text(path string) string {
	s, _ := a.at(path).(string)
	return s
}

// want fails unless the status is this and each member has its value; nil: it is missing.
func (a answer) want(tb testing.TB, status int, members map[string]any) answer {
	tb.Helper()
	if a.status != status {
		tb.Fatalf("%d, want %d: %s", a.status, status, a.body)
	}
	for path, want := range members {
		if got := a.at(path); got != want {
			tb.Errorf("%s is %v, want %v: %s", path, got, want, a.body)
		}
	}
	return a
}

// call sends one request below the API's address, as the SDKs do.
func (w *world) call(token, method, path, body string) answer {
	w.tb.Helper()
	got, err := w.try(token, method, path, body)
	if err != nil {
		w.tb.Fatal(err)
	}
	return got
}

func (w *world) try(token, method, path, body string) (answer, error) {
	req, err := http.NewRequestWithContext(w.tb.Context(), method, w.url+"/humanlayer/v1"+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	req.Header.Set("Content-Type", "application/json") // on GET too
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	got := answer{status: resp.StatusCode, header: resp.Header, body: string(raw)}
	_ = json.Unmarshal(raw, &got.object) // what is no object has no members
	return got, err
}

// ask creates a function call.
func (w *world) ask(callID string) answer {
	w.tb.Helper()
	return w.call(w.agent, "POST", "/function_calls", `{"run_id":"run-1","call_id":"`+callID+`","spec":{"fn":"send_email","kwargs":{"to":"a@example.test","subject":"hi"}}}`).want(w.tb, 200, nil)
}

// contact creates a human contact.
func (w *world) contact(callID string) answer {
	w.tb.Helper()
	return w.call(w.agent, "POST", "/contact_requests", `{"run_id":"run-1","call_id":"`+callID+`","spec":{"msg":"Which region?"}}`).want(w.tb, 200, nil)
}
