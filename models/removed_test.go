package models_test

import (
	"testing"

	"countersign/models"
)

// TestWhatIsRemovedReleasesNothing: whatever was decided, and whatever was asked.
func TestWhatIsRemovedReleasesNothing(t *testing.T) {
	t.Parallel()
	mark := "removed on 2026-03-02, by tester"
	statuses := []models.Status{models.StatusNone, models.StatusPending, models.StatusApproved, models.StatusRejected, models.StatusExpired, models.StatusCancelled, models.StatusResolved}
	for _, kind := range models.Kinds() {
		for _, status := range statuses {
			kept := models.Response{Kind: kind, Cause: models.CausePolicy, ApprovalStatus: &status}
			gone := kept
			gone.Removed = &mark
			budget := kind == models.KindBudget
			if gone.MayRun() && !budget {
				t.Errorf("%s, %s: its contents are gone, and it may run", kind, status)
			}
			if kept.MayRun() && !budget != (gone.Advice(status) == models.AdviceRemoved) {
				t.Errorf("%s, %s: the advice is %q", kind, status, gone.Advice(status))
			}
		}
	}
}
