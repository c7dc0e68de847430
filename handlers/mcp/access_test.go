package mcp_test

import (
	"net/http"
	"strings"
	"testing"

	"countersign/models"
)

const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

// TestWhoGetsIn looks at the token, the Host and the Origin of a request.
func TestWhoGetsIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	host := strings.TrimPrefix(w.url, "http://")
	for name, tt := range map[string]struct {
		token  string
		header map[string]string
		want   int
	}{
		"an agent":                 {w.agent, nil, http.StatusOK},
		"nobody":                   {"", nil, http.StatusUnauthorized},
		"a token of nothing":       {"cs_agent_nothing", nil, http.StatusUnauthorized},
		"a reviewer":               {w.reviewer, nil, http.StatusForbidden},
		"a page of this server":    {w.agent, map[string]string{"Origin": "http://" + host}, http.StatusOK},
		"a page elsewhere":         {w.agent, map[string]string{"Origin": "https://evil.example"}, http.StatusForbidden},
		"a page on another port":   {w.agent, map[string]string{"Origin": "http://127.0.0.1:1"}, http.StatusForbidden},
		"a page without an origin": {w.agent, map[string]string{"Origin": "null"}, http.StatusForbidden},
		"another text":             {w.agent, map[string]string{"Content-Type": "text/plain"}, http.StatusUnsupportedMediaType},
		"no stream":                {w.agent, map[string]string{"Accept": "application/json"}, http.StatusBadRequest},
	} {
		c := w.client(tt.token)
		s, err := c.send(http.MethodPost, list, tt.header)
		if err != nil {
			t.Fatal(err)
		}
		if s.status != tt.want {
			t.Errorf("%s: %d, want %d", name, s.status, tt.want)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/mcp", strings.NewReader(list))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "rebound.example"
	req.Header.Set("Authorization", "Bearer "+w.agent)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("under another name: %d", res.StatusCode)
	}
	w.client(w.agent).post(`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", models.MaxBody) + `"}`).want(http.StatusRequestEntityTooLarge)
	w.client(w.agent).post(`{`).want(http.StatusBadRequest)
}

// TestIdsOfStrangersGiveNothing tries sessions and events of others, and such that nobody made.
func TestIdsOfStrangersGiveNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.begin(w.agent)
	s, first := c.waiting(1)
	yes := true
	w.decide(w.pending(1)[0].ID, models.DecisionInput{Approved: &yes})
	s.answer()
	for name, token := range map[string]string{"another agent": w.second, "a stranger's agent": w.foreign} {
		other := w.client(token)
		other.session = c.session
		other.post(list).want(http.StatusNotFound)
		other.resume(first.id).want(http.StatusNotFound)
		other.session = w.begin(token).session
		if got := other.resume(first.id); got.status != http.StatusUnprocessableEntity {
			t.Errorf("%s resumed: %d", name, got.status)
		}
	}
	again := w.begin(w.agent) // another session of the same agent
	again.resume(first.id).want(http.StatusUnprocessableEntity)
	for _, id := range []string{"1_0", strings.Repeat("a", 5000), first.id + "x", "x" + first.id, ".", c.session} {
		c.resume(id).want(http.StatusUnprocessableEntity)
	}
	for _, session := range []string{"x", ".", c.session + "x", strings.Repeat("a", 5000)} {
		made := w.client(w.agent)
		made.session = session
		made.post(list).want(http.StatusNotFound)
		made.resume(first.id).want(http.StatusNotFound)
	}
	if got := c.resume(first.id).answer().text(); got != allowed {
		t.Error(got)
	}
	// GET makes nothing, and there is no other stream to read (I15).
	s, err := c.send(http.MethodGet, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	s.want(http.StatusMethodNotAllowed)
}
