package store_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// TestAPurgeLeavesTheWordsAroundWhatIsPending: whoever decides reads what was said
// before.
func TestAPurgeLeavesTheWordsAroundWhatIsPending(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	run, _, err := b.OpenRun(t.Context(), b.Agent, models.RunInput{RunID: "r"})
	storetest.Must(t, err)
	_, err = b.Say(t.Context(), b.Owner, models.MessageInput{ConversationID: run.ID, Content: "Never the audit logs."})
	storetest.Must(t, err)
	_, err = b.Respond(t.Context(), b.Agent, models.ResponseInput{ConversationID: run.ID, Kind: models.KindReply, Content: "I found 3 GB."})
	storetest.Must(t, err)
	asked, err := b.Respond(t.Context(), b.Agent, models.ResponseInput{ConversationID: run.ID, Kind: models.KindProposal, Content: "I would delete what we spoke of."})
	storetest.Must(t, err)
	b.Clock.Step(time.Hour)
	words := func() string {
		return strings.Join(append(storetest.Column(t, b.Store, `SELECT content FROM messages`), storetest.Column(t, b.Store, `SELECT content FROM responses ORDER BY sequence`)...), "|")
	}
	q := models.PurgeQuery{Before: b.Clock.Now()}
	before := words()
	if got := storetest.Purge(t, b.Store, q); got.Rows() != 0 || words() != before {
		t.Errorf("while it is pending: %+v, left is %s", got.Removed, words())
	}
	in := storetest.Yes()
	in.Digest = asked.Digest
	_, err = b.Decide(t.Context(), b.Owner, asked.ID, in)
	storetest.Must(t, err)
	b.Clock.Step(time.Hour)
	q.Before = b.Clock.Now()
	if got := storetest.Purge(t, b.Store, q); got.Removed["messages"] != 1 || got.Removed["responses"] != 2 {
		t.Errorf("once it is decided: %+v", got.Removed)
	}
	storetest.CheckRows(t, b.Store)
}

// TestARemovedResultIsNoResult: a call that is reported, or asked about, after its
// result was removed is complete without one and says why.
func TestARemovedResultIsNoResult(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	conv := w.Open(t, models.RunInput{RunID: "r"}, storetest.Result("late"), storetest.Result("asked"))
	w.Clock.Step(time.Hour)
	if got := storetest.Purge(t, w.Store, models.PurgeQuery{Before: w.Clock.Now()}); got.Removed["early_results"] != 2 {
		t.Fatalf("removed %+v", got.Removed)
	}
	w.Report(t, conv, storetest.Reported("late", "bash", `{"n":1}`))
	w.AskFor(t, models.AskInput{RunID: "r", ToolName: "bash", ToolUseID: "asked", Input: []byte(`{"n":2}`)})
	want := "run||Its result came before the call, and was removed on 2026-03-02, by tester."
	for _, got := range storetest.Column(t, w.Store, `SELECT closed || '|' || tool_result || '|' || contradiction FROM responses WHERE is_completed AND removed IS NULL`) {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if n := storetest.Scalar[int](t, w.Store, `SELECT count(*) FROM responses WHERE is_completed`); n != 2 {
		t.Errorf("%d calls are complete", n)
	}
	storetest.CheckRows(t, w.Store)
	again := storetest.Result("late")
	again.ID = "again"
	w.Report(t, conv, again) // it is told again, and taken
	if got := storetest.Scalar[string](t, w.Store, `SELECT closed || tool_result FROM responses WHERE tool_use_id = 'late'`); got != "done" {
		t.Errorf("told again it is %q", got)
	}
	storetest.CheckRows(t, w.Store)
}
