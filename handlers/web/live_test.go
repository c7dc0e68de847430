package web_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/handlers"
	"countersign/handlers/api"
	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/handlers/web"
	"countersign/models"
	"countersign/models/storetest"
	"countersign/workers/expire"
)

// liveWorld is the pages and the approval queue on one address under the real
// clock, with the expirer at work.
func liveWorld(t *testing.T) *world {
	t.Helper()
	w := &world{tb: t, store: storetest.New(t)}
	server := httptest.NewUnstartedServer(nil)
	kit := handlers.Kit{
		Log: slog.New(slog.DiscardHandler), Now: w.store.Now,
		PublicURL: &url.URL{Scheme: "http", Host: server.Listener.Addr().String()},
	}
	queue, err := api.New(kit, w.store, "test")
	if err != nil {
		t.Fatal(err)
	}
	w.site = web.New(kit, w.store, web.Options{Drafts: w.draft})
	server.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if handlers.WantsBearer(r) {
			queue.ServeHTTP(rw, r)
			return
		}
		w.site.ServeHTTP(rw, r)
	})
	server.Start()
	w.url = server.URL
	expired := make(chan struct{})
	go func() {
		defer close(expired)
		expire.Run(t.Context(), kit.Log, w.store)
	}()
	t.Cleanup(func() {
		w.site.Stop()
		w.store.EndWaits()
		server.Close()
		<-expired
	})
	w.owner = storetest.Reviewer(t, w.store, ownerEmail)
	w.admin = storetest.Admin(t, w.store)
	w.agent, w.token = storetest.AgentToken(t, w.store, w.owner, "deployer")
	return w
}

// answer is what an agent's call returned.
type answer struct {
	*wire.Approval
	err error
}

// agentAsks has an agent wait over HTTP, as agents do: the same request again
// until there is an outcome.
func (w *world) agentAsks(change func(*wire.AskRequest)) <-chan answer {
	w.tb.Helper()
	req := wire.AskRequest{ToolUseID: "call-1", ToolName: "Bash", Input: []byte(`{"command":"make deploy"}`), Description: "Version 1.4 to production", AcceptsEdits: true}
	if change != nil {
		change(&req)
	}
	client := client.New(w.url, w.token)
	out := make(chan answer, 1)
	ctx := w.tb.Context()
	go func() {
		for {
			a, err := client.Ask(ctx, req, 20*time.Second)
			if err != nil || a.Status != wire.StatusPending {
				out <- answer{a, err}
				return
			}
		}
	}()
	return out
}

// outcome waits for the agent's call to return.
func (w *world) outcome(from <-chan answer) *wire.Approval {
	w.tb.Helper()
	select {
	case a := <-from:
		if a.err != nil {
			w.tb.Fatalf("the agent's call failed: %v", a.err)
		}
		return a.Approval
	case <-time.After(browsing):
		w.tb.Fatal("the agent's call does not return")
	}
	return nil
}

// decisions are what a reviewer does in the browser and what the agent hears.
var decisions = []struct {
	name   string
	ask    func(*wire.AskRequest)
	do     func(*tab)
	shows  string // the outcome on the page
	status wire.Status
	check  func(*wire.Decision) bool
}{
	{
		name: "approve", do: func(t *tab) { t.click("#approve") }, shows: "approved", status: wire.StatusApproved,
		check: func(d *wire.Decision) bool { return d.Approved && string(d.Input) == `{"command":"make deploy"}` },
	},
	{
		name: "reject with a reason",
		do: func(t *tab) {
			t.fill("#reason", "not on Fridays")
			t.click("#reject")
		},
		shows: "not on Fridays", status: wire.StatusRejected,
		check: func(d *wire.Decision) bool { return !d.Approved && d.Reason == "not on Fridays" },
	},
	{
		name: "edit", // at first to something that is no JSON
		do: func(t *tab) {
			t.expected = append(t.expected, "422")
			t.click("#edit > summary")
			t.click("#edit-whole > summary")
			t.sees("#edit-json", "Input as JSON")
			t.fill("#edit-json textarea", "nonsense")
			t.click("#approve-edited:not([hidden]), html:not(.js) #edit-approve")
			t.sees("#edit-json .field-error", "JSON")
			t.value("document.querySelector('#edit-json textarea').value = '{\"command\":\"make check\"}'")
			t.click("#approve-edited:not([hidden]), html:not(.js) #edit-approve")
		},
		shows: "make check", status: wire.StatusApproved,
		check: func(d *wire.Decision) bool { return d.Edited && string(d.Input) == `{"command":"make check"}` },
	},
	{
		name: "answer", ask: asksWhere,
		do: func(t *tab) {
			t.fill("#answer", "Asia, please")
			t.click("#answer-button")
		},
		shows: "Asia, please", status: wire.StatusApproved,
		check: func(d *wire.Decision) bool { return d.Answer != nil && *d.Answer == "Asia, please" && d.Option == nil },
	},
	{
		name: "choose", ask: asksWhere, do: func(t *tab) { t.click("button[value=us]") }, shows: "answered", status: wire.StatusApproved,
		check: func(d *wire.Decision) bool { return d.Option != nil && *d.Option == "us" && d.Answer == nil },
	},
}

func asksWhere(req *wire.AskRequest) {
	req.Kind, req.ToolName, req.Input = wire.KindQuestion, "", nil
	req.Description = "Which region first?"
	req.Options = []wire.Option{{Name: "eu", Title: "Europe"}, {Name: "us", Title: "America"}}
}

func TestInABrowserARequestAppearsAndIsDecided(t *testing.T) {
	t.Parallel()
	for _, d := range decisions {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			w := liveWorld(t)
			p := w.tab()
			p.signIn()
			p.sees("#inbox", "Nothing is waiting for you")
			p.sees("#live-text", "live")
			p.value("window.same = 'page'")
			agent := w.agentAsks(d.ask)
			p.sees("#inbox .row-link", "")
			p.sees("#inbox", "deployer")
			p.sees("#inbox-count", "1")
			if got := p.value("window.same"); got != "page" {
				t.Error("the page was loaded again")
			}
			if title := p.value("document.title"); title != "(1) Inbox · Countersign" {
				t.Errorf("the title is %q", title)
			}
			p.click("#inbox .row-link")
			p.sees("main", "Needs approval because")
			d.do(p)
			p.sees(".outcome", d.shows)
			p.sees(".outcome", ownerEmail)
			got := w.outcome(agent)
			if got.Status != d.status || !d.check(got.Decision) || got.Decision.By == nil || got.Decision.By.ID != wire.UserID(w.owner.UserID()) {
				t.Errorf("the agent hears %s: %+v", got.Status, got.Decision)
			}
		})
	}
}

func TestInABrowserSevenTabsKeepWorkingOverHTTP1(t *testing.T) {
	t.Parallel()
	w := liveWorld(t)
	first := w.tab()
	first.signIn()
	tabs := []*tab{first}
	for range 7 {
		next := first.beside()
		next.open("/")
		tabs = append(tabs, next)
	}
	for _, tab := range tabs {
		tab.sees("#live-text", "live")
	}
	asked := w.agentAsks(nil)
	for _, tab := range tabs {
		tab.sees("#inbox", "make deploy") // without a reload, with a stream of its own or not
	}
	last := tabs[len(tabs)-1]
	last.click("#inbox .row-link")
	last.click("#approve")
	if got := w.outcome(asked); got.Status != wire.StatusApproved {
		t.Errorf("the agent hears %s", got.Status)
	}
}

func TestInABrowserWithoutScriptTheSameIsDone(t *testing.T) {
	t.Parallel()
	for _, d := range decisions {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			w := liveWorld(t)
			p := w.tab()
			p.withoutScript()
			p.signIn()
			agent := w.agentAsks(d.ask)
			for tries := 0; p.text("#inbox .row-link") == "" && tries < 100; tries++ {
				p.open("/")
			}
			p.click("#inbox .row-link")
			p.sees("main", "Needs approval because")
			d.do(p)
			p.sees(".outcome", d.shows)
			got := w.outcome(agent)
			if got.Status != d.status || !d.check(got.Decision) {
				t.Errorf("the agent hears %s: %+v", got.Status, got.Decision)
			}
		})
	}
}

func TestInABrowserSilenceIsSeenToExpire(t *testing.T) {
	t.Parallel()
	w := liveWorld(t)
	p := w.tab()
	p.signIn()
	p.sees("#live-text", "live")
	agent := w.agentAsks(func(req *wire.AskRequest) { req.TimeoutSeconds = new(int64(4)) })
	p.sees("#inbox", "deployer")
	p.click("#inbox .row-link")
	p.sees(".deadline", "0:0")
	p.sees(".outcome", "expired")
	p.sees(".outcome", "4 seconds")
	got := w.outcome(agent)
	if got.Status != wire.StatusExpired || got.Decision.Approved || got.Decision.By != nil || got.Decision.Reason != "Approval request timed out (4 seconds)" {
		t.Errorf("the agent hears %s: %+v", got.Status, got.Decision)
	}
	p.open("/")
	p.sees("#inbox", "Nothing is waiting for you")
}

func TestInABrowserAHalfFilledFormIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := liveWorld(t)
	a := w.ask()
	p := w.tab()
	p.signIn()
	p.open(pageOf(a))
	p.sees("#live-text", "live")
	p.fill("#reason", "I am still thinking")
	if _, err := w.store.Decide(t.Context(), w.admin, a.ID, models.DecisionInput{Approved: new(false), Reason: "no"}); err != nil {
		t.Fatal(err)
	}
	p.sees("[data-kept-text]", "Rejected by admin@example.com.")
	p.sees("#live-text", "live")
	w.ask()
	p.sees("#inbox-count", "1") // by then the page has looked at what is new
	p.sees("[data-kept-text]", "Rejected by admin@example.com.")
	if got := p.value("document.querySelector('[data-kept-text] textarea').value"); got != "I am still thinking" {
		t.Errorf("the reason is %q", got)
	}
}

func TestInABrowserAnOpenPageTurnsRed(t *testing.T) {
	t.Parallel()
	w := liveWorld(t)
	p := w.tab()
	p.signIn()
	p.open("/audit")
	p.sees("#live-text", "live")
	p.value("window.same = 'page'")
	w.applyPolicy(`{"approval_enabled": false}`)
	p.sees(".dangers", "The gate is off")
	w.applyPolicy(`{"fallback_auto_approve": true}`)
	p.sees(".dangers", "Fallback is on")
	if got := p.text(".dangers"); strings.Contains(got, "The gate is off") {
		t.Errorf("the page still says %q", got)
	}
	w.ask()
	p.sees("#inbox-count", "1")
	if got := p.value("window.same"); got != "page" {
		t.Error("the page was loaded again")
	}
}

func TestInABrowserTheEndOfASessionIsSeen(t *testing.T) {
	t.Parallel()
	w := liveWorld(t)
	p := w.tab()
	p.expected = append(p.expected, "401")
	p.signIn()
	p.sees("#live-text", "live")
	if err := w.store.People.SetPassword(t.Context(), storetest.Operator(), w.owner.UserID(), "another long password"); err != nil {
		t.Fatal(err)
	}
	p.sees("#live-text", "signed out")
	p.open("/audit")
	p.sees("main h1", "Sign in")
}
