package browser_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
	"countersign/models/storetest"
)

// What a page hears when it is left and kept, and when somebody comes back to it. Browsers
// without windows keep none, so the tests say it.
const (
	leaves  = `dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }))`
	returns = `dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))`
)

func reload(ctx context.Context, target *chromedp.Target) error {
	_, err := cdp.Call(ctx, target, cdppage.Reload, cdppage.ReloadParams{})
	return err
}

func TestInABrowserAPageThatCameBackLooksBeforeItActs(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(3)
	way := freeze(w)
	p := openTab(w)
	p.do("size", chromedp.EmulateViewport(1440, 900), chromedp.Navigate(way.url+"/"))
	p.fill("#email", webtest.OwnerEmail)
	p.fill("#password", storetest.Password)
	p.click("#sign-in")
	p.sees("#live-text", "live")
	p.shownBeside(asked[0].ID)
	p.calm()
	p.value(`window.same = "page", ` + leaves)

	// Nothing is known of the server yet: neither keys nor clicks decide.
	way.mu.Lock()
	p.value(returns)
	p.value(late)
	p.press("a")
	p.value(`document.querySelector("#approve").click(), document.querySelector("#reject").click(), document.querySelector("#approve").form.requestSubmit(document.querySelector("#approve"))`)
	w.Waits(asked...)
	if got := p.value(`document.body.inert`); got != "true" {
		t.Errorf("inert is %s", got)
	}
	w.Decides(asked[0], false, "decided elsewhere")
	way.mu.Unlock()

	// It has looked: what was decided meanwhile offers nothing, and the rest acts.
	p.becomes(`document.body.inert === false && document.documentElement.dataset.returned === undefined`)
	if got := p.value(fmt.Sprintf(`document.querySelector('#detail [data-card=%q] #approve')?.textContent ?? "none"`, asked[0].ID)); got != "none" {
		t.Errorf("it still offers %s", got)
	}
	if p.value(`window.same`) != "page" {
		t.Error("the page was loaded again")
	}
	w.Waits(asked[1:]...)
	p.value(fmt.Sprintf(`document.querySelector("#row-%s .row-link").click()`, asked[1].ID))
	p.shownBeside(asked[1].ID)
	p.acts("a")
	w.Decided(asked[1].ID)
}

func TestInABrowserAPageThatCameBackIsOfWhoIsSignedIn(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(1)
	for name, ends := range map[string]func(*tab){
		"the session has ended": func(*tab) { expire(w, w.Owner) },
		"somebody else signed in": func(p *tab) {
			beside := p.beside()
			beside.expected = append(beside.expected, "401")
			beside.open("/")
			beside.value(`document.querySelector("form[action='/signout']").requestSubmit()`)
			beside.sees("main h1", "Sign in")
			beside.fill("#email", webtest.StrangerEmail)
			beside.fill("#password", storetest.Password)
			beside.click("#sign-in")
			beside.sees("main h1", "Inbox")
		},
	} {
		t.Run(name, func(*testing.T) {
			p := openDesk(w, asked[0].ID)
			p.expected = append(p.expected, "401", "409")
			p.value(`window.same = "page", ` + leaves)
			ends(p)
			p.value(returns)
			p.becomes(`window.same === undefined && document.readyState === "complete" && !document.documentElement.outerHTML.includes("` + string(asked[0].ID) + `")`)
			w.Waits(asked...)
		})
	}
}

func TestInABrowserBackShowsNothingAfterSigningOut(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(1)
	p := openDesk(w, asked[0].ID)
	p.open("/history")
	p.value(`document.querySelector("form[action='/signout']").requestSubmit()`)
	p.sees("main h1", "Sign in")
	for range 2 { // the history, and the inbox before it
		p.value(`window.same = "page", history.back()`)
		p.becomes(`window.same === undefined && document.readyState === "complete"`)
		p.sees("main h1", "Sign in")
		p.value(`history.replaceState(null, "", "/signin")`)
	}
}

func TestInABrowserBackLeadsToThePlaceInTheList(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(40)
	p := openDesk(w, asked[0].ID)
	p.value(`document.getElementById("inbox").scrollTop = 400`)
	p.open("/history")
	p.value(`history.back()`)
	p.becomes(`document.getElementById("inbox")?.scrollTop === 400`)
	p.sees("#live-text", "live")
	p.calm()
	if got := p.value(`document.getElementById("inbox").scrollTop`); got != "400" {
		t.Errorf("once it is live, it is at %s", got)
	}
	// Gone to anew, it begins at its top.
	p.open("/")
	p.sees("#live-text", "live")
	if got := p.value(`document.getElementById("inbox").scrollTop`); got != "0" {
		t.Errorf("it begins at %s", got)
	}
}

// What a page loads when nothing is kept of it, by what is sent.
const loaded = `(() => {
  const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  return [all.length, all.reduce((sum, one) => sum + one.encodedBodySize + 300, 0)].join(" ");
})()`

func TestInABrowserTheInboxIsSmallAndOfFewFiles(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(25)
	p := openDesk(w, asked[0].ID)
	p.calm()
	var requests, bytes int
	if _, err := fmt.Sscan(p.value(loaded), &requests, &bytes); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d requests, %d bytes", requests, bytes)
	if requests > 10 || bytes > 100<<10 {
		t.Errorf("%d requests, %d bytes: %s", requests, bytes, p.value(`performance.getEntriesByType("resource").map((one) => one.name + " " + one.encodedBodySize).join("\n")`))
	}
}
