package pages_test

import (
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages"
)

func talk(mend ...func(*models.ConversationView)) models.ConversationView {
	v := models.ConversationView{
		Conversation: models.Conversation{
			ID: conversationID, OwnerID: userID, AgentID: agentID, RunID: new("run-41"), Title: "Old logs", Status: models.ConversationRunning,
			NextSequence: 42, EnergyBudget: new(int64(100)), EnergyUsed: 62, EnergyReserved: 4,
			CreatedAt: now.Add(-3 * time.Hour), UpdatedAt: now.Add(-40 * time.Second),
		},
		AgentName: "release-bot", OwnerName: "Ada Berg",
	}
	for _, m := range mend {
		m(&v)
	}
	return v
}

func burn() []models.EnergyPoint {
	at := func(sequence, used int64, budget *int64) models.EnergyPoint {
		return models.EnergyPoint{Sequence: sequence, At: now.Add(time.Duration(sequence-42) * time.Minute), Used: used, Budget: budget}
	}
	return []models.EnergyPoint{
		at(1, 1, nil), at(2, 3, nil), at(3, 3, new(int64(50))), at(8, 12, new(int64(50))), at(15, 31, new(int64(50))),
		at(21, 44, new(int64(50))), at(22, 44, new(int64(100))), at(30, 51, new(int64(100))), at(41, 62, new(int64(100))),
	}
}

func budgetStepsOf() []models.BudgetStep {
	return []models.BudgetStep{
		{ConversationID: conversationID, Sequence: 22, At: now.Add(-20 * time.Minute), ActorKind: models.ActorUser, ActorName: "Bo Lind", Old: new(int64(50)), New: 100, Reason: "Four files are left,\nand they are large.", ResponseID: new(models.ResponseID("01890a5d-ac96-774b-bcce-b302099a8057"))},
		{ConversationID: conversationID, Sequence: 18, At: now.Add(-24 * time.Minute), ActorKind: models.ActorAgent, ActorName: "rele\u202ease-bot", Old: new(int64(80)), New: 50},
		{ConversationID: conversationID, Sequence: 9, At: now.Add(-40 * time.Minute), ActorKind: models.ActorSystem, ActorName: "policy", Old: new(int64(75)), New: 80, Reason: "The policy lets the system add up to 25 units (auto_budget_increase)."},
		{ConversationID: conversationID, Sequence: 3, At: now.Add(-50 * time.Minute), ActorKind: models.ActorUser, ActorName: "Ada Berg", New: 75},
	}
}

const planned = "# Delete old logs\n\nThe disk is **91 % full**. I would delete:\n\n| folder | size |\n|-|-:|\n| `/var/log/old` | 3.1 GB |\n| `/tmp` | 0.4 GB |\n\n1. make a list\n2. delete what is older than 30 days\n\nSee [the runbook](https://wiki.example.org/logs). <b>Nothing else</b>\u200b is touched.\n"

func plan(t *testing.T, mend ...func(*models.Approval)) models.Approval {
	t.Helper()
	a := call(t, models.ToolRespondWithApproval, `{}`)
	a.ID, a.Kind, a.Content, a.ToolInputJSON = "01890a5d-ac96-774b-bcce-b302099a8063", models.KindProposal, planned, ""
	a.ToolUseID, a.ApprovalTimeoutAt, a.EnergyBudget, a.ConversationTitle = nil, models.NoDeadline, new(int64(120)), "Old logs"
	for _, m := range mend {
		m(&a)
	}
	canonical, err := models.CanonicalContent(a.Kind, a.Content)
	if err != nil {
		t.Fatal(err)
	}
	a.Digest = models.Digest(canonical)
	return a
}

func wish(t *testing.T, sum int64) models.Approval {
	t.Helper()
	return call(t, models.ToolSetBudget, models.BudgetInput(sum), func(a *models.Approval) {
		a.ID, a.Kind, a.ToolUseID = "01890a5d-ac96-774b-bcce-b302099a8064", models.KindBudget, nil
		a.ApprovalTimeoutAt, a.ConversationTitle = models.NoDeadline, "Old logs"
		a.Description = "62 of 100 units of energy are spent, and the next response needs 40."
	})
}

func shares() []models.EnergyShare {
	out := []models.EnergyShare{
		{Kind: models.KindToolCall, ToolName: "Bash", Count: 12, Energy: 24},
		{Kind: models.KindReply, Count: 9, Energy: 11},
		{Kind: models.KindProposal, ToolName: models.ToolRespondWithApproval, Count: 1, Energy: 6},
		{Kind: models.KindQuestion, ToolName: "question", Count: 2, Energy: 4},
	}
	for _, tool := range []string{"read\u202e_file", "grep", "ls", "cat"} {
		out = append(out, models.EnergyShare{Kind: models.KindToolCall, ToolName: tool, Count: 2, Energy: 2})
	}
	return out
}

// knows lets a request's reader see the budget.
func knows(in *pages.ApprovalInput) {
	in.Budget = &models.Budget{Total: new(int64(100)), Used: 62, Reserved: 4}
	in.Points, in.Shares = burn(), shares()
}

func budgetScreens(t *testing.T) []screen {
	t.Helper()
	budget := func(in pages.BudgetPanelInput) templ.Component {
		v := pages.NewBudgetPanel(in, now)
		return pages.BudgetPage(page("Budget of "+v.Title, v.URL), v)
	}
	approval := func(a models.Approval, mend ...func(*pages.ApprovalInput)) templ.Component {
		in := pages.ApprovalInput{Approval: a, MayDecide: true, Turns: []models.Approval{plan(t), a}}
		for _, m := range mend {
			m(&in)
		}
		v := pages.NewApproval(in, now)
		return pages.ApprovalPage(page(v.Title, v.URL), v)
	}
	list := func(in pages.ConversationsInput) templ.Component {
		in.Agents, in.BaseURL = []models.Agent{{ID: agentID, Name: "release-bot"}}, "http://127.0.0.1:8080"
		return pages.ConversationsPage(page("Conversations", "/conversations"), pages.NewConversations(in, now))
	}
	low := func(c *models.ConversationView) { c.EnergyUsed = 80 }
	spent := func(c *models.ConversationView) { c.EnergyUsed, c.EnergyReserved = 120, 0 }
	unlimited := func(c *models.ConversationView) { c.EnergyBudget, c.EnergyReserved, c.Title, c.RunID = nil, 0, "", nil }
	edited := models.BudgetInput(120)
	return []screen{
		{"budget", budget(pages.BudgetPanelInput{Conversation: talk(low), Steps: budgetStepsOf(), Next: 3, Points: burn()})},
		{"budget-none", budget(pages.BudgetPanelInput{Conversation: talk(unlimited)})},
		{"budget-errors", budget(pages.BudgetPanelInput{Conversation: talk(spent), Steps: budgetStepsOf()[2:], Before: 18, Points: burn()[:1], Form: pages.BudgetForm{
			How: "add", Amount: "-7", Reason: "because", Errors: map[string]string{"amount": "must be a whole number from 0 to 1,000,000,000,000", "": "Choose."},
		}})},
		{"budget-panel", pages.BudgetPanel(pages.NewBudgetPanel(pages.BudgetPanelInput{Conversation: talk(), Steps: budgetStepsOf()[:1], Next: 22, Points: burn(), Embedded: true}, now))},
		{"conversations", list(pages.ConversationsInput{Admin: true, Next: "k2", Rows: []models.ConversationView{
			talk(func(c *models.ConversationView) { c.Status, c.Pending = models.ConversationWaitingInput, 2 }),
			talk(low, func(c *models.ConversationView) { c.ID, c.PausedAt = "01890a5d-ac96-774b-bcce-b302099a8002", &now }),
			talk(spent, func(c *models.ConversationView) {
				c.ID, c.Status = "01890a5d-ac96-774b-bcce-b302099a8003", models.ConversationFailed
				c.Title = "<b>Ship</b> \u202e4.1 " + strings.Repeat("and on ", 30)
			}),
			talk(unlimited, func(c *models.ConversationView) {
				c.ID, c.Status, c.Standing = "01890a5d-ac96-774b-bcce-b302099a8004", models.ConversationCompleted, true
			}),
		}})},
		{"conversations-empty", list(pages.ConversationsInput{})},
		{"conversations-filtered", list(pages.ConversationsInput{
			Admin: true, After: "k1", Filter: views.ConversationFilter{Status: "asleep", Agent: "01890a5d-ac96-774b-bcce-b302099a8109", Owner: "x@example.org", Archived: true},
			Errors: map[string]string{"status": "must be running, waiting_input, completed or failed", "owner": "must be the e-mail of somebody here, or their id"},
		})},
		{"approval-proposal", approval(plan(t), knows)},
		{"approval-proposal-errors", approval(plan(t), knows, func(in *pages.ApprovalInput) {
			in.Form = pages.DecideForm{SetBudget: true, NewBudget: "-4", Errors: map[string]string{"new_budget": "must be a whole number from 0 to 1,000,000,000,000"}}
		})},
		{"approval-proposal-routed", approval(plan(t, func(a *models.Approval) { a.Risk, a.PolicyRule = models.RiskHigh, "All proposals" }))},
		{"approval-proposal-approved", approval(settle(plan(t), models.StatusApproved, models.CauseReviewer, &models.Vote{Verdict: models.VerdictApprove, Reason: "Go."}), knows)},
		{"approval-budget", approval(wish(t, 150), knows)},
		{"approval-budget-routed", approval(wish(t, 1_500_000))},
		{"approval-budget-errors", approval(wish(t, 150), knows, func(in *pages.ApprovalInput) {
			in.Form = pages.DecideForm{Sum: "lots", Errors: map[string]string{"sum": "must be a whole number from 0 to 1,000,000,000,000"}}
		})},
		{"approval-budget-changed", approval(settle(wish(t, 150), models.StatusApproved, models.CauseReviewer, &models.Vote{Verdict: models.VerdictApprove, Reason: "A little less.", Input: &edited, InputDigest: new("77aa")}), knows)},
		{"inbox-kinds", pages.InboxPage(page("Inbox", "/"), pages.NewInbox(pages.InboxInput{Rows: []models.Approval{plan(t), wish(t, 1500), question(t)}, Count: 3}, now))},
	}
}
