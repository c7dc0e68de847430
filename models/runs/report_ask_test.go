package runs_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/ledger"
	"countersign/models/requests"
	"countersign/models/storetest"
)

func TestAnAskAndItsEventAreOneRow(t *testing.T) {
	t.Parallel()
	const input = `{"command":"ls"}`
	chosen := string(models.NewID[models.ResponseID]())
	for name, ask := range map[string]models.AskInput{
		"by run":                           {RunID: "run"},
		"by session":                       {Session: "run"},
		"with an approvalId of its own":    {RunID: "run", ApprovalID: chosen},
		"that names no run":                {},
		"that names no run, but has an id": {ApprovalID: chosen},
	} {
		ask.ToolUseID, ask.ToolName, ask.Input, ask.Explicit = "c1", "Bash", []byte(`{"command" : "ls"}`), true
		event := storetest.Queued("c1", "Bash", input, "b1")
		check := func(t *testing.T, r *trace, asked *models.Approval) {
			t.Helper()
			a, d := r.Row(t, "c1")
			if r.Rows(t, "c1") != 1 || a.ID != asked.ID || a.ConversationID != r.Conv || a.Status() != models.StatusPending || a.BatchID == nil || *a.BatchID != "b1" || d.Place != 1 || a.Energy != 1 {
				t.Errorf("the row is %+v, %+v", a.Response, d)
			}
			repeat := ask
			repeat.AcceptsEdits = true // as the first one did
			again, err := r.Ask(t.Context(), r.Agent, repeat)
			if err != nil || again.ID != a.ID || again.Status() != models.StatusPending {
				t.Errorf("I9: asked again: %+v, %v", again, err)
			}
			r.Reports(t, storetest.One(event), models.RunEventRepeated)
			if _, err := r.Decide(t.Context(), r.Owner, a.ID, models.DecisionInput{Approved: new(true), Digest: a.Digest}); err != nil {
				t.Fatal(err)
			}
			if got, err := r.Await(t.Context(), r.Agent, asked.ID, time.Minute); err != nil || got.Status() != models.StatusApproved {
				t.Errorf("told %+v, %v", got, err)
			}
			r.Reports(t, storetest.One(storetest.Gave("c1", "ok")))
			r.WantStates(t, storetest.CallIDs(1, 1), "approved/reviewer done")
			r.WantEnergyAddsUp(t)
			if v := r.ReadConversation(t, r.Conv); v.EnergyUsed != 1 {
				t.Errorf("the run has spent %d, want 1", v.EnergyUsed)
			}
		}
		t.Run("event first, ask "+name, func(t *testing.T) {
			t.Parallel()
			r := newTrace(t, "")
			out := r.Reports(t, storetest.One(event))
			before := r.VerifiedHead(t)
			asked := r.AskFor(t, ask)
			if asked.ID != out[0].ResponseID {
				t.Errorf("the ask is %s, the event %s", asked.ID, out[0].ResponseID)
			}
			r.WantActions(t, before, "approval.requested")
			check(t, r, asked)
		})
		t.Run("ask first "+name, func(t *testing.T) {
			t.Parallel()
			r := newTrace(t, "")
			asked := r.AskFor(t, ask)
			if ask.ApprovalID != "" && string(asked.ID) != ask.ApprovalID {
				t.Errorf("asked as %s, want %s", asked.ID, ask.ApprovalID)
			}
			before := r.VerifiedHead(t)
			if out := r.Reports(t, storetest.One(event)); out[0].ResponseID != asked.ID {
				t.Errorf("the event is %s, the ask %s", out[0].ResponseID, asked.ID)
			}
			if ask.RunID == "" && ask.Session == "" {
				r.WantActions(t, before, "response.adopted", "run.reported")
			} else {
				r.WantActions(t, before, "run.reported")
			}
			check(t, r, asked)
		})
	}
}

func TestAnAskAgainstItsEventIsRefusedAndTheOtherWayRoundRecorded(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	r.Reports(t, storetest.One(storetest.Queued("c1", "Bash", `{"n":1}`, "b")))
	storetest.WantUnchanged(t, r.Store, models.CodeKeyConflict, func() error {
		return storetest.Err(r.Ask(t.Context(), r.Agent, models.AskInput{RunID: "run", ToolUseID: "c1", ToolName: "Bash", Input: []byte(`{"n":2}`)}))
	})
	asked := r.Asks(t, "c2", "Bash", `{"n":1}`)
	r.Reports(t, storetest.One(storetest.Queued("c2", "Bash", `{"n":2}`, "b")), models.RunEventConflict)
	a, d := r.Row(t, "c2")
	if a.ID != asked.ID || a.Digest != asked.Digest || a.ToolInputJSON != `{"n":1}` || d.Contradiction == "" || d.BatchID != "b" || a.Status() != models.StatusPending {
		t.Errorf("the ask stands as %+v, %+v", a.Response, d)
	}
}

// TestI11WhatIsOnlyReportedIsNoApproval: nobody may take a call that was reported
// and not asked about for one that was let through.
func TestI11WhatIsOnlyReportedIsNoApproval(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	out := r.Reports(t, []models.RunEvent{storetest.Queued("c1", "Bash", `{}`, "b"), storetest.Said("r", "I will.", "b")})
	for _, e := range out {
		for _, who := range []models.Actor{r.Agent, r.Owner, r.Admin} {
			storetest.Refused(t, storetest.Err(r.Requests.Approval(t.Context(), who, e.ResponseID)), models.CodeNotFound)
			storetest.Refused(t, storetest.Err(r.Await(t.Context(), who, e.ResponseID, time.Hour)), models.CodeNotFound)
			for _, session := range []string{"", "run", string(r.Conv)} {
				storetest.Refused(t, storetest.Err(r.FindInvocation(t.Context(), who, "c1", session)), models.CodeNotFound)
			}
			for _, s := range []models.Status{models.StatusNone, models.StatusApproved, models.StatusPending} {
				for _, q := range []requests.ListQuery{{Status: s}, {Status: s, Conversation: r.Conv}} {
					if list, err := r.Requests.Approvals(t.Context(), who, q); err != nil || len(list.Items) > 0 {
						t.Errorf("listed for %s as %q: %+v, %v", who.Kind, s, list.Items, err)
					}
				}
			}
			if e, err := r.Requests.Entry(t.Context(), who, e.ResponseID); err != nil || e.Status() != models.StatusNone {
				t.Errorf("as an entry: %+v, %v", e, err)
			}
		}
		storetest.Refused(t, storetest.Err(r.Decide(t.Context(), r.Owner, e.ResponseID, storetest.Yes())), models.CodeNotFound)
		storetest.Refused(t, storetest.Err(r.Cancel(t.Context(), r.Agent, e.ResponseID)), models.CodeNotFound)
		storetest.Refused(t, storetest.Err(r.Requests.Entry(t.Context(), r.Stranger, e.ResponseID)), models.CodeNotFound)
		storetest.Refused(t, storetest.Err(r.Requests.Entry(t.Context(), r.Other, e.ResponseID)), models.CodeNotFound)
	}
	storetest.Refused(t, storetest.Err(r.Requests.CallResult(t.Context(), r.Stranger, out[0].ResponseID)), models.CodeNotFound)
	storetest.Refused(t, storetest.Err(r.Requests.RunDetails(t.Context(), r.Stranger, r.Conv, 0, 10)), models.CodeNotFound)
}

func TestAReportedCallIsJudgedWhenTheAgentAsks(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	r.UsePolicy(t, `{"rules":[{"name":"reads","tools":["Read"],"effect":"allow"},{"name":"never","tools":["Rm"],"effect":"deny","reason":"Not here."},
 {"name":"dear","tools":["Deploy"],"effect":"require","energy":7,"timeout_minutes":30,"risk":"high"}]}`)
	r.Reports(t, []models.RunEvent{storetest.Queued("c1", "Read", `{}`, "b"), storetest.Queued("c2", "Rm", `{}`, "b"), storetest.Queued("c3", "Deploy", `{}`, "b"), storetest.Queued("c4", "Bash", `{}`, "b")})
	for i, tool := range []string{"Read", "Rm", "Deploy"} {
		before := r.VerifiedHead(t)
		a := r.Asks(t, storetest.CallIDs(i+1, i+1)[0], tool, `{}`)
		r.WantActions(t, before, []string{"approval.let_through", "approval.rejected", "approval.requested"}[i])
		if a.Sequence != int64(i+1) {
			t.Errorf("the call lost its place: %d", a.Sequence)
		}
	}
	r.WantStates(t, storetest.CallIDs(1, 4), "queued/policy", "rejected/policy", "pending", "queued")
	a, _ := r.Row(t, "c3")
	if a.Risk != models.RiskHigh || a.PolicyRule != "dear" || a.Energy != 7 || a.ApprovalTimeoutAt.Sub(r.Clock.Now()) != 30*time.Minute {
		t.Errorf("judged as %+v", a.Response)
	}
	page, err := r.Requests.Inbox(t.Context(), r.Owner, requests.InboxQuery{})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != a.ID {
		t.Errorf("inbox: %+v, %v", page.Items, err)
	}
	r.WantEnergyAddsUp(t)
	if v := r.ReadConversation(t, r.Conv); v.EnergyUsed != 9 {
		t.Errorf("spent %d, want 9", v.EnergyUsed)
	}
}

func TestI14AReportedCallIsAskedAboutWithinTheBudget(t *testing.T) {
	t.Parallel()
	b := storetest.NewBench(t)
	r := open(t, b, models.RunInput{RunID: "run", EnergyBudget: new(int64(1))})
	r.Reports(t, []models.RunEvent{storetest.Queued("c1", "Bash", `{}`, "b"), storetest.Queued("c2", "Bash", `{}`, "b")})
	r.Asks(t, "c1", "Bash", `{}`)
	ask := models.AskInput{RunID: "run", ToolUseID: "c2", ToolName: "Bash", Explicit: true}
	e := storetest.Refused(t, storetest.Err(r.Ask(t.Context(), r.Agent, ask)), models.CodeBudgetExhausted)
	if e.Approval == nil || e.Approval.Status() != models.StatusPending {
		t.Fatalf("refused with %+v", e.Approval)
	}
	r.WantStates(t, storetest.CallIDs(1, 2), "pending", "queued")
	if _, err := r.Decide(t.Context(), r.Owner, e.Approval.ID, models.DecisionInput{Approved: new(true), Digest: e.Approval.Digest}); err != nil {
		t.Fatal(err)
	}
	if a, err := r.Ask(t.Context(), r.Agent, ask); err != nil || a.Status() != models.StatusPending {
		t.Errorf("after the grant: %+v, %v", a, err)
	}
	r.WantEnergyAddsUp(t)
}

func TestAdoptionTakesTheRequestOutOfTheOwnConversation(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name                string
		budget              *int64
		cost                int64
		inRun, inStanding   int64
		rowEnergy, turnHeld int64
	}{
		{"what it cost moves", nil, 5, 5, 3, 5, 0},
		{"what it cost fits the budget", new(int64(5)), 5, 5, 3, 5, 0},
		{"what it cost does not fit, and stays", new(int64(4)), 5, 0, 8, 0, 5},
		{"it cost nothing", new(int64(0)), 0, 0, 3, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := storetest.NewBench(t)
			other := b.AskFor(t, models.AskInput{ToolUseID: "other", Energy: new(int64(3))})
			a := b.AskFor(t, models.AskInput{ToolUseID: "c1", Energy: &tt.cost, Input: []byte(`{"n":1}`)})
			r := open(t, b, models.RunInput{RunID: "run", EnergyBudget: tt.budget})
			r.Reports(t, storetest.One(storetest.Said("r", "First.", "b")))
			before := r.VerifiedHead(t)
			r.Reports(t, storetest.One(storetest.Queued("c1", "Bash", `{"n":1}`, "b")))
			r.WantActions(t, before, "response.adopted", "run.reported")
			got, d := r.Row(t, "c1")
			if got.ID != a.ID || got.Sequence <= 1 || got.Energy != tt.rowEnergy || d.BatchID != "b" || got.RunID == nil || *got.RunID != "run" {
				t.Errorf("adopted as %+v", got.Response)
			}
			r.WantEnergyAddsUp(t)
			run, standing := r.ReadConversation(t, r.Conv), r.ReadConversation(t, other.ConversationID)
			if run.EnergyUsed != tt.inRun || standing.EnergyUsed != tt.inStanding {
				t.Errorf("the run has spent %d, the standing conversation %d; want %d, %d", run.EnergyUsed, standing.EnergyUsed, tt.inRun, tt.inStanding)
			}
			points, err := b.EnergyOf(t.Context(), b.Owner, other.ConversationID, 10)
			if err != nil || len(points) == 0 || points[len(points)-1].Used != tt.inStanding {
				t.Errorf("the burn chart of the standing conversation ends with %+v, %v", points, err)
			}
			entry, err := r.Ledger.Page(t.Context(), r.Admin, ledger.Query{Action: "response.adopted"})
			if err != nil || len(entry.Entries) != 1 || entry.Entries[0].ResponseID != a.ID || entry.Entries[0].ConversationID != r.Conv || !strings.Contains(entry.Entries[0].Data, string(other.ConversationID)) {
				t.Errorf("the ledger tells %+v, %v", entry.Entries, err)
			}
			if _, err := r.Decide(t.Context(), r.Owner, a.ID, storetest.Yes()); err != nil {
				t.Errorf("decide what was adopted: %v", err)
			}
			if again := b.AskFor(t, models.AskInput{ToolUseID: "c1", Input: []byte(`{"n":1}`)}); again.ID != a.ID || again.Status() != models.StatusApproved {
				t.Errorf("I9: asked again without a run: %+v", again)
			}
		})
	}
}

func TestOnlyTheSameCallOfTheSameAgentIsAdopted(t *testing.T) {
	t.Parallel()
	b := storetest.NewBench(t)
	colleague, _ := storetest.AgentToken(t, b.Store, b.Owner, "colleague")
	otherInput := b.AskFor(t, models.AskInput{ToolUseID: "c1", Input: []byte(`{"n":1}`)})
	otherAgent, err := b.Ask(t.Context(), colleague, models.AskInput{ToolUseID: "c2", ToolName: "Bash", Explicit: true})
	if err != nil {
		t.Fatal(err)
	}
	inRun := b.AskFor(t, models.AskInput{RunID: "another", ToolUseID: "c3", Input: []byte(`{}`)})
	r := open(t, b, models.RunInput{RunID: "run"})
	r.Reports(t, []models.RunEvent{storetest.Queued("c1", "Bash", `{"n":2}`, "b"), storetest.Queued("c2", "Bash", `{}`, "b"), storetest.Queued("c3", "Bash", `{}`, "b")})
	r.WantStates(t, storetest.CallIDs(1, 3), "queued", "queued", "queued")
	for _, a := range []*models.Approval{otherInput, otherAgent, inRun} {
		if got, err := r.Requests.Approval(t.Context(), r.Admin, a.ID); err != nil || got.ConversationID != a.ConversationID || got.ReportedAt != nil {
			t.Errorf("%s was moved: %+v, %v", *a.ToolUseID, got.Response, err)
		}
	}
	// What is reported in the standing conversation itself has its row there.
	standing := storetest.TraceOf(b, otherInput.ConversationID)
	if out := standing.Reports(t, storetest.One(storetest.Queued("c1", "Bash", `{"n":1}`, "b"))); out[0].ResponseID != otherInput.ID {
		t.Errorf("reported as %+v", out[0])
	}
}

func TestAskingAboutAClosedCallGoesOnWithIt(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	r.Reports(t, []models.RunEvent{storetest.Queued("c1", "Bash", `{}`, "b1"), storetest.Said("r", "Next.", "b2")})
	r.WantStates(t, storetest.CallIDs(1, 1), "queued closed by run")
	r.Asks(t, "c1", "Bash", `{}`)
	r.WantStates(t, storetest.CallIDs(1, 1), "pending")
}
