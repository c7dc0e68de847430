package models_test

import (
	"testing"

	"countersign/models"
)

// TestCountsTellPeopleFromRulesI10: a call that a rule, a pre-approval or an open gate
// let run is never counted as one that a person approved.
func TestCountsTellPeopleFromRulesI10(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status models.Status
		cause  models.Cause
		want   models.CallCounts
	}{
		{models.StatusApproved, models.CauseReviewer, models.CallCounts{Approved: 1}},
		{models.StatusApproved, models.CausePolicy, models.CallCounts{ByRule: 1}},
		{models.StatusNone, models.CausePolicy, models.CallCounts{ByRule: 1}},
		{models.StatusNone, models.CauseGrant, models.CallCounts{PreApproved: 1}},
		{models.StatusNone, models.CauseGateOff, models.CallCounts{Unapproved: 1}},
		{models.StatusRan, models.CauseFallback, models.CallCounts{Unapproved: 1}},
		{models.StatusNone, models.CauseNone, models.CallCounts{}},
		{models.StatusRejected, models.CauseReviewer, models.CallCounts{Rejected: 1}},
		{models.StatusRejected, models.CausePolicy, models.CallCounts{AutoRejected: 1}},
		{models.StatusRejected, models.CauseCascade, models.CallCounts{AutoRejected: 1}},
		{models.StatusRejected, models.CauseStopped, models.CallCounts{AutoRejected: 1}},
		{models.StatusPending, models.CauseNone, models.CallCounts{}},
		{models.StatusExpired, models.CauseTimeout, models.CallCounts{}},
		{models.StatusCancelled, models.CauseCancelled, models.CallCounts{}},
		{models.StatusResolved, models.CauseElsewhere, models.CallCounts{}},
	} {
		var got models.CallCounts
		allowed := got.Add(c.status, c.cause)
		if want := c.want != (models.CallCounts{}) && c.status != models.StatusRejected && c.status != models.StatusRan; got != c.want || allowed != want {
			t.Errorf("%q by %q is counted as %+v, let run %v; want %+v, %v", c.status, c.cause, got, allowed, c.want, want)
		}
	}
}
