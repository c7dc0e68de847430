package cmd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
)

// asked has an agent ask n times and a reviewer decide, and returns the requests
// and what was written in them.
func asked(t *testing.T, w *process.World, name string, n int) (requests []wire.AskRequest, ids []models.ResponseID, texts []string) {
	t.Helper()
	text := func(what string) string {
		texts = append(texts, fmt.Sprintf("%s-%d-%s", name, len(texts), what))
		return texts[len(texts)-1]
	}
	for i := range n {
		r := wire.AskRequest{
			ApprovalID: string(models.NewID[models.ResponseID]()), ToolName: "Bash", RunID: name, Explanation: wire.Explanation{Description: text("description"), Context: text("context")},
			Input: json.RawMessage(`{"command":"` + text("input") + `"}`), AcceptsEdits: true,
		}
		a, err := w.Client(w.Agent).Ask(t.Context(), r, 0)
		if err != nil {
			t.Fatal(err)
		}
		verdict := wire.RespondRequest{Approved: new(i%2 == 0), Reason: text("reason")}
		if *verdict.Approved && i%4 == 0 {
			verdict.Input = json.RawMessage(`{"command":"` + text("edit") + `"}`)
		}
		w.Respond(t, models.ResponseID(a.ApprovalID), verdict)
		requests, ids = append(requests, r), append(ids, models.ResponseID(a.ApprovalID))
	}
	return requests, ids, texts
}

// held is what of texts a folder's files, or a file, still hold. Another process
// reads them: if this one closed the database, it would drop the locks of the
// server that runs in it.
func held(t *testing.T, path string, texts []string) (found []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(path, "*"))
	if err != nil || len(files) == 0 {
		files = []string{path}
	}
	for _, file := range files {
		raw, err := exec.CommandContext(t.Context(), "cat", file).Output()
		if _, gone := os.Stat(file); errors.Is(gone, fs.ErrNotExist) {
			continue // it was there for a moment
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			if bytes.Contains(raw, []byte(text)) {
				found = append(found, filepath.Base(file)+": "+text)
			}
		}
	}
	return found
}

// TestPurgeBesideARunningServer removes the older half with the real program while
// a server runs: the proof holds, and no file holds a byte of it.
func TestPurgeBesideARunningServer(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	requests, ids, old := asked(t, w, "older", 12)
	pending := wire.AskRequest{ApprovalID: string(models.NewID[models.ResponseID]()), ToolName: "Bash", Input: json.RawMessage(`{"command":"still-pending"}`), RunID: "waits"}
	if _, err := w.Client(w.Agent).Ask(t.Context(), pending, 0); err != nil {
		t.Fatal(err)
	}
	cutoff := time.Now().UTC().Format(time.RFC3339Nano)
	_, _, newer := asked(t, w, "newer", 12)
	before, err := w.Client(w.Agent).Get(t.Context(), wire.ResponseID(ids[0]), 0)
	if err != nil {
		t.Fatal(err)
	}

	out := process.Must(t, "", "purge", "--data", w.Dir, "--before", cutoff, "--dry-run")
	if !strings.Contains(out, "would be removed") || !strings.Contains(out, "12  requests and replies") || !strings.Contains(out, "12  decisions") || len(held(t, w.Dir, old)) == 0 {
		t.Errorf("counted alone:\n%s", out)
	}
	out = process.Must(t, "", "purge", "--data", w.Dir, "--before", cutoff)
	if !strings.Contains(out, "12  requests and replies") || !strings.Contains(out, "what stays: ") || !strings.Contains(out, "the write-ahead log is empty") {
		t.Errorf("removed:\n%s", out)
	}
	if found := held(t, w.Dir, old); len(found) > 0 {
		t.Errorf("the live files hold %s", strings.Join(found, "\n"))
	}
	backup := filepath.Join(t.TempDir(), "backup.db")
	process.Must(t, "", "backup", backup, "--data", w.Dir)
	if found := held(t, backup, old); len(found) > 0 {
		t.Errorf("a backup holds %s", strings.Join(found, "\n"))
	}
	if found := held(t, backup, append(newer, "still-pending")); len(found) != len(newer)+1 {
		t.Errorf("of %d newer texts a backup holds %d", len(newer)+1, len(found))
	}
	if out := process.Must(t, "", "audit", "verify", "--rows", "--data", w.Dir); !strings.Contains(out, ": 0 differ, 0 not covered") {
		t.Errorf("audit: %s", out)
	}
	if found, code := process.Examine(t, w.Dir); code != 0 || found["rows"].Result != "ok" || found["retention"].Result != "ok" {
		t.Errorf("doctor: exit %d, %+v", code, found)
	}

	after, err := w.Client(w.Agent).Get(t.Context(), wire.ResponseID(ids[0]), 0)
	if err != nil || after.Digest != before.Digest || before.Status != wire.StatusApproved || after.Status != wire.StatusResolved || after.Removed == "" || (after.Input != nil && string(after.Input) != "null") ||
		after.Decision.Approved || (after.Decision.Input != nil && string(after.Decision.Input) != "null") || after.Advice != models.AdviceRemoved || !strings.HasPrefix(after.Removed, "removed on "+time.Now().UTC().Format(time.DateOnly)[:8]) {
		t.Errorf("one of them is %+v, %v", after, err)
	}
	again, err := w.Client(w.Agent).Ask(t.Context(), requests[1], 0)
	if err != nil || again.ApprovalID != wire.ResponseID(ids[1]) || again.Status != wire.StatusRejected {
		t.Errorf("a repeat: %+v, %v", again, err)
	}
	process.Must(t, "", "purge", "--data", w.Dir, "--before", cutoff, "--vacuum")
	if out := process.Must(t, "", "audit", "verify", "--rows", "--data", w.Dir); !strings.Contains(out, ": 0 differ") {
		t.Errorf("audit after the file was written anew: %s", out)
	}
}

// TestPurgeSaysWhatItWants of its flags, and removes nothing then.
func TestPurgeSaysWhatItWants(t *testing.T) {
	t.Parallel()
	dir := process.Patient(t)
	for _, tt := range []struct {
		args []string
		says string
	}{
		{nil, "--before is missing: give a day such as 2026-01-31"},
		{[]string{"--before", "31.1.2026"}, "--before must be a day such as 2026-01-31, or a time such as 2026-01-31T14:00:00Z"},
		{[]string{"--before", "2999-01-01"}, "--before must be in the past"},
		{[]string{"--before", "2026-01-01", "--conversation", "run-1"}, "--conversation: must be the id of a conversation"},
		{[]string{"--before", "2026-01-01", "--conversation", "0190f5a0-0000-7000-8000-000000000001"}, "No such conversation"},
	} {
		if out, said, code := process.Run(t, "", append([]string{"purge", "--data", dir}, tt.args...)...); code == 0 || out != "" || !strings.Contains(said, tt.says) {
			t.Errorf("%v: exit %d, %s%s", tt.args, code, out, said)
		}
	}
}

// TestPurgeKeepsEvidence: nothing is removed while rows differ from the ledger.
func TestPurgeKeepsEvidence(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	_, _, texts := asked(t, w, "older", 2)
	w.Stop()
	process.Infect(t, w.Dir, `UPDATE votes SET reason = 'Fine.'`)
	cutoff := time.Now().UTC().Format(time.RFC3339Nano)
	if _, said, code := process.Run(t, "", "purge", "--data", w.Dir, "--before", cutoff); code == 0 || !strings.Contains(said, "2 rows") || len(held(t, w.Dir, texts)) == 0 {
		t.Errorf("exit %d, %s", code, said)
	}
	process.Must(t, "", "purge", "--data", w.Dir, "--before", cutoff, "--anyway")
	if found := held(t, w.Dir, texts[:2]); len(found) > 0 {
		t.Errorf("it still holds %q", found)
	}
}

// TestDoctorTellsOfRetention: off, kept to, and late.
func TestDoctorTellsOfRetention(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	asked(t, w, "older", 2)
	if found, _ := process.Examine(t, w.Dir); found["retention"].Result != "ok" || !strings.Contains(found["retention"].Text, "off") {
		t.Errorf("off: %+v", found["retention"])
	}
	process.Must(t, `{"retention_days":30}`, "policy", "apply", "-", "--data", w.Dir)
	if found, _ := process.Examine(t, w.Dir); found["retention"].Result != "ok" || !strings.Contains(found["retention"].Text, "30 days") {
		t.Errorf("on: %+v", found["retention"])
	}
	w.Stop()
	process.Infect(t, w.Dir, `UPDATE policies SET created_at = '2020-01-01 00:00:00+00:00'`, `DROP TRIGGER responses_outcome`, `UPDATE responses SET created_at = '2020-01-01 00:00:00+00:00', approval_timestamp = '2020-01-01 00:00:00+00:00'`)
	if found, _ := process.Examine(t, w.Dir); found["retention"].Result != "warn" || !strings.Contains(found["retention"].Text, "2 requests") {
		t.Errorf("late: %+v", found["retention"])
	}
}
