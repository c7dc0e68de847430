package store_test

import (
	"fmt"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/outside"
	"countersign/models/storetest"
)

func TestI1AHeldVerdictIsNotTheOutcomeAndNobodyElseDecides(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	conv := w.Open(t, models.RunInput{RunID: "r"}, storetest.Reported("u", "bash", `{}`))
	id := w.Taken(t, storetest.Call("c", "r", "bash", `{}`))
	at := w.Clock.Now()
	a := w.Vote(t, id, storetest.Yes())
	if want := models.NoDeadline; !a.HeldUntil.Equal(want) {
		t.Errorf("held until %v, want %v: the other system set no deadline", a.HeldUntil, want)
	}
	for name, who := range map[string]models.Actor{"another": w.Admin, "the same": w.Owner} {
		before := storetest.Dump(t, w.Store)
		_, err := w.Decide(t.Context(), who, id, storetest.No("no"))
		e := refusal(t, err, models.CodeBeingDecided)
		if e.Approval == nil || e.Approval.ID != id || e.Text != "The decision of owner@example.com on this request is on its way." {
			t.Errorf("%s: %+v", name, e)
		}
		if after := storetest.Dump(t, w.Store); after != before {
			t.Error(storetest.Difference(before, after))
		}
	}
	w.Clock.Step(10 * 24 * time.Hour)
	if n, err := w.ExpireDue(t.Context(), 100); n != 0 || err != nil {
		t.Errorf("%d expired, %v", n, err)
	}
	w.Status(t, conv, models.ConversationWaitingInput)
	w.Deliver(t, id, models.DeliveryTaken)
	w.Status(t, conv, models.ConversationRunning)
	got, err := w.Requests.Approval(t.Context(), w.Owner, id)
	storetest.Must(t, err)
	if got.Status() != models.StatusApproved || got.Cause != models.CauseReviewer || got.HeldUntil != nil || got.Vote == nil || !got.Vote.At.Equal(at) || *got.DecidedBy != w.Owner.OwnerID {
		t.Errorf("%+v, vote %+v", got.Response, got.Vote)
	}
	wantCode(t, storetest.Err(w.Decide(t.Context(), w.Admin, id, storetest.No("no"))), models.CodeAlreadyDecided)
	storetest.SameStrings(t, "ledger", w.ActionsOn(t, id), []string{"system approval.requested", "user approval.voted", "user approval.approved"})
	w.Verify(t)
}

func TestOutsideVerdictsAreOfTheKindThatIsTaken(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	id := w.Taken(t, storetest.Call("c", "", "bash", `{"a":1}`))
	answer := "yes"
	edited := storetest.Yes()
	edited.Input = []byte(`{"a":2}`)
	for name, tt := range map[string]struct {
		in   models.DecisionInput
		code models.Code
	}{
		"no reason": {storetest.No(""), models.CodeCommentRequired}, "a blank reason": {storetest.No(" \n"), models.CodeCommentRequired},
		"an answer": {models.DecisionInput{Answer: &answer}, models.CodeWrongDecisionKind}, "an edit": {edited, models.CodeTakesNoEdits},
		"another digest": {models.DecisionInput{Approved: storetest.Yes().Approved, Digest: "0"}, models.CodeDigestMismatch},
	} {
		before := storetest.Dump(t, w.Store)
		_, err := w.Decide(t.Context(), w.Owner, id, tt.in)
		if models.ErrorCode(err) != tt.code {
			t.Errorf("%s: %v, want %s", name, err, tt.code)
		}
		if after := storetest.Dump(t, w.Store); after != before {
			t.Error(storetest.Difference(before, after))
		}
	}
	_, err := w.Decide(t.Context(), w.Agent, id, storetest.Yes())
	wantCode(t, err, models.CodeForbidden)
	w.Vote(t, id, storetest.Yes())
}

// after are the things that may come while a verdict is held.
var after = map[string]struct {
	want string
	do   func(w *outsideWorld, t *testing.T, conv models.ConversationID, id models.ResponseID) error
}{
	"cancel":        {"cancelled cancelled", (*outsideWorld).agentCancels},
	"stop":          {"cancelled stopped", (*outsideWorld).ownerStops},
	"the run's end": {"cancelled run_ended", (*outsideWorld).runEnds},
	"cascade":       {"rejected cascade", (*outsideWorld).firstIsRejected},
}

func (w *outsideWorld) agentCancels(t *testing.T, _ models.ConversationID, id models.ResponseID) error {
	t.Helper()
	return storetest.Err(w.Cancel(t.Context(), w.Agent, id))
}

func (w *outsideWorld) ownerStops(t *testing.T, conv models.ConversationID, _ models.ResponseID) error {
	t.Helper()
	return storetest.Err(w.Steer(t.Context(), w.Owner, conv, models.SteerStop))
}

func (w *outsideWorld) runEnds(t *testing.T, conv models.ConversationID, _ models.ResponseID) error {
	t.Helper()
	return storetest.Err(w.ReportEvents(t.Context(), w.Agent, conv, []models.RunEvent{{ID: "end", Type: models.RunEventStatus, Status: models.ConversationCompleted}}))
}

func (w *outsideWorld) firstIsRejected(t *testing.T, _ models.ConversationID, _ models.ResponseID) error {
	t.Helper()
	first := w.Taken(t, storetest.Call("first", "r", "read", `{}`))
	w.Vote(t, first, storetest.No("no"))
	w.Deliver(t, first, models.DeliveryTaken)
	return nil
}

func TestI1WhatComesBeforeADeliveryBeatsAHeldVerdict(t *testing.T) {
	t.Parallel()
	for name, tt := range after {
		for _, late := range []bool{false, true} { // also past the deadline: the vote was in time
			t.Run(fmt.Sprint(name, " ", late), func(t *testing.T) {
				t.Parallel()
				w := newOutsideWorld(t)
				conv, id := w.HeldCall(t)
				if late {
					w.Clock.Step(time.Hour)
				}
				storetest.Must(t, tt.do(w, t, conv, id))
				w.WantRow(t, id, tt.want)
				var withdrawn bool
				storetest.Must(t, storetest.Beside(t, w.Store).QueryRowContext(t.Context(), `SELECT withdrawn_at IS NOT NULL FROM votes WHERE response_id = ? AND verdict = 'approve'`, id).Scan(&withdrawn))
				if !withdrawn {
					t.Error("the verdict stands")
				}
				switch d := w.Begin(t, id); {
				case name != "cascade" && d != nil:
					t.Errorf("it is told nevertheless: %+v", d)
				case name == "cascade" && (d == nil || d.Approved || d.Reason != "no"):
					t.Errorf("the other system waits, and is told %+v", d)
				}
				if r := w.ByID(t, id); r.Held {
					t.Error("it is still held")
				}
				w.Verify(t)
			})
		}
	}
}

func TestI1ADeliveryThatHasBegunGoesBefore(t *testing.T) {
	t.Parallel()
	for name, tt := range after {
		for _, lost := range []bool{false, true} { // also between two attempts
			t.Run(fmt.Sprint(name, " ", lost), func(t *testing.T) {
				t.Parallel()
				w := newOutsideWorld(t)
				conv, id := w.HeldCall(t)
				w.Begin(t, id)
				if lost {
					storetest.Must(t, outside.New(w.Store).EndDelivery(t.Context(), w.Tell, id, models.DeliveryEnd{Result: models.DeliveryLater, Lost: true}))
				}
				err := tt.do(w, t, conv, id)
				if want := map[string]models.Code{"cancel": models.CodeBeingDecided, "stop": models.CodeBeingDecided}[name]; models.ErrorCode(err) != want {
					t.Errorf("%v, want %q", err, want)
				}
				w.WantRow(t, id, "pending ")
				if d := w.Begin(t, id); d == nil || !d.Approved || !d.Lost {
					t.Fatalf("%+v", d)
				}
				w.End(t, id, models.DeliveryTaken)
				w.WantRow(t, id, "approved reviewer")
				w.Verify(t)
			})
		}
	}
}
