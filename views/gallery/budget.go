package gallery

import (
	"time"

	"countersign/models"
	"countersign/views/pages/budgets"
	"countersign/views/pages/requests"
)

func low(c *models.ConversationView)   { c.EnergyUsed = 80 }
func spent(c *models.ConversationView) { c.EnergyUsed, c.EnergyReserved = 120, 0 }
func unlimited(c *models.ConversationView) {
	c.EnergyBudget, c.EnergyReserved, c.Title, c.RunID = nil, 0, "", nil
}

func budgetStates() []State {
	page := func(name, note string, in budgets.PanelInput) State {
		v := budgets.NewPanel(in, Now)
		return State{Page: "budget", Name: name, Note: note, Component: budgets.Page(Frame("Budget of "+v.Title, v.URL), v)}
	}
	panel := budgets.NewPanel(budgets.PanelInput{
		Conversation: Talk(), Steps: BudgetSteps()[:1], Next: 22, Points: Burn(), InConversation: true,
	}, Now)
	return []State{
		page(Usual, "Four fifths used; changed by a person, an agent and the policy",
			budgets.PanelInput{Conversation: Talk(low), Steps: BudgetSteps(), Next: 3, Points: Burn()}),
		page("none", "No budget", budgets.PanelInput{Conversation: Talk(unlimited)}),
		page("errors", "Exhausted; errors at their fields", budgets.PanelInput{Conversation: Talk(spent), Steps: BudgetSteps()[2:], Before: 18, Points: Burn()[:1], Form: budgets.Form{
			How: "add", Amount: "-7", Reason: "because",
			Errors: map[string]string{"amount": "must be a whole number from 0 to 1,000,000,000,000", "": "Choose."},
		}}),
		{Page: "budget", Name: "panel", Note: "As it stands in a conversation", Part: true, Component: budgets.Panel(panel)},
	}
}

// Talk is a conversation with a budget of 100, of which 62 are used.
func Talk(mend ...func(*models.ConversationView)) models.ConversationView {
	v := models.ConversationView{
		Conversation: models.Conversation{
			ID: ConversationID, OwnerID: UserID, AgentID: AgentID, RunID: new("run-41"), Title: "Old logs",
			Status:       models.ConversationRunning,
			NextSequence: 42, EnergyBudget: new(int64(100)), EnergyUsed: 62, EnergyReserved: 4,
			CreatedAt: Now.Add(-3 * time.Hour), UpdatedAt: Now.Add(-40 * time.Second),
		},
		AgentName: "release-bot", OwnerName: "Ada Berg",
	}
	for _, m := range mend {
		m(&v)
	}
	return v
}

// Burn is how its energy was used.
func Burn() []models.EnergyPoint {
	at := func(sequence, used int64, budget *int64) models.EnergyPoint {
		return models.EnergyPoint{
			Sequence: sequence, At: Now.Add(time.Duration(sequence-42) * time.Minute), Used: used, Budget: budget,
		}
	}
	return []models.EnergyPoint{
		at(1, 1, nil), at(2, 3, nil), at(3, 3, new(int64(50))), at(8, 12, new(int64(50))), at(15, 31, new(int64(50))),
		at(21, 44, new(int64(50))), at(22, 44, new(int64(100))), at(30, 51, new(int64(100))), at(41, 62, new(int64(100))),
	}
}

// BudgetSteps are changes of its budget by everybody who can, newest first.
func BudgetSteps() []models.BudgetStep {
	return []models.BudgetStep{
		{
			ConversationID: ConversationID, Sequence: 22, At: Now.Add(-20 * time.Minute), ActorKind: models.ActorUser,
			ActorName: "Bo Lind", Old: new(int64(50)), New: 100, Reason: "Four files are left,\nand they are large.",
			ResponseID: new(models.ResponseID("01890a5d-ac96-774b-bcce-b302099a8057")),
		},
		{
			ConversationID: ConversationID, Sequence: 18, At: Now.Add(-24 * time.Minute), ActorKind: models.ActorAgent,
			ActorName: "rele\u202ease-bot", Old: new(int64(80)), New: 50,
		},
		{
			ConversationID: ConversationID, Sequence: 9, At: Now.Add(-40 * time.Minute), ActorKind: models.ActorSystem,
			ActorName: "policy", Old: new(int64(75)), New: 80,
			Reason: "The policy lets the system add up to 25 units (auto_budget_increase).",
		},
		{
			ConversationID: ConversationID, Sequence: 3, At: Now.Add(-50 * time.Minute), ActorKind: models.ActorUser,
			ActorName: "Ada Berg", New: 75,
		},
	}
}

const planned = "# Delete old logs\n\nThe disk is **91 % full**. I would delete:\n\n| folder | size |\n|-|-:|\n| `/var/log/old` | 3.1 GB |\n| `/tmp` | 0.4 GB |\n\n1. make a list\n2. delete what is older than 30 days\n\nSee [the runbook](https://wiki.example.org/logs). <b>Nothing else</b>\u200b is touched.\n"

// Plan is a proposal in Markdown that would like a budget.
func Plan(mend ...func(*models.Approval)) models.Approval {
	a := Call(models.ToolRespondWithApproval, `{}`)
	a.ID, a.Kind, a.Content, a.ToolInputJSON = "01890a5d-ac96-774b-bcce-b302099a8063", models.KindProposal, planned, ""
	a.ToolUseID, a.ApprovalTimeoutAt, a.EnergyBudget, a.ConversationTitle = nil, models.NoDeadline, new(int64(120)), "Old logs"
	for _, m := range mend {
		m(&a)
	}
	digest(&a.Response)
	return a
}

// Wish is a request for a budget.
func Wish(sum int64) models.Approval {
	return Call(models.ToolSetBudget, models.BudgetInput(sum), func(a *models.Approval) {
		a.ID, a.Kind, a.ToolUseID = "01890a5d-ac96-774b-bcce-b302099a8064", models.KindBudget, nil
		a.ApprovalTimeoutAt, a.ConversationTitle = models.NoDeadline, "Old logs"
		a.Description = "62 of 100 units of energy are spent, and the next response needs 40."
	})
}

// More is a request for more energy for an agent, in all its conversations.
func More(energy int64) models.Approval {
	until := Now.Add(23 * time.Hour).Truncate(time.Minute)
	return Call(models.ToolAllowEnergy, models.Allowance{Energy: energy, Until: until}.Input(), func(a *models.Approval) {
		a.ID, a.Kind, a.ToolUseID = "01890a5d-ac96-774b-bcce-b302099a8065", models.KindBudget, nil
		a.ApprovalTimeoutAt, a.ConversationTitle = until, "Old logs"
		a.Description = "release-bot has spent 499 of 500 units of energy in 24 hours, over all its conversations, and the next response needs 2."
	})
}

// Shares are what energy was used on.
func Shares() []models.EnergyShare {
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

// Knows lets a request's reader see the budget.
func Knows(in *requests.Input) {
	in.Budget = &models.Budget{Total: new(int64(100)), Used: 62, Reserved: 4}
	in.Points, in.Shares = Burn(), Shares()
}
