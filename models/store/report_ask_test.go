package store_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/ledger"
	"countersign/models/requests"
	"countersign/models/storetest"
)

// reports counts the responses of the run with a tool use id.
func (r *trace) rows(t *testing.T, use string) int {
	t.Helper()
	db := storetest.Tamper(t, r.Store)
	defer db.Close()
	n := 0
	if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM responses WHERE tool_use_id = ?`, use).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

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
		event := queued("c1", "Bash", input, "b1")
		check := func(t *testing.T, r *trace, asked *models.Approval) {
			t.Helper()
			a, d := r.row(t, "c1")
			if r.rows(t, "c1") != 1 || a.ID != asked.ID || a.ConversationID != r.conv || a.Status() != models.StatusPending || a.BatchID == nil || *a.BatchID != "b1" || d.Place != 1 || a.Energy != 1 {
				t.Errorf("the row is %+v, %+v", a.Response, d)
			}
			repeat := ask
			repeat.AcceptsEdits = true // as the first one did
			again, err := r.Ask(t.Context(), r.Agent, repeat)
			if err != nil || again.ID != a.ID || again.Status() != models.StatusPending {
				t.Errorf("I9: asked again: %+v, %v", again, err)
			}
			r.report(t, one(event), models.RunEventRepeated)
			if _, err := r.Decide(t.Context(), r.Owner, a.ID, models.DecisionInput{Approved: new(true), Digest: a.Digest}); err != nil {
				t.Fatal(err)
			}
			if got, err := r.Await(t.Context(), r.Agent, asked.ID, time.Minute); err != nil || got.Status() != models.StatusApproved {
				t.Errorf("told %+v, %v", got, err)
			}
			r.report(t, one(gave("c1", "ok")))
			r.wantStates(t, uses(1, 1), "approved/reviewer done")
			r.wantEnergyAddsUp(t)
			if v := r.full(t, r.conv); v.EnergyUsed != 1 {
				t.Errorf("the run has spent %d, want 1", v.EnergyUsed)
			}
		}
		t.Run("event first, ask "+name, func(t *testing.T) {
			t.Parallel()
			r := newTrace(t, "")
			out := r.report(t, one(event))
			before := r.head(t)
			asked := r.AskFor(t, ask)
			if asked.ID != out[0].ResponseID {
				t.Errorf("the ask is %s, the event %s", asked.ID, out[0].ResponseID)
			}
			r.wantActions(t, before, "approval.requested")
			check(t, r, asked)
		})
		t.Run("ask first "+name, func(t *testing.T) {
			t.Parallel()
			r := newTrace(t, "")
			asked := r.AskFor(t, ask)
			if ask.ApprovalID != "" && string(asked.ID) != ask.ApprovalID {
				t.Errorf("asked as %s, want %s", asked.ID, ask.ApprovalID)
			}
			before := r.head(t)
			if out := r.report(t, one(event)); out[0].ResponseID != asked.ID {
				t.Errorf("the event is %s, the ask %s", out[0].ResponseID, asked.ID)
			}
			if ask.RunID == "" && ask.Session == "" {
				r.wantActions(t, before, "response.adopted", "run.reported")
			} else {
				r.wantActions(t, before, "run.reported")
			}
			check(t, r, asked)
		})
	}
}

func TestAnAskAgainstItsEventIsRefusedAndTheOtherWayRoundRecorded(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	r.report(t, one(queued("c1", "Bash", `{"n":1}`, "b")))
	wantUnchanged(t, r.Store, models.CodeKeyConflict, func() error {
		return second(r.Ask(t.Context(), r.Agent, models.AskInput{RunID: "run", ToolUseID: "c1", ToolName: "Bash", Input: []byte(`{"n":2}`)}))
	})
	asked := r.asks(t, "c2", "Bash", `{"n":1}`)
	r.report(t, one(queued("c2", "Bash", `{"n":2}`, "b")), models.RunEventConflict)
	a, d := r.row(t, "c2")
	if a.ID != asked.ID || a.Digest != asked.Digest || a.ToolInputJSON != `{"n":1}` || d.Contradiction == "" || d.BatchID != "b" || a.Status() != models.StatusPending {
		t.Errorf("the ask stands as %+v, %+v", a.Response, d)
	}
}

// TestI11WhatIsOnlyReportedIsNoApproval: nobody may take a call that was reported
// and not asked about for one that was let through.
func TestI11WhatIsOnlyReportedIsNoApproval(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	out := r.report(t, []models.RunEvent{queued("c1", "Bash", `{}`, "b"), said("r", "I will.", "b")})
	for _, e := range out {
		for _, who := range []models.Actor{r.Agent, r.Owner, r.Admin} {
			wantCode(t, second(r.Requests.Approval(t.Context(), who, e.ResponseID)), models.CodeNotFound)
			wantCode(t, second(r.Await(t.Context(), who, e.ResponseID, time.Hour)), models.CodeNotFound)
			for _, session := range []string{"", "run", string(r.conv)} {
				wantCode(t, second(r.FindInvocation(t.Context(), who, "c1", session)), models.CodeNotFound)
			}
			for _, s := range []models.Status{models.StatusNone, models.StatusApproved, models.StatusPending} {
				for _, q := range []requests.ListQuery{{Status: s}, {Status: s, Conversation: r.conv}} {
					if list, err := r.Requests.Approvals(t.Context(), who, q); err != nil || len(list.Items) > 0 {
						t.Errorf("listed for %s as %q: %+v, %v", who.Kind, s, list.Items, err)
					}
				}
			}
			if e, err := r.Requests.Entry(t.Context(), who, e.ResponseID); err != nil || e.Status() != models.StatusNone {
				t.Errorf("as an entry: %+v, %v", e, err)
			}
		}
		wantCode(t, second(r.Decide(t.Context(), r.Owner, e.ResponseID, storetest.Yes())), models.CodeNotFound)
		wantCode(t, second(r.Cancel(t.Context(), r.Agent, e.ResponseID)), models.CodeNotFound)
		wantCode(t, second(r.Requests.Entry(t.Context(), r.Stranger, e.ResponseID)), models.CodeNotFound)
		wantCode(t, second(r.Requests.Entry(t.Context(), r.Other, e.ResponseID)), models.CodeNotFound)
	}
	wantCode(t, second(r.Requests.CallResult(t.Context(), r.Stranger, out[0].ResponseID)), models.CodeNotFound)
	wantCode(t, second(r.Requests.RunDetails(t.Context(), r.Stranger, r.conv, 0, 10)), models.CodeNotFound)
}

func TestAReportedCallIsJudgedWhenTheAgentAsks(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	r.UsePolicy(t, `{"rules":[{"name":"reads","tools":["Read"],"effect":"allow"},{"name":"never","tools":["Rm"],"effect":"deny","reason":"Not here."},
 {"name":"dear","tools":["Deploy"],"effect":"require","energy":7,"timeout_minutes":30,"risk":"high"}]}`)
	r.report(t, []models.RunEvent{queued("c1", "Read", `{}`, "b"), queued("c2", "Rm", `{}`, "b"), queued("c3", "Deploy", `{}`, "b"), queued("c4", "Bash", `{}`, "b")})
	for i, tool := range []string{"Read", "Rm", "Deploy"} {
		before := r.head(t)
		a := r.asks(t, uses(i+1, i+1)[0], tool, `{}`)
		r.wantActions(t, before, []string{"approval.let_through", "approval.rejected", "approval.requested"}[i])
		if a.Sequence != int64(i+1) {
			t.Errorf("the call lost its place: %d", a.Sequence)
		}
	}
	r.wantStates(t, uses(1, 4), "queued/policy", "rejected/policy", "pending", "queued")
	a, _ := r.row(t, "c3")
	if a.Risk != models.RiskHigh || a.PolicyRule != "dear" || a.Energy != 7 || a.ApprovalTimeoutAt.Sub(r.Clock.Now()) != 30*time.Minute {
		t.Errorf("judged as %+v", a.Response)
	}
	page, err := r.Requests.Inbox(t.Context(), r.Owner, requests.InboxQuery{})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != a.ID {
		t.Errorf("inbox: %+v, %v", page.Items, err)
	}
	r.wantEnergyAddsUp(t)
	if v := r.full(t, r.conv); v.EnergyUsed != 9 {
		t.Errorf("spent %d, want 9", v.EnergyUsed)
	}
}

func TestI14AReportedCallIsAskedAboutWithinTheBudget(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.open(t, models.RunInput{RunID: "run", EnergyBudget: new(int64(1))})
	r.report(t, []models.RunEvent{queued("c1", "Bash", `{}`, "b"), queued("c2", "Bash", `{}`, "b")})
	r.asks(t, "c1", "Bash", `{}`)
	ask := models.AskInput{RunID: "run", ToolUseID: "c2", ToolName: "Bash", Explicit: true}
	e := refusal(t, second(r.Ask(t.Context(), r.Agent, ask)), models.CodeBudgetExhausted)
	if e.Approval == nil || e.Approval.Status() != models.StatusPending {
		t.Fatalf("refused with %+v", e.Approval)
	}
	r.wantStates(t, uses(1, 2), "pending", "queued")
	if _, err := r.Decide(t.Context(), r.Owner, e.Approval.ID, models.DecisionInput{Approved: new(true), Digest: e.Approval.Digest}); err != nil {
		t.Fatal(err)
	}
	if a, err := r.Ask(t.Context(), r.Agent, ask); err != nil || a.Status() != models.StatusPending {
		t.Errorf("after the grant: %+v, %v", a, err)
	}
	r.wantEnergyAddsUp(t)
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
			b := newBench(t)
			other := b.AskFor(t, models.AskInput{ToolUseID: "other", Energy: new(int64(3))})
			a := b.AskFor(t, models.AskInput{ToolUseID: "c1", Energy: &tt.cost, Input: []byte(`{"n":1}`)})
			r := b.open(t, models.RunInput{RunID: "run", EnergyBudget: tt.budget})
			r.report(t, one(said("r", "First.", "b")))
			before := r.head(t)
			r.report(t, one(queued("c1", "Bash", `{"n":1}`, "b")))
			r.wantActions(t, before, "response.adopted", "run.reported")
			got, d := r.row(t, "c1")
			if got.ID != a.ID || got.Sequence <= 1 || got.Energy != tt.rowEnergy || d.BatchID != "b" || got.RunID == nil || *got.RunID != "run" {
				t.Errorf("adopted as %+v", got.Response)
			}
			r.wantEnergyAddsUp(t)
			run, standing := r.full(t, r.conv), r.full(t, other.ConversationID)
			if run.EnergyUsed != tt.inRun || standing.EnergyUsed != tt.inStanding {
				t.Errorf("the run has spent %d, the standing conversation %d; want %d, %d", run.EnergyUsed, standing.EnergyUsed, tt.inRun, tt.inStanding)
			}
			points, err := b.EnergyOf(t.Context(), b.Owner, other.ConversationID, 10)
			if err != nil || len(points) == 0 || points[len(points)-1].Used != tt.inStanding {
				t.Errorf("the burn chart of the standing conversation ends with %+v, %v", points, err)
			}
			entry, err := r.Ledger.Page(t.Context(), r.Admin, ledger.Query{Action: "response.adopted"})
			if err != nil || len(entry.Entries) != 1 || entry.Entries[0].ResponseID != a.ID || entry.Entries[0].ConversationID != r.conv || !strings.Contains(entry.Entries[0].Data, string(other.ConversationID)) {
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
	b := newBench(t)
	colleague, _ := storetest.AgentToken(t, b.Store, b.Owner, "colleague")
	otherInput := b.AskFor(t, models.AskInput{ToolUseID: "c1", Input: []byte(`{"n":1}`)})
	otherAgent, err := b.Ask(t.Context(), colleague, models.AskInput{ToolUseID: "c2", ToolName: "Bash", Explicit: true})
	if err != nil {
		t.Fatal(err)
	}
	inRun := b.AskFor(t, models.AskInput{RunID: "another", ToolUseID: "c3", Input: []byte(`{}`)})
	r := b.open(t, models.RunInput{RunID: "run"})
	r.report(t, []models.RunEvent{queued("c1", "Bash", `{"n":2}`, "b"), queued("c2", "Bash", `{}`, "b"), queued("c3", "Bash", `{}`, "b")})
	r.wantStates(t, uses(1, 3), "queued", "queued", "queued")
	for _, a := range []*models.Approval{otherInput, otherAgent, inRun} {
		if got, err := r.Requests.Approval(t.Context(), r.Admin, a.ID); err != nil || got.ConversationID != a.ConversationID || got.ReportedAt != nil {
			t.Errorf("%s was moved: %+v, %v", *a.ToolUseID, got.Response, err)
		}
	}
	// What is reported in the standing conversation itself has its row there.
	standing := &trace{bench: b, conv: otherInput.ConversationID}
	if out := standing.report(t, one(queued("c1", "Bash", `{"n":1}`, "b"))); out[0].ResponseID != otherInput.ID {
		t.Errorf("reported as %+v", out[0])
	}
}

func TestAskingAboutAClosedCallGoesOnWithIt(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	r.report(t, []models.RunEvent{queued("c1", "Bash", `{}`, "b1"), said("r", "Next.", "b2")})
	r.wantStates(t, uses(1, 1), "queued closed by run")
	r.asks(t, "c1", "Bash", `{}`)
	r.wantStates(t, uses(1, 1), "pending")
}
