package server_test

import (
	"net/http"
	"strings"
	"testing"

	"countersign/cmd/process"
)

// The paths of conversations are the pages' and the API's: who brings a token,
// or is a program, is answered in JSON; a browser gets the page or the way in.
func TestTwoRoutersShareConversations(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	const browser, program = "text/html,*/*;q=0.8", "application/json"
	for _, tt := range []struct {
		name, method, path, accept, token string
		status                            int
		kind                              string // of the answer; empty: a redirect to the sign-in
	}{
		{"a browser", "GET", "/conversations", browser, "", 303, ""},
		{"a browser at one", "GET", "/conversations/0190f5a0-0000-7000-8000-000000000001", browser, "", 303, ""},
		{"a program", "GET", "/conversations", program, "", 401, "application/problem+json"},
		{"curl", "GET", "/conversations", "*/*", "", 401, "application/problem+json"},
		{"a program at one", "GET", "/conversations/0190f5a0-0000-7000-8000-000000000001", program, "", 401, "application/problem+json"},
		{"a message", "POST", "/message", program, "", 401, "application/problem+json"},
		{"an agent", "GET", "/conversations", program, "agent", 200, "application/json"},
		{"an agent in a browser's clothes", "GET", "/conversations", browser, "agent", 200, "application/json"},
		{"a reviewer", "GET", "/conversations/0190f5a0-0000-7000-8000-000000000001", program, "reviewer", 404, "application/problem+json"},
		{"a wrong token", "GET", "/conversations", browser, "wrong", 401, "application/problem+json"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tt.method, "http://"+w.Addr+tt.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", tt.accept)
		if token := map[string]string{"agent": w.Agent, "reviewer": w.Reviewer, "wrong": "wrong"}[tt.token]; token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != tt.status {
			t.Errorf("%s: %d, want %d", tt.name, res.StatusCode, tt.status)
		}
		if tt.kind == "" {
			if got := res.Header.Get("Location"); !strings.HasPrefix(got, "/signin") {
				t.Errorf("%s: sent to %q", tt.name, got)
			}
		} else if got := res.Header.Get("Content-Type"); got != tt.kind {
			t.Errorf("%s: answered with %s, want %s", tt.name, got, tt.kind)
		}
		if challenge := res.Header.Get("WWW-Authenticate"); (challenge != "") != (tt.status == http.StatusUnauthorized) {
			t.Errorf("%s: WWW-Authenticate %q", tt.name, challenge)
		}
	}
}
