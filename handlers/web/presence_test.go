package web_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// waitsFor has the agent wait for a request until it is ended.
func (w *world) waitsFor(a *models.Approval) (end func()) {
	w.tb.Helper()
	ctx, cancel := context.WithCancel(w.tb.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = w.store.Await(ctx, w.agent, a.ID, time.Hour)
	}()
	for deadline := time.Now().Add(browsing); !w.store.Presence(a.ID).Waiting; {
		if time.Now().After(deadline) {
			w.tb.Fatal("the agent does not wait")
		}
	}
	return func() { cancel(); <-ended }
}

// TestTheRequestPageSaysWhetherItsAgentWaits, in its own words for each case, and
// nothing where nothing is known.
func TestTheRequestPageSaysWhetherItsAgentWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask()
	p, path := w.signedIn(ownerEmail), "/approvals/"+string(a.ID)
	says := func(want string) {
		t.Helper()
		if got := p.get(path).is(http.StatusOK).text("#presence"); got != want {
			t.Errorf("the page says %q, want %q", got, want)
		}
		if got := p.get(path+"/presence", htmx).is(http.StatusOK).isFragment().text("#presence"); got != want {
			t.Errorf("the line says %q, want %q", got, want)
		}
	}
	says("")
	end := w.waitsFor(a)
	says("· deployer is waiting now")
	end()
	says("· deployer is waiting now") // clients wait in slices
	if got := w.store.Presence(a.ID); got.Until.IsZero() {
		t.Errorf("a page is not told until when: %+v", got)
	}
	w.clock.Step(40 * time.Second)
	says("· the agent stopped waiting 40 s ago; it can still fetch the outcome")
	end = w.waitsFor(a)
	says("· deployer is waiting now")
	p.get(path + "/presence").redirects(path)
	w.signedIn(strangerEmail).get(path+"/presence", htmx).is(http.StatusNotFound)
	w.decides(a, true, "")
	end()
	if got := p.get(path).is(http.StatusOK); got.doc.Find("#presence").Length() != 0 {
		t.Errorf("of a settled request it says %q", got.text("#presence"))
	}
	p.get(path+"/presence", htmx).is(http.StatusOK)

	// Another process, or this one after a restart, knows of no waits.
	other := w.ask()
	defer w.waitsFor(other)()
	again := storetest.New(t, storetest.WithClock(w.clock))
	if got := again.Presence(other.ID); got != (models.Presence{}) {
		t.Errorf("it is said that %+v", got)
	}
}

// A page that is opened just after the wait ended hears of no end any more, and looks
// itself when the time is over.
func TestInABrowserAPageOpenedAfterAWaitEndedSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask()
	w.waitsFor(a)()
	p := w.tab()
	p.signIn()
	p.open("/approvals/" + string(a.ID))
	p.sees("#presence", "deployer is waiting now")
	p.sees("#live-text", "live")
	w.clock.Step(40 * time.Second)
	p.sees("#presence", "the agent stopped waiting ")
}

// TestAnAgentsClockIsShownWhereItIsWrong by more than a minute.
func TestAnAgentsClockIsShownWhereItIsWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := func(d time.Duration) *models.Approval {
		return w.ask(func(in *models.AskInput) { in.ClaimedAt = w.clock.Now().Add(d).Format(time.RFC3339) })
	}
	p := w.signedIn(ownerEmail)
	p.get("/approvals/"+string(at(-time.Minute).ID)).is(http.StatusOK).saysNot(".approval-who", "clock")
	p.get("/approvals/"+string(at(2*time.Hour).ID)).is(http.StatusOK).says(".approval-who", w.clock.Now().Add(2*time.Hour).UTC().Format("2006-01-02 15:04:05 UTC")+" according to the agent")
}

// TestInABrowserTheRequestPageHearsWhenItsAgentBeginsAndCeasesToWait.
func TestInABrowserTheRequestPageHearsWhenItsAgentBeginsAndCeasesToWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask()
	p := w.tab()
	p.signIn()
	p.open("/approvals/" + string(a.ID))
	p.sees("#live-text", "live")
	end := w.waitsFor(a)
	p.sees("#presence", "deployer is waiting now")
	end()
	w.clock.Step(40 * time.Second)
	p.sees("#presence", "the agent stopped waiting ")
	p.sees("#presence", " s ago; it can still fetch the outcome")
	defer w.waitsFor(a)()
	p.sees("#presence", "deployer is waiting now")
}
