package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign/handlers/mcp"
	"countersign/models"
	"countersign/models/storetest"
)

func withWait(d time.Duration) func(*world) { return func(w *world) { w.wait = d } }

// TestRequestApproval asks, hears after a while that nobody has decided, and then the outcome.
func TestRequestApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withWait(20*time.Millisecond))
	c := w.begin(w.agent)
	const ask = `{"tool_name":"send_email","input":{"to":"a@example.test","n":9007199254740993},"description":"the offer","preview":"Dear A","tool_use_id":"mail-1"}`
	r := c.call(1, "request_approval", ask).answer()
	if r.member("status") != "pending" || r.member("approved") != false {
		t.Fatalf("at first: %s", r.text())
	}
	if r.member("waiting_for") != "a decision by owner@example.com or an admin" || fmt.Sprint(r.member("reviewers")) != "[owner@example.com admins]" {
		t.Errorf("it waits for %v, by %v", r.member("waiting_for"), r.member("reviewers"))
	}
	id, _ := r.member("approval_id").(string)
	if row := w.pending(1)[0]; string(row.ID) != id || row.Description != "the offer" || row.Preview != "Dear A" {
		t.Errorf("%s waits with %q, %q", row.ID, row.Description, row.Preview)
	}
	if again := c.call(2, "request_approval", ask).answer(); again.member("approval_id") != id {
		t.Error("a repeat is another request")
	}
	if r := c.call(3, "check_approval", `{"approval_id":"`+id+`","wait_seconds":0}`).answer(); r.member("status") != "pending" {
		t.Errorf("unasked for: %s", r.text())
	}
	yes := true
	w.decide(models.ResponseID(id), models.DecisionInput{Approved: &yes, Input: []byte(`{"to":"b@example.test","n":9007199254740993}`), Reason: "not to a"})
	for _, name := range []string{`{"approval_id":"` + id + `"}`, `{"tool_use_id":"mail-1"}`} {
		r := c.call(4, "check_approval", name).answer()
		if r.member("status") != "approved" || r.member("approved") != true || r.member("edited") != true || r.member("reason") != "not to a" || r.member("decided_by") == nil {
			t.Errorf("%s: %s", name, r.text())
		}
		if !strings.Contains(r.text(), `"input":{"to":"b@example.test","n":9007199254740993}`) {
			t.Errorf("the input is not exact: %s", r.text())
		}
	}
	for who, other := range map[string]*client{"another agent": w.begin(w.second), "a stranger's": w.begin(w.foreign)} {
		if got := other.call(1, "check_approval", `{"approval_id":"`+id+`"}`).answer().text(); !strings.HasPrefix(got, "error: ") || strings.Contains(got, "example.test") {
			t.Errorf("%s heard: %s", who, got)
		}
	}
}

func TestAskHuman(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.modern(w.agent, "ask_human")
	s := c.call(1, "ask_human", `{"question":"Which region?","options":[{"name":"eu","title":"Frankfurt"},{"name":"us"}]}`)
	w.decide(w.pending(1)[0].ID, models.DecisionInput{Option: new("eu")})
	if r := s.answer(); r.member("option") != "eu" || r.member("approved") != true {
		t.Error(r.text())
	}
	s = c.call(2, "ask_human", `{"question":"Why?"}`)
	w.decide(w.pending(1)[0].ID, models.DecisionInput{Answer: new("because <b>")})
	if r := s.answer(); r.member("answer") != "because <b>" {
		t.Error(r.text())
	}
}

// TestTalk replies and proposes in the agent's own conversation, or in one that it names.
func TestTalk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.begin(w.agent)
	r := c.call(1, "reply", `{"content":"done"}`).answer()
	if r.member("kind") != "reply" || r.member("status") != "approved" || r.member("requires_approval") != false {
		t.Error(r.text())
	}
	own, _ := r.member("conversation_id").(string)
	s := c.call(2, "respond_with_approval", `{"content":"delete it","energy_budget":50}`)
	row := w.pending(1)[0]
	if string(row.ConversationID) != own || row.EnergyBudget == nil || *row.EnergyBudget != 50 {
		t.Errorf("proposed %v in %s, want 50 in %s", row.EnergyBudget, row.ConversationID, own)
	}
	yes := true
	w.decide(row.ID, models.DecisionInput{Approved: &yes})
	if r := s.answer(); r.member("approved") != true {
		t.Error(r.text())
	}
	named := string(models.NewID[models.ConversationID]())
	if r := c.call(3, "reply", `{"content":"elsewhere","conversation_id":"`+named+`"}`).answer(); r.member("conversation_id") != named {
		t.Error(r.text())
	}
	if got := w.begin(w.foreign).call(1, "reply", `{"content":"hello","conversation_id":"`+named+`"}`).answer().text(); !strings.HasPrefix(got, "error: ") {
		t.Errorf("a stranger's agent wrote into it: %s", got)
	}
}

// TestBudgetsI4: an agent lowers a budget at once, and asks for more.
func TestBudgetsI4(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.begin(w.agent)
	for _, step := range []struct {
		tool, arguments string
		budget          float64
	}{
		{"set_budget", `{"budget":100}`, 100},
		{"set_budget", `{"budget":90}`, 90},
		{"adjust_budget", `{"delta":-30}`, 60},
	} {
		if r := c.call(1, step.tool, step.arguments).answer(); r.member("budget") != step.budget || r.member("approval_id") != nil {
			t.Errorf("%s %s: %s", step.tool, step.arguments, r.text())
		}
	}
	w.pending(0)
	for range 2 {
		if r := c.call(2, "set_budget", `{"budget":1000}`).answer(); r.member("budget") != 60.0 || r.member("status") != "pending" {
			t.Errorf("set_budget raised the budget: %s", r.text())
		}
	}
	if r := c.call(2, "adjust_budget", `{"delta":5}`).answer(); !strings.Contains(r.text(), "A budget of 1000 is asked for already") {
		t.Errorf("another wish is answered with %s", r.text())
	}
	if a := w.pending(1)[0]; a.Kind != models.KindBudget {
		t.Errorf("a %s waits", a.Kind)
	}
}

// TestAgentsNeverDecideI4 calls every tool about a request that waits, as every agent, with all
// that could be taken for a decision. Nothing is decided, and no other token gets in.
func TestAgentsNeverDecideI4(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withWait(time.Millisecond))
	w.begin(w.agent).waiting(1)
	row := w.pending(1)[0]
	votes := func() int { return storetest.Scalar[int](t, w.store, `SELECT count(*) FROM votes`) }
	version, _ := w.store.CurrentPolicy(t.Context())
	for _, token := range []string{w.agent, w.second, w.foreign} {
		c := w.begin(token)
		for _, name := range toolNames(t, c) {
			if name == "approve" {
				continue // it waits; see the others
			}
			for _, extra := range []string{``, `,"approved":true`, `,"decision":"approve"`, `,"behavior":"allow"`, `,"answer":"yes"`} {
				c.call(2, name, `{"approval_id":"`+string(row.ID)+`","tool_name":"Bash","input":{"command":"touch one.txt"},"content":"approved","budget":5,"delta":5`+extra+`}`).answer()
			}
		}
		// What a client says that it was answered by elicitation decides nothing.
		m := w.modern(token, "check_approval")
		r := m.post(strings.Replace(callOf(3, "check_approval", `{"approval_id":"`+string(row.ID)+`"}`, `{"progressToken":7}`, modern), `"params":{`,
			`"params":{"inputResponses":{"ok":{"action":"accept","content":{"approved":true}}},"requestState":"approved",`, 1)).answer()
		if strings.Contains(r.text(), `"approved":true`) {
			t.Errorf("an elicitation decided: %s", r.text())
		}
	}
	if a, err := w.store.Requests.Approval(t.Context(), w.owner, row.ID); err != nil || a.Status() != models.StatusPending || votes() != 0 {
		t.Errorf("%s is %s with %d votes, %v", row.ID, a.Status(), votes(), err)
	}
	if now, _ := w.store.CurrentPolicy(t.Context()); now.Version != version.Version {
		t.Error("the policy was changed")
	}
	_, admin := storetest.AdminToken(t, w.store, w.admin)
	for _, token := range []string{w.reviewer, admin} {
		w.client(token).post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`).want(http.StatusForbidden)
	}
}

func toolNames(t *testing.T, c *client) []string {
	t.Helper()
	s := c.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	for {
		e, ok := s.next()
		if !ok {
			t.Fatal("no list of tools")
		}
		var r struct {
			Result struct{ Tools []struct{ Name string } }
		}
		if json.Unmarshal([]byte(e.data), &r) == nil && r.Result.Tools != nil {
			var names []string
			for _, tool := range r.Result.Tools {
				names = append(names, tool.Name)
			}
			return names
		}
	}
}

// TestArguments refuses what is wrong, and names it.
func TestArguments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.begin(w.agent)
	for _, tt := range [][3]string{
		{"request_approval", `{"tool_name":"a","input":{},"approved":true}`, "arguments: contain a member that this tool does not take"},
		{"request_approval", `{"tool_name":"a","input":[]}`, "input: must be an object"},
		{"request_approval", `{"tool_name":"a","input":{},"conversation_id":"x"}`, "conversationId: must be a UUID"},
		{"ask_human", `{"question":""}`, "question: must not be empty"},
		{"ask_human", `{"question":"?","options":[{"name":"Yes"},{"name":"yes "}]}`, "reads like option"},
		{"check_approval", `{}`, "approval_id: is required, unless tool_use_id"},
		{"check_approval", `{"approval_id":"x"}`, "approval_id: must be a UUID"},
		{"check_approval", `{"tool_use_id":"x","wait_seconds":-1}`, "wait_seconds: must not be negative"},
		{"set_budget", `{"budget":1.5}`, "budget: must be a whole number"},
		{"set_budget", `{"budget":5,"delta":5}`, "contain a member that this tool does not take"},
		{"adjust_budget", `{}`, "delta: is required"},
		{"reply", `{"content":7}`, "content: is of the wrong type"},
		{"get_policy", `{"all":true}`, "contain a member that this tool does not take"},
	} {
		if got := c.call(1, tt[0], tt[1]).answer().text(); !strings.HasPrefix(got, "error: ") || !strings.Contains(got, tt[2]) {
			t.Errorf("%s %s: %s, want %s", tt[0], tt[1], got, tt[2])
		}
	}
	if got := c.call(1, "decide", `{}`).answer().text(); !strings.HasPrefix(got, "protocol error: -32602") {
		t.Error(got)
	}
	w.pending(0)
}

func TestGetPolicy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"rules":[{"name":"pay","note":"for people","tools":["pay"],"when":"input.amount > 100","effect":"require","reviewers":["owner@example.com"],"reason":"money"},{"name":"off","tools":["x"],"effect":"deny","disabled":true}]}`)
	text := w.begin(w.agent).call(1, "get_policy", `{}`).answer().text()
	if !strings.Contains(text, `{"name":"pay","tools":["pay"],"effect":"require","conditional":true,"reason":"money"}]`) {
		t.Error(text)
	}
	for _, secret := range []string{"amount", "owner@", "for people", "off"} {
		if strings.Contains(text, `"`+secret) {
			t.Errorf("an agent is told %q: %s", secret, text)
		}
	}
}

// TestTheSDKsClient connects as programs do that are built with it, in every protocol.
func TestTheSDKsClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{mcp.Path, mcp.SessionPath} {
		hc := &http.Client{Transport: bearer(w.agent)}
		session, err := sdk.NewClient(&sdk.Implementation{Name: "t", Version: "1"}, nil).
			Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: w.url + path, HTTPClient: hc, DisableStandaloneSSE: true}, nil)
		if err != nil {
			t.Fatal(path, err)
		}
		list, err := session.ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) != 9 {
			t.Fatalf("%s: %d tools, %v", path, len(list.Tools), err)
		}
		for _, tool := range list.Tools {
			if tool.Description == "" || tool.Title == "" || tool.Annotations == nil || tool.InputSchema == nil || tool.OutputSchema == nil && tool.Name != "approve" {
				t.Errorf("%s is not described", tool.Name)
			}
		}
		got, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "reply", Arguments: map[string]any{"content": "hello"}})
		if err != nil || got.IsError {
			t.Errorf("%s: %+v, %v", path, got, err)
		}
		if err := session.Close(); err != nil {
			t.Error(path, err)
		}
		hc.CloseIdleConnections()
	}
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// TestProtocols answers each protocol in its own version; those with sessions never offer the
// one without.
func TestProtocols(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for asked, want := range map[string]string{"2024-11-05": "2024-11-05", "2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25", "2026-07-28": "2025-11-25", "1999-01-01": "2025-11-25"} {
		for _, path := range []string{mcp.Path, mcp.SessionPath} {
			c := w.client(w.agent)
			c.path, c.protocol = path, ""
			s := c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`, asked))
			e, _ := s.next()
			if !strings.Contains(e.data, `"protocolVersion":"`+want+`"`) || s.header.Get("Mcp-Session-Id") == "" {
				t.Errorf("%s, asked for %s: %s", path, asked, e.data)
			}
		}
	}
	discover := `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}}`
	for path, offers := range map[string]bool{mcp.Path: true, mcp.SessionPath: false} {
		c := w.client(w.agent)
		c.path, c.protocol = path, modern
		c.header.Set("Mcp-Method", "server/discover")
		raw, err := io.ReadAll(c.post(discover).body)
		if err != nil || !strings.Contains(string(raw), "2025-11-25") || strings.Contains(string(raw), `"2026-07-28"`) != offers && path == mcp.Path {
			t.Errorf("%s: %s, %v", path, raw, err)
		}
		if path == mcp.SessionPath && !strings.Contains(string(raw), "-32022") {
			t.Errorf("%s offers a protocol without sessions: %s", path, raw)
		}
	}
}
