package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/views/pages/connect"
)

func TestTokensAreShownOnceAndRevoked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(strangerEmail)
	p.get("/agents").is(http.StatusOK).says("main", "No agents yet").saysNot("main", "Create admin token")

	form := p.get("/agents").form("form:has(#new-agent-token)", "")
	form.Set("agent", "builder")
	form.Set("expires", "90d")
	got := p.post("/agents/tokens", form).is(http.StatusOK).says(".secret", "builder", "shown only once")
	secret := got.text("#fresh-token")
	actor, err := w.store.People.AuthenticateToken(t.Context(), secret)
	if err != nil || !actor.IsAgent() || actor.Name != "builder" {
		t.Fatalf("the token shown stands for %+v (%v)", actor, err)
	}
	if got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("Cache-Control = %q", got.header.Get("Cache-Control"))
	}
	again := p.get("/agents").is(http.StatusOK)
	if strings.Contains(again.body, secret) {
		t.Error("the secret is shown a second time")
	}
	again.says("main", "builder", "active")

	revoke, ok := again.doc.Find("main form[action$='/revoke']").Attr("action")
	if !ok {
		t.Fatal("no form revokes")
	}
	p.post(revoke, nil).redirects("/agents")
	p.get("/agents").says(".flash", "revoked").says("table", "revoked")
	if _, err := w.store.People.AuthenticateToken(t.Context(), secret); models.ErrorCode(err) != models.CodeUnauthenticated {
		t.Errorf("the token still works: %v", err)
	}
	p.post("/agents/tokens/"+string(w.ownToken())+"/revoke", nil).is(http.StatusNotFound)
	if _, err := w.store.People.AuthenticateToken(t.Context(), w.token); err != nil {
		t.Errorf("somebody else's token was revoked: %v", err)
	}
}

func TestTokenForms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	reviewer, admin := w.signedIn(ownerEmail), w.signedIn("admin@example.com")
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
		got := reviewer.post("/agents/tokens", c.form)
		if got.status != c.status || got.text(c.at) == "" {
			t.Errorf("%s: %d with %q at %s, want %d", c.name, got.status, got.text(c.at), c.at, c.status)
		}
		if name := got.value("#reviewer-name"); c.status == 422 && c.form.Get("scope") == "reviewer" && name != "ci" {
			t.Errorf("%s: the name is lost: %q", c.name, name)
		}
	}
	got := admin.post("/agents/tokens", url.Values{"scope": {"admin"}, "name": {"ops"}}).is(http.StatusOK)
	if actor, err := w.store.People.AuthenticateToken(t.Context(), got.text("#fresh-token")); err != nil || !actor.Admin {
		t.Errorf("the admin token stands for %+v (%v)", actor, err)
	}
}

func TestAnEmptyInboxTeaches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(strangerEmail)
	page := p.get("/").is(http.StatusOK).says("#teach-curl", w.url+"/v1/approvals?wait=50s", "$TOKEN")
	if page.doc.Find("form[action='/inbox/token']").Length() != 1 {
		t.Fatal("no button makes a token")
	}
	got := p.post("/inbox/token", nil).is(http.StatusOK)
	secret, ok := strings.CutPrefix(got.text("#fresh-token"), "export TOKEN=")
	if actor, err := w.store.People.AuthenticateToken(t.Context(), secret); !ok || err != nil || !actor.IsAgent() {
		t.Errorf("the token shown stands for %+v (%v)", actor, err)
	}
	if again := p.get("/").is(http.StatusOK); strings.Contains(again.body, secret) {
		t.Error("the secret is shown a second time")
	}
	p.get("/inbox/token").redirects("/")
}

func TestInboxIsPagedAndFiltered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	for range 60 {
		w.ask()
	}
	other := w.ask(func(in *models.AskInput) { in.RunID = "another run" })
	first := p.get("/").is(http.StatusOK).says("#inbox-tally", "61 waiting")
	if n := first.doc.Find("#inbox .row").Length(); n != 50 {
		t.Errorf("%d rows on the first page", n)
	}
	second := p.get(first.doc.Find("#inbox a[rel=next]").AttrOr("href", "/nowhere")).is(http.StatusOK)
	if n := second.doc.Find("#inbox .row").Length(); n != 11 {
		t.Errorf("%d rows on the second page", n)
	}
	one := p.get("/?conversation=" + string(other.ConversationID)).is(http.StatusOK)
	if one.doc.Find("#inbox .row").Length() != 1 || one.text("#inbox-count .count") != "61 waiting" {
		t.Errorf("filtered: %s; count %q", one.text("#inbox"), one.text("#inbox-count"))
	}
	w.signedIn(strangerEmail).get("/?conversation="+string(other.ConversationID)).is(http.StatusOK).saysNot("#inbox", "Bash")
	if len(first.body) > 200<<10 {
		t.Errorf("a page of 50 takes %d bytes", len(first.body))
	}
	w.clock.Step(5 * time.Minute)
	p.get("/").is(http.StatusOK).says("#inbox-tally", "0 waiting")
}

func TestAuditShowsOnesOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask()
	owner := w.signedIn(ownerEmail)
	owner.post(decideOf(a), url.Values{"verdict": {"reject"}}).redirects(pageOf(a))
	owner.get("/audit").is(http.StatusOK).says("main", "rejected", string(a.ID)[28:])
	w.signedIn(strangerEmail).get("/audit").is(http.StatusOK).saysNot("main", string(a.ID)[28:])
}

// TestAnAdminRevokesTheTokenOfAnother on the page of everybody's agents; a reviewer has no
// such page, and no such right.
func TestAnAdminRevokesTheTokenOfAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.signedIn("admin@example.com")
	if tabs := admin.get("/agents").doc.Find(`a[href="/agents/all"]`).Length(); tabs != 1 {
		t.Errorf("%d tabs lead to everybody's agents", tabs)
	}
	p := admin.get("/agents/all?q="+ownerEmail).is(http.StatusOK).says(".list-table", "deployer", ownerEmail, "active")
	p.says(".chips", ownerEmail)
	revoke := p.doc.Find(`form[action$="/revoke"]`).First().AttrOr("action", "")
	stranger := w.signedIn(strangerEmail)
	if n := stranger.get("/agents").doc.Find(`a[href="/agents/all"]`).Length(); n != 0 {
		t.Error("a reviewer is led to everybody's agents")
	}
	stranger.post(revoke, url.Values{"everyone": {"true"}}).is(http.StatusNotFound)
	if _, err := w.store.People.AuthenticateToken(t.Context(), w.token); err != nil {
		t.Fatalf("a stranger revoked it: %v", err)
	}
	admin.post(revoke, url.Values{"everyone": {"true"}}).redirects("/agents/all")
	if _, err := w.store.People.AuthenticateToken(t.Context(), w.token); models.ErrorCode(err) != models.CodeUnauthenticated {
		t.Errorf("after an admin revoked it: %v", err)
	}
	admin.get("/audit?what=access").is(http.StatusOK).says(".list-table", "token revoked")
	admin.get("/agents/all?q=nothing-of-that-name").is(http.StatusOK).says(".empty-line", "Nothing matches")
	admin.get("/agents/all?what=people&q=").redirects("/agents/all?what=people")
}

// TestAFreshTokenComesWithTheLinesToPaste: every way to connect, with the token in them.
func TestAFreshTokenComesWithTheLinesToPaste(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	got := w.signedIn(ownerEmail).post("/agents/tokens", url.Values{"scope": {"agent"}, "agent": {"fresh-bot"}}).is(http.StatusOK)
	secret := got.text("#fresh-token")
	if n := got.doc.Find(".fresh-lines details").Length(); n != len(connect.Ways()) {
		t.Errorf("%d ways to connect", n)
	}
	got.says(".fresh-lines", secret, w.url)
	if strings.Contains(got.text(".fresh-lines"), "YOUR_TOKEN") || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("a placeholder is left, or the page may be stored: %q", got.header.Get("Cache-Control"))
	}
}
