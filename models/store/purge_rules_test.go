package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// TestOnlyAPurgeChangesContents tries what else could be made of the way in.
func TestOnlyAPurgeChangesContents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	settled := b.AskFor(t, models.AskInput{ToolName: "Bash", Input: []byte(`{"a":1}`), Explanation: models.Explanation{Description: "d"}})
	in := storetest.No("Not now.")
	in.Digest = settled.Digest
	if _, err := b.Decide(t.Context(), b.Owner, settled.ID, in); err != nil {
		t.Fatal(err)
	}
	question := b.AskFor(t, models.AskInput{Kind: models.KindQuestion, Explanation: models.Explanation{Description: "Which?"}})
	silent := b.AskFor(t, models.AskInput{ToolName: "Bash", Input: []byte(`{"a":2}`)})
	in = storetest.Yes()
	in.Digest = silent.Digest
	if _, err := b.Decide(t.Context(), b.Owner, silent.ID, in); err != nil {
		t.Fatal(err)
	}
	db := storetest.Beside(t, b.Store)
	const mark = `removed = 'removed on 2026-03-02, by ann'`
	for name, set := range map[string]string{"a reason where there was none": mark + `, approval_feedback = 'Fine.'`, "an empty reason": `approval_feedback = ''`} {
		if _, err := db.ExecContext(t.Context(), `UPDATE responses SET `+set+` WHERE id = ?`, silent.ID); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	for name, set := range map[string]string{
		"another input":                   mark + `, tool_input_json = '{"b":2}'`,
		"another reason":                  mark + `, approval_feedback = 'Fine.'`,
		"another outcome":                 mark + `, approval_status = 'approved'`,
		"another digest":                  mark + `, digest = 'd'`,
		"another time":                    mark + `, approval_timestamp = '2026-01-01'`,
		"the mark without being removed":  `tool_input_json = '{"removed":"removed on 2026-03-02, by ann"}'`,
		"a mark that is none":             `removed = 'gone'`,
		"a mark without a name":           `removed = 'removed on 2026-03-02, by '`,
		"no mark":                         `removed = NULL, tool_input_json = '{}'`,
		"the mark in the place of a name": mark + `, tool_name = 'removed on 2026-03-02, by ann'`,
	} {
		if _, err := db.ExecContext(t.Context(), `UPDATE responses SET `+set+` WHERE id = ?`, settled.ID); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if _, err := db.ExecContext(t.Context(), `UPDATE responses SET `+mark+`, description = 'removed on 2026-03-02, by ann' WHERE id = ?`, question.ID); err == nil {
		t.Error("the contents of a pending question were removed")
	}
	if _, err := db.ExecContext(t.Context(), `UPDATE responses SET `+mark+`, tool_input_json = '{"removed":"removed on 2026-03-02, by ann"}' WHERE id = ?`, settled.ID); err != nil {
		t.Errorf("a removal was refused: %v", err)
	}
	for name, set := range map[string]string{"a second time": mark, "back": `removed = NULL`, "an input again": `tool_input_json = '{"a":1}'`} {
		if _, err := db.ExecContext(t.Context(), `UPDATE responses SET `+set+` WHERE id = ?`, settled.ID); err == nil {
			t.Errorf("removed %s", name)
		}
	}
	storetest.Tampered(b.Store)
}

// TestEachEditBesideAPurgeIsFound: the purge explains what it names, and nothing
// else.
func TestEachEditBesideAPurgeIsFound(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	n := &secrets{name: "old"}
	lived(t, w, n)
	w.Clock.Step(time.Minute)
	storetest.Purge(t, w.Store, models.PurgeQuery{Before: w.Clock.Now()})
	next := w.run(t, "make", "/src")
	_, err := w.Say(t.Context(), w.Owner, models.MessageInput{ConversationID: next.ConversationID, Content: "Go on."})
	storetest.Must(t, err)
	storetest.CheckRows(t, w.Store)
	file := copyOf(t, w.Store)
	for _, tt := range []struct{ name, edit, table string }{
		{"an input put back", `UPDATE responses SET tool_input_json = '{"command":"x"}'` + oneOf + `kind = 'tool_call' AND removed IS NOT NULL AND approval_status = 'approved')`, "responses"},
		{"a description put back", `UPDATE responses SET description = 'x'` + oneOf + `kind = 'tool_call' AND removed IS NOT NULL AND description <> '')`, "responses"},
		{"an id of the call", `UPDATE responses SET job_id = 'x'` + oneOf + `kind = 'tool_call' AND removed IS NOT NULL AND requires_approval)`, "responses"},
		{"another mark", `UPDATE responses SET removed = 'removed on 2026-01-01, by eve'` + oneOf + `removed IS NOT NULL AND requires_approval)`, "responses"},
		{"an outcome", `UPDATE responses SET approval_status = 'approved'` + oneOf + `removed IS NOT NULL AND approval_status = 'rejected')`, "responses"},
		{"a digest", `UPDATE responses SET digest = 'x'` + oneOf + `removed IS NOT NULL AND requires_approval)`, "responses"},
		{"a reason", `UPDATE votes SET reason = 'x' WHERE id = (SELECT max(id) FROM votes WHERE reason <> '')`, "votes"},
		{"an edited input", `UPDATE votes SET input = '{}' WHERE input IS NOT NULL`, "votes"},
		{"an answer", `UPDATE votes SET answer = 'x' WHERE answer IS NOT NULL`, "votes"},
		{"an undo window", `UPDATE votes SET undo_until = '2026-01-01 00:00:00+00:00' WHERE id = (SELECT max(id) FROM votes)`, "votes"},
		{"a note", `UPDATE notes SET content = 'x'`, "notes"},
		{"a message", `UPDATE messages SET content = 'x' WHERE author_kind = 'user'`, "messages"},
		{"a title", `UPDATE conversations SET title = 'x' WHERE title LIKE 'removed on %'`, "conversations"},
		{"a reason of a budget", `UPDATE budget_steps SET reason = 'x' WHERE reason LIKE 'removed on %'`, "budget_steps"},
		{"what a grant fixes", `UPDATE grants SET fixed = '{}'`, "grants"},
		{"a removal that nobody made", `UPDATE responses SET removed = 'removed on 2026-03-02, by operator', tool_input_json = '{"removed":"removed on 2026-03-02, by operator"}'` + oneOf + `removed IS NULL)`, "responses"},
		{"the mark alone", `UPDATE responses SET tool_input_json = '{"removed":"removed on 2026-03-02, by tester"}'` + oneOf + `removed IS NULL)`, "responses"},
		{"a message that nobody removed", `UPDATE messages SET removed = 'removed on 2026-03-02, by eve', content = 'removed on 2026-03-02, by eve' WHERE removed IS NULL`, "messages"},
		{"a title that nobody removed", `UPDATE conversations SET removed = 'removed on 2026-03-02, by eve' WHERE removed IS NULL`, "conversations"},
		{"another mark of a title", `UPDATE conversations SET removed = 'removed on 2026-03-03, by tester' WHERE removed IS NOT NULL`, "conversations"},
		{"another mark of a pre-approval", `UPDATE grants SET removed = NULL`, "grants"},
		{"a budget's reason that nobody removed", `UPDATE budget_steps SET removed = NULL`, "budget_steps"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			found := tampered(t, file, tt.edit, true)
			if !slices.ContainsFunc(found.Faults, func(f models.RowFault) bool { return f.Table == tt.table && f.ID != "" }) {
				t.Errorf("not named: %+v", found.Faults)
			}
		})
	}
}

// TestWhatWasTamperedWithKeepsItsContents: a purge does not launder it.
func TestWhatWasTamperedWithKeepsItsContents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.AskFor(t, models.AskInput{ToolName: "Bash", Input: []byte(`{"a":1}`)})
	in := storetest.Yes()
	in.Digest = a.Digest
	_, err := b.Decide(t.Context(), b.Owner, a.ID, in)
	storetest.Must(t, err)
	dbtest.Forge(t, storetest.Beside(t, b.Store), `UPDATE responses SET tool_input_json = '{"a":2}'`)
	b.Clock.Step(time.Minute)
	if got := storetest.Purge(t, b.Store, models.PurgeQuery{Before: b.Clock.Now()}); got.Kept != 1 || got.Rows() != 0 {
		t.Errorf("%+v", got)
	}
	if found, err := upkeep.New(b.Store).VerifyRows(t.Context(), nil); err != nil || found.Found == 0 {
		t.Errorf("%+v, %v", found, err)
	}
	storetest.Tampered(b.Store)
}

// TestI9ARepeatMeetsItsOutcomeAfterAPurge, another input under the same key is
// still another request, and what was removed is not asked about.
func TestI9ARepeatMeetsItsOutcomeAfterAPurge(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	in := models.AskInput{ToolName: "Bash", ToolUseID: "k", RunID: "r", Input: []byte(`{"a":1}`), Explicit: true}
	a := w.AskFor(t, in)
	verdict := storetest.No("Not now.")
	verdict.Digest = a.Digest
	_, err := w.Decide(t.Context(), w.Owner, a.ID, verdict)
	storetest.Must(t, err)
	conv := w.Open(t, models.RunInput{RunID: "reported"}, storetest.Reported("one", "Bash", `{"a":2}`))
	w.Report(t, conv, models.RunEvent{ID: "end", Type: models.RunEventStatus, Status: models.ConversationCompleted})
	w.Clock.Step(time.Minute)
	storetest.Purge(t, w.Store, models.PurgeQuery{Before: w.Clock.Now()})

	again, err := w.Ask(t.Context(), w.Agent, in)
	if err != nil || again.ID != a.ID || again.Status() != models.StatusRejected || !again.IsRemoved() || again.ToolInputJSON != `{"removed":"removed on 2026-03-02, by tester"}` {
		t.Fatalf("%+v, %v", again, err)
	}
	in.Input = []byte(`{"a":3}`)
	if _, err := w.Ask(t.Context(), w.Agent, in); models.ErrorCode(err) != models.CodeKeyConflict {
		t.Errorf("another input: %v", err)
	}
	if _, err := w.Ask(t.Context(), w.Agent, models.AskInput{ToolName: "Bash", ToolUseID: "one", RunID: "reported", Input: []byte(`{"a":2}`), Explicit: true}); models.ErrorCode(err) != models.CodeKeyConflict {
		t.Errorf("a call whose input is gone: %v", err)
	}
	grant := models.GrantInput{Hours: 1, Uses: 1, Digest: a.Digest}
	if _, err := w.MakeGrant(t.Context(), w.Owner, a.ID, grant); models.ErrorCode(err) != models.CodeWrongDecisionKind {
		t.Errorf("a grant on what is gone: %v", err)
	}
	storetest.CheckRows(t, w.Store)
}

// TestAPurgeOfOneConversationLeavesTheOthers, and what is not old yet, and a
// result that comes afterwards goes with the next.
func TestAPurgeOfOneConversationLeavesTheOthers(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	one := w.Open(t, models.RunInput{RunID: "one", Title: "Title one"}, storetest.Reported("a", "Bash", `{"x":"first"}`), storetest.Reported("b", "Bash", `{"x":"second"}`))
	w.Open(t, models.RunInput{RunID: "two", Title: "Title two"}, storetest.Reported("c", "Bash", `{"x":"third"}`))
	for _, use := range []string{"a"} {
		w.Report(t, one, storetest.Result(use))
	}
	w.Clock.Step(time.Minute)
	q := models.PurgeQuery{Before: w.Clock.Now(), Conversation: one}
	storetest.Purge(t, w.Store, q)
	inputs := strings.Join(storetest.Column(t, w.Store, `SELECT tool_input_json FROM responses ORDER BY number`), "\n")
	if strings.Contains(inputs, "first") || !strings.Contains(inputs, "third") {
		t.Errorf("inputs are %s", inputs)
	}
	if got := storetest.Column(t, w.Store, `SELECT title FROM conversations WHERE title <> '' ORDER BY run_id`); !slices.Equal(got, []string{"removed on 2026-03-02, by tester", "Title two"}) {
		t.Errorf("titles are %q", got)
	}
	w.Report(t, one, storetest.Result("b"))
	w.Clock.Step(24 * time.Hour)
	q.Before = w.Clock.Now()
	storetest.Purge(t, w.Store, q)
	if got := storetest.Column(t, w.Store, `SELECT tool_result FROM responses WHERE tool_use_id IN ('a', 'b') ORDER BY number`); slices.Contains(got, "done") {
		t.Errorf("results are %q", got)
	}
	storetest.CheckRows(t, w.Store)
}

// TestWhoMayPurge: the operator, admins and the policy's rule.
func TestWhoMayPurge(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	past := models.PurgeQuery{Before: b.Clock.Now().Add(-time.Hour)}
	for name, tt := range map[string]struct {
		actor models.Actor
		q     models.PurgeQuery
		want  models.Code
	}{
		"operator":     {storetest.Operator(), past, ""},
		"admin":        {b.Admin, past, ""},
		"rule":         {models.System(models.RetentionActor), past, ""},
		"other system": {models.System("policy"), past, models.CodeForbidden},
		"owner":        {b.Owner, past, models.CodeForbidden},
		"agent":        {b.Agent, past, models.CodeForbidden},
		"the future":   {b.Admin, models.PurgeQuery{Before: b.Clock.Now().Add(time.Hour)}, models.CodeInvalid},
		"no time":      {b.Admin, models.PurgeQuery{}, models.CodeInvalid},
		"no such":      {b.Admin, models.PurgeQuery{Before: past.Before, Conversation: "0190f5a0-0000-7000-8000-000000000001"}, models.CodeNotFound},
	} {
		_, err := upkeep.New(b.Store).NewPurge(t.Context(), tt.actor, tt.q)
		if tt.want == "" && err != nil || tt.want != "" && models.ErrorCode(err) != tt.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAMarkHasNothingThatJSONEscapes, whatever the account is called.
func TestAMarkHasNothingThatJSONEscapes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.March, 2, 23, 59, 0, 0, time.UTC)
	for name, want := range map[string]string{
		"ann": "ann", `a"\` + "\n\u202e<b>&": "ab", "": "somebody", "\xff": "somebody", strings.Repeat("é", 90): strings.Repeat("é", 60),
	} {
		if got := models.RemovedMark(at, models.Operator(name)); got != "removed on 2026-03-02, by "+want {
			t.Errorf("%q: %q", name, got)
		}
	}
	if got := models.RemovedMark(at, models.System(models.RetentionActor)); got != "removed on 2026-03-02, by the retention rule" {
		t.Error(got)
	}
}
