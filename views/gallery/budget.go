package gallery

import (
	"countersign/models"
	"countersign/views/pages/budgets"
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
	panel := budgets.NewPanel(budgets.PanelInput{Conversation: Talk(), Steps: BudgetSteps()[:1], Next: 22, Points: Burn(), Embedded: true}, Now)
	return []State{
		page(Usual, "Four fifths used; changed by a person, an agent and the policy", budgets.PanelInput{Conversation: Talk(low), Steps: BudgetSteps(), Next: 3, Points: Burn()}),
		page("none", "No budget", budgets.PanelInput{Conversation: Talk(unlimited)}),
		page("errors", "Exhausted; errors at their fields", budgets.PanelInput{Conversation: Talk(spent), Steps: BudgetSteps()[2:], Before: 18, Points: Burn()[:1], Form: budgets.Form{
			How: "add", Amount: "-7", Reason: "because", Errors: map[string]string{"amount": "must be a whole number from 0 to 1,000,000,000,000", "": "Choose."},
		}}),
		{Page: "budget", Name: "panel", Note: "As it stands in a conversation", Part: true, Component: budgets.Panel(panel)},
	}
}
