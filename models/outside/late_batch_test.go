package outside_test

import (
	"fmt"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// Ten calls are asked about before the run reports them, and a person rejects the
// sixth: those queued after it are rejected when they are reported.
func TestARejectionReachesCallsThatWereAskedAboutBeforeTheirReport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}
	conv := w.Open(t, run)
	var ids []models.ResponseID
	var calls []models.RunEvent
	for i := range 10 {
		use, input := fmt.Sprintf("u%d", i+1), fmt.Sprintf(`{"n":%d}`, i)
		a, err := w.Ask(t.Context(), w.Agent, models.AskInput{RunID: "r", ToolUseID: use, ToolName: "bash", Input: []byte(input), Explicit: true})
		storetest.Must(t, err)
		ids, calls = append(ids, a.ID), append(calls, storetest.Reported(use, "bash", input))
	}
	storetest.Must(t, storetest.Err(w.Decide(t.Context(), w.Owner, ids[5], storetest.No("not on a Friday"))))
	w.Clock.Step(13 * time.Second)
	w.Report(t, conv, calls...)
	for i, id := range ids {
		want := "pending "
		switch {
		case i == 5:
			want = "rejected reviewer"
		case i > 5:
			want = "rejected cascade"
		}
		w.WantRow(t, id, want)
	}
	if r := w.ByID(t, ids[9]); r.From != ids[5] || r.Feedback != "not on a Friday" {
		t.Errorf("%+v", r)
	}
	w.VerifyRows(t)
}

// The same with approvals of another system, which hears of each.
func TestARejectionReachesApprovalsWhoseCallsAreReportedLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ids []models.ResponseID
	var calls []models.RunEvent
	for i := range 4 {
		input := fmt.Sprintf(`{"n":%d}`, i)
		ids = append(ids, w.Late(t, storetest.Call(fmt.Sprintf("c%d", i), "r", "bash", input)))
		calls = append(calls, storetest.Reported(fmt.Sprintf("u%d", i), "bash", input))
	}
	w.Vote(t, ids[1], storetest.No("no"))
	w.Deliver(t, ids[1], models.DeliveryTaken)
	w.Clock.Step(13 * time.Second)
	w.Open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, calls...)
	for i, want := range []string{"pending ", "rejected reviewer", "rejected cascade", "rejected cascade"} {
		w.WantRow(t, ids[i], want)
	}
	w.VerifyRows(t)
}

// A call that is rejected with its batch takes the approval with it that asks for
// it with another input: that one could still be approved.
func TestARejectionReachesTheApprovalOfALinkedCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.Late(t, storetest.Call("c", "r", "bash", `{"n":1,"dry":false}`))
	conv := w.Open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, storetest.Reported("u1", "write", `{}`), storetest.Reported("u2", "bash", `{"n":1}`))
	w.Clock.Step(models.NameAloneAfter)
	w.Link(t)
	first := w.Taken(t, storetest.Call("d", "r", "write", `{}`))
	if r := w.ByID(t, first); r.Conversation != conv || w.Origin(t, id).Linked == nil {
		t.Fatalf("%+v", r)
	}
	w.Vote(t, first, storetest.No("no"))
	w.Deliver(t, first, models.DeliveryTaken)
	w.WantRow(t, w.ByUse(t, "u2").ID, "rejected cascade")
	w.WantRow(t, id, "rejected cascade")
	w.VerifyRows(t)
}
