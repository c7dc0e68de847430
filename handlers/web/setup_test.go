package web_test

import (
	"context"
	"crypto/x509"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"countersign/handlers"
	"countersign/handlers/web"
	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/workers/agent"
	"countersign/workers/notify"
	"countersign/workers/outward"
	"countersign/workers/upstream"
	"countersign/workers/webhooks"
)

const (
	ownerEmail    = "owner@example.com"
	strangerEmail = "stranger@example.com"
)

// world is the pages over a fresh store, with an owner and the owner's agent, a
// stranger and an admin.
type world struct {
	tb        testing.TB
	store     *store.Store
	clock     *storetest.Clock
	site      *web.Site
	streams   *handlers.Streams
	lists     *handlers.Lists
	strangers *handlers.Strangers
	url       string

	owner, admin, agent models.Actor
	token               string // the agent's

	drafted atomic.Pointer[string]      // what the built-in agent is writing, everywhere
	builtIn atomic.Pointer[agent.Agent] // where one runs: it says itself

	notifier *notify.Notifier
	mails    *mailer
	roots    *x509.CertPool // that services on this computer are trusted by
	lease    *models.Lease
	out      *outward.Client  // the way to hosts that admins have allowed
	events   *webhooks.Worker // runs once sendsEvents has been called
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	w := emptyWorld(tb, 0)
	w.owner = storetest.Reviewer(tb, w.store, ownerEmail)
	storetest.Reviewer(tb, w.store, strangerEmail)
	w.admin = storetest.Admin(tb, w.store)
	w.agent, w.token = storetest.AgentToken(tb, w.store, w.owner, "deployer")
	return w
}

// emptyWorld has nobody in it.
func emptyWorld(tb testing.TB, streamsEach int) *world {
	tb.Helper()
	w := &world{tb: tb, clock: storetest.NewClock()}
	w.store = storetest.New(tb, storetest.WithClock(w.clock))
	w.streams, w.lists = handlers.NewStreams(streamsEach), handlers.NewLists()
	w.strangers = handlers.NewStrangers(1, time.Minute)
	server := httptest.NewUnstartedServer(nil)
	public := &url.URL{Scheme: "http", Host: server.Listener.Addr().String()}
	w.site = web.New(handlers.Kit{Log: slog.New(slog.DiscardHandler), Now: w.store.Now, PublicURL: public, Streams: w.streams, Lists: w.lists, Strangers: w.strangers}, w.store, web.Options{Drafts: w.draft, CheckUpstream: checkUpstream, Notify: w.notifies(), Webhooks: w.webhooks()})
	server.Config.Handler = w.site
	server.Config.ErrorLog = slog.NewLogLogger(slog.NewTextHandler(faults{tb}, nil), slog.LevelError)
	server.Start()
	w.url = server.URL
	tb.Cleanup(func() {
		w.site.Stop()
		server.Close()
	})
	return w
}

// checkUpstream is what the program checks upstreams with.
func checkUpstream(_ context.Context, baseURL, dialect, key string) error {
	reach := upstream.Reach{Allow: upstream.Hosts{"hub.internal": true}}
	_, err := upstream.New(upstream.Options{BaseURL: baseURL, Dialect: upstream.Dialect(dialect), Key: key, Reach: reach, HTTP: http.DefaultClient})
	return err
}

// draft is what the built-in agent is writing.
func (w *world) draft(id models.ConversationID) (text, model string, ok bool) {
	if a := w.builtIn.Load(); a != nil {
		return a.Draft(id)
	}
	if at := w.drafted.Load(); at != nil {
		return *at, "demo-model", true
	}
	return "", "", false
}

// ask has the owner's agent ask; change adapts the request.
func (w *world) ask(change ...func(*models.AskInput)) *models.Approval {
	w.tb.Helper()
	in := models.AskInput{
		ToolName: "Bash", Input: []byte(`{"command":"rm -rf build/"}`), Explicit: true, AcceptsEdits: true,
		ToolUseID: string(models.NewID[models.ResponseID]()),
	}
	for _, c := range change {
		c(&in)
	}
	a, err := w.store.Ask(w.tb.Context(), w.agent, in)
	if err != nil {
		w.tb.Fatalf("ask: %v", err)
	}
	return a
}

func question(in *models.AskInput) {
	in.Kind, in.ToolName, in.Input = models.KindQuestion, "question", nil
	in.Description = "Which region first?"
	in.Options = []models.Option{{Name: "eu", Title: "Europe"}, {Name: "us", Title: "America"}}
}

// stands reads a request as an admin sees it.
func (w *world) stands(id models.ResponseID) *models.Approval {
	w.tb.Helper()
	a, err := w.store.Requests.Approval(w.tb.Context(), w.admin, id)
	if err != nil {
		w.tb.Fatalf("read approval: %v", err)
	}
	return a
}

// applyPolicy puts a policy document in force.
func (w *world) applyPolicy(document string) {
	w.tb.Helper()
	if _, err := w.store.ApplyPolicy(w.tb.Context(), w.admin, []byte(document), "", 0); err != nil {
		w.tb.Fatalf("apply policy: %v", err)
	}
}

// person is one browser. It follows no redirect.
type person struct {
	w    *world
	http *http.Client
}

func (w *world) visitor() *person {
	w.tb.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		w.tb.Fatal(err)
	}
	return &person{w: w, http: &http.Client{
		Jar: jar, Timeout: patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// signedIn is a browser in which somebody has signed in.
func (w *world) signedIn(email string) *person {
	w.tb.Helper()
	p := w.visitor()
	got := p.post("/signin", url.Values{"email": {email}, "password": {storetest.Password}})
	got.redirects("/")
	return p
}

// header is one header line of a request.
type header struct{ name, value string }

var (
	htmx = header{"HX-Request", "true"}
	json = header{"Accept", "application/json"}
)

func (p *person) get(path string, headers ...header) *page {
	p.w.tb.Helper()
	return p.send(http.MethodGet, path, nil, headers...)
}

func (p *person) post(path string, form url.Values, headers ...header) *page {
	p.w.tb.Helper()
	return p.send(http.MethodPost, path, form, headers...)
}

func (p *person) send(method, path string, form url.Values, headers ...header) *page {
	p.w.tb.Helper()
	req, err := http.NewRequestWithContext(p.w.tb.Context(), method, p.w.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		p.w.tb.Fatal(err)
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, h := range headers {
		req.Header.Set(h.name, h.value)
	}
	resp, err := p.http.Do(req)
	if err != nil {
		p.w.tb.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		p.w.tb.Fatalf("%s %s: %v", method, path, err)
	}
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(string(body)))
	if err != nil {
		p.w.tb.Fatalf("%s %s: %v", method, path, err)
	}
	doc.Find("template").Empty() // on no page until a script takes it
	return &page{tb: p.w.tb, asked: method + " " + path, status: resp.StatusCode, header: resp.Header, body: string(body), doc: doc, cookies: resp.Cookies()}
}

// page is one answer.
type page struct {
	tb      testing.TB
	asked   string
	status  int
	header  http.Header
	cookies []*http.Cookie
	body    string
	doc     *goquery.Document
}

func (p *page) is(status int) *page {
	p.tb.Helper()
	if p.status != status {
		p.tb.Fatalf("%s: status %d, want %d; main: %s", p.asked, p.status, status, p.text("main"))
	}
	return p
}

func (p *page) redirects(to string) *page {
	p.tb.Helper()
	p.is(http.StatusSeeOther)
	if got := p.header.Get("Location"); got != to {
		p.tb.Fatalf("%s: leads to %q, want %q", p.asked, got, to)
	}
	return p
}

// says checks that the text of what a selector finds contains each part.
func (p *page) says(selector string, parts ...string) *page {
	p.tb.Helper()
	got := p.text(selector)
	for _, part := range parts {
		if !strings.Contains(got, part) {
			p.tb.Errorf("%s: %s says %q, want %q in it", p.asked, selector, got, part)
		}
	}
	return p
}

func (p *page) saysNot(selector string, parts ...string) *page {
	p.tb.Helper()
	got := p.text(selector)
	for _, part := range parts {
		if strings.Contains(got, part) {
			p.tb.Errorf("%s: %s says %q, want no %q in it", p.asked, selector, got, part)
		}
	}
	return p
}

// isFragment checks that the answer is a part of a page and no page.
func (p *page) isFragment() *page {
	p.tb.Helper()
	if strings.Contains(p.body, "<html") {
		p.tb.Errorf("%s: a whole page, want a fragment", p.asked)
	}
	return p
}

func (p *page) text(selector string) string {
	return strings.Join(strings.Fields(p.doc.Find(selector).Text()), " ")
}

// value is what a field of a form holds.
func (p *page) value(selector string) string {
	field := p.doc.Find(selector).First()
	if field.Is("textarea") {
		return strings.TrimPrefix(field.Text(), "\n")
	}
	return field.AttrOr("value", "")
}

// form collects what a browser would send for a form: its hidden fields and what
// is filled in, and then the button pressed.
func (p *page) form(selector string, pressed string) url.Values {
	p.tb.Helper()
	form := p.doc.Find(selector)
	if form.Length() != 1 {
		p.tb.Fatalf("%s: %d forms match %s", p.asked, form.Length(), selector)
	}
	values := url.Values{}
	apart := func(what string) *goquery.Selection { // it belongs to the form by its id
		return p.doc.Find(what).FilterFunction(func(_ int, e *goquery.Selection) bool {
			return e.AttrOr("form", "") != "" && e.AttrOr("form", "") == form.AttrOr("id", "")
		})
	}
	form.Find("input, textarea, select").AddSelection(apart("input, textarea, select")).Each(func(_ int, field *goquery.Selection) {
		name, ok := field.Attr("name")
		kind := field.AttrOr("type", "")
		if _, checked := field.Attr("checked"); !ok || (kind == "checkbox" || kind == "radio") && !checked {
			return
		}
		value := field.AttrOr("value", "")
		if field.Is("textarea") {
			value = strings.ReplaceAll(strings.TrimPrefix(field.Text(), "\n"), "\n", "\r\n")
		}
		if field.Is("select") {
			value = chosen(field)
		}
		values.Add(name, value)
	})
	if pressed != "" {
		button := form.Find(pressed).AddSelection(apart(pressed))
		if button.Length() != 1 {
			p.tb.Fatalf("%s: %d buttons match %s", p.asked, button.Length(), pressed)
		}
		if name, ok := button.Attr("name"); ok {
			values.Set(name, button.AttrOr("value", ""))
		}
	}
	return values
}

// chosen is what a browser sends of a select.
func chosen(field *goquery.Selection) string {
	option := field.Find("option[selected]")
	if option.Length() == 0 {
		option = field.Find("option")
	}
	return option.First().AttrOr("value", option.First().Text())
}

// faults are what the HTTP server says that went wrong: an answer that was begun
// twice is a fault of a handler.
type faults struct{ tb testing.TB }

func (f faults) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "superfluous") {
		f.tb.Errorf("the server says: %s", line)
	}
	return len(line), nil
}

// filled puts the parts of a world into a route's path.
func (w *world) filled(route handlers.Route, a *models.Approval, token models.TokenID) string {
	path := strings.NewReplacer("/conversations/:id", "/conversations/"+string(a.ConversationID), "/decide/:response", "/decide/"+string(a.ID), "/calls/:response", "/calls/"+string(a.ID), "/approvals/:id", "/approvals/"+string(a.ID), "/tokens/:id", "/tokens/"+string(token),
		"/invites/:id", "/invites/"+string(models.NewID[models.InviteID]()), "/people/:id", "/people/"+w.owner.ID,
		"/groups/:name/members/:id", "/groups/finance/members/"+w.owner.ID, "/groups/:name", "/groups/finance",
		"/channels/:id", "/channels/"+string(models.NewID[models.ChannelID]()), ":what", "verify",
		"/account/away/:id", "/account/away/"+string(models.NewID[models.AbsenceID]()), "/people/away/:id", "/people/away/"+string(models.NewID[models.AbsenceID]()),
		"/substitutes/:id", "/substitutes/"+string(models.NewID[models.SubstituteID]()),
		"/webhooks/:id", "/webhooks/"+string(models.NewID[models.WebhookID]()), ":act", "retry", ":handover", string(models.NewID[models.HandOverID]()),
		"/stops/:id", "/stops/"+string(models.NewID[models.StopID]()), "/grants/:id", "/grants/"+string(models.NewID[models.GrantID]()), "/upstreams/:id", "/upstreams/"+string(models.NewID[models.UpstreamID]()),
		"/sessions/:id", "/sessions/"+string(models.NewID[models.SessionID]()), ":n", "1").Replace(route.Path)
	if strings.ContainsAny(path, ":*") {
		w.tb.Fatalf("no value for the parameters of %s", route.Path)
	}
	return path
}

func (w *world) ownToken() models.TokenID {
	w.tb.Helper()
	tokens, err := w.store.People.Tokens(w.tb.Context(), w.owner, false)
	if err != nil || len(tokens) == 0 {
		w.tb.Fatalf("tokens: %v, %v", tokens, err)
	}
	return tokens[0].ID
}

// open are the routes that need no sign-in; all others do, by being missing
// here.
var open = []string{"GET /static/*", "GET /sw.js", "GET /offline", "GET /setup", "POST /setup", "GET /signin", "POST /signin", "GET /join", "POST /join", "GET /docs/webhooks"}

// behind are the routes that need a sign-in, from the router itself.
func (w *world) behind() []handlers.Route {
	var out []handlers.Route
	for _, r := range w.site.Routes() {
		if r.Method != http.MethodGet && r.Method != http.MethodPost {
			continue // echo's own for what is not found
		}
		if !slices.Contains(open, r.Method+" "+r.Path) {
			out = append(out, r)
		}
	}
	if len(out) < 15 {
		w.tb.Fatalf("only %d routes found", len(out))
	}
	return out
}
