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

// Insights are read by the tables behind their charts, narrowed, and put on paper with these tables: on a wide screen, and
// on a phone without script.
func TestInABrowserInsightsAreReadByTheirTables(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		width   int64
		scripts bool
	}{{"wide", 1440, true}, {"phone without script", 390, false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := webtest.New(t)
			for _, tool := range []string{"pay", "pay", "mail"} {
				w.Decides(w.Ask(webtest.ToolCall(tool, `{"amount":5}`)), tool == "mail", "not on Fridays")
			}
			p := adminTab(w, c.width, c.scripts)
			p.open("/insights")
			p.sees(".insight-facts", "1 of 3 decisions")
			p.sees(`section[aria-labelledby="reasons"]`, "not on Fridays")
			p.click(`section[aria-labelledby="outcomes"] summary`)
			p.sees(`section[aria-labelledby="outcomes"] details[open]`, "rejected by people")
			p.click(".filter-menu summary")
			p.value(`document.querySelector("#filter-about").value = "tool:mail", ""`)
			p.click("#narrow")
			p.sees(".filter-chip", "Tool mail")
			p.sees(".insight-facts", "1 of 1 decisions")
			if got := p.value("location.search"); got != "?about=tool%3Amail" {
				t.Errorf("the address is %s", got)
			}
			paper := emulation.SetEmulatedMediaParams{Media: "print"}
			p.do("put it on paper", chromedp.EmulateViewport(718, 1000), chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
				_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, paper)
				return err
			}))
			for what, expression := range map[string]string{
				"the numbers behind a chart": `document.querySelector('section[aria-labelledby="outcomes"] details:not([open]) tbody td').getBoundingClientRect().height > 5`,
				"it fits":                    `document.documentElement.scrollWidth <= 718`,
				"no filter":                  `!document.querySelector(".filter-bar").checkVisibility()`,
			} {
				if got := p.value("String(" + expression + ")"); got != "true" {
					t.Errorf("%s: %s", what, got)
				}
			}
		})
	}
}
