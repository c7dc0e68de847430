package connect_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
	"countersign/views/pages/connect"
)

// Whoever connects an agent gets the lines with its token, once, and hears of its first request.
func TestAnAgentIsConnected(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.StrangerEmail)
	for _, way := range connect.Ways() {
		page := p.Get("/connect?way="+way).Is(http.StatusOK).Says("main", "cs_agent_YOUR_TOKEN", "If the server is down")
		form := page.Form("#connect-form", "")
		got := p.Post("/connect", form).Is(http.StatusOK)
		secret := got.Text("#fresh-token")
		actor, err := w.Store.People.AuthenticateToken(t.Context(), secret)
		if err != nil || !actor.IsAgent() || actor.Name != form.Get("agent") {
			t.Fatalf("%s: the token shown stands for %+v (%v)", way, actor, err)
		}
		pasted := got.Text(".steps")
		if strings.Count(pasted, secret) != 2 || !strings.Contains(pasted, w.URL) || strings.Contains(got.Body, "cs_agent_YOUR_TOKEN") {
			t.Errorf("%s: the lines are not filled in:\n%s", way, pasted)
		}
		if got.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: Cache-Control = %q", way, got.Header.Get("Cache-Control"))
		}
		got.Says("#received", "Waiting for the first request of "+actor.Name)
		if _, err := w.Store.Ask(t.Context(), actor, models.AskInput{ToolName: "send_email", Input: []byte(`{}`), Explicit: true}); err != nil {
			t.Fatal(err)
		}
		again := p.Get(got.Doc.Find("#received a").AttrOr("href", "/nowhere")).Is(http.StatusOK).Says("#received", "received", "asked for send_email")
		if strings.Contains(again.Body, secret) || again.Doc.Find("#received[data-tone=good]").Length() != 1 {
			t.Errorf("%s: looked at again:\n%s", way, again.Text("main"))
		}
	}
}

// The line refetches itself: it is answered to the owner of the agent, and to nobody else.
func TestWhetherARequestHasComeIsForTheOwner(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	path := "/connect/received?way=curl&agent=" + w.Agent.ID
	owner := w.SignIn(webtest.OwnerEmail)
	owner.Get(path, webtest.HTMX).Is(http.StatusOK).Says("#received", "aiting for the first request of deployer")
	a := w.Ask()
	got := owner.Get(path, webtest.HTMX).Is(http.StatusOK).Says("#received", "asked for Bash")
	if got.Doc.Find("#received a").AttrOr("href", "") != "/approvals/"+string(a.ID) || strings.Contains(got.Body, "<html") {
		t.Errorf("it is\n%s", got.Body)
	}
	owner.Get(path).Redirects("/connect?way=curl&agent=" + w.Agent.ID)
	for _, email := range []string{webtest.StrangerEmail, "admin@example.com"} {
		other := w.SignIn(email)
		other.Get(path, webtest.HTMX).Is(http.StatusNotFound)
		other.Get("/connect?agent=" + w.Agent.ID).Is(http.StatusNotFound)
	}
	owner.Get("/connect/received?way=curl").Is(http.StatusNotFound)
	owner.Get("/connect?way=nonsense").Is(http.StatusNotFound)
	owner.Post("/connect", url.Values{"way": {"nonsense"}, "agent": {"x"}}).Is(http.StatusNotFound)
	token, err := w.Store.People.Tokens(t.Context(), w.Owner, false)
	if err != nil {
		t.Fatal(err)
	}
	storetest.Must(t, w.Store.People.RevokeToken(t.Context(), w.Owner, token[0].ID))
	owner.Get(path, webtest.HTMX).Is(http.StatusOK).Says("#received", "has no working token")
}

// A token is never replaced unasked: not by a name that is taken, nor by sending the form
// again.
func TestConnectingKeepsTheTokenThatAnAgentHas(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	form := url.Values{"way": {"curl"}, "agent": {" deployer "}}
	got := p.Post("/connect", form).Is(http.StatusConflict).Says("#agent-error", "already has a token")
	if got.Value("#agent") != "deployer" || got.Doc.Find("#replace").Length() != 1 {
		t.Errorf("the form is\n%s", got.Text("form"))
	}
	if _, err := w.Store.People.AuthenticateToken(t.Context(), w.Token); err != nil {
		t.Errorf("the token was replaced: %v", err)
	}
	form.Set("replace", "true")
	secret := p.Post("/connect", form).Is(http.StatusOK).Text("#fresh-token")
	if _, err := w.Store.People.AuthenticateToken(t.Context(), w.Token); models.ErrorCode(err) != models.CodeUnauthenticated {
		t.Errorf("the old token still works: %v", err)
	}
	form.Del("replace")
	p.Post("/connect", form).Is(http.StatusConflict)
	if _, err := w.Store.People.AuthenticateToken(t.Context(), secret); err != nil {
		t.Errorf("the form sent again replaced the token: %v", err)
	}
	for _, name := range []string{"", strings.Repeat("x", 201), models.BuiltIn} {
		got := p.Post("/connect", url.Values{"way": {"go"}, "agent": {name}}).Is(http.StatusUnprocessableEntity)
		if got.Text("#agent-error") == "" || got.Value("#agent") != name || got.Text("#way-title") != "Go" {
			t.Errorf("%.9q: %q, %q, %q", name, got.Text("#agent-error"), got.Value("#agent"), got.Text("#way-title"))
		}
	}
}

// What an agent is called is shown escaped, and is nowhere in what is pasted (I13).
func TestNamesOfAgentsAreNotPastedI13(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	const name = "x\u202e'; $(touch /tmp/x) `id` \"<b>"
	for _, way := range connect.Ways() {
		got := p.Post("/connect", url.Values{"way": {way}, "agent": {name}, "replace": {"true"}}).Is(http.StatusOK)
		if code := got.Text(".code"); strings.Contains(code, "touch /tmp/x") {
			t.Errorf("%s: the name is in\n%s", way, code)
		}
		if strings.Contains(got.Body, "\u202e") || strings.Contains(got.Body, `"<b>`) {
			t.Errorf("%s: the name is not escaped", way)
		}
		got.Says("#received", "⟨U+202E⟩")
	}
}

// Looking makes nothing (I15).
func TestLookingAtConnectMakesNothingI15(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	before, err := w.Store.Ledger.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/connect", "/connect?way=go&agent=" + w.Agent.ID, "/connect/received?agent=" + w.Agent.ID, "/connect?replace=true&agent=" + w.Agent.ID} {
		p.Get(path, webtest.HTMX)
	}
	if after, err := w.Store.Ledger.Head(t.Context()); err != nil || after.Seq != before.Seq {
		t.Errorf("the ledger went from %d to %d (%v)", before.Seq, after.Seq, err)
	}
}

// The stream of the page tells of the reader's own agent alone.
func TestTheStreamTellsOfTheAgentThatIsConnected(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	path, topic := "/events?agent="+w.Agent.ID, "agent:"+w.Agent.ID
	owner := w.SignIn(webtest.OwnerEmail).Listen(path).Opening(topic, "inbox", "policy")
	w.SignIn("admin@example.com").Listen(path).Opening("inbox", "policy") // somebody else's
	w.SignIn(webtest.StrangerEmail).Listen("/events?agent=nonsense").Opening("inbox", "policy")
	w.Ask()
	owner.Opening(topic, "inbox")
}
