package request_test

import (
	"net/http"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

// TestTheRequestPageSaysWhetherItsAgentWaits, in its own words for each case, and
// nothing where nothing is known.
func TestTheRequestPageSaysWhetherItsAgentWaits(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask()
	p, path := w.SignIn(webtest.OwnerEmail), "/approvals/"+string(a.ID)
	says := func(want string) {
		t.Helper()
		if got := p.Get(path).Is(http.StatusOK).Text("#presence"); got != want {
			t.Errorf("the page says %q, want %q", got, want)
		}
		if got := p.Get(path+"/presence", webtest.HTMX).Is(http.StatusOK).IsFragment().Text("#presence"); got != want {
			t.Errorf("the line says %q, want %q", got, want)
		}
	}
	says("")
	end := w.WaitsFor(a)
	says("· deployer is waiting now")
	end()
	says("· deployer is waiting now") // clients wait in slices
	if got := storetest.PresenceOf(t, w.Store, a.ID); got.Until.IsZero() {
		t.Errorf("a page is not told until when: %+v", got)
	}
	w.Clock.Step(40 * time.Second)
	says("· the agent stopped waiting 40 s ago; it can still fetch the outcome")
	end = w.WaitsFor(a)
	says("· deployer is waiting now")
	p.Get(path + "/presence").Redirects(path)
	w.SignIn(webtest.StrangerEmail).Get(path+"/presence", webtest.HTMX).Is(http.StatusNotFound)
	w.Decides(a, true, "")
	end()
	if got := p.Get(path).Is(http.StatusOK); got.Doc.Find("#presence").Length() != 0 {
		t.Errorf("of a settled request it says %q", got.Text("#presence"))
	}
	p.Get(path+"/presence", webtest.HTMX).Is(http.StatusOK)

	// Another process, or this one after a restart, knows of no waits.
	other := w.Ask()
	defer w.WaitsFor(other)()
	again := storetest.New(t, storetest.WithClock(w.Clock))
	if got := storetest.PresenceOf(t, again, other.ID); got != (models.Presence{}) {
		t.Errorf("it is said that %+v", got)
	}
}

// TestAnAgentsClockIsShownWhereItIsWrong by more than a minute.
func TestAnAgentsClockIsShownWhereItIsWrong(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	at := func(d time.Duration) *models.Approval {
		return w.Ask(func(in *models.AskInput) { in.ClaimedAt = w.Clock.Now().Add(d).Format(time.RFC3339) })
	}
	p := w.SignIn(webtest.OwnerEmail)
	p.Get("/approvals/"+string(at(-time.Minute).ID)).Is(http.StatusOK).SaysNot(".approval-who", "clock")
	p.Get("/approvals/"+string(at(2*time.Hour).ID)).Is(http.StatusOK).Says(".approval-who", w.Clock.Now().Add(2*time.Hour).UTC().Format("2006-01-02 15:04:05 UTC")+" according to the agent")
}
