package conversations

import (
	"testing"
	"time"

	"countersign/models"
	"countersign/views/pages/inputs"
)

func TestThePillOfACallInEachState(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.November, 20, 10, 30, 0, 0, time.UTC)
	row := func(status models.Status, cause models.Cause) models.Response {
		r := models.Response{Kind: models.KindToolCall, Cause: cause, ApprovalTimeoutAt: models.NoDeadline}
		if status != models.StatusNone {
			r.ApprovalStatus = &status
		}
		return r
	}
	held := row(models.StatusPending, "")
	held.HeldUntil = new(now.Add(time.Minute))
	open, done := models.CallDetail{}, models.CallDetail{Completed: true}
	failed := models.CallDetail{Completed: true, IsError: true}
	sixth := models.CallDetail{CascadedFrom: &models.CallPlace{Place: 6, Sequence: 41}}
	alone := models.CallDetail{CascadedFrom: &models.CallPlace{Sequence: 41}}
	deniedSixth := sixth
	deniedSixth.Completed, deniedSixth.IsError = true, true
	long := now.Add(-stuckAfter)
	for _, c := range []struct {
		name    string
		r       models.Response
		d       models.CallDetail
		behind  bool
		since   time.Time
		want    string
		current bool
	}{
		{"behind an open one", row("", ""), open, true, now, "queued", false},
		{"queued for long", row("", ""), open, true, long, "queued", false},
		{"the first open one", row("", ""), open, false, now, "running", false},
		{"let through", row("", models.CausePolicy), open, true, now, "running", false},
		{"waits", row(models.StatusPending, ""), open, true, long, "waiting for approval", true},
		{"its verdict is on its way", held, open, false, long, "sending", false},
		{"approved", row(models.StatusApproved, models.CauseReviewer), open, true, now, "approved", false},
		{"approved and done", row(models.StatusApproved, models.CauseReviewer), done, false, now, "done", false},
		{"approved and failed", row(models.StatusApproved, models.CauseReviewer), failed, false, now, "failed", false},
		{"rejected", row(models.StatusRejected, models.CauseReviewer), open, false, long, "rejected", false},
		{"rejected, and the agent says so", row(models.StatusRejected, models.CauseReviewer), failed, false, now, "rejected", false},
		{"rejected with another", row(models.StatusRejected, models.CauseCascade), sixth, true, now, "rejected with #6", false},
		{"rejected with one that has no place", row(models.StatusRejected, models.CauseCascade), alone, true, now, "rejected with #41", false},
		{"rejected with another, and the agent says so", row(models.StatusRejected, models.CauseCascade), deniedSixth, false, now, "rejected with #6", false},
		{"expired", row(models.StatusExpired, models.CauseTimeout), open, false, now, "expired", false},
		{"cancelled", row(models.StatusCancelled, models.CauseRunEnded), done, false, now, "cancelled", false},
		{"settled elsewhere", row(models.StatusResolved, models.CauseElsewhere), open, false, long, "settled elsewhere", false},
		{"settled elsewhere and done", row(models.StatusResolved, models.CauseElsewhere), done, false, now, "done", false},
		{"done", row("", ""), done, false, now, "done", false},
		{"done before its turn", row("", ""), done, true, now, "done", false},
		{"failed", row("", ""), failed, true, now, "failed", false},
		{"stuck", row("", ""), open, false, long, "stuck", false},
		{"not yet stuck", row("", ""), open, false, long.Add(time.Second), "running", false},
		{"approved and stuck", row(models.StatusApproved, models.CauseReviewer), open, true, long, "stuck", false},
		{"closed by a person", row("", ""), models.CallDetail{Completed: true, Closed: models.ClosedByOwner}, false, long, "closed", false},
		{"closed by its run", row(models.StatusApproved, models.CauseReviewer), models.CallDetail{Completed: true, Closed: models.ClosedByRun}, false, long, "no result", false},
	} {
		pill, current := callPill(&c.r, c.d, c.behind, c.since, now)
		if pill.Text != c.want || current != c.current {
			t.Errorf("%s: %q (current: %v), want %q (%v)", c.name, pill.Text, current, c.want, c.current)
		}
	}
}

func TestLongBatchesFoldWhatIsDone(t *testing.T) {
	t.Parallel()
	rows := func(pills ...int) []BatchCall {
		out := make([]BatchCall, len(pills))
		for i, p := range pills {
			out[i] = BatchCall{Number: "#" + string(rune('1'+i)), Pill: pillQueue}
			if p > 0 {
				out[i].Pill = pillDone
			}
			if p > 1 {
				out[i].Notes = []inputs.Note{{Text: "It ran although it was rejected."}}
			}
		}
		return out
	}
	for _, c := range []struct {
		name string
		rows []BatchCall
		want []string
	}{
		{"short", rows(1, 1, 1, 1, 0), []string{""}},
		{"long", rows(1, 1, 1, 0, 0, 1, 1, 1, 1), []string{"3 done, #1 to #3", "", "4 done, #6 to #9"}},
		{"few between", rows(0, 1, 1, 0, 0, 0, 0, 0), []string{"", "", ""}},
		{"something to say", rows(1, 1, 2, 1, 1, 1, 0, 0), []string{"", "", "3 done, #4 to #6", ""}},
	} {
		got, n := segments(c.rows), 0
		for i, s := range got {
			n += len(s.Calls)
			if i < len(c.want) && s.Fold != c.want[i] {
				t.Errorf("%s: segment %d folds %q, want %q", c.name, i, s.Fold, c.want[i])
			}
		}
		if len(got) != len(c.want) || n != len(c.rows) {
			t.Errorf("%s: %d segments of %d calls", c.name, len(got), n)
		}
	}
}
