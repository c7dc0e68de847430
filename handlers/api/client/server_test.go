package client_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"countersign/handlers"
	"countersign/handlers/api"
	"countersign/models"
	"countersign/models/people"
	"countersign/models/store"
	"countersign/models/storetest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait")) // idle connections of the tests' client
}

// server is a real one on a free port of this machine, with a fresh database. Ada is a
// reviewer in it, and has an agent.
type server struct {
	data    *store.Store
	surface *api.API
	url     string
	close   func()

	agentToken, reviewerToken string
}

// newServer is one whose clock stands still.
func newServer(tb testing.TB) *server {
	tb.Helper()
	s, err := serve(storetest.New(tb, storetest.WithClock(storetest.NewClock())))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.close)
	return s
}

// startServer is for the example, which has no test that could fail.
func startServer() *server {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	data, err := store.Open(context.Background(), store.Options{Dir: dir, Log: slog.New(slog.DiscardHandler), PasswordCost: people.PasswordCost{MemoryKiB: 8, Passes: 1, Threads: 1}})
	if err != nil {
		panic(err)
	}
	s, err := serve(data)
	if err != nil {
		panic(err)
	}
	return s
}

// stop ends what startServer began.
func (s *server) stop() {
	s.close()
	if err := errors.Join(s.data.Close(), os.RemoveAll(filepath.Dir(s.data.Path()))); err != nil {
		panic(err)
	}
}

func serve(data *store.Store) (*server, error) {
	ctx, operator := context.Background(), models.Operator("tester")
	ada, err := data.People.AddUser(ctx, operator, people.NewUser{Email: "ada@example.com", Name: "Ada Lovelace", Role: models.RoleReviewer, Password: storetest.Password})
	if err != nil {
		return nil, err
	}
	s := &server{data: data}
	if s.agentToken, _, err = data.People.AddToken(ctx, operator, people.NewToken{Scope: models.ScopeAgent, Agent: "deployer", UserID: ada.ID}); err != nil {
		return nil, err
	}
	if s.reviewerToken, _, err = data.People.AddToken(ctx, operator, people.NewToken{Scope: models.ScopeReviewer, Name: "reviewer", UserID: ada.ID}); err != nil {
		return nil, err
	}
	kit := handlers.Kit{Log: slog.New(slog.DiscardHandler), Now: time.Now, PublicURL: &url.URL{Scheme: "http", Host: "localhost"}}
	if s.surface, err = api.New(kit, data, "test"); err != nil {
		return nil, err
	}
	listening := httptest.NewServer(s.surface)
	s.url, s.close = listening.URL, listening.Close
	return s, nil
}

// waits returns once a caller waits.
func (s *server) waits(t *testing.T) {
	t.Helper()
	end := time.After(time.Minute)
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for s.data.Waiters() == 0 {
		select {
		case <-look.C:
		case <-end:
			t.Fatal("nobody waits")
		}
	}
}
