package scenario_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"countersign/cmd/process"
	"countersign/models"
	"countersign/models/storetest"
)

// TestNoSurfaceShowsWhatRanAsApprovedI11 reports calls that ran without an answer, in each way
// that such a report is taken, and reads them on every GET route of the document, by all names
// that they have, where the agent repeats them, on pages and in exports. A new route of the
// document is walked by being registered.
func TestNoSurfaceShowsWhatRanAsApprovedI11(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	w.ApplyPolicy(t, `{"fallback_auto_approve":true,"rules":[{"name":"never","tools":["format"],"effect":"deny","reason":"Nobody formats."},
	 {"name":"grave","tools":["deploy"],"effect":"require","risk":"critical"},{"name":"free","tools":["read"],"effect":"allow"}]}`)
	walk := &ranWalk{t: t, w: w}
	_, walk.session = storetest.Session(t, w.Store(), storetest.AdminEmail)
	for i, tool := range []string{"read", "deploy", "format", "other", "read"} {
		if i == 4 {
			if _, _, err := w.Store().Stop(t.Context(), w.Admin, "", "enough"); err != nil {
				t.Fatal(err)
			}
		}
		walk.report(fmt.Sprintf("call-%d", i), tool)
	}
	if !slices.Equal(walk.statuses, []string{"ran", "ran", "rejected", "ran", "ran"}) {
		t.Errorf("reported: %q", walk.statuses)
	}
	walk.routes()
	walk.ask()
	walk.pages()
	if walk.seen < 30 {
		t.Errorf("only %d answers named a call", walk.seen)
	}
}

type ranWalk struct {
	t        *testing.T
	w        *process.World
	session  string // of a person's browser
	ids      []string
	names    []string // toolUseIds
	conv     string
	statuses []string
	seen     int // answers that name one of the calls
}

func (r *ranWalk) report(name, tool string) {
	r.t.Helper()
	body := fmt.Sprintf(`{"runId":"run-1","toolUseId":%q,"toolName":%q,"input":{"command":"x"},"fallback":{"at":%q}}`, name, tool, time.Now().UTC().Format(time.RFC3339Nano))
	for range 2 { // the repeat is the same
		_, raw := r.send(http.MethodPost, "/v1/approvals", r.w.Agent, body)
		var got struct{ ApprovalID, ConversationID, Status, Reason string }
		if err := json.Unmarshal(raw, &got); err != nil || got.ApprovalID == "" {
			r.t.Fatalf("report %s: %s", tool, raw)
		}
		if r.check("POST /v1/approvals", raw); !slices.Contains(r.ids, got.ApprovalID) {
			r.ids, r.names, r.statuses, r.conv = append(r.ids, got.ApprovalID), append(r.names, name), append(r.statuses, got.Status), got.ConversationID
		}
		if tool == "format" && !strings.HasPrefix(got.Reason, models.RanDenied) || name == "call-4" && !strings.HasPrefix(got.Reason, models.RanStopped) {
			r.t.Errorf("%s: %q", name, got.Reason)
		}
	}
}

func (r *ranWalk) send(method, path, token, body string) (*http.Response, []byte) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), process.Patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, r.w.URL()+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	if token == "" { // a browser, which sends no JSON: a program that does is told of a token
		req.AddCookie(&http.Cookie{Name: "countersign", Value: r.session})
		req.Header.Set("Accept", "text/html")
	} else {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	if isStream(res) {
		return res, nil // TestEachSurfaceTellsEachStateAsItIs reads those
	}
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, path, err)
	}
	return res, raw
}

func isStream(res *http.Response) bool {
	return strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")
}

// check reads an answer: nothing in it is a yes. Each line of it may be JSON.
func (r *ranWalk) check(where string, raw []byte) {
	r.t.Helper()
	if !slices.ContainsFunc(slices.Concat(r.ids, r.names), func(name string) bool { return bytes.Contains(raw, []byte(name)) }) {
		return
	}
	r.seen++
	parts := [][]byte{raw}
	if !json.Valid(raw) {
		parts = bytes.Split(raw, []byte("\n"))
	}
	for _, part := range parts {
		var v any
		if json.Unmarshal(part, &v) == nil {
			r.noYes(where, v)
		}
	}
}

// noYes reports every member that reads as an approval, whatever surface it is of.
func (r *ranWalk) noYes(where string, v any) {
	r.t.Helper()
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			r.noYes(where, one)
		}
	case map[string]any:
		for name, value := range v {
			text, _ := value.(string)
			switch strings.ToLower(name) {
			case "approved":
				if value == true {
					r.t.Errorf("%s: %s is true", where, name)
				}
			case "requiresapproval", "requires_approval":
				if value == false {
					r.t.Errorf("%s: %s is false", where, name)
				}
			case "status", "decision", "behavior", "permissiondecision", "outcome":
				if slices.Contains([]string{"approved", "allow", "allowed", "let_through"}, strings.ToLower(text)) {
					r.t.Errorf("%s: %s is %s", where, name, text)
				}
			case "text": // MCP has JSON as text
				r.check(where, []byte(text))
			}
			r.noYes(where, value)
		}
	}
}

// routes reads every GET route of the document, with each name that its parameters may mean.
func (r *ranWalk) routes() {
	for _, one := range r.reads() {
		for _, token := range []string{r.w.Agent, r.w.Reviewer} {
			res, raw := r.send(http.MethodGet, one, token, "")
			if r.check("GET "+one, raw); strings.HasSuffix(one, "?status=approved") && res.StatusCode == http.StatusOK && bytes.Contains(raw, []byte(`"toolUseId":"call-`)) {
				r.t.Errorf("GET %s lists what ran", one)
			}
		}
	}
}

// document has the methods of each path of the OpenAPI document.
func (r *ranWalk) document() map[string]map[string]json.RawMessage {
	_, raw := r.send(http.MethodGet, "/openapi.json", r.w.Agent, "")
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		r.t.Fatal(err)
	}
	return document.Paths
}

// reads are all GET routes of the document, with each name that their parameters may mean.
func (r *ranWalk) reads() (out []string) {
	param := regexp.MustCompile(`\{[^}]*\}`)
	for path, methods := range r.document() {
		if _, reads := methods["get"]; !reads {
			continue
		}
		n := len(param.FindAllString(path, -1))
		if n == 0 {
			out = append(out, path, path+"?status=approved")
			continue
		}
		for _, first := range slices.Concat([]string{r.conv, "run-1"}, r.ids, r.names) {
			for _, second := range append(slices.Clone(r.names), r.ids...) {
				one := strings.Replace(path, param.FindString(path), first, 1)
				out = append(out, param.ReplaceAllString(one, second))
				if n == 1 {
					break
				}
			}
		}
	}
	return out
}

// ask has the agent ask about the calls again, by the ways in that have a form of their own.
func (r *ranWalk) ask() {
	c := r.w.MCPClient(r.t, false)
	c.Begins()
	tools := []string{"read", "deploy", "format", "other", "read"}
	for i, name := range r.names {
		for _, route := range [...]struct{ path, body string }{
			{"/api/approval/request", `{"session_id":"run-1","tool_use_id":"` + name + `","tool_name":"` + tools[i] + `","tool_input":{"command":"x"}}`},
			{"/hooks/claude-code", `{"session_id":"run-1","hook_event_name":"PreToolUse","cwd":"/x","tool_use_id":"` + name + `","tool_name":"` + tools[i] + `","tool_input":{"command":"x"}}`},
		} {
			_, raw := r.send(http.MethodPost, route.path, r.w.Agent, route.body)
			r.check("POST "+route.path, raw)
			if route.path == "/hooks/claude-code" && !bytes.Contains(raw, []byte(`"deny"`)) {
				r.t.Errorf("the hook does not deny %s: %s", name, raw)
			}
		}
		_, raw := r.send(http.MethodGet, "/humanlayer/v1/function_calls/"+name, r.w.Agent, "")
		if r.check("humanlayer", raw); !bytes.Contains(raw, []byte(`"approved":false`)) {
			r.t.Errorf("function call %s: %s", name, raw)
		}
		c.Calls(i+1, "check_approval", `{"approval_id":"`+r.ids[i]+`"}`)
		c.Says(r.t, c.Out, fmt.Sprintf(`"id":%d,`, i+1))
	}
	r.check("mcp", []byte(c.Out.String()))
	if n := strings.Count(c.Out.String(), `"approved":false`); n != len(r.ids) {
		r.t.Errorf("mcp told %d of %d calls: %s", n, len(r.ids), c.Out)
	}
}

// pages reads what people see: no badge is a yes, and those that say what it is are red.
func (r *ranWalk) pages() {
	paths := []string{"/history", "/history?status=ran", "/conversations/" + r.conv, "/audit", "/history/export?format=jsonl", "/history/export?format=csv", "/audit/export?format=jsonl", "/audit/export?format=csv"}
	for _, id := range r.ids {
		paths = append(paths, "/approvals/"+id)
	}
	red := 0
	for _, path := range paths {
		res, raw := r.send(http.MethodGet, path, "", "")
		if res.StatusCode != http.StatusOK {
			r.t.Errorf("GET %s: %d", path, res.StatusCode)
			continue
		}
		if r.check("GET "+path, raw); strings.Contains(path, "/export") {
			if bytes.Contains(raw, []byte("let_through")) || bytes.Contains(raw, []byte(",approved,")) {
				r.t.Errorf("GET %s: %s", path, raw)
			}
			continue
		}
		doc, err := goquery.NewDocumentFromReader(bytes.NewReader(raw))
		if err != nil {
			r.t.Fatal(err)
		}
		doc.Find(".badge").Each(func(_ int, badge *goquery.Selection) {
			switch text := strings.TrimSpace(badge.Text()); text {
			case "approved", "allowed", "no approval needed":
				r.t.Errorf("GET %s: a badge says %q", path, text)
			case "ran without approval", models.RanDenied:
				if red++; badge.AttrOr("data-tone", "") != "bad" {
					r.t.Errorf("GET %s: the badge %q is not red", path, text)
				}
			}
		})
	}
	if red < len(r.ids) {
		r.t.Errorf("%d red badges", red)
	}
	if _, raw := r.send(http.MethodGet, "/history?status=approved", "", ""); bytes.Contains(raw, []byte(r.ids[0])) {
		r.t.Error("the history of what was approved has what ran")
	}
}
