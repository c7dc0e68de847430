package browser_test

import (
	"strings"
	"testing"
	"time"

	"countersign/handlers/api/wire"
	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

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
			w := webtest.LiveWorld(t)
			p := openTab(w)
			p.signIn()
			p.sees("#inbox", "Nothing is waiting for you")
			p.sees("#live-text", "live")
			p.value("window.same = 'page'")
			agent := w.AgentAsks(d.ask)
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
			p.sees(".outcome", webtest.OwnerEmail)
			got := w.Outcome(agent)
			if got.Status != d.status || !d.check(got.Decision) || got.Decision.By == nil || got.Decision.By.ID != wire.UserID(w.Owner.UserID()) {
				t.Errorf("the agent hears %s: %+v", got.Status, got.Decision)
			}
		})
	}
}

func TestInABrowserSevenTabsKeepWorkingOverHTTP1(t *testing.T) {
	t.Parallel()
	w := webtest.LiveWorld(t)
	first := openTab(w)
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
	asked := w.AgentAsks(nil)
	for _, tab := range tabs {
		tab.sees("#inbox", "make deploy") // without a reload, with a stream of its own or not
	}
	last := tabs[len(tabs)-1]
	last.click("#inbox .row-link")
	last.click("#approve")
	if got := w.Outcome(asked); got.Status != wire.StatusApproved {
		t.Errorf("the agent hears %s", got.Status)
	}
}

func TestInABrowserWithoutScriptTheSameIsDone(t *testing.T) {
	t.Parallel()
	for _, d := range decisions {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			w := webtest.LiveWorld(t)
			p := openTab(w)
			p.withoutScript()
			p.signIn()
			agent := w.AgentAsks(d.ask)
			for tries := 0; p.text("#inbox .row-link") == "" && tries < 100; tries++ {
				p.open("/")
			}
			p.click("#inbox .row-link")
			p.sees("main", "Needs approval because")
			d.do(p)
			p.sees(".outcome", d.shows)
			got := w.Outcome(agent)
			if got.Status != d.status || !d.check(got.Decision) {
				t.Errorf("the agent hears %s: %+v", got.Status, got.Decision)
			}
		})
	}
}

func TestInABrowserSilenceIsSeenToExpire(t *testing.T) {
	t.Parallel()
	w := webtest.LiveWorld(t)
	p := openTab(w)
	p.signIn()
	p.sees("#live-text", "live")
	agent := w.AgentAsks(func(req *wire.AskRequest) { req.TimeoutSeconds = new(int64(4)) })
	p.sees("#inbox", "deployer")
	p.click("#inbox .row-link")
	p.sees(".deadline", "0:0")
	p.sees(".outcome", "expired")
	p.sees(".outcome", "4 seconds")
	got := w.Outcome(agent)
	if got.Status != wire.StatusExpired || got.Decision.Approved || got.Decision.By != nil || got.Decision.Reason != "Approval request timed out (4 seconds)" {
		t.Errorf("the agent hears %s: %+v", got.Status, got.Decision)
	}
	p.open("/")
	p.sees("#inbox", "All clear")
}

func TestInABrowserAHalfFilledFormIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := webtest.LiveWorld(t)
	a := w.Ask()
	p := openTab(w)
	p.signIn()
	p.open(webtest.PageOf(a))
	p.sees("#live-text", "live")
	p.fill("#reason", "I am still thinking")
	if _, err := w.Store.Decide(t.Context(), w.Admin, a.ID, models.DecisionInput{Approved: new(false), Reason: "no"}); err != nil {
		t.Fatal(err)
	}
	p.sees("[data-kept-text]", "Rejected by admin@example.com.")
	p.sees("#live-text", "live")
	w.Ask()
	p.sees("#inbox-count", "1") // by then the page has looked at what is new
	p.sees("[data-kept-text]", "Rejected by admin@example.com.")
	if got := p.value("document.querySelector('[data-kept-text] textarea').value"); got != "I am still thinking" {
		t.Errorf("the reason is %q", got)
	}
}

func TestInABrowserAnOpenPageTurnsRed(t *testing.T) {
	t.Parallel()
	w := webtest.LiveWorld(t)
	p := openTab(w)
	p.signIn()
	p.open("/audit")
	p.sees("#live-text", "live")
	p.value("window.same = 'page'")
	w.ApplyPolicy(`{"approval_enabled": false}`)
	p.sees(".dangers", "The gate is off")
	w.ApplyPolicy(`{"fallback_auto_approve": true}`)
	p.sees(".dangers", "Fallback is on")
	if got := p.text(".dangers"); strings.Contains(got, "The gate is off") {
		t.Errorf("the page still says %q", got)
	}
	w.Ask()
	p.sees("#inbox-count", "1")
	if got := p.value("window.same"); got != "page" {
		t.Error("the page was loaded again")
	}
}

func TestInABrowserTheEndOfASessionIsSeen(t *testing.T) {
	t.Parallel()
	w := webtest.LiveWorld(t)
	p := openTab(w)
	p.expected = append(p.expected, "401")
	p.signIn()
	p.sees("#live-text", "live")
	if err := w.Store.People.SetPassword(t.Context(), storetest.Operator(), w.Owner.UserID(), "another long password"); err != nil {
		t.Fatal(err)
	}
	p.sees("#live-text", "signed out")
	p.open("/audit")
	p.sees("main h1", "Sign in")
}

// A page that is opened just after the wait ended hears of no end any more, and looks
// itself when the time is over.
func TestInABrowserAPageOpenedAfterAWaitEndedSaysSo(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask()
	w.WaitsFor(a)()
	p := openTab(w)
	p.signIn()
	p.open("/approvals/" + string(a.ID))
	p.sees("#presence", "deployer is waiting now")
	p.sees("#live-text", "live")
	w.Clock.Step(40 * time.Second)
	p.sees("#presence", "the agent stopped waiting ")
}

// TestInABrowserTheRequestPageHearsWhenItsAgentBeginsAndCeasesToWait.
func TestInABrowserTheRequestPageHearsWhenItsAgentBeginsAndCeasesToWait(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask()
	p := openTab(w)
	p.signIn()
	p.open("/approvals/" + string(a.ID))
	p.sees("#live-text", "live")
	end := w.WaitsFor(a)
	p.sees("#presence", "deployer is waiting now")
	end()
	w.Clock.Step(40 * time.Second)
	p.sees("#presence", "the agent stopped waiting ")
	p.sees("#presence", " s ago; it can still fetch the outcome")
	defer w.WaitsFor(a)()
	p.sees("#presence", "deployer is waiting now")
}
