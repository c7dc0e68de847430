package browser_test

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"countersign/views/gallery"
)

// TestThePastIsReadOnAPhoneInCards of four lines at most, whatever a request says; a text is cut there and never more
// than one line.
func TestThePastIsReadOnAPhoneInCards(t *testing.T) {
	t.Parallel()
	s, ctx := newSite(t), tab(t)
	for _, state := range gallery.States() {
		if state.Page != "history" && state.Page != "audit" && state.Page != "ledger" || state.Name == "print" || state.Name == "print-more" {
			continue
		}
		visit(t, ctx, s.URL+"/"+state.Key())
		resize(t, ctx, 390)
		if wrong := eval(t, ctx, `[...document.querySelectorAll(".past .list-table tbody > tr")].map((row) => [row.getBoundingClientRect().height, row.textContent])
			.filter(([height]) => height > 120).map(([height, text]) => height + ": " + text.slice(0, 200)).join("\n")`); wrong != "" {
			t.Errorf("%s has cards higher than 120 px:\n%s", state.Key(), wrong)
		}
	}
}

// TestOnPaperThereIsOnlyWhatHappened: no banner, no way to go elsewhere, nothing to press, and each row of a list whole
// below a head that is repeated.
func TestOnPaperThereIsOnlyWhatHappened(t *testing.T) {
	t.Parallel()
	s, ctx := newSite(t), tab(t)
	for _, key := range []string{"history", "history-filtered", "audit", "audit-stop", "ledger", "approval", "shell-red", "shell-long"} {
		visit(t, ctx, s.URL+"/"+key)
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(718, 1000), chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
			return err
		})); err != nil {
			t.Fatal(err)
		}
		if got := eval(t, ctx, `[...document.querySelectorAll("nav, form, button, .btn, #dangers, main > .flash, .filter-bar, .zone-line, .guard-note, dialog, .past .list-more > dl")]
			.filter((e) => e.checkVisibility()).map((e) => e.outerHTML.slice(0, 100)).join("\n")`); got != "" {
			t.Errorf("%s, on paper:\n%s", key, got)
		}
		if got := eval(t, ctx, `[...document.querySelectorAll(".past .list-table")].filter((table) => getComputedStyle(table.tHead).display !== "table-header-group" ||
			[...table.tBodies[0].rows].some((row) => getComputedStyle(row).breakInside !== "avoid" || getComputedStyle(row).display !== "table-row")).length +
			(document.querySelector(".past") && document.documentElement.scrollWidth > 718 ? " and too wide: " + document.documentElement.scrollWidth : "")`); got != "0" {
			t.Errorf("%s, on paper: tables that break: %s", key, got)
		}
		if err := chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
			return err
		})); err != nil {
			t.Fatal(err)
		}
	}
}
