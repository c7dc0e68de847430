package store_test

import (
	"database/sql"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

func TestExtendMovesADeadlineLaterUpToTheMostThatThePolicyAllows(t *testing.T) {
	t.Parallel()
	b, other := routedBench(t)
	start := b.Clock.Now()
	a := b.AskFor(t, models.AskInput{})
	b.runsOut(t, a.ID, start.Add(5*time.Minute))
	b.Clock.Step(time.Minute)
	now := b.Clock.Now()
	for name, until := range map[string]time.Time{
		"earlier than it stands": start.Add(4 * time.Minute), "in the past": start, "later than the most": now.Add(2*time.Hour + time.Microsecond),
	} {
		before := storetest.Dump(t, b.Store)
		if e := refusal(t, storetest.Err(b.Extend(t.Context(), other, a.ID, until)), models.CodeInvalid); e.Fields["minutes"] == "" {
			t.Errorf("%s: %+v", name, e)
		}
		if after := storetest.Dump(t, b.Store); after != before {
			t.Error(storetest.Difference(before, after))
		}
	}
	got, err := b.Extend(t.Context(), other, a.ID, now.Add(2*time.Hour))
	storetest.Must(t, err)
	if !got.ApprovalTimeoutAt.Equal(now.Add(2 * time.Hour)) {
		t.Errorf("until %v", got.ApprovalTimeoutAt)
	}
	b.runsOut(t, a.ID, now.Add(2*time.Hour))
	before := storetest.Dump(t, b.Store)
	storetest.Must(t, storetest.Err(b.Extend(t.Context(), b.Owner, a.ID, now.Add(2*time.Hour)))) // as it stands
	if after := storetest.Dump(t, b.Store); after != before {
		t.Error(storetest.Difference(before, after))
	}
	storetest.SameStrings(t, "ledger", b.entriesOf(t, a.ID), []string{"agent approval.requested", "user approval.extended"})
	storetest.SameStrings(t, "the entry", storetest.Column(t, b.Store, `SELECT json_extract(data, '$.old_deadline') || ' ' || json_extract(data, '$.new_deadline') FROM ledger WHERE action = 'approval.extended'`),
		[]string{"2026-03-02T12:05:00.000000Z 2026-03-02T14:01:00.000000Z"})
	b.Clock.Step(110 * time.Minute)
	b.standsAs(t, a.ID, models.StatusPending)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, storetest.Yes())))
}

func TestExtendDuringAPauseCountsAfterTheAnswerToo(t *testing.T) {
	t.Parallel()
	b, _ := routedBench(t)
	a := b.AskFor(t, models.AskInput{})
	storetest.Must(t, storetest.Err(b.AskBack(t.Context(), b.Owner, a.ID, "Why?"))) // 300 s left, until in an hour
	got, err := b.Extend(t.Context(), b.Owner, a.ID, b.Clock.Now().Add(90*time.Minute))
	storetest.Must(t, err)
	if *got.PausedLeft != 90*60 {
		t.Errorf("%d s are left after the answer, want %d", *got.PausedLeft, 90*60)
	}
	b.Clock.Step(10 * time.Minute)
	got, _, err = b.AnswerNote(t.Context(), b.Agent, a.ID, "So.")
	storetest.Must(t, err)
	if want := b.Clock.Now().Add(90 * time.Minute); !got.ApprovalTimeoutAt.Equal(want) {
		t.Errorf("until %v, want %v", got.ApprovalTimeoutAt, want)
	}
}

func TestWhatHasNoDeadlineIsNotExtended(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.AskFor(t, models.AskInput{Kind: models.KindQuestion})
	wantCode(t, storetest.Err(b.Extend(t.Context(), b.Owner, a.ID, b.Clock.Now().Add(time.Minute))), models.CodeInvalid)
}

func TestPeopleWithdrawRequestsOfTheirAgents(t *testing.T) {
	t.Parallel()
	b, other := routedBench(t)
	for name, tt := range map[string]struct {
		who  models.Actor
		code models.Code
		text string
	}{
		"the owner": {b.Owner, "", "withdrawn by owner@example.com"}, "an admin": {b.Admin, "", "withdrawn by admin@example.com"},
		"its agent": {b.Agent, "", "withdrawn by the agent"}, "a reviewer": {other, models.CodeForbidden, ""},
		"a stranger": {b.Stranger, models.CodeNotFound, ""}, "another agent": {b.Other, models.CodeNotFound, ""},
		"the operator": {storetest.Operator(), models.CodeForbidden, ""},
	} {
		a := b.AskFor(t, models.AskInput{})
		got, err := b.Cancel(t.Context(), tt.who, a.ID)
		if models.ErrorCode(err) != tt.code {
			t.Errorf("%s: %v, want %q", name, err, tt.code)
		}
		if err == nil && (got.Status() != models.StatusCancelled || got.Cause != models.CauseCancelled || got.Feedback() != tt.text || got.DecidedBy != nil) {
			t.Errorf("%s: %s, %s, %q", name, got.Status(), got.Cause, got.Feedback())
		}
		storetest.Must(t, storetest.Err(b.Cancel(t.Context(), b.Agent, a.ID))) // as it stands, or now
	}
	w := newOutsideWorld(t)
	id := w.Taken(t, storetest.Call("c", "", "bash", `{}`))
	wantCode(t, storetest.Err(w.Cancel(t.Context(), w.Owner, id)), models.CodeWrongDecisionKind)
	w.WantRow(t, id, "pending ")
}

func TestReviewersAreToldWhenWhatWasRoutedToThemWasSettled(t *testing.T) {
	t.Parallel()
	b, _ := routedBench(t)
	settledAt := func(id models.ResponseID) []string {
		t.Helper()
		at := storetest.Scalar[sql.NullTime](t, b.Store, `SELECT settled_at FROM reviewers WHERE response_id = ?`, id)
		if !at.Valid {
			return []string{"not yet"}
		}
		return []string{at.Time.UTC().Format(time.DateTime)}
	}
	approved, expired := b.AskFor(t, models.AskInput{}), b.AskFor(t, models.AskInput{})
	storetest.SameStrings(t, "settled", settledAt(approved.ID), []string{"not yet"})
	b.Clock.Step(time.Minute)
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, approved.ID, storetest.Yes())))
	b.Clock.Step(time.Hour)
	storetest.Must(t, storetest.Err(b.ExpireDue(t.Context(), 10)))
	storetest.SameStrings(t, "settled", settledAt(approved.ID), []string{"2026-03-02 12:01:00"})
	storetest.SameStrings(t, "settled", settledAt(expired.ID), []string{"2026-03-02 12:05:00"}) // as of its deadline
}
