package store_test

import (
	"testing"
	"time"

	"countersign/models"
	"countersign/models/outside"
	"countersign/models/requests"
	"countersign/models/storetest"
)

func tellsNo(said string) models.DeliveryEnd {
	return models.DeliveryEnd{Result: models.DeliveryRefused, Status: 422, Words: said, Text: "The upstream refuses the decision (422)."}
}

func TestI1ARefusedDecisionIsTakenBack(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	conv, id := w.HeldCall(t)
	w.Begin(t, id)
	storetest.Must(t, outside.New(w.Store).EndDelivery(t.Context(), w.Tell, id, tellsNo("no\u202e")))
	w.WantRow(t, id, "pending ")
	if r := w.ByID(t, id); r.Held {
		t.Errorf("%+v", r)
	}
	w.Status(t, conv, models.ConversationWaitingInput)
	storetest.SameStrings(t, "ledger", w.ActionsOn(t, id), []string{"system approval.requested", "user approval.voted", "system approval.refused"})
	if n := len(w.Due(t)); n != 0 || w.Begin(t, id) != nil {
		t.Error("it is told again")
	}
	origins, err := w.Requests.Origins(t.Context(), w.Admin, id)
	storetest.Must(t, err)
	if got := origins[id].Withdrawals; len(got) != 1 || got[0].Said != "no\u202e" || got[0].Status != 422 || got[0].Kind != models.WithdrawalRefused || got[0].ByName != w.Up.Name {
		t.Errorf("%+v", got)
	}
	if inbox, err := w.Requests.Inbox(t.Context(), w.Owner, requests.InboxQuery{}); err != nil || len(inbox.Items) != 1 || inbox.Items[0].ID != id {
		t.Errorf("it is not in the inbox: %+v, %v", inbox, err)
	}
	// It can be decided again, and that is told.
	w.Vote(t, id, models.DecisionInput{Approved: new(bool), Reason: "then not"})
	w.Deliver(t, id, models.DeliveryTaken)
	w.WantRow(t, id, "rejected reviewer")
	w.Verify(t)
	storetest.CheckRows(t, w.Store)
}

func TestI10ARefusalPastTheDeadlineIsUndelivered(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	item := storetest.Call("c", "", "bash", `{}`)
	item.Timeout = new(time.Minute)
	id := w.Taken(t, item)
	w.Vote(t, id, storetest.Yes())
	w.Clock.Step(2 * time.Minute)
	w.Begin(t, id)
	storetest.Must(t, outside.New(w.Store).EndDelivery(t.Context(), w.Tell, id, tellsNo("late")))
	w.WantRow(t, id, "expired undelivered")
	storetest.SameStrings(t, "ledger", w.ActionsOn(t, id), []string{"system approval.requested", "user approval.voted", "system approval.refused", "system approval.expired"})
	w.Verify(t)
	storetest.CheckRows(t, w.Store)
}

func TestI1WhatIsFinalAlreadyStaysAndIsMarkedWhenItIsRefused(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	conv := w.Open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, storetest.Reported("a", "bash", `{"n":1}`), storetest.Reported("b", "bash", `{"n":2}`))
	w.Take(t, storetest.Call("c1", "r", "bash", `{"n":1}`), storetest.Call("c2", "r", "bash", `{"n":2}`))
	w.Vote(t, w.Of(t, "c1").ID, models.DecisionInput{Approved: new(bool), Reason: "no"})
	w.Deliver(t, w.Of(t, "c1").ID, models.DeliveryTaken)
	id := w.Of(t, "c2").ID
	w.WantRow(t, id, "rejected cascade")
	w.Begin(t, id)
	storetest.Must(t, outside.New(w.Store).EndDelivery(t.Context(), w.Tell, id, tellsNo("it runs")))
	w.WantRow(t, id, "rejected cascade")
	if got, want := w.Of(t, "c2").Contradiction, w.Up.Name+" refused the decision (422) and said: “it runs”"; got != want {
		t.Errorf("marked %q, want %q", got, want)
	}
	if conv == "" || len(w.Due(t)) != 0 {
		t.Error("it is told again")
	}
	w.Verify(t)
	storetest.CheckRows(t, w.Store)
}

func TestI1AnAdminWithdrawsADecisionThatCannotBeTold(t *testing.T) {
	t.Parallel()
	for _, deadline := range []bool{false, true} {
		w := newOutsideWorld(t)
		item := storetest.Call("c", "", "bash", `{}`)
		if deadline {
			item.Timeout = new(time.Minute)
		}
		id := w.Taken(t, item)
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
		withdraw(w.Admin, "nothing is held", models.CodeConflict)
		w.Vote(t, id, storetest.Yes())
		withdraw(w.Owner, "it is mine", models.CodeForbidden)
		withdraw(w.Admin, " ", models.CodeCommentRequired)
		w.Begin(t, id)
		withdraw(w.Admin, "in flight", models.CodeBeingDecided)
		storetest.Must(t, outside.New(w.Store).EndDelivery(t.Context(), w.Tell, id, models.DeliveryEnd{Result: models.DeliveryLater, Lost: true, Pause: time.Hour, Text: "It failed (500)."}))
		want, actions := "pending ", []string{"system approval.requested", "user approval.voted", "user approval.withdrawn"}
		if deadline {
			w.Clock.Step(2 * time.Minute)
			want, actions = "expired undelivered", append(actions, "system approval.expired")
		}
		withdraw(w.Admin, "hub is broken", "")
		w.WantRow(t, id, want)
		storetest.SameStrings(t, "ledger", w.ActionsOn(t, id), actions)
		origins, err := w.Requests.Origins(t.Context(), w.Admin, id)
		storetest.Must(t, err)
		if got := origins[id].Withdrawals; len(got) != 1 || got[0].Said != "hub is broken" || got[0].Kind != models.WithdrawalByAdmin || got[0].ByName != w.Admin.Name || !got[0].Lost {
			t.Errorf("%+v", got)
		}
		if len(w.Due(t)) != 0 {
			t.Error("it is told all the same")
		}
		if deadline {
			withdraw(w.Admin, "again", models.CodeExpired)
		} else {
			withdraw(w.Admin, "again", models.CodeConflict)
		}
		w.Verify(t)
		storetest.CheckRows(t, w.Store)
	}
}

// While an upstream is paused a decision waits, and expires when its time is over.
func TestADecisionOfAPausedUpstreamIsNeitherSentNorStuck(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	item := storetest.Call("c", "", "bash", `{}`)
	item.Timeout = new(time.Minute)
	id := w.Taken(t, item)
	w.Vote(t, id, storetest.Yes())
	_, u, err := outside.New(w.Store).BeginDelivery(t.Context(), w.Tell, id)
	storetest.Must(t, err)
	storetest.Must(t, outside.New(w.Store).EndDelivery(t.Context(), w.Tell, id, models.DeliveryEnd{Result: models.DeliveryLater, WrongKey: true, Key: u.KeySealed, Text: "The upstream refuses the key (401)."}))
	if w.Begin(t, id) != nil || len(w.Due(t)) != 0 {
		t.Error("it is told while the upstream is paused")
	}
	if due, _, err := outside.New(w.Store).DueUpstreams(t.Context()); err != nil || len(due) != 0 {
		t.Errorf("it is polled while it is paused: %v, %v", due, err)
	}
	w.Clock.Step(11 * time.Minute)
	if due := w.Due(t); len(due) != 1 {
		t.Fatalf("due when its time is over: %v", due)
	}
	if w.Begin(t, id) != nil {
		t.Error("it is told when its time is over")
	}
	w.WantRow(t, id, "expired undelivered")
	storetest.SameStrings(t, "upstream", storetest.Column(t, w.Store, `SELECT action FROM ledger WHERE action LIKE 'upstream.%' ORDER BY seq`), []string{"upstream.added", "upstream.paused"})
	storetest.Must(t, outside.New(w.Store).ResumeUpstream(t.Context(), w.Admin, w.Up.ID))
	storetest.Must(t, outside.New(w.Store).ResumeUpstream(t.Context(), w.Admin, w.Up.ID)) // changes nothing
	storetest.SameStrings(t, "upstream", storetest.Column(t, w.Store, `SELECT action FROM ledger WHERE action LIKE 'upstream.%' ORDER BY seq`), []string{"upstream.added", "upstream.paused", "upstream.resumed"})
	if due, _, err := outside.New(w.Store).DueUpstreams(t.Context()); err != nil || len(due) != 1 {
		t.Errorf("it is not polled at once: %v, %v", due, err)
	}
	w.Verify(t)
	storetest.CheckRows(t, w.Store)
}

func TestTheItemsOwnIDAndDeadlineAreKept(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	item := storetest.Call("call_1", "", "bash", `{}`)
	until := w.Clock.Now().Add(10*time.Minute + 123*time.Millisecond)
	item.ApprovalID, item.TimeoutAt, item.Timeout = "appr_1", until, new(10*time.Minute+900*time.Millisecond) // by a clock of whole seconds
	id := w.Taken(t, item)
	a, err := w.Requests.Approval(t.Context(), w.Admin, id)
	storetest.Must(t, err)
	if !a.ApprovalTimeoutAt.Equal(until) {
		t.Errorf("it runs out at %v, want %v", a.ApprovalTimeoutAt, until)
	}
	origins, err := w.Requests.Origins(t.Context(), w.Admin, id)
	storetest.Must(t, err)
	if got := origins[id].ApprovalID; got != "appr_1" {
		t.Errorf("its id there is %q", got)
	}
	other := storetest.Call("call_2", "", "bash", `{}`)
	other.TimeoutAt, other.Timeout = until, new(time.Minute) // another clock
	a, err = w.Requests.Approval(t.Context(), w.Admin, w.Taken(t, other))
	storetest.Must(t, err)
	if want := w.Clock.Now().Add(time.Minute); !a.ApprovalTimeoutAt.Equal(want) {
		t.Errorf("it runs out at %v, want %v", a.ApprovalTimeoutAt, want)
	}
}

func TestAContactWithoutAQuestionIsShownWhole(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	item := models.OutsideItem{Kind: models.OutsideContact, CallID: "h", Rest: []byte(`{"call_id":"h","ask":{"b":1,"a":2}}`)}
	a, err := w.Requests.Approval(t.Context(), w.Admin, w.Taken(t, item))
	storetest.Must(t, err)
	if a.Context != `{"ask":{"a":2,"b":1},"call_id":"h"}` || a.Description == "" {
		t.Errorf("asks %q in %q", a.Description, a.Context)
	}
	item.CallID, item.Message, item.Name = "h2", "Which?", "Deploy"
	a, err = w.Requests.Approval(t.Context(), w.Admin, w.Taken(t, item))
	storetest.Must(t, err)
	if a.Description != "Which?" || a.Context != "Deploy\n\n"+`{"ask":{"a":2,"b":1},"call_id":"h"}` {
		t.Errorf("asks %q in %q", a.Description, a.Context)
	}
}
