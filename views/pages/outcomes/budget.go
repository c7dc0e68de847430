package outcomes

import (
	"strconv"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/words"
)

// AskedSum is the sum in the input of a budget request; empty if there is none.
func AskedSum(r *models.Response) string {
	if r.AsksForAllowance() {
		if a, err := models.AllowanceAsked([]byte(r.ToolInputJSON)); err == nil {
			return strconv.FormatInt(a.Energy, 10)
		}
		return ""
	}
	sum, err := models.BudgetAsked([]byte(r.ToolInputJSON))
	if r.Kind != models.KindBudget || err != nil {
		return ""
	}
	return strconv.FormatInt(sum, 10)
}

// changedSum says that another amount was granted than the agent asked for.
func changedSum(r *models.Response, edited []byte) string {
	if r.AsksForAllowance() {
		a, err := models.AllowanceAsked(edited)
		if err != nil {
			return ""
		}
		return "Amount changed: " + views.Number(a.Energy) + " more instead of " + words.Thousands(AskedSum(r)) + "."
	}
	sum, err := models.BudgetAsked(edited)
	if err != nil || r.Kind != models.KindBudget {
		return ""
	}
	return "Budget changed: " + views.Number(sum) + " instead of " + words.Thousands(AskedSum(r)) + "."
}
