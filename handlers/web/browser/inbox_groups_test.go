package browser_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// grouped is a call of one tool, and four of another that are folded below it.
func grouped(w *webtest.World) (first *models.Approval, folded []*models.Approval) {
	w.TB.Helper()
	first = w.Ask(func(in *models.AskInput) {
		in.ToolName, in.TimeoutSeconds = "deploy", new(int64(600))
	})
	return first, w.Asks(4)
}

func (t *tab) groupIs(open bool) {
	t.tb.Helper()
	t.becomes(fmt.Sprintf(`document.querySelector("[data-group] details")?.open === %v`, open))
}

func TestInABrowserAGroupIsOpenedAndItsRowsAreDecidedEachI6(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	first, folded := grouped(w)
	p := openDesk(w, first.ID)
	p.groupIs(false)

	// All that is shown is ticked, and nothing that a closed group hides.
	p.value(`document.querySelector("[data-pick-all]").click()`)
	p.becomes(`document.querySelector("[data-bulk-bar]").dataset.count === "1" && document.querySelector("[data-pick-all]").checked`)
	p.press("\x1b")

	// The group is one step, and while it is selected nothing is decided or ticked.
	p.press("j")
	p.becomes(`document.querySelector("[data-group]").getAttribute("aria-current") === "true" && document.activeElement.matches("[data-group] summary")`)
	p.value(late)
	p.press("a", "x")
	p.sees("[data-hint]", "Open the group")
	p.becomes(`document.querySelector("[data-bulk-bar]").dataset.count === "0"`)
	w.Waits(append(folded, first)...)

	// A key opens it, and the next goes through its rows.
	p.press("o")
	p.groupIs(true)
	p.press("j")
	p.shownBeside(folded[0].ID)
	p.press("j", "x")
	p.shownBeside(folded[1].ID)
	p.sees("[data-group-picked]", "1 selected")

	// One is decided, the others wait; the group stays open and counts what is left.
	p.calm()
	p.press("\x1b", "a")
	w.Decided(folded[1].ID)
	p.sees("[data-group-count]", "3")
	p.groupIs(true)
	w.Waits(first, folded[0], folded[2], folded[3])

	// Closed again it is one step, and a new one that belongs in it comes in without opening it.
	p.shownBeside(folded[2].ID)
	p.press("o")
	p.groupIs(false)
	w.Ask(func(in *models.AskInput) {
		in.Input, in.TimeoutSeconds = []byte(`{"command":"make step-9"}`), new(int64(3600*2))
	})
	p.sees("[data-group-count]", "4")
	p.groupIs(false)
	p.press("k")
	p.shownBeside(first.ID)
}

func TestInABrowserAGroupOpensWithoutScript(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	first, folded := grouped(w)
	p := openTab(w)
	p.withoutScript()
	p.do("size", chromedp.EmulateViewport(1440, 900))
	p.signIn()
	p.sees("#approval-title", first.ToolName)
	p.click("[data-group] summary")
	p.click(fmt.Sprintf("#row-%s input[name=pick]", folded[2].ID))
	p.click("#row-" + string(folded[2].ID) + " .row-link")
	p.sees("#detail", "make step-2")
	w.Waits(append(folded, first)...)
}

func TestInABrowserTheFirstRequestOpens(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := openTab(w)
	p.do("size", chromedp.EmulateViewport(1440, 900))
	p.signIn()
	p.sees("#live-text", "live")
	p.sees("#inbox", "Nothing is waiting")

	// Whoever presses a key at once decides nothing.
	p.value(`new MutationObserver(() => {
		if (window.struck || !document.querySelector("#detail [data-card] #approve")) return;
		window.struck = true;
		document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "a", bubbles: true, cancelable: true }));
	}).observe(document.getElementById("main"), { subtree: true, childList: true }), ""`)
	first := w.Asks(1)[0]
	p.shownBeside(first.ID)
	p.becomes(`window.struck === true`)
	p.sees("[data-hint]", "Wait: this request just appeared")
	w.Waits(first)

	// Not while somebody writes.
	if _, err := w.Store.Decide(t.Context(), w.Admin, first.ID, models.DecisionInput{Approved: new(false)}); err != nil {
		t.Fatal(err)
	}
	p.open("/")
	p.sees("#live-text", "live")
	p.press("/", "w")
	second := w.Asks(1)[0]
	p.becomes(fmt.Sprintf(`document.getElementById("row-%s") !== null`, second.ID))
	p.calm()
	p.becomes(`document.querySelector("#detail [data-card]") === null && document.activeElement.value === "w"`)
}

func TestInABrowserThePhoneOnlyShowsTheFirstRequest(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := openTab(w)
	p.do("size", chromedp.EmulateViewport(390, 844))
	p.signIn()
	p.sees("#live-text", "live")
	first := w.Asks(1)[0]
	p.becomes(fmt.Sprintf(`document.getElementById("row-%s") !== null`, first.ID))
	p.calm()
	p.becomes(`document.querySelector("#detail [data-card]") === null`)
}

func TestInABrowserAnUrgentRequestIsNamedAndMovesNothing(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(2)
	p := openDesk(w, asked[0].ID)
	p.point("#row-" + string(asked[1].ID))
	place := func() string {
		return p.value(fmt.Sprintf(`Math.round(document.getElementById("row-%s").getBoundingClientRect().top)`, asked[1].ID))
	}
	at := place()
	pays := w.Pays()
	p.sees("[data-newer]", "pay")
	if got := place(); got != at {
		t.Errorf("the row moved from %s to %s", at, got)
	}
	w.Ask(func(in *models.AskInput) {
		in.ToolName, in.TimeoutSeconds = "hurry", new(int64(60))
	})
	p.sees("[data-newer]", "hurry")
	p.sees("[data-newer]", "left")
	if got := place(); got != at {
		t.Errorf("the row moved from %s to %s", at, got)
	}
	// What is new has a line of its own: it covers no row, and no mark of one.
	for n := range 8 {
		w.Ask(func(in *models.AskInput) {
			in.ToolName, in.TimeoutSeconds = fmt.Sprintf("new-%d", n), new(int64(50))
		})
	}
	p.sees("[data-newer]", "+9")
	for _, width := range []int64{1440, 390} {
		p.do("size", chromedp.EmulateViewport(width, 900))
		p.becomes(`[...document.querySelectorAll("#inbox .row > *, #inbox .row input, #inbox .row svg")].every((part) => {
			const { left, top, width, height } = part.getBoundingClientRect(), row = part.closest(".row");
			return !width || !height || row.contains(document.elementFromPoint(left + width / 2, top + height / 2));
		})`)
		p.fits()
	}
	p.do("size", chromedp.EmulateViewport(1440, 900))
	p.shownBeside(asked[0].ID)
	p.press("n")
	p.becomes(`document.querySelectorAll("#inbox .row[data-id]").length === 12`)
	w.Waits(asked[0], asked[1], pays)
}
