package outside_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/outside"
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
			w := newWorld(t)
			conv, id := w.HeldCall(t)
			w.Deliver(t, id, tt.told)
			w.WantRow(t, id, tt.want)
			r := w.ByID(t, id)
			if r.Held || r.Contradiction != tt.marked {
				t.Errorf("%+v", r)
			}
			if tt.withdrawn != (r.Feedback == "As told.") {
				t.Errorf("the decider reads %q", r.Feedback)
			}
			storetest.SameStrings(t, "ledger", w.ActionsOn(t, id), []string{"system approval.requested", "user approval.voted", tt.action})
			w.Status(t, conv, models.ConversationRunning)
			if due := w.Due(t); len(due) != 0 || w.Begin(t, id) != nil {
				t.Error("it is told again")
			}
			before := storetest.Dump(t, w.Store)
			if tt.told != models.DeliveryTaken {
				w.End(t, id, tt.told)
			}
			if after := storetest.Dump(t, w.Store); after != before && !strings.Contains(storetest.Difference(before, after), "expired here") {
				t.Error(storetest.Difference(before, after))
			}
			w.Verify(t)
		})
	}
}

func TestWhatCouldNotBeToldIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	conv, id := w.HeldCall(t)
	fails := func(lost bool, pause time.Duration) {
		t.Helper()
		storetest.Must(t, outside.New(w.Store).EndDelivery(t.Context(), w.Tell, id, models.DeliveryEnd{Result: models.DeliveryLater, Lost: lost, Text: "It failed (500).", Pause: pause}))
	}
	if d := w.Begin(t, id); d.Attempts != 1 || d.Lost || !d.Approved || d.CallID != "c" {
		t.Errorf("%+v", d)
	}
	fails(false, time.Minute)
	if due, next, err := outside.New(w.Store).DueDeliveries(t.Context(), 10); len(due) != 0 || !next.Equal(w.Clock.Now().Add(time.Minute)) || err != nil {
		t.Errorf("%v, %v, %v", due, next, err)
	}
	w.WantRow(t, id, "pending ")
	w.Status(t, conv, models.ConversationWaitingInput)
	states, err := outside.New(w.Store).UpstreamStates(t.Context(), w.Admin)
	if err != nil || states[0].Unsent != 1 || states[0].UnsentProblem != "It failed (500)." || states[0].UnsentSince == nil {
		t.Errorf("%+v, %v", states, err)
	}
	w.Clock.Step(time.Minute)
	if due := w.Due(t); len(due) != 1 || due[0] != id {
		t.Errorf("due: %v", due)
	}
	if d := w.Begin(t, id); d.Attempts != 2 || d.Lost {
		t.Errorf("%+v", d)
	}
	fails(true, time.Second)
	if d := w.Begin(t, id); d.Attempts != 3 || !d.Lost {
		t.Errorf("what was lost once may have arrived for ever: %+v", d)
	}
	fails(false, time.Second)
	// A process that dies leaves its attempt in flight, and that may have arrived.
	if d := w.Begin(t, id); !d.Lost {
		t.Errorf("%+v", d)
	}
	w.Deliver(t, id, models.DeliveryTaken)
	w.WantRow(t, id, "approved reviewer")
	if n := len(w.ActionsOn(t, id)); n != 3 {
		t.Errorf("attempts are bookkeeping, the ledger has %d entries", n)
	}
}

func TestAnAttemptThatDiedMayHaveArrived(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, id := w.HeldCall(t)
	if d := w.Begin(t, id); d.Lost {
		t.Errorf("%+v", d)
	}
	// Another process takes over.
	w.Clock.Step(2000 * time.Hour)
	l, err := w.Nodes.TakeLease(t.Context(), "deliver", "other", time.Hour)
	storetest.Must(t, err)
	if l.Number == w.Tell.Number {
		t.Fatal("the lease is the same")
	}
	w.Clock.Step(-2000 * time.Hour)
	storetest.Must(t, outside.New(w.Store).EndDelivery(t.Context(), l, id, models.DeliveryEnd{Result: models.DeliveryLater}))
	d, u, err := outside.New(w.Store).BeginDelivery(t.Context(), l, id)
	if err != nil || d == nil || u.ID != w.Up.ID {
		t.Fatalf("%+v, %v", d, err)
	}
	d, _, err = outside.New(w.Store).BeginDelivery(t.Context(), l, id)
	if err != nil || !d.Lost {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestWhoHasLostTheLeaseWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, id := w.HeldCall(t)
	w.Begin(t, id)
	stale := map[string]*models.Lease{
		"another number": {Name: "deliver", Holder: "h", Number: w.Tell.Number + 1}, "another holder": {Name: "deliver", Holder: "x", Number: w.Tell.Number},
		"another's": {Name: "nothing", Holder: "h", Number: w.Tell.Number},
	}
	for name, l := range stale {
		poll := *l
		poll.Name = strings.Replace(l.Name, "deliver", "poll", 1)
		for what, do := range map[string]func() error{
			"begin": func() error { return storetest.Err3(outside.New(w.Store).BeginDelivery(t.Context(), l, id)) },
			"end": func() error {
				return outside.New(w.Store).EndDelivery(t.Context(), l, id, models.DeliveryEnd{Result: models.DeliveryTaken})
			},
			"take": func() error {
				return outside.New(w.Store).Take(t.Context(), &poll, w.Up.ID, storetest.Call("x", "", "bash", `{}`))
			},
			"reconcile": func() error {
				return outside.New(w.Store).Reconcile(t.Context(), &poll, w.Up.ID, models.OutsideCallKind, nil)
			},
			"note": func() error {
				return outside.New(w.Store).NotePoll(t.Context(), &poll, w.Up.ID, models.PollNote{})
			},
		} {
			before := storetest.Dump(t, w.Store)
			if err := do(); models.ErrorCode(err) != models.CodeConflict {
				t.Errorf("%s by %s: %v", what, name, err)
			}
			if after := storetest.Dump(t, w.Store); after != before {
				t.Errorf("%s by %s: %s", what, name, storetest.Difference(before, after))
			}
		}
	}
	// One that was not renewed in time is lost, although nobody has taken it.
	w.Clock.Step(1001 * time.Hour)
	storetest.Refused(t, storetest.Err3(outside.New(w.Store).BeginDelivery(t.Context(), w.Tell, id)), models.CodeConflict)
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
			w := newWorld(t)
			conv := w.Open(t, models.RunInput{RunID: "r"}, storetest.Reported("u", "bash", `{}`))
			item := storetest.Call("c", "r", "bash", `{}`)
			item.Timeout = &tt.left
			id := w.Taken(t, item)
			w.Vote(t, id, storetest.Yes())
			w.Begin(t, id)
			storetest.Must(t, outside.New(w.Store).EndDelivery(t.Context(), w.Tell, id, models.DeliveryEnd{Result: models.DeliveryLater, Lost: true, Text: "It failed (500).", Pause: tt.gone - time.Second}))
			w.Clock.Step(tt.gone - time.Second)
			if n, err := w.ExpireDue(t.Context(), 10); n != 0 || err != nil {
				t.Errorf("%d expired, %v", n, err)
			}
			if d := w.Begin(t, id); d == nil {
				t.Fatal("it was given up too early")
			}
			w.Clock.Step(time.Second)
			if d := w.Begin(t, id); d != nil {
				t.Fatal("it is told after its time")
			}
			w.WantRow(t, id, "pending ") // an attempt is in flight, perhaps of another process
			if due := w.Due(t); len(due) != 0 {
				t.Errorf("due: %v", due)
			}
			w.Clock.Step(2*models.MaxUpstreamTimeout + time.Minute)
			if due := w.Due(t); len(due) != 1 {
				t.Errorf("due: %v", due)
			}
			if d := w.Begin(t, id); d != nil {
				t.Fatal("it is told after its time")
			}
			w.WantRow(t, id, "expired undelivered")
			w.Status(t, conv, models.ConversationRunning)
			w.End(t, id, models.DeliveryTaken)
			r := w.ByID(t, id)
			if r.Status != "expired" || r.Contradiction != "The other system accepted the decision after the request had expired here." {
				t.Errorf("%+v", r)
			}
			storetest.SameStrings(t, "ledger", w.ActionsOn(t, id), []string{"system approval.requested", "user approval.voted", "system approval.expired"})
			w.Verify(t)
		})
	}
}

func TestAnAttemptThatEndsAfterTheTimeIsUpStillCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, id := w.HeldCall(t)
	w.Begin(t, id)
	w.Clock.Step(time.Hour)
	w.End(t, id, models.DeliveryTaken)
	w.WantRow(t, id, "approved reviewer")
}

func TestWithoutALostAttemptItIsUndeliveredAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, id := w.HeldCall(t)
	w.Clock.Step(time.Hour)
	if d := w.Begin(t, id); d != nil {
		t.Fatal("it is told after its time")
	}
	w.WantRow(t, id, "expired undelivered")
}

func TestOneUpstreamsVerdictsDoNotHoldUpAnothers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	second := w.Upstream(t, "other")
	for i := range 30 {
		w.Vote(t, w.Taken(t, storetest.Call(strings.Repeat("c", i+1), "", "bash", `{}`)), storetest.Yes())
	}
	w.Clock.Step(time.Second)
	storetest.Must(t, outside.New(w.Store).Take(t.Context(), w.Poll, second.ID, storetest.Call("c", "", "bash", `{}`)))
	r, _ := w.Row(t, `upstream_id = ?`, second.ID)
	w.Vote(t, r.ID, storetest.Yes())
	due, _, err := outside.New(w.Store).DueDeliveries(t.Context(), 4)
	if err != nil || len(due[w.Up.ID]) != 4 || len(due[second.ID]) != 1 {
		t.Errorf("%v, %v", due, err)
	}
}

func TestACascadeIsToldToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, storetest.Reported("a", "bash", `{"n":1}`), storetest.Reported("b", "bash", `{"n":2}`))
	first := w.Taken(t, storetest.Call("1", "r", "bash", `{"n":1}`))
	second := w.Taken(t, storetest.Call("2", "r", "bash", `{"n":2}`))
	w.Vote(t, first, storetest.No("not today"))
	w.Deliver(t, first, models.DeliveryTaken)
	w.WantRow(t, second, "rejected cascade")
	d := w.Begin(t, second)
	if d == nil || d.Approved || d.Reason != "not today" || d.CallID != "2" {
		t.Fatalf("%+v", d)
	}
	w.End(t, second, models.DeliveryElsewhere)
	w.WantRow(t, second, "rejected cascade")
	if r := w.ByID(t, second); r.Contradiction != "As told." {
		t.Errorf("%+v", r)
	}
	w.Verify(t)
}

func TestOnlyWhatACompleteListLeavesOutIsSettledElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	conv := w.Open(t, models.RunInput{RunID: "r"}, tenQueued(false)...)
	left := time.Minute
	ids := map[string]models.ResponseID{}
	for _, c := range []string{"listed", "missing", "held", "late"} {
		item := storetest.Call(c, "", "bash", `{}`)
		if c == "missing" {
			item = storetest.Call(c, "r", "bash", `{"n":2}`)
		}
		if c == "late" {
			item.Timeout = &left
		}
		ids[c] = w.Taken(t, item)
	}
	ids["question"] = w.Taken(t, storetest.Contact("question", "", "Why?"))
	w.Vote(t, ids["held"], storetest.Yes())
	other := w.Upstream(t, "other")
	storetest.Must(t, outside.New(w.Store).Reconcile(t.Context(), w.Poll, other.ID, models.OutsideCallKind, nil))
	w.Clock.Step(left)
	storetest.Must(t, outside.New(w.Store).Reconcile(t.Context(), w.Poll, w.Up.ID, models.OutsideCallKind, []string{"listed"}))
	for c, want := range map[string]string{
		"listed": "pending ", "missing": "resolved elsewhere", "held": "pending ", "late": "expired timeout", "question": "pending ",
	} {
		if r := w.ByID(t, ids[c]); r.Status+" "+r.Cause != want {
			t.Errorf("%s is %s %s, want %s", c, r.Status, r.Cause, want)
		}
	}
	w.Status(t, conv, models.ConversationRunning)
	storetest.Refused(t, storetest.Err(w.Decide(t.Context(), w.Owner, ids["missing"], storetest.Yes())), models.CodeAlreadyDecided)
	storetest.Must(t, outside.New(w.Store).Reconcile(t.Context(), w.Poll, w.Up.ID, models.OutsideContact, nil))
	w.WantRow(t, ids["question"], "resolved elsewhere")
	before := storetest.Dump(t, w.Store)
	storetest.Must(t, outside.New(w.Store).Reconcile(t.Context(), w.Poll, w.Up.ID, models.OutsideCallKind, []string{"listed"}))
	if after := storetest.Dump(t, w.Store); after != before {
		t.Error(storetest.Difference(before, after))
	}
	storetest.SameStrings(t, "ledger", w.ActionsOn(t, ids["missing"]), []string{"system approval.requested", "system approval.resolved"})
	w.Deliver(t, ids["held"], models.DeliveryTaken)
	w.WantRow(t, ids["held"], "approved reviewer")
	w.Verify(t)
}

func TestTheOtherSystemsDeadlineHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	left, over := 90*time.Second, -time.Second
	item := storetest.Call("c", "", "bash", `{}`)
	item.Timeout = &left
	id := w.Taken(t, item)
	item.CallID, item.Timeout = "over", &over
	w.Take(t, item)
	w.Clock.Step(89 * time.Second)
	storetest.Refused(t, storetest.Err(w.Decide(t.Context(), w.Owner, w.Of(t, "over").ID, storetest.Yes())), models.CodeExpired)
	w.Clock.Step(time.Second)
	storetest.Refused(t, storetest.Err(w.Decide(t.Context(), w.Owner, id, storetest.Yes())), models.CodeExpired)
	if n, err := w.ExpireDue(t.Context(), 10); n != 2 || err != nil {
		t.Errorf("%d expired, %v", n, err)
	}
	w.WantRow(t, id, "expired timeout")
}
