package webtest

import (
	"context"
	"crypto/x509"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"countersign/handlers"
	"countersign/handlers/web"
	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/workers/agent"
	"countersign/workers/notify"
	"countersign/workers/outward"
	"countersign/workers/upstream"
	"countersign/workers/webhooks"
)

// Browsing is how long a test waits for a page to show something.
const Browsing = 45 * time.Second

// Two reviewers whom every world has.
const (
	OwnerEmail    = "owner@example.com"
	StrangerEmail = "stranger@example.com"
)

// World is the pages over a fresh store, with an owner and the owner's agent, a
// stranger and an admin.
type World struct {
	TB        testing.TB
	Store     *store.Store
	Clock     *storetest.Clock
	Pages     *web.Pages
	Streams   *handlers.Streams
	Lists     *handlers.Lists
	Strangers *handlers.Strangers
	URL       string

	Owner, Admin, Agent models.Actor
	Token               string // the agent's

	Draft   atomic.Pointer[string]      // what the built-in agent is writing, everywhere
	BuiltIn atomic.Pointer[agent.Agent] // where one runs: it says itself

	notifier *notify.Notifier
	Mails    *Mailer
	Roots    *x509.CertPool // that services on this computer are trusted by
	lease    *models.Lease
	out      *outward.Client  // the way to hosts that admins have allowed
	events   *webhooks.Worker // runs once sendsEvents has been called
}

// faults are what the HTTP server says that went wrong: an answer that was begun
// twice is a fault of a handler.
type faults struct{ tb testing.TB }

// New is a world with an agent that can ask.
func New(tb testing.TB) *World {
	tb.Helper()
	w := Empty(tb, 0)
	w.Owner = storetest.Reviewer(tb, w.Store, OwnerEmail)
	storetest.Reviewer(tb, w.Store, StrangerEmail)
	w.Admin = storetest.Admin(tb, w.Store)
	w.Agent, w.Token = storetest.AgentToken(tb, w.Store, w.Owner, "deployer")
	return w
}

// Empty has no people.
func Empty(tb testing.TB, streamsEach int) *World {
	tb.Helper()
	w := &World{TB: tb, Clock: storetest.NewClock()}
	w.Store = storetest.New(tb, storetest.WithClock(w.Clock))
	w.Streams, w.Lists = handlers.NewStreams(streamsEach), handlers.NewLists()
	w.Strangers = handlers.NewStrangers(1, time.Minute)
	server := httptest.NewUnstartedServer(nil)
	public := &url.URL{Scheme: "http", Host: server.Listener.Addr().String()}
	w.Pages = web.New(handlers.Kit{
		Log: slog.New(slog.DiscardHandler), Now: w.Store.Now, PublicURL: public, Streams: w.Streams, Lists: w.Lists,
		Strangers: w.Strangers,
	}, w.Store, web.Options{
		Drafts: w.draft, CheckUpstream: checkUpstream, Notify: w.notifies(), TestWebhook: w.webhooks(), Pulse: time.Hour,
	})
	server.Config.Handler = w.Pages
	server.Config.ErrorLog = slog.NewLogLogger(slog.NewTextHandler(faults{tb}, nil), slog.LevelError)
	server.Start()
	w.URL = server.URL
	tb.Cleanup(func() {
		w.Pages.Stop()
		server.Close()
	})
	return w
}

// checkUpstream is what the program checks upstreams with.
func checkUpstream(_ context.Context, baseURL, dialect, key string) error {
	reach := upstream.Reach{Allow: upstream.Hosts{"hub.internal": true}}
	_, err := upstream.New(upstream.Options{
		BaseURL: baseURL, Dialect: upstream.Dialect(dialect), Key: key, Reach: reach, HTTP: http.DefaultClient,
	})
	return err
}

// draft is what the built-in agent is writing.
func (w *World) draft(id models.ConversationID) (text, model string, ok bool) {
	if a := w.BuiltIn.Load(); a != nil {
		return a.Draft(id)
	}
	if at := w.Draft.Load(); at != nil {
		return *at, "demo-model", true
	}
	return "", "", false
}

// Ask has the owner's agent ask; change adapts the request.
func (w *World) Ask(change ...func(*models.AskInput)) *models.Approval {
	w.TB.Helper()
	in := models.AskInput{
		ToolName: "Bash", Input: []byte(`{"command":"rm -rf build/"}`), Explicit: true, AcceptsEdits: true,
		ToolUseID: string(models.NewID[models.ResponseID]()),
	}
	for _, c := range change {
		c(&in)
	}
	a, err := w.Store.Ask(w.TB.Context(), w.Agent, in)
	if err != nil {
		w.TB.Fatalf("ask: %v", err)
	}
	return a
}

func (f faults) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "superfluous") {
		f.tb.Errorf("the server says: %s", line)
	}
	return len(line), nil
}
