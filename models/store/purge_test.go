package store_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/proof"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// TestAPurgeLeavesNoByteOfWhatItRemoves removes the older half of everything. What
// is left is as the ledger tells, and neither the live files nor a backup hold a
// byte of what was removed.
func TestAPurgeLeavesNoByteOfWhatItRemoves(t *testing.T) {
	t.Parallel()
	dbtest.OnlySQLite(t, "its files are read; PostgreSQL overwrites what it no longer shows at its next VACUUM")
	w := newOutsideWorld(t)
	old, kept, newer := &secrets{name: "old"}, &secrets{name: "pending"}, &secrets{name: "newer"}
	for i := range 4 {
		old.name += "x"
		old.marked = i%2 == 1
		lived(t, w, old)
	}
	everyContentIsSecret(t, w.Store)
	pending := w.AskFor(t, models.AskInput{ToolName: "Bash", Input: kept.json("input"), Explanation: models.Explanation{Description: kept.new("description")}, RunID: "waits", TimeoutSeconds: new(int64(80000)), Explicit: true})
	w.Clock.Step(time.Minute)
	cutoff := w.Clock.Now()
	w.Clock.Step(time.Minute)
	for range 3 {
		newer.name += "x"
		lived(t, w, newer)
	}
	before := outcomes(t, w.Store)

	counted := storetest.Purge(t, w.Store, models.PurgeQuery{Before: cutoff, DryRun: true})
	if counted.Rows() == 0 || outcomes(t, w.Store) != before || len(old.in(t, filesOf(t, w.Store)...)) == 0 {
		t.Fatalf("counting alone removed something, or counted nothing: %+v", counted)
	}
	removed := storetest.Purge(t, w.Store, models.PurgeQuery{Before: cutoff})
	for table, n := range counted.Removed {
		if removed.Removed[table] != n {
			t.Errorf("%s: %d were counted, %d removed", table, n, removed.Removed[table])
		}
	}
	for _, table := range proof.Tables() {
		if len(proof.Contents(table)) > 0 && removed.Removed[table] == 0 {
			t.Errorf("nothing was removed from %s", table)
		}
	}
	if removed.Kept != 0 || !removed.Oldest.Before(removed.Newest) || !removed.Newest.Before(cutoff) {
		t.Errorf("removed %+v", removed)
	}
	if done, err := upkeep.New(w.Store).TruncateLog(t.Context()); err != nil || !done {
		t.Fatalf("the log was not truncated: %v", err)
	}
	storetest.CheckRows(t, w.Store)
	if after := outcomes(t, w.Store); after != before {
		t.Errorf("outcomes changed:\n%s\n%s", before, after)
	}
	if found := old.in(t, filesOf(t, w.Store)...); len(found) > 0 {
		t.Errorf("the live files hold %d of %d texts: %s", len(found), len(old.all), strings.Join(found, "\n"))
	}
	backup := filepath.Join(t.TempDir(), "backup.db")
	_, err := upkeep.Backup(t.Context(), filepath.Dir(w.Path()), backup)
	storetest.Must(t, err)
	if found := old.in(t, backup); len(found) > 0 {
		t.Errorf("a backup holds %s", strings.Join(found, "\n"))
	}
	dump := storetest.Dump(t, w.Store)
	for _, text := range slices.Concat(kept.all, newer.all) {
		if !strings.Contains(dump, text) {
			t.Errorf("%s is gone too", text)
		}
	}
	if stands := w.Read(t, pending.ID); stands.IsRemoved() || stands.Status() != models.StatusPending {
		t.Errorf("what is pending was touched: %+v", stands.Response)
	}
	if again := storetest.Purge(t, w.Store, models.PurgeQuery{Before: cutoff}); again.Rows() != 0 {
		t.Errorf("a second time there was something left: %+v", again.Removed)
	}
}

// outcomes are what stays of requests.
func outcomes(t *testing.T, s *store.Store) string {
	t.Helper()
	return strings.Join(storetest.Column(t, s, `SELECT id || digest || coalesce(approval_status, '') || cause || coalesce(approval_timestamp, '') || tool_name || coalesce(decided_by, '') || risk FROM responses ORDER BY id`), "\n")
}

// everyContentIsSecret fails for a column that the test would not notice.
func everyContentIsSecret(t *testing.T, s *store.Store) {
	t.Helper()
	for _, table := range proof.Tables() {
		for _, column := range proof.Contents(table) {
			name := column.Name
			texts := storetest.Column(t, s, `SELECT coalesce("`+name+`", '') FROM `+table)
			if !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, "-secret-") }) {
				t.Errorf("nothing is written into %s.%s", table, name)
			}
		}
	}
}

// TestEveryTextColumnIsKeptOrRemoved fails when a migration adds a column, or a
// table, that nobody has thought about.
func TestEveryTextColumnIsKeptOrRemoved(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	pool := storetest.Beside(t, s)
	for _, table := range dbtest.Tables(t, pool) {
		for _, c := range dbtest.Columns(t, pool, table) {
			if c.Type == "text" && proof.Text(table, c.Name) == "" {
				t.Errorf("tables.go does not say whether %s.%s is removed, or why it is kept", table, c.Name)
			}
		}
	}
}

// TestTheBuiltInAgentIsNotDisturbed: while it is at work, or about to be, nothing
// of its conversation is removed; afterwards its memory says what was.
func TestTheBuiltInAgentIsNotDisturbed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	said, err := b.Say(t.Context(), b.Owner, models.MessageInput{Content: "A secret.", EnergyBudget: new(int64(100))})
	storetest.Must(t, err)
	conv := said.Conversation.ID
	db := storetest.Beside(t, b.Store)
	_, err = db.ExecContext(t.Context(), `INSERT INTO turns (conversation_id, sequence, at, model, said) VALUES (?, 50, ?, 'm', ?)`,
		conv, b.Clock.Now(), `{"content":"A secret.","calls":[{"id":"c","name":"respond","arguments":"A secret."}],"read":1}`)
	storetest.Must(t, err)
	b.Clock.Step(time.Minute)
	q := models.PurgeQuery{Before: b.Clock.Now()}
	if got := storetest.Purge(t, b.Store, q); got.Removed["messages"]+got.Removed["turns"]+got.Removed["conversations"] != 0 {
		t.Errorf("while there is something to do: %+v", got.Removed)
	}
	_, err = db.ExecContext(t.Context(), `UPDATE agent_inbox SET ready_at = NULL`)
	storetest.Must(t, err)
	if got := storetest.Purge(t, b.Store, q); got.Removed["messages"] != 1 || got.Removed["turns"] != 1 {
		t.Errorf("at rest: %+v", got.Removed)
	}
	if got := storetest.Scalar[string](t, b.Store, `SELECT said FROM turns`); got != `{"content":"removed on 2026-03-02, by tester","read":1}` {
		t.Errorf("its memory is %s", got)
	}
	if got := storetest.Purge(t, b.Store, q); got.Rows() != 0 {
		t.Errorf("a second time: %+v", got.Removed)
	}
	storetest.CheckRows(t, b.Store)
}

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
