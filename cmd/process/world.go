package process

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"testing"

	_ "countersign/cmd" // so that Go links the program again when it changes
	"countersign/cmd/config"
	"countersign/cmd/server"
	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/requests"
	"countersign/models/storetest"
)

// Server is an App that runs in this process.
type Server struct {
	*server.App

	Dir, Addr string
	Stop      func()
}

// Serve starts an App on a data folder; addr "" takes a free port. It stops with
// the test, or earlier by stop.
func Serve(tb testing.TB, dir, addr string, change ...func(*config.Config)) *Server {
	tb.Helper()
	if addr == "" {
		addr = FreeAddr(tb) // a test may start it again there
	}
	storetest.Migrate(tb, dir)
	cfg := config.Config{Addr: addr, Data: dir}
	if address := storetest.URL(tb, dir); address != "" {
		var err error
		if cfg.Database, err = config.ParseDatabase(address); err != nil {
			tb.Fatal(err)
		}
	}
	for _, c := range change {
		c(&cfg)
	}
	app, err := server.New(tb.Context(), cfg, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		tb.Fatalf("new app: %v", err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(tb.Context()))
	ran := make(chan error, 1)
	go func() { ran <- app.Run(ctx) }()
	s := &Server{App: app, Dir: dir, Addr: app.Addr()}
	s.Stop = sync.OnceFunc(func() {
		cancel()
		if err := errors.Join(<-ran, app.Close()); err != nil {
			tb.Errorf("stop app: %v", err)
		}
	})
	tb.Cleanup(s.Stop)
	return s
}

// World is a server with one admin, an agent of theirs and their tokens.
type World struct {
	*Server

	Admin           models.Actor
	Agent, Reviewer string // tokens
}

// NewWorld starts a server in a folder of its own and makes them.
func NewWorld(t *testing.T) *World {
	t.Helper()
	w := &World{Server: Serve(t, storetest.Dir(t), "")}
	w.Admin = storetest.Admin(t, w.Store())
	_, w.Agent = storetest.AgentToken(t, w.Store(), w.Admin, "bot")
	_, w.Reviewer = storetest.ReviewerToken(t, w.Store(), w.Admin)
	return w
}

// Restart starts a server again on the same folder and port.
func (w *World) Restart(t *testing.T) {
	t.Helper()
	w.Stop()
	// The new server has the old one's address. A request over a kept connection to the old one would be lost.
	http.DefaultClient.CloseIdleConnections()
	w.Server = Serve(t, w.Dir, w.Addr)
}

// Client is a client of the server with a token.
func (w *World) Client(token string) *client.Client {
	return client.New("http://"+w.Addr, token)
}

// OnlyPending waits until exactly one request waits for a decision.
func (w *World) OnlyPending(t *testing.T) models.Approval {
	t.Helper()
	var got []models.Brief
	Eventually(t, "one pending request", func() bool {
		page, err := w.Store().Requests.Inbox(t.Context(), w.Admin, requests.InboxQuery{Limit: 10})
		if err != nil {
			t.Fatalf("inbox: %v", err)
		}
		got = page.Items
		return len(got) == 1
	})
	return got[0].Approval
}

// Respond decides a request as the reviewer.
func (w *World) Respond(t *testing.T, id models.ResponseID, verdict wire.RespondRequest) {
	t.Helper()
	if _, err := w.Client(w.Reviewer).Respond(t.Context(), wire.ResponseID(id), verdict); err != nil {
		t.Fatalf("respond: %v", err)
	}
}

// ApplyPolicy makes a document the policy.
func (w *World) ApplyPolicy(t *testing.T, doc string) {
	t.Helper()
	if _, err := w.Store().ApplyPolicy(t.Context(), w.Admin, []byte(doc), "", 0); err != nil {
		t.Fatalf("apply policy: %v", err)
	}
}
