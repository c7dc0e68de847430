package figures_test

import (
	"testing"
	"time"

	"countersign/models"
	"countersign/models/figures"
)

var noon = time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)

// votes are n decisions, newest first, so far apart, each about so many characters that were asked long before.
func votes(n int, newest time.Time, apart time.Duration, chars int, verdict models.Verdict) []figures.Decision {
	out := make([]figures.Decision, n)
	for i := range out {
		out[i] = figures.Decision{At: newest.Add(-time.Duration(i) * apart), AskedAt: newest.Add(-24 * time.Hour), Verdict: verdict, Chars: chars}
	}
	return out
}

func TestAttentionOfWhoReadsTellsNothing(t *testing.T) {
	t.Parallel()
	calm := votes(45, noon.Add(-3*time.Hour), time.Minute, 600, models.VerdictApprove)
	calm[44].Verdict = models.VerdictReject
	if got := figures.AttentionOf(calm, noon); got != (figures.Attention{Approvals: 40}) {
		t.Errorf("%+v", got)
	}
	if got := figures.AttentionOf(nil, noon); got != (figures.Attention{}) {
		t.Errorf("of nothing: %+v", got)
	}
}

// TestAttentionCountsWhatCannotHaveBeenRead: 600 characters take 40 seconds, since the ask or the decision before.
func TestAttentionCountsWhatCannotHaveBeenRead(t *testing.T) {
	t.Parallel()
	fast := votes(9, noon.Add(-3*time.Hour), 3*time.Second, 600, models.VerdictApprove)
	fast[4].Chars = 450
	slow := votes(33, noon.Add(-4*time.Hour), time.Minute, 600, models.VerdictApprove)
	gone := votes(1, noon.Add(-5*time.Hour), time.Second, 0, models.VerdictApprove) // contents that were removed
	soon := figures.Decision{At: noon.Add(-6 * time.Hour), AskedAt: noon.Add(-6*time.Hour - 2*time.Second), Verdict: models.VerdictApprove, Chars: 600}
	all := append(append(append(fast, slow...), gone...), soon)
	got := figures.AttentionOf(all, noon)
	// Of the nine, the first was asked and decided an hour after the decision before it.
	if got.Approvals != 40 || got.Fast != 8 || got.Within != 3*time.Second || got.Chars != 450 {
		t.Errorf("%+v", got)
	}
	got = figures.AttentionOf(append(fast[:3:3], soon), noon)
	if got.Approvals != 4 || got.Fast != 3 || got.Within != 3*time.Second {
		t.Errorf("of four: %+v", got)
	}
	if got := figures.AttentionOf(fast[:3], noon); got.Fast != 0 || got.Within != 0 || got.Chars != 0 {
		t.Errorf("two do not stand out: %+v", got)
	}
}

func TestAttentionCountsAStreakAndAHurry(t *testing.T) {
	t.Parallel()
	shift := append(votes(6, noon.Add(-2*time.Hour), 10*time.Second, 30, models.VerdictApprove),
		votes(44, noon.Add(-3*time.Hour), time.Minute, 30, models.VerdictAnswer)...)
	got := figures.AttentionOf(shift, noon)
	if want := (figures.Hurry{End: noon.Add(-2 * time.Hour), Decisions: 50, Last: 6}); got.Hurry != want || got.Streak != 50 {
		t.Errorf("%+v", got)
	}
	if got := figures.AttentionOf(shift, noon.Add(-time.Hour)); got.Hurry != (figures.Hurry{}) {
		t.Errorf("a shift that may go on: %+v", got)
	}
	if got := figures.AttentionOf(shift[:9], noon); got.Hurry != (figures.Hurry{}) || got.Streak != 0 {
		t.Errorf("nine decisions: %+v", got)
	}
	shift[10].Verdict = models.VerdictReject
	if got := figures.AttentionOf(shift, noon); got.Streak != 0 {
		t.Errorf("ten without a rejection: %+v", got)
	}
}
