package gallery

import (
	"countersign/models"
	"countersign/views/pages/requests"
)

// proposalStates are the page of a request for proposals and budget requests.
func proposalStates() []State {
	page := func(name, note string, a models.Approval, mend ...func(*requests.Input)) State {
		mend = append([]func(*requests.Input){func(in *requests.Input) { in.Turns = Briefs(Plan(), a) }}, mend...)
		return State{Page: "approval", Name: name, Note: note, Component: approvalPage(a, mend...)}
	}
	edited := models.BudgetInput(120)
	return []State{
		page("proposal", "Source and layout, and the budget that it would like", Plan(), Knows),
		page("proposal-errors", "An error at the new budget", Plan(), Knows, func(in *requests.Input) {
			in.Form = requests.DecideForm{
				Sent: true, SetBudget: true, NewBudget: "-4",
				Errors: map[string]string{"new_budget": "must be a whole number from 0 to 1,000,000,000,000"},
			}
		}),
		page("proposal-routed", "To a reviewer, who is told nothing of the budget",
			Plan(func(a *models.Approval) { a.Risk, a.PolicyRule = models.RiskHigh, "All proposals" })),
		page("proposal-approved", "Approved with a reason",
			Settle(Plan(), models.StatusApproved, models.CauseReviewer,
				&models.Vote{Verdict: models.VerdictApprove, Reason: "Go."}), Knows),
		page("budget", "A request for energy, and what the rest was used on", Wish(150), Knows),
		page("budget-routed", "To a reviewer, who is told nothing of what was used", Wish(1_500_000)),
		page("budget-errors", "An error at the sum", Wish(150), Knows, func(in *requests.Input) {
			in.Form = requests.DecideForm{
				Sum: "lots", Errors: map[string]string{"sum": "must be a whole number from 0 to 1,000,000,000,000"},
			}
		}),
		page("more-energy", "A request for more energy for an agent, in all its conversations", More(250), func(in *requests.Input) {
			in.AgentBudget = &models.AgentBudget{Energy: 500, Hours: 24, Spent: 499}
		}),
		page("budget-changed", "Approved with another sum",
			Settle(Wish(150), models.StatusApproved, models.CauseReviewer,
				&models.Vote{
					Verdict: models.VerdictApprove, Reason: "A little less.", Input: &edited, InputDigest: new("77aa"),
				}), Knows),
	}
}
