package store

import "countersign/models"

// checkBulk refuses to approve together with others what is looked at one by one.
// Rejecting many at once does no harm and is not limited.
func checkBulk(a *models.Approval, in models.DecisionInput, verdict models.Verdict) error {
	switch {
	case !in.Bulk || verdict == models.VerdictReject:
	case a.Kind == models.KindQuestion:
		return models.Errorf(models.CodeWrongDecisionKind, "Questions can't be answered in bulk.")
	case a.ChecklistJSON != "":
		return models.Errorf(models.CodeWrongDecisionKind, "Requests with a checklist can't be bulk-approved.")
	case a.Risk.NeedsDigest():
		return models.Errorf(models.CodeWrongDecisionKind, "Requests of %s risk can't be bulk-approved.", a.Risk)
	}
	return nil
}
