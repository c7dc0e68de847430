package api_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

var parameter = regexp.MustCompile(`:(\w+)`)

func TestTheDocumentDescribesTheRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.call("", "GET", "/openapi.json", "")
	a.want(t, 200, map[string]any{"openapi": "3.1.0", "info.title": "Countersign"})
	for _, route := range w.api.Routes() {
		if route.Path == "/openapi.json" {
			continue
		}
		path := parameter.ReplaceAllString(route.Path, "{$1}")
		paths, _ := a.at("paths").(map[string]any)
		operations, _ := paths[path].(map[string]any)
		if operations[strings.ToLower(route.Method)] == nil {
			t.Errorf("%s %s is not described", route.Method, path)
		}
	}
	if a.at("components.schemas.AskRequest.properties.input") == nil {
		t.Error("the request is not described")
	}
	for _, path := range []string{"/docs", "/schemas/Approval.json", "/openapi.yaml"} {
		w.call("", "GET", path, "").want(t, 404, nil)
	}
	if id := w.ask(`{"toolUseId":"1","toolName":"rm"}`); strings.Contains(w.call(w.agent, "GET", "/v1/approvals/"+id, "").body, "$schema") {
		t.Error("answers carry $schema")
	}
}

// A wait's line in the log comes with its answer.
func TestAWaitIsLoggedOnceWithItsStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asked := w.waiting(w.agent, "POST", "/v1/approvals?wait=50s", `{"approvalId":"`+uuid+`1","toolName":"rm"}`)
	if lines := w.logged("POST", "/v1/approvals"); len(lines) != 0 {
		t.Errorf("logged before its answer: %v", lines)
	}
	w.call(w.reviewer, "POST", "/v1/approvals/"+uuid+"1/respond", `{"approved":true}`).want(t, 200, nil)
	got := <-asked
	w.call(w.agent, "POST", "/v1/approvals?wait=1ms", `{"approvalId":"`+uuid+`2","toolName":"rm"}`).want(t, 202, nil)
	lines := w.logged("POST", "/v1/approvals")
	if len(lines) != 2 || lines[0]["status"] != 200.0 || lines[0]["request_id"] != got.header.Get("X-Request-Id") || lines[1]["status"] != 202.0 {
		t.Errorf("logged: %v", lines)
	}
}

// The body's read deadline must not end a wait.
func TestAWaitOutlastsTheBodysDeadline(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for longer than a body may take")
	}
	w := newWorld(t)
	const wait = 12 * time.Second
	start := time.Now()
	w.call(w.agent, "POST", "/v1/approvals?wait="+wait.String(), `{"toolUseId":"1","toolName":"rm"}`).want(t, 202, map[string]any{"status": "pending"})
	if took := time.Since(start); took < wait {
		t.Errorf("the wait ended after %v", took)
	}
}

func TestFallbackIsToldToThoseWhoAsk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"toolUseId":"1","toolName":"rm"}`
	ask := func(query, header string) string {
		return w.callWith(w.agent, "POST", "/v1/approvals"+query, body, header).header.Get("Countersign-Fallback")
	}
	for _, query := range []string{"", "?wait=1ms"} {
		if got := ask(query, ""); got != "" {
			t.Errorf("%q: told without being asked: %q", query, got)
		}
		if got := ask(query, "?"); got != "off" {
			t.Errorf("%q: %q, want off", query, got)
		}
	}
	w.policy(`{"fallback_auto_approve":true}`)
	for _, query := range []string{"", "?wait=1ms"} {
		if got := ask(query, "?"); got != "on" {
			t.Errorf("%q: %q, want on", query, got)
		}
	}
}

// It is off for what no client may run without an answer, though the policy has it on.
func TestFallbackIsToldForTheToolAndAgentI11(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"fallback_auto_approve":true,"rules":[
	 {"name":"never","tools":["format"],"effect":"deny"},{"name":"some","tools":["Bash"],"when":"input.command == \"rm\"","effect":"deny"},
	 {"name":"grave","tools":["deploy"],"effect":"require","risk":"critical"},{"name":"loud","tools":["mail"],"effect":"require","risk":"high"},
	 {"name":"free","tools":["read"],"effect":"allow"}]}`)
	n := 0
	told := func(tool, input string) string {
		n++
		body := fmt.Sprintf(`{"toolUseId":"%d","toolName":%q,"input":%s}`, n, tool, input)
		return w.callWith(w.agent, "POST", "/v1/approvals", body, "until").header.Get("Countersign-Fallback")
	}
	for tool, want := range map[string]string{"read": "on", "rm": "on", "format": "off", "Bash": "off", "deploy": "off", "mail": "off"} {
		if got := told(tool, `{"command":"ls"}`); got != want {
			t.Errorf("%s: %q, want %q", tool, got, want)
		}
	}
	if _, _, err := w.store.Stop(t.Context(), w.adminAs, "", "enough"); err != nil {
		t.Fatal(err)
	}
	if got := told("read", `{}`); got != "off" {
		t.Errorf("a stopped agent: %q", got)
	}
}

// A client that knows of ends is told of one; any other is told "on" only as long as it may
// believe that for ten minutes.
func TestFallbackIsToldWithItsEndI11(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"fallback_auto_approve":true,"fallback_until":"2026-03-02T13:00:00Z"}`) // in an hour
	for _, step := range []struct {
		passes       time.Duration
		known, other string
	}{
		{0, "on; until=2026-03-02T13:00:00Z", "on"},
		{49*time.Minute - time.Second, "on; until=2026-03-02T13:00:00Z", "on"}, // believed for ten minutes from when the answer comes
		{time.Second, "on; until=2026-03-02T13:00:00Z", "off"},
		{11*time.Minute - time.Second, "on; until=2026-03-02T13:00:00Z", "off"},
		{time.Second, "off", "off"},
	} {
		now := w.clock.Step(step.passes)
		for sent, want := range map[string]string{"until": step.known, "?": step.other, "": ""} {
			if got := w.callWith(w.agent, "POST", "/v1/approvals", `{"toolUseId":"1","toolName":"rm"}`, sent).header.Get("Countersign-Fallback"); got != want {
				t.Errorf("at %s, asked with %q: %q, want %q", now, sent, got, want)
			}
		}
	}
}

// logged reads the request lines of a route.
func (w *world) logged(method, route string) (lines []map[string]any) {
	w.tb.Helper()
	for line := range strings.Lines(w.log.String()) {
		var entry map[string]any
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			w.tb.Fatal(err)
		}
		if entry["msg"] == "request" && entry["method"] == method && entry["route"] == route {
			lines = append(lines, entry)
		}
	}
	return lines
}
