package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
	"countersign/models/ledger"
	"countersign/models/storetest"
)

func TestEventsAreStoredInTheOrderInWhichTheyCome(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	before := r.head(t)
	r.report(t, []models.RunEvent{
		status("s", models.ConversationRunning),
		{ID: "m", Type: models.RunEventMessage, Content: "Please build it."},
		said("r", "I will.", "b1"),
		queued("c1", "Bash", `{"command":"make"}`, "b1"),
		queued("c2", "Read", `{}`, "b1"),
		gave("c1", "ok"),
	})
	r.wantActions(t, before, "run.reported")
	got := r.entries(t)
	if len(got) != 4 {
		t.Fatalf("history = %+v", got)
	}
	for i, e := range got {
		if e.Sequence != int64(i+1) {
			t.Errorf("entry %d has sequence %d", i, e.Sequence)
		}
	}
	if m := got[0].Message; m == nil || m.Content != "Please build it." || m.AuthorKind != models.ActorAgent || m.AuthorID != r.Agent.ID {
		t.Errorf("a person's words, as reported, stand as %+v: they are the agent's word", m)
	}
	if a := got[1].Response; a == nil || a.Kind != models.KindReply || a.Content != "I will." || a.Energy != 0 {
		t.Errorf("reply = %+v", a)
	}
	a, d := r.row(t, "c1")
	if a.Status() != models.StatusNone || a.RequiresApproval || a.Energy != 0 || d.BatchID != "b1" || d.Place != 1 || d.Of != 2 || !d.Completed || d.Result != "ok" || d.ResultBytes != 2 || d.OpenSince != nil {
		t.Errorf("call = %+v, %+v", a.Response, d)
	}
	if a, d = r.row(t, "c2"); a.IsCompleted || d.Completed || d.Place != 2 || d.OpenSince == nil || !d.OpenSince.Equal(r.Clock.Now()) {
		t.Errorf("a call without a result = %+v, %+v", a.Response, d)
	}
	if v := r.full(t, r.conv); v.EnergyUsed != 0 || v.Status != models.ConversationRunning {
		t.Errorf("what is reported costs %d, status %s", v.EnergyUsed, v.Status)
	}
}

func TestI9AReportedEventIsStoredOnce(t *testing.T) {
	t.Parallel()
	later := time.Date(2026, 3, 2, 11, 0, 0, 0, time.UTC)
	withID := func(id string, e models.RunEvent) models.RunEvent { e.ID = id; return e }
	first := queued("c1", "Bash", `{"a":1,"b":2}`, "b1")
	for _, tt := range []struct {
		name          string
		first, second models.RunEvent
		want          models.RunEventOutcome
		contradicts   bool
	}{
		{"the same call", first, first, models.RunEventRepeated, false},
		{"the same call, written otherwise, later, in another batch", first, models.RunEvent{
			Type: models.RunEventToolCall, ToolUseID: "c1", ToolName: "Bash", Input: jsontext.Value(`{"b":2, "a":1}`), BatchID: "b1", At: &later,
		}, models.RunEventRepeated, false},
		{"the same call under its id", withID("x", first), withID("x", first), models.RunEventRepeated, false},
		{"another input", first, queued("c1", "Bash", `{"a":2}`, "b1"), models.RunEventConflict, true},
		{"another tool", first, queued("c1", "Sh", `{"a":1,"b":2}`, "b1"), models.RunEventConflict, true},
		{"another input under another id", withID("x", first), withID("y", queued("c1", "Bash", `{"a":2}`, "b1")), models.RunEventConflict, true},
		{"an id that is another call's", withID("x", first), withID("x", queued("c2", "Bash", `{}`, "b1")), models.RunEventConflict, false},
		{"the same message", models.RunEvent{ID: "m", Type: models.RunEventMessage, Content: "a"}, models.RunEvent{ID: "m", Type: models.RunEventMessage, Content: "a"}, models.RunEventRepeated, false},
		{"another message", models.RunEvent{ID: "m", Type: models.RunEventMessage, Content: "a"}, models.RunEvent{ID: "m", Type: models.RunEventMessage, Content: "b"}, models.RunEventConflict, false},
		{"a reply where a message stands", models.RunEvent{ID: "m", Type: models.RunEventMessage, Content: "a"}, said("m", "a", ""), models.RunEventConflict, false},
		{"the same status", status("s", models.ConversationCompleted), status("s", models.ConversationCompleted), models.RunEventRepeated, false},
		{"another status", status("s", models.ConversationCompleted), status("s", models.ConversationRunning), models.RunEventConflict, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newTrace(t, "")
			stored := r.report(t, one(tt.first))
			before := storetest.Dump(t, r.Store)
			repeated := r.report(t, one(tt.second), tt.want)
			if after := storetest.Dump(t, r.Store); (after == before) == tt.contradicts {
				t.Errorf("changed: %v, want %v\n%s", after != before, tt.contradicts, storetest.Difference(before, after))
			}
			if repeated[0].ResponseID != stored[0].ResponseID {
				t.Errorf("it is response %q, was %q", repeated[0].ResponseID, stored[0].ResponseID)
			}
			if !tt.contradicts {
				return
			}
			if _, d := r.row(t, "c1"); d.Contradiction == "" {
				t.Error("the contradiction was not recorded")
			}
			again := storetest.Dump(t, r.Store)
			r.report(t, one(tt.second), map[bool]models.RunEventOutcome{true: models.RunEventRepeated, false: models.RunEventConflict}[tt.second.ID != ""])
			if storetest.Dump(t, r.Store) != again {
				t.Error("the same contradiction was recorded twice")
			}
		})
	}
}

func TestABadLineDoesNotLoseItsNeighbours(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	bad := models.RunEventError
	for _, tt := range []struct {
		name, field string
		event       models.RunEvent
	}{
		{"no type", "type", models.RunEvent{ID: "x"}},
		{"a type that nobody knows", "type", models.RunEvent{ID: "x", Type: "thought"}},
		{"a message without an id", "id", models.RunEvent{Type: models.RunEventMessage, Content: "a"}},
		{"a reply without an id", "id", models.RunEvent{Type: models.RunEventReply, Content: "a"}},
		{"a status without an id", "id", models.RunEvent{Type: models.RunEventStatus, Status: models.ConversationRunning}},
		{"a status that nobody knows", "status", status("x", "asleep")},
		{"a call without a tool use id", "toolUseId", models.RunEvent{ID: "x", Type: models.RunEventToolCall, ToolName: "Bash"}},
		{"a result without a tool use id", "toolUseId", models.RunEvent{ID: "x", Type: models.RunEventToolResult}},
		{"a call without a tool", "toolName", models.RunEvent{Type: models.RunEventToolCall, ToolUseID: "x"}},
		{"an input that says two things", "input", queued("x", "Bash", `{"a":1,"a":2}`, "")},
		{"an input that is no JSON", "input", queued("x", "Bash", `{"a":`, "")},
		{"a text that is not UTF-8", "content", models.RunEvent{ID: "x", Type: models.RunEventReply, Content: "\xff"}},
		{"a cut input without a digest", "inputDigest", models.RunEvent{Type: models.RunEventToolCall, ToolUseID: "x", ToolName: "Bash", Input: jsontext.Value(`"a"`), InputBytes: 9}},
		{"a cut input that is no string", "input", models.RunEvent{Type: models.RunEventToolCall, ToolUseID: "x", ToolName: "Bash", Input: jsontext.Value(`{}`), InputBytes: 9, InputDigest: strings.Repeat("a", 64)}},
	} {
		before := r.head(t)
		use := "c-" + tt.name
		out := r.report(t, []models.RunEvent{queued(use, "Bash", `{}`, ""), tt.event, gave(use, "done")}, models.RunEventStored, bad, models.RunEventStored)
		if !strings.Contains(out[1].Error, tt.field) {
			t.Errorf("%s: %q does not name %s", tt.name, out[1].Error, tt.field)
		}
		if _, d := r.row(t, use); !d.Completed {
			t.Errorf("%s: its neighbours were lost", tt.name)
		}
		r.wantActions(t, before, "run.reported")
	}
	before := storetest.Dump(t, r.Store)
	r.report(t, one(models.RunEvent{}), bad)
	if storetest.Dump(t, r.Store) != before {
		t.Error("a request of bad lines alone changed something")
	}
}

func TestReportsKeepToTheirOwn(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	colleague, _ := storetest.AgentToken(t, r.Store, r.Owner, "colleague")
	event := one(queued("c1", "Bash", `{}`, ""))
	for _, tt := range []struct {
		who  models.Actor
		conv models.ConversationID
		want models.Code
	}{
		{r.Owner, r.conv, models.CodeForbidden},
		{r.Admin, r.conv, models.CodeForbidden},
		{colleague, r.conv, models.CodeOtherAgent},
		{r.Other, r.conv, models.CodeNotFound},
		{r.Agent, models.NewID[models.ConversationID](), models.CodeNotFound},
	} {
		wantUnchanged(t, r.Store, tt.want, func() error { return second(r.ReportEvents(t.Context(), tt.who, tt.conv, event)) })
	}
	wantUnchanged(t, r.Store, models.CodeOtherAgent, func() error {
		return storetest.Err3(r.OpenRun(t.Context(), colleague, models.RunInput{RunID: "run"}))
	})
	wantUnchanged(t, r.Store, models.CodeIDTaken, func() error {
		return storetest.Err3(r.OpenRun(t.Context(), r.Other, models.RunInput{ID: string(r.conv), RunID: "run"}))
	})
	// The same run id of another owner is another run.
	if conv, opened, err := r.OpenRun(t.Context(), r.Other, models.RunInput{RunID: "run"}); err != nil || !opened || conv.ID == r.conv {
		t.Errorf("another owner's run: %+v, %v, %v", conv, opened, err)
	}
	// The same tool use id in another run is another call.
	r.report(t, event)
	twin := r.open(t, models.RunInput{RunID: "twin"})
	twin.report(t, one(queued("c1", "Bash", `{"other":true}`, "")))
}

func TestARunIsOpenedOnceAndCompleted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := string(models.NewID[models.ConversationID]())
	in := models.RunInput{ID: id, RunID: "run", ParentRunID: "parent", Title: "Build", EnergyBudget: new(int64(5)), OnReject: models.OnRejectCascade}
	head := b.head(t)
	conv, opened, err := b.OpenRun(t.Context(), b.Agent, in)
	if err != nil || !opened || string(conv.ID) != id || conv.OnReject != models.OnRejectCascade || *conv.EnergyBudget != 5 || *conv.ParentRunID != "parent" || conv.Title != "Build" {
		t.Fatalf("opened %+v, %v, %v", conv, opened, err)
	}
	b.wantActions(t, head, "conversation.opened", "conversation.budget")
	before := storetest.Dump(t, b.Store)
	for _, again := range []models.RunInput{in, {RunID: "run"}, {ID: id, RunID: "run", Title: "Another", EnergyBudget: new(int64(50))}} {
		if conv, opened, err := b.OpenRun(t.Context(), b.Agent, again); err != nil || opened || string(conv.ID) != id || conv.Title != "Build" || *conv.EnergyBudget != 5 {
			t.Errorf("found %+v, %v, %v", conv, opened, err)
		}
	}
	if after := storetest.Dump(t, b.Store); after != before {
		t.Errorf("opening again changed:\n%s", storetest.Difference(before, after))
	}
	wantUnchanged(t, b.Store, models.CodeKeyConflict, func() error {
		return storetest.Err3(b.OpenRun(t.Context(), b.Agent, models.RunInput{RunID: "run", ParentRunID: "another"}))
	})
	// A request that came first knew nothing of the run but its name.
	first := b.AskFor(t, models.AskInput{RunID: "asked", Input: []byte(`{}`)})
	head = b.head(t)
	conv, opened, err = b.OpenRun(t.Context(), b.Agent, models.RunInput{RunID: "asked", ParentRunID: "run", Title: "Asked", EnergyBudget: new(int64(7)), OnReject: models.OnRejectCascade})
	if err != nil || opened || conv.ID != first.ConversationID {
		t.Fatalf("found %+v, %v, %v", conv, opened, err)
	}
	v := b.full(t, first.ConversationID)
	if v.Title != "Asked" || v.ParentRunID == nil || *v.ParentRunID != "run" || v.OnReject != models.OnRejectCascade || v.EnergyBudget == nil || *v.EnergyBudget != 7 {
		t.Errorf("completed as %+v", v.Conversation)
	}
	b.wantActions(t, head, "conversation.described", "conversation.budget")
	for field, bad := range map[string]models.RunInput{
		"runId": {}, "id": {ID: "x", RunID: "r"}, "parentRunId": {RunID: "r", ParentRunID: "r"}, "title": {RunID: "r", Title: strings.Repeat("x", models.MaxTitle+1)},
		"energyBudget": {RunID: "r", EnergyBudget: new(int64(-1))}, "onReject": {RunID: "r", OnReject: "stop"},
	} {
		e := refusal(t, storetest.Err3(b.OpenRun(t.Context(), b.Agent, bad)), models.CodeInvalid)
		if e.Fields[field] == "" {
			t.Errorf("the refusal of a bad %s names %v", field, e.Fields)
		}
	}
}

func TestWhatIsReportedIsNeverRefusedForItsSize(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	big := strings.Repeat("é", models.MaxInput)
	input := `{"text":"` + big + `"}`
	long := strings.Repeat("k", 5000)
	name := "a\u202etool\x00 " + strings.Repeat("n", 300)
	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	out := r.report(t, []models.RunEvent{
		queued("big", "Write", input, "b"),
		gave("big", big),
		{ID: "m", Type: models.RunEventMessage, Content: big},
		{ID: "r", Type: models.RunEventReply, Content: big},
		queued(long, name, `{}`, long),
		{ID: long, Type: models.RunEventToolResult, ToolUseID: long, Result: "done"},
		queued("deep", "Bash", deep, "b"),
		{Type: models.RunEventToolResult, ToolUseID: "deep", Result: "cut by who reports it", ResultBytes: 1 << 40},
	})
	r.report(t, one(queued(long, name, `{}`, long)), models.RunEventRepeated)

	a, d := r.row(t, "big")
	canonical, err := models.Canonical(models.KindToolCall, "Write", []byte(input))
	if err != nil {
		t.Fatal(err)
	}
	if a.Digest != models.Digest(canonical) || a.InputBytes == nil || *a.InputBytes != int64(len(input)) || len(a.ToolInputJSON) > models.MaxInput || !strings.HasPrefix(a.ToolInputJSON, `"{\"text\":\"é`) || !jsontext.Value(a.ToolInputJSON).IsValid() {
		t.Errorf("a large input: digest of the whole %v, %d bytes kept of %v: %.40s", a.Digest == models.Digest(canonical), len(a.ToolInputJSON), a.InputBytes, a.ToolInputJSON)
	}
	if d.ResultBytes != int64(len(big)) || len(d.Result) > 4*models.MaxBrief {
		t.Errorf("a large result: %d of %d bytes shown", len(d.Result), d.ResultBytes)
	}
	whole, err := r.Requests.CallResult(t.Context(), r.Owner, a.ID)
	if err != nil || whole.Bytes != int64(len(big)) || whole.Result != big[:models.MaxResult] {
		t.Errorf("the whole result: %v, %d of %d bytes", err, len(whole.Result), whole.Bytes)
	}
	entries := r.entries(t)
	if m := entries[1].Message; m == nil || m.Content != big[:models.MaxResult] || m.ContentBytes == nil || *m.ContentBytes != int64(len(big)) {
		t.Errorf("a long message is kept as %d bytes of %v", len(m.Content), m.ContentBytes)
	}
	if c := entries[2].Response; c == nil || c.Content != big[:models.MaxResult] {
		t.Errorf("a long reply is kept as %d bytes", len(c.Content))
	}
	if c := entries[3].Response; c.ID != out[4].ResponseID || c.ToolName != name || c.ToolUseID == nil || len(*c.ToolUseID) > 512 || !c.IsCompleted {
		t.Errorf("a name is kept as %q, an id of %d bytes", c.ToolName, len(*c.ToolUseID))
	}
	if deepRow, d := r.row(t, "deep"); deepRow.ToolInputJSON != `"`+deep+`"` || d.ResultBytes != 1<<40 {
		t.Errorf("a deep input is kept as %.40s; a result of %d bytes", deepRow.ToolInputJSON, d.ResultBytes)
	}
}

func TestACutInputCanBeRejectedNotApproved(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	whole := []byte(`{"text":"whole"}`)
	canonical, err := models.Canonical(models.KindToolCall, "Write", whole)
	if err != nil {
		t.Fatal(err)
	}
	r.report(t, one(models.RunEvent{
		Type: models.RunEventToolCall, ToolUseID: "c1", ToolName: "Write", Input: jsontext.Value(`"{\"te"`), InputBytes: int64(len(whole)), InputDigest: models.Digest(canonical),
	}))
	asked := r.asks(t, "c1", "Write", string(whole)) // its digest is that of the whole
	if asked.Status() != models.StatusPending || asked.InputBytes == nil || *asked.InputBytes != int64(len(whole)) {
		t.Fatalf("asked %+v", asked.Response)
	}
	wantUnchanged(t, r.Store, models.CodeWrongDecisionKind, func() error { return second(r.Decide(t.Context(), r.Owner, asked.ID, storetest.Yes())) })
	if a, err := r.Decide(t.Context(), r.Owner, asked.ID, storetest.No("not seen")); err != nil || a.Status() != models.StatusRejected {
		t.Errorf("reject: %+v, %v", a, err)
	}
}

func TestAResultComesBeforeAfterOrWithoutADecision(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	// Before its call, in an earlier request.
	before := r.head(t)
	r.report(t, one(gave("c1", "early")))
	r.report(t, one(gave("c1", "early")), models.RunEventRepeated)
	r.report(t, one(models.RunEvent{ID: "x", Type: models.RunEventToolResult, ToolUseID: "c1", Result: "early"}), models.RunEventRepeated)
	r.report(t, one(models.RunEvent{ID: "y", Type: models.RunEventToolResult, ToolUseID: "c1", Result: "other"}), models.RunEventConflict)
	r.report(t, one(queued("c1", "Bash", `{}`, "b1")))
	r.wantActions(t, before, "run.reported", "run.reported", "run.reported")
	if _, d := r.row(t, "c1"); !d.Completed || d.Result != "early" {
		t.Errorf("a result that came first: %+v", d)
	}
	// Before its call, in the same request.
	r.report(t, []models.RunEvent{gave("c2", "first"), queued("c2", "Bash", `{}`, "b1")})
	// Before the request about its call, which is reported last.
	r.report(t, one(gave("c6", "first")))
	r.asks(t, "c6", "Bash", `{"n":6}`)
	r.wantStates(t, uses(6, 6), "pending done")
	r.report(t, []models.RunEvent{{ID: "z", Type: models.RunEventToolResult, ToolUseID: "c6", Result: "first"}, queued("c6", "Bash", `{"n":6}`, "b1")}, models.RunEventRepeated)
	// Before a decision, and after it.
	r.report(t, []models.RunEvent{queued("c3", "Bash", `{"n":3}`, "b1"), queued("c4", "Bash", `{"n":4}`, "b1"), queued("c5", "Bash", `{"n":5}`, "b1")})
	three, four := r.asks(t, "c3", "Bash", `{"n":3}`), r.asks(t, "c4", "Bash", `{"n":4}`)
	r.report(t, one(gave("c3", "ran at once")))
	for _, a := range []*models.Approval{three, four} {
		if _, err := r.Decide(t.Context(), r.Owner, a.ID, storetest.Yes()); err != nil {
			t.Fatal(err)
		}
	}
	r.report(t, []models.RunEvent{gave("c4", "ran then"), denial("c5", "no such file")})
	r.wantStates(t, uses(1, 5), "queued done", "queued done", "approved/reviewer done", "approved/reviewer done", "queued failed")
	for _, use := range uses(1, 5) {
		if _, d := r.row(t, use); d.Contradiction != "" && use != "c1" {
			t.Errorf("%s: %q contradicts nothing", use, d.Contradiction)
		}
	}
	// A second result contradicts the first, which stays.
	r.report(t, one(gave("c4", "ran otherwise")), models.RunEventConflict)
	if _, d := r.row(t, "c4"); d.Result != "ran then" || d.Contradiction == "" {
		t.Errorf("after another result: %+v", d)
	}
}

func TestWhatRanAlthoughItWasNotApprovedIsShown(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	r.report(t, []models.RunEvent{
		queued("ran", "Bash", `{}`, "b"), queued("denied", "Bash", `{}`, "b"), queued("late", "Bash", `{}`, "b"), queued("first", "Bash", `{}`, "b"), queued("withdrawn", "Bash", `{}`, "b"),
	})
	for _, use := range []string{"ran", "denied", "first"} {
		a := r.asks(t, use, "Bash", `{}`)
		if use == "first" {
			r.report(t, one(gave(use, "done"))) // before the verdict
		}
		if _, err := r.Decide(t.Context(), r.Owner, a.ID, storetest.No("no")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Cancel(t.Context(), r.Agent, r.asks(t, "withdrawn", "Bash", `{}`).ID); err != nil {
		t.Fatal(err)
	}
	r.asks(t, "late", "Bash", `{}`)
	r.Clock.Step(6 * time.Minute)
	r.report(t, []models.RunEvent{gave("ran", "done"), denial("denied", "The user said no."), gave("late", "done"), gave("withdrawn", "done")})
	for use, contradicts := range map[string]bool{"ran": true, "denied": false, "late": true, "first": true, "withdrawn": true} {
		if _, d := r.row(t, use); !d.Completed || (d.Contradiction != "") != contradicts {
			t.Errorf("%s: %q, want a contradiction: %v", use, d.Contradiction, contradicts)
		}
	}
	// A denial is confirmation once; how often and in which words does not matter.
	entries := storetest.Scalar[int](t, r.Store, `SELECT count(*) FROM ledger`)
	again := one(models.RunEvent{ID: "again", Type: models.RunEventToolResult, ToolUseID: "denied", Result: "Denied again.", IsError: true})
	r.report(t, again, models.RunEventRepeated)
	if n := storetest.Scalar[int](t, r.Store, `SELECT count(*) FROM ledger`); n != entries {
		t.Error("a second denial is in the ledger")
	}
	before := storetest.Dump(t, r.Store)
	r.report(t, again, models.RunEventRepeated)
	if after := storetest.Dump(t, r.Store); after != before {
		t.Errorf("the same denial again changed:\n%s", storetest.Difference(before, after))
	}
	r.report(t, one(models.RunEvent{ID: "after", Type: models.RunEventToolResult, ToolUseID: "denied", Result: "done"}), models.RunEventConflict)
	if _, d := r.row(t, "denied"); d.Contradiction == "" {
		t.Error("a result after the denial contradicts nothing")
	}
}

func TestTimesAreTheAgentsWordWithinReason(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	at := func(d time.Duration) *time.Time { when := r.Clock.Now().Add(d); return &when }
	old := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	c, d, e := queued("c1", "Bash", `{}`, ""), gave("c1", "ok"), queued("c2", "Bash", `{}`, "")
	c.At, d.At, e.At = at(-3*time.Minute), at(-time.Minute), &old
	f := gave("c2", "ok")
	f.At = at(time.Hour)
	r.report(t, []models.RunEvent{c, d, e, f})
	if _, got := r.row(t, "c1"); !got.ReportedAt.Equal(*c.At) || !got.CompletedAt.Equal(*d.At) {
		t.Errorf("it ran from %v to %v, want %v to %v", got.ReportedAt, got.CompletedAt, c.At, d.At)
	}
	if _, got := r.row(t, "c2"); !got.ReportedAt.Equal(r.Clock.Now()) || !got.CompletedAt.Equal(r.Clock.Now()) {
		t.Errorf("times out of this world were believed: %v, %v", got.ReportedAt, got.CompletedAt)
	}
}

func TestOneRequestIsOneLedgerEntry(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	before := r.head(t)
	secret := "hunter2 in an input"
	r.report(t, []models.RunEvent{
		queued("c1", "Bash", `{"command":"`+secret+`"}`, "b1"), queued("c2", "Bash", `{}`, "b1"), {ID: "bad"}, gave("c1", secret), queued("c1", "Bash", `{"command":"`+secret+`"}`, "b1"),
	}, "stored", "stored", "error", "stored", "repeated")
	r.wantActions(t, before, "run.reported")
	entries, err := r.Ledger.Page(t.Context(), r.Admin, ledger.Query{Action: "run.reported"})
	if err != nil || len(entries.Entries) != 1 {
		t.Fatalf("ledger: %+v, %v", entries, err)
	}
	e := entries.Entries[0]
	if !strings.Contains(e.Data, `"count":3`) || strings.Contains(e.Data, secret) || e.ConversationID != r.conv || e.ActorID != r.Agent.ID || e.OwnerID != r.Owner.OwnerID {
		t.Errorf("the entry is %+v", e)
	}
}
