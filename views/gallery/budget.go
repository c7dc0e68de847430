package gallery

import (
	"countersign/models"
	"countersign/views/pages"
)

func low(c *models.ConversationView)   { c.EnergyUsed = 80 }
func spent(c *models.ConversationView) { c.EnergyUsed, c.EnergyReserved = 120, 0 }
func unlimited(c *models.ConversationView) {
	c.EnergyBudget, c.EnergyReserved, c.Title, c.RunID = nil, 0, "", nil
}

func budgetStates() []State {
	page := func(name, note string, in pages.BudgetPanelInput) State {
		v := pages.NewBudgetPanel(in, Now)
		return State{Page: "budget", Name: name, Note: note, Component: pages.BudgetPage(Frame("Budget of "+v.Title, v.URL), v)}
	}
	panel := pages.NewBudgetPanel(pages.BudgetPanelInput{Conversation: Talk(), Steps: BudgetSteps()[:1], Next: 22, Points: Burn(), Embedded: true}, Now)
	return []State{
		page(Usual, "Four fifths used; changed by a person, an agent and the policy", pages.BudgetPanelInput{Conversation: Talk(low), Steps: BudgetSteps(), Next: 3, Points: Burn()}),
		page("none", "No budget", pages.BudgetPanelInput{Conversation: Talk(unlimited)}),
		page("errors", "Exhausted; errors at their fields", pages.BudgetPanelInput{Conversation: Talk(spent), Steps: BudgetSteps()[2:], Before: 18, Points: Burn()[:1], Form: pages.BudgetForm{
			How: "add", Amount: "-7", Reason: "because", Errors: map[string]string{"amount": "must be a whole number from 0 to 1,000,000,000,000", "": "Choose."},
		}}),
		{Page: "budget", Name: "panel", Note: "As it stands in a conversation", Part: true, Component: pages.BudgetPanel(panel)},
	}
}
