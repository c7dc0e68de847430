package browser_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

// An agent is connected from the empty inbox on: the token is in the lines to paste, and the
// page turns green when the first request comes, or when it is looked at again.
func TestInABrowserAnAgentIsConnected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		width   int64
		scripts bool
	}{{"wide", 1440, true}, {"phone without script", 390, false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := webtest.New(t)
			p := openTab(w)
			p.do("size", chromedp.EmulateViewport(c.width, 900))
			if !c.scripts {
				p.withoutScript()
			}
			p.open("/")
			p.fill("#email", webtest.OwnerEmail)
			p.fill("#password", storetest.Password)
			p.click("#sign-in")
			p.sees("main h1", "Inbox")
			p.click(`.teach a[href="/connect"]`)
			p.sees("main h1", "Connect an agent")
			p.click(`.connect-ways a[href="/connect?way=go"]`)
			p.sees("#way-title", "Go")
			p.click("#connect-token")
			p.sees("#received", "Waiting for the first request of my-go-program")
			p.fits()
			token := p.value(`document.querySelector("#fresh-token").textContent`)
			if env := p.value(`document.querySelector("#snippet-env-sh").textContent`); !strings.Contains(env, token) || !strings.Contains(env, w.URL) {
				t.Errorf("the lines to paste are\n%s", env)
			}
			agent, err := w.Store.People.AuthenticateToken(t.Context(), token)
			storetest.Must(t, err)
			_, err = w.Store.Ask(t.Context(), agent, models.AskInput{ToolName: "send_email", Input: []byte(`{}`), Explicit: true})
			storetest.Must(t, err)
			if !c.scripts {
				p.click("#received a") // look again
			}
			p.sees(`#received[data-tone="good"]`, "my-go-program asked for send_email")
			p.click("#received a")
			p.sees("main h1", "send_email")
		})
	}
}

// An agent is stopped in its row by keyboard alone: the row says how many requests that cancels, and
// a note that says nothing comes back in the row. On a phone a row is two lines.
func TestInABrowserAnAgentIsStoppedFromItsRow(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	waits := []*models.Approval{w.Ask(), w.Ask(webtest.Question)}
	p := openTab(w)
	p.signIn()
	p.expected = append(p.expected, "422")
	p.open("/agents")
	row := "#agent-" + w.Agent.ID
	p.tabTo(row + " summary")
	p.press("\r")
	p.sees(row+" details[open]", "Cancels 2 pending requests.")
	p.press("\t", " ", "\r")
	p.sees(row+" details[open] .field-error", "must say why")
	p.becomes(`document.activeElement.id === "stop-note-` + w.Agent.ID + `"`)
	p.press("It deletes things", "\t", "\r")
	p.sees(".flash", "Pending requests cancelled: 2.")
	p.sees(row+" .agent-state", "stopped")
	for _, a := range waits {
		if got := w.Approval(a.ID); got.Cause != models.CauseStopped {
			t.Errorf("%s is %s by %q", a.ID, got.Status(), got.Cause)
		}
	}
	p.calm()
	p.do("a phone", chromedp.EmulateViewport(390, 844, chromedp.EmulateTouch))
	p.becomes(`document.querySelector("` + row + `").getBoundingClientRect().height <= 120`)
	p.fits()
}
