package browser_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// What ends while somebody writes says so at once, with who did what; what was typed is
// kept to be copied, typing goes on in it, and nothing of the request can be pressed.
func TestInABrowserWhatEndsUnderOnesHandsSaysSo(t *testing.T) {
	t.Parallel()
	ends := map[string]func(*webtest.World, *models.Approval){
		"Rejected by admin@example.com.": func(w *webtest.World, a *models.Approval) {
			if _, err := w.Store.Decide(w.TB.Context(), w.Admin, a.ID, models.DecisionInput{Approved: new(false)}); err != nil {
				w.TB.Fatal(err)
			}
		},
		"Expired.": func(w *webtest.World, _ *models.Approval) {
			w.Clock.Step(2 * time.Hour)
			if _, err := w.Store.ExpireDue(w.TB.Context(), 10); err != nil {
				w.TB.Fatal(err)
			}
		},
		"Cancelled.": func(w *webtest.World, a *models.Approval) {
			if _, err := w.Store.Cancel(w.TB.Context(), w.Agent, a.ID); err != nil {
				w.TB.Fatal(err)
			}
		},
	}
	for said, end := range ends {
		for _, width := range []int64{1440, 390} {
			t.Run(said, func(t *testing.T) {
				t.Parallel()
				w := webtest.New(t)
				a := w.Ask()
				p := openTab(w)
				p.do("size", chromedp.EmulateViewport(width, 844))
				p.signIn()
				p.open(webtest.PageOf(a))
				p.sees("#live-text", "live")
				p.fill("#reason", "because")
				end(w, a)
				p.sees("[data-kept-text]", said)
				p.sees("[data-kept-text]", "Your text was not sent.")
				p.becomes(`document.querySelector("form[data-verdict], #approve, #reject") === null`)
				p.becomes(`document.querySelector(".approval-marks .deadline") === null`)
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
	w := webtest.New(t)
	a := w.Ask()
	p := w.SignIn(webtest.OwnerEmail)
	if _, err := w.Store.Decide(t.Context(), w.Admin, a.ID, models.DecisionInput{Approved: new(false)}); err != nil {
		t.Fatal(err)
	}
	late := p.Post(webtest.DecideOf(a), url.Values{"verdict": {"approve"}, "digest": {a.Digest}, "reason": {"checked <b>twice</b>"}})
	late.Is(http.StatusConflict).Says("[data-kept-text]", "Already rejected by admin@example.com", "Your text was not sent.", "Next")
	if got := late.Value("#kept-text"); got != "checked <b>twice</b>" {
		t.Errorf("it keeps %q", got)
	}
}
