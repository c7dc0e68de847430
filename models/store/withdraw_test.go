package store_test

import (
	"testing"
	"time"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
)

func tellsNo(said string) models.DeliveryEnd {
	return models.DeliveryEnd{Result: models.DeliveryRefused, Status: 422, Words: said, Text: "The upstream refuses the decision (422)."}
}

func TestI1ARefusedDecisionIsTakenBack(t *testing.T) {
	t.Parallel()
	w, conv, id := heldCall(t)
	w.begin(t, id)
	storetest.Must(t, w.EndDelivery(t.Context(), w.tell, id, tellsNo("no\u202e")))
	w.wantRow(t, id, "pending ")
	if r := w.byID(t, id); r.held {
		t.Errorf("%+v", r)
	}
	w.status(t, conv, models.ConversationWaitingInput)
	storetest.SameStrings(t, "ledger", w.actionsOn(t, id), []string{"system approval.requested", "user approval.voted", "system approval.refused"})
	if n := len(w.due(t)); n != 0 || w.begin(t, id) != nil {
		t.Error("it is told again")
	}
	origins, err := w.Origins(t.Context(), w.admin, id)
	storetest.Must(t, err)
	if got := origins[id].Withdrawals; len(got) != 1 || got[0].Said != "no\u202e" || got[0].Status != 422 || got[0].Kind != models.WithdrawalRefused || got[0].ByName != w.up.Name {
		t.Errorf("%+v", got)
	}
	if inbox, err := w.Inbox(t.Context(), w.owner, store.InboxQuery{}); err != nil || len(inbox.Items) != 1 || inbox.Items[0].ID != id {
		t.Errorf("it is not in the inbox: %+v, %v", inbox, err)
	}
	// It can be decided again, and that is told.
	w.vote(t, id, models.DecisionInput{Approved: new(bool), Reason: "then not"})
	w.deliver(t, id, models.DeliveryTaken)
	w.wantRow(t, id, "rejected reviewer")
	w.verify(t)
	storetest.CheckRows(t, w.Store)
}

func TestI10ARefusalPastTheDeadlineIsUndelivered(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	item := call("c", "", "bash", `{}`)
	item.Timeout = new(time.Minute)
	id := w.taken(t, item)
	w.vote(t, id, yes())
	w.clock.Step(2 * time.Minute)
	w.begin(t, id)
	storetest.Must(t, w.EndDelivery(t.Context(), w.tell, id, tellsNo("late")))
	w.wantRow(t, id, "expired undelivered")
	storetest.SameStrings(t, "ledger", w.actionsOn(t, id), []string{"system approval.requested", "user approval.voted", "system approval.refused", "system approval.expired"})
	w.verify(t)
	storetest.CheckRows(t, w.Store)
}

func TestI1WhatIsFinalAlreadyStaysAndIsMarkedWhenItIsRefused(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	conv := w.open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, reported("a", "bash", `{"n":1}`), reported("b", "bash", `{"n":2}`))
	w.take(t, call("c1", "r", "bash", `{"n":1}`), call("c2", "r", "bash", `{"n":2}`))
	w.vote(t, w.of(t, "c1").id, models.DecisionInput{Approved: new(bool), Reason: "no"})
	w.deliver(t, w.of(t, "c1").id, models.DeliveryTaken)
	id := w.of(t, "c2").id
	w.wantRow(t, id, "rejected cascade")
	w.begin(t, id)
	storetest.Must(t, w.EndDelivery(t.Context(), w.tell, id, tellsNo("it runs")))
	w.wantRow(t, id, "rejected cascade")
	if got, want := w.of(t, "c2").contradiction, w.up.Name+" refused the decision (422) and said: “it runs”"; got != want {
		t.Errorf("marked %q, want %q", got, want)
	}
	if conv == "" || len(w.due(t)) != 0 {
		t.Error("it is told again")
	}
	w.verify(t)
	storetest.CheckRows(t, w.Store)
}

func TestI1AnAdminWithdrawsADecisionThatCannotBeTold(t *testing.T) {
	t.Parallel()
	for _, deadline := range []bool{false, true} {
		w := newOutsideWorld(t)
		item := call("c", "", "bash", `{}`)
		if deadline {
			item.Timeout = new(time.Minute)
		}
		id := w.taken(t, item)
		withdraw := func(who models.Actor, reason string, want models.Code) {
			t.Helper()
			before := storetest.Dump(t, w.Store)
			_, err := w.WithdrawDecision(t.Context(), who, id, reason)
			if models.ErrorCode(err) != want {
				t.Errorf("%v, want %q", err, want)
			}
			if want != "" && storetest.Dump(t, w.Store) != before {
				t.Errorf("%s: something was written", want)
			}
		}
		withdraw(w.admin, "nothing is held", models.CodeConflict)
		w.vote(t, id, yes())
		withdraw(w.owner, "it is mine", models.CodeForbidden)
		withdraw(w.admin, " ", models.CodeCommentRequired)
		w.begin(t, id)
		withdraw(w.admin, "in flight", models.CodeBeingDecided)
		storetest.Must(t, w.EndDelivery(t.Context(), w.tell, id, models.DeliveryEnd{Result: models.DeliveryLater, Lost: true, Pause: time.Hour, Text: "It failed (500)."}))
		want, actions := "pending ", []string{"system approval.requested", "user approval.voted", "user approval.withdrawn"}
		if deadline {
			w.clock.Step(2 * time.Minute)
			want, actions = "expired undelivered", append(actions, "system approval.expired")
		}
		withdraw(w.admin, "hub is broken", "")
		w.wantRow(t, id, want)
		storetest.SameStrings(t, "ledger", w.actionsOn(t, id), actions)
		origins, err := w.Origins(t.Context(), w.admin, id)
		storetest.Must(t, err)
		if got := origins[id].Withdrawals; len(got) != 1 || got[0].Said != "hub is broken" || got[0].Kind != models.WithdrawalByAdmin || got[0].ByName != w.admin.Name || !got[0].Lost {
			t.Errorf("%+v", got)
		}
		if len(w.due(t)) != 0 {
			t.Error("it is told all the same")
		}
		if deadline {
			withdraw(w.admin, "again", models.CodeExpired)
		} else {
			withdraw(w.admin, "again", models.CodeConflict)
		}
		w.verify(t)
		storetest.CheckRows(t, w.Store)
	}
}

// While an upstream is paused a decision waits, and expires when its time is over.
func TestADecisionOfAPausedUpstreamIsNeitherSentNorStuck(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	item := call("c", "", "bash", `{}`)
	item.Timeout = new(time.Minute)
	id := w.taken(t, item)
	w.vote(t, id, yes())
	_, u, err := w.BeginDelivery(t.Context(), w.tell, id)
	storetest.Must(t, err)
	storetest.Must(t, w.EndDelivery(t.Context(), w.tell, id, models.DeliveryEnd{Result: models.DeliveryLater, WrongKey: true, Key: u.KeySealed, Text: "The upstream refuses the key (401)."}))
	if w.begin(t, id) != nil || len(w.due(t)) != 0 {
		t.Error("it is told while the upstream is paused")
	}
	if due, _, err := w.DueUpstreams(t.Context()); err != nil || len(due) != 0 {
		t.Errorf("it is polled while it is paused: %v, %v", due, err)
	}
	w.clock.Step(11 * time.Minute)
	if due := w.due(t); len(due) != 1 {
		t.Fatalf("due when its time is over: %v", due)
	}
	if w.begin(t, id) != nil {
		t.Error("it is told when its time is over")
	}
	w.wantRow(t, id, "expired undelivered")
	storetest.SameStrings(t, "upstream", storetest.Column(t, w.Store, `SELECT action FROM ledger WHERE action LIKE 'upstream.%' ORDER BY seq`), []string{"upstream.added", "upstream.paused"})
	storetest.Must(t, w.ResumeUpstream(t.Context(), w.admin, w.up.ID))
	storetest.Must(t, w.ResumeUpstream(t.Context(), w.admin, w.up.ID)) // changes nothing
	storetest.SameStrings(t, "upstream", storetest.Column(t, w.Store, `SELECT action FROM ledger WHERE action LIKE 'upstream.%' ORDER BY seq`), []string{"upstream.added", "upstream.paused", "upstream.resumed"})
	if due, _, err := w.DueUpstreams(t.Context()); err != nil || len(due) != 1 {
		t.Errorf("it is not polled at once: %v, %v", due, err)
	}
	w.verify(t)
	storetest.CheckRows(t, w.Store)
}

func TestTheItemsOwnIDAndDeadlineAreKept(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	item := call("call_1", "", "bash", `{}`)
	until := w.clock.Now().Add(10*time.Minute + 123*time.Millisecond)
	item.ApprovalID, item.TimeoutAt, item.Timeout = "appr_1", until, new(10*time.Minute+900*time.Millisecond) // by a clock of whole seconds
	id := w.taken(t, item)
	a, err := w.Approval(t.Context(), w.admin, id)
	storetest.Must(t, err)
	if !a.ApprovalTimeoutAt.Equal(until) {
		t.Errorf("it runs out at %v, want %v", a.ApprovalTimeoutAt, until)
	}
	origins, err := w.Origins(t.Context(), w.admin, id)
	storetest.Must(t, err)
	if got := origins[id].ApprovalID; got != "appr_1" {
		t.Errorf("its id there is %q", got)
	}
	other := call("call_2", "", "bash", `{}`)
	other.TimeoutAt, other.Timeout = until, new(time.Minute) // another clock
	a, err = w.Approval(t.Context(), w.admin, w.taken(t, other))
	storetest.Must(t, err)
	if want := w.clock.Now().Add(time.Minute); !a.ApprovalTimeoutAt.Equal(want) {
		t.Errorf("it runs out at %v, want %v", a.ApprovalTimeoutAt, want)
	}
}

func TestAContactWithoutAQuestionIsShownWhole(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	item := models.OutsideItem{Kind: models.OutsideContact, CallID: "h", Rest: []byte(`{"call_id":"h","ask":{"b":1,"a":2}}`)}
	a, err := w.Approval(t.Context(), w.admin, w.taken(t, item))
	storetest.Must(t, err)
	if a.Context != `{"ask":{"a":2,"b":1},"call_id":"h"}` || a.Description == "" {
		t.Errorf("asks %q in %q", a.Description, a.Context)
	}
	item.CallID, item.Message, item.Name = "h2", "Which?", "Deploy"
	a, err = w.Approval(t.Context(), w.admin, w.taken(t, item))
	storetest.Must(t, err)
	if a.Description != "Which?" || a.Context != "Deploy\n\n"+`{"ask":{"a":2,"b":1},"call_id":"h"}` {
		t.Errorf("asks %q in %q", a.Description, a.Context)
	}
}
