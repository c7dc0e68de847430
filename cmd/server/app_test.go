package server_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/cmd/config"
	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/storetest"
)

func TestAgentWaitsPersonDecidesAgentGoesOn(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	answer := make(chan *wire.Approval, 1)
	go func() {
		got, err := w.Client(w.Agent).Ask(t.Context(), wire.AskRequest{ToolUseID: "call-1", ToolName: "deploy", Input: []byte(`{"v":1}`), AcceptsEdits: true}, 30*time.Second)
		if err != nil {
			t.Errorf("ask: %v", err)
		}
		answer <- got
	}()
	process.Eventually(t, "the agent waits", func() bool { return w.Store().Waiters() == 1 })
	w.Respond(t, w.OnlyPending(t).ID, wire.RespondRequest{Approved: new(true), Reason: "go", Input: []byte(`{"v":2}`)})
	got := <-answer
	if got == nil || got.Status != wire.StatusApproved || string(got.Decision.Input) != `{"v":2}` || !got.Decision.Edited ||
		got.Decision.By == nil || got.Decision.By.ID != wire.UserID(w.Admin.OwnerID) {
		t.Fatalf("the agent was told %+v", got)
	}
}

func TestRequestsGoToTheirRouter(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	_, session := storetest.Session(t, w.Store(), storetest.AdminEmail)
	const problem, page = "application/problem+json", "text/html"
	tests := []struct {
		name, path, token, accept string
		cookie                    bool
		status                    int
		content                   string
	}{
		{name: "health", path: "/healthz", status: 200, content: "text/plain"},
		{name: "health with a wrong token", path: "/healthz", token: "wrong", status: 200, content: "text/plain"},
		{name: "ready", path: "/readyz", status: 200, content: "text/plain"},
		{name: "metrics on this machine", path: "/metrics", status: 200, content: "text/plain"},
		{name: "metrics with a reviewer's token", path: "/metrics", token: w.Reviewer, status: 403, content: problem},
		{name: "metrics never read cookies", path: "/metrics", token: "wrong", cookie: true, status: 401, content: problem},
		{name: "openapi", path: "/openapi.json", status: 200, content: "application/openapi+json"},
		{name: "openapi with a wrong token", path: "/openapi.json", token: "wrong", status: 200, content: "application/openapi+json"},
		{name: "docs", path: "/docs", status: 200, content: page},
		{name: "docs with a wrong token", path: "/docs", token: "wrong", status: 200, content: page},
		{name: "docs for a program", path: "/docs", accept: "application/json", status: 200, content: page},
		{name: "static", path: "/static/nothing.js", status: 404},
		{name: "queue without a token", path: "/v1/approvals", status: 401, content: problem},
		{name: "queue with a token", path: "/v1/approvals", token: w.Reviewer, status: 200, content: "application/json"},
		{name: "queue never reads cookies", path: "/v1/approvals", cookie: true, status: 401, content: problem},
		{name: "unknown api path is no page", path: "/api/nothing", cookie: true, status: 404, content: problem},
		{name: "page without a session", path: "/", status: 303},
		{name: "page with a session", path: "/", cookie: true, status: 200, content: page},
		{name: "page never reads tokens", path: "/", token: w.Reviewer, status: 404, content: problem},
		{name: "program without a token", path: "/", accept: "application/json", status: 401, content: problem},
		{name: "a name that only begins like an api", path: "/apiary", cookie: true, status: 404, content: page},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.URL()+tt.path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			if tt.token != "" {
				req.Header.Set("Authorization", "Bearer "+tt.token)
			}
			if tt.accept != "" {
				req.Header.Set("Accept", tt.accept)
			}
			if tt.cookie {
				req.AddCookie(&http.Cookie{Name: "countersign", Value: session})
			}
			status, content := process.Send(t, req)
			if status != tt.status || !strings.HasPrefix(content, tt.content) {
				t.Errorf("%d %s, want %d %s", status, content, tt.status, tt.content)
			}
		})
	}
}

func TestForeignHostIsRefused(t *testing.T) {
	t.Parallel()
	s := process.Serve(t, storetest.Dir(t), "", func(c *config.Config) {
		c.PublicURL = &url.URL{Scheme: "https", Host: "sign.example.com"}
	})
	for host, want := range map[string]int{
		"evil.example.com": 421, "sign.example.com": 303, "sign.example.com:444": 303,
		"localhost": 303, "127.0.0.1:9": 303, "192.0.2.7": 421, "sign.example.com.evil.com": 421,
	} {
		for _, path := range []string{"/", "/v1/approvals"} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Addr+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			req.Host = host
			want := want
			if path != "/" && want == 303 {
				want = 401
			}
			if got, _ := process.Send(t, req); got != want {
				t.Errorf("%s%s: %d, want %d", host, path, got, want)
			}
		}
	}
}

func TestStopAnswersWaitsQuicklyAndLeavesOneFile(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	answer := make(chan *wire.Approval, 1)
	go func() {
		got, err := w.Client(w.Agent).Ask(t.Context(), wire.AskRequest{ToolUseID: "call-1", ToolName: "deploy"}, 50*time.Second)
		if err != nil {
			t.Errorf("ask: %v", err)
		}
		answer <- got
	}()
	stream := openStream(t, w)
	process.Eventually(t, "the agent waits", func() bool { return w.Store().Waiters() == 1 })
	w.StopIn(10 * process.Patience) // it has to cut nobody off
	began := time.Now()
	w.Stop()
	if took := time.Since(began); took > process.Stuck {
		t.Errorf("the stop took %v: it waited for the agent", took)
	}
	if got := <-answer; got == nil || got.Status != wire.StatusPending {
		t.Errorf("the waiter was told %+v, want that it is pending", got)
	}
	if _, err := io.Copy(io.Discard, stream); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the stream ended with %v", err)
	}
	entries, err := os.ReadDir(w.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains([]string{models.DatabaseFile, models.DatabaseFile + models.HeadEnd, "reserve", "holders"}, e.Name()) {
			t.Errorf("the stop left %s", e.Name())
		}
	}
}

// Whoever is sent away by a stop hears when to come back: waits in the answer's head, streams in their first lines.
func TestAStopSaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	asked, err := w.Client(w.Agent).Ask(t.Context(), wire.AskRequest{ToolUseID: "call-1", ToolName: "deploy"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	const ask = `{"toolUseId":"call-1","toolName":"deploy"}`
	const hook = `{"session_id":"s","cwd":"/","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"ls"}}`
	waits := []struct {
		method, path, body string
		status             int
	}{
		{http.MethodPost, "/v1/approvals?wait=50s", ask, http.StatusAccepted},
		{http.MethodGet, "/v1/approvals/" + string(asked.ApprovalID) + "?wait=50s", "", http.StatusOK},
		{http.MethodPost, "/hooks/claude-code?wait=50s&approvalId=" + string(models.NewID[models.ResponseID]()), hook, http.StatusAccepted},
	}
	var told sync.WaitGroup
	for _, wait := range waits {
		told.Go(func() {
			res, err := asAgent(context.WithoutCancel(t.Context()), w, wait.method, wait.path, wait.body)
			if err != nil {
				t.Errorf("%s: %v", wait.path, err)
				return
			}
			defer res.Body.Close()
			if got := res.Header.Get("Retry-After"); res.StatusCode != wait.status || got != "1" {
				t.Errorf("%s %s: %d, Retry-After %q, want %d and 1", wait.method, wait.path, res.StatusCode, got, wait.status)
			}
		})
	}
	stream, err := asAgent(context.WithoutCancel(t.Context()), w, http.MethodGet, "/v1/approvals/stream", "")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	streams := map[string]io.Reader{"the agent's stream": stream.Body, "a page's stream": openStream(t, w)}
	process.Eventually(t, "all wait", func() bool { return w.Store().Waiters() == len(waits) })
	w.StopIn(10 * process.Patience)
	w.Stop()
	told.Wait()
	for name, stream := range streams {
		text, err := io.ReadAll(stream)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s ended with %v", name, err)
		}
		if head, _, _ := strings.Cut(string(text), "\n\n"); !slices.Contains(strings.Split(head, "\n"), "retry: 1000") || strings.Count(string(text), "retry:") != 1 {
			t.Errorf("%s does not begin with when to come back, once: %q", name, text)
		}
	}
}

// asAgent sends a request with the agent's token.
func asAgent(ctx context.Context, w *process.World, method, path, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+w.Addr+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+w.Agent)
	req.Header.Set("Content-Type", "application/json")
	return http.DefaultClient.Do(req)
}

// A server that drains says at /readyz that it ends, and answers, lets wait and decides meanwhile; then those who wait
// hear that it is pending, and the others forget it.
func TestADrainSaysSoFirstAndGoesOn(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	if nodes, err := w.Store().Nodes.All(t.Context()); err != nil || len(nodes) != 1 || nodes[0].Silent(w.Store().Now()) {
		t.Errorf("before, the servers are %+v, %v", nodes, err)
	}
	over := w.DrainUntil()
	var stopped sync.WaitGroup
	stopped.Go(w.Stop)
	process.Eventually(t, "it says that it ends", func() bool {
		res, err := http.Get("http://" + w.Addr + "/readyz")
		if err != nil {
			t.Fatalf("it does not answer while it drains: %v", err)
		}
		defer res.Body.Close()
		return res.StatusCode == http.StatusServiceUnavailable
	})
	asked, err := w.Client(w.Agent).Ask(t.Context(), wire.AskRequest{ToolUseID: "call-1", ToolName: "deploy"}, 0)
	if err != nil {
		t.Fatalf("an ask while it drains: %v", err)
	}
	w.Respond(t, models.ResponseID(asked.ApprovalID), wire.RespondRequest{Approved: new(true)})
	answer := make(chan *wire.Approval, 1)
	go func() {
		got, err := w.Client(w.Agent).Ask(context.WithoutCancel(t.Context()), wire.AskRequest{ToolUseID: "call-2", ToolName: "deploy"}, 50*time.Second)
		if err != nil {
			t.Errorf("a wait while it drains: %v", err)
		}
		answer <- got
	}()
	process.Eventually(t, "the agent waits", func() bool { return w.Store().Waiters() == 1 })
	over()
	stopped.Wait()
	if got := <-answer; got == nil || got.Status != wire.StatusPending {
		t.Errorf("the waiter was told %+v, want that it is pending", got)
	}
	nodes, err := storetest.New(t, storetest.WithDir(w.Dir)).Nodes.All(t.Context())
	if err != nil || len(nodes) != 0 {
		t.Errorf("after it, the servers are %+v, %v", nodes, err)
	}
}

// openStream is a page's event stream of the admin.
func openStream(t *testing.T, w *process.World) io.Reader {
	t.Helper()
	_, session := storetest.Session(t, w.Store(), storetest.AdminEmail)
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodGet, w.URL()+"/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.AddCookie(&http.Cookie{Name: "countersign", Value: session})
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	if res.StatusCode != http.StatusOK {
		t.Fatalf("stream: %s", res.Status)
	}
	return res.Body
}
