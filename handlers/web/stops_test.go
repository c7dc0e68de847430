package web_test

import (
	"net/http"
	"net/url"
	"testing"

	"countersign/models"
)

// Agents are stopped and go on by form; every page says so in red, to those whom it
// concerns.
func TestAgentsAreStoppedByForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	waits := w.ask()
	owner, admin := w.signedIn(ownerEmail), w.signedIn(adminEmail)
	form := owner.get("/agents").is(http.StatusOK).form("#stop-form", "#stop")
	form.Set("note", "  ")
	owner.post("/agents/stops", form).is(http.StatusUnprocessableEntity).says("#stop-note-error", "must say why")
	form.Set("note", "It deletes things")
	wrong := url.Values{"agent": {"all"}, "note": {"everything"}}
	owner.post("/agents/stops", wrong).is(http.StatusForbidden)
	owner.post("/agents/stops", url.Values{"agent": {"x"}, "note": {"y"}}).is(http.StatusUnprocessableEntity).says("#stop-agent-error", "must be one of these")
	owner.get("/").is(http.StatusOK)
	owner.post("/agents/stops", form).redirects("/agents#stops")
	if a := w.stands(waits.ID); a.Status() != models.StatusCancelled || a.Cause != models.CauseStopped {
		t.Errorf("what waited is %s by %s", a.Status(), a.Cause)
	}
	if a := w.ask(); a.Status() != models.StatusRejected || a.Cause != models.CauseStopped {
		t.Errorf("what is asked is %s by %s", a.Status(), a.Cause)
	}
	for _, p := range []*person{owner, admin} {
		p.get("/").is(http.StatusOK).says("#dangers", "is stopped", "It deletes things")
		p.get("/approvals/"+string(waits.ID)).says("#dangers", "is stopped")
	}
	owner.post("/agents/stops", form).is(http.StatusConflict).says("#stop-agent-error", "already stopped")

	lift := owner.get("/agents").says("#stops", "It deletes things", "Lift the stop").form(".lift", ".lift button")
	action, _ := owner.get("/agents").doc.Find(".lift").Attr("action")
	owner.post(action, lift).is(http.StatusUnprocessableEntity).says("#stops", "must say why")
	lift.Set("note", "mended")
	owner.post(action, lift).redirects("/agents#stops")
	owner.post(action, lift).is(http.StatusNotFound)
	if n := owner.get("/").doc.Find("#dangers p").Length(); n != 0 {
		t.Errorf("%d warnings after it was lifted", n)
	}
	if a := w.ask(); a.Status() != models.StatusPending {
		t.Errorf("after it was lifted what is asked is %s", a.Status())
	}

	all := admin.get("/agents").form("#stop-form", "#stop")
	all.Set("agent", "all")
	all.Set("note", "Incident 12")
	admin.post("/agents/stops", all).redirects("/agents#stops")
	owner.get("/history").says("#dangers", "All agents are stopped", "Incident 12")
	owner.get("/agents").says("#stops", "All agents", "An admin can lift it.")
}
