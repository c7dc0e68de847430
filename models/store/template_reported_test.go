package store_test

import (
	"testing"

	"countersign/models"
	"countersign/models/storetest"
)

// A call that was reported before its agent asked about it is under the same templates.
func TestAReportedCallIsUnderItsTemplates(t *testing.T) {
	t.Parallel()
	r := newTrace(t, "")
	r.UsePolicy(t, underTemplates())
	r.report(t, one(queued("c1", "payment.send", `{"amount":1}`, "b1")))
	a := r.AskFor(t, models.AskInput{RunID: "run", ToolUseID: "c1", ToolName: "payment.send", Input: []byte(`{"amount":1}`), Template: "strict"})
	got := r.Read(t, a.ID)
	if got.ReportedAt == nil || len(got.Checklist()) != 3 || got.Template != "strict" || got.TemplateText == "" || r.rows(t, "c1") != 1 {
		t.Fatalf("%+v", got.Response)
	}
	tick := ticking(0, 1)
	tick.Digest = got.Digest
	wantCode(t, storetest.Err(r.Decide(t.Context(), r.Stranger, a.ID, tick)), models.CodeInvalid)
	tick.Checked = []int{0, 1, 2}
	storetest.Must(t, storetest.Err(r.Decide(t.Context(), r.Stranger, a.ID, tick)))
	storetest.CheckRows(t, r.Store)
}

// What another system asks about is ticked here too, before it is told.
func TestAnOutsideCallIsUnderItsTemplates(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	w.UsePolicy(t, underTemplates())
	id := w.Taken(t, storetest.Call("c1", "", "payment.send", `{"amount":1}`))
	got := w.Read(t, id)
	if got.UpstreamID == nil || len(got.Checklist()) != 2 || got.TemplateText != "Look at the invoice." {
		t.Fatalf("%+v", got.Response)
	}
	wantCode(t, storetest.Err(w.Decide(t.Context(), w.Owner, id, ticking(1))), models.CodeInvalid)
	w.Vote(t, id, ticking(0, 1))
	w.Deliver(t, id, models.DeliveryTaken)
	if got := w.standsAs(t, id, models.StatusApproved); got.Vote.Checked != "[0,1]" {
		t.Errorf("%+v", got.Vote)
	}
	storetest.CheckRows(t, w.Store)
}
