package webtest

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"countersign/handlers"
	"countersign/handlers/api"
	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/handlers/web"
	"countersign/models"
	"countersign/models/storetest"
	"countersign/workers/expire"
)

// Answer is what an agent's call returned.
type Answer struct {
	*wire.Approval
	err error
}

// LiveWorld is the pages and the approval queue on one address under the real
// clock, with the expirer at work.
func LiveWorld(t *testing.T) *World {
	t.Helper()
	w := &World{TB: t, Store: storetest.New(t)}
	server := httptest.NewUnstartedServer(nil)
	kit := handlers.Kit{
		Log: slog.New(slog.DiscardHandler), Now: w.Store.Now,
		PublicURL: &url.URL{Scheme: "http", Host: server.Listener.Addr().String()},
	}
	queue, err := api.New(kit, w.Store, "test")
	if err != nil {
		t.Fatal(err)
	}
	w.Pages = web.New(kit, w.Store, web.Options{Pulse: time.Hour, Drafts: w.draft})
	server.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if handlers.WantsBearer(r) {
			queue.ServeHTTP(rw, r)
			return
		}
		w.Pages.ServeHTTP(rw, r)
	})
	server.Start()
	w.URL = server.URL
	expired := make(chan struct{})
	go func() {
		defer close(expired)
		expire.Run(t.Context(), kit.Log, w.Store)
	}()
	t.Cleanup(func() {
		w.Pages.Stop()
		w.Store.EndWaits()
		server.Close()
		<-expired
	})
	w.Owner = storetest.Reviewer(t, w.Store, OwnerEmail)
	w.Admin = storetest.Admin(t, w.Store)
	w.Agent, w.Token = storetest.AgentToken(t, w.Store, w.Owner, "deployer")
	return w
}

// AgentAsks has an agent wait over HTTP, as agents do: the same request again
// until there is an outcome.
func (w *World) AgentAsks(change func(*wire.AskRequest)) <-chan Answer {
	w.TB.Helper()
	req := wire.AskRequest{
		ToolUseID: "call-1", ToolName: "Bash", Input: []byte(`{"command":"make deploy"}`),
		Explanation: wire.Explanation{Description: "Version 1.4 to production"}, AcceptsEdits: true,
	}
	if change != nil {
		change(&req)
	}
	client := client.New(w.URL, w.Token)
	out := make(chan Answer, 1)
	ctx := w.TB.Context()
	go func() {
		for {
			a, err := client.Ask(ctx, req, 20*time.Second)
			if err != nil || a.Status != wire.StatusPending {
				out <- Answer{a, err}
				return
			}
		}
	}()
	return out
}

// Outcome waits for the agent's call to return.
func (w *World) Outcome(from <-chan Answer) *wire.Approval {
	w.TB.Helper()
	select {
	case a := <-from:
		if a.err != nil {
			w.TB.Fatalf("the agent's call failed: %v", a.err)
		}
		return a.Approval
	case <-time.After(Browsing):
		w.TB.Fatal("the agent's call does not return")
	}
	return nil
}

// WaitsFor has the agent wait for a request until it is ended.
func (w *World) WaitsFor(a *models.Approval) (end func()) {
	w.TB.Helper()
	ctx, cancel := context.WithCancel(w.TB.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = w.Store.Await(ctx, w.Agent, a.ID, time.Hour)
	}()
	for deadline := time.Now().Add(Browsing); !storetest.PresenceOf(w.TB, w.Store, a.ID).Waiting; {
		if time.Now().After(deadline) {
			w.TB.Fatal("the agent does not wait")
		}
	}
	return func() { cancel(); <-ended }
}
