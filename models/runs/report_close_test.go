package runs_test

import (
	"slices"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/storetest"
)

func TestTheNextMessageClosesWhatTheOneBeforeLeftOpen(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	r.Reports(t, []models.RunEvent{
		storetest.Queued("c1", "Bash", `{"n":1}`, "b1"), storetest.Queued("c2", "Bash", `{"n":2}`, "b1"), storetest.Queued("c3", "Bash", `{"n":3}`, "b1"), storetest.Queued("c4", "Bash", `{"n":4}`, "b1"),
		storetest.Queued("c5", "Bash", `{"n":5}`, ""), storetest.Gave("c1", "ok"),
	})
	waits := r.Asks(t, "c3", "Bash", `{"n":3}`)
	r.Asks(t, "c4", "Bash", `{"n":4}`)
	ran := r.Asks(t, "c1", "Bash", `{"n":1}`) // pending, although it has a result
	approved := r.Asks(t, "c2", "Bash", `{"n":2}`)
	if _, err := r.Decide(t.Context(), r.Owner, approved.ID, storetest.Yes()); err != nil {
		t.Fatal(err)
	}
	r.Reports(t, storetest.One(storetest.Said("more", "Still the same message.", "b1")))
	r.WantStates(t, storetest.CallIDs(1, 5), "pending done", "approved/reviewer", "pending", "pending", "queued")

	before := r.VerifiedHead(t)
	r.Reports(t, storetest.One(storetest.Said("next", "The next message.", "b2")))
	r.WantStates(t, storetest.CallIDs(1, 5), "cancelled/run_ended done", "approved/reviewer closed by run", "cancelled/run_ended closed by run", "cancelled/run_ended closed by run", "queued")
	r.WantActions(t, before, "approval.cancelled", "approval.cancelled", "approval.cancelled", "run.reported")
	for _, a := range []*models.Approval{waits, ran} {
		if got, err := r.Await(t.Context(), r.Agent, a.ID, time.Minute); err != nil || got.Status() != models.StatusCancelled || got.Cause != models.CauseRunEnded {
			t.Errorf("told %+v, %v", got, err)
		}
	}
	if page, err := r.Requests.Inbox(t.Context(), r.Owner, requests.InboxQuery{}); err != nil || len(page.Items) > 0 {
		t.Errorf("still in the inbox: %+v, %v", page.Items, err)
	}
	// A result after all is taken.
	r.Reports(t, []models.RunEvent{storetest.Gave("c2", "late"), storetest.Queued("c6", "Bash", `{}`, "b2")})
	r.WantStates(t, []string{"c2", "c6"}, "approved/reviewer done", "queued")
}

func TestAnOldCallReportedAgainClosesNothing(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	old, now := storetest.Queued("c1", "Bash", `{}`, "b1"), storetest.Queued("c2", "Bash", `{}`, "b2")
	r.Reports(t, []models.RunEvent{old, storetest.Gave("c1", "ok"), now})
	again, otherwise := old, storetest.Queued("c1", "Bash", `{"n":1}`, "b1")
	again.ID, otherwise.ID = "again", "otherwise"
	r.Reports(t, []models.RunEvent{old, again, otherwise}, "repeated", "repeated", "conflict")
	r.WantStates(t, storetest.CallIDs(1, 2), "queued done", "queued")
}

func TestASubAgentClosesItsOwnOnly(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	sub := func(of string, e models.RunEvent) models.RunEvent { e.ParentToolUseID = of; return e }
	r.Reports(t, []models.RunEvent{
		storetest.Queued("task1", "Task", `{}`, "m1"), storetest.Queued("task2", "Task", `{}`, "m1"),
		sub("task1", storetest.Queued("a1", "Bash", `{}`, "s1")), sub("task2", storetest.Queued("b1", "Bash", `{}`, "t1")),
		sub("task1", storetest.Said("r", "Next.", "s2")), sub("task1", storetest.Queued("a2", "Bash", `{}`, "s2")),
	})
	all := []string{"task1", "task2", "a1", "b1", "a2"}
	r.WantStates(t, all, "queued", "queued", "queued closed by run", "queued", "queued")
	if _, d := r.Row(t, "a2"); d.ParentToolUseID != "task1" || d.Place != 1 || d.Of != 1 {
		t.Errorf("of a sub-agent: %+v", d)
	}
	r.Reports(t, storetest.One(storetest.Said("main", "Meanwhile.", "m2")))
	r.WantStates(t, all, "queued closed by run", "queued closed by run", "queued closed by run", "queued", "queued")
	r.Reports(t, storetest.One(storetest.StatusEvent("end", models.ConversationCompleted)))
	r.WantStates(t, all, "queued closed by run", "queued closed by run", "queued closed by run", "queued closed by run", "queued closed by run")
}

func TestTheEndOfARunClosesAllThatIsOpen(t *testing.T) {
	t.Parallel()
	for _, end := range []models.ConversationStatus{models.ConversationCompleted, models.ConversationFailed} {
		t.Run(string(end), func(t *testing.T) {
			t.Parallel()
			r := newTrace(t, "")
			r.Reports(t, []models.RunEvent{storetest.Queued("c1", "Bash", `{}`, "b1"), storetest.Queued("c2", "Bash", `{}`, ""), storetest.Queued("c3", "Bash", `{}`, "b1"), storetest.Gave("c3", "ok")})
			r.Asks(t, "c1", "Bash", `{}`)
			unreported := r.Asks(t, "c4", "Bash", `{}`)
			expired := r.AskFor(t, models.AskInput{RunID: "run", ToolUseID: "c5", TimeoutSeconds: new(int64(1))})
			question := r.AskFor(t, models.AskInput{RunID: "run", Kind: models.KindQuestion, Input: []byte(`{"q":1}`)})
			proposal, err := r.Respond(t.Context(), r.Agent, models.ResponseInput{ConversationID: r.Conv, Kind: models.KindProposal, Content: "Shall I?"})
			if err != nil {
				t.Fatal(err)
			}
			if v := r.ReadConversation(t, r.Conv); v.Status != models.ConversationWaitingInput {
				t.Fatalf("status %s", v.Status)
			}
			r.Clock.Step(2 * time.Second)
			before := r.VerifiedHead(t)
			e := storetest.StatusEvent("end", end)
			e.Content = "Why it ended."
			out := r.Reports(t, storetest.One(e))
			if v := r.ReadConversation(t, r.Conv); v.Status != end || v.Pending != 0 {
				t.Errorf("the run is %s, %d are pending", v.Status, v.Pending)
			}
			r.WantStates(t, storetest.CallIDs(1, 3), "cancelled/run_ended closed by run", "queued closed by run", "queued done")
			for id, want := range map[models.ResponseID]models.Status{
				unreported.ID: models.StatusCancelled, expired.ID: models.StatusExpired, question.ID: models.StatusCancelled, proposal.ID: models.StatusCancelled,
			} {
				if a, err := r.Requests.Approval(t.Context(), r.Agent, id); err != nil || a.Status() != want {
					t.Errorf("%s is %s (%s), %v; want %s", a.Kind, a.Status(), a.Cause, err, want)
				}
			}
			// Its status changes once, whatever is settled on the way.
			got := r.Actions(t, before)
			if n := len(slices.DeleteFunc(slices.Clone(got), func(s string) bool { return s != "conversation.status" })); n != 1 || got[0] != "conversation.status" {
				t.Errorf("the ledger tells %q", got)
			}
			if why, err := r.Requests.Entry(t.Context(), r.Owner, out[0].ResponseID); err != nil || why.Content != "Why it ended." || why.Kind != models.KindReply {
				t.Errorf("why it ended was lost: %+v, %v", why, err)
			}
			// An agent that takes its run up again is believed.
			r.Reports(t, storetest.One(storetest.StatusEvent("again", models.ConversationRunning)))
			if v := r.ReadConversation(t, r.Conv); v.Status != models.ConversationRunning {
				t.Errorf("taken up again it is %s", v.Status)
			}
		})
	}
}

func TestARunWaitsWhileSomebodyIsWaitedFor(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	proposal, err := r.Respond(t.Context(), r.Agent, models.ResponseInput{ConversationID: r.Conv, Kind: models.KindProposal, Content: "Shall I?"})
	if err != nil {
		t.Fatal(err)
	}
	r.Reports(t, storetest.One(storetest.StatusEvent("s1", models.ConversationRunning)))
	if v := r.ReadConversation(t, r.Conv); v.Status != models.ConversationWaitingInput {
		t.Errorf("it is %s while a proposal waits", v.Status)
	}
	if _, err := r.Decide(t.Context(), r.Owner, proposal.ID, models.DecisionInput{Approved: new(true), Digest: proposal.Digest}); err != nil {
		t.Fatal(err)
	}
	if v := r.ReadConversation(t, r.Conv); v.Status != models.ConversationRunning {
		t.Errorf("it is %s when nothing waits any more", v.Status)
	}
	r.Reports(t, storetest.One(storetest.StatusEvent("s2", models.ConversationWaitingInput)))
	if v := r.ReadConversation(t, r.Conv); v.Status != models.ConversationWaitingInput {
		t.Errorf("it is %s although the agent says that it waits", v.Status)
	}
}

func TestAPersonClosesAStuckCall(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	out := r.Reports(t, []models.RunEvent{storetest.Queued("c1", "Bash", `{}`, "b"), storetest.Queued("c2", "Bash", `{}`, "b"), storetest.Gave("c2", "ok"), storetest.Queued("c3", "Bash", `{}`, "b"), storetest.Said("r", "a", "b")})
	stuck, done := out[0].ResponseID, out[1].ResponseID
	waits := r.Asks(t, "c3", "Bash", `{}`)
	for _, tt := range []struct {
		who  models.Actor
		id   models.ResponseID
		want models.Code
	}{
		{r.Agent, stuck, models.CodeForbidden},
		{r.Stranger, stuck, models.CodeNotFound},
		{r.Owner, models.NewID[models.ResponseID](), models.CodeNotFound},
		{r.Owner, done, models.CodeAlreadyDecided},
		{r.Owner, waits.ID, models.CodeWrongDecisionKind},
		{r.Owner, out[4].ResponseID, models.CodeWrongDecisionKind},
	} {
		storetest.WantUnchanged(t, r.Store, tt.want, func() error { return storetest.Err(r.CloseCall(t.Context(), tt.who, tt.id)) })
	}
	before := r.VerifiedHead(t)
	if a, err := r.CloseCall(t.Context(), r.Owner, stuck); err != nil || !a.IsCompleted || a.Closed != models.ClosedByOwner {
		t.Errorf("closed: %+v, %v", a, err)
	}
	r.WantActions(t, before, "call.closed")
	r.WantStates(t, storetest.CallIDs(1, 1), "queued closed by owner")
	dump := storetest.Dump(t, r.Store)
	if _, err := r.CloseCall(t.Context(), r.Admin, stuck); err != nil || storetest.Dump(t, r.Store) != dump {
		t.Errorf("closing again: %v", err)
	}
	r.Reports(t, storetest.One(storetest.Gave("c1", "after all")))
	r.WantStates(t, storetest.CallIDs(1, 1), "queued done")
	storetest.Refused(t, storetest.Err(r.CloseCall(t.Context(), r.Owner, stuck)), models.CodeAlreadyDecided)
}

func TestRunsKnowTheirFamily(t *testing.T) {
	t.Parallel()
	b := storetest.NewBench(t)
	colleague, _ := storetest.AgentToken(t, b.Store, b.Owner, "colleague")
	parent := open(t, b, models.RunInput{RunID: "p", Title: "Parent"})
	var children []models.ConversationID
	for _, run := range []string{"k1", "k2", "k3"} {
		b.Clock.Step(time.Second)
		who := b.Agent
		if run == "k2" {
			who = colleague
		}
		c, _, err := b.OpenRun(t.Context(), who, models.RunInput{RunID: run, ParentRunID: "p"})
		if err != nil {
			t.Fatal(err)
		}
		children = append(children, c.ID)
	}
	if _, _, err := b.OpenRun(t.Context(), b.Other, models.RunInput{RunID: "foreign", ParentRunID: "p"}); err != nil {
		t.Fatal(err)
	}
	for who, want := range map[*models.Actor][]models.ConversationID{&b.Owner: children, &b.Admin: children, &b.Agent: {children[0], children[2]}} {
		up, down, err := b.Requests.Family(t.Context(), *who, parent.Conv)
		var got []models.ConversationID
		for _, l := range down {
			got = append(got, l.ID)
		}
		if err != nil || up != nil || !slices.Equal(got, want) {
			t.Errorf("%s sees %v and %v, %v; want %v", who.Name, up, got, err, want)
		}
	}
	up, down, err := b.Requests.Family(t.Context(), b.Owner, children[1])
	if err != nil || up == nil || up.ID != parent.Conv || up.Title != "Parent" || up.RunID != "p" || up.AgentName != "bot" || len(down) > 0 {
		t.Errorf("of a child: %+v, %+v, %v", up, down, err)
	}
	if up, _, err := b.Requests.Family(t.Context(), colleague, children[1]); err != nil || up != nil {
		t.Errorf("an agent sees another's run: %+v, %v", up, err)
	}
	storetest.Refused(t, storetest.Err3(b.Requests.Family(t.Context(), b.Stranger, parent.Conv)), models.CodeNotFound)
}
