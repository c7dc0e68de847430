package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"countersign/handlers/api/wire"
	"countersign/handlers/web/webtest"
	"countersign/models"
)

func TestInABrowserAnApprovalIsTakenBackInItsWindow(t *testing.T) {
	t.Parallel()
	w := webtest.LiveWorld(t)
	w.ApplyPolicy(`{"undo_seconds": {"low": 600, "medium": 600, "high": 600, "critical": 600}}`)
	asked := w.Asks(2)
	p := openDesk(w, asked[0].ID)
	next := fmt.Sprintf(`document.getElementById("row-%s").getBoundingClientRect().top`, asked[1].ID)
	at := p.value(next)
	p.acts("a")
	p.shownBeside(asked[1].ID)
	p.becomes(fmt.Sprintf(`document.querySelector("#row-%s [data-act=undo]")?.checkVisibility() === true`, asked[0].ID))
	if got := p.value(next); got != at {
		t.Errorf("the next row moved from %s to %s", at, got)
	}
	if got := w.Approval(asked[0].ID); got.Status() != models.StatusPending || got.HeldUntil == nil {
		t.Fatalf("it is %s, held until %v", got.Status(), got.HeldUntil)
	}
	p.press("u")
	// That it waits again is said only until the list is fetched anew; the row stays.
	p.becomes(fmt.Sprintf(`document.querySelector("#row-%[1]s:not([data-gone])") !== null && document.querySelector("#row-%[1]s [data-act=undo]") === null`, asked[0].ID))
	if got := w.Approval(asked[0].ID); got.Status() != models.StatusPending || got.HeldUntil != nil {
		t.Fatalf("it is %s, held until %v", got.Status(), got.HeldUntil)
	}

	// After the window there is nothing to take back.
	w.ApplyPolicy(`{"undo_seconds": {"low": 2, "medium": 2, "high": 2, "critical": 2}}`)
	p.open("/?open=" + string(asked[1].ID))
	p.shownBeside(asked[1].ID)
	p.acts("a")
	if got := w.Decided(asked[1].ID); got.Status() != models.StatusApproved {
		t.Fatalf("it is %s", got.Status())
	}
	p.becomes(`[...document.querySelectorAll("[data-act=undo]")].every((button) => !button.checkVisibility())`)
	p.press("u")
	p.sees("[data-hint]", "nothing to undo")
}

// An approval is taken back in the list without losing what stands on the page.
func TestInABrowserTakingBackInTheListKeepsTheTicks(t *testing.T) {
	t.Parallel()
	w := webtest.LiveWorld(t)
	w.ApplyPolicy(`{"undo_seconds": {"low": 600, "medium": 600, "high": 600, "critical": 600}}`)
	asked := w.Asks(3)
	p := openDesk(w, asked[0].ID)
	p.acts("a")
	p.shownBeside(asked[1].ID)
	p.fill("#reason", "half a thought")
	tick := fmt.Sprintf("#row-%s [name=pick]", asked[2].ID)
	p.click(tick)
	undo := fmt.Sprintf("#row-%s [data-act=undo]", asked[0].ID)
	p.becomes(fmt.Sprintf(`document.querySelector(%q)?.checkVisibility() === true`, undo))
	p.value(`document.body.dataset.before = "same page"`)
	p.click(undo)
	p.shownBeside(asked[0].ID)
	p.becomes(fmt.Sprintf(`document.querySelector(%q) === null`, undo))
	if got := w.Approval(asked[0].ID); got.Status() != models.StatusPending || got.HeldUntil != nil {
		t.Errorf("it is %s, held until %v", got.Status(), got.HeldUntil)
	}
	p.becomes(fmt.Sprintf(`document.body.dataset.before === "same page" && document.querySelector(%q).checked`, tick))
	p.click(fmt.Sprintf("#row-%s .row-link", asked[1].ID))
	p.shownBeside(asked[1].ID)
	p.becomes(`document.querySelector("#reason").value === "half a thought"`)
}

func TestInABrowserTheAgentHearsTheEditedInputWithItsTypes(t *testing.T) {
	t.Parallel()
	w := webtest.LiveWorld(t)
	from := w.AgentAsks(func(in *wire.AskRequest) {
		in.ToolName, in.Input = "deploy", []byte(`{"replicas":3,"canary":true,"region":"eu","ratio":0.50,"tags":["a",1],"note":null}`)
	})
	p := openTab(w)
	p.do("size", chromedp.EmulateViewport(1440, 900))
	p.signIn()
	p.sees("#live-text", "live")
	p.sees("#detail h2", "deploy")
	p.calm()
	p.press("e")
	p.becomes(`document.activeElement.closest("#edit-fields") !== null`)
	field := func(member string) string {
		return p.value(fmt.Sprintf(`"#" + [...document.querySelectorAll("#edit-fields label")].find((l) => l.textContent.trim().startsWith(%q)).htmlFor`, member))
	}
	p.types(field("replicas"), "5")
	p.types(field("region"), "us")
	p.insist(p.pressCtrlEnter)
	got := w.Outcome(from)
	want := `{"replicas":5,"canary":true,"region":"us","ratio":0.50,"tags":["a",1],"note":null}`
	if got.Status != wire.StatusApproved || string(got.Decision.Input) != want {
		t.Errorf("the agent hears %s with %s, want %s", got.Status, got.Decision.Input, want)
	}
}

func TestInABrowserAQuestionBackStopsTheClock(t *testing.T) {
	t.Parallel()
	w := webtest.LiveWorld(t)
	a := w.Ask(func(in *models.AskInput) { in.TimeoutSeconds = new(int64(120)) })
	before := w.Approval(a.ID).ApprovalTimeoutAt
	p := openDesk(w, a.ID)
	p.click("#ask > summary")
	p.fill("#ask-text", "Which branch?")
	p.click("#ask-send")
	p.sees("#notes", "Which branch?")
	p.sees("#detail", "The timer is paused")
	p.sees("#inbox .row", "timer paused")
	paused := w.Approval(a.ID)
	if paused.OpenNote == nil || paused.PausedLeft == nil || !paused.ApprovalTimeoutAt.After(before) {
		t.Fatalf("the clock runs: %+v", paused.Response)
	}
	p.fill("#note", "main")
	p.click("#note-send")
	p.sees("#notes", "main")
	p.becomes(`!document.querySelector("#detail").textContent.includes("The timer is paused")`)
	if got := w.Approval(a.ID); got.OpenNote != nil || got.Digest != a.Digest || !got.ApprovalTimeoutAt.Before(paused.ApprovalTimeoutAt) {
		t.Errorf("the clock does not run again: %+v", got.Response)
	}
}

func TestInABrowserTheDeskWorksWithoutScript(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(3)
	p := openTab(w)
	p.withoutScript()
	p.do("size", chromedp.EmulateViewport(1440, 900))
	p.signIn()
	p.click(fmt.Sprintf("#row-%s .row-link", asked[1].ID))
	p.sees("#detail .code", "make step-1")
	p.fill("#reason", "fine")
	p.click("#approve")
	p.sees("#done", "Approved “Run: make step-1”")
	if got := w.Approval(asked[1].ID); got.Status() != models.StatusApproved || got.Vote.Reason != "fine" {
		t.Errorf("it is %s with %+v", got.Status(), got.Vote)
	}
	p.sees("#detail .code", "make step-2")
	p.click("#reject")
	p.sees("#done", "Rejected “Run: make step-2”")
	p.sees("#detail .code", "make step-0")
	p.click("#inbox [name=pick]")
	p.click("#bulk [value=approve]")
	p.sees("main .bulk-rows", "approved")
	if got := w.Approval(asked[0].ID); got.Status() != models.StatusApproved {
		t.Errorf("it is %s", got.Status())
	}
	p.open("/")
	p.sees("#inbox", "All clear")
}

func TestInABrowserThePhoneDecides(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(3)
	p := openTab(w)
	p.do("a phone", chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
	p.signIn()
	p.sees("#live-text", "live")
	p.fits()
	if got := p.value(`document.querySelector("#detail [data-card]")?.checkVisibility() ?? false`); got != "false" {
		t.Error("a phone shows both panes")
	}
	p.tap(fmt.Sprintf("#row-%s .row-link", asked[0].ID))
	p.becomes(fmt.Sprintf(`document.querySelector("[data-card]")?.dataset.card === %q && document.querySelector("[data-card]").checkVisibility()`, asked[0].ID))
	p.fits()
	p.becomes(`(() => { const b = document.querySelector("#approve").getBoundingClientRect(); return b.bottom <= innerHeight && b.height >= 24; })()`)
	p.tap("#approve")
	if got := w.Decided(asked[0].ID); got.Status() != models.StatusApproved {
		t.Errorf("it is %s", got.Status())
	}
	p.becomes(fmt.Sprintf(`document.querySelector("[data-card]")?.dataset.card === %q`, asked[1].ID))
	p.fits()
	p.tap("#reject")
	if got := w.Decided(asked[1].ID); got.Status() != models.StatusRejected {
		t.Errorf("it is %s", got.Status())
	}
	p.open("/")
	p.becomes(`document.querySelectorAll("#inbox li.row:not([data-gone])").length === 1`)
	p.fits()
}

// hostile is text that would mislead whoever decides, if it were shown as it is.
const hostile = "rm -rf /\u202Egnp.exe\u200B\x1b[2K<script>alert(1)</script>"

func TestInABrowserHostileTextIsShownWithEscapes(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask(func(in *models.AskInput) {
		in.Input = []byte(`{"command":"rm -rf /\u202Egnp.exe\u200B\u001b[2K<script>alert(1)</script>"}`)
		in.Description = hostile
	})
	p := openDesk(w, a.ID)
	for _, place := range []string{"#inbox .row", "#detail .what", "#detail"} {
		p.sees(place, "⟨U+202E⟩")
		p.sees(place, "<script>")
	}
	shown := p.value(`document.documentElement.textContent + document.title + [...document.querySelectorAll("*")].map((e) => e.title + (e.ariaLabel ?? "")).join("")`)
	if strings.ContainsAny(shown, "\u202E\u200B\x1b") {
		t.Error("what cannot be seen came through")
	}
	if got := p.value(`document.querySelectorAll("main script").length`); got != "0" {
		t.Error("a script came through")
	}
}
