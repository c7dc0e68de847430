package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// mixed asks for what can be approved in bulk, what must be opened first, and what
// can't be.
func mixed(w *webtest.World) (fine, more, high *models.Approval) {
	w.ApplyPolicy(`{"undo_seconds":{"low":20,"medium":20,"high":20,"critical":20},"rules":[{"name":"Money","tools":["pay"],"effect":"require","risk":"high"}]}`)
	ask := func(n int, tool, input string) *models.Approval {
		return w.Ask(func(in *models.AskInput) {
			in.ToolName, in.Input, in.TimeoutSeconds = tool, []byte(input), new(int64(3600+60*n))
		})
	}
	return ask(0, "Bash", `{"command":"make all"}`), ask(1, "Bash", `{"command":"make more","description":"in THE-FOLDER"}`), ask(2, "pay", `{"amount":"1.00","currency":"EUR","to":"A"}`)
}

func pickOf(a *models.Approval) string { return fmt.Sprintf("#row-%s input[name=pick]", a.ID) }

func (t *tab) bulkHeld(want bool, rows ...*models.Approval) {
	t.tb.Helper()
	for _, a := range rows {
		if got := t.w.Approval(a.ID); (got.HeldUntil != nil) != want || got.Status() != models.StatusPending {
			t.tb.Errorf("%s is %s, held %v", a.ToolInputJSON, got.Status(), got.HeldUntil)
		}
	}
}

// By mouse: the confirmation stands in the inbox, carries what was left out, opens it
// in its place, and has one Undo.
func TestInABrowserSeveralAreApprovedInTheInbox(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	fine, more, high := mixed(w)
	p := openTab(w)
	p.do("size", chromedp.EmulateViewport(1440, 900))
	p.signIn()
	p.sees("#live-text", "live")
	p.value("window.same = 'page'")
	p.shownBeside(fine.ID)
	for _, a := range []*models.Approval{fine, more, high} {
		p.click(pickOf(a))
	}
	p.click("#bulk [name=verdict][value=approve]")
	p.sees("#detail h2", "Approve which of 3 requests?")
	p.sees(webtest.BulkRow(high), "High-risk requests can't be bulk-approved")
	p.sees(webtest.BulkRow(more), "does not show description")
	p.sees("[data-bulk-chosen]", "1 selected")
	if strings.Contains(p.text("#detail"), "THE-FOLDER") || p.value(`document.querySelectorAll(".bulk-question [name=pick]").length`) != "1" {
		t.Error("what is left out is open, or can be ticked")
	}
	if p.text("main h1") != "Inbox" || p.value(`document.querySelector("#inbox .row").checkVisibility()`) != "true" || p.value("window.same") != "page" {
		t.Error("the confirmation is not part of the inbox")
	}
	p.value(`document.querySelector("#bulk-sure-reason").value = "part of it"`)
	p.click(webtest.BulkRow(more) + " button[name=look]")
	p.sees(webtest.BulkRow(more), "THE-FOLDER")
	if got := p.value(`document.querySelector("#bulk-sure-reason").value`); got != "part of it" {
		t.Errorf("the reason is %q", got)
	}
	p.click(webtest.BulkRow(more) + " [name=pick]")
	p.sees("[data-bulk-chosen]", "2 selected")
	p.click("#bulk-sure")
	p.sees("#detail h2", "Approved 2 of 2")
	p.sees(".bulk-undo", "Approved 2 – sends in")
	p.bulkHeld(true, fine, more)
	p.becomes(`!document.querySelector("[data-toast]")?.textContent.includes("no longer selected")`)
	if n := p.value(`document.querySelectorAll("#detail [data-act=undo]").length`); n != "1" {
		t.Errorf("%s buttons undo", n)
	}
	p.click("#detail [data-act=undo]")
	p.sees("#detail h2", "Undone 2 of 2")
	p.bulkHeld(false, fine, more, high)
	p.click(fmt.Sprintf("#row-%s .row-link", fine.ID)) // the inbox goes on
	p.shownBeside(fine.ID)
	if p.value("window.same") != "page" {
		t.Error("the page was loaded again")
	}
}

// By keys alone: x ticks, Shift+A asks, the rest is the form's.
func TestInABrowserSeveralAreApprovedByKeys(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	fine, more, _ := mixed(w)
	p := openTab(w)
	p.do("size", chromedp.EmulateViewport(1440, 900))
	p.signIn()
	p.sees("#live-text", "live")
	p.shownBeside(fine.ID)
	p.press("x", "j")
	p.shownBeside(more.ID)
	p.press("x")
	p.calm()
	p.press("A")
	p.sees("#detail h2", "Approve which of 2 requests?")
	p.becomes(`document.activeElement.closest("#detail") !== null`)
	p.tabTo(webtest.BulkRow(more) + " button[name=look]")
	p.calm()
	p.press("\r")
	p.sees(webtest.BulkRow(more), "THE-FOLDER")
	p.tabTo(webtest.BulkRow(more) + " [name=pick]")
	p.press(" ")
	p.sees("[data-bulk-chosen]", "2 selected")
	p.tabTo("#bulk-sure")
	p.calm()
	p.press("\r")
	p.sees("#detail h2", "Approved 2 of 2")
	p.bulkHeld(true, fine, more)
	p.press("u")
	p.sees("#detail h2", "Undone 2 of 2")
	p.bulkHeld(false, fine, more)
}

// What was put on the page is pressed before htmx has taken it up: it does not
// load a page of its own.
func TestInABrowserWhatHasJustAppearedCanBePressed(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	fine, more, _ := mixed(w)
	p := openTab(w)
	p.do("size", chromedp.EmulateViewport(1440, 900))
	p.signIn()
	p.sees("#live-text", "live")
	p.shownBeside(fine.ID)
	p.press("x", "j")
	p.shownBeside(more.ID)
	p.press("x")
	p.calm()
	p.press("A")
	p.click(webtest.BulkRow(more) + " button[name=look]")
	p.sees(webtest.BulkRow(more), "THE-FOLDER")
	p.click(webtest.BulkRow(more) + " [name=pick]")
	p.value(`window.same = "page"`)
	p.value(`document.addEventListener("htmx:after:settle", () => document.querySelector("#detail [data-act=undo]")?.click())`)
	p.click("#bulk-sure")
	p.sees("#detail h2", "Undone 2 of 2")
	if p.value("window.same") != "page" {
		t.Error("the page was loaded again")
	}
	p.bulkHeld(false, fine, more)
}

// tabTo goes on with Tab until an element has the focus.
func (t *tab) tabTo(selector string) {
	t.tb.Helper()
	for range 80 {
		if t.value(`document.activeElement.matches(`+quoted(selector)+`)`) == "true" {
			return
		}
		t.press("\t")
	}
	t.tb.Fatalf("Tab never comes to %s", selector)
}

// On a phone the confirmation takes the place of the list, and nothing is wider than
// the screen.
func TestInABrowserSeveralAreApprovedOnAPhone(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	fine, more, high := mixed(w)
	p := openTab(w)
	p.do("size", chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
	p.signIn()
	p.sees("#live-text", "live")
	for _, a := range []*models.Approval{fine, more, high} {
		p.tap(pickOf(a))
	}
	p.tap("#bulk [name=verdict][value=approve]")
	p.sees("#detail h2", "Approve which of 3 requests?")
	p.tap(webtest.BulkRow(more) + " button[name=look]")
	p.sees(webtest.BulkRow(more), "THE-FOLDER")
	p.tap(webtest.BulkRow(more) + " [name=pick]")
	p.becomes(`document.documentElement.scrollWidth <= innerWidth`)
	p.tap("#bulk-sure")
	p.sees("#detail h2", "Approved 2 of 2")
	p.bulkHeld(true, fine, more)
	p.tap("#detail [data-act=undo]")
	p.sees("#detail h2", "Undone 2 of 2")
	p.bulkHeld(false, fine, more, high)
}

// What becomes a duplicate while its page is open is marked on the row and on the
// card beside it, without a word from the reader.
func TestInABrowserATwinShowsWhenItIsApproved(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(webtest.MoneyIsHigh)
	first, second := w.Ask(webtest.Payment), w.Ask(webtest.Payment)
	p := openTab(w)
	p.do("size", chromedp.EmulateViewport(1440, 900))
	p.signIn()
	p.sees("#live-text", "live")
	p.click(fmt.Sprintf("#row-%s .row-link", second.ID))
	p.shownBeside(second.ID)
	w.Approves(first)
	p.sees(fmt.Sprintf("#row-%s .row-link", second.ID), "Same as")
	p.sees("#detail .warning.twin", "Duplicate?")
	p.becomes(`(() => { const b = document.querySelector("#detail .warning.twin").getBoundingClientRect(), c = document.querySelector("#detail .code").getBoundingClientRect();
		return b.top > 0 && b.bottom <= c.top && b.bottom < innerHeight; })()`)
}
