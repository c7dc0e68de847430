package audit_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/gallery"
	"countersign/views/pages/audit"
)

// TestI10EveryCauseIsToldApartInTheHistory: none has the words of another, in the
// list and among the choices.
func TestI10EveryCauseIsToldApartInTheHistory(t *testing.T) {
	t.Parallel()
	seen := map[string]models.Cause{}
	for _, cause := range models.Causes() {
		text := cause.Short()
		if other, ok := seen[text]; ok || text == "" || cause.Text() == "" {
			t.Errorf("%q and %q are both %q", cause, other, text)
		}
		seen[text] = cause
	}
	v := audit.NewHistory(audit.HistoryInput{Zone: time.UTC}, gallery.Now)
	if len(v.Filter.Causes) != len(models.Causes())+1 {
		t.Errorf("%d causes to choose from", len(v.Filter.Causes))
	}
}

func TestAHistoryRowSaysWhoAndHow(t *testing.T) {
	t.Parallel()
	withdrawn := gallery.Settle(gallery.Shell(), models.StatusCancelled, models.CauseCancelled, nil)
	withdrawn.ApprovalFeedback = new("withdrawn by Ada\u202E")
	rows := append(gallery.Settled(), gallery.Briefs(withdrawn)...)
	v := audit.NewHistory(audit.HistoryInput{Rows: rows, Reader: gallery.UserID, Place: views.HistoryPlace{Tool: "x", After: "k"}, Next: "k2", Zone: time.UTC}, gallery.Now)
	for i, want := range []struct {
		word, by, how string
		edited        bool
	}{
		{"approved", "Bo Lind", "", true},
		{"rejected", "Bo Lind", "", false},
		{"answered", "Bo Lind", "", false},
		{"expired", "", "No decision in time", false},
		{"cancelled", "", "By the agent", false},
		{"allowed", "", "By a pre-approval", false},
		{"ran without approval", "", "The gate was off", false},
		{"rejected", "", "By the policy", false},
		{"cancelled", "Ada\u202E", "", false},
	} {
		row := v.Rows[i]
		if row.Outcome.Text != want.word || row.By != want.by || row.How != want.how || row.Edited != want.edited {
			t.Errorf("row %d: %q by %q, %q, edited %v", i, row.Outcome.Text, row.By, row.How, row.Edited)
		}
		if row.FilterURL != "" && (!strings.Contains(row.FilterURL, "tool=x") || strings.Contains(row.FilterURL, "after")) {
			t.Errorf("the conversation leads to %s", row.FilterURL)
		}
	}
	if v.Rows[0].Took == "" || v.Rows[7].Took != "" {
		t.Errorf("a person took %q, the policy %q", v.Rows[0].Took, v.Rows[7].Took)
	}
	if v.FirstURL != "/history?tool=x" || v.NextURL != "/history?tool=x&after=k2" || v.CSVURL != "/history/export?format=csv&tool=x" {
		t.Errorf("%s, %s, %s", v.FirstURL, v.NextURL, v.CSVURL)
	}
}
