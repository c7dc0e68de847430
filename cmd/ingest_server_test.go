package cmd_test

import (
	"os"
	"testing"

	"countersign/models"
	"countersign/models/store"
)

// TestIngestShowsARecordedRun hands a run that a coding agent printed through the
// program to a real server: what it printed is passed on unchanged, and the run
// stands there with its batch, its results and its end.
func TestIngestShowsARecordedRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	recorded, err := os.ReadFile("../models/streamjson/testdata/run.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"COUNTERSIGN_SERVER=http://" + w.addr, "COUNTERSIGN_TOKEN=" + w.agent}
	for range 2 { // the same run again is the same run
		p := start(t, env, "ingest", "--run-id", "nightly")
		if _, err := p.in.Write(recorded); err != nil {
			t.Fatal(err)
		}
		_ = p.in.Close()
		if code := p.exit(t); code != 0 || p.out.String() != string(recorded) {
			t.Fatalf("exit %d, %d bytes passed on of %d:\n%s", code, len(p.out.String()), len(recorded), p.err)
		}
	}
	runs, err := w.Store().Conversations(t.Context(), w.admin, store.ConversationQuery{})
	if err != nil || len(runs.Items) != 1 || runs.Items[0].Status != models.ConversationCompleted {
		t.Fatalf("the runs are %+v, %v", runs.Items, err)
	}
	h, err := w.Store().History(t.Context(), w.admin, runs.Items[0].ID, store.HistoryQuery{Limit: models.MaxPage})
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
