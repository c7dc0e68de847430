package policy

import (
	"fmt"

	"countersign/models"
)

// MaxBudgetHours is the longest window of budget_per_agent.
const MaxBudgetHours = 30 * 24

// BudgetPerAgent is what all conversations of one agent may spend together in
// any window of some hours.
type BudgetPerAgent struct {
	Energy int64 `json:"energy"`
	Hours  int   `json:"hours"`
}

func (b *BudgetPerAgent) String() string {
	switch {
	case b == nil:
		return none
	case b.Hours == 1:
		return fmt.Sprintf("%d units of energy in 1 hour", b.Energy)
	}
	return fmt.Sprintf("%d units of energy in %d hours", b.Energy, b.Hours)
}

// BudgetPerAgent is what an agent may spend; nil: there is no limit. It belongs
// to the policy and must not be written to.
func (p *Policy) BudgetPerAgent() *BudgetPerAgent { return p.doc.BudgetPerAgent }

func (c *checker) budgetPerAgent(b *BudgetPerAgent) {
	if b == nil {
		return
	}
	if b.Energy < 1 || b.Energy > models.MaxBudget {
		c.add("budget_per_agent.energy", "must be 1 to %d units of energy", int64(models.MaxBudget))
	}
	if b.Hours < 1 || b.Hours > MaxBudgetHours {
		c.add("budget_per_agent.hours", "must be 1 to %d hours", MaxBudgetHours)
	}
}
