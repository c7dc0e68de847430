package process_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
)

// TestAKilledServerTellsWaitsOnce: a run that waits when the server is killed waits
// afterwards, and a stream that is resumed tells each change of its status once.
func TestAKilledServerTellsWaitsOnce(t *testing.T) {
	t.Parallel()
	v := process.NewVictim(t)
	agent, person := v.Client(v.Agent), v.Client(v.Reviewer)
	ctx := t.Context()
	run, err := agent.OpenConversation(ctx, wire.OpenRequest{RunID: "r"})
	if err != nil {
		t.Fatal(err)
	}
	first, err := agent.Ask(ctx, wire.AskRequest{RunID: "r", ToolUseID: "1", ToolName: "deploy"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	heard, last := changes(t, v, "0", 1)
	if heard[0] != "running waiting_input" {
		t.Errorf("told %v", heard)
	}
	v.Kill(t)
	v.Start(t)
	if c, err := agent.Conversation(ctx, run.ID, 0, 0); err != nil || c.Status != wire.ConversationStatus(models.ConversationWaitingInput) {
		t.Fatalf("after the restart: %+v, %v", c, err)
	}
	second, err := agent.Ask(ctx, wire.AskRequest{RunID: "r", ToolUseID: "2", ToolName: "deploy"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	for _, a := range []*wire.Approval{first, second} {
		if _, err := person.Respond(ctx, a.ApprovalID, wire.RespondRequest{Approved: &yes}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := agent.Report(ctx, run.ID, []byte(`{"type":"status","id":"e","status":"completed"}`+"\n")); err != nil {
		t.Fatal(err)
	}
	if heard, _ = changes(t, v, last, 2); strings.Join(heard, ", ") != "waiting_input running, running completed" {
		t.Errorf("told %v after the restart", heard)
	}
	v.Kill(t)
	v.Start(t)
	if heard, _ = changes(t, v, "0", 3); strings.Join(heard, ", ") != "running waiting_input, waiting_input running, running completed" {
		t.Errorf("told %v from the first entry on", heard)
	}
	process.Must(t, "", "audit", "verify", "--rows", "--data", v.Dir) // which fails on any fault
}

// changes reads so many changes of status from the stream, and where the last stood.
func changes(t *testing.T, v *process.Victim, from string, n int) (all []string, last string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), process.Patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+v.Addr+"/v1/events", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+v.Agent)
	req.Header.Set("Last-Event-ID", from)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	id := ""
	for lines := bufio.NewScanner(res.Body); len(all) < n && lines.Scan(); {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "id: "); ok {
			id = rest
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type string
			Data struct {
				Old string `json:"old_status"`
				New string `json:"new_status"`
			}
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		if e.Type == "session_status_changed" {
			all, last = append(all, e.Data.Old+" "+e.Data.New), id
		}
	}
	if len(all) < n {
		t.Fatalf("told %v, want %d changes", all, n)
	}
	return all, last
}
