package pages_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/views/pages"
)

const batchAt = 20 // the sequence of the first call

// batchCall is one call of a batch of ten.
func batchCall(t *testing.T, place int, tool, input string) (models.Approval, models.CallDetail) {
	t.Helper()
	a := call(t, tool, input)
	a.ID = models.ResponseID(fmt.Sprintf("01890a5d-ac96-774b-bcce-b302099a90%02d", place))
	a.ConversationID, a.Sequence, a.BatchID, a.ApprovalStatus, a.ApprovalRequestedAt, a.AgentName = conversationID, int64(batchAt+place-1), new("b"), nil, nil, "release-bot"
	a.Description = ""
	at := now.Add(-3 * time.Minute)
	a.CreatedAt, a.ReportedAt = at, &at
	return a, models.CallDetail{ID: a.ID, Sequence: a.Sequence, BatchID: "b", Place: place, Of: 10, ReportedAt: &at, OpenSince: &at}
}

// workedCase is the batch of ten of which 2, 3, 6, 9 and 7 need approval, when 6
// waits.
func workedCase(t *testing.T, mend func(place int, a *models.Approval, d *models.CallDetail)) pages.ConversationInput {
	t.Helper()
	in := conversationInput(t)
	in.Conversation.AgentName, in.Conversation.BuiltIn, in.Conversation.RunID, in.Conversation.NextSequence = "release-bot", false, new("run-7"), batchAt+11
	in.History.Entries = in.History.Entries[:1]
	in.Around.Run = pages.RunAround{Calls: map[models.ResponseID]models.CallDetail{}, Origins: map[models.ResponseID]models.Origin{}}
	for place := 1; place <= 10; place++ {
		tool, input := "Read", fmt.Sprintf(`{"file_path":"/srv/app/%d.go"}`, place)
		switch place {
		case 2, 3, 6, 9:
			tool, input = "Bash", fmt.Sprintf(`{"command":"make step-%d"}`, place)
		case 7:
			tool, input = "Write", `{"file_path":"/srv/app/out.txt","content":"x"}`
		}
		a, d := batchCall(t, place, tool, input)
		if place < 6 {
			done := now.Add(-time.Duration(180-20*place) * time.Second)
			d.Completed, d.CompletedAt, d.OpenSince, d.Result, d.ResultBytes = true, &done, nil, "ok\n", 3
			if place == 2 || place == 3 {
				a = settle(a, models.StatusApproved, models.CauseReviewer, &models.Vote{Verdict: models.VerdictApprove})
				a.UpstreamID, a.ApprovalTimestamp = new("u"), new(now.Add(-170*time.Second))
			}
		}
		if place == 6 {
			waits := models.StatusPending
			a.ApprovalStatus, a.ApprovalRequestedAt, a.UpstreamID = &waits, new(now.Add(-time.Minute)), new("u")
			a.ApprovalTimeoutAt = models.NoDeadline
			in.Around.Run.Origins[a.ID] = models.Origin{UpstreamName: "night-shift", MatchedBy: models.MatchedByInput}
		}
		if mend != nil {
			mend(place, &a, &d)
		}
		in.Around.Run.Calls[a.ID] = d
		in.History.Entries = append(in.History.Entries, responseEntry(a))
	}
	in.History.After = batchAt + 9
	in.Parent = &models.RunLink{ID: conversationID, RunID: "run-1", Title: "Ship\u202E it", Status: models.ConversationRunning, AgentName: "release-bot"}
	in.Children = []models.RunLink{{ID: conversationID, RunID: "run-8", Status: models.ConversationCompleted, AgentName: "helper"}, {ID: conversationID, RunID: "<b>9", Status: models.ConversationFailed, AgentName: "helper"}}
	return in
}

// cascaded is the same after 6 was rejected.
func cascaded(t *testing.T) pages.ConversationInput {
	t.Helper()
	return workedCase(t, func(place int, a *models.Approval, d *models.CallDetail) {
		switch {
		case place == 6:
			*a = settle(*a, models.StatusRejected, models.CauseReviewer, &models.Vote{Verdict: models.VerdictReject, Reason: "Not on a Friday."})
		case place > 6:
			*a = settle(*a, models.StatusRejected, models.CauseCascade, nil)
			a.ApprovalFeedback = "Not on a Friday."
			d.CascadedFrom = &models.CallPlace{ID: "01890a5d-ac96-774b-bcce-b302099a9006", Sequence: batchAt + 5, Place: 6}
		}
		if place == 9 {
			d.Completed, d.CompletedAt, d.Result, d.ResultBytes, d.Contradiction = true, new(now), "done anyway", 11, "The agent reported a result although the call was rejected."
		}
	})
}

// odd has every other state, with hostile names and texts.
func odd(t *testing.T) pages.ConversationInput {
	t.Helper()
	evil := "</pre><script>alert(1)</script>\u202E\u200B"
	return workedCase(t, func(place int, a *models.Approval, d *models.CallDetail) {
		long := now.Add(-14 * time.Minute)
		a.AgentName = "rele\u200Base-bot"
		if place < 4 {
			d.CompletedAt = &long
		}
		switch place {
		case 1:
			d.IsError, d.Result, d.ResultBytes = true, evil, 300_000
		case 2:
			d.Closed, a.ToolName = models.ClosedByOwner, "<i>odd\u202E "+strings.Repeat("long", 30)
		case 3:
			d.Closed, d.MatchedBy = models.ClosedByRun, models.MatchedByOrder
		case 4:
			d.Completed, d.CompletedAt, d.ReportedAt, a.ReportedAt, a.CreatedAt, d.ParentToolUseID = false, nil, &long, &long, long, "task"
		case 5:
			d.Completed, d.CompletedAt, d.Result = false, nil, ""
		case 6:
			a.HeldUntil = new(now.Add(time.Minute))
		case 7:
			d.Result = ""
			a.ToolInputJSON = `{"file_path":` + `"` + strings.Repeat("deep/", 60) + `"}`
		case 8:
			*a = settle(*a, models.StatusResolved, models.CauseElsewhere, nil)
		case 9:
			*a = settle(*a, models.StatusExpired, models.CauseUndelivered, nil)
		}
	})
}

func runScreens(t *testing.T) []screen {
	t.Helper()
	draw := func(name string, in pages.ConversationInput) screen {
		p := page("A run", "/conversations/"+string(conversationID))
		p.Conversation = conversationID
		return screen{name, pages.ConversationPage(p, pages.NewConversation(in, now))}
	}
	held := odd(t)
	for id, o := range held.Around.Run.Origins {
		o.Told = &models.Telling{Verdict: models.VerdictApprove, VoterName: "Ada\u202E Berg", Attempts: 3, Problem: "The upstream failed (503)."}
		held.Around.Run.Origins[id] = o
	}
	refused := workedCase(t, nil)
	refused.Around.Decided = &pages.DecidedHere{ID: refused.History.Entries[6].Response.ID, Form: pages.DecideForm{Errors: map[string]string{"reason": "is required"}}}
	alone := workedCase(t, nil)
	alone.History.Entries = alone.History.Entries[1:2]
	one := alone.Around.Run.Calls[alone.History.Entries[0].Response.ID]
	one.Place, one.Of = 1, 1
	alone.Around.Run.Calls[one.ID] = one

	asked := call(t, "Bash", `{"command":"make"}`)
	asked.UpstreamID, asked.Context, asked.AgentName = new("u"), `{"command":"make <b>all"}`, "release-bot"
	from := models.Origin{
		UpstreamName: "night\u202E-shift", MatchedBy: models.MatchedByOrder, Contradiction: "The other system asks with another input than the agent reported.",
		ParentID: conversationID, ParentRun: "run-1", ParentTitle: "<b>Ship it", StartedBy: "Task", StartedInput: `{"subagent_type":"reviewer\u202e"}`,
	}
	other := pages.NewApproval(pages.ApprovalInput{Approval: asked, MayDecide: true, Sees: true, Origin: from}, now)
	cut := asked
	cut.ID = "01890a5d-ac96-774b-bcce-b302099a8058"
	cut.Context, cut.InputBytes = "", new(int64(300_000))
	closed := pages.NewApproval(pages.ApprovalInput{Approval: cut, MayDecide: true, Origin: models.Origin{UpstreamName: "night-shift", MatchedBy: "unmatched"}}, now)
	from.Told = held.Around.Run.Origins[held.History.Entries[6].Response.ID].Told
	inbox := pages.NewInbox(pages.InboxInput{Rows: []models.Approval{asked, cut}, Count: 2, Origins: map[models.ResponseID]models.Origin{asked.ID: from}}, now)
	called := func(name string, in pages.CallInput) screen {
		return screen{name, pages.CallPage(page("Bash", "/x"), pages.NewCall(in, now))}
	}
	first := cascaded(t)
	a := first.History.Entries[9].Response
	return []screen{
		draw("run", workedCase(t, nil)), draw("run-rejected", cascaded(t)), draw("run-odd", held), draw("run-refused", refused), draw("run-alone", alone),
		{"approval-outside", pages.ApprovalPage(page("Bash", "/x"), other)},
		{"approval-outside-cut", pages.ApprovalPage(page("Bash", "/x"), closed)},
		{"inbox-outside", pages.InboxPage(page("Inbox", "/"), inbox)},
		called("call", pages.CallInput{Conversation: first.Conversation.Conversation, Call: *a, Detail: first.Around.Run.Calls[a.ID], Result: models.CallResult{Completed: true, Result: "done anyway\u202E<b>", Bytes: 300_000}, Problem: "This call has a result."}),
		called("call-open", pages.CallInput{Conversation: first.Conversation.Conversation, Call: asked, Origin: from}),
	}
}

func TestABatchIsOneBlockWhereItsFirstCallStands(t *testing.T) {
	t.Parallel()
	in := cascaded(t)
	v := pages.NewConversation(in, now)
	if len(v.Entries) != 2 || v.Entries[1].Batch == nil {
		t.Fatalf("%d entries", len(v.Entries))
	}
	b := v.Entries[1].Batch
	var got []string
	for _, s := range b.Segments {
		for _, c := range s.Calls {
			got = append(got, c.Number+" "+c.Pill.Text)
		}
	}
	want := "#1 done, #2 done, #3 done, #4 done, #5 done, #6 rejected, #7 rejected with #6, #8 rejected with #6, #9 rejected with #6, #10 rejected with #6"
	if strings.Join(got, ", ") != want {
		t.Errorf("%s, want %s", strings.Join(got, ", "), want)
	}
	if b.Title != "10 calls queued at once" || b.Tally != "5 of 10 done" || b.Segments[0].Fold != "5 done, #1 to #5" {
		t.Errorf("%q %q %q", b.Title, b.Tally, b.Segments[0].Fold)
	}
	if d := b.Segments[0].Calls[1].Duration; d != "20 s" {
		t.Errorf("the second took %q, which began when the first had ended", d)
	}
	waits := pages.NewConversation(workedCase(t, nil), now).Entries[1].Batch
	html := draw(t, pages.BatchBlock(*waits))
	if strings.Count(html, `aria-current="step"`) != 1 || strings.Count(html, `value="approve"`) != 1 {
		t.Error("not exactly one call waits")
	}
	if !strings.Contains(waits.Tally, "1 waiting for approval") {
		t.Error(waits.Tally)
	}
}

func TestWhatCameToABatchOnThePageIsNoNewBlock(t *testing.T) {
	t.Parallel()
	in := workedCase(t, nil)
	calls := in.Around.Run.Calls
	if got := pages.WithoutKnownBatches(in.History.Entries, calls); len(got) != 11 {
		t.Errorf("%d of a whole batch are left", len(got))
	}
	if got := pages.WithoutKnownBatches(in.History.Entries[3:], calls); len(got) != 0 {
		t.Errorf("%d are left of a batch that stands", len(got))
	}
	mixed := append(in.History.Entries[5:7:7], in.History.Entries[0])
	if got := pages.WithoutKnownBatches(mixed, calls); len(got) != 1 || got[0].Message == nil {
		t.Errorf("what else came is lost: %d", len(got))
	}
}
