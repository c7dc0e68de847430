package agents_test

import (
	"net/http"
	"net/url"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// An agent is stopped in its row and goes on; every page says so in red, to those whom it
// concerns.
func TestAnAgentIsStoppedInItsRow(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	waits := w.Ask()
	owner, admin := w.SignIn(webtest.OwnerEmail), w.SignIn(webtest.AdminEmail)
	row, button := "#agent-"+w.Agent.ID, "#stop-"+w.Agent.ID
	form := owner.Get("/agents").Is(http.StatusOK).Says(row, "deployer", "active", "Cancels 1 pending request.").Form("form:has("+button+")", button)
	form.Set("note", "  ")
	owner.Post("/agents/stops", form).Is(http.StatusUnprocessableEntity).Says(row+" details[open]", "must say why")
	form.Set("note", "It deletes things")
	owner.Post("/agents/stops", url.Values{"agent": {"all"}, "note": {"everything"}}).Is(http.StatusForbidden)
	owner.Post("/agents/stops", url.Values{"agent": {"x"}, "note": {"y"}}).Is(http.StatusNotFound)
	w.SignIn(webtest.StrangerEmail).Post("/agents/stops", form).Is(http.StatusNotFound)
	owner.Post("/agents/stops", form).Redirects("/agents" + row)
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
	owner.Post("/agents/stops", form).Redirects("/agents" + row)
	owner.Get("/agents").Says(".flash", "was stopped already")

	got := owner.Get("/agents").Says(row, "stopped by", "Lift")
	lift, action := got.Form(row+" form", ""), got.Doc.Find(row+" form").AttrOr("action", "")
	owner.Post(action, lift).Is(http.StatusUnprocessableEntity).Says(row+" details[open]", "must say why")
	lift.Set("note", "mended")
	owner.Post(action, lift).Redirects("/agents")
	owner.Post(action, lift).Is(http.StatusNotFound)
	if n := owner.Get("/").Doc.Find("#dangers p").Length(); n != 0 {
		t.Errorf("%d warnings after it was lifted", n)
	}
	if a := w.Ask(); a.Status() != models.StatusPending {
		t.Errorf("after it was lifted what is asked is %s", a.Status())
	}
}

// Admins stop everybody's agents, each where they look at it, and all at once.
func TestAdminsStopAgentsWhereTheyLook(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.Ask()
	owner, admin := w.SignIn(webtest.OwnerEmail), w.SignIn(webtest.AdminEmail)
	button, page := "#stop-"+w.Agent.ID, "/agents/"+w.Agent.ID
	for from, back := range map[string]string{
		page:                     page,
		"/agents/all?q=deployer": "/agents/all?q=deployer#agent-" + w.Agent.ID,
	} {
		got := admin.Get(from).Is(http.StatusOK)
		form, action := got.Form("form:has("+button+")", button), got.Doc.Find("form:has("+button+")").AttrOr("action", "")
		form.Set("note", " ")
		admin.Post(action, form).Is(http.StatusUnprocessableEntity).Says("details[open]", "must say why")
		form.Set("note", "Look at it first")
		admin.Post(action, form).Redirects(back)
		owner.Get(page).Says(".stop-note", "Look at it first", "An admin can lift it.").SaysNot("main", "Lift…")
		admin.Get("/agents").Says("#stops", "deployer", "Look at it first")
		got = admin.Get(page)
		form, action = got.Form(".head-end form", ""), got.Doc.Find(".head-end form").AttrOr("action", "")
		form.Set("note", "Over")
		admin.Post(action, form).Redirects(page)
	}

	form := admin.Get("/agents").Says(".stop-all", "Cancels").Form(".stop-all form", "#stop-all")
	form.Set("note", "Incident 12")
	admin.Post("/agents/stops", form).Redirects("/agents")
	owner.Get("/history").Says("#dangers", "All agents are stopped", "Incident 12")
	owner.Get("/agents").Says("#stops", "All agents", "An admin can lift it.").SaysNot("main", "Stop all agents")
	admin.Get("/agents").Says("#stops .stop-lines", "Incident 12", "Lift").SaysNot("main", "Stop all agents")
}
