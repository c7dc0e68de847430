package agents_test

import (
	"net/http"
	"net/url"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// Agents are stopped and go on by form; every page says so in red, to those whom it
// concerns.
func TestAgentsAreStoppedByForm(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	waits := w.Ask()
	owner, admin := w.SignIn(webtest.OwnerEmail), w.SignIn(webtest.AdminEmail)
	form := owner.Get("/agents").Is(http.StatusOK).Form("#stop-form", "#stop")
	form.Set("note", "  ")
	owner.Post("/agents/stops", form).Is(http.StatusUnprocessableEntity).Says("#stop-note-error", "must say why")
	form.Set("note", "It deletes things")
	wrong := url.Values{"agent": {"all"}, "note": {"everything"}}
	owner.Post("/agents/stops", wrong).Is(http.StatusForbidden)
	owner.Post("/agents/stops", url.Values{"agent": {"x"}, "note": {"y"}}).Is(http.StatusUnprocessableEntity).Says("#stop-agent-error", "must be one of these")
	owner.Get("/").Is(http.StatusOK)
	owner.Post("/agents/stops", form).Redirects("/agents#stops")
	if a := w.Approval(waits.ID); a.Status() != models.StatusCancelled || a.Cause != models.CauseStopped {
		t.Errorf("what waited is %s by %s", a.Status(), a.Cause)
	}
	if a := w.Ask(); a.Status() != models.StatusRejected || a.Cause != models.CauseStopped {
		t.Errorf("what is asked is %s by %s", a.Status(), a.Cause)
	}
	for _, p := range []*webtest.Person{owner, admin} {
		p.Get("/").Is(http.StatusOK).Says("#dangers", "is stopped", "It deletes things")
		p.Get("/approvals/"+string(waits.ID)).Says("#dangers", "is stopped")
	}
	owner.Post("/agents/stops", form).Is(http.StatusConflict).Says("#stop-agent-error", "already stopped")

	lift := owner.Get("/agents").Says("#stops", "It deletes things", "Lift the stop").Form(".lift", ".lift button")
	action, _ := owner.Get("/agents").Doc.Find(".lift").Attr("action")
	owner.Post(action, lift).Is(http.StatusUnprocessableEntity).Says("#stops", "must say why")
	lift.Set("note", "mended")
	owner.Post(action, lift).Redirects("/agents#stops")
	owner.Post(action, lift).Is(http.StatusNotFound)
	if n := owner.Get("/").Doc.Find("#dangers p").Length(); n != 0 {
		t.Errorf("%d warnings after it was lifted", n)
	}
	if a := w.Ask(); a.Status() != models.StatusPending {
		t.Errorf("after it was lifted what is asked is %s", a.Status())
	}

	all := admin.Get("/agents").Form("#stop-form", "#stop")
	all.Set("agent", "all")
	all.Set("note", "Incident 12")
	admin.Post("/agents/stops", all).Redirects("/agents#stops")
	owner.Get("/history").Says("#dangers", "All agents are stopped", "Incident 12")
	owner.Get("/agents").Says("#stops", "All agents", "An admin can lift it.")
}
