package web_test

import (
	"fmt"
	"testing"

	"countersign/models"
)

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
	w := newWorld(t)
	asked := w.asks(4)
	p := w.desk(asked[0].ID)
	p.value(fmt.Sprintf(holdList, "gone="+string(asked[0].ID)))
	p.acts("a")
	w.decided(asked[0].ID)
	p.shownBeside(asked[1].ID)
	later := w.ask(func(in *models.AskInput) { in.TimeoutSeconds = new(int64(7200)) })
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
	w := newWorld(t)
	asked := w.asks(4)
	p := w.desk(asked[0].ID)
	p.value(fmt.Sprintf(holdList, ""))
	w.ask(func(in *models.AskInput) { in.TimeoutSeconds = new(int64(7200)) })
	p.becomes(`window.holding === true`)
	p.acts("a")
	w.decided(asked[0].ID)
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
