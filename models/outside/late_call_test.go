package outside_test

import (
	"fmt"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

func TestALateCallJoinsTheRowOfItsApproval(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{13 * time.Second, 10 * time.Minute} {
		t.Run(after.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.Late(t, storetest.Call("c", "r", "bash", `{"n": 1}`))
			own := w.ByID(t, id)
			w.Status(t, own.Conversation, models.ConversationWaitingInput)
			w.Clock.Step(after)
			conv := w.Open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, storetest.Reported("u1", "bash", `{"n":0}`), storetest.Reported("u2", "bash", `{"n":1}`), storetest.Reported("u3", "write", `{}`))
			r := w.ByID(t, id)
			if r.Conversation != conv || r.Use != "u2" || r.Matched != "input" || r.Status != "pending" || r.Contradiction != "" {
				t.Errorf("the reported call did not join: %+v", r)
			}
			w.Status(t, own.Conversation, models.ConversationRunning)
			w.Status(t, conv, models.ConversationWaitingInput)
			waiting := w.InboxOf(t)
			if len(waiting) != 1 || waiting[0].ID != id || waiting[0].AgentName != w.Agent.Name {
				t.Errorf("the inbox has %+v", waiting)
			}
			// The agent's own question about it is the same request.
			if a, err := w.Ask(t.Context(), w.Agent, models.AskInput{RunID: "r", ToolUseID: "u2", ToolName: "bash", Input: []byte(`{"n":1}`)}); err != nil || a.ID != id {
				t.Errorf("%+v, %v", a, err)
			}
			w.Link(t)
			w.Vote(t, id, storetest.No("no"))
			w.Deliver(t, id, models.DeliveryTaken)
			w.WantRow(t, id, "rejected reviewer")
			w.WantRow(t, w.ByUse(t, "u1").ID, " ")
			w.WantRow(t, w.ByUse(t, "u3").ID, "rejected cascade")
			w.Report(t, conv, models.RunEvent{Type: models.RunEventToolResult, ToolUseID: "u2", Result: "denied", IsError: true})
			if r := w.ByID(t, id); !r.Completed {
				t.Errorf("%+v", r)
			}
			w.Status(t, conv, models.ConversationRunning)
			storetest.SameStrings(t, "ledger", w.ActionsOn(t, id), []string{"system approval.requested", "agent response.adopted", "user approval.voted", "user approval.rejected"})
			w.VerifyRows(t)
		})
	}
}

func TestWhatWasDecidedBeforeItsCallCameLeadsToIt(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"rejected", "approved", "held", "expired"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			item := storetest.Call("c", "r", "bash", `{"n":6}`)
			item.Timeout = new(20 * time.Minute)
			id := w.Late(t, item)
			before := w.ByID(t, id)
			cascades := 0
			switch what {
			case "rejected":
				w.Vote(t, id, storetest.No("not on a Friday"))
				w.Deliver(t, id, models.DeliveryTaken)
				cascades = 4
			case "approved":
				w.Vote(t, id, storetest.Yes())
				w.Deliver(t, id, models.DeliveryTaken)
			case "held":
				w.Vote(t, id, storetest.No("not on a Friday"))
			case "expired":
				w.Clock.Step(30 * time.Minute)
			}
			w.Clock.Step(13 * time.Second)
			conv := w.Open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, tenQueued(false)...)
			six := w.ByUse(t, "u6")
			if r := w.ByID(t, id); r.Conversation != before.Conversation || six.ID == id || six.Status != "" {
				t.Fatalf("the rows are %+v and %+v", r, six)
			}
			cascaded := func(want int) {
				t.Helper()
				n := 0
				for i := 7; i <= 10; i++ {
					if r := w.ByUse(t, fmt.Sprintf("u%d", i)); r.Cause == "cascade" && r.From == id && r.Feedback == "not on a Friday" {
						n++
					}
				}
				if n != want {
					t.Errorf("%d calls were rejected by cascade, want %d", n, want)
				}
			}
			cascaded(cascades)
			if o := w.Origin(t, id); o.Linked == nil || o.Linked.ID != six.ID || o.Linked.By != models.MatchedByInput || !o.Linked.SameInput || o.Linked.RunID != "r" || o.Linked.ConversationID != conv {
				t.Errorf("the approval leads to %+v", o.Linked)
			}
			if o := w.Origin(t, six.ID); o.Linked == nil || o.Linked.ID != id {
				t.Errorf("the call leads to %+v", o.Linked)
			}
			details, err := w.Requests.RunDetails(t.Context(), w.Owner, conv, 1, 20)
			storetest.Must(t, err)
			if d := details[w.ByUse(t, "u8").ID]; what == "rejected" && (d.CascadedFrom == nil || d.CascadedFrom.Place != 6) {
				t.Errorf("call 8 was rejected with %+v", d.CascadedFrom)
			}
			if what == "held" {
				w.Deliver(t, id, models.DeliveryTaken)
				cascaded(4)
			}
			// It is taken by its approval: another one with the same input finds none.
			other := w.Late(t, storetest.Call("d", "r", "write", `{"n":6}`))
			if r := w.ByID(t, other); r.Use == "u6" {
				t.Errorf("%+v", r)
			}
			w.VerifyRows(t)
		})
	}
}

func TestWithAnotherInputTheRowsStayTwoAndLeadToEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.Late(t, storetest.Call("c", "r", "bash", `{"n":1,"dry":false}`))
	w.Clock.Step(13 * time.Second)
	conv := w.Open(t, models.RunInput{RunID: "r"}, storetest.Reported("u1", "read", `{}`), storetest.Reported("u2", "bash", `{"n":1}`), storetest.Reported("u3", "bash", `{"n":2}`))
	if o := w.Origin(t, id); o.Linked != nil {
		t.Fatalf("linked before it was known which calls come: %+v", o.Linked)
	}
	w.Clock.Step(models.NameAloneAfter)
	w.Link(t)
	two := w.ByUse(t, "u2")
	o := w.Origin(t, id)
	if o.Linked == nil || o.Linked.ID != two.ID || o.Linked.By != models.MatchedByOrder || o.Linked.SameInput || o.Linked.Input != `{"n":1}` {
		t.Fatalf("%+v", o.Linked)
	}
	if r := w.ByID(t, id); r.Conversation == conv || r.Status != "pending" || two.Status != "" {
		t.Errorf("%+v and %+v", r, two)
	}
	if len(w.InboxOf(t)) != 1 {
		t.Error("one approval is not one entry of the inbox")
	}
	// The next approval goes to the next call.
	if r := w.ByID(t, w.Taken(t, storetest.Call("d", "r", "bash", `{"n":77}`))); r.Use != "u3" {
		t.Errorf("%+v", r)
	}
	w.VerifyRows(t)
}

func TestACallInTheFamilyIsFoundByItsInputAndLaterByItsName(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"above", "below"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			own, other := models.RunInput{RunID: "own", ParentRunID: "other"}, models.RunInput{RunID: "other"}
			if where == "below" {
				own, other = models.RunInput{RunID: "own"}, models.RunInput{RunID: "other", ParentRunID: "own"}
			}
			w.Open(t, own)
			same := w.Late(t, storetest.Call("same", "own", "bash", `{"n":1}`))
			order := w.Late(t, storetest.Call("order", "own", "bash", `{"n":2}`))
			w.Clock.Step(13 * time.Second)
			conv := w.Open(t, other, storetest.Reported("u1", "bash", `{"n":1}`), storetest.Reported("u2", "bash", `{"n":3}`))
			if r := w.ByID(t, same); r.Conversation != conv || r.Use != "u1" {
				t.Errorf("the same input: %+v", r)
			}
			w.Link(t)
			if o := w.Origin(t, order); o.Linked != nil {
				t.Fatalf("by name alone, after 13 s: %+v", o.Linked)
			}
			w.Clock.Step(47 * time.Second)
			w.Link(t)
			o := w.Origin(t, order)
			if o.Linked == nil || o.Linked.ID != w.ByUse(t, "u2").ID || o.Linked.By != models.MatchedByOrder || o.Linked.RunID != "other" || o.Linked.Input != `{"n":3}` {
				t.Errorf("by name alone, after a minute: %+v", o.Linked)
			}
			w.VerifyRows(t)
		})
	}
}

func TestALateCallOfAnotherOwnerJoinsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.Late(t, storetest.Call("c", "r", "bash", `{}`))
	conv, _, err := w.OpenRun(t.Context(), w.Other, models.RunInput{RunID: "r"})
	storetest.Must(t, err)
	storetest.Must(t, storetest.Err(w.ReportEvents(t.Context(), w.Other, conv.ID, []models.RunEvent{storetest.Reported("u", "bash", `{}`)})))
	w.Link(t)
	w.Clock.Step(2 * time.Minute)
	w.Link(t)
	if r := w.ByID(t, id); r.Use != "" || r.Conversation == conv.ID || w.Origin(t, id).Linked != nil {
		t.Errorf("%+v", r)
	}
	w.Clock.Step(time.Second)
	if r := w.ByID(t, id); r.Status != "pending" {
		t.Errorf("%+v", r)
	}
}

func TestAToolUseIDNamesItsLateCallToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	item := storetest.Call("c", "r", "bash", `{}`)
	item.ToolUseID = "u2"
	id := w.Late(t, item)
	w.Open(t, models.RunInput{RunID: "r"}, storetest.Reported("u1", "bash", `{}`))
	w.Link(t)
	if r := w.ByID(t, id); r.Use != "" || w.Origin(t, id).Linked != nil {
		t.Errorf("it went to another call: %+v", r)
	}
	w.Report(t, w.Open(t, models.RunInput{RunID: "r"}), storetest.Reported("u2", "bash", `{}`))
	if r := w.ByID(t, id); r.Use != "u2" {
		t.Errorf("%+v", r)
	}
}

func TestWhatEndedLongAgoWaitsForNoCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.Late(t, storetest.Call("c", "r", "bash", `{}`))
	w.Vote(t, id, storetest.Yes())
	w.Deliver(t, id, models.DeliveryTaken)
	w.Clock.Step(2 * time.Hour)
	w.Link(t)
	w.Open(t, models.RunInput{RunID: "r"}, storetest.Reported("u", "bash", `{}`))
	w.Link(t)
	if o := w.Origin(t, id); o.Linked != nil {
		t.Errorf("%+v", o.Linked)
	}
	if _, waits := w.Row(t, `id IN (SELECT response_id FROM outside_approvals WHERE waits)`); waits {
		t.Error("it still waits")
	}
}
