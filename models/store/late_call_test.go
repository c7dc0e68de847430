package store_test

import (
	"fmt"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
)

// late takes an approval of run r that finds no call, as often as two polls do.
func (w *outsideWorld) late(t *testing.T, item models.OutsideItem) models.ResponseID {
	t.Helper()
	w.take(t, item)
	return w.taken(t, item)
}

func (w *outsideWorld) link(t *testing.T) {
	t.Helper()
	storetest.Must(t, w.LinkOutside(t.Context(), w.poll, w.up))
}

func (w *outsideWorld) origin(t *testing.T, id models.ResponseID) models.Origin {
	t.Helper()
	got, err := w.Origins(t.Context(), w.owner, id)
	storetest.Must(t, err)
	return got[id]
}

func (w *outsideWorld) inboxOf(t *testing.T) []models.Brief {
	t.Helper()
	page, err := w.Inbox(t.Context(), w.owner, store.InboxQuery{})
	storetest.Must(t, err)
	return page.Items
}

func TestALateCallJoinsTheRowOfItsApproval(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{13 * time.Second, 10 * time.Minute} {
		t.Run(after.String(), func(t *testing.T) {
			t.Parallel()
			w := newOutsideWorld(t)
			id := w.late(t, call("c", "r", "bash", `{"n": 1}`))
			own := w.byID(t, id)
			w.status(t, own.conv, models.ConversationWaitingInput)
			w.clock.Step(after)
			conv := w.open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, reported("u1", "bash", `{"n":0}`), reported("u2", "bash", `{"n":1}`), reported("u3", "write", `{}`))
			r := w.byID(t, id)
			if r.conv != conv || r.use != "u2" || r.matched != "input" || r.status != "pending" || r.contradiction != "" {
				t.Errorf("the reported call did not join: %+v", r)
			}
			w.status(t, own.conv, models.ConversationRunning)
			w.status(t, conv, models.ConversationWaitingInput)
			waiting := w.inboxOf(t)
			if len(waiting) != 1 || waiting[0].ID != id || waiting[0].AgentName != w.agent.Name {
				t.Errorf("the inbox has %+v", waiting)
			}
			// The agent's own question about it is the same request.
			if a, err := w.Ask(t.Context(), w.agent, models.AskInput{RunID: "r", ToolUseID: "u2", ToolName: "bash", Input: []byte(`{"n":1}`)}); err != nil || a.ID != id {
				t.Errorf("%+v, %v", a, err)
			}
			w.link(t)
			w.vote(t, id, no("no"))
			w.deliver(t, id, models.DeliveryTaken)
			w.wantRow(t, id, "rejected reviewer")
			w.wantRow(t, w.byUse(t, "u1").id, " ")
			w.wantRow(t, w.byUse(t, "u3").id, "rejected cascade")
			w.report(t, conv, models.RunEvent{Type: models.RunEventToolResult, ToolUseID: "u2", Result: "denied", IsError: true})
			if r := w.byID(t, id); !r.completed {
				t.Errorf("%+v", r)
			}
			w.status(t, conv, models.ConversationRunning)
			storetest.SameStrings(t, "ledger", w.actionsOn(t, id), []string{"system approval.requested", "agent response.adopted", "user approval.voted", "user approval.rejected"})
			w.verifyRows(t)
		})
	}
}

func (w *outsideWorld) verifyRows(t *testing.T) {
	t.Helper()
	w.verify(t)
	storetest.CheckRows(t, w.Store)
}

func TestWhatWasDecidedBeforeItsCallCameLeadsToIt(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"rejected", "approved", "held", "expired"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newOutsideWorld(t)
			item := call("c", "r", "bash", `{"n":6}`)
			item.Timeout = new(20 * time.Minute)
			id := w.late(t, item)
			before := w.byID(t, id)
			cascades := 0
			switch what {
			case "rejected":
				w.vote(t, id, no("not on a Friday"))
				w.deliver(t, id, models.DeliveryTaken)
				cascades = 4
			case "approved":
				w.vote(t, id, yes())
				w.deliver(t, id, models.DeliveryTaken)
			case "held":
				w.vote(t, id, no("not on a Friday"))
			case "expired":
				w.clock.Step(30 * time.Minute)
			}
			w.clock.Step(13 * time.Second)
			conv := w.open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, tenQueued(false)...)
			six := w.byUse(t, "u6")
			if r := w.byID(t, id); r.conv != before.conv || six.id == id || six.status != "" {
				t.Fatalf("the rows are %+v and %+v", r, six)
			}
			cascaded := func(want int) {
				t.Helper()
				n := 0
				for i := 7; i <= 10; i++ {
					if r := w.byUse(t, fmt.Sprintf("u%d", i)); r.cause == "cascade" && r.from == id && r.feedback == "not on a Friday" {
						n++
					}
				}
				if n != want {
					t.Errorf("%d calls were rejected by cascade, want %d", n, want)
				}
			}
			cascaded(cascades)
			if o := w.origin(t, id); o.Linked == nil || o.Linked.ID != six.id || o.Linked.By != models.MatchedByInput || !o.Linked.SameInput || o.Linked.RunID != "r" || o.Linked.ConversationID != conv {
				t.Errorf("the approval leads to %+v", o.Linked)
			}
			if o := w.origin(t, six.id); o.Linked == nil || o.Linked.ID != id {
				t.Errorf("the call leads to %+v", o.Linked)
			}
			details, err := w.RunDetails(t.Context(), w.owner, conv, 1, 20)
			storetest.Must(t, err)
			if d := details[w.byUse(t, "u8").id]; what == "rejected" && (d.CascadedFrom == nil || d.CascadedFrom.Place != 6) {
				t.Errorf("call 8 was rejected with %+v", d.CascadedFrom)
			}
			if what == "held" {
				w.deliver(t, id, models.DeliveryTaken)
				cascaded(4)
			}
			// It is taken by its approval: another one with the same input finds none.
			other := w.late(t, call("d", "r", "write", `{"n":6}`))
			if r := w.byID(t, other); r.use == "u6" {
				t.Errorf("%+v", r)
			}
			w.verifyRows(t)
		})
	}
}

func TestWithAnotherInputTheRowsStayTwoAndLeadToEachOther(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	id := w.late(t, call("c", "r", "bash", `{"n":1,"dry":false}`))
	w.clock.Step(13 * time.Second)
	conv := w.open(t, models.RunInput{RunID: "r"}, reported("u1", "read", `{}`), reported("u2", "bash", `{"n":1}`), reported("u3", "bash", `{"n":2}`))
	if o := w.origin(t, id); o.Linked != nil {
		t.Fatalf("linked before it was known which calls come: %+v", o.Linked)
	}
	w.clock.Step(models.NameAloneAfter)
	w.link(t)
	two := w.byUse(t, "u2")
	o := w.origin(t, id)
	if o.Linked == nil || o.Linked.ID != two.id || o.Linked.By != models.MatchedByOrder || o.Linked.SameInput || o.Linked.Input != `{"n":1}` {
		t.Fatalf("%+v", o.Linked)
	}
	if r := w.byID(t, id); r.conv == conv || r.status != "pending" || two.status != "" {
		t.Errorf("%+v and %+v", r, two)
	}
	if len(w.inboxOf(t)) != 1 {
		t.Error("one approval is not one entry of the inbox")
	}
	// The next approval goes to the next call.
	if r := w.byID(t, w.taken(t, call("d", "r", "bash", `{"n":77}`))); r.use != "u3" {
		t.Errorf("%+v", r)
	}
	w.verifyRows(t)
}

func TestACallInTheFamilyIsFoundByItsInputAndLaterByItsName(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"above", "below"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			w := newOutsideWorld(t)
			own, other := models.RunInput{RunID: "own", ParentRunID: "other"}, models.RunInput{RunID: "other"}
			if where == "below" {
				own, other = models.RunInput{RunID: "own"}, models.RunInput{RunID: "other", ParentRunID: "own"}
			}
			w.open(t, own)
			same := w.late(t, call("same", "own", "bash", `{"n":1}`))
			order := w.late(t, call("order", "own", "bash", `{"n":2}`))
			w.clock.Step(13 * time.Second)
			conv := w.open(t, other, reported("u1", "bash", `{"n":1}`), reported("u2", "bash", `{"n":3}`))
			if r := w.byID(t, same); r.conv != conv || r.use != "u1" {
				t.Errorf("the same input: %+v", r)
			}
			w.link(t)
			if o := w.origin(t, order); o.Linked != nil {
				t.Fatalf("by name alone, after 13 s: %+v", o.Linked)
			}
			w.clock.Step(47 * time.Second)
			w.link(t)
			o := w.origin(t, order)
			if o.Linked == nil || o.Linked.ID != w.byUse(t, "u2").id || o.Linked.By != models.MatchedByOrder || o.Linked.RunID != "other" || o.Linked.Input != `{"n":3}` {
				t.Errorf("by name alone, after a minute: %+v", o.Linked)
			}
			w.verifyRows(t)
		})
	}
}

func TestALateCallOfAnotherOwnerJoinsNothing(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	id := w.late(t, call("c", "r", "bash", `{}`))
	conv, _, err := w.OpenRun(t.Context(), w.other, models.RunInput{RunID: "r"})
	storetest.Must(t, err)
	storetest.Must(t, storetest.Err(w.ReportEvents(t.Context(), w.other, conv.ID, []models.RunEvent{reported("u", "bash", `{}`)})))
	w.link(t)
	w.clock.Step(2 * time.Minute)
	w.link(t)
	if r := w.byID(t, id); r.use != "" || r.conv == conv.ID || w.origin(t, id).Linked != nil {
		t.Errorf("%+v", r)
	}
	w.clock.Step(time.Second)
	if r := w.byID(t, id); r.status != "pending" {
		t.Errorf("%+v", r)
	}
}

func TestAToolUseIDNamesItsLateCallToo(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	item := call("c", "r", "bash", `{}`)
	item.ToolUseID = "u2"
	id := w.late(t, item)
	w.open(t, models.RunInput{RunID: "r"}, reported("u1", "bash", `{}`))
	w.link(t)
	if r := w.byID(t, id); r.use != "" || w.origin(t, id).Linked != nil {
		t.Errorf("it went to another call: %+v", r)
	}
	w.report(t, w.open(t, models.RunInput{RunID: "r"}), reported("u2", "bash", `{}`))
	if r := w.byID(t, id); r.use != "u2" {
		t.Errorf("%+v", r)
	}
}

func TestWhatEndedLongAgoWaitsForNoCall(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	id := w.late(t, call("c", "r", "bash", `{}`))
	w.vote(t, id, yes())
	w.deliver(t, id, models.DeliveryTaken)
	w.clock.Step(2 * time.Hour)
	w.link(t)
	w.open(t, models.RunInput{RunID: "r"}, reported("u", "bash", `{}`))
	w.link(t)
	if o := w.origin(t, id); o.Linked != nil {
		t.Errorf("%+v", o.Linked)
	}
	if _, waits := w.row(t, `id IN (SELECT response_id FROM outside_approvals WHERE waits)`); waits {
		t.Error("it still waits")
	}
}
