package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

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
