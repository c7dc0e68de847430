package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// tall is a command that is longer than a window and not folded.
func tall(in *models.AskInput) {
	in.Input = []byte(`{"command":"` + strings.Repeat(`echo one\n`, 55) + `rm -rf /"}`)
}

const (
	endFirst = `document.querySelector("#decide [data-end-first]").checkVisibility()`
	sawEnd   = `document.querySelector("#decide [name=seen_end]").value`
	// lastLine is the rectangle of the last characters that are decided.
	lastLine = `(() => {
		const all = document.createTreeWalker(document.querySelector("#block-1 pre"), NodeFilter.SHOW_TEXT);
		let last = null;
		for (let n = all.nextNode(); n; n = all.nextNode()) if (n.data.trim()) last = n;
		const r = document.createRange();
		r.selectNodeContents(last);
		return r.getBoundingClientRect();
	})()`
)

// scrollsThrough has all of what is decided in view to its end, and goes back to the top.
func (t *tab) scrollsThrough() {
	t.tb.Helper()
	for t.value(sawEnd) != "1" {
		t.value(`document.querySelector("#decide [data-end-go]").click()`)
		t.value(`new Promise((done) => requestAnimationFrame(() => setTimeout(done)))`)
	}
	t.value(`document.querySelector("#approval-title").scrollIntoView({ block: "center" })`)
}

// endInView reports whether the last line is in view, clear of the bar and inside
// its box.
const endInView = `((line) => {
	const bar = [...document.querySelectorAll(".decide-bar, .decide")].find((e) => getComputedStyle(e).position === "sticky" && e.checkVisibility()).getBoundingClientRect();
	const box = document.querySelector("#block-1 pre").getBoundingClientRect();
	return line.top >= Math.max(0, box.top) - 1 && line.bottom <= Math.min(bar.top, box.bottom) + 1;
})(` + lastLine + `)`

func TestInABrowserTheEndIsSeenFirst(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"mouse", "keys", "phone"} {
		for _, box := range []string{"the window", "a box of its own"} {
			t.Run(how+", "+box, func(t *testing.T) {
				t.Parallel()
				w := webtest.New(t)
				w.ApplyPolicy(webtest.Danger)
				a := w.Ask(tall)
				p := openTab(w)
				press := p.click
				if how == "phone" {
					p.do("a phone", chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
					press = p.tap
				} else {
					p.do("size", chromedp.EmulateViewport(1440, 900))
				}
				p.signIn()
				p.open("/?open=" + string(a.ID))
				p.sees("#detail #approval-title", "Run 56 commands, last: rm -rf /")
				p.sees("#live-text", "live")
				inner := box == "a box of its own"
				if inner {
					// A rule, for it has to outlive the request being drawn again.
					p.value(`document.styleSheets[0].insertRule("#block-1 pre { max-height: 160px !important; overflow-y: auto !important; }"), ""`)
					p.becomes(`document.querySelector("#block-1 pre").scrollHeight > 400`)
				}
				approve := func() {
					if how == "keys" {
						p.acts("a")
					} else {
						p.insist(func() { p.value(`document.querySelector("#approve").click()`) })
					}
				}
				p.becomes(`!` + endInView)
				p.becomes(sawEnd + ` === ""`)
				approve()
				p.becomes(endFirst)
				p.sees("#decide [data-end-first]", "Scroll to the end first")
				p.becomes(`!` + asks)
				p.becomes(`document.activeElement.matches("[data-end-go]")`)
				w.Waits(a)

				if inner && how == "mouse" {
					// The end of the page is not the end of what scrolls in it.
					p.value(`document.querySelector("#detail").scrollTop = 99999, ""`)
					p.value(`document.querySelector("#detail").scrollTop = 0, ""`)
					p.becomes(`document.querySelector("#block-1").checkVisibility() && ` + sawEnd + ` === ""`)
				}
				switch {
				case how == "keys" && !inner:
					p.press(kb.End)
				case how == "keys":
					p.press("\r")
				default:
					press("#decide [data-end-go]")
				}
				if how != "keys" || inner {
					p.becomes(endInView)
				}
				for p.value(sawEnd) != "1" { // then the end of the whole input
					p.value(`document.querySelector("#decide [data-end-go]").click()`)
					p.value(`new Promise((done) => requestAnimationFrame(() => setTimeout(done)))`)
				}
				p.becomes(`!` + endFirst)

				// What was seen is remembered when the request is drawn again.
				p.value(`document.addEventListener("htmx:after:swap", () => { window.drawn = true; }), ""`)
				p.value(`document.querySelector("#live").dispatchEvent(new CustomEvent("approval:` + string(a.ID) + `", { bubbles: true })), ""`)
				p.becomes(`window.drawn === true`)
				p.becomes(sawEnd + ` === "1"`)
				approve()
				p.becomes(asks)
				p.becomes(`document.querySelector("#decide [data-confirm]").getAttribute("aria-disabled") !== "true"`)
				if how == "keys" {
					p.press("a")
				} else {
					press("#decide [data-confirm]")
				}
				if got := w.Decided(a.ID); got.Status() != models.StatusApproved {
					t.Errorf("it is %s", got.Status())
				}
			})
		}
	}
}

// What was seen of one request counts for no other, and what is short asks nothing.
func TestInABrowserTheEndOfEachRequestIsSeen(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(webtest.Danger)
	in := func(after int64, change func(*models.AskInput)) *models.Approval {
		return w.Ask(change, func(in *models.AskInput) { in.TimeoutSeconds = new(after) })
	}
	first, second := in(3600, tall), in(3660, tall)
	short := in(3720, func(*models.AskInput) {})
	p := openDesk(w, first.ID)
	p.becomes(sawEnd + ` === ""`)
	p.scrollsThrough()
	p.press("j")
	p.shownBeside(second.ID)
	p.becomes(sawEnd + ` === ""`)
	p.press("j")
	p.shownBeside(short.ID)
	p.becomes(sawEnd + ` === "1"`)
	p.press("k", "k")
	p.shownBeside(first.ID)
	p.becomes(sawEnd + ` === ""`)
	p.acts("a")
	p.becomes(endFirst)
	w.Waits(first, second, short)
}

// Without script the confirmation shows all of it above its button.
func TestInABrowserWithoutScriptAllIsAboveTheButton(t *testing.T) {
	t.Parallel()
	for _, width := range []int64{1440, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			w := webtest.New(t)
			w.ApplyPolicy(webtest.Danger)
			a := w.Ask(tall)
			p := openTab(w)
			p.do("size", chromedp.EmulateViewport(width, 844))
			p.signIn()
			p.withoutScript()
			p.open(webtest.PageOf(a))
			p.do("approve", chromedp.Click(chromedp.CSS("#approve")))
			p.sees("#confirm", "Approve")
			w.Waits(a)
			p.becomes(`(() => {
				const source = document.querySelector(".what .code").getBoundingClientRect(), button = document.querySelector("#confirm-approve").getBoundingClientRect();
				return source.bottom <= button.top && document.querySelector(".what .code").innerText.includes("rm -rf /");
			})()`)
			p.do("confirm", chromedp.Click(chromedp.CSS("#confirm-approve")))
			if got := w.Decided(a.ID); got.Status() != models.StatusApproved {
				t.Errorf("it is %s", got.Status())
			}
		})
	}
}
