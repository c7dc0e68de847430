package pages

import (
	"maps"

	"countersign/models"
)

// keepFor clears what was sent about another request than the one that can be decided
// here now: the decision, its reason, the ticks, and the budget that goes with an
// approval. Nobody made them for this one. What is said, and any other change of the
// budget, stays.
func (f *SayForm) keepFor(t *ComposerTarget) {
	same := t != nil && f.Response == string(t.ID) && f.Digest == t.Digest
	about := f.Decision != "" || f.Reason != "" || len(f.Checked) > 0 || f.Mode == BudgetGrant
	if !f.Sent || same || !about {
		return
	}
	_, err := models.ParseID[models.ResponseID]("", f.Response)
	another := err == nil && (t == nil || f.Response != string(t.ID))
	f.Errors = maps.Clone(f.Errors)
	delete(f.Errors, "reason")
	delete(f.Errors, CheckedField)
	if another {
		delete(f.Errors, "decision")
	}
	f.sayCleared(t, another)
	f.Decision, f.Reason, f.Checked = "", "", nil
	if f.Mode != BudgetGrant {
		return
	}
	delete(f.Errors, "budget")
	if f.Mode, f.Amount = BudgetLeave, ""; t != nil && t.Asks != "" {
		f.Mode, f.Amount = BudgetGrant, t.Asks
	}
}

// sayCleared says that a decision was cleared, unless it is said already why it was not
// taken. The reason was typed, so it is given back.
func (f *SayForm) sayCleared(t *ComposerTarget, another bool) {
	if f.Notice == "" && f.Errors["decision"] == "" && (f.Decision != "" || len(f.Checked) > 0) {
		switch {
		case t == nil:
			f.Notice = "The request that you were deciding on is no longer pending here. Your decision was not saved."
		case another:
			f.Notice = "Your decision was for another request and was not saved. Look at this one, then decide again."
		default:
			f.Notice = "Your decision was not saved. Look at the request, then decide again."
		}
	}
	if f.Reason == "" {
		return
	}
	if f.Notice != "" {
		f.Notice += " "
	}
	f.Notice += "The reason that you typed for it: “" + models.RevealString(f.Reason, true) + "”"
}
