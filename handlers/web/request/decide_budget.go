package request

import (
	"strconv"
	"strings"
	"time"

	"countersign/models"
	"countersign/views"
)

// EnergyIn reads units of energy as typed.
func EnergyIn(field, text string) (int64, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return 0, models.Invalid(field, "must not be empty")
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > models.MaxBudget {
		return 0, models.Invalid(field, "must be a whole number from 0 to %s", views.Number(models.MaxBudget))
	}
	return n, nil
}

// budget reads what a verdict does to the budget: the sum of a budget request,
// which is its edited input, or the budget that an approved proposal gets. A rejection
// changes no budget.
func (f VerdictForm) budget(in *models.DecisionInput) error {
	if f.Verdict == models.VerdictApprove && f.values.Has("sum") {
		sum, err := EnergyIn("sum", f.values.Get("sum"))
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
	if f.Verdict == models.VerdictApprove && f.values.Get("set_budget") == "true" {
		budget, err := EnergyIn("new_budget", f.values.Get("new_budget"))
		if err != nil {
			return err
		}
		in.Budget.Set = &budget
	}
	return nil
}
