package web

import (
	"time"

	"countersign/models"
)

// budget reads what a verdict does to the budget: the sum of a budget request,
// which is its edited input, or the budget that an approved proposal gets. A rejection
// changes no budget.
func (f verdictForm) budget(in *models.DecisionInput) error {
	if f.verdict == models.VerdictApprove && f.values.Has("sum") {
		sum, err := energyIn("sum", f.values.Get("sum"))
		if err != nil {
			return err
		}
		in.Input = []byte(models.BudgetInput(sum))
		if f.values.Has("until") { // more energy for an agent: the form says until when
			until, err := time.Parse(time.RFC3339, f.values.Get("until"))
			if err != nil {
				return models.Invalid("sum", "belongs to a request that this form does not show: open the request again")
			}
			in.Input = []byte(models.Allowance{Energy: sum, Until: until}.Input())
		}
	}
	if f.verdict == models.VerdictApprove && f.values.Get("set_budget") == "true" {
		budget, err := energyIn("new_budget", f.values.Get("new_budget"))
		if err != nil {
			return err
		}
		in.Budget.Set = &budget
	}
	return nil
}
