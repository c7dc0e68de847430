package store_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

func TestEveryAnswerOfTheOtherSystemHasItsOutcome(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		told                 models.DeliveryResult
		want, action, marked string
		withdrawn            bool
	}{
		{models.DeliveryTaken, "approved reviewer", "user approval.approved", "", false},
		{models.DeliveryConfirmed, "approved reviewer", "user approval.approved", "As told.", false},
		{models.DeliveryElsewhere, "resolved elsewhere", "system approval.resolved", "", true},
		{models.DeliveryGone, "resolved gone", "system approval.resolved", "", true},
	} {
		t.Run(string(tt.told), func(t *testing.T) {
			t.Parallel()
			w, conv, id := heldCall(t)
			w.deliver(t, id, tt.told)
			w.wantRow(t, id, tt.want)
			r := w.byID(t, id)
			if r.held || r.contradiction != tt.marked {
				t.Errorf("%+v", r)
			}
			if tt.withdrawn != (r.feedback == "As told.") {
				t.Errorf("the decider reads %q", r.feedback)
			}
			storetest.SameStrings(t, "ledger", w.actionsOn(t, id), []string{"system approval.requested", "user approval.voted", tt.action})
			w.status(t, conv, models.ConversationRunning)
			if due := w.due(t); len(due) != 0 || w.begin(t, id) != nil {
				t.Error("it is told again")
			}
			before := storetest.Dump(t, w.Store)
			if tt.told != models.DeliveryTaken {
				w.end(t, id, tt.told)
			}
			if after := storetest.Dump(t, w.Store); after != before && !strings.Contains(difference(before, after), "expired here") {
				t.Error(difference(before, after))
			}
			w.verify(t)
		})
	}
}

func TestWhatCouldNotBeToldIsTriedAgain(t *testing.T) {
	t.Parallel()
	w, conv, id := heldCall(t)
	fails := func(lost bool, pause time.Duration) {
		t.Helper()
		storetest.Must(t, w.EndDelivery(t.Context(), w.tell, id, models.DeliveryEnd{Result: models.DeliveryLater, Lost: lost, Text: "It failed (500).", Pause: pause}))
	}
	if d := w.begin(t, id); d.Attempts != 1 || d.Lost || !d.Approved || d.CallID != "c" {
		t.Errorf("%+v", d)
	}
	fails(false, time.Minute)
	if due, next, err := w.DueDeliveries(t.Context(), 10); len(due) != 0 || !next.Equal(w.clock.Now().Add(time.Minute)) || err != nil {
		t.Errorf("%v, %v, %v", due, next, err)
	}
	w.wantRow(t, id, "pending ")
	w.status(t, conv, models.ConversationWaitingInput)
	states, err := w.UpstreamStates(t.Context(), w.admin)
	if err != nil || states[0].Unsent != 1 || states[0].UnsentProblem != "It failed (500)." || states[0].UnsentSince == nil {
		t.Errorf("%+v, %v", states, err)
	}
	w.clock.Step(time.Minute)
	if due := w.due(t); len(due) != 1 || due[0] != id {
		t.Errorf("due: %v", due)
	}
	if d := w.begin(t, id); d.Attempts != 2 || d.Lost {
		t.Errorf("%+v", d)
	}
	fails(true, time.Second)
	if d := w.begin(t, id); d.Attempts != 3 || !d.Lost {
		t.Errorf("what was lost once may have arrived for ever: %+v", d)
	}
	fails(false, time.Second)
	// A process that dies leaves its attempt in flight, and that may have arrived.
	if d := w.begin(t, id); !d.Lost {
		t.Errorf("%+v", d)
	}
	w.deliver(t, id, models.DeliveryTaken)
	w.wantRow(t, id, "approved reviewer")
	if n := len(w.actionsOn(t, id)); n != 3 {
		t.Errorf("attempts are bookkeeping, the ledger has %d entries", n)
	}
}

func TestAnAttemptThatDiedMayHaveArrived(t *testing.T) {
	t.Parallel()
	w, _, id := heldCall(t)
	if d := w.begin(t, id); d.Lost {
		t.Errorf("%+v", d)
	}
	// Another process takes over.
	w.clock.Step(2000 * time.Hour)
	l, err := w.TakeLease(t.Context(), "deliver", "other", time.Hour)
	storetest.Must(t, err)
	if l.Number == w.tell.Number {
		t.Fatal("the lease is the same")
	}
	w.clock.Step(-2000 * time.Hour)
	storetest.Must(t, w.EndDelivery(t.Context(), l, id, models.DeliveryEnd{Result: models.DeliveryLater}))
	d, u, err := w.BeginDelivery(t.Context(), l, id)
	if err != nil || d == nil || u.ID != w.up.ID {
		t.Fatalf("%+v, %v", d, err)
	}
	d, _, err = w.BeginDelivery(t.Context(), l, id)
	if err != nil || !d.Lost {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestWhoHasLostTheLeaseWritesNothing(t *testing.T) {
	t.Parallel()
	w, _, id := heldCall(t)
	w.begin(t, id)
	stale := map[string]*models.Lease{
		"another number": {Name: "deliver", Holder: "h", Number: w.tell.Number + 1}, "another holder": {Name: "deliver", Holder: "x", Number: w.tell.Number},
		"another's": {Name: "nothing", Holder: "h", Number: w.tell.Number},
	}
	for name, l := range stale {
		poll := *l
		poll.Name = strings.Replace(l.Name, "deliver", "poll", 1)
		for what, do := range map[string]func() error{
			"begin": func() error { return third(w.BeginDelivery(t.Context(), l, id)) },
			"end": func() error {
				return w.EndDelivery(t.Context(), l, id, models.DeliveryEnd{Result: models.DeliveryTaken})
			},
			"take":      func() error { return w.TakeOutside(t.Context(), &poll, w.up.ID, call("x", "", "bash", `{}`)) },
			"reconcile": func() error { return w.Reconcile(t.Context(), &poll, w.up.ID, models.OutsideCallKind, nil) },
			"note":      func() error { return w.NotePoll(t.Context(), &poll, w.up.ID, models.PollNote{}) },
		} {
			before := storetest.Dump(t, w.Store)
			if err := do(); models.ErrorCode(err) != models.CodeConflict {
				t.Errorf("%s by %s: %v", what, name, err)
			}
			if after := storetest.Dump(t, w.Store); after != before {
				t.Errorf("%s by %s: %s", what, name, difference(before, after))
			}
		}
	}
	// One that was not renewed in time is lost, although nobody has taken it.
	w.clock.Step(1001 * time.Hour)
	wantCode(t, third(w.BeginDelivery(t.Context(), w.tell, id)), models.CodeConflict)
}

func TestI10AVerdictThatCannotBeToldInTimeIsUndelivered(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		left, gone time.Duration // of the call's time, at the vote and until it is given up
	}{
		"ten minutes after the vote": {5 * time.Minute, 10 * time.Minute}, "at the deadline": {time.Hour, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newOutsideWorld(t)
			conv := w.open(t, models.RunInput{RunID: "r"}, reported("u", "bash", `{}`))
			item := call("c", "r", "bash", `{}`)
			item.Timeout = &tt.left
			id := w.taken(t, item)
			w.vote(t, id, yes())
			w.begin(t, id)
			storetest.Must(t, w.EndDelivery(t.Context(), w.tell, id, models.DeliveryEnd{Result: models.DeliveryLater, Lost: true, Text: "It failed (500).", Pause: tt.gone - time.Second}))
			w.clock.Step(tt.gone - time.Second)
			if n, err := w.ExpireDue(t.Context(), 10); n != 0 || err != nil {
				t.Errorf("%d expired, %v", n, err)
			}
			if d := w.begin(t, id); d == nil {
				t.Fatal("it was given up too early")
			}
			w.clock.Step(time.Second)
			if d := w.begin(t, id); d != nil {
				t.Fatal("it is told after its time")
			}
			w.wantRow(t, id, "pending ") // an attempt is in flight, perhaps of another process
			if due := w.due(t); len(due) != 0 {
				t.Errorf("due: %v", due)
			}
			w.clock.Step(2*models.MaxUpstreamTimeout + time.Minute)
			if due := w.due(t); len(due) != 1 {
				t.Errorf("due: %v", due)
			}
			if d := w.begin(t, id); d != nil {
				t.Fatal("it is told after its time")
			}
			w.wantRow(t, id, "expired undelivered")
			w.status(t, conv, models.ConversationRunning)
			w.end(t, id, models.DeliveryTaken)
			r := w.byID(t, id)
			if r.status != "expired" || r.contradiction != "The other system accepted the decision after the request had expired here." {
				t.Errorf("%+v", r)
			}
			storetest.SameStrings(t, "ledger", w.actionsOn(t, id), []string{"system approval.requested", "user approval.voted", "system approval.expired"})
			w.verify(t)
		})
	}
}

func TestAnAttemptThatEndsAfterTheTimeIsUpStillCounts(t *testing.T) {
	t.Parallel()
	w, _, id := heldCall(t)
	w.begin(t, id)
	w.clock.Step(time.Hour)
	w.end(t, id, models.DeliveryTaken)
	w.wantRow(t, id, "approved reviewer")
}

func TestWithoutALostAttemptItIsUndeliveredAtOnce(t *testing.T) {
	t.Parallel()
	w, _, id := heldCall(t)
	w.clock.Step(time.Hour)
	if d := w.begin(t, id); d != nil {
		t.Fatal("it is told after its time")
	}
	w.wantRow(t, id, "expired undelivered")
}

func TestOneUpstreamsVerdictsDoNotHoldUpAnothers(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	second := w.upstream(t, "other")
	for i := range 30 {
		w.vote(t, w.taken(t, call(strings.Repeat("c", i+1), "", "bash", `{}`)), yes())
	}
	w.clock.Step(time.Second)
	storetest.Must(t, w.TakeOutside(t.Context(), w.poll, second.ID, call("c", "", "bash", `{}`)))
	r, _ := w.row(t, `upstream_id = ?`, second.ID)
	w.vote(t, r.id, yes())
	due, _, err := w.DueDeliveries(t.Context(), 4)
	if err != nil || len(due[w.up.ID]) != 4 || len(due[second.ID]) != 1 {
		t.Errorf("%v, %v", due, err)
	}
}

func TestACascadeIsToldToo(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	w.open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, reported("a", "bash", `{"n":1}`), reported("b", "bash", `{"n":2}`))
	first := w.taken(t, call("1", "r", "bash", `{"n":1}`))
	second := w.taken(t, call("2", "r", "bash", `{"n":2}`))
	w.vote(t, first, no("not today"))
	w.deliver(t, first, models.DeliveryTaken)
	w.wantRow(t, second, "rejected cascade")
	d := w.begin(t, second)
	if d == nil || d.Approved || d.Reason != "not today" || d.CallID != "2" {
		t.Fatalf("%+v", d)
	}
	w.end(t, second, models.DeliveryElsewhere)
	w.wantRow(t, second, "rejected cascade")
	if r := w.byID(t, second); r.contradiction != "As told." {
		t.Errorf("%+v", r)
	}
	w.verify(t)
}

func TestOnlyWhatACompleteListLeavesOutIsSettledElsewhere(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	conv := w.open(t, models.RunInput{RunID: "r"}, tenQueued(false)...)
	left := time.Minute
	ids := map[string]models.ResponseID{}
	for _, c := range []string{"listed", "missing", "held", "late"} {
		item := call(c, "", "bash", `{}`)
		if c == "missing" {
			item = call(c, "r", "bash", `{"n":2}`)
		}
		if c == "late" {
			item.Timeout = &left
		}
		ids[c] = w.taken(t, item)
	}
	ids["question"] = w.taken(t, contact("question", "", "Why?"))
	w.vote(t, ids["held"], yes())
	other := w.upstream(t, "other")
	storetest.Must(t, w.Reconcile(t.Context(), w.poll, other.ID, models.OutsideCallKind, nil))
	w.clock.Step(left)
	storetest.Must(t, w.Reconcile(t.Context(), w.poll, w.up.ID, models.OutsideCallKind, []string{"listed"}))
	for c, want := range map[string]string{
		"listed": "pending ", "missing": "resolved elsewhere", "held": "pending ", "late": "expired timeout", "question": "pending ",
	} {
		if r := w.byID(t, ids[c]); r.status+" "+r.cause != want {
			t.Errorf("%s is %s %s, want %s", c, r.status, r.cause, want)
		}
	}
	w.status(t, conv, models.ConversationRunning)
	wantCode(t, storetest.Err(w.Decide(t.Context(), w.owner, ids["missing"], yes())), models.CodeAlreadyDecided)
	storetest.Must(t, w.Reconcile(t.Context(), w.poll, w.up.ID, models.OutsideContact, nil))
	w.wantRow(t, ids["question"], "resolved elsewhere")
	before := storetest.Dump(t, w.Store)
	storetest.Must(t, w.Reconcile(t.Context(), w.poll, w.up.ID, models.OutsideCallKind, []string{"listed"}))
	if after := storetest.Dump(t, w.Store); after != before {
		t.Error(difference(before, after))
	}
	storetest.SameStrings(t, "ledger", w.actionsOn(t, ids["missing"]), []string{"system approval.requested", "system approval.resolved"})
	w.deliver(t, ids["held"], models.DeliveryTaken)
	w.wantRow(t, ids["held"], "approved reviewer")
	w.verify(t)
}

func TestTheOtherSystemsDeadlineHolds(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	left, over := 90*time.Second, -time.Second
	item := call("c", "", "bash", `{}`)
	item.Timeout = &left
	id := w.taken(t, item)
	item.CallID, item.Timeout = "over", &over
	w.take(t, item)
	w.clock.Step(89 * time.Second)
	wantCode(t, storetest.Err(w.Decide(t.Context(), w.owner, w.of(t, "over").id, yes())), models.CodeExpired)
	w.clock.Step(time.Second)
	wantCode(t, storetest.Err(w.Decide(t.Context(), w.owner, id, yes())), models.CodeExpired)
	if n, err := w.ExpireDue(t.Context(), 10); n != 2 || err != nil {
		t.Errorf("%d expired, %v", n, err)
	}
	w.wantRow(t, id, "expired timeout")
}
