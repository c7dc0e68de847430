package store_test

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
	w := newOutsideWorld(t)
	run := models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}
	conv := w.open(t, run)
	var ids []models.ResponseID
	var calls []models.RunEvent
	for i := range 10 {
		use, input := fmt.Sprintf("u%d", i+1), fmt.Sprintf(`{"n":%d}`, i)
		a, err := w.Ask(t.Context(), w.agent, models.AskInput{RunID: "r", ToolUseID: use, ToolName: "bash", Input: []byte(input), Explicit: true})
		storetest.Must(t, err)
		ids, calls = append(ids, a.ID), append(calls, reported(use, "bash", input))
	}
	storetest.Must(t, storetest.Err(w.Decide(t.Context(), w.owner, ids[5], no("not on a Friday"))))
	w.clock.Step(13 * time.Second)
	w.report(t, conv, calls...)
	for i, id := range ids {
		want := "pending "
		switch {
		case i == 5:
			want = "rejected reviewer"
		case i > 5:
			want = "rejected cascade"
		}
		w.wantRow(t, id, want)
	}
	if r := w.byID(t, ids[9]); r.from != ids[5] || r.feedback != "not on a Friday" {
		t.Errorf("%+v", r)
	}
	w.verifyRows(t)
}

// The same with approvals of another system, which hears of each.
func TestARejectionReachesApprovalsWhoseCallsAreReportedLater(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	var ids []models.ResponseID
	var calls []models.RunEvent
	for i := range 4 {
		input := fmt.Sprintf(`{"n":%d}`, i)
		ids = append(ids, w.late(t, call(fmt.Sprintf("c%d", i), "r", "bash", input)))
		calls = append(calls, reported(fmt.Sprintf("u%d", i), "bash", input))
	}
	w.vote(t, ids[1], no("no"))
	w.deliver(t, ids[1], models.DeliveryTaken)
	w.clock.Step(13 * time.Second)
	w.open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, calls...)
	for i, want := range []string{"pending ", "rejected reviewer", "rejected cascade", "rejected cascade"} {
		w.wantRow(t, ids[i], want)
	}
	w.verifyRows(t)
}

// A call that is rejected with its batch takes the approval with it that asks for
// it with another input: that one could still be approved.
func TestARejectionReachesTheApprovalOfALinkedCall(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	id := w.late(t, call("c", "r", "bash", `{"n":1,"dry":false}`))
	conv := w.open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, reported("u1", "write", `{}`), reported("u2", "bash", `{"n":1}`))
	w.clock.Step(models.NameAloneAfter)
	w.link(t)
	first := w.taken(t, call("d", "r", "write", `{}`))
	if r := w.byID(t, first); r.conv != conv || w.origin(t, id).Linked == nil {
		t.Fatalf("%+v", r)
	}
	w.vote(t, first, no("no"))
	w.deliver(t, first, models.DeliveryTaken)
	w.wantRow(t, w.byUse(t, "u2").id, "rejected cascade")
	w.wantRow(t, id, "rejected cascade")
	w.verifyRows(t)
}
