package agents_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/views/pages/connect"
)

func TestTokensAreShownOnceAndRevoked(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.StrangerEmail)
	p.Get("/agents").Is(http.StatusOK).Says("main", "No agents yet").SaysNot("main", "Create admin token")

	form := p.Get("/agents").Form("form:has(#new-agent-token)", "")
	form.Set("agent", "builder")
	form.Set("expires", "90d")
	got := p.Post("/agents/tokens", form).Is(http.StatusOK).Says(".secret", "builder", "shown only once")
	secret := got.Text("#fresh-token")
	actor, err := w.Store.People.AuthenticateToken(t.Context(), secret)
	if err != nil || !actor.IsAgent() || actor.Name != "builder" {
		t.Fatalf("the token shown stands for %+v (%v)", actor, err)
	}
	if got.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("Cache-Control = %q", got.Header.Get("Cache-Control"))
	}
	again := p.Get("/agents").Is(http.StatusOK)
	if strings.Contains(again.Body, secret) {
		t.Error("the secret is shown a second time")
	}
	again.Says("main", "builder", "active")

	revoke, ok := again.Doc.Find("main form[action*='/revoke']").Attr("action")
	if !ok {
		t.Fatal("no form revokes")
	}
	p.Post(revoke, nil).Redirects("/agents")
	p.Get("/agents").Says(".flash", "revoked").Says("#tokens", "revoked")
	if _, err := w.Store.People.AuthenticateToken(t.Context(), secret); models.ErrorCode(err) != models.CodeUnauthenticated {
		t.Errorf("the token still works: %v", err)
	}
	p.Post("/agents/tokens/"+string(w.OwnToken())+"/revoke", nil).Is(http.StatusNotFound)
	if _, err := w.Store.People.AuthenticateToken(t.Context(), w.Token); err != nil {
		t.Errorf("somebody else's token was revoked: %v", err)
	}
}

func TestTokenForms(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	reviewer, admin := w.SignIn(webtest.OwnerEmail), w.SignIn("admin@example.com")
	for _, c := range []struct {
		name   string
		form   url.Values
		status int
		at     string
	}{
		{"no name", url.Values{"scope": {"agent"}}, 422, "#agent-agent-error"},
		{"name too long", url.Values{"scope": {"agent"}, "agent": {strings.Repeat("x", 201)}}, 422, "#agent-agent-error"},
		{"bad length", url.Values{"scope": {"reviewer"}, "name": {"ci"}, "expires": {"soon"}}, 422, "#reviewer-expires-error"},
		{"in the past", url.Values{"scope": {"reviewer"}, "name": {"ci"}, "expires": {"2020-01-01"}}, 422, "#reviewer-expires-error"},
		{"too far", url.Values{"scope": {"reviewer"}, "name": {"ci"}, "expires": {"9999d"}}, 422, "#reviewer-expires-error"},
		{"negative", url.Values{"scope": {"reviewer"}, "name": {"ci"}, "expires": {"-5h"}}, 422, "#reviewer-expires-error"},
		{"admin token for a reviewer", url.Values{"scope": {"admin"}, "name": {"ci"}}, 403, "h1"},
		{"a length", url.Values{"scope": {"reviewer"}, "name": {"ci"}, "expires": {"12h"}}, 200, "#fresh-token"},
		{"a date", url.Values{"scope": {"reviewer"}, "name": {"ci"}, "expires": {"2026-12-31"}}, 200, "#fresh-token"},
	} {
		got := reviewer.Post("/agents/tokens", c.form)
		if got.Status != c.status || got.Text(c.at) == "" {
			t.Errorf("%s: %d with %q at %s, want %d", c.name, got.Status, got.Text(c.at), c.at, c.status)
		}
		if name := got.Value("#reviewer-name"); c.status == 422 && c.form.Get("scope") == "reviewer" && name != "ci" {
			t.Errorf("%s: the name is lost: %q", c.name, name)
		}
	}
	got := admin.Post("/agents/tokens", url.Values{"scope": {"admin"}, "name": {"ops"}}).Is(http.StatusOK)
	if actor, err := w.Store.People.AuthenticateToken(t.Context(), got.Text("#fresh-token")); err != nil || !actor.Admin {
		t.Errorf("the admin token stands for %+v (%v)", actor, err)
	}
}

// TestAnAdminRevokesTheTokenOfAnother on the agent's page, which the list of everybody's agents
// leads to; a reviewer has no such list, and no such right.
func TestAnAdminRevokesTheTokenOfAnother(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	admin := w.SignIn("admin@example.com")
	if tabs := admin.Get("/agents").Doc.Find(`a[href="/agents/all"]`).Length(); tabs != 1 {
		t.Errorf("%d tabs lead to everybody's agents", tabs)
	}
	p := admin.Get("/agents/all?q="+webtest.OwnerEmail).Is(http.StatusOK).Says(".list-table", "deployer", webtest.OwnerEmail)
	p.Says(".chips", webtest.OwnerEmail)
	page := p.Doc.Find(`.list-table th a`).First().AttrOr("href", "")
	revoke := admin.Get(page).Is(http.StatusOK).Doc.Find(`form[action*="/revoke"]`).First().AttrOr("action", "")
	stranger := w.SignIn(webtest.StrangerEmail)
	if n := stranger.Get("/agents").Doc.Find(`a[href="/agents/all"]`).Length(); n != 0 {
		t.Error("a reviewer is led to everybody's agents")
	}
	stranger.Post(revoke, nil).Is(http.StatusNotFound)
	if _, err := w.Store.People.AuthenticateToken(t.Context(), w.Token); err != nil {
		t.Fatalf("a stranger revoked it: %v", err)
	}
	admin.Post(revoke, nil).Redirects(page)
	if _, err := w.Store.People.AuthenticateToken(t.Context(), w.Token); models.ErrorCode(err) != models.CodeUnauthenticated {
		t.Errorf("after an admin revoked it: %v", err)
	}
	admin.Get(page).Says("#tokens", "No live token", "revoked")
	admin.Get("/audit?what=access").Is(http.StatusOK).Says(".list-table", "revoked a token")
	admin.Get("/agents/all?q=nothing-of-that-name").Is(http.StatusOK).Says(".empty-line", "Nothing matches")
	admin.Get("/agents/all?what=people&q=").Redirects("/agents/all?what=people")
	admin.Post("/agents/tokens", url.Values{"scope": {"admin"}, "name": {"ops"}}).Is(http.StatusOK)
	people := admin.Get("/agents/all?what=people").Is(http.StatusOK).Says(".list-table", "ops", "admin@example.com")
	admin.Post(people.Doc.Find(`form[action*="/revoke"]`).First().AttrOr("action", ""), nil).Redirects("/agents/all?what=people")
}

// TestAnAgentHasAPage for its owner and admins: what it did, what applied, its tokens.
func TestAnAgentHasAPage(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	owner, admin, stranger := w.SignIn(webtest.OwnerEmail), w.SignIn(webtest.AdminEmail), w.SignIn(webtest.StrangerEmail)
	page := "/agents/" + w.Agent.ID
	owner.Get(page).Is(http.StatusOK).Says("main", "deployer", "it has not asked").SaysNot("main", "Newest requests")
	a := w.Ask()
	got := owner.Get(page).Is(http.StatusOK).Says("main", "1 waited for a person", "Pending (1)", "Newest requests").SaysNot(".agent-facts", "Owner")
	if got.Doc.Find(`main a[href="`+webtest.PageOf(a)+`"]`).Length() != 2 || got.Doc.Find(`main a[href="/history?agent=`+w.Agent.ID+`"]`).Length() != 2 {
		t.Error("its request or its history is not led to")
	}
	admin.Get(page).Is(http.StatusOK).Says(".agent-facts", "Owner", webtest.OwnerEmail).SaysNot("#tokens", "New token")
	stranger.Get(page).Is(http.StatusNotFound)
	for _, path := range []string{"/agents/nonsense", "/agents/" + string(models.NewID[models.AgentID]())} {
		admin.Get(path).Is(http.StatusNotFound)
	}
	form := got.Form("form:has(#new-agent-token)", "")
	form.Set("expires", "soon")
	action := got.Doc.Find("form:has(#new-agent-token)").AttrOr("action", "")
	owner.Post(action, form).Is(http.StatusUnprocessableEntity).Says("#agent-expires-error", "such as 90d")
	form.Set("expires", "90d")
	secret := owner.Post(action, form).Is(http.StatusOK).Says("h1", "deployer").Text("#fresh-token")
	if actor, err := w.Store.People.AuthenticateToken(t.Context(), secret); err != nil || actor.ID != w.Agent.ID {
		t.Errorf("the token is of %+v (%v)", actor, err)
	}
}

// TestManyAgentsComeByPage.
func TestManyAgentsComeByPage(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	for i := range models.DefaultPage {
		p.Post("/agents/tokens", url.Values{"scope": {"agent"}, "agent": {fmt.Sprintf("bot %02d", i)}}).Is(http.StatusOK)
	}
	first := p.Get("/agents")
	if n := first.Doc.Find(".agent-rows").First().Find("tbody tr").Length(); n != models.DefaultPage {
		t.Errorf("%d rows on the first page", n)
	}
	next := first.Doc.Find(`.pager a[rel="next"]`).AttrOr("href", "")
	last := p.Get(next).Is(http.StatusOK).Says("#stops", "deployer")
	if rows := last.Doc.Find("#stops tbody tr"); rows.Length() != 1 || last.Doc.Find(`.pager a[rel="next"]`).Length() != 0 {
		t.Errorf("%d rows on the last page", rows.Length())
	}
	stop := last.Doc.Find("#stops form").First()
	p.Post(stop.AttrOr("action", ""), url.Values{"agent": {w.Agent.ID}, "note": {" "}}).Is(http.StatusUnprocessableEntity).
		Says("#agent-"+w.Agent.ID+" details[open]", "must say why")
	p.Post(stop.AttrOr("action", ""), url.Values{"agent": {w.Agent.ID}, "note": {"It loops"}}).Redirects(next + "#agent-" + w.Agent.ID)
}

// TestAFreshTokenComesWithTheLinesToPaste: every way to connect, with the token in them.
func TestAFreshTokenComesWithTheLinesToPaste(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	got := w.SignIn(webtest.OwnerEmail).Post("/agents/tokens", url.Values{"scope": {"agent"}, "agent": {"fresh-bot"}}).Is(http.StatusOK)
	secret := got.Text("#fresh-token")
	if n := got.Doc.Find(".fresh-lines details").Length(); n != len(connect.Ways()) {
		t.Errorf("%d ways to connect", n)
	}
	got.Says(".fresh-lines", secret, w.URL)
	if strings.Contains(got.Text(".fresh-lines"), "YOUR_TOKEN") || got.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("a placeholder is left, or the page may be stored: %q", got.Header.Get("Cache-Control"))
	}
}
