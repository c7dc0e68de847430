package browser_test

import (
	"context"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
)

// TestInABrowserTimesAndDaysAreOfItsZone: the head of a table names the zone, a time says
// how far it is from UTC, and a day that is picked is sent with it.
func TestInABrowserTimesAndDaysAreOfItsZone(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask(webtest.ToolCall("pay", `{"amount":5}`))
	w.Decides(a, false, "no")
	at := w.Clock.Now()
	p := openTab(w)
	p.inZone("Asia/Tokyo")
	p.signIn()
	p.open("/history")
	p.sees(".list-table thead", "Asia/Tokyo")
	p.open("/history")
	p.sees(".shortcuts", "days in Asia/Tokyo")
	tokyo := at.In(time.FixedZone("", 9*3600))
	if got, want := p.value(`document.querySelector(".list-table tbody time").textContent`), tokyo.Format(time.DateTime); got != want {
		t.Errorf("the time is %q, want %q", got, want)
	}
	if got, want := p.value(`document.querySelector(".list-table tbody time").title`), tokyo.Format(time.DateTime)+" UTC+09:00"; got != want {
		t.Errorf("the exact time is %q, want %q", got, want)
	}
	p.click(".filter-menu > summary")
	p.value(`document.querySelector("#filter-from").value = "` + tokyo.Format(time.DateOnly) + `"`)
	p.click("#narrow")
	p.sees(".chips", tokyo.Format(time.DateOnly)+" Asia/Tokyo")
	p.sees(".list-table tbody", "rejected")
	p.click(".filter-chip a")
	p.becomes(`!document.querySelector(".chips")`)
	p.click(".filter-menu > summary")
	p.value(`String(document.querySelector("#filter-tool").dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true })))`)
	if got := p.value(`String(document.querySelector(".filter-menu").open)`); got != "false" {
		t.Errorf("after Escape the menu is open: %s", got)
	}
}

// inZone has the tab live in a time zone.
func (t *tab) inZone(name string) {
	t.do("be in "+name, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: name})
		return err
	}))
}
