package store_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/requests"
	"countersign/models/storetest"
)

// What a stopped agent asks is rejected, whatever the policy, a pre-approval or the switched
// off gate would say, and what waited is cancelled; other agents go on.
func TestAStoppedAgentGetsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	other, _ := storetest.AgentToken(t, b.Store, b.Owner, "other")
	b.UsePolicy(t, `{"rules":[{"name":"reading","tools":["Read"],"effect":"allow"}],"undo_seconds":{"low":0,"medium":60,"high":0,"critical":0}}`)
	waits := b.AskFor(t, models.AskInput{ToolName: "pay"})
	held := b.AskFor(t, models.AskInput{ToolName: "pay"})
	approved := storetest.Yes()
	got, err := b.Decide(t.Context(), b.Owner, held.ID, approved)
	storetest.Must(t, err)
	if got.HeldUntil == nil {
		t.Fatal("nothing holds the approval")
	}
	theirs, err := b.Ask(t.Context(), other, models.AskInput{ToolName: "pay", Explicit: true})
	storetest.Must(t, err)

	before := storetest.LedgerAt(t, b.Store)
	stop, n, err := b.Stop(t.Context(), b.Owner, b.Agent.AgentID(), " It deletes things ")
	storetest.Must(t, err)
	if n != 2 || stop.Note != "It deletes things" || stop.ByID != b.Owner.UserID() {
		t.Errorf("%d cancelled by %+v", n, stop)
	}
	b.WantActions(t, before, "agents.stopped", "approval.cancelled", "approval.cancelled")
	for _, id := range []models.ResponseID{waits.ID, held.ID} {
		a, err := b.Requests.Approval(t.Context(), b.Agent, id)
		storetest.Must(t, err)
		if a.Status() != models.StatusCancelled || a.Cause != models.CauseStopped || !strings.Contains(a.Feedback(), "It deletes things") {
			t.Errorf("what waited is %s by %s: %s", a.Status(), a.Cause, a.Feedback())
		}
	}
	if a, err := b.Requests.Approval(t.Context(), other, theirs.ID); err != nil || a.Status() != models.StatusPending {
		t.Errorf("the other agent's is %s (%v)", a.Status(), err)
	}
	for name, in := range map[string]models.AskInput{
		"allowed": {ToolName: "Read"}, "unmatched": {ToolName: "x"}, "explicit": {ToolName: "pay", Explicit: true}, "a question": {Kind: models.KindQuestion, Explanation: models.Explanation{Description: "May I?"}},
	} {
		a, err := b.Ask(t.Context(), b.Agent, in)
		storetest.Must(t, err)
		if a.Status() != models.StatusRejected || a.Cause != models.CauseStopped || a.Feedback() != stop.Text() {
			t.Errorf("%s is %s by %q: %s", name, a.Status(), a.Cause, a.Feedback())
		}
	}
	conversation := models.NewID[models.ConversationID]()
	proposal, err := b.Respond(t.Context(), b.Agent, models.ResponseInput{ConversationID: conversation, Kind: models.KindProposal, Content: "Delete the logs"})
	storetest.Must(t, err)
	if proposal.Status() != models.StatusRejected || proposal.Cause != models.CauseStopped {
		t.Errorf("a proposal is %s by %q", proposal.Status(), proposal.Cause)
	}
	if _, err := b.Respond(t.Context(), b.Agent, models.ResponseInput{ConversationID: conversation, Kind: models.KindReply, Content: "I am stopped."}); err != nil {
		t.Errorf("a reply asks for nothing, and is refused: %v", err)
	}
	b.UsePolicy(t, `{"approval_enabled":false}`)
	if a := b.tried(t, models.AskInput{ToolName: "Read"}); a.Status() != models.StatusRejected || a.Cause != models.CauseStopped {
		t.Errorf("with the gate off it is %s by %q", a.Status(), a.Cause)
	}
	if a, err := b.Ask(t.Context(), other, models.AskInput{ToolName: "Read"}); err != nil || a.Status() != models.StatusNone {
		t.Errorf("the other agent: %v, %v", a, err)
	}

	storetest.Must(t, b.Lift(t.Context(), b.Owner, stop.ID, "Mended"))
	if a := b.tried(t, models.AskInput{ToolName: "Read"}); a.Status() != models.StatusNone {
		t.Errorf("after the stop was lifted it is %s", a.Status())
	}
	wantCode(t, b.Lift(t.Context(), b.Owner, stop.ID, "Again"), models.CodeNotFound)
	storetest.CheckRows(t, b.Store)
}

// A stop of all agents stops every one, and those that are registered later.
func TestAStopOfAllAgents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for range 300 { // more than are withdrawn at once
		b.AskFor(t, models.AskInput{ToolName: "pay"})
	}
	stop, n, err := b.Stop(t.Context(), b.Admin, "", "Incident 12")
	storetest.Must(t, err)
	if n != 300 || !stop.All() {
		t.Errorf("%d cancelled by %+v", n, stop)
	}
	late, _ := storetest.AgentToken(t, b.Store, b.Stranger, "late")
	if a, err := b.Ask(t.Context(), late, models.AskInput{ToolName: "x"}); err != nil || a.Cause != models.CauseStopped {
		t.Errorf("%+v, %v", a, err)
	}
	wantCode(t, second3(b.Stop(t.Context(), b.Admin, "", "Again")), models.CodeConflict)
	one, _, err := b.Stop(t.Context(), b.Owner, b.Agent.AgentID(), "Mine too")
	storetest.Must(t, err)
	storetest.Must(t, b.Lift(t.Context(), b.Admin, stop.ID, "Over"))
	if a := b.tried(t, models.AskInput{ToolName: "x"}); a.Cause != models.CauseStopped || a.Feedback() != one.Text() {
		t.Errorf("its own stop is lifted with that of all: %s by %q", a.Status(), a.Cause)
	}
	again := storetest.Again(t, b.Store)
	if a, err := again.Ask(t.Context(), b.Agent, models.AskInput{ToolName: "x"}); err != nil || a.Cause != models.CauseStopped {
		t.Errorf("after a restart: %v, %v", a, err)
	}
}

// Nothing of a stopped agent is approved though the server ended between the stop and the
// withdrawals: not by a person, and not by the end of an undo window. What is left is
// withdrawn later.
func TestNothingOfAStoppedAgentIsApproved(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	s := storetest.New(t, storetest.WithClock(clock))
	owner := storetest.Admin(t, s)
	agent, _ := storetest.AgentToken(t, s, owner, "builder")
	_, err := s.ApplyPolicy(t.Context(), owner, []byte(`{"undo_seconds":{"low":0,"medium":60,"high":0,"critical":0}}`), "", 0)
	storetest.Must(t, err)
	ask := func() *models.Approval {
		t.Helper()
		a, err := s.Ask(t.Context(), agent, models.AskInput{ToolName: "pay", Explicit: true})
		storetest.Must(t, err)
		return a
	}
	waits, refused, held := ask(), ask(), ask()
	_, err = s.Decide(t.Context(), owner, held.ID, storetest.Yes())
	storetest.Must(t, err)
	if n, err := s.CancelStopped(t.Context()); n != 0 || err != nil {
		t.Fatalf("%d withdrawn though nothing is stopped (%v)", n, err)
	}
	storetest.Elsewhere(t, s, `INSERT INTO stops (id, agent_id, note, at, by_id, by_name) VALUES ('s', ?, 'why', '2026-01-01 00:00:00+00:00', '', 'operator')`, agent.ID)
	storetest.Must(t, s.CheckOutside(t.Context()))

	wantCode(t, storetest.Err(s.Decide(t.Context(), owner, waits.ID, storetest.Yes())), models.CodeWrongDecisionKind)
	got, err := s.Decide(t.Context(), owner, refused.ID, storetest.No("stopped"))
	storetest.Must(t, err)
	if got.Status() != models.StatusRejected {
		t.Errorf("rejected, it is %s", got.Status())
	}
	clock.Step(61 * time.Second)
	if n, err := s.ReleaseDue(t.Context(), 10); n != 1 || err != nil {
		t.Errorf("%d windows ended (%v)", n, err)
	}
	if n, err := s.CancelStopped(t.Context()); n != 1 || err != nil {
		t.Errorf("%d withdrawn later (%v)", n, err)
	}
	if n, err := s.CancelStopped(t.Context()); n != 0 || err != nil {
		t.Errorf("%d withdrawn once more (%v)", n, err)
	}
	for _, id := range []models.ResponseID{waits.ID, held.ID} {
		a, err := s.Requests.Approval(t.Context(), owner, id)
		storetest.Must(t, err)
		if a.Status() != models.StatusCancelled || a.Cause != models.CauseStopped {
			t.Errorf("it is %s by %s", a.Status(), a.Cause)
		}
	}
	storetest.CheckRows(t, s)
}

// Who may stop what, and lift it.
func TestWhoMayStopAgents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.Agent.AgentID()
	wantCode(t, second3(b.Stop(t.Context(), b.Agent, id, "x")), models.CodeForbidden)
	wantCode(t, second3(b.Stop(t.Context(), b.Owner, "", "x")), models.CodeForbidden)
	wantCode(t, second3(b.Stop(t.Context(), b.Stranger, id, "x")), models.CodeNotFound)
	wantCode(t, second3(b.Stop(t.Context(), b.Admin, "0190f5a0-0000-7000-8000-000000000001", "x")), models.CodeNotFound)
	for _, note := range []string{"", "  ", strings.Repeat("x", models.MaxStopNote+1)} {
		wantCode(t, second3(b.Stop(t.Context(), b.Owner, id, note)), models.CodeInvalid)
	}
	stop, _, err := b.Stop(t.Context(), b.Admin, id, "By an admin")
	storetest.Must(t, err)
	wantCode(t, b.Lift(t.Context(), b.Owner, stop.ID, "x"), models.CodeForbidden)
	wantCode(t, b.Lift(t.Context(), b.Stranger, stop.ID, "x"), models.CodeNotFound)
	wantCode(t, b.Lift(t.Context(), b.Agent, stop.ID, "x"), models.CodeForbidden)
	wantCode(t, b.Lift(t.Context(), b.Admin, stop.ID, " "), models.CodeInvalid)
	for who, want := range map[*models.Actor]int{&b.Admin: 1, &b.Owner: 1, &b.Stranger: 0} {
		got, err := b.Stops(t.Context(), *who)
		if err != nil || len(got) != want || want == 1 && got[0].AgentName == "" {
			t.Errorf("%s sees %+v (%v)", who.Name, got, err)
		}
	}
	wantCode(t, storetest.Err(b.Stops(t.Context(), b.Agent)), models.CodeForbidden)
	storetest.Must(t, b.Lift(t.Context(), storetest.Operator(), stop.ID, "By the operator"))
	if got, err := b.Stops(t.Context(), b.Admin); err != nil || len(got) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func second3[A, B any](_ A, _ B, err error) error { return err }

// What was approved before a stop, and is not done, lets nothing run while the stop stands: not
// for who asks again, reads it, or waits for it. When the stop is lifted it does.
func TestAStoppedAgentCollectsNoApproval(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	in := models.AskInput{ToolName: "rm", ToolUseID: "c1", Explicit: true}
	a, err := b.Ask(t.Context(), b.Agent, in)
	storetest.Must(t, err)
	_, err = b.Decide(t.Context(), b.Owner, a.ID, models.DecisionInput{Approved: new(true), Digest: a.Digest})
	storetest.Must(t, err)
	mayRun := func(want bool) {
		t.Helper()
		again, err := b.Ask(t.Context(), b.Agent, in)
		storetest.Must(t, err)
		read, err := b.Requests.Approval(t.Context(), b.Agent, a.ID)
		storetest.Must(t, err)
		settled, err := b.Requests.Settled(t.Context(), b.Owner, requests.SettledQuery{})
		storetest.Must(t, err)
		if len(settled.Items) != 1 {
			t.Fatalf("%d settled", len(settled.Items))
		}
		for way, got := range map[string]*models.Approval{"asked again": again, "read": read, "listed": &settled.Items[0].Approval} {
			if got.ID != a.ID || got.Status() != models.StatusApproved || got.MayRun() != want || (got.Advice(got.Status()) == models.AdviceStopped) == want {
				t.Errorf("%s it is %s, may run %t, advice %q", way, got.Status(), got.MayRun(), got.Advice(got.Status()))
			}
		}
	}
	mayRun(true)
	for _, agent := range []models.AgentID{"", b.Agent.AgentID()} {
		stop, _, err := b.Stop(t.Context(), storetest.Operator(), agent, "enough")
		storetest.Must(t, err)
		mayRun(false)
		storetest.Must(t, b.Lift(t.Context(), storetest.Operator(), stop.ID, "go on"))
		mayRun(true)
	}
}

// What the page says that a stop cancels is what it cancels: not what expired, and what waits in its
// undo window too.
func TestAStopCancelsAsManyAsThePageSays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, `{"default_timeout_minutes":5,"undo_seconds":{"low":0,"medium":600,"high":0,"critical":0}}`)
	id := b.Agent.AgentID()
	b.AskFor(t, models.AskInput{ToolName: "late"})
	held := b.AskFor(t, models.AskInput{ToolName: "pay"})
	got, err := b.Decide(t.Context(), b.Owner, held.ID, storetest.Yes())
	storetest.Must(t, err)
	if got.HeldUntil == nil {
		t.Fatal("nothing holds the approval")
	}
	b.Clock.Step(5 * time.Minute)
	b.AskFor(t, models.AskInput{ToolName: "pay"})
	b.AskFor(t, models.AskInput{ToolName: "pay", Input: []byte(`{"n":2}`)})
	f, _ := b.figuresOf(t, b.Owner, id)
	all, err := b.AgentFigures(t.Context(), b.Admin, nil)
	storetest.Must(t, err)
	_, n, err := b.Stop(t.Context(), b.Owner, id, "It deletes things")
	storetest.Must(t, err)
	if n != 3 || f.Cancels != n || f.Pending != n || all.AllCancels != n {
		t.Errorf("%d cancelled; the agent's figures are %+v, those of all %d", n, f, all.AllCancels)
	}
	if f, _ := b.figuresOf(t, b.Owner, id); f.Cancels != 0 || f.Pending != 0 {
		t.Errorf("after the stop: %+v", f)
	}
}
