package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/outside"
	"countersign/models/requests"
	"countersign/models/storetest"
)

const undoFor30 = `{"undo_seconds":{"medium":30,"critical":10}}`

// held is a pending request that the owner has approved, in its window.
func held(t *testing.T, b *bench, in models.AskInput) *models.Approval {
	t.Helper()
	a := b.AskFor(t, in)
	got, err := b.Decide(t.Context(), b.Owner, a.ID, storetest.Yes())
	storetest.Must(t, err)
	if got.Status() != models.StatusPending || got.HeldUntil == nil {
		t.Fatalf("%s, held until %v", got.Status(), got.HeldUntil)
	}
	return got
}

func (b *bench) release(t *testing.T, want int) {
	t.Helper()
	if n, err := b.ReleaseDue(t.Context(), 10); n != want || err != nil {
		t.Fatalf("%d released, %v; want %d", n, err, want)
	}
}

func (b *bench) standsAs(t *testing.T, id models.ResponseID, want models.Status) *models.Approval {
	t.Helper()
	got, err := b.Requests.Approval(t.Context(), b.Owner, id)
	storetest.Must(t, err)
	if got.Status() != want {
		t.Fatalf("it is %s, want %s", got.Status(), want)
	}
	return got
}

func (b *bench) entriesOf(t *testing.T, id models.ResponseID) []string {
	t.Helper()
	return storetest.Column(t, b.Store, `SELECT actor_kind || ' ' || action FROM ledger WHERE response_id = ? ORDER BY seq`, id)
}

func TestI1AnApprovalIsHeldForItsWindowAndReleasedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, undoFor30)
	at := b.Clock.Now()
	a := held(t, b, models.AskInput{TimeoutSeconds: new(int64(20))})
	if want := at.Add(30 * time.Second); !a.HeldUntil.Equal(want) || !a.Vote.UndoUntil.Equal(want) {
		t.Errorf("held until %v, to be taken back until %v, want %v", a.HeldUntil, a.Vote.UndoUntil, want)
	}
	for name, who := range map[string]models.Actor{"another": b.Admin, "the same": b.Owner} {
		before := storetest.Dump(t, b.Store)
		_, err := b.Decide(t.Context(), who, a.ID, storetest.Yes())
		if e := refusal(t, err, models.CodeBeingDecided); e.Approval == nil || e.Text != "The decision of owner@example.com on this request is on its way." {
			t.Errorf("%s: %+v", name, e)
		}
		if after := storetest.Dump(t, b.Store); after != before {
			t.Error(storetest.Difference(before, after))
		}
	}
	seen, err := b.Requests.Approval(t.Context(), b.Agent, a.ID)
	storetest.Must(t, err)
	if seen.Status() != models.StatusPending || seen.Vote != nil {
		t.Errorf("the agent sees %s and the vote %v", seen.Status(), seen.Vote)
	}
	if seen := b.standsAs(t, a.ID, models.StatusPending); seen.Vote == nil || seen.Vote.UserID != b.Owner.UserID() || seen.Vote.UndoUntil == nil {
		t.Errorf("a person sees the vote %+v", seen.Vote)
	}
	next, some, err := b.NextRelease(t.Context())
	if !some || err != nil || !next.Equal(*a.HeldUntil) {
		t.Errorf("next release at %v, %v, %v", next, some, err)
	}
	b.Clock.Step(30*time.Second - time.Microsecond) // past the deadline: the vote was in time
	if n, err := b.ExpireDue(t.Context(), 10); n != 0 || err != nil {
		t.Errorf("%d expired, %v", n, err)
	}
	b.release(t, 0)
	b.Clock.Step(time.Microsecond)
	wantCode(t, storetest.Err(b.Undo(t.Context(), b.Owner, a.ID)), models.CodeBeingDecided)
	b.release(t, 1)
	b.release(t, 0)
	got := b.standsAs(t, a.ID, models.StatusApproved)
	if got.Cause != models.CauseReviewer || *got.DecidedBy != b.Owner.UserID() || got.HeldUntil != nil || !got.Vote.At.Equal(at) || !got.ApprovalTimestamp.Equal(at.Add(30*time.Second)) {
		t.Errorf("%+v by %+v", got.Response, got.Vote)
	}
	wantCode(t, storetest.Err(b.Undo(t.Context(), b.Owner, a.ID)), models.CodeAlreadyDecided)
	storetest.SameStrings(t, "ledger", b.entriesOf(t, a.ID), []string{"agent approval.requested", "user approval.voted", "user approval.approved"})
}

func TestOnlyApprovalsWithAWindowAreHeld(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"undo_seconds":{"medium":30},"rules":[{"name":"low","tools":["ls"],"effect":"require","risk":"low"}]}`)
	for name, tt := range map[string]struct {
		ask    models.AskInput
		in     models.DecisionInput
		status models.Status
	}{
		"approved":          {models.AskInput{}, storetest.Yes(), models.StatusPending},
		"rejected":          {models.AskInput{}, storetest.No("no"), models.StatusRejected},
		"answered":          {models.AskInput{Kind: models.KindQuestion}, models.DecisionInput{Answer: new("so")}, models.StatusApproved},
		"of another risk":   {models.AskInput{ToolName: "ls"}, storetest.Yes(), models.StatusApproved},
		"declined question": {models.AskInput{Kind: models.KindQuestion}, storetest.No("no"), models.StatusRejected},
	} {
		a := b.AskFor(t, tt.ask)
		got, err := b.Decide(t.Context(), b.Owner, a.ID, tt.in)
		storetest.Must(t, err)
		if got.Status() != tt.status {
			t.Errorf("%s: %s, want %s", name, got.Status(), tt.status)
		}
	}
}

func TestAnApprovalIsTakenBackByWhoGaveIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, undoFor30)
	a := held(t, b, models.AskInput{})
	for name, tt := range map[string]struct {
		who  models.Actor
		code models.Code
	}{
		"its agent (I4)": {b.Agent, models.CodeForbidden}, "the operator": {storetest.Operator(), models.CodeForbidden},
		"an admin": {b.Admin, models.CodeBeingDecided}, "a stranger": {b.Stranger, models.CodeNotFound},
	} {
		before := storetest.Dump(t, b.Store)
		if err := storetest.Err(b.Undo(t.Context(), tt.who, a.ID)); models.ErrorCode(err) != tt.code {
			t.Errorf("%s: %v, want %s", name, err, tt.code)
		}
		if after := storetest.Dump(t, b.Store); after != before {
			t.Error(storetest.Difference(before, after))
		}
	}
	got, err := b.Undo(t.Context(), b.Owner, a.ID)
	storetest.Must(t, err)
	if got.Status() != models.StatusPending || got.HeldUntil != nil || got.Vote != nil {
		t.Errorf("%s, held until %v by %v", got.Status(), got.HeldUntil, got.Vote)
	}
	before := storetest.Dump(t, b.Store)
	storetest.Must(t, storetest.Err(b.Undo(t.Context(), b.Owner, a.ID))) // a repeat
	if after := storetest.Dump(t, b.Store); after != before {
		t.Error(storetest.Difference(before, after))
	}
	wantCode(t, storetest.Err(b.Undo(t.Context(), b.Admin, a.ID)), models.CodeConflict)
	page, err := b.Requests.Inbox(t.Context(), b.Owner, inboxAll)
	storetest.Must(t, err)
	if len(page.Items) != 1 {
		t.Errorf("%d in the inbox, want it there again", len(page.Items))
	}
	b.Clock.Step(time.Minute)
	b.release(t, 0)
	// It can be decided anew, and nothing of the first verdict is left.
	got, err = b.Decide(t.Context(), b.Owner, a.ID, storetest.No("no"))
	storetest.Must(t, err)
	if got.Status() != models.StatusRejected {
		t.Errorf("%s, want rejected", got.Status())
	}
	storetest.SameStrings(t, "ledger", b.entriesOf(t, a.ID), []string{
		"agent approval.requested", "user approval.voted", "user approval.taken_back", "user approval.rejected",
	})
	storetest.SameStrings(t, "votes", storetest.Column(t, b.Store, `SELECT verdict || CASE WHEN withdrawn_at IS NULL THEN ' 0' ELSE ' 1' END FROM votes WHERE response_id = ? ORDER BY at`, a.ID), []string{"approve 1", "reject 0"})
}

func TestI3ADeadlineThatPassedMeanwhileHoldsWhenAnApprovalIsTakenBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, undoFor30)
	a := held(t, b, models.AskInput{TimeoutSeconds: new(int64(20))})
	b.Clock.Step(25 * time.Second)
	b.standsAs(t, a.ID, models.StatusPending)
	got, err := b.Undo(t.Context(), b.Owner, a.ID)
	storetest.Must(t, err)
	if got.Status() != models.StatusExpired || got.Cause != models.CauseTimeout {
		t.Errorf("the answer says %s, %s", got.Status(), got.Cause)
	}
	b.standsAs(t, a.ID, models.StatusExpired)
	storetest.SameStrings(t, "ledger", b.entriesOf(t, a.ID), []string{
		"agent approval.requested", "user approval.voted", "user approval.taken_back", "system approval.expired",
	})
}

func TestI3AnAnswerDoesNotReviveARequestWhosePauseRanOutWhileItWasHeld(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"undo_seconds":{"medium":30},"max_pause_minutes":1}`)
	a := b.AskFor(t, models.AskInput{TimeoutSeconds: new(int64(20))})
	asked, err := b.AskBack(t.Context(), b.Owner, a.ID, "Why?")
	storetest.Must(t, err)
	b.Clock.Step(50 * time.Second)
	_, err = b.Decide(t.Context(), b.Owner, a.ID, storetest.Yes())
	storetest.Must(t, err)
	b.Clock.Step(15 * time.Second) // the pause is over, the window is not
	got, _, err := b.AnswerNote(t.Context(), b.Agent, a.ID, "So.")
	if storetest.Must(t, err); !got.ApprovalTimeoutAt.Equal(asked.ApprovalTimeoutAt) || got.OpenNote != nil {
		t.Errorf("deadline %v, want %v; open %v", got.ApprovalTimeoutAt, asked.ApprovalTimeoutAt, got.OpenNote)
	}
	got, err = b.Undo(t.Context(), b.Owner, a.ID)
	if storetest.Must(t, err); got.Status() != models.StatusExpired {
		t.Errorf("taken back it is %s", got.Status())
	}
}

// What may be taken back is on the desk until it is over, also past its deadline;
// what nothing holds is not.
func TestAnInboxListsWhatIsHeldPastItsDeadline(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, undoFor30)
	a := held(t, b, models.AskInput{TimeoutSeconds: new(int64(20))})
	b.AskFor(t, models.AskInput{TimeoutSeconds: new(int64(20))}) // expires
	b.Clock.Step(25 * time.Second)
	for name, q := range map[string]requests.InboxQuery{
		"by deadline": {}, "by age": {Order: requests.ByAge}, "of its conversation": {Conversation: a.ConversationID},
		"of its agent": {Agent: a.AgentID}, "mine": {Whose: requests.WhoseMine},
	} {
		for _, who := range []models.Actor{b.Owner, b.Admin} {
			want := 1
			if q.Whose == requests.WhoseMine && who.ID != b.Owner.ID {
				want = 0
			}
			page, err := b.Requests.Inbox(t.Context(), who, q)
			if storetest.Must(t, err); len(page.Items) != want || page.Count != want || want == 1 && page.Items[0].ID != a.ID {
				t.Errorf("%s, %s: %v, count %d", name, who.Name, storetest.IDList(page.Items), page.Count)
			}
		}
	}
	b.Clock.Step(5 * time.Second)
	b.release(t, 1)
	if page, err := b.Requests.Inbox(t.Context(), b.Owner, requests.InboxQuery{}); err != nil || len(page.Items) != 0 || page.Count != 0 {
		t.Errorf("released: %v, count %d, %v", storetest.IDList(page.Items), page.Count, err)
	}
}

// A wait would else read the row every millisecond until the window is over.
func TestAWaitSleepsThroughADeadlineThatAHeldVerdictHasMet(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, undoFor30)
	a := held(t, b, models.AskInput{TimeoutSeconds: new(int64(20))})
	b.Clock.Step(25 * time.Second)
	w := b.Watch(t.Context(), b.Agent, a.ID, time.Minute)
	defer w.Close()
	if got, done, err := w.Look(t.Context()); done || err != nil || got != nil {
		t.Fatalf("%+v, %v, %v", got, done, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if told, err := w.Sleep(ctx); told != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it woke with %v, %v", told, err)
	}
}

func TestI1CancelAndStopBeatAnApprovalInItsWindow(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		does func(b *bench, a *models.Approval) error
		want models.Status
	}{
		"cancel":            {func(b *bench, a *models.Approval) error { return storetest.Err(b.Cancel(t.Context(), b.Agent, a.ID)) }, models.StatusCancelled},
		"its owner cancels": {func(b *bench, a *models.Approval) error { return storetest.Err(b.Cancel(t.Context(), b.Owner, a.ID)) }, models.StatusCancelled},
		"stop": {func(b *bench, a *models.Approval) error {
			return storetest.Err(b.Steer(t.Context(), b.Owner, a.ConversationID, models.SteerStop))
		}, models.StatusCancelled},
		"the run's end": {func(b *bench, a *models.Approval) error {
			return storetest.Err(b.ReportEvents(t.Context(), b.Agent, a.ConversationID, storetest.One(models.RunEvent{ID: "end", Type: models.RunEventStatus, Status: models.ConversationCompleted})))
		}, models.StatusCancelled},
		"cascade": {func(b *bench, a *models.Approval) error {
			first, err := b.Ask(t.Context(), b.Agent, models.AskInput{ConversationID: string(a.ConversationID), ToolUseID: "t1", ToolName: "Bash", Explicit: true})
			if err == nil {
				_, err = b.Decide(t.Context(), b.Owner, first.ID, storetest.No("no"))
			}
			return err
		}, models.StatusRejected},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.UsePolicy(t, undoFor30)
			r := b.open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade})
			r.Reports(t, []models.RunEvent{storetest.Queued("t1", "Bash", "{}", "b"), storetest.Queued("t2", "Bash", "{}", "b")})
			a := held(t, b, models.AskInput{RunID: "r", ToolUseID: "t2"})
			storetest.Must(t, tt.does(b, a))
			b.Clock.Step(time.Minute)
			b.release(t, 0)
			b.standsAs(t, a.ID, tt.want)
			wantCode(t, storetest.Err(b.Undo(t.Context(), b.Owner, a.ID)), models.CodeAlreadyDecided)
			storetest.SameStrings(t, "withdrawn", storetest.Column(t, b.Store, `SELECT CASE WHEN withdrawn_at IS NULL THEN 'stands' ELSE 'withdrawn' END FROM votes WHERE response_id = ? AND verdict = 'approve'`, a.ID), []string{"withdrawn"})
		})
	}
}

// What came with a held approval waits with it: the edit, the budget, the turn of
// the built-in agent.
func TestWhatComesWithAHeldApprovalWaitsForItsRelease(t *testing.T) {
	t.Parallel()
	for _, takenBack := range []bool{false, true} {
		b := newBench(t)
		b.UsePolicy(t, undoFor30)
		proposal, err := b.Respond(t.Context(), b.Agent, models.ResponseInput{ConversationID: models.NewID[models.ConversationID](), Kind: models.KindProposal, Content: "May I?"})
		storetest.Must(t, err)
		conv := proposal.ConversationID
		storetest.Must(t, storetest.Err(b.ChangeBudget(t.Context(), b.Owner, conv, models.BudgetChange{Set: new(int64(10))}, "")))
		said, err := b.Say(t.Context(), b.Owner, models.MessageInput{
			ConversationID: conv, Content: "Go on.",
			Decision: &models.ConversationDecision{Approved: new(true), Budget: models.BudgetChange{Delta: new(int64(5))}},
		})
		storetest.Must(t, err)
		if said.Approval.Status() != models.StatusPending || said.Conversation.Status != models.ConversationWaitingInput || *said.Conversation.EnergyBudget != 10 {
			t.Errorf("said: %s, the conversation %s with %d", said.Approval.Status(), said.Conversation.Status, *said.Conversation.EnergyBudget)
		}
		// Meanwhile the budget changes: the step counts from there.
		storetest.Must(t, storetest.Err(b.ChangeBudget(t.Context(), b.Owner, conv, models.BudgetChange{Set: new(int64(40))}, "")))
		want, status := int64(45), models.ConversationRunning
		if takenBack {
			storetest.Must(t, storetest.Err(b.Undo(t.Context(), b.Owner, proposal.ID)))
			want, status = 40, models.ConversationWaitingInput
		}
		b.Clock.Step(time.Minute)
		b.release(t, map[bool]int{true: 0, false: 1}[takenBack])
		view, err := b.Requests.Conversation(t.Context(), b.Owner, conv)
		storetest.Must(t, err)
		if *view.EnergyBudget != want || view.Status != status {
			t.Errorf("taken back %v: %s with a budget of %d, want %s with %d", takenBack, view.Status, *view.EnergyBudget, status, want)
		}
	}
}

func TestABudgetRequestInItsWindowRaisesNothingYet(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, undoFor30)
	reply, err := b.Respond(t.Context(), b.Agent, models.ResponseInput{ConversationID: models.NewID[models.ConversationID](), Kind: models.KindReply, Content: "a"})
	storetest.Must(t, err)
	conv := reply.ConversationID
	storetest.Must(t, storetest.Err(b.ChangeBudget(t.Context(), b.Owner, conv, models.BudgetChange{Set: new(int64(10))}, "")))
	storetest.Must(t, storetest.Err(b.ChangeBudget(t.Context(), b.Agent, conv, models.BudgetChange{Set: new(int64(90))}, "")))
	page, err := b.Requests.Inbox(t.Context(), b.Owner, inboxAll)
	storetest.Must(t, err)
	in := storetest.Yes()
	in.Input = []byte(`{"budget":50}`)
	got, err := b.Decide(t.Context(), b.Owner, page.Items[0].ID, in)
	storetest.Must(t, err)
	budget := func(want int64) {
		t.Helper()
		view, err := b.Requests.Conversation(t.Context(), b.Owner, conv)
		storetest.Must(t, err)
		if *view.EnergyBudget != want {
			t.Errorf("the budget is %d, want %d", *view.EnergyBudget, want)
		}
	}
	budget(10)
	b.Clock.Step(30 * time.Second)
	b.release(t, 1)
	budget(50)
	b.standsAs(t, got.ID, models.StatusApproved)
}

func TestTheFirstAttemptToTellAnotherSystemWaitsForTheWindow(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	storetest.Must(t, storetest.Err(w.ApplyPolicy(t.Context(), w.Admin, []byte(`{"undo_seconds":{"medium":600}}`), "test", 0)))
	id := w.Taken(t, storetest.Call("c", "", "bash", `{}`))
	a := w.Vote(t, id, storetest.Yes())
	if a.Vote.UndoUntil == nil || !a.Vote.UndoUntil.Equal(w.Clock.Now().Add(10*time.Minute)) {
		t.Errorf("to be taken back until %v", a.Vote.UndoUntil)
	}
	due, next, err := outside.New(w.Store).DueDeliveries(t.Context(), 10)
	storetest.Must(t, err)
	for _, ids := range due {
		if len(ids) > 0 {
			t.Errorf("it is told at once: %v", due)
		}
	}
	if !next.Equal(*a.Vote.UndoUntil) {
		t.Errorf("it is told at %v, want %v", next, a.Vote.UndoUntil)
	}
	storetest.Must(t, storetest.Err(w.Undo(t.Context(), w.Owner, id)))
	w.Clock.Step(20 * time.Minute)
	if d := w.Begin(t, id); d != nil {
		t.Errorf("what was taken back is told: %+v", d)
	}
	w.WantRow(t, id, "pending ")

	// Given again, it is told once its window is over, and then stands.
	w.Vote(t, id, storetest.Yes())
	w.Clock.Step(10 * time.Minute)
	if n, err := w.ReleaseDue(t.Context(), 10); n != 0 || err != nil {
		t.Errorf("%d released before the other system knows, %v", n, err)
	}
	if d := w.Begin(t, id); d == nil || !d.Approved || d.GiveUpAt.Before(w.Clock.Now().Add(9*time.Minute)) {
		t.Fatalf("%+v", d)
	}
	wantCode(t, storetest.Err(w.Undo(t.Context(), w.Owner, id)), models.CodeBeingDecided)
	w.End(t, id, models.DeliveryTaken)
	w.WantRow(t, id, "approved reviewer")
	w.Verify(t)

	// A rejection has no window.
	other := w.Taken(t, storetest.Call("d", "", "bash", `{"n":2}`))
	w.Vote(t, other, storetest.No("no"))
	wantCode(t, storetest.Err(w.Undo(t.Context(), w.Owner, other)), models.CodeBeingDecided)
}

func TestHighRiskIsNotApprovedInBulkAndAllIsRejected(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"rules":[{"name":"c","tools":["rm"],"effect":"require","risk":"critical"},{"name":"h","tools":["mv"],"effect":"require","risk":"high"}]}`)
	critical, high, question := b.AskFor(t, models.AskInput{ToolName: "rm"}), b.AskFor(t, models.AskInput{ToolName: "mv"}), b.AskFor(t, models.AskInput{Kind: models.KindQuestion})
	for name, tt := range map[string]struct {
		a    *models.Approval
		in   models.DecisionInput
		code models.Code
	}{
		"critical": {critical, storetest.Yes(), models.CodeWrongDecisionKind}, "high": {high, storetest.Yes(), models.CodeWrongDecisionKind},
		"a question": {question, models.DecisionInput{Answer: new("so")}, models.CodeWrongDecisionKind},
	} {
		tt.in.Bulk, tt.in.Digest = true, tt.a.Digest
		if err := storetest.Err(b.Decide(t.Context(), b.Owner, tt.a.ID, tt.in)); models.ErrorCode(err) != tt.code {
			t.Errorf("%s: %v, want %q", name, err, tt.code)
		}
	}
	for _, a := range []*models.Approval{critical, high, question} {
		in := storetest.No("no")
		in.Bulk, in.Digest = true, a.Digest
		if err := storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, in)); err != nil {
			t.Errorf("rejecting %s: %v", a.ToolName, err)
		}
	}
}

var inboxAll = requests.InboxQuery{Limit: 100}
