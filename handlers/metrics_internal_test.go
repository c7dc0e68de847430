package handlers

import (
	"testing"
	"time"

	"countersign/models"
)

// Counting stands in every request and commit.
func TestCountingAllocatesNothing(t *testing.T) {
	m := NewMetrics("test")
	settled := models.Outcome{Status: models.StatusApproved, Cause: models.CauseReviewer, Wait: time.Second}
	if n := testing.AllocsPerRun(100, func() {
		m.answered("POST", "/v1/approvals", 202, time.Millisecond)
		m.Settled(settled)
		m.Committed(3, time.Millisecond)
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
