package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models/requests"
	"countersign/models/storetest"
)

// front stands before a server and answers by itself while broken says so; it
// is told the number of the request.
func (s *server) front(tb testing.TB, broken func(n int64, rw http.ResponseWriter) bool) *client.Client {
	tb.Helper()
	var n atomic.Int64
	between := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !broken(n.Add(1), rw) {
			s.surface.ServeHTTP(rw, r)
		}
	}))
	tb.Cleanup(between.Close)
	return client.New(between.URL+"/", s.agentToken)
}

func TestClientRoundTrip(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	agent, person := client.New(s.url, s.agentToken), client.New(s.url, s.reviewerToken)
	ctx := t.Context()
	req := wire.AskRequest{ToolUseID: "1", ToolName: "rm", Input: []byte(`{"n":9007199254740993,"s":"<&>"}`), AcceptsEdits: true}
	a, err := agent.Ask(ctx, req, 0)
	if err != nil || a.Status != wire.StatusPending || string(a.Input) != string(req.Input) {
		t.Fatalf("ask: %+v %v", a, err)
	}
	yes := true
	res, err := person.Respond(ctx, a.ApprovalID, wire.RespondRequest{Approved: &yes, Reason: "ok", Input: []byte(`{}`)})
	if err != nil || res.Status != wire.StatusApproved {
		t.Fatalf("respond: %+v %v", res, err)
	}
	got, err := agent.Get(ctx, a.ApprovalID, time.Minute)
	if err != nil || !got.Decision.Approved || !got.Decision.Edited || string(got.Decision.Input) != `{}` || got.Decision.By.Name != "Ada Lovelace" {
		t.Fatalf("get: %+v %v", got, err)
	}
	var answered *client.AnswerError
	if _, err = person.Respond(ctx, a.ApprovalID, wire.RespondRequest{Approved: &yes}); !errors.As(err, &answered) ||
		answered.Status != 409 || answered.Code != wire.CodeAlreadyDecided || answered.Approval == nil || answered.Approval.Decision.Reason != "ok" {
		t.Fatalf("second verdict: %#v", err)
	}
	if _, err = agent.Respond(ctx, a.ApprovalID, wire.RespondRequest{Approved: &yes}); !errors.As(err, &answered) || answered.Code != wire.CodeForbidden {
		t.Fatalf("an agent's verdict: %#v", err)
	}
	b, err := agent.Ask(ctx, wire.AskRequest{ToolUseID: "2", ToolName: "rm"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = agent.Cancel(ctx, b.ApprovalID); err != nil || b.Status != wire.StatusCancelled {
		t.Fatalf("cancel: %+v %v", b, err)
	}
	empty, q := "", wire.AskRequest{ToolUseID: "3", Kind: wire.KindQuestion}
	if b, err = agent.Ask(ctx, q, 0); err != nil {
		t.Fatal(err)
	}
	if _, err = person.Respond(ctx, b.ApprovalID, wire.RespondRequest{Answer: &empty}); !errors.As(err, &answered) || answered.Status != 422 {
		t.Fatalf("an empty answer: %#v", err)
	}
}

func TestClientTellsAnswersFromSilence(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	answering := func(status int, header, value, body string) string {
		other := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			if header != "" {
				rw.Header().Set(header, value)
			}
			rw.WriteHeader(status)
			fmt.Fprint(rw, body)
		}))
		t.Cleanup(other.Close)
		return other.URL
	}
	for _, tt := range []struct {
		name, url, token string
		retry, answered  bool
		after            time.Duration
	}{
		{"nobody there", "http://" + storetest.ClosedPort(t), s.agentToken, true, false, 0},
		{"a proxy without its server", answering(502, "", "", "bad gateway"), s.agentToken, true, false, 0},
		{"a server that stops", answering(503, "Retry-After", "3", `{"code":"unavailable","detail":"x"}`), s.agentToken, true, false, 3 * time.Second},
		{"too many requests", answering(429, "Retry-After", "7", `{"code":"too_many_requests","detail":"x"}`), s.agentToken, true, true, 7 * time.Second},
		{"another server", answering(200, "", "", "<html>"), s.agentToken, false, true, 0},
		{"another server with JSON", answering(200, "", "", `{"approved":true,"status":"approved"}`), s.agentToken, false, true, 0},
		{"approved without a decision", answering(200, "", "", `{"approvalId":"x","status":"approved"}`), s.agentToken, false, true, 0},
		{"a server that moved", answering(301, "Location", s.url, ""), s.agentToken, false, true, 0},
		{"a wrong token", s.url, "nonsense", false, true, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a, err := client.New(tt.url, tt.token).Ask(t.Context(), wire.AskRequest{ToolUseID: "1", ToolName: "rm"}, 0)
			if err == nil {
				t.Fatalf("no error but %+v", a)
			}
			after, retry := client.Retryable(err)
			if retry != tt.retry || after != tt.after || client.Answered(err) != tt.answered {
				t.Errorf("retry %v after %v, answered %v: %v", retry, after, client.Answered(err), err)
			}
		})
	}
}

func TestAskUntilDecidedOutlastsASilentServer(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	agent := s.front(t, func(n int64, rw http.ResponseWriter) bool {
		if n%2 == 1 { // every other time there is no server
			rw.WriteHeader(http.StatusBadGateway)
			return true
		}
		return false
	})
	told := make(chan *wire.Approval, 1)
	done := make(chan error, 1)
	var got *wire.Approval
	go func() {
		var err error
		got, err = agent.AskUntilDecided(t.Context(), wire.AskRequest{ToolName: "rm"},
			client.WaitOptions{Connect: time.Minute, OnAnswer: func(a *wire.Approval) { told <- a }})
		done <- err
	}()
	first := <-told
	if first.Status != wire.StatusPending {
		t.Fatalf("first answer: %+v", first)
	}
	s.waits(t)
	yes := true
	if _, err := client.New(s.url, s.reviewerToken).Respond(t.Context(), first.ApprovalID, wire.RespondRequest{Approved: &yes}); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil || !got.Decision.Approved || got.ApprovalID != first.ApprovalID {
		t.Fatalf("%+v %v", got, err)
	}
	actor, err := s.data.People.AuthenticateToken(t.Context(), s.agentToken)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := s.data.Requests.Approvals(t.Context(), actor, requests.ListQuery{Limit: 10}); err != nil || len(list.Items) != 1 {
		t.Errorf("repeats made %d requests, %v", len(list.Items), err)
	}
}

func TestAskUntilDecidedGivesUp(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	one := int64(1)
	req := wire.AskRequest{ToolUseID: "1", ToolName: "rm", TimeoutSeconds: &one}
	silent := func(_ int64, rw http.ResponseWriter) bool { rw.WriteHeader(http.StatusBadGateway); return true }
	if _, err := s.front(t, silent).AskUntilDecided(t.Context(), req, client.WaitOptions{Connect: 150 * time.Millisecond}); !errors.Is(err, client.ErrNeverAnswered) {
		t.Errorf("never answered: %v", err)
	}
	once := func(n int64, rw http.ResponseWriter) bool { return n > 1 && silent(n, rw) }
	a, err := s.front(t, once).AskUntilDecided(t.Context(), req, client.WaitOptions{Connect: 10 * time.Second})
	if !errors.Is(err, client.ErrDeadline) || a == nil {
		t.Errorf("silent after the first answer: %+v %v", a, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.front(t, silent).AskUntilDecided(ctx, req, client.WaitOptions{Connect: time.Minute}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	late := func(n int64, rw http.ResponseWriter) bool { // busy, then a refusal after patience has ended
		if n == 1 {
			rw.Header().Set("Retry-After", "1")
			rw.WriteHeader(http.StatusTooManyRequests)
		} else {
			rw.WriteHeader(http.StatusUnauthorized)
		}
		return true
	}
	if _, err := s.front(t, late).AskUntilDecided(t.Context(), req, client.WaitOptions{Connect: 600 * time.Millisecond}); !client.Answered(err) || errors.Is(err, client.ErrNeverAnswered) {
		t.Errorf("refused late: %v", err)
	}
	busy := func(n int64, rw http.ResponseWriter) bool {
		if n == 1 {
			rw.Header().Set("Retry-After", "1")
			rw.WriteHeader(http.StatusTooManyRequests)
			return true
		}
		return n > 2 && silent(n, rw)
	}
	start := time.Now()
	if _, err := s.front(t, busy).AskUntilDecided(t.Context(), req, client.WaitOptions{Connect: 600 * time.Millisecond}); !errors.Is(err, client.ErrDeadline) {
		t.Errorf("busy, then silent: %v", err)
	}
	if took := time.Since(start); took < time.Second {
		t.Errorf("Retry-After was not waited for: %v", took)
	}
}
