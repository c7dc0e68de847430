package browser_test

import (
	"fmt"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// What arrives, leaves or changes beside the open request keeps nobody from deciding it:
// only the open request and its row's place do.
func TestInABrowserNoPressIsRefusedForAnotherRequest(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(4)
	p := openDesk(w, asked[0].ID)
	p.calm()
	p.value(`window.moved = 0, new MutationObserver(() => { moved++; }).observe(document.documentElement, { attributes: true, attributeFilter: ["data-shifted"] })`)
	arrive := func(after int64) *models.Approval {
		return w.Ask(func(in *models.AskInput) { in.TimeoutSeconds = new(after) })
	}
	above, below := arrive(600), arrive(3*3600)
	p.sees("[data-newer]", "Bash")
	p.becomes(fmt.Sprintf(`document.getElementById("row-%s") !== null`, below.ID))
	if _, err := w.Store.Decide(t.Context(), w.Admin, asked[2].ID, models.DecisionInput{Approved: new(false)}); err != nil {
		t.Fatal(err)
	}
	p.becomes(fmt.Sprintf(`document.getElementById("row-%s")?.hasAttribute("data-gone") ?? true`, asked[2].ID))
	p.value(`document.querySelector("#inbox ol.rows").append(document.querySelector("#inbox li[data-id]:not([aria-current])")), ""`)
	if got := p.value(`new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(moved)))) && moved`); got != "0" {
		t.Errorf("what happened to others was taken %s times for a change of the open request", got)
	}

	// What happens to the open one does count.
	p.value(fmt.Sprintf(`document.getElementById("row-%s").removeAttribute("aria-current"), ""`, asked[0].ID))
	p.becomes(`moved > 0`)
	w.Waits(asked[0], above, below)
}

// holdList has the page keep back the next answer of the list's own refetch that
// the server has given to an address with this part, until letGo() is called.
const holdList = `(() => {
	const real = window.fetch;
	let once = true;
	window.fetch = async (...args) => {
		const answer = await real(...args);
		if (once && args[1]?.headers?.["HX-Source"] === "section#inbox" && String(args[0]).includes(%q)) {
			once = false;
			await new Promise((resolve) => { window.letGo = () => { resolve(); return ""; }; window.holding = true; });
		}
		return answer;
	};
})()`

// The line of a decided request is swept while an answer that still has it is on
// its way: it is no newcomer.
func TestInABrowserALineThatWasSweptIsNoNewcomer(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(4)
	p := openDesk(w, asked[0].ID)
	p.value(fmt.Sprintf(holdList, "gone="+string(asked[0].ID)))
	p.acts("a")
	w.Decided(asked[0].ID)
	p.shownBeside(asked[1].ID)
	later := w.Ask(func(in *models.AskInput) { in.TimeoutSeconds = new(int64(7200)) })
	p.becomes(`window.holding === true`)
	p.becomes(fmt.Sprintf(`document.getElementById("row-%s") === null`, asked[0].ID))
	p.value(`document.querySelector("[data-say]").textContent = "", window.letGo()`)
	p.becomes(fmt.Sprintf(`document.getElementById("row-%s") !== null`, later.ID))
	if got := p.value(`[...document.querySelectorAll("[data-newer]")].map((b) => b.textContent).join() + document.querySelector("[data-say]").textContent`); got != "" {
		t.Errorf("nobody asked anything that belongs above, and the page says %q", got)
	}
	if got := p.value(fmt.Sprintf(`document.getElementById("row-%s") === null`, asked[0].ID)); got != "true" {
		t.Error("the line is there again")
	}
}

// A list that was read before a decision and arrives after its answer is dropped.
func TestInABrowserAnOvertakenListBringsNothingBack(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(4)
	p := openDesk(w, asked[0].ID)
	p.value(fmt.Sprintf(holdList, ""))
	w.Ask(func(in *models.AskInput) { in.TimeoutSeconds = new(int64(7200)) })
	p.becomes(`window.holding === true`)
	p.acts("a")
	w.Decided(asked[0].ID)
	p.shownBeside(asked[1].ID)
	p.becomes(`document.querySelector("#inbox-count [data-count]").dataset.count === "4"`)
	p.value(fmt.Sprintf(`document.addEventListener("htmx:after:swap", () => {
		window.swaps = (window.swaps ?? 0) + 1;
		window.back ||= document.querySelector("[id='row-%s']:not([data-gone])") !== null;
		window.back ||= document.querySelector("#inbox-count [data-count]").dataset.count !== "4";
	}), window.letGo()`, asked[0].ID))
	p.becomes(`window.swaps > 0 && document.querySelectorAll("#inbox li[data-id]:not([data-gone])").length === 4`)
	if got := p.value(`window.back`); got != "false" {
		t.Error("a request that was decided waits again on the page")
	}
}
