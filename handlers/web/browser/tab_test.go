package browser_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"countersign/handlers/web/webtest"
)

// comes waits until an element shows a text: by itself, or without script by
// opening the page again.
func (t *tab) comes(scripted bool, path, selector, text string) {
	t.tb.Helper()
	if scripted {
		t.sees(selector, text)
		return
	}
	for late := time.After(webtest.Browsing); !strings.Contains(t.text(selector), text); {
		select {
		case <-late:
			t.tb.Fatalf("%s never says %q: %s", selector, text, t.text("body"))
		default:
			t.open(path)
		}
	}
}

// chooses presses the keys that lead a list to a choice, as a person would
// without a mouse.
func (t *tab) chooses(selector, choice string) {
	t.tb.Helper()
	t.do("choose "+choice, chromedp.WaitVisible(chromedp.CSS(selector)), chromedp.SendKeys(chromedp.CSS(selector), choice))
}

// types replaces what stands in a field.
func (t *tab) types(selector, text string) {
	t.tb.Helper()
	t.value("document.querySelector(" + quoted(selector) + ").value = ''")
	t.fill(selector, text)
}

// endSeen is whether the end of a history is in view, above the composer.
const endSeen = `document.querySelector("#end").getBoundingClientRect().bottom <= document.querySelector("#composer").getBoundingClientRect().top + 1`

// becomes waits until an expression of the page is true.
func (t *tab) becomes(expression string) {
	t.tb.Helper()
	late, tick := time.After(webtest.Browsing), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for {
		if got, err := t.evaluate("String(" + expression + ")"); err == nil && got == "true" { // between two pages there is none
			return
		}
		select {
		case <-late:
			t.tb.Fatalf("it never comes to %s; the page shows: %s", expression, t.text("body"))
		case <-tick.C:
		}
	}
}

// fits checks that nothing has to be scrolled sideways.
func (t *tab) fits() {
	t.tb.Helper()
	if got := t.value("document.documentElement.scrollWidth <= innerWidth"); got != "true" {
		t.tb.Errorf("%s scrolls sideways", t.value("location.pathname"))
	}
}

// press has a person press keys, one after the other. A key writes what it stands
// for only if the page leaves it to the browser, as on a real keyboard.
func (t *tab) press(keys ...string) {
	t.tb.Helper()
	for _, k := range keys {
		t.do("press "+strconv.Quote(k), chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			for _, r := range k {
				for _, e := range strokes(r) {
					if _, err := cdp.Call(ctx, target, input.DispatchKeyEvent, e); err != nil {
						return err
					}
				}
			}
			return nil
		}))
	}
}

// strokes are the events of one key.
func strokes(r rune) []input.DispatchKeyEventParams {
	var out []input.DispatchKeyEventParams
	for _, e := range kb.Encode(r) {
		if e.Type == kb.KeyChar {
			out[len(out)-1].Text, out[len(out)-1].UnmodifiedText = e.Text, e.UnmodifiedText
			continue
		}
		out = append(out, *e)
	}
	return out
}

// point moves the pointer to an element, and clicks nothing.
func (t *tab) point(selector string) {
	t.tb.Helper()
	x, y := t.middle(selector)
	t.do("point at "+selector, chromedp.MouseEvent(chromedp.MouseMoved, x, y))
}

// tap touches the middle of an element, when it decides nothing too early.
func (t *tab) tap(selector string) {
	t.tb.Helper()
	t.do("wait for "+selector, chromedp.WaitVisible(chromedp.CSS(selector)), chromedp.ScrollIntoView(chromedp.CSS(selector)))
	t.calm()
	x, y := t.middle(selector)
	t.do("tap "+selector, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, input.DispatchTouchEvent, input.DispatchTouchEventParams{
			Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{{X: x, Y: y}},
		}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, target, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}})
		return err
	}))
}

// middle is where a pointer meets an element.
func (t *tab) middle(selector string) (x, y float64) {
	t.tb.Helper()
	where := `(() => { const b = document.querySelector(` + quoted(selector) + `).getBoundingClientRect(); return [b.x + b.width / 2, b.y + Math.min(b.height, 40) / 2].join(" "); })()`
	if _, err := fmt.Sscan(t.value(where), &x, &y); err != nil {
		t.tb.Fatalf("%s has no place: %v", selector, err)
	}
	return x, y
}

// pressCtrlEnter sends the form that somebody writes in.
func (t *tab) pressCtrlEnter() {
	t.tb.Helper()
	t.do("press Ctrl+Enter", chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
}
