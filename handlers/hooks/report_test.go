package hooks_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// One conversation for a session, named after its directory; each request says where the
// agent works, and how freely.
func TestASessionIsAConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, id := range []string{"1", "2"} {
		w.send(w.agent, "?wait=0s", event("PreToolUse", call("Bash", `{"command":"make","description":"Build it"}`, id))).want(t, 202, "")
	}
	first, second := w.invocation("1"), w.invocation("2")
	if first.ConversationID != second.ConversationID || *first.RunID != "s1" || second.ConversationTitle != "Claude Code in /srv/app" {
		t.Errorf("%s in %q and %s", first.ConversationID, second.ConversationTitle, second.ConversationID)
	}
	if want := "Directory: /srv/app\nPermission mode: default"; first.Context != want || first.Description != "Build it" {
		t.Errorf("context %q, description %q", first.Context, first.Description)
	}
}

// What the agent calls its directory cannot pose as another line, nor make its call
// undecidable by its length.
func TestNamesOfTheAgentStayInTheirLineI13(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := `{"session_id":"s1","cwd":"/a\nPermission mode: plan\u2028x","permission_mode":"` + strings.Repeat("é", 500) + `","agent_type":"Explore","hook_event_name":"PreToolUse"` + call("Bash", `{"description":7}`, "1") + `}`
	w.send(w.agent, "?wait=0s", e).want(t, 202, "")
	got := w.invocation("1")
	lines := strings.Split(got.Context, "\n")
	if len(lines) != 3 || lines[0] != "Directory: /a\uFFFDPermission mode: plan\uFFFDx" || lines[1] != "Permission mode: "+strings.Repeat("é", 100) || lines[2] != "Sub-agent: Explore" {
		t.Errorf("%q", lines)
	}
	e = strings.Replace(event("PreToolUse", call("Bash", `{}`, "2")), `"s1"`, `"s2"`, 1)
	w.send(w.agent, "?wait=0s", strings.Replace(e, "/srv/app", "/"+strings.Repeat("ü", 200)+"/end", 1)).want(t, 202, "")
	if title := w.invocation("2").ConversationTitle; title != "" && (!strings.HasSuffix(title, "ü/end") || len([]rune(title)) > models.MaxTitle) {
		t.Errorf("title %q", title)
	}
}

func TestResultsCloseTheirCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for id, c := range map[string]struct {
		moment, more, result string
		failed               bool
	}{
		"command": {"PostToolUse", `,"tool_response":{"stdout":"hi","stderr":"","interrupted":false}`, "hi", false},
		"both":    {"PostToolUse", `,"tool_response":{"stdout":"hi","stderr":"oh"}`, "hi\n[stderr]\noh", false},
		"text":    {"PostToolUse", `,"tool_response":"plain"`, "plain", false},
		"other":   {"PostToolUse", `,"tool_response":{"file":"x"}`, `{"file":"x"}`, false},
		"failed":  {"PostToolUseFailure", `,"error":"Exit code 3"`, "Exit code 3", true},
	} {
		w.send(w.agent, "", event("PreToolUse", call("Read", `{}`, id))).want(t, 200, `"allow"`)
		for range 2 {
			if got := w.send(w.agent, "", event(c.moment, call("Read", `{}`, id)+c.more)); got.status != 200 || got.body != `{}` {
				t.Errorf("%s: %d %s", id, got.status, got.body)
			}
		}
		row := w.invocation(id)
		result := storetest.Column(t, w.store, `SELECT tool_result || CASE WHEN is_error THEN ' failed' ELSE '' END FROM responses WHERE id = ?`, string(row.ID))
		want := c.result
		if c.failed {
			want += " failed"
		}
		if !row.IsCompleted || len(result) != 1 || result[0] != want {
			t.Errorf("%s: completed %v, %q, want %q", id, row.IsCompleted, result, want)
		}
	}
}

// After its answer the agent waits for a person, and with the next call it goes on.
func TestStopIsHeardInTheConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.send(w.agent, "", event("PreToolUse", call("Read", `{}`, "1")))
	status := func() models.ConversationStatus {
		view, err := w.store.Requests.Conversation(t.Context(), w.owner, w.invocation("1").ConversationID)
		if err != nil {
			t.Fatal(err)
		}
		return view.Status
	}
	for range 2 {
		w.send(w.agent, "", event("Stop", `,"last_assistant_message":"Done."`)).want(t, 200, `{}`)
	}
	if said := storetest.Column(t, w.store, `SELECT content FROM responses WHERE kind = 'reply'`); len(said) != 1 || said[0] != "Done." || status() != models.ConversationWaitingInput {
		t.Errorf("it said %q and is %s", said, status())
	}
	w.send(w.agent, "", event("PostToolUse", call("Read", `{}`, "1")+`,"tool_response":"x"`))
	if got := status(); got != models.ConversationRunning {
		t.Errorf("it is %s after its next call", got)
	}
}

// A permission that was given at the terminal is no longer asked for here: the call that
// ran says so, or the agent's answer.
func TestAPermissionGivenElsewhereIsWithdrawn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ask := func(key, input string) {
		w.send(w.agent, "?wait=1ms&approvalId=01a208a7-f9bc-78cd-a867-3c2de4b0cdd"+key, event("PermissionRequest", `,"tool_name":"Write","tool_input":`+input)).want(t, 202, "")
	}
	ask("1", `{"a":1}`)
	ask("2", `{"a":2}`)
	w.send(w.agent, "?wait=1ms", event("PreToolUse", call("Bash", `{}`, "bash"))).want(t, 202, "")
	w.send(w.agent, "", event("PostToolUse", call("Write", `{ "a": 1 }`, "write")+`,"tool_response":"x"`)).want(t, 200, "")
	if got := len(w.pending()); got != 2 {
		t.Errorf("%d wait after the call ran, want 2", got)
	}
	w.clock.Step(nextWait)
	w.send(w.agent, "", event("Stop", "")).want(t, 200, "")
	if got := w.pending(); len(got) != 1 || got[0].ToolName != "Bash" {
		t.Errorf("%d wait after the agent answered, want the call alone", len(got))
	}
}

// Only what this way in asked is withdrawn: another system, and an agent that asks by the
// queue, still want their answers.
func TestOnlyPermissionsAreWithdrawn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.outside(models.OutsideItem{Kind: models.OutsideCallKind, CallID: "c1", RunID: "s1", Name: "Write", Arguments: []byte(`{"a":1}`), Timeout: new(time.Hour), Raw: []byte(`{}`)})
	if _, err := w.store.Ask(t.Context(), w.agentAs, models.AskInput{RunID: "s1", ToolName: "Write", Input: []byte(`{"a":1}`), Explicit: true}); err != nil {
		t.Fatal(err)
	}
	before := len(w.pending())
	w.clock.Step(nextWait)
	w.send(w.agent, "", event("PostToolUse", call("Write", `{"a":1}`, "write")+`,"tool_response":"x"`)).want(t, 200, "")
	w.send(w.agent, "", event("Stop", "")).want(t, 200, "")
	if got := w.pending(); before == 0 || len(got) != before {
		t.Errorf("%d wait, want %d", len(got), before)
	}
}
