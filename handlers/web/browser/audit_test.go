package browser_test

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
)

// TestATrailOnPaper: from the page to its printable form in two clicks; what is
// printed is a table that fits the paper, and nothing that only a click is for.
func TestATrailOnPaper(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask(webtest.ToolCall("Bash", `{"command":"rm -rf /var/lib/a/path/that/goes/on/and/on/until/it/must/wrap/somewhere && make release"}`))
	w.Decides(a, false, "not on Fridays")
	tab := openTab(w)
	tab.signIn()
	tab.open("/audit")
	tab.click(`.shortcuts a:nth-child(2)`)
	tab.sees(".shortcuts [aria-current]", "This week")
	tab.sees(".trail tbody", "not on Fridays")
	tab.click(`.head-end a[href*="/print"]`)
	tab.sees(".trail-paper tbody", string(a.ID))
	paper := emulation.SetEmulatedMediaParams{Media: "print"}
	tab.do("put it on paper", chromedp.EmulateViewport(718, 1000), chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, paper)
		return err
	}))
	for what, expression := range map[string]string{
		"it is a table":        `getComputedStyle(document.querySelector(".trail-paper .table")).display === "table"`,
		"its head is there":    `document.querySelector(".trail-paper thead").getBoundingClientRect().height > 10`,
		"it fits":              `document.documentElement.scrollWidth <= 718`,
		"no way back":          `!document.querySelector(".trail-paper .back").checkVisibility()`,
		"no navigation":        `!document.querySelector("nav").checkVisibility()`,
		"the reason is there":  `document.querySelector(".past-reason").checkVisibility()`,
		"the ledger's head is": `[...document.querySelectorAll(".facts dt")].some((e) => e.textContent === "Ledger" && e.checkVisibility())`,
	} {
		if got := tab.value("String(" + expression + ")"); got != "true" {
			t.Errorf("%s: %s", what, got)
		}
	}
}
