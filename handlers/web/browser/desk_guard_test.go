package browser_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// early has the page take for changed what it shows, for an hour, or for long ago.
const (
	early = `document.documentElement.dataset.shifted = String(performance.now() + 3600000)`
	late  = `document.documentElement.dataset.shifted = String(performance.now() - 351)`
)

// openDesk is a signed-in person before the two panes, with the stream at work.
func openDesk(w *webtest.World, first models.ResponseID) *tab {
	w.TB.Helper()
	p := openTab(w)
	p.do("size", chromedp.EmulateViewport(1440, 900))
	p.signIn()
	p.sees("#live-text", "live")
	p.shownBeside(first)
	return p
}

func TestInABrowserAStrayKeyDecidesNothing(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(4)
	p := openDesk(w, asked[0].ID)

	// Just after a change neither a key nor a click decides, nor Enter on a button.
	p.calm()
	p.value(early)
	p.press("a")
	p.sees("[data-hint]", "Wait: this request just appeared")
	for _, how := range []string{`document.querySelector("#approve").click()`, `document.querySelector("#reject").click()`} {
		p.value(`document.querySelector("[data-hint]").textContent = ""`)
		p.value(how)
		p.sees("[data-hint]", "Wait: this request just appeared")
	}
	p.value(`document.querySelector("[data-hint]").textContent = "", document.querySelector("#approve").focus()`)
	p.press("\r")
	p.sees("[data-hint]", "Wait: this request just appeared")
	w.Waits(asked...)

	// Nor with Ctrl, while a key is held down, or in a field.
	p.value(late)
	p.do("Ctrl+A", chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	p.value(`document.dispatchEvent(new KeyboardEvent("keydown", { key: "a", bubbles: true, repeat: true }))`)
	p.press("/", "a", "x")
	p.becomes(`document.querySelector("main input[type=search]").value === "ax"`)
	p.press("\x1b")
	w.Waits(asked...)

	// After its time the same key counts.
	p.value(`document.activeElement.blur()`)
	p.value(late)
	p.press("a")
	if got := w.Decided(asked[0].ID); got.Status() != models.StatusApproved {
		t.Fatalf("it is %s", got.Status())
	}

	// A request that comes in its place is a change: a second key at once is early.
	p.shownBeside(asked[1].ID)
	p.calm()
	p.value(`document.addEventListener("countersign:hint", (event) => { window.hinted = event.detail; })`) // it leaves the page after a while
	p.value(fmt.Sprintf(`new MutationObserver(() => {
		if (window.struck || document.querySelector("#detail [data-card]")?.dataset.card !== %q) return;
		window.struck = true;
		document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "a", bubbles: true, cancelable: true }));
	}).observe(document.getElementById("main"), { subtree: true, childList: true, attributes: true }), ""`, asked[2].ID))
	p.press("a")
	w.Decided(asked[1].ID)
	p.becomes(`window.hinted === "Wait: this request just appeared."`)
	p.shownBeside(asked[2].ID)
	w.Waits(asked[2], asked[3])

	// What is selected but not shown yet is not decided in its stead.
	p.calm()
	p.value(fmt.Sprintf(`document.querySelector("#inbox li[aria-current]").removeAttribute("aria-current"),
		document.getElementById("row-%s").setAttribute("aria-current", "true"), ""`, asked[3].ID))
	p.calm()
	p.press("a")
	p.sees("[data-hint]", "still loading")
	w.Waits(asked[2], asked[3])
}

// A request that is only drawn again, and gone for a moment on the way, has been
// looked at; one that has become another has not.
func TestInABrowserWhatIsDrawnAgainNeedNotBeLookedAtAgain(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := openDesk(w, w.Pays().ID)
	p.do("size", chromedp.EmulateViewport(1440, 500))
	p.calm()
	for change, unseen := range map[string]string{"": "undefined", `card.dataset.digest = "another";`: ""} {
		p.value(`delete window.unseen, (() => {
			const card = document.querySelector("#detail [data-card]"), place = document.createComment("");
			card.replaceWith(place);
			requestAnimationFrame(() => {
				` + change + `
				place.replaceWith(card);
				document.querySelector("#decide").scrollIntoView();
				setTimeout(() => { window.unseen = String(document.documentElement.dataset.unseen); });
			});
		})(), ""`)
		p.becomes(fmt.Sprintf(`window.unseen === %q`, unseen))
		p.value(`document.querySelector("#approval-title").scrollIntoView(), ""`)
		p.calm()
	}
}

func TestInABrowserTheListStaysUnderThePointer(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(5)
	p := openDesk(w, asked[0].ID)
	place := func(a *models.Approval) string {
		return p.value(fmt.Sprintf(`Math.round(document.getElementById("row-%s").getBoundingClientRect().top)`, a.ID))
	}
	p.point("#row-" + string(asked[3].ID))
	at := place(asked[3])

	// One that belongs above waits behind a button; one that belongs below comes in.
	sooner := w.Ask(func(in *models.AskInput) { in.TimeoutSeconds = new(int64(600)) })
	p.sees("[data-newer]", "Bash")
	later := w.Ask(func(in *models.AskInput) { in.TimeoutSeconds = new(int64(3600 * 3)) })
	p.becomes(fmt.Sprintf(`document.getElementById("row-%s") !== null`, later.ID))
	if got := place(asked[3]); got != at {
		t.Errorf("the row moved from %s to %s", at, got)
	}

	// One that leaves keeps its place, as a line.
	if _, err := w.Store.Decide(t.Context(), w.Admin, asked[1].ID, models.DecisionInput{Approved: new(false)}); err != nil {
		t.Fatal(err)
	}
	p.becomes(fmt.Sprintf(`document.getElementById("row-%s").hasAttribute("data-gone")`, asked[1].ID))
	if got := place(asked[3]); got != at {
		t.Errorf("the row moved from %s to %s", at, got)
	}
	p.shownBeside(asked[0].ID)

	// The pointer leaves: the line goes, and what waited comes in when asked for.
	p.value(`window.shut = 0, Element.prototype.animate = ((animate) => function (...how) {
		if (this.matches("#inbox .row[data-gone]")) window.shut++;
		return animate.apply(this, how);
	})(Element.prototype.animate), ""`)
	p.point("#detail")
	p.becomes(fmt.Sprintf(`document.getElementById("row-%s") === null`, asked[1].ID))
	p.becomes(`window.shut === 1`)
	p.press("n")
	p.becomes(fmt.Sprintf(`document.querySelector("#inbox li[data-id]").dataset.id === %q`, sooner.ID))
	p.shownBeside(sooner.ID) // the urgent one first
	p.press("n")
	p.shownBeside(later.ID) // then the newest of all
	w.Waits(asked[0], asked[2], asked[3], asked[4], sooner, later)
}

// What has left stands as it stood, and does not close up above a row that has the focus.
func TestInABrowserTheListStaysUnderTheFocus(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(5)
	p := openDesk(w, asked[0].ID)
	row := func(a *models.Approval) string { return fmt.Sprintf(`document.getElementById("row-%s")`, a.ID) }
	place := func(a *models.Approval) string { return p.value(`String(` + row(a) + `.getBoundingClientRect().top)`) }
	p.value(row(asked[3]) + `.querySelector(".row-link").focus(), ""`)
	at, says := place(asked[3]), p.value(row(asked[1])+`.querySelector(".row-summary").textContent`)

	w.Approves(asked[1])
	w.Approves(asked[4])
	for _, a := range []*models.Approval{asked[1], asked[4]} {
		p.sees(fmt.Sprintf("#row-%s[data-gone] [data-gone-text]", a.ID), "Approved by admin@example.com")
	}
	if got := p.value(row(asked[1]) + `.querySelector("s.row-summary").textContent`); got != says {
		t.Errorf("it said %q and says %q", says, got)
	}
	p.becomes(row(asked[4]) + ` === null`) // below the focus
	if got := place(asked[3]); got != at {
		t.Errorf("the row moved from %s to %s", at, got)
	}
	p.value(`document.activeElement.blur(), ""`)
	p.becomes(row(asked[1]) + ` === null`)
	w.Waits(asked[0], asked[2], asked[3])
}

func TestInABrowserWhatIsTypedIsThereAgain(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(2)
	p := openDesk(w, asked[0].ID)
	p.press("r", "n", "o")
	p.press("\x1b", "j")
	p.shownBeside(asked[1].ID)
	p.press("k")
	p.shownBeside(asked[0].ID)
	p.becomes(`document.querySelector("#reason").value === "no"`)

	// Decided elsewhere meanwhile: the page says so, and keeps the text apart.
	if _, err := w.Store.Decide(t.Context(), w.Admin, asked[0].ID, models.DecisionInput{Approved: new(false)}); err != nil {
		t.Fatal(err)
	}
	p.sees("#detail [data-kept-text]", "Rejected by admin@example.com. Your text was not sent.")
	p.becomes(`document.querySelector("#detail [data-kept-text] textarea").value === "no"`)
	p.becomes(`document.querySelector("#detail form[data-verdict]") === null`)
}

func TestInABrowserSeveralAreDecidedByKeys(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(5)
	p := openDesk(w, asked[0].ID)
	for i, a := range asked[:3] {
		p.shownBeside(a.ID)
		p.press("x")
		p.becomes(fmt.Sprintf(`document.querySelector("[data-bulk-count]").textContent === "%d"`, i+1))
		p.press("j")
	}

	// One is decided elsewhere: its tick goes, and is told; the others stay.
	if _, err := w.Store.Decide(t.Context(), w.Admin, asked[1].ID, models.DecisionInput{Approved: new(false), Reason: "mine"}); err != nil {
		t.Fatal(err)
	}
	p.sees("[data-hint]", "1 selected request left the list")
	p.becomes(`document.querySelectorAll("#inbox [name=pick]:checked").length === 2`)
	p.acts("A")
	p.sees("#detail h2", "Approved 2 of 2")
	for _, a := range []*models.Approval{asked[0], asked[2]} {
		if got := w.Decided(a.ID); got.Status() != models.StatusApproved || got.Vote.SeenDigest != a.Digest {
			t.Errorf("%s is %s with %+v", a.ID, got.Status(), got.Vote)
		}
	}
	if got := w.Approval(asked[1].ID); got.Status() != models.StatusRejected || got.Vote.Reason != "mine" {
		t.Errorf("what was decided elsewhere is %s", got.Status())
	}
	w.Waits(asked[3], asked[4])
}

func TestInABrowserOneOfSeveralWasDecidedAtTheSameTime(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(2)
	p := openDesk(w, asked[0].ID)
	p.click("[data-pick-all]")
	p.becomes(`document.querySelectorAll("#inbox [name=pick]:checked").length === 2`)
	p.value(`document.getElementById("live").remove()`) // the page hears of nothing any more
	if _, err := w.Store.Decide(t.Context(), w.Admin, asked[1].ID, models.DecisionInput{Approved: new(false)}); err != nil {
		t.Fatal(err)
	}
	p.press("R")
	p.becomes(`document.activeElement.id === "bulk-reason"`)
	p.press("n", "o")
	p.insist(p.pressCtrlEnter)
	p.sees("main .bulk-rows", "rejected")
	if got := w.Decided(asked[0].ID); got.Status() != models.StatusRejected || got.Vote.Reason != "no" {
		t.Errorf("it is %s with %+v", got.Status(), got.Vote)
	}
	if got := w.Approval(asked[1].ID); got.Vote == nil || got.Vote.UserID != w.Admin.UserID() {
		t.Errorf("the other verdict is lost: %+v", got.Vote)
	}
}

// What the server did not take is told, where the page stays as it is.
func TestInABrowserWhatFailsIsTold(t *testing.T) {
	t.Parallel()
	w := webtest.LiveWorld(t)
	a := w.Asks(1)[0]
	p := openDesk(w, a.ID)
	p.expected = append(p.expected, "413", "Failed to fetch", "ERR_", "htmx:")
	p.value(fmt.Sprintf(`document.querySelector("#reason").value = "x".repeat(%d)`, models.MaxForm))
	p.calm()
	p.click("#approve")
	p.sees("[data-hint]", "too large")
	w.Waits(a)
	p.value(`window.real = window.fetch, window.fetch = () => Promise.reject(new TypeError("Failed to fetch")), ""`)
	p.value(`document.querySelector("#reason").value = "fine"`)
	p.click("#approve")
	p.sees("[data-hint]", "Connection lost. Your decision may have been saved")
	w.Waits(a)
	p.value(`window.fetch = window.real, ""`)
	p.click("#approve")
	if got := w.Decided(a.ID); got.Status() != models.StatusApproved || got.Vote.Reason != "fine" {
		t.Errorf("it is %s with %+v", got.Status(), got.Vote)
	}
}
