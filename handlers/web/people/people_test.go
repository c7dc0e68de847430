package people_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/notices"
	"countersign/models/storetest"
)

func TestAPersonJoinsByALinkThatIsShownOnce(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	admin := w.SignIn(webtest.AdminEmail)
	form := admin.Get("/people").Is(http.StatusOK).Form("form:has(#invite)", "")
	form.Set("email", "New@Example.com")
	form.Set("role", "reviewer")
	got := admin.Post("/people/invites", form).Is(http.StatusOK).Says(".secret", "new@example.com", "shown only once")
	link := got.Text("#fresh-invite")
	path, ok := strings.CutPrefix(link, w.URL)
	if !ok || got.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("the link %q does not lead here", link)
	}
	if again := admin.Get("/people").Is(http.StatusOK).Says("main", "new@example.com", "7 d left"); strings.Contains(again.Body, link[len(w.URL)+10:]) {
		t.Error("the link is shown a second time")
	}
	guest := w.Visitor()
	guest.Get(path).Is(http.StatusOK).Says("main", "reviewer", "new@example.com")
	guest.Get(path).Is(http.StatusOK) // looking uses nothing up
	answer := guest.Get(path).Form("main form", "")
	answer.Set("name", "New <b>One</b>")
	answer.Set("password", "short")
	wrong := guest.Post("/join", answer).Is(http.StatusUnprocessableEntity).Says("#password-error", "12 to 128")
	if wrong.Value("#name") != "New <b>One</b>" || strings.Contains(wrong.Body, `value="short"`) {
		t.Error("the name is lost, or the password comes back")
	}
	answer.Set("password", "a long enough one")
	guest.Post("/join", answer).Redirects("/")
	guest.Get("/").Is(http.StatusOK).Says(".flash", "Welcome").Says(".menu", "New <b>One</b>", "reviewer")
	guest.Get("/people").Is(http.StatusForbidden)
	w.Visitor().Get(path).Is(http.StatusNotFound).Says("main", "does not work")
	w.Visitor().Post("/join", answer).Is(http.StatusNotFound)
	admin.Get("/people").Says("table", "new@example.com").SaysNot("#invites-title", "Invited")
	admin.Post("/people/invites", form).Is(http.StatusConflict).Says("#invite-email-error", "in use")
}

// A link is mailed if that is ticked. Its secret is in the mail and once on the page, also where it could not be sent;
// no table keeps it.
func TestALinkIsMailed(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	admin := w.SignIn(webtest.AdminEmail)
	form := admin.Get("/people").Is(http.StatusOK).Says("main", "Send the link by e-mail", "from countersign@example.org").Form("form:has(#invite)", "")
	if form.Get("mail") != "true" {
		t.Error("sending is not ticked")
	}
	wrong := admin.Post("/people/invites", url.Values{"email": {"new"}, "role": {"reviewer"}}).Is(http.StatusUnprocessableEntity)
	if again := wrong.Form("form:has(#invite)", ""); again.Get("mail") != "" || again.Get("email") != "new" {
		t.Errorf("the form comes back with %v", again)
	}
	form.Set("email", "new@example.com")
	link := admin.Post("/people/invites", form).Is(http.StatusOK).Says("main", "Sent to new@example.com.").Text("#fresh-invite")
	mail := w.Mails.Last(t)
	if mail.Kind != models.NoticeInvite || mail.URL != link || mail.By != w.Admin.Name || mail.Left != 7*24*time.Hour {
		t.Errorf("the e-mail is %+v", mail)
	}
	// Another link, from the row: the one before is over.
	again := admin.Get("/people").Form("form:has(input[name=email][type=hidden])", "")
	w.Mails.Down(models.SendTimeout)
	second := admin.Post("/people/invites", again).Is(http.StatusOK).Says("main", "Could not send to new@example.com. The mail server did not answer in time. Pass on the link yourself.").Text("#fresh-invite")
	w.Visitor().Get(strings.TrimPrefix(link, w.URL)).Is(http.StatusNotFound)
	w.Visitor().Get(strings.TrimPrefix(second, w.URL)).Is(http.StatusOK)
	// Not ticked, nothing is sent.
	w.Mails.Down("")
	form.Del("mail")
	form.Set("email", "other@example.com")
	admin.Post("/people/invites", form).Is(http.StatusOK).Says("main", "other@example.com").SaysNot("main", "Sent to")
	if last := w.Mails.Last(t); last.URL != link {
		t.Errorf("%+v was sent", last)
	}
	if due, _, err := notices.New(w.Store).Due(t.Context(), 50); err != nil || len(due) != 0 {
		t.Errorf("%d messages are queued, %v", len(due), err)
	}
}

func TestAnInvitationIsWithdrawn(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	admin := w.SignIn(webtest.AdminEmail)
	link := admin.Post("/people/invites", url.Values{"email": {"new@example.com"}, "role": {"admin"}}).Is(http.StatusOK).Text("#fresh-invite")
	withdraw := admin.Get("/people").Doc.Find("form[action$='/withdraw']").AttrOr("action", "")
	admin.Post(withdraw, nil).Redirects("/people")
	admin.Get("/people").Says(".flash", "Invitation revoked").SaysNot("main", "new@example.com")
	w.Visitor().Get(strings.TrimPrefix(link, w.URL)).Is(http.StatusNotFound)
}

func TestARoleHoldsFromTheNextRequest(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	admin, owner := w.SignIn(webtest.AdminEmail), w.SignIn(webtest.OwnerEmail)
	owner.Get("/people").Is(http.StatusForbidden)
	admin.Post(webtest.PersonPath(w.Owner, "role"), url.Values{"role": {"admin"}}).Redirects("/people")
	admin.Get("/people").Says(".flash", "Role changed")
	owner.Get("/people").Is(http.StatusOK).Says("nav", "People", "System")
	owner.Post(webtest.PersonPath(w.Admin, "role"), url.Values{"role": {"reviewer"}}).Redirects("/people")
	admin.Get("/people").Is(http.StatusForbidden)
	admin.Get("/").Is(http.StatusOK).SaysNot("nav", "People")
	admin.Post(webtest.PersonPath(w.Owner, "disable"), nil).Is(http.StatusForbidden)

	got := owner.Post(webtest.PersonPath(w.Owner, "role"), url.Values{"role": {"reviewer"}}).Is(http.StatusConflict)
	got.Says(".flash", "last enabled admin")
	owner.Post(webtest.PersonPath(w.Owner, "disable"), nil).Is(http.StatusConflict).Says(".flash", "last enabled admin")
	owner.Post(webtest.PersonPath(w.Admin, "role"), url.Values{"role": {"admin"}}).Redirects("/people")
	owner.Post(webtest.PersonPath(w.Owner, "role"), url.Values{"role": {"reviewer"}}).Redirects("/")
	owner.Post(webtest.PersonPath(w.Owner, "role"), url.Values{"role": {"admin"}}).Is(http.StatusForbidden)
}

func TestDisablingAndEnabling(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	admin, owner := w.SignIn(webtest.AdminEmail), w.SignIn(webtest.OwnerEmail)
	row := admin.Get("/people").Doc.Find("tr:contains('" + webtest.OwnerEmail + "') form[action$='/disable']")
	if row.Length() != 1 {
		t.Fatal("no form disables the owner")
	}
	admin.Post(row.AttrOr("action", ""), nil).Redirects("/people")
	admin.Get("/people").Says(".flash", "Disabled").Says("table", "disabled")
	owner.Get("/").Redirects("/signin")
	w.Visitor().Post("/signin", url.Values{"email": {webtest.OwnerEmail}, "password": {storetest.Password}}).Is(http.StatusUnprocessableEntity)
	admin.Post(webtest.PersonPath(w.Owner, "enable"), nil).Redirects("/people")
	admin.Get("/people").Says(".flash", "Enabled")
	again := w.SignIn(webtest.OwnerEmail)
	admin.Post(webtest.PersonPath(w.Owner, "end-sessions"), nil).Redirects("/people")
	again.Get("/").Redirects("/signin")
	admin.Post(webtest.PersonPath(w.Admin, "end-sessions"), nil).Redirects("/people")
	admin.Get("/people").Is(http.StatusOK)
}

func TestNobodySeesOrSetsAnothersPassword(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	admin := w.SignIn(webtest.AdminEmail)
	for _, path := range []string{"/people", "/audit/all", "/system"} {
		got := admin.Get(path).Is(http.StatusOK)
		if got.Doc.Find("main input[type=password], main [name=password]").Length() != 0 || strings.Contains(got.Body, "argon2") {
			t.Errorf("%s has to do with passwords", path)
		}
	}
	for _, what := range []string{"role", "disable", "enable", "end-sessions"} {
		admin.Post(webtest.PersonPath(w.Owner, what), url.Values{"role": {"reviewer"}, "password": {"set by an admin"}, "password_hash": {"x"}})
	}
	w.SignIn(webtest.OwnerEmail)
}
