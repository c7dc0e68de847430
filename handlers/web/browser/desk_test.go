package browser_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// shownBeside waits until a request is selected in the list and shown beside it.
func (t *tab) shownBeside(id models.ResponseID) {
	t.tb.Helper()
	t.becomes(fmt.Sprintf(`document.querySelector("#inbox li[aria-current=true]")?.dataset.id === %q
		&& document.querySelector("#detail [data-card]")?.dataset.card === %q`, id, id))
}

func TestInABrowserTenRequestsAreDecidedByKeys(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(10)
	p := openTab(w)
	p.do("size", chromedp.EmulateViewport(1440, 900))
	p.signIn()
	p.sees("#live-text", "live")
	p.value("window.same = 'page'")
	p.shownBeside(asked[0].ID)
	if title := p.value("document.title"); !strings.HasPrefix(title, "(10) ") {
		t.Errorf("the title is %q", title)
	}

	// Down and up the list: what is selected is what is shown.
	p.press("j", "j")
	p.shownBeside(asked[2].ID)
	p.press("k", "k")
	p.shownBeside(asked[0].ID)

	for i, a := range asked {
		p.shownBeside(a.ID)
		if i%3 == 1 {
			p.press("r")
			p.becomes(`document.activeElement.matches("[data-act-reason]")`)
			p.press("j", "a", "n") // these are letters now
			p.insist(p.pressCtrlEnter)
		} else {
			p.acts("a")
		}
		got := w.Decided(a.ID)
		want := models.StatusApproved
		if i%3 == 1 {
			want = models.StatusRejected
		}
		if got.Status() != want || got.Vote.UserID != w.Owner.UserID() || want == models.StatusRejected && got.Vote.Reason != "jan" {
			t.Fatalf("request %d is %s with %+v, want %s", i, got.Status(), got.Vote, want)
		}
		p.becomes(fmt.Sprintf(`document.querySelector("#inbox-count [data-count]").dataset.count === "%d"`, 9-i))
		if i < 8 {
			p.becomes(fmt.Sprintf(`document.querySelector("[data-say]").textContent.endsWith("%d still waiting.")`, 9-i))
			p.becomes(`document.activeElement.matches("#detail #approval-title")`) // where no key but those of the desk does anything
		}
	}
	p.sees("#inbox", "All clear")
	p.becomes(`!document.title.startsWith("(")`)
	if got := p.value("window.same"); got != "page" {
		t.Error("the page was loaded again")
	}
}

// Whoever uses no single keys comes to Approve with the tabulator, however long the list is: it is one stop, through
// which the arrows go.
func TestInABrowserTheListIsOneStop(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(50)
	p := openTab(w)
	p.do("size", chromedp.EmulateViewport(1440, 900))
	p.signIn()
	p.value(`localStorage.setItem("countersign:keys", "off")`)
	p.open("/")
	p.value(`document.querySelector("#inbox details").open = true`)
	tabs := func(selector string) int {
		for n := range 40 {
			if p.value(`document.activeElement.matches(`+quoted(selector)+`)`) == "true" {
				return n
			}
			p.press("\t")
		}
		t.Fatalf("Tab never comes to %s", selector)
		return 0
	}
	n := tabs(".skip")
	p.press("\r")
	n += tabs(".skip-list")
	p.press("\r")
	n += tabs("#approve")
	if n > 12 {
		t.Errorf("Approve is reached after %d tabs", n)
	}
	focused := func(selector string) {
		p.becomes(`document.activeElement.matches(` + quoted(selector) + `)`)
	}
	row := func(n int) string { return "#row-" + string(asked[n].ID) + " .row-link" }
	p.value(`document.querySelector(".whose li:last-child a").focus()`)
	p.press("\t")
	focused(row(0))
	p.press(kb.ArrowDown, kb.ArrowDown)
	focused(row(2))
	p.press(" ", kb.ArrowLeft)
	focused("#row-" + string(asked[2].ID) + " input:checked")
	p.press(kb.ArrowDown, kb.ArrowRight)
	focused(row(3))
	p.press(kb.End)
	focused(row(49))
	p.press("\t")
	if p.value(`document.activeElement.closest("#inbox .rows") === null`) != "true" {
		t.Error("the list has another stop")
	}
	p.value(`document.querySelector("` + row(49) + `").focus()`)
	p.press(kb.Home, kb.ArrowUp)
	p.becomes(`document.activeElement.closest("#inbox .rows > li:first-child") !== null`)
	// A new one is no stop of its own, and takes the focus from none.
	p.value(`document.querySelector("` + row(1) + `").focus()`)
	added := w.Ask(func(in *models.AskInput) { in.TimeoutSeconds = new(int64(3600 + 60*30 + 30)) })
	p.becomes(`document.getElementById("row-` + string(added.ID) + `") !== null`)
	focused(row(1))
	p.becomes(`document.querySelectorAll("#inbox .rows :is(a, input, summary, button):not([tabindex='-1'])").length === 1`)
	p.press(kb.ArrowDown, "\r")
	p.shownBeside(asked[2].ID)
	w.Waits(asked...)
}

// nextCard notes in the page when a key went down, and when another card stands beside the list and was drawn.
const nextCard = `(() => {
  window.took = [];
  let began = 0, from = "";
  const card = () => document.querySelector("#detail [data-card]")?.dataset.card ?? "";
  addEventListener("keydown", () => { began = performance.now(); from = card(); }, true);
  new MutationObserver(() => {
    if (!began || !card() || card() === from) return;
    const at = began;
    began = 0;
    requestAnimationFrame(() => setTimeout(() => took.push(performance.now() - at)));
  }).observe(document.body, { childList: true, subtree: true });
})()`

// BenchmarkNextCard approves by keyboard with 500 requests waiting: the median time from the key to the next request,
// drawn, as ms/card.
func BenchmarkNextCard(b *testing.B) {
	w := webtest.New(b)
	asked := w.Asks(500)
	p := openTab(w)
	p.do("size", chromedp.EmulateViewport(1440, 900))
	p.signIn()
	p.sees("#live-text", "live")
	p.shownBeside(asked[0].ID)
	p.value(nextCard + `, "ready"`)
	n := 0
	for b.Loop() && n < len(asked)-1 {
		p.acts("a")
		n++
		p.becomes(fmt.Sprintf(`took.length >= %d`, n))
		p.shownBeside(asked[n].ID)
	}
	median, err := strconv.ParseFloat(p.value(`String(took.toSorted((a, b) => a - b)[Math.floor(took.length / 2)])`), 64)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(median, "ms/card")
}
