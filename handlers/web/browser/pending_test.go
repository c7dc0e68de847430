package browser_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// holdOne has the page keep back its next request with this method until letGo().
const holdOne = `(() => {
	const real = window.fetch;
	window.fetch = async (...args) => {
		if ((args[1]?.method ?? "GET") === %q && String(args[0]).includes(%q)) {
			window.sent = (window.sent ?? 0) + 1;
			await new Promise((resolve) => { window.letGo = () => { resolve(); return ""; }; });
		}
		return real(...args);
	};
})()`

func TestInABrowserAPressedButtonShowsThatItIsUnderWay(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(2)
	p := openDesk(w, asked[0].ID)
	p.value(fmt.Sprintf(holdOne, "POST", "/decide"))
	p.fill("#reason", "fine")
	p.click("#approve")
	p.becomes(`document.querySelector("#approve").getAttribute("aria-busy") === "true" && document.querySelector("[data-say]").textContent === "Sending…"`)
	p.value(`document.querySelector("#approve").click(), document.querySelector("#reject").click()`)
	if got := p.value("window.sent"); got != "1" {
		t.Errorf("it was sent %s times", got)
	}
	p.value("window.letGo()")
	if got := w.Decided(asked[0].ID); got.Status() != models.StatusApproved || got.Vote.Reason != "fine" {
		t.Errorf("it is %s with %+v", got.Status(), got.Vote)
	}
	p.shownBeside(asked[1].ID)
	p.becomes(`document.querySelector("#approve").getAttribute("aria-busy") === null`)

	// The pane is dim while another request loads.
	later := w.Ask(func(in *models.AskInput) { in.TimeoutSeconds = new(int64(7200)) })
	p.value(fmt.Sprintf(holdOne, "GET", "open="+string(later.ID)))
	row := fmt.Sprintf(`document.querySelector("#row-%s .row-link")`, later.ID)
	p.becomes(row + ` !== null`)
	p.value(row + `.click()`)
	p.becomes(`Number(getComputedStyle(document.querySelector("#detail > article, #detail > *")).opacity) < 1`)
	p.value("window.letGo()")
	p.shownBeside(later.ID)
	p.becomes(`document.getElementById("detail").getAttribute("aria-busy") === null`)
}

// A toast lies over nothing that it is about, nor over what is pressed next.
func TestInABrowserAToastCoversNothingThatIsNeeded(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.Ask(webtest.Question)
	plain := w.Ask()
	long := strings.Repeat("This is a hint that is long enough to take several lines. ", 3)
	for _, size := range []struct{ width, height int64 }{{1440, 900}, {390, 844}} {
		for _, path := range []string{"/", "/approvals/" + string(plain.ID)} {
			p := openTab(w)
			p.do("size", chromedp.EmulateViewport(size.width, size.height))
			p.signIn()
			p.open(path)
			p.do("wait", chromedp.WaitVisible(chromedp.CSS("main")))
			for _, text := range []string{"Choose one of the answers.", long} {
				p.becomes(fmt.Sprintf(`(document.dispatchEvent(new CustomEvent("countersign:hint", { detail: %q })), document.querySelector("[data-hint]").textContent !== "")`, text))
				covered := p.value(`(() => {
					const hint = document.querySelector("[data-hint]").getBoundingClientRect();
					const over = (one) => { const b = one.getBoundingClientRect(); return b.height > 0 && b.left < hint.right && b.right > hint.left && b.top < hint.bottom && b.bottom > hint.top; };
					const needed = document.querySelectorAll(".decide, .bulk-bar, .dangers, main form button, main form textarea, main form label, #inbox li[aria-current=true]");
					return [...needed].filter((one) => one.checkVisibility() && over(one)).map((one) => one.id || one.className || one.tagName).join()
						+ (hint.top < 0 || hint.bottom > innerHeight ? " out of view" : "");
				})()`)
				if covered != "" {
					t.Errorf("at %d px on %s a toast covers %s", size.width, path, covered)
				}
			}
		}
	}
}
