package runs_test

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
	before := r.VerifiedHead(t)
	r.Reports(t, []models.RunEvent{
		storetest.StatusEvent("s", models.ConversationRunning),
		{ID: "m", Type: models.RunEventMessage, Content: "Please build it."},
		storetest.Said("r", "I will.", "b1"),
		storetest.Queued("c1", "Bash", `{"command":"make"}`, "b1"),
		storetest.Queued("c2", "Read", `{}`, "b1"),
		storetest.Gave("c1", "ok"),
	})
	r.WantActions(t, before, "run.reported")
	got := r.Entries(t)
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
	a, d := r.Row(t, "c1")
	if a.Status() != models.StatusNone || a.RequiresApproval || a.Energy != 0 || d.BatchID != "b1" || d.Place != 1 || d.Of != 2 || !d.Completed || d.Result != "ok" || d.ResultBytes != 2 || d.OpenSince != nil {
		t.Errorf("call = %+v, %+v", a.Response, d)
	}
	if a, d = r.Row(t, "c2"); a.IsCompleted || d.Completed || d.Place != 2 || d.OpenSince == nil || !d.OpenSince.Equal(r.Clock.Now()) {
		t.Errorf("a call without a result = %+v, %+v", a.Response, d)
	}
	if v := r.ReadConversation(t, r.Conv); v.EnergyUsed != 0 || v.Status != models.ConversationRunning {
		t.Errorf("what is reported costs %d, status %s", v.EnergyUsed, v.Status)
	}
}

func TestI9AReportedEventIsStoredOnce(t *testing.T) {
	t.Parallel()
	later := time.Date(2026, 3, 2, 11, 0, 0, 0, time.UTC)
	withID := func(id string, e models.RunEvent) models.RunEvent { e.ID = id; return e }
	first := storetest.Queued("c1", "Bash", `{"a":1,"b":2}`, "b1")
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
		{"another input", first, storetest.Queued("c1", "Bash", `{"a":2}`, "b1"), models.RunEventConflict, true},
		{"another tool", first, storetest.Queued("c1", "Sh", `{"a":1,"b":2}`, "b1"), models.RunEventConflict, true},
		{"another input under another id", withID("x", first), withID("y", storetest.Queued("c1", "Bash", `{"a":2}`, "b1")), models.RunEventConflict, true},
		{"an id that is another call's", withID("x", first), withID("x", storetest.Queued("c2", "Bash", `{}`, "b1")), models.RunEventConflict, false},
		{"the same message", models.RunEvent{ID: "m", Type: models.RunEventMessage, Content: "a"}, models.RunEvent{ID: "m", Type: models.RunEventMessage, Content: "a"}, models.RunEventRepeated, false},
		{"another message", models.RunEvent{ID: "m", Type: models.RunEventMessage, Content: "a"}, models.RunEvent{ID: "m", Type: models.RunEventMessage, Content: "b"}, models.RunEventConflict, false},
		{"a reply where a message stands", models.RunEvent{ID: "m", Type: models.RunEventMessage, Content: "a"}, storetest.Said("m", "a", ""), models.RunEventConflict, false},
		{"the same status", storetest.StatusEvent("s", models.ConversationCompleted), storetest.StatusEvent("s", models.ConversationCompleted), models.RunEventRepeated, false},
		{"another status", storetest.StatusEvent("s", models.ConversationCompleted), storetest.StatusEvent("s", models.ConversationRunning), models.RunEventConflict, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newTrace(t, "")
			stored := r.Reports(t, storetest.One(tt.first))
			before := storetest.Dump(t, r.Store)
			repeated := r.Reports(t, storetest.One(tt.second), tt.want)
			if after := storetest.Dump(t, r.Store); (after == before) == tt.contradicts {
				t.Errorf("changed: %v, want %v\n%s", after != before, tt.contradicts, storetest.Difference(before, after))
			}
			if repeated[0].ResponseID != stored[0].ResponseID {
				t.Errorf("it is response %q, was %q", repeated[0].ResponseID, stored[0].ResponseID)
			}
			if !tt.contradicts {
				return
			}
			if _, d := r.Row(t, "c1"); d.Contradiction == "" {
				t.Error("the contradiction was not recorded")
			}
			again := storetest.Dump(t, r.Store)
			r.Reports(t, storetest.One(tt.second), map[bool]models.RunEventOutcome{true: models.RunEventRepeated, false: models.RunEventConflict}[tt.second.ID != ""])
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
		{"a status that nobody knows", "status", storetest.StatusEvent("x", "asleep")},
		{"a call without a tool use id", "toolUseId", models.RunEvent{ID: "x", Type: models.RunEventToolCall, ToolName: "Bash"}},
		{"a result without a tool use id", "toolUseId", models.RunEvent{ID: "x", Type: models.RunEventToolResult}},
		{"a call without a tool", "toolName", models.RunEvent{Type: models.RunEventToolCall, ToolUseID: "x"}},
		{"an input that says two things", "input", storetest.Queued("x", "Bash", `{"a":1,"a":2}`, "")},
		{"an input that is no JSON", "input", storetest.Queued("x", "Bash", `{"a":`, "")},
		{"a text that is not UTF-8", "content", models.RunEvent{ID: "x", Type: models.RunEventReply, Content: "\xff"}},
		{"a cut input without a digest", "inputDigest", models.RunEvent{Type: models.RunEventToolCall, ToolUseID: "x", ToolName: "Bash", Input: jsontext.Value(`"a"`), InputBytes: 9}},
		{"a cut input that is no string", "input", models.RunEvent{Type: models.RunEventToolCall, ToolUseID: "x", ToolName: "Bash", Input: jsontext.Value(`{}`), InputBytes: 9, InputDigest: strings.Repeat("a", 64)}},
	} {
		before := r.VerifiedHead(t)
		use := "c-" + tt.name
		out := r.Reports(t, []models.RunEvent{storetest.Queued(use, "Bash", `{}`, ""), tt.event, storetest.Gave(use, "done")}, models.RunEventStored, bad, models.RunEventStored)
		if !strings.Contains(out[1].Error, tt.field) {
			t.Errorf("%s: %q does not name %s", tt.name, out[1].Error, tt.field)
		}
		if _, d := r.Row(t, use); !d.Completed {
			t.Errorf("%s: its neighbours were lost", tt.name)
		}
		r.WantActions(t, before, "run.reported")
	}
	before := storetest.Dump(t, r.Store)
	r.Reports(t, storetest.One(models.RunEvent{}), bad)
	if storetest.Dump(t, r.Store) != before {
		t.Error("a request of bad lines alone changed something")
	}
}

func TestReportsKeepToTheirOwn(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	colleague, _ := storetest.AgentToken(t, r.Store, r.Owner, "colleague")
	event := storetest.One(storetest.Queued("c1", "Bash", `{}`, ""))
	for _, tt := range []struct {
		who  models.Actor
		conv models.ConversationID
		want models.Code
	}{
		{r.Owner, r.Conv, models.CodeForbidden},
		{r.Admin, r.Conv, models.CodeForbidden},
		{colleague, r.Conv, models.CodeOtherAgent},
		{r.Other, r.Conv, models.CodeNotFound},
		{r.Agent, models.NewID[models.ConversationID](), models.CodeNotFound},
	} {
		storetest.WantUnchanged(t, r.Store, tt.want, func() error { return storetest.Err(r.ReportEvents(t.Context(), tt.who, tt.conv, event)) })
	}
	storetest.WantUnchanged(t, r.Store, models.CodeOtherAgent, func() error {
		return storetest.Err3(r.OpenRun(t.Context(), colleague, models.RunInput{RunID: "run"}))
	})
	storetest.WantUnchanged(t, r.Store, models.CodeIDTaken, func() error {
		return storetest.Err3(r.OpenRun(t.Context(), r.Other, models.RunInput{ID: string(r.Conv), RunID: "run"}))
	})
	// The same run id of another owner is another run.
	if conv, opened, err := r.OpenRun(t.Context(), r.Other, models.RunInput{RunID: "run"}); err != nil || !opened || conv.ID == r.Conv {
		t.Errorf("another owner's run: %+v, %v, %v", conv, opened, err)
	}
	// The same tool use id in another run is another call.
	r.Reports(t, event)
	twin := open(t, r.Bench, models.RunInput{RunID: "twin"})
	twin.Reports(t, storetest.One(storetest.Queued("c1", "Bash", `{"other":true}`, "")))
}

func TestARunIsOpenedOnceAndCompleted(t *testing.T) {
	t.Parallel()
	b := storetest.NewBench(t)
	id := string(models.NewID[models.ConversationID]())
	in := models.RunInput{ID: id, RunID: "run", ParentRunID: "parent", Title: "Build", EnergyBudget: new(int64(5)), OnReject: models.OnRejectCascade}
	head := b.VerifiedHead(t)
	conv, opened, err := b.OpenRun(t.Context(), b.Agent, in)
	if err != nil || !opened || string(conv.ID) != id || conv.OnReject != models.OnRejectCascade || *conv.EnergyBudget != 5 || *conv.ParentRunID != "parent" || conv.Title != "Build" {
		t.Fatalf("opened %+v, %v, %v", conv, opened, err)
	}
	b.WantActions(t, head, "conversation.opened", "conversation.budget")
	before := storetest.Dump(t, b.Store)
	for _, again := range []models.RunInput{in, {RunID: "run"}, {ID: id, RunID: "run", Title: "Another", EnergyBudget: new(int64(50))}} {
		if conv, opened, err := b.OpenRun(t.Context(), b.Agent, again); err != nil || opened || string(conv.ID) != id || conv.Title != "Build" || *conv.EnergyBudget != 5 {
			t.Errorf("found %+v, %v, %v", conv, opened, err)
		}
	}
	if after := storetest.Dump(t, b.Store); after != before {
		t.Errorf("opening again changed:\n%s", storetest.Difference(before, after))
	}
	storetest.WantUnchanged(t, b.Store, models.CodeKeyConflict, func() error {
		return storetest.Err3(b.OpenRun(t.Context(), b.Agent, models.RunInput{RunID: "run", ParentRunID: "another"}))
	})
	// A request that came first knew nothing of the run but its name.
	first := b.AskFor(t, models.AskInput{RunID: "asked", Input: []byte(`{}`)})
	head = b.VerifiedHead(t)
	conv, opened, err = b.OpenRun(t.Context(), b.Agent, models.RunInput{RunID: "asked", ParentRunID: "run", Title: "Asked", EnergyBudget: new(int64(7)), OnReject: models.OnRejectCascade})
	if err != nil || opened || conv.ID != first.ConversationID {
		t.Fatalf("found %+v, %v, %v", conv, opened, err)
	}
	v := b.ReadConversation(t, first.ConversationID)
	if v.Title != "Asked" || v.ParentRunID == nil || *v.ParentRunID != "run" || v.OnReject != models.OnRejectCascade || v.EnergyBudget == nil || *v.EnergyBudget != 7 {
		t.Errorf("completed as %+v", v.Conversation)
	}
	b.WantActions(t, head, "conversation.described", "conversation.budget")
	for field, bad := range map[string]models.RunInput{
		"runId": {}, "id": {ID: "x", RunID: "r"}, "parentRunId": {RunID: "r", ParentRunID: "r"}, "title": {RunID: "r", Title: strings.Repeat("x", models.MaxTitle+1)},
		"energyBudget": {RunID: "r", EnergyBudget: new(int64(-1))}, "onReject": {RunID: "r", OnReject: "stop"},
	} {
		e := storetest.Refused(t, storetest.Err3(b.OpenRun(t.Context(), b.Agent, bad)), models.CodeInvalid)
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
	out := r.Reports(t, []models.RunEvent{
		storetest.Queued("big", "Write", input, "b"),
		storetest.Gave("big", big),
		{ID: "m", Type: models.RunEventMessage, Content: big},
		{ID: "r", Type: models.RunEventReply, Content: big},
		storetest.Queued(long, name, `{}`, long),
		{ID: long, Type: models.RunEventToolResult, ToolUseID: long, Result: "done"},
		storetest.Queued("deep", "Bash", deep, "b"),
		{Type: models.RunEventToolResult, ToolUseID: "deep", Result: "cut by who reports it", ResultBytes: 1 << 40},
	})
	r.Reports(t, storetest.One(storetest.Queued(long, name, `{}`, long)), models.RunEventRepeated)

	a, d := r.Row(t, "big")
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
	entries := r.Entries(t)
	if m := entries[1].Message; m == nil || m.Content != big[:models.MaxResult] || m.ContentBytes == nil || *m.ContentBytes != int64(len(big)) {
		t.Errorf("a long message is kept as %d bytes of %v", len(m.Content), m.ContentBytes)
	}
	if c := entries[2].Response; c == nil || c.Content != big[:models.MaxResult] {
		t.Errorf("a long reply is kept as %d bytes", len(c.Content))
	}
	if c := entries[3].Response; c.ID != out[4].ResponseID || c.ToolName != strings.ReplaceAll(name, "\x00", "\uFFFD") || c.ToolUseID == nil || len(*c.ToolUseID) > 512 || !c.IsCompleted {
		t.Errorf("a name is kept as %q, an id of %d bytes", c.ToolName, len(*c.ToolUseID))
	}
	if deepRow, d := r.Row(t, "deep"); deepRow.ToolInputJSON != `"`+deep+`"` || d.ResultBytes != 1<<40 {
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
	r.Reports(t, storetest.One(models.RunEvent{
		Type: models.RunEventToolCall, ToolUseID: "c1", ToolName: "Write", Input: jsontext.Value(`"{\"te"`), InputBytes: int64(len(whole)), InputDigest: models.Digest(canonical),
	}))
	asked := r.Asks(t, "c1", "Write", string(whole)) // its digest is that of the whole
	if asked.Status() != models.StatusPending || asked.InputBytes == nil || *asked.InputBytes != int64(len(whole)) {
		t.Fatalf("asked %+v", asked.Response)
	}
	storetest.WantUnchanged(t, r.Store, models.CodeWrongDecisionKind, func() error { return storetest.Err(r.Decide(t.Context(), r.Owner, asked.ID, storetest.Yes())) })
	if a, err := r.Decide(t.Context(), r.Owner, asked.ID, storetest.No("not seen")); err != nil || a.Status() != models.StatusRejected {
		t.Errorf("reject: %+v, %v", a, err)
	}
}

func TestAResultComesBeforeAfterOrWithoutADecision(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	// Before its call, in an earlier request.
	before := r.VerifiedHead(t)
	r.Reports(t, storetest.One(storetest.Gave("c1", "early")))
	r.Reports(t, storetest.One(storetest.Gave("c1", "early")), models.RunEventRepeated)
	r.Reports(t, storetest.One(models.RunEvent{ID: "x", Type: models.RunEventToolResult, ToolUseID: "c1", Result: "early"}), models.RunEventRepeated)
	r.Reports(t, storetest.One(models.RunEvent{ID: "y", Type: models.RunEventToolResult, ToolUseID: "c1", Result: "other"}), models.RunEventConflict)
	r.Reports(t, storetest.One(storetest.Queued("c1", "Bash", `{}`, "b1")))
	r.WantActions(t, before, "run.reported", "run.reported", "run.reported")
	if _, d := r.Row(t, "c1"); !d.Completed || d.Result != "early" {
		t.Errorf("a result that came first: %+v", d)
	}
	// Before its call, in the same request.
	r.Reports(t, []models.RunEvent{storetest.Gave("c2", "first"), storetest.Queued("c2", "Bash", `{}`, "b1")})
	// Before the request about its call, which is reported last.
	r.Reports(t, storetest.One(storetest.Gave("c6", "first")))
	r.Asks(t, "c6", "Bash", `{"n":6}`)
	r.WantStates(t, storetest.CallIDs(6, 6), "pending done")
	r.Reports(t, []models.RunEvent{{ID: "z", Type: models.RunEventToolResult, ToolUseID: "c6", Result: "first"}, storetest.Queued("c6", "Bash", `{"n":6}`, "b1")}, models.RunEventRepeated)
	// Before a decision, and after it.
	r.Reports(t, []models.RunEvent{storetest.Queued("c3", "Bash", `{"n":3}`, "b1"), storetest.Queued("c4", "Bash", `{"n":4}`, "b1"), storetest.Queued("c5", "Bash", `{"n":5}`, "b1")})
	three, four := r.Asks(t, "c3", "Bash", `{"n":3}`), r.Asks(t, "c4", "Bash", `{"n":4}`)
	r.Reports(t, storetest.One(storetest.Gave("c3", "ran at once")))
	for _, a := range []*models.Approval{three, four} {
		if _, err := r.Decide(t.Context(), r.Owner, a.ID, storetest.Yes()); err != nil {
			t.Fatal(err)
		}
	}
	r.Reports(t, []models.RunEvent{storetest.Gave("c4", "ran then"), storetest.Denial("c5", "no such file")})
	r.WantStates(t, storetest.CallIDs(1, 5), "queued done", "queued done", "approved/reviewer done", "approved/reviewer done", "queued failed")
	for _, use := range storetest.CallIDs(1, 5) {
		if _, d := r.Row(t, use); d.Contradiction != "" && use != "c1" {
			t.Errorf("%s: %q contradicts nothing", use, d.Contradiction)
		}
	}
	// A second result contradicts the first, which stays.
	r.Reports(t, storetest.One(storetest.Gave("c4", "ran otherwise")), models.RunEventConflict)
	if _, d := r.Row(t, "c4"); d.Result != "ran then" || d.Contradiction == "" {
		t.Errorf("after another result: %+v", d)
	}
}

func TestWhatRanAlthoughItWasNotApprovedIsShown(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	r.Reports(t, []models.RunEvent{
		storetest.Queued("ran", "Bash", `{}`, "b"), storetest.Queued("denied", "Bash", `{}`, "b"), storetest.Queued("late", "Bash", `{}`, "b"), storetest.Queued("first", "Bash", `{}`, "b"), storetest.Queued("withdrawn", "Bash", `{}`, "b"),
	})
	for _, use := range []string{"ran", "denied", "first"} {
		a := r.Asks(t, use, "Bash", `{}`)
		if use == "first" {
			r.Reports(t, storetest.One(storetest.Gave(use, "done"))) // before the verdict
		}
		if _, err := r.Decide(t.Context(), r.Owner, a.ID, storetest.No("no")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Cancel(t.Context(), r.Agent, r.Asks(t, "withdrawn", "Bash", `{}`).ID); err != nil {
		t.Fatal(err)
	}
	r.Asks(t, "late", "Bash", `{}`)
	r.Clock.Step(6 * time.Minute)
	r.Reports(t, []models.RunEvent{storetest.Gave("ran", "done"), storetest.Denial("denied", "The user said no."), storetest.Gave("late", "done"), storetest.Gave("withdrawn", "done")})
	for use, contradicts := range map[string]bool{"ran": true, "denied": false, "late": true, "first": true, "withdrawn": true} {
		if _, d := r.Row(t, use); !d.Completed || (d.Contradiction != "") != contradicts {
			t.Errorf("%s: %q, want a contradiction: %v", use, d.Contradiction, contradicts)
		}
	}
	// A denial is confirmation once; how often and in which words does not matter.
	entries := storetest.Scalar[int](t, r.Store, `SELECT count(*) FROM ledger`)
	again := storetest.One(models.RunEvent{ID: "again", Type: models.RunEventToolResult, ToolUseID: "denied", Result: "Denied again.", IsError: true})
	r.Reports(t, again, models.RunEventRepeated)
	if n := storetest.Scalar[int](t, r.Store, `SELECT count(*) FROM ledger`); n != entries {
		t.Error("a second denial is in the ledger")
	}
	before := storetest.Dump(t, r.Store)
	r.Reports(t, again, models.RunEventRepeated)
	if after := storetest.Dump(t, r.Store); after != before {
		t.Errorf("the same denial again changed:\n%s", storetest.Difference(before, after))
	}
	r.Reports(t, storetest.One(models.RunEvent{ID: "after", Type: models.RunEventToolResult, ToolUseID: "denied", Result: "done"}), models.RunEventConflict)
	if _, d := r.Row(t, "denied"); d.Contradiction == "" {
		t.Error("a result after the denial contradicts nothing")
	}
}

func TestTimesAreTheAgentsWordWithinReason(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	at := func(d time.Duration) *time.Time { when := r.Clock.Now().Add(d); return &when }
	old := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	c, d, e := storetest.Queued("c1", "Bash", `{}`, ""), storetest.Gave("c1", "ok"), storetest.Queued("c2", "Bash", `{}`, "")
	c.At, d.At, e.At = at(-3*time.Minute), at(-time.Minute), &old
	f := storetest.Gave("c2", "ok")
	f.At = at(time.Hour)
	r.Reports(t, []models.RunEvent{c, d, e, f})
	if _, got := r.Row(t, "c1"); !got.ReportedAt.Equal(*c.At) || !got.CompletedAt.Equal(*d.At) {
		t.Errorf("it ran from %v to %v, want %v to %v", got.ReportedAt, got.CompletedAt, c.At, d.At)
	}
	if _, got := r.Row(t, "c2"); !got.ReportedAt.Equal(r.Clock.Now()) || !got.CompletedAt.Equal(r.Clock.Now()) {
		t.Errorf("times out of this world were believed: %v, %v", got.ReportedAt, got.CompletedAt)
	}
}

func TestOneRequestIsOneLedgerEntry(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	before := r.VerifiedHead(t)
	secret := "hunter2 in an input"
	r.Reports(t, []models.RunEvent{
		storetest.Queued("c1", "Bash", `{"command":"`+secret+`"}`, "b1"), storetest.Queued("c2", "Bash", `{}`, "b1"), {ID: "bad"}, storetest.Gave("c1", secret), storetest.Queued("c1", "Bash", `{"command":"`+secret+`"}`, "b1"),
	}, "stored", "stored", "error", "stored", "repeated")
	r.WantActions(t, before, "run.reported")
	entries, err := r.Ledger.Page(t.Context(), r.Admin, ledger.Query{Action: "run.reported"})
	if err != nil || len(entries.Entries) != 1 {
		t.Fatalf("ledger: %+v, %v", entries, err)
	}
	e := entries.Entries[0]
	if !strings.Contains(e.Data, `"count":3`) || strings.Contains(e.Data, secret) || e.ConversationID != r.Conv || e.ActorID != r.Agent.ID || e.OwnerID != r.Owner.OwnerID {
		t.Errorf("the entry is %+v", e)
	}
}
