package cmd_test

import (
	"encoding/json"
	"strings"
	"testing"

	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/storetest"
)

// What waits is listed with its headline, beside a running server; what was decided is
// listed only when it is asked for. What an agent wrote is on one line and escaped (I13).
func TestRequestsAreListedByCommandI13(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	data := "--data=" + w.Dir
	token := strings.TrimSpace(process.Must(t, "", "token", "add", "helper", "--user", storetest.AdminEmail, data))
	ask := func(id, command string, seconds int64) *wire.Approval {
		t.Helper()
		input, err := json.Marshal(map[string]string{"command": command})
		storetest.Must(t, err)
		got, err := w.Client(token).Ask(t.Context(), wire.AskRequest{ToolUseID: id, ToolName: "Bash", Input: input, TimeoutSeconds: &seconds}, 0)
		storetest.Must(t, err)
		return got
	}
	soon := ask("call-1", "make soon", 600)
	ask("call-2", "make later\u202e\nID  STATE", 3000)
	decided := ask("call-3", "make done", 600)
	w.Respond(t, models.ResponseID(decided.ApprovalID), wire.RespondRequest{Approved: new(false), Reason: "not today"})

	list := process.Must(t, "", "request", "list", data)
	lines := strings.Split(strings.TrimSpace(list), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "ID ") || !strings.HasPrefix(lines[1], string(soon.ApprovalID)) {
		t.Fatalf("what waits is not listed by deadline, one line each:\n%s", list)
	}
	for _, want := range []string{"left", "helper", "Run: make soon"} {
		if !strings.Contains(lines[1], want) {
			t.Errorf("%q does not say %q", lines[1], want)
		}
	}
	if !strings.Contains(lines[2], "⟨U+202E⟩") || strings.Contains(list, "make done") {
		t.Errorf("a hidden character is not escaped, or what was decided is listed:\n%s", list)
	}

	all := process.Must(t, "", "request", "list", "--all", data)
	if !strings.Contains(all, "Run: make done") || !strings.Contains(all, "rejected, by a person") || strings.Count(all, "\n") != 4 {
		t.Errorf("of all requests it lists:\n%s", all)
	}
	var got []struct {
		ID       models.ResponseID
		Headline string
		Status   models.Status
		Deadline *string
	}
	storetest.Must(t, json.Unmarshal([]byte(process.Must(t, "", "request", "list", "--status", "rejected", "--json", data)), &got))
	if len(got) != 1 || got[0].ID != models.ResponseID(decided.ApprovalID) || got[0].Headline != "Run: make done" || got[0].Status != models.StatusRejected || got[0].Deadline == nil {
		t.Errorf("as JSON it is %+v", got)
	}
	if out, said, code := process.Run(t, "", "request", "list", "--limit", "1", data); code != 0 || strings.Count(out, "\n") != 2 || !strings.Contains(out, string(soon.ApprovalID)) || !strings.Contains(said, "only the soonest 1 are listed") {
		t.Errorf("with a limit it lists %q, says %q, exit %d", out, said, code)
	}
	if out, said, code := process.Run(t, "", "request", "list", "--all", "--limit", "1", data); code != 0 || !strings.Contains(out, "make done") || !strings.Contains(said, "only the newest 1 are listed") {
		t.Errorf("with a limit on all it lists %q, says %q, exit %d", out, said, code)
	}
	for _, wrong := range [][]string{{"--status", "open"}, {"--all", "--status", "pending"}, {"--limit", "0"}} {
		if out, said, code := process.Run(t, "", append([]string{"request", "list", data}, wrong...)...); code != 1 || out != "" || !strings.Contains(said, wrong[len(wrong)-2]) && !strings.Contains(said, "--status") {
			t.Errorf("%v: exit %d, said %q, printed %q; want a refusal that names the flag", wrong, code, said, out)
		}
	}
}

// The list says what the page says, of an input that the list of pages cuts.
func TestTheCommandListsTheHeadlineThatWasKept(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	data := "--data=" + w.Dir
	token := strings.TrimSpace(process.Must(t, "", "token", "add", "helper", "--user", storetest.AdminEmail, data))
	input, err := json.Marshal(map[string]string{"query": strings.Repeat("UPDATE accounts SET balance = balance - 1 WHERE id = 17;\n", 120) + "DROP TABLE accounts;"})
	storetest.Must(t, err)
	_, err = w.Client(token).Ask(t.Context(), wire.AskRequest{ToolUseID: "call-1", ToolName: "sql", Input: input}, 0)
	storetest.Must(t, err)
	if list := process.Must(t, "", "request", "list", data); !strings.Contains(list, "Run SQL (perhaps 121 statements), perhaps with: DROP TABLE accounts") {
		t.Errorf("it lists\n%s", list)
	}
}
