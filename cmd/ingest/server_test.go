package ingest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign/cmd/process"
	"countersign/models"
	"countersign/models/requests"
)

// TestIngestShowsARecordedRun hands a run that a coding agent printed through the
// program to a real server: what it printed is passed on unchanged, and the run
// stands there with its batch, its results and its end.
func TestIngestShowsARecordedRun(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	recorded, err := os.ReadFile("../../models/streamjson/testdata/run.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"COUNTERSIGN_SERVER=http://" + w.Addr, "COUNTERSIGN_TOKEN=" + w.Agent}
	for range 2 { // the same run again is the same run
		p := process.Start(t, env, "ingest", "--run-id", "nightly")
		if _, err := p.In.Write(recorded); err != nil {
			t.Fatal(err)
		}
		_ = p.In.Close()
		if code := p.Exit(t); code != 0 || p.Out.String() != string(recorded) {
			t.Fatalf("exit %d, %d bytes passed on of %d:\n%s", code, len(p.Out.String()), len(recorded), p.Err)
		}
	}
	runs, err := w.Store().Requests.Conversations(t.Context(), w.Admin, requests.ConversationQuery{})
	if err != nil || len(runs.Items) != 1 || runs.Items[0].Status != models.ConversationCompleted {
		t.Fatalf("the runs are %+v, %v", runs.Items, err)
	}
	h, err := w.Store().Requests.History(t.Context(), w.Admin, runs.Items[0].ID, requests.HistoryQuery{Limit: models.MaxPage})
	if err != nil {
		t.Fatal(err)
	}
	batches, replies := map[string]int{}, 0
	for _, e := range h.Entries {
		switch r := e.Response; {
		case r == nil:
		case r.Kind == models.KindReply:
			replies++
		case r.Kind == models.KindToolCall && r.BatchID != nil && r.ToolUseID != nil:
			batches[*r.BatchID]++
			if !r.IsCompleted {
				t.Errorf("call %s of %s has no result", *r.ToolUseID, r.ToolName)
			}
		default:
			t.Errorf("entry %d is %+v", e.Sequence, r)
		}
	}
	most := 0
	for _, n := range batches {
		most = max(most, n)
	}
	if most != 5 || replies == 0 {
		t.Errorf("the largest batch has %d calls, want the 5 that were recorded; %d replies", most, replies)
	}
}

// run hands a stream to a run at the real server.
func ingest(t *testing.T, w *process.World, run, stream string) (said string, code int) {
	t.Helper()
	env := append(w.HookEnv(), "XDG_CACHE_HOME="+t.TempDir())
	out, said, code := process.RunWith(t, env, stream, "ingest", "--run-id", run)
	if out != stream {
		t.Errorf("%d of %d bytes were passed on", len(out), len(stream))
	}
	return slow.ReplaceAllString(said, ""), code
}

// slow is what is said of a machine that is busy, not of the run.
var slow = regexp.MustCompile(`(?m)^countersign: the agent's output has ended; sending the rest, for at most .*\n`)

// entries are the calls, with their results, and the texts of a run, in order.
func entries(t *testing.T, w *process.World, run string) []string {
	t.Helper()
	runs, err := w.Store().Requests.Conversations(t.Context(), w.Admin, requests.ConversationQuery{})
	at := slices.IndexFunc(runs.Items, func(c models.ConversationView) bool { return c.RunID != nil && *c.RunID == run })
	if err != nil || at < 0 {
		t.Fatalf("the runs are %+v, %v", runs.Items, err)
	}
	h, err := w.Store().Requests.History(t.Context(), w.Admin, runs.Items[at].ID, requests.HistoryQuery{Limit: models.MaxPage})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range h.Entries {
		switch r := e.Response; {
		case r != nil && r.Kind == models.KindToolCall:
			line := "call " + *r.ToolUseID + " " + r.ToolName + " " + r.ToolInputJSON
			if r.IsCompleted {
				line += " done"
			}
			out = append(out, line)
		case r != nil:
			out = append(out, "reply "+r.Content)
		case e.Message != nil:
			out = append(out, "message "+e.Message.Content)
		}
	}
	return out
}

// TestIngestLosesNothingInSilence hands odd streams to a real server: what could not be read is
// on the run and on standard error, with exit code 4 where a part of the run may be missing, and
// a call whose id was used before, also by an earlier stream, is a call with its own result.
func TestIngestLosesNothingInSilence(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	odd := func(name string) string {
		raw, err := os.ReadFile(filepath.Join("..", "..", "models", "streamjson", "testdata", "odd", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	if said, code := ingest(t, w, "reused", odd("s11-reused-ids.jsonl")); code != 0 || said != "" {
		t.Errorf("ids used twice: exit %d: %s", code, said)
	}
	another := strings.ReplaceAll(strings.ReplaceAll(odd("s11-reused-ids.jsonl"), "rm -rf build", "make"), `"ls"`, `"pwd"`)
	if said, code := ingest(t, w, "reused", another); code != 0 || !strings.Contains(said, "the id call_0 was used for another call before") {
		t.Errorf("ids of an earlier stream: exit %d: %s", code, said)
	}
	if said, code := ingest(t, w, "reused", another); code != 0 { // all is known
		t.Errorf("the same again: exit %d: %s", code, said)
	}
	calls := entries(t, w, "reused")
	calls = slices.DeleteFunc(calls, func(line string) bool { return !strings.HasPrefix(line, "call") })
	for _, want := range []string{"ls", "rm -rf build", "pwd", "make"} {
		if !slices.ContainsFunc(calls, func(line string) bool {
			return strings.Contains(line, `"`+want+`"`) && strings.HasSuffix(line, " done")
		}) {
			t.Errorf("no call of %q with a result in\n%s", want, strings.Join(calls, "\n"))
		}
	}
	if len(calls) != 4 {
		t.Errorf("%d calls:\n%s", len(calls), strings.Join(calls, "\n"))
	}

	for name, stream := range map[string]string{"noise": odd("s09-odd.jsonl"), "lost": `{"type":"dance"}` + "\n" + theEnd} {
		said, code := ingest(t, w, name, stream)
		if want := map[string]int{"noise": 0, "lost": 4}[name]; code != want || !strings.Contains(said, "1 line of the agent's output could not be read:") {
			t.Errorf("%s: exit %d, want %d: %s", name, code, want, said)
		}
		if !slices.ContainsFunc(entries(t, w, name), func(line string) bool {
			return strings.HasPrefix(line, "reply 1 line of the agent's output could not be read:\nline ")
		}) {
			t.Errorf("%s: the run does not say so:\n%s", name, strings.Join(entries(t, w, name), "\n"))
		}
	}
}
