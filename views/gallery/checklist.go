package gallery

import (
	"countersign/models"
	"countersign/views/pages/requests"
)

// Ticking is a request whose approver ticks a checklist first.
func Ticking(a models.Approval) models.Approval {
	a.Template = "payments"
	a.SetTemplates([]string{"The recipient is known", "The amount matches the invoice " + hostile},
		"Invoices are in the folder Finance,\nby month.")
	return a
}

func checklistStates(page func(name, note string, a models.Approval, mend ...func(*requests.Input)) State) []State {
	done := Settle(Ticking(Payment()), models.StatusApproved, models.CauseReviewer,
		&models.Vote{Verdict: models.VerdictApprove, Checked: "[0,1]"})
	return []State{
		page("checklist", "A checklist to tick before approving, and the policy's text", Ticking(Payment()), whole),
		page("checklist-missing", "Approved before every item was ticked", Ticking(Payment()), whole, func(in *requests.Input) {
			in.Form = requests.DecideForm{
				Reason: "as agreed", Checked: []int{0}, Errors: map[string]string{"checked": models.TickAll},
			}
		}),
		page("checklist-question", "A question with options and a checklist", Ticking(Question()), whole),
		page("checklist-ticked", "Approved: what was ticked", done, whole),
	}
}
