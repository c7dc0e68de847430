package scenario_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"syscall"

	"countersign/cmd/process"
	"countersign/models"
)

// streams reads each stream from its beginning to a request that is made for its end.
func (s *stateWalk) streams(paths map[string]bool) {
	s.t.Helper()
	if len(paths) < 3 {
		s.t.Errorf("streams: %v", paths)
	}
	_, raw := s.send(http.MethodPost, "/v1/approvals", s.w.Agent, stateRow{name: "last", tool: "call"}.body())
	var last struct{ ApprovalID string }
	if err := json.Unmarshal(raw, &last); err != nil || last.ApprovalID == "" {
		s.t.Fatalf("last: %s", raw)
	}
	for path := range paths {
		for _, token := range []string{s.w.Agent, s.w.Reviewer} {
			told := s.stream(path, token, last.ApprovalID)
			for _, id := range s.ids {
				if row := s.known[id]; row.status != models.StatusNone && row.status != models.StatusRan && !strings.Contains(told, id) {
					s.t.Errorf("%s does not tell of %s", path, row.name)
				}
			}
		}
	}
}

// stream reads a stream until it tells of an id.
func (s *stateWalk) stream(path, token, until string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), process.Patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.w.URL()+path, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Last-Event-ID", "0")
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	var told strings.Builder
	for lines := bufio.NewScanner(res.Body); lines.Scan() && !strings.Contains(told.String(), until); {
		if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
			told.WriteString(data + "\n")
			s.look("stream "+path, []byte(data))
		}
	}
	if !strings.Contains(told.String(), until) {
		s.t.Errorf("%s ends without the last request", path)
	}
	return told.String()
}

// webhooks has all that was recorded sent to an endpoint that gets inputs.
func (s *stateWalk) webhooks() {
	s.t.Helper()
	var mu sync.Mutex
	var bodies [][]byte
	endpoint := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if bodies = append(bodies, raw); err != nil {
			s.t.Error(err)
		}
	}))
	defer endpoint.Close()
	ctx, in := s.t.Context(), s.w.Store()
	head, err := in.Ledger.Head(ctx)
	if err == nil {
		err = in.People.AllowHost(ctx, s.w.Admin, strings.TrimPrefix(endpoint.URL, "http://"))
	}
	var hook *models.Webhook
	if err == nil {
		hook, _, err = in.Webhooks.Add(ctx, s.w.Admin, models.WebhookInput{Name: "all", URL: endpoint.URL, Inputs: true})
	}
	if err == nil {
		err = in.Webhooks.Replay(ctx, s.w.Admin, hook.ID, models.WebhookFrom{Seq: 1})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	process.Eventually(s.t, "all events are accepted", func() bool {
		state, err := in.Webhooks.Get(ctx, s.w.Admin, hook.ID)
		return err == nil && state.Cursor >= head.Seq && state.BlockCount == 0
	})
	mu.Lock()
	defer mu.Unlock()
	all := bytes.Join(bodies, []byte("\n"))
	s.look("webhook", all)
	for _, id := range s.ids {
		if !bytes.Contains(all, []byte(id)) {
			s.t.Errorf("no event is about %s", s.known[id].name)
		}
	}
}

// programs has the commands by which scripts and coding agents ask, ask about the same calls.
func (s *stateWalk) programs() {
	for _, id := range s.ids {
		if row := s.known[id]; row.kind != models.KindQuestion {
			s.asksByCommand(id, row)
			s.asksByHook(row)
		}
	}
}

// asksByCommand runs `countersign ask` with and without --json. It has a key of its own, in
// the place of which the server gets that of the call.
func (s *stateWalk) asksByCommand(id string, row *stateRow) {
	s.t.Helper()
	server := httptest.NewServer(s.withKey(id))
	defer server.Close()
	env := []string{"COUNTERSIGN_SERVER=" + server.URL, "COUNTERSIGN_TOKEN=" + s.w.Agent, "XDG_CACHE_HOME=" + s.t.TempDir()}
	p := process.Start(s.t, env, "ask", row.tool, "--input", askedInput, "--json")
	if row.status == models.StatusPending {
		p.Says(s.t, p.Err, "waiting for a decision at ")
		p.Signal(s.t, syscall.SIGINT)
	}
	if code := p.Exit(s.t); code != row.exit() {
		s.t.Errorf("ask --json about %s exits with %d, want %d:\n%s%s", row.name, code, row.exit(), p.Out, p.Err)
	}
	if out := p.Out.String(); row.status == models.StatusPending {
		if out != "" {
			s.t.Errorf("ask --json prints of what waits: %s", out)
		}
		return
	} else if !strings.Contains(out, id) {
		s.t.Errorf("ask --json does not print %s: %s%s", row.name, out, p.Err)
	}
	s.lookOf("ask --json", []byte(p.Out.String()), row)

	p = process.Start(s.t, env, "ask", row.tool, "--input", askedInput) // whose script runs what it sent
	switch code := p.Exit(s.t); {
	case code == 0 && row.input != askedInput:
		s.t.Errorf("ask about %s exits with 0: %s", row.name, p.Err)
	case code != 0 && row.input == askedInput && !row.takesEdits():
		s.t.Errorf("ask about %s exits with %d: %s", row.name, code, p.Err)
	}
}

// exit is how `countersign ask --json` ends.
func (row *stateRow) exit() int {
	switch row.status {
	case models.StatusRejected:
		return 1
	case models.StatusExpired, models.StatusCancelled, models.StatusRan:
		return 2
	case models.StatusPending:
		return 130
	case models.StatusNone, models.StatusApproved, models.StatusResolved:
	}
	switch {
	case row.input != "":
		return 0
	case row.suggests != "":
		return 2
	}
	return 4
}

// withKey passes requests on, with the key of a call in those that ask.
func (s *stateWalk) withKey(id string) http.Handler {
	to, err := url.Parse(s.w.URL())
	if err != nil {
		s.t.Fatal(err)
	}
	return &httputil.ReverseProxy{ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		if r.In.Method != http.MethodPost {
			return
		}
		var ask map[string]json.RawMessage
		if err := json.NewDecoder(r.In.Body).Decode(&ask); err != nil {
			s.t.Error(err)
		}
		ask["approvalId"] = json.RawMessage(jsonOf(id))
		raw := []byte(jsonOf(ask))
		r.Out.Body, r.Out.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	}}
}

// asksByHook runs `countersign hook` before the call.
func (s *stateWalk) asksByHook(row *stateRow) {
	s.t.Helper()
	if row.status == models.StatusPending {
		return // it would wait
	}
	event := `{"session_id":"run-1","hook_event_name":"PreToolUse","cwd":"/x","tool_use_id":"` + row.name + `","tool_name":"` + row.tool + `","tool_input":` + askedInput + `}`
	out, said, code := process.RunWith(s.t, []string{"COUNTERSIGN_SERVER=" + s.w.URL(), "COUNTERSIGN_TOKEN=" + s.w.Agent}, event, "hook")
	if allows := strings.Contains(out, `"permissionDecision":"allow"`); allows != (row.input != "" && !row.terminal()) || allows && code != 0 {
		s.t.Errorf("hook of %s exits with %d: %s%s", row.name, code, out, said)
	}
	if code != 2 && !row.terminal() && !strings.Contains(out, `"permissionDecision"`) {
		s.t.Errorf("hook of %s decides nothing, and exits with %d: %s%s", row.name, code, out, said)
	}
	s.lookOf("hook", []byte(out), row)
}
