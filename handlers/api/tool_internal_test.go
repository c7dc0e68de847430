package api

import (
	"testing"
	"time"

	"countersign/handlers/api/wire"
	"countersign/models"
)

// Every state has its word, and what was settled elsewhere is cancelled with
// that reason.
func TestToolStatuses(t *testing.T) {
	t.Parallel()
	for _, status := range append(models.Statuses(), models.StatusNone) {
		if toolStatuses[status] == "" {
			t.Errorf("%q has no word", status)
		}
	}
	for status, want := range map[models.Status]wire.ToolStatus{
		models.StatusNone: "APPROVED", models.StatusPending: "PENDING", models.StatusApproved: "APPROVED", models.StatusRejected: "REJECTED",
		models.StatusExpired: "TIMED_OUT", models.StatusCancelled: "CANCELLED", models.StatusResolved: "CANCELLED", models.StatusRan: "CANCELLED",
	} {
		a := &models.Approval{Response: models.Response{ID: "r", ConversationID: "c", ApprovalTimeoutAt: models.NoDeadline, PolicyReason: "why"}}
		if status == models.StatusRan {
			a.Cause = models.CauseFallback
		} else if status != models.StatusNone {
			a.ApprovalStatus, a.ApprovalTimestamp = &status, new(time.Unix(0, 0))
		}
		got := invocationOf(a, "")
		if got.Status != want || got.SessionID != "c" || (got.DecidedAt == nil) != (status == models.StatusPending) {
			t.Errorf("%q shows as %+v, want %s", status, got, want)
		}
		if wantReason := map[models.Status]string{
			models.StatusNone: "why", models.StatusRan: "why", models.StatusPending: "why", models.StatusResolved: "settled elsewhere",
		}[status]; got.Reason != wantReason {
			t.Errorf("%q has reason %q, want %q", status, got.Reason, wantReason)
		}
	}
}
