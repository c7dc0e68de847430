package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"countersign/models"
	"countersign/models/storetest"
)

// awayWorld is a world whose requests all go to Ann; Eve is to act for her.
func awayWorld(t *testing.T) (w *world, ann, eve models.Actor) {
	t.Helper()
	w = newWorld(t)
	ann, eve = storetest.Reviewer(t, w.store, "ann@example.com"), storetest.Reviewer(t, w.store, "eve@example.com")
	w.applyPolicy(`{"approval_enabled":true,"rules":[{"name":"all","tools":["/.*/"],"effect":"require","reviewers":["ann@example.com"],"reviewers_only":true,"timeout_minutes":600}]}`)
	return w, ann, eve
}

// Somebody names a substitute, an admin accepts them, an absence is planned and ended: what
// waits is in both inboxes meanwhile, and only then.
func TestAwayFromNamingToBack(t *testing.T) {
	t.Parallel()
	w, _, _ := awayWorld(t)
	first := w.ask()
	ann, eve, admin := w.signedIn("ann@example.com"), w.signedIn("eve@example.com"), w.signedIn("admin@example.com")
	const own, all = "/account/away", "/people/away"

	ann.get(own).is(http.StatusOK).says(".empty-line", "Nobody yet")
	ann.post(own+"/substitutes", url.Values{"substitute": {"EVE@example.com "}}).redirects(own)
	ann.get(own).says("#substitutes tbody", "eve@example.com", "waits for an admin")
	eve.get(own).says("main", "You are a substitute of", "ann@example.com")
	admin.get("/people").says(".sheet-head", "1 to accept")
	accept := admin.get(all).says("#waiting", "eve@example.com", "ann@example.com").doc.Find("form[action$='/accept']").AttrOr("action", "")
	admin.post(accept, nil).redirects(all)
	admin.get(all).says("#accepted tbody", "eve@example.com", "ann@example.com").saysNot("main h2", "To accept")

	substitutes, err := w.store.Substitutes(t.Context(), w.admin, "")
	storetest.Must(t, err)
	until := w.clock.Now().Add(48 * time.Hour)
	eve.get("/").saysNot("main", "is away")
	ann.post(own, url.Values{"until": {until.Format("2006-01-02T15:04")}, "zone": {"UTC"}, "substitute": {string(substitutes[0].SubstituteID)}}).redirects(own)
	ann.get(own).says("#absence", "You are away until", "eve@example.com", "gets your requests as well")
	ann.get("/").says(".away-note", "You are away", "eve@example.com")
	second := w.ask()
	inbox := eve.get("/").says(".away-note", "ann@example.com", "is away until", "may decide for them")
	for _, a := range []*models.Approval{first, second} {
		if inbox.doc.Find("a[href*='"+string(a.ID)+"']").Length() == 0 {
			t.Errorf("%s is not in the substitute's inbox", a.ID)
		}
	}
	admin.get("/people").says("tbody", "away until").saysNot(".sheet-head", "to accept")
	admin.get(all).says("main", "ann@example.com", "eve@example.com")

	end := ann.get(own).doc.Find("#absence form").AttrOr("action", "")
	w.signedIn(strangerEmail).post(end, nil).is(http.StatusNotFound).says("main .flash", "Nothing was changed")
	ann.post(end, nil).redirects(own)
	ann.post(end, nil).is(http.StatusNotFound).says("main .flash", "has ended")
	if got := eve.get("/").saysNot("main", "is away").doc.Find("a[href*='" + string(first.ID) + "']").Length(); got != 0 {
		t.Error("the request stays in the substitute's inbox")
	}
}

// What can't be is told at its field, and nothing that was typed is lost.
func TestAwayFormsComeBackFilledIn(t *testing.T) {
	t.Parallel()
	w, _, _ := awayWorld(t)
	ann, admin := w.signedIn("ann@example.com"), w.signedIn("admin@example.com")
	soon, past := w.clock.Now().Add(time.Hour).Format("2006-01-02T15:04"), w.clock.Now().Add(-time.Hour).Format("2006-01-02T15:04")
	for _, c := range []struct {
		who   *person
		path  string
		form  url.Values
		field string
		says  string
	}{
		{ann, "/account/away", url.Values{"zone": {"UTC"}}, "until", "must be a time"},
		{ann, "/account/away", url.Values{"from": {"tomorrow"}, "until": {soon}, "zone": {"UTC"}}, "from", "must be a time"},
		{ann, "/account/away", url.Values{"until": {past}, "zone": {"UTC"}}, "until", "in the future"},
		{ann, "/account/away", url.Values{"until": {soon}, "zone": {"Local"}}, "zone", "must be a time zone"},
		{ann, "/account/away", url.Values{"until": {soon}, "zone": {"../../etc/passwd"}}, "zone", "must be a time zone"},
		{ann, "/account/away", url.Values{"until": {soon}, "zone": {"UTC"}, "substitute": {"nonsense"}}, "away-substitute", "must be another person"},
		{ann, "/account/away/substitutes", url.Values{"substitute": {"nobody@example.com"}}, "name-substitute", "somebody who may sign in"},
		{ann, "/account/away/substitutes", url.Values{"substitute": {"ann@example.com"}}, "name-substitute", "must be another person"},
		{admin, "/people/away", url.Values{"person": {"nobody@example.com"}, "until": {soon}, "zone": {"UTC"}}, "away-person", "somebody who may sign in"},
		{admin, "/people/away", url.Values{"person": {"ann@example.com"}, "until": {soon}, "zone": {"UTC"}, "substitute": {"ann@example.com"}}, "away-substitute", "must be another person"},
		{admin, "/people/away/substitutes", url.Values{"person": {""}, "substitute": {"eve@example.com"}}, "name-person", "somebody who may sign in"},
	} {
		got := c.who.post(c.path, c.form).is(http.StatusUnprocessableEntity).says("#"+c.field+"-error", c.says)
		form := got.doc.Find("#" + c.field).Closest("form")
		for name, values := range c.form {
			field := form.Find("[name=" + name + "]")
			value := field.AttrOr("value", "")
			if field.Is("select") {
				continue // what is no choice can't be shown as one
			}
			if value != values[0] {
				t.Errorf("%s %v: %s comes back as %q", c.path, c.form, name, value)
			}
		}
	}
	ann.post("/account/away", url.Values{"until": {soon}, "zone": {"UTC"}}).redirects("/account/away")
	ann.post("/account/away", url.Values{"until": {soon}, "zone": {"UTC"}}).is(http.StatusUnprocessableEntity).says("main", "planned already")
	if absences, err := w.store.Absences(t.Context(), w.admin); err != nil || len(absences) != 1 {
		t.Errorf("%d absences (%v)", len(absences), err)
	}
}

// An admin who would act by it can't accept it while there is another; others' names are
// drawn as text.
func TestAnAdminDoesNotAcceptThemselves(t *testing.T) {
	t.Parallel()
	w, ann, _ := awayWorld(t)
	storetest.Must(t, storetest.Err(w.store.AskSubstitute(t.Context(), ann, ann.UserID(), w.admin.UserID())))
	eve, err := w.store.People.UserByEmail(t.Context(), w.admin, "eve@example.com")
	storetest.Must(t, err)
	storetest.Must(t, w.store.People.SetRole(t.Context(), w.admin, eve.ID, models.RoleAdmin))
	admin := w.signedIn("admin@example.com")
	waiting := w.signedIn("eve@example.com").get("/people/away").says("#waiting", "They decide in this person's place")
	accept := waiting.doc.Find("form[action$='/accept']").AttrOr("action", "")
	if own := admin.get("/people/away").says("#waiting", "another admin has to accept it"); own.doc.Find("form[action$='/accept']").Length() != 0 {
		t.Error("an act is offered that will be refused")
	}
	admin.post(accept, nil).is(http.StatusForbidden).says("main .flash", "another admin has to accept it")
	w.signedIn("eve@example.com").post(accept, nil).redirects("/people/away")
	w.signedIn("ann@example.com").post(strings.Replace(accept, "accept", "remove", 1), nil).is(http.StatusForbidden)
}

// Who names a substitute is told who can accept it, and that nobody can.
func TestNamingASubstituteSaysWhoCanAccept(t *testing.T) {
	t.Parallel()
	w, _, _ := awayWorld(t)
	ann := w.signedIn("ann@example.com")
	names := func(email, says string) {
		t.Helper()
		ann.post("/account/away/substitutes", url.Values{"substitute": {email}}).redirects("/account/away")
		ann.get("/account/away").says(".flash", says)
	}
	names("eve@example.com", "An admin has to accept it")
	names(storetest.AdminEmail, "only the one who would act by it can accept it")
	eve, err := w.store.People.UserByEmail(t.Context(), w.admin, "eve@example.com")
	storetest.Must(t, err)
	storetest.Must(t, w.store.People.SetRole(t.Context(), w.admin, eve.ID, models.RoleAdmin))
	names(storetest.AdminEmail, "Another admin has to accept it")
	_, err = storetest.Beside(t, w.store).ExecContext(t.Context(), `UPDATE users SET role = 'reviewer'`)
	storetest.Must(t, err)
	names(storetest.AdminEmail, "nobody can accept it")
}

// The whole way in a browser, with and without a script: the substitute decides, and the
// request's page says for whom.
func TestInABrowserASubstituteDecides(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		t.Run(map[bool]string{true: "script", false: "without script"}[script], func(t *testing.T) {
			t.Parallel()
			w, ann, eve := awayWorld(t)
			sub, err := w.store.AskSubstitute(t.Context(), ann, ann.UserID(), eve.UserID())
			storetest.Must(t, err)
			p := w.adminTab(390, script)
			p.open("/people/away")
			p.click("#waiting tbody summary")
			p.click("#waiting form[action$='/accept'] button")
			p.sees(".flash", "Accepted")
			w.clock.Step(time.Minute)

			p = w.tab()
			if !script {
				p.withoutScript()
			}
			p.inZone("Asia/Tokyo")
			p.do("size", chromedp.EmulateViewport(1440, 900))
			p.signInAs("ann@example.com")
			p.open("/account/away")
			until := w.clock.Now().Add(50 * time.Hour).In(time.FixedZone("", 9*3600))
			if !script {
				until = until.UTC()
			}
			p.value(`document.querySelector("#until").value = "` + until.Format("2006-01-02T15:04") + `"`)
			p.value(`document.querySelector("#away-substitute").value = "` + string(sub.SubstituteID) + `"`)
			p.click("#save-absence")
			p.sees("#absence", "You are away until")
			absences, err := w.store.Absences(t.Context(), w.admin)
			storetest.Must(t, err)
			if want := until.Truncate(time.Minute); len(absences) != 1 || !absences[0].UntilAt.Equal(want) {
				t.Fatalf("%+v, want one until %v", absences, want)
			}

			a := w.ask()
			p = w.tab()
			if !script {
				p.withoutScript()
			}
			p.do("size", chromedp.EmulateViewport(1440, 900))
			p.signInAs("eve@example.com")
			p.open("/approvals/" + string(a.ID))
			p.click("#approve")
			p.becomes(`!document.querySelector("#approve")`)
			w.clock.Step(time.Hour)
			storetest.Must(t, storetest.Err(w.store.ExpireDue(t.Context(), 10)))
			got := w.stands(a.ID)
			if got.Status() != models.StatusApproved || got.Vote == nil || got.Vote.UserID != eve.UserID() || got.Vote.BehalfOf != ann.UserID() {
				t.Fatalf("%s by %+v", got.Status(), got.Vote)
			}
		})
	}
}
