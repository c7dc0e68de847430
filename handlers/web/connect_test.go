package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/storetest"
	"countersign/views/pages/connect"
)

// Whoever connects an agent gets the lines with its token, once, and hears of its first request.
func TestAnAgentIsConnected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(strangerEmail)
	for _, way := range connect.Ways() {
		page := p.get("/connect?way="+way).is(http.StatusOK).says("main", "cs_agent_YOUR_TOKEN", "If the server is down")
		form := page.form("#connect-form", "")
		got := p.post("/connect", form).is(http.StatusOK)
		secret := got.text("#fresh-token")
		actor, err := w.store.People.AuthenticateToken(t.Context(), secret)
		if err != nil || !actor.IsAgent() || actor.Name != form.Get("agent") {
			t.Fatalf("%s: the token shown stands for %+v (%v)", way, actor, err)
		}
		pasted := got.text(".steps")
		if strings.Count(pasted, secret) != 2 || !strings.Contains(pasted, w.url) || strings.Contains(got.body, "cs_agent_YOUR_TOKEN") {
			t.Errorf("%s: the lines are not filled in:\n%s", way, pasted)
		}
		if got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: Cache-Control = %q", way, got.header.Get("Cache-Control"))
		}
		got.says("#received", "Waiting for the first request of "+actor.Name)
		if _, err := w.store.Ask(t.Context(), actor, models.AskInput{ToolName: "send_email", Input: []byte(`{}`), Explicit: true}); err != nil {
			t.Fatal(err)
		}
		again := p.get(got.doc.Find("#received a").AttrOr("href", "/nowhere")).is(http.StatusOK).says("#received", "received", "asked for send_email")
		if strings.Contains(again.body, secret) || again.doc.Find("#received[data-tone=good]").Length() != 1 {
			t.Errorf("%s: looked at again:\n%s", way, again.text("main"))
		}
	}
}

// The line refetches itself: it is answered to the owner of the agent, and to nobody else.
func TestWhetherARequestHasComeIsForTheOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := "/connect/received?way=curl&agent=" + w.agent.ID
	owner := w.signedIn(ownerEmail)
	owner.get(path, htmx).is(http.StatusOK).says("#received", "aiting for the first request of deployer")
	a := w.ask()
	got := owner.get(path, htmx).is(http.StatusOK).says("#received", "asked for Bash")
	if got.doc.Find("#received a").AttrOr("href", "") != "/approvals/"+string(a.ID) || strings.Contains(got.body, "<html") {
		t.Errorf("it is\n%s", got.body)
	}
	owner.get(path).redirects("/connect?way=curl&agent=" + w.agent.ID)
	for _, email := range []string{strangerEmail, "admin@example.com"} {
		other := w.signedIn(email)
		other.get(path, htmx).is(http.StatusNotFound)
		other.get("/connect?agent=" + w.agent.ID).is(http.StatusNotFound)
	}
	owner.get("/connect/received?way=curl").is(http.StatusNotFound)
	owner.get("/connect?way=nonsense").is(http.StatusNotFound)
	owner.post("/connect", url.Values{"way": {"nonsense"}, "agent": {"x"}}).is(http.StatusNotFound)
	token, err := w.store.People.Tokens(t.Context(), w.owner, false)
	if err != nil {
		t.Fatal(err)
	}
	storetest.Must(t, w.store.People.RevokeToken(t.Context(), w.owner, token[0].ID))
	owner.get(path, htmx).is(http.StatusOK).says("#received", "has no working token")
}

// A token is never replaced unasked: not by a name that is taken, nor by sending the form
// again.
func TestConnectingKeepsTheTokenThatAnAgentHas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	form := url.Values{"way": {"curl"}, "agent": {" deployer "}}
	got := p.post("/connect", form).is(http.StatusConflict).says("#agent-error", "already has a token")
	if got.value("#agent") != "deployer" || got.doc.Find("#replace").Length() != 1 {
		t.Errorf("the form is\n%s", got.text("form"))
	}
	if _, err := w.store.People.AuthenticateToken(t.Context(), w.token); err != nil {
		t.Errorf("the token was replaced: %v", err)
	}
	form.Set("replace", "true")
	secret := p.post("/connect", form).is(http.StatusOK).text("#fresh-token")
	if _, err := w.store.People.AuthenticateToken(t.Context(), w.token); models.ErrorCode(err) != models.CodeUnauthenticated {
		t.Errorf("the old token still works: %v", err)
	}
	form.Del("replace")
	p.post("/connect", form).is(http.StatusConflict)
	if _, err := w.store.People.AuthenticateToken(t.Context(), secret); err != nil {
		t.Errorf("the form sent again replaced the token: %v", err)
	}
	for _, name := range []string{"", strings.Repeat("x", 201), models.BuiltIn} {
		got := p.post("/connect", url.Values{"way": {"go"}, "agent": {name}}).is(http.StatusUnprocessableEntity)
		if got.text("#agent-error") == "" || got.value("#agent") != name || got.text("#way-title") != "Go" {
			t.Errorf("%.9q: %q, %q, %q", name, got.text("#agent-error"), got.value("#agent"), got.text("#way-title"))
		}
	}
}

// What an agent is called is shown escaped, and is nowhere in what is pasted (I13).
func TestNamesOfAgentsAreNotPastedI13(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	const name = "x\u202e'; $(touch /tmp/x) `id` \"<b>"
	for _, way := range connect.Ways() {
		got := p.post("/connect", url.Values{"way": {way}, "agent": {name}, "replace": {"true"}}).is(http.StatusOK)
		if code := got.text(".code"); strings.Contains(code, "touch /tmp/x") {
			t.Errorf("%s: the name is in\n%s", way, code)
		}
		if strings.Contains(got.body, "\u202e") || strings.Contains(got.body, `"<b>`) {
			t.Errorf("%s: the name is not escaped", way)
		}
		got.says("#received", "⟨U+202E⟩")
	}
}

// Looking makes nothing (I15).
func TestLookingAtConnectMakesNothingI15(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	before, err := w.store.Ledger.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/connect", "/connect?way=go&agent=" + w.agent.ID, "/connect/received?agent=" + w.agent.ID, "/connect?replace=true&agent=" + w.agent.ID} {
		p.get(path, htmx)
	}
	if after, err := w.store.Ledger.Head(t.Context()); err != nil || after.Seq != before.Seq {
		t.Errorf("the ledger went from %d to %d (%v)", before.Seq, after.Seq, err)
	}
}

// The stream of the page tells of the reader's own agent alone.
func TestTheStreamTellsOfTheAgentThatIsConnected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path, topic := "/events?agent="+w.agent.ID, "agent:"+w.agent.ID
	owner := w.signedIn(ownerEmail).listen(path).opening(topic, "inbox", "policy")
	w.signedIn("admin@example.com").listen(path).opening("inbox", "policy") // somebody else's
	w.signedIn(strangerEmail).listen("/events?agent=nonsense").opening("inbox", "policy")
	w.ask()
	owner.opening(topic, "inbox")
}
