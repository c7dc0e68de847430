package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/storetest"
)

const adminEmail = storetest.AdminEmail

// personPath is where the admin changes somebody.
func personPath(who models.Actor, what string) string { return "/people/" + who.ID + "/" + what }

func TestAPersonJoinsByALinkThatIsShownOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.signedIn(adminEmail)
	form := admin.get("/people").is(http.StatusOK).form("form:has(#invite)", "")
	form.Set("email", "New@Example.com")
	form.Set("role", "reviewer")
	got := admin.post("/people/invites", form).is(http.StatusOK).says(".secret", "new@example.com", "shown only once")
	link := got.text("#fresh-invite")
	path, ok := strings.CutPrefix(link, w.url)
	if !ok || got.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("the link %q does not lead here", link)
	}
	if again := admin.get("/people").is(http.StatusOK).says("main", "new@example.com", "7 d left"); strings.Contains(again.body, link[len(w.url)+10:]) {
		t.Error("the link is shown a second time")
	}
	guest := w.visitor()
	guest.get(path).is(http.StatusOK).says("main", "reviewer", "new@example.com")
	guest.get(path).is(http.StatusOK) // looking uses nothing up
	answer := guest.get(path).form("main form", "")
	answer.Set("name", "New <b>One</b>")
	answer.Set("password", "short")
	wrong := guest.post("/join", answer).is(http.StatusUnprocessableEntity).says("#password-error", "12 to 128")
	if wrong.value("#name") != "New <b>One</b>" || strings.Contains(wrong.body, `value="short"`) {
		t.Error("the name is lost, or the password comes back")
	}
	answer.Set("password", "a long enough one")
	guest.post("/join", answer).redirects("/")
	guest.get("/").is(http.StatusOK).says(".flash", "Welcome").says(".menu", "New <b>One</b>", "reviewer")
	guest.get("/people").is(http.StatusForbidden)
	w.visitor().get(path).is(http.StatusNotFound).says("main", "does not work")
	w.visitor().post("/join", answer).is(http.StatusNotFound)
	admin.get("/people").says("table", "new@example.com").saysNot("#invites-title", "Invited")
	admin.post("/people/invites", form).is(http.StatusConflict).says("#invite-email-error", "in use")
}

func TestAnInvitationIsWithdrawn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.signedIn(adminEmail)
	link := admin.post("/people/invites", url.Values{"email": {"new@example.com"}, "role": {"admin"}}).is(http.StatusOK).text("#fresh-invite")
	withdraw := admin.get("/people").doc.Find("form[action$='/withdraw']").AttrOr("action", "")
	admin.post(withdraw, nil).redirects("/people")
	admin.get("/people").says(".flash", "Invitation revoked").saysNot("main", "new@example.com")
	w.visitor().get(strings.TrimPrefix(link, w.url)).is(http.StatusNotFound)
}

func TestARoleHoldsFromTheNextRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, owner := w.signedIn(adminEmail), w.signedIn(ownerEmail)
	owner.get("/people").is(http.StatusForbidden)
	admin.post(personPath(w.owner, "role"), url.Values{"role": {"admin"}}).redirects("/people")
	admin.get("/people").says(".flash", "Role changed")
	owner.get("/people").is(http.StatusOK).says("nav", "People", "System")
	owner.post(personPath(w.admin, "role"), url.Values{"role": {"reviewer"}}).redirects("/people")
	admin.get("/people").is(http.StatusForbidden)
	admin.get("/").is(http.StatusOK).saysNot("nav", "People")
	admin.post(personPath(w.owner, "disable"), nil).is(http.StatusForbidden)

	got := owner.post(personPath(w.owner, "role"), url.Values{"role": {"reviewer"}}).is(http.StatusConflict)
	got.says(".flash", "last enabled admin")
	owner.post(personPath(w.owner, "disable"), nil).is(http.StatusConflict).says(".flash", "last enabled admin")
	owner.post(personPath(w.admin, "role"), url.Values{"role": {"admin"}}).redirects("/people")
	owner.post(personPath(w.owner, "role"), url.Values{"role": {"reviewer"}}).redirects("/")
	owner.post(personPath(w.owner, "role"), url.Values{"role": {"admin"}}).is(http.StatusForbidden)
}

func TestDisablingAndEnabling(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin, owner := w.signedIn(adminEmail), w.signedIn(ownerEmail)
	row := admin.get("/people").doc.Find("tr:contains('" + ownerEmail + "') form[action$='/disable']")
	if row.Length() != 1 {
		t.Fatal("no form disables the owner")
	}
	admin.post(row.AttrOr("action", ""), nil).redirects("/people")
	admin.get("/people").says(".flash", "Disabled").says("table", "disabled")
	owner.get("/").redirects("/signin")
	w.visitor().post("/signin", url.Values{"email": {ownerEmail}, "password": {storetest.Password}}).is(http.StatusUnprocessableEntity)
	admin.post(personPath(w.owner, "enable"), nil).redirects("/people")
	admin.get("/people").says(".flash", "Enabled")
	again := w.signedIn(ownerEmail)
	admin.post(personPath(w.owner, "end-sessions"), nil).redirects("/people")
	again.get("/").redirects("/signin")
	admin.post(personPath(w.admin, "end-sessions"), nil).redirects("/people")
	admin.get("/people").is(http.StatusOK)
}

func TestMySessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one, two, three := w.signedIn(ownerEmail), w.signedIn(ownerEmail), w.signedIn(ownerEmail)
	stranger := w.signedIn(strangerEmail)
	list := one.get("/account/sessions").is(http.StatusOK).says("table", "this session", "127.0.0.1", "unknown program")
	ends := list.doc.Find("form[action$='/end']")
	if ends.Length() != 2 {
		t.Fatalf("%d sessions can be ended, want the 2 others", ends.Length())
	}
	// The latest sign-in stands first.
	end := ends.First().AttrOr("action", "")
	stranger.post(end, nil).is(http.StatusNotFound)
	three.get("/").is(http.StatusOK)
	one.post(end, nil).redirects("/account/sessions")
	one.get("/account/sessions").says(".flash", "Session signed out")
	three.get("/").redirects("/signin")
	two.get("/").is(http.StatusOK)
	one.post("/account/sessions/end-others", nil).redirects("/account/sessions")
	two.get("/").redirects("/signin")
	last := one.get("/account/sessions").is(http.StatusOK)
	if last.doc.Find("#end-others, form[action$='/end']").Length() != 0 {
		t.Error("others are offered where there are none")
	}
	stranger.get("/").is(http.StatusOK)
}

func TestNobodySeesOrSetsAnothersPassword(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.signedIn(adminEmail)
	for _, path := range []string{"/people", "/audit/all", "/system"} {
		got := admin.get(path).is(http.StatusOK)
		if got.doc.Find("main input[type=password], main [name=password]").Length() != 0 || strings.Contains(got.body, "argon2") {
			t.Errorf("%s has to do with passwords", path)
		}
	}
	for _, what := range []string{"role", "disable", "enable", "end-sessions"} {
		admin.post(personPath(w.owner, what), url.Values{"role": {"reviewer"}, "password": {"set by an admin"}, "password_hash": {"x"}})
	}
	w.signedIn(ownerEmail)
}
