package web_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"countersign/models"
)

// What ends while somebody writes says so at once, with who did what; what was typed is
// kept to be copied, typing goes on in it, and nothing of the request can be pressed.
func TestInABrowserWhatEndsUnderOnesHandsSaysSo(t *testing.T) {
	t.Parallel()
	ends := map[string]func(*world, *models.Approval){
		"Rejected by admin@example.com.": func(w *world, a *models.Approval) {
			if _, err := w.store.Decide(w.tb.Context(), w.admin, a.ID, models.DecisionInput{Approved: new(false)}); err != nil {
				w.tb.Fatal(err)
			}
		},
		"Expired.": func(w *world, _ *models.Approval) {
			w.clock.Step(2 * time.Hour)
			if _, err := w.store.ExpireDue(w.tb.Context(), 10); err != nil {
				w.tb.Fatal(err)
			}
		},
		"Cancelled.": func(w *world, a *models.Approval) {
			if _, err := w.store.Cancel(w.tb.Context(), w.agent, a.ID); err != nil {
				w.tb.Fatal(err)
			}
		},
	}
	for said, end := range ends {
		for _, width := range []int64{1440, 390} {
			t.Run(said, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				a := w.ask()
				p := w.tab()
				p.do("size", chromedp.EmulateViewport(width, 844))
				p.signIn()
				p.open(pageOf(a))
				p.sees("#live-text", "live")
				p.fill("#reason", "because")
				end(w, a)
				p.sees("[data-kept-text]", said)
				p.sees("[data-kept-text]", "Your text was not sent.")
				p.becomes(`document.querySelector("form[data-verdict], #approve, #reject") === null`)
				p.becomes(`!document.querySelector(".approval-marks").innerText.includes("waiting")`)
				p.becomes(`document.activeElement.matches("[data-kept-text] textarea")`)
				p.do("type on", chromedp.KeyEvent(" it"))
				p.becomes(`document.activeElement.value === "because it"`)
				p.becomes(`document.querySelector("[data-kept-text] [data-copy]").checkVisibility()`)
				p.click("[data-kept-next]")
				p.sees("h1", "Inbox")
			})
		}
	}
}

// Without script the answer to what came too late keeps the text too.
func TestWhatCameTooLateKeepsItsText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask()
	p := w.signedIn(ownerEmail)
	if _, err := w.store.Decide(t.Context(), w.admin, a.ID, models.DecisionInput{Approved: new(false)}); err != nil {
		t.Fatal(err)
	}
	late := p.post(decideOf(a), url.Values{"verdict": {"approve"}, "digest": {a.Digest}, "reason": {"checked <b>twice</b>"}})
	late.is(http.StatusConflict).says("[data-kept-text]", "Already rejected by admin@example.com", "Your text was not sent.", "Next")
	if got := late.value("#kept-text"); got != "checked <b>twice</b>" {
		t.Errorf("it keeps %q", got)
	}
}
