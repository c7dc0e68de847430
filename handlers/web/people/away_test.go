package people_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

// Somebody names a substitute, an admin accepts them, an absence is planned and ended: what
// waits is in both inboxes meanwhile, and only then.
func TestAwayFromNamingToBack(t *testing.T) {
	t.Parallel()
	w, _, _ := webtest.AwayWorld(t)
	first := w.Ask()
	ann, eve, admin := w.SignIn("ann@example.com"), w.SignIn("eve@example.com"), w.SignIn("admin@example.com")
	const own, all = "/account/away", "/people/away"

	ann.Get(own).Is(http.StatusOK).Says(".empty-line", "Nobody yet")
	ann.Post(own+"/substitutes", url.Values{"substitute": {"EVE@example.com "}}).Redirects(own)
	ann.Get(own).Says("#substitutes tbody", "eve@example.com", "waits for an admin")
	eve.Get(own).Says("main", "You are a substitute of", "ann@example.com")
	admin.Get("/people").Says(".sheet-head", "1 to accept")
	accept := admin.Get(all).Says("#waiting", "eve@example.com", "ann@example.com").Doc.Find("form[action$='/accept']").AttrOr("action", "")
	admin.Post(accept, nil).Redirects(all)
	admin.Get(all).Says("#accepted tbody", "eve@example.com", "ann@example.com").SaysNot("main h2", "To accept")

	substitutes, err := w.Store.Substitutes(t.Context(), w.Admin, "")
	storetest.Must(t, err)
	until := w.Clock.Now().Add(48 * time.Hour)
	eve.Get("/").SaysNot("main", "is away")
	ann.Post(own, url.Values{"until": {until.Format("2006-01-02T15:04")}, "zone": {"UTC"}, "substitute": {string(substitutes[0].SubstituteID)}}).Redirects(own)
	ann.Get(own).Says("#absence", "You are away until", "eve@example.com", "also gets your requests")
	ann.Get("/").Says(".away-note", "You are away", "eve@example.com")
	second := w.Ask()
	inbox := eve.Get("/").Says(".away-note", "ann@example.com", "is away until", "may decide for them")
	for _, a := range []*models.Approval{first, second} {
		if inbox.Doc.Find("a[href*='"+string(a.ID)+"']").Length() == 0 {
			t.Errorf("%s is not in the substitute's inbox", a.ID)
		}
	}
	admin.Get("/people").Says("tbody", "away until").SaysNot(".sheet-head", "to accept")
	admin.Get(all).Says("main", "ann@example.com", "eve@example.com")

	end := ann.Get(own).Doc.Find("#absence form").AttrOr("action", "")
	w.SignIn(webtest.StrangerEmail).Post(end, nil).Is(http.StatusNotFound).Says("main .flash", "Nothing was changed")
	ann.Post(end, nil).Redirects(own)
	ann.Post(end, nil).Is(http.StatusNotFound).Says("main .flash", "has ended")
	if got := eve.Get("/").SaysNot("main", "is away").Doc.Find("a[href*='" + string(first.ID) + "']").Length(); got != 0 {
		t.Error("the request stays in the substitute's inbox")
	}
}

// What can't be is told at its field, and nothing that was typed is lost.
func TestAwayFormsComeBackFilledIn(t *testing.T) {
	t.Parallel()
	w, _, _ := webtest.AwayWorld(t)
	ann, admin := w.SignIn("ann@example.com"), w.SignIn("admin@example.com")
	soon, past := w.Clock.Now().Add(time.Hour).Format("2006-01-02T15:04"), w.Clock.Now().Add(-time.Hour).Format("2006-01-02T15:04")
	for _, c := range []struct {
		who   *webtest.Person
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
		got := c.who.Post(c.path, c.form).Is(http.StatusUnprocessableEntity).Says("#"+c.field+"-error", c.says)
		form := got.Doc.Find("#" + c.field).Closest("form")
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
	ann.Post("/account/away", url.Values{"until": {soon}, "zone": {"UTC"}}).Redirects("/account/away")
	ann.Post("/account/away", url.Values{"until": {soon}, "zone": {"UTC"}}).Is(http.StatusUnprocessableEntity).Says("main", "planned already")
	if absences, err := w.Store.Absences(t.Context(), w.Admin); err != nil || len(absences) != 1 {
		t.Errorf("%d absences (%v)", len(absences), err)
	}
}

// An admin who would act by it can't accept it while there is another; others' names are
// drawn as text.
func TestAnAdminDoesNotAcceptThemselves(t *testing.T) {
	t.Parallel()
	w, ann, _ := webtest.AwayWorld(t)
	storetest.Must(t, storetest.Err(w.Store.AskSubstitute(t.Context(), ann, ann.UserID(), w.Admin.UserID())))
	eve, err := w.Store.People.UserByEmail(t.Context(), w.Admin, "eve@example.com")
	storetest.Must(t, err)
	storetest.Must(t, w.Store.People.SetRole(t.Context(), w.Admin, eve.ID, models.RoleAdmin))
	admin := w.SignIn("admin@example.com")
	waiting := w.SignIn("eve@example.com").Get("/people/away").Says("#waiting", "They decide in this person's place")
	accept := waiting.Doc.Find("form[action$='/accept']").AttrOr("action", "")
	if own := admin.Get("/people/away").Says("#waiting", "another admin has to accept it"); own.Doc.Find("form[action$='/accept']").Length() != 0 {
		t.Error("an act is offered that will be refused")
	}
	admin.Post(accept, nil).Is(http.StatusForbidden).Says("main .flash", "another admin has to accept it")
	w.SignIn("eve@example.com").Post(accept, nil).Redirects("/people/away")
	w.SignIn("ann@example.com").Post(strings.Replace(accept, "accept", "remove", 1), nil).Is(http.StatusForbidden)
}

// Who names a substitute is told who can accept it, and that nobody can.
func TestNamingASubstituteSaysWhoCanAccept(t *testing.T) {
	t.Parallel()
	w, _, _ := webtest.AwayWorld(t)
	ann := w.SignIn("ann@example.com")
	names := func(email, says string) {
		t.Helper()
		ann.Post("/account/away/substitutes", url.Values{"substitute": {email}}).Redirects("/account/away")
		ann.Get("/account/away").Says(".flash", says)
	}
	names("eve@example.com", "An admin has to accept it")
	names(storetest.AdminEmail, "only the one who would act by it can accept it")
	eve, err := w.Store.People.UserByEmail(t.Context(), w.Admin, "eve@example.com")
	storetest.Must(t, err)
	storetest.Must(t, w.Store.People.SetRole(t.Context(), w.Admin, eve.ID, models.RoleAdmin))
	names(storetest.AdminEmail, "Another admin has to accept it")
	_, err = storetest.Beside(t, w.Store).ExecContext(t.Context(), `UPDATE users SET role = 'reviewer'`)
	storetest.Must(t, err)
	names(storetest.AdminEmail, "nobody can accept it")
}
