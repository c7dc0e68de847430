package store_test

import (
	"fmt"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

func TestI1AHeldVerdictIsNotTheOutcomeAndNobodyElseDecides(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	conv := w.open(t, models.RunInput{RunID: "r"}, reported("u", "bash", `{}`))
	id := w.taken(t, call("c", "r", "bash", `{}`))
	at := w.clock.Now()
	a := w.vote(t, id, yes())
	if want := models.NoDeadline; !a.HeldUntil.Equal(want) {
		t.Errorf("held until %v, want %v: the other system set no deadline", a.HeldUntil, want)
	}
	for name, who := range map[string]models.Actor{"another": w.admin, "the same": w.owner} {
		before := storetest.Dump(t, w.Store)
		_, err := w.Decide(t.Context(), who, id, no("no"))
		e := refusal(t, err, models.CodeBeingDecided)
		if e.Approval == nil || e.Approval.ID != id || e.Text != "The decision of owner@example.com on this request is on its way." {
			t.Errorf("%s: %+v", name, e)
		}
		if after := storetest.Dump(t, w.Store); after != before {
			t.Error(difference(before, after))
		}
	}
	w.clock.Step(10 * 24 * time.Hour)
	if n, err := w.ExpireDue(t.Context(), 100); n != 0 || err != nil {
		t.Errorf("%d expired, %v", n, err)
	}
	w.status(t, conv, models.ConversationWaitingInput)
	w.deliver(t, id, models.DeliveryTaken)
	w.status(t, conv, models.ConversationRunning)
	got, err := w.Approval(t.Context(), w.owner, id)
	storetest.Must(t, err)
	if got.Status() != models.StatusApproved || got.Cause != models.CauseReviewer || got.HeldUntil != nil || got.Vote == nil || !got.Vote.At.Equal(at) || *got.DecidedBy != w.owner.OwnerID {
		t.Errorf("%+v, vote %+v", got.Response, got.Vote)
	}
	wantCode(t, storetest.Err(w.Decide(t.Context(), w.admin, id, no("no"))), models.CodeAlreadyDecided)
	storetest.SameStrings(t, "ledger", w.actionsOn(t, id), []string{"system approval.requested", "user approval.voted", "user approval.approved"})
	w.verify(t)
}

func TestOutsideVerdictsAreOfTheKindThatIsTaken(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	id := w.taken(t, call("c", "", "bash", `{"a":1}`))
	answer := "yes"
	edited := yes()
	edited.Input = []byte(`{"a":2}`)
	for name, tt := range map[string]struct {
		in   models.DecisionInput
		code models.Code
	}{
		"no reason": {no(""), models.CodeCommentRequired}, "a blank reason": {no(" \n"), models.CodeCommentRequired},
		"an answer": {models.DecisionInput{Answer: &answer}, models.CodeWrongDecisionKind}, "an edit": {edited, models.CodeTakesNoEdits},
		"another digest": {models.DecisionInput{Approved: yes().Approved, Digest: "0"}, models.CodeDigestMismatch},
	} {
		before := storetest.Dump(t, w.Store)
		_, err := w.Decide(t.Context(), w.owner, id, tt.in)
		if models.ErrorCode(err) != tt.code {
			t.Errorf("%s: %v, want %s", name, err, tt.code)
		}
		if after := storetest.Dump(t, w.Store); after != before {
			t.Error(difference(before, after))
		}
	}
	_, err := w.Decide(t.Context(), w.agent, id, yes())
	wantCode(t, err, models.CodeForbidden)
	w.vote(t, id, yes())
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
	return storetest.Err(w.Cancel(t.Context(), w.agent, id))
}

func (w *outsideWorld) ownerStops(t *testing.T, conv models.ConversationID, _ models.ResponseID) error {
	t.Helper()
	return storetest.Err(w.Steer(t.Context(), w.owner, conv, models.SteerStop))
}

func (w *outsideWorld) runEnds(t *testing.T, conv models.ConversationID, _ models.ResponseID) error {
	t.Helper()
	return storetest.Err(w.ReportEvents(t.Context(), w.agent, conv, []models.RunEvent{{ID: "end", Type: models.RunEventStatus, Status: models.ConversationCompleted}}))
}

func (w *outsideWorld) firstIsRejected(t *testing.T, _ models.ConversationID, _ models.ResponseID) error {
	t.Helper()
	first := w.taken(t, call("first", "r", "read", `{}`))
	w.vote(t, first, no("no"))
	w.deliver(t, first, models.DeliveryTaken)
	return nil
}

func TestI1WhatComesBeforeADeliveryBeatsAHeldVerdict(t *testing.T) {
	t.Parallel()
	for name, tt := range after {
		for _, late := range []bool{false, true} { // also past the deadline: the vote was in time
			t.Run(fmt.Sprint(name, " ", late), func(t *testing.T) {
				t.Parallel()
				w, conv, id := heldCall(t)
				if late {
					w.clock.Step(time.Hour)
				}
				storetest.Must(t, tt.do(w, t, conv, id))
				w.wantRow(t, id, tt.want)
				var withdrawn bool
				storetest.Must(t, storetest.Beside(t, w.Store).QueryRowContext(t.Context(), `SELECT withdrawn_at IS NOT NULL FROM votes WHERE response_id = ? AND verdict = 'approve'`, id).Scan(&withdrawn))
				if !withdrawn {
					t.Error("the verdict stands")
				}
				switch d := w.begin(t, id); {
				case name != "cascade" && d != nil:
					t.Errorf("it is told nevertheless: %+v", d)
				case name == "cascade" && (d == nil || d.Approved || d.Reason != "no"):
					t.Errorf("the other system waits, and is told %+v", d)
				}
				if r := w.byID(t, id); r.held {
					t.Error("it is still held")
				}
				w.verify(t)
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
				w, conv, id := heldCall(t)
				w.begin(t, id)
				if lost {
					storetest.Must(t, w.EndDelivery(t.Context(), w.tell, id, models.DeliveryEnd{Result: models.DeliveryLater, Lost: true}))
				}
				err := tt.do(w, t, conv, id)
				if want := map[string]models.Code{"cancel": models.CodeBeingDecided, "stop": models.CodeBeingDecided}[name]; models.ErrorCode(err) != want {
					t.Errorf("%v, want %q", err, want)
				}
				w.wantRow(t, id, "pending ")
				if d := w.begin(t, id); d == nil || !d.Approved || !d.Lost {
					t.Fatalf("%+v", d)
				}
				w.end(t, id, models.DeliveryTaken)
				w.wantRow(t, id, "approved reviewer")
				w.verify(t)
			})
		}
	}
}

// heldCall is the second call of a batch, with five minutes to go, approved and
// not told yet.
func heldCall(t *testing.T) (*outsideWorld, models.ConversationID, models.ResponseID) {
	t.Helper()
	w := newOutsideWorld(t)
	conv := w.open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, reported("first", "read", `{}`), reported("second", "bash", `{}`))
	item, left := call("c", "r", "bash", `{}`), 5*time.Minute
	item.Timeout = &left
	id := w.taken(t, item)
	w.vote(t, id, yes())
	return w, conv, id
}
