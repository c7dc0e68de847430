package browser_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// barAt is where the navigation is: at the top of the page, at the bottom of the window,
// or not there.
const barAt = `((bar) => !bar.checkVisibility() ? "gone" : Math.abs(bar.getBoundingClientRect().bottom - innerHeight) < 1 ? "bottom" : "top")(document.querySelector(".top nav"))`

// On a phone the navigation is a bar for the thumb, and makes way for what decides.
func TestInABrowserTheNavigationIsABarForTheThumb(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		t.Run("script "+strconv.FormatBool(script), func(t *testing.T) {
			t.Parallel()
			w := webtest.New(t)
			a, done := w.Ask(), w.Ask()
			if _, err := w.Store.Decide(t.Context(), w.Owner, done.ID, models.DecisionInput{Approved: new(false)}); err != nil {
				t.Fatal(err)
			}
			p := openTab(w)
			p.do("size", chromedp.EmulateViewport(390, 844))
			p.signIn()
			if !script {
				p.withoutScript()
			}
			for path, want := range map[string]string{
				"/": "bottom", "/conversations": "bottom", "/history": "bottom", "/more": "bottom", "/agents": "bottom", "/policy": "bottom", webtest.PageOf(done): "bottom",
				webtest.PageOf(a): "gone", webtest.ConversationPath(a.ConversationID): "gone",
			} {
				p.open(path)
				p.becomes(barAt + " === " + strconv.Quote(want))
				p.fits()
				if want != "bottom" {
					continue
				}
				if got := p.value(`[...document.querySelectorAll(".top nav > ul > li > a")].filter((a) => a.checkVisibility()).map((a) => a.querySelector("span").innerText.trim() + (a.getBoundingClientRect().height >= 44 && a.getBoundingClientRect().width >= 44 ? "" : " too small")).join()`); got != "Inbox,Conversations,History,More" {
					t.Errorf("%s: the bar has %s", path, got)
				}
				// Nothing at the end of the page is below the bar.
				if got := p.value(`(scrollTo(0, 1e6), Math.max(0, Math.round(document.querySelector("main").getBoundingClientRect().bottom - document.querySelector(".top nav").getBoundingClientRect().top)) + " " + [scrollY, innerHeight, document.documentElement.scrollHeight, getComputedStyle(document.body).paddingBottom])`); !strings.HasPrefix(got, "0 ") {
					t.Errorf("%s: its end is below the bar: %s", path, got)
				}
			}
			p.open("/")
			p.sees("#inbox-count", "1")
			p.click(`.top nav a[href="/more"]`)
			p.sees("h1", "More")
			p.click(`.place-rows a[href="/agents"]`)
			p.sees("h1", "Agents")
			p.becomes(`document.querySelector(".top nav .nav-more a").getAttribute("aria-current") === "true"`)

			// Zoomed in far, nothing lies over the page.
			p.do("size", chromedp.EmulateViewport(320, 256))
			p.becomes(barAt + ` === "top"`)
			p.fits()
		})
	}
}

// Menus and popovers open without script, one menu at a time, and by keyboard.
func TestInABrowserMenusOpenAndClose(t *testing.T) {
	t.Parallel()
	for _, script := range []bool{true, false} {
		t.Run("script "+strconv.FormatBool(script), func(t *testing.T) {
			t.Parallel()
			w := webtest.New(t)
			id := w.Conversation(50)
			p := openTab(w)
			p.do("size", chromedp.EmulateViewport(1440, 900))
			p.signIn()
			if !script {
				p.withoutScript()
			}
			const opened = `[...document.querySelectorAll("details:is(.menu, .pop)[open] > summary")].map((s) => s.innerText.trim().split(/\s/)[0]).join()`
			p.open("/conversations")
			p.click(".nav-group summary")
			p.sees(".nav-group[class] details[open]", "Pre-approvals")
			p.click(".top-end .menu summary")
			p.becomes(opened + ` !== "Agents"`) // one at a time
			if script {
				p.press(kb.Escape)
				p.becomes(opened + ` === ""`)
				p.becomes(`document.activeElement.matches(".top-end .menu > summary")`)
			}
			p.open("/conversations")
			p.click("#filter summary")
			p.chooses("#filter-status", "running")
			p.click("#narrow")
			p.sees(".filter-chip", "Status running")
			p.becomes(`location.search.includes("status=running")`)
			p.click(".filter-chip a")
			p.becomes(`location.search === ""`)

			p.open(webtest.ConversationPath(id))
			p.sees("#budget summary", "1 of 50")
			p.click("#budget summary")
			p.sees("#budget", "Change budget")
			p.fill("#panel-amount", "70")
			p.click("#panel-change")
			p.sees("#budget summary", "1 of 70")
		})
	}
}
