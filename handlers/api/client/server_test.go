package client_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"os"
	"time"

	"countersign/handlers"
	"countersign/handlers/api"
	"countersign/models"
	"countersign/models/store"
)

// server is a real one on a free port of this machine, with a fresh database. Ada is a
// reviewer in it, and has an agent.
type server struct {
	url, agentToken, reviewerToken string

	stop func()
}

// startServer panics where a test would fail: an example has none.
func startServer() *server {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	ctx, log := context.Background(), slog.New(slog.DiscardHandler)
	data, err := store.Open(ctx, store.Options{Dir: dir, Log: log, PasswordCost: store.PasswordCost{MemoryKiB: 8, Passes: 1, Threads: 1}})
	if err != nil {
		panic(err)
	}
	surface, err := api.New(handlers.Kit{Log: log, Now: time.Now, PublicURL: &url.URL{Scheme: "http", Host: "localhost"}}, data, "test")
	if err != nil {
		panic(err)
	}
	listening := httptest.NewServer(surface)
	s := &server{url: listening.URL, stop: func() {
		listening.Close()
		if err := errors.Join(data.Close(), os.RemoveAll(dir)); err != nil {
			panic(err)
		}
	}}
	operator := models.Operator("tester")
	ada, err := data.AddUser(ctx, operator, store.NewUser{Email: "ada@example.com", Name: "Ada Lovelace", Role: models.RoleReviewer, Password: "correct horse battery staple"})
	if err == nil {
		s.agentToken, _, err = data.AddToken(ctx, operator, store.NewToken{Scope: models.ScopeAgent, Agent: "deployer", UserID: ada.ID})
	}
	if err == nil {
		s.reviewerToken, _, err = data.AddToken(ctx, operator, store.NewToken{Scope: models.ScopeReviewer, Name: "reviewer", UserID: ada.ID})
	}
	if err != nil {
		panic(err)
	}
	return s
}
