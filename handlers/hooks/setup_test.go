package hooks_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"countersign/handlers"
	"countersign/handlers/api"
	"countersign/handlers/hooks"
	"countersign/models"
	"countersign/models/requests"
	"countersign/models/store"
	"countersign/models/storetest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait")) // idle connections of the tests' client
}

// world is the router of the API with the hooks, over a fresh store.
type world struct {
	tb    testing.TB
	store *store.Store
	clock *storetest.Clock
	url   string
	now   func() time.Time // what the surface takes for the time

	owner, admin, agentAs    models.Actor
	agent, reviewer, another string // tokens
}

const policyOfTests = `{"unmatched":"allow","required_approval_tools":["Bash"],"rules":[
 {"name":"reading","tools":["Read"],"effect":"allow"},{"name":"no drops","tools":["Drop"],"effect":"deny","reason":"Never."}]}`

func newWorld(tb testing.TB) *world {
	tb.Helper()
	return newWorldWith(tb, nil)
}

// newWorldWith has these places for those without a token; nil: the usual ones.
func newWorldWith(tb testing.TB, strangers *handlers.Strangers) *world {
	tb.Helper()
	w := &world{tb: tb, clock: storetest.NewClock(), now: time.Now}
	w.store = storetest.New(tb, storetest.WithClock(w.clock))
	w.owner = storetest.Reviewer(tb, w.store, "owner@example.com")
	w.admin = storetest.Admin(tb, w.store)
	w.agentAs, w.agent = storetest.AgentToken(tb, w.store, w.owner, "claude")
	_, w.another = storetest.AgentToken(tb, w.store, w.owner, "another")
	_, w.reviewer = storetest.ReviewerToken(tb, w.store, w.owner)
	kit := handlers.Kit{Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return w.now() }, PublicURL: &url.URL{Scheme: "https", Host: "sign.example.com"}, Strangers: strangers}
	surface, err := api.New(kit, w.store, "test")
	if err != nil {
		tb.Fatal(err)
	}
	hooks.Register(surface.Echo(), kit, w.store)
	connections := handlers.NewConnections(1000) // as in the program
	server := httptest.NewUnstartedServer(connections.Handler(surface))
	server.Config.ConnState, server.Config.ConnContext = connections.State, connections.Context
	server.Start()
	tb.Cleanup(server.Close)
	w.url = server.URL
	w.policy(policyOfTests)
	return w
}

func (w *world) policy(document string) {
	w.tb.Helper()
	if _, err := w.store.ApplyPolicy(w.tb.Context(), w.admin, []byte(document), "", 0); err != nil {
		w.tb.Fatalf("apply policy: %v", err)
	}
}

// answer is what a hook heard.
type answer struct {
	status int
	body   string
	retry  string // when to come back, if that is said
}

// send hands an event over and waits for the answer.
func (w *world) send(token, query, event string) answer {
	w.tb.Helper()
	return <-w.begin(w.tb.Context(), token, query, event)
}

// nextWait is longer than an agent may take from one wait to the next.
const nextWait = 5 * time.Second

// begin hands an event over. The answer has the status 0 if there is none.
func (w *world) begin(ctx context.Context, token, query, event string) <-chan answer {
	w.tb.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+hooks.ClaudeCodePath+query, strings.NewReader(event))
	if err != nil {
		w.tb.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	answers := make(chan answer, 1)
	go func() {
		defer close(answers)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		answers <- answer{res.StatusCode, strings.TrimSpace(string(body)), res.Header.Get("Retry-After")}
	}()
	return answers
}

// want fails unless the answer has the status and holds the text.
func (a answer) want(tb testing.TB, status int, text string) {
	tb.Helper()
	if a.status != status || !strings.Contains(a.body, text) {
		tb.Errorf("%d %s, want %d and %s", a.status, a.body, status, text)
	}
}

func event(moment, more string) string {
	return `{"session_id":"s1","cwd":"/srv/app","permission_mode":"default","prompt_id":"p1","hook_event_name":"` + moment + `"` + more + `}`
}

func call(tool, input, id string) string {
	return `,"tool_name":"` + tool + `","tool_input":` + input + `,"tool_use_id":"` + id + `"`
}

// eventually looks until it sees what it wants.
func (w *world) eventually(what string, seen func() bool) {
	w.tb.Helper()
	ctx, cancel := context.WithTimeout(w.tb.Context(), time.Minute)
	defer cancel()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for !seen() {
		select {
		case <-look.C:
		case <-ctx.Done():
			w.tb.Fatalf("not seen: %s", what)
		}
	}
}

// waiting waits until so many agents wait, and lists what is pending in the session.
func (w *world) waiting(n int) []models.Brief {
	w.tb.Helper()
	w.eventually("waiters", func() bool { return w.store.Waiters() == n })
	return w.pending()
}

func (w *world) pending() []models.Brief {
	w.tb.Helper()
	page, err := w.store.Requests.Inbox(w.tb.Context(), w.owner, requests.InboxQuery{Limit: 50})
	if err != nil {
		w.tb.Fatal(err)
	}
	return page.Items
}

func (w *world) decide(id models.ResponseID, in models.DecisionInput) {
	w.tb.Helper()
	in.Page = models.NoPage
	if _, err := w.store.Decide(w.tb.Context(), w.owner, id, in); err != nil {
		w.tb.Fatal(err)
	}
}

func (w *world) row(id models.ResponseID) *models.Approval {
	w.tb.Helper()
	a, err := w.store.Requests.Approval(w.tb.Context(), w.owner, id)
	if err != nil {
		w.tb.Fatal(err)
	}
	return a
}

// invocation is the row of a call.
func (w *world) invocation(toolUseID string) *models.Approval {
	w.tb.Helper()
	a, err := w.store.FindInvocation(w.tb.Context(), w.owner, toolUseID, "")
	if err != nil {
		w.tb.Fatal(err)
	}
	return a
}
