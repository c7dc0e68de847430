package web_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"countersign/models"
)

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

// shownBeside waits until a request is selected in the list and shown beside it.
func (t *tab) shownBeside(id models.ResponseID) {
	t.tb.Helper()
	t.becomes(fmt.Sprintf(`document.querySelector("#inbox li[aria-current=true]")?.dataset.id === %q
		&& document.querySelector("#detail [data-card]")?.dataset.card === %q`, id, id))
}

// decided waits until a request is decided, and says how.
func (w *world) decided(id models.ResponseID) *models.Approval {
	w.tb.Helper()
	ctx, cancel := context.WithTimeout(w.tb.Context(), browsing)
	defer cancel()
	a, err := w.store.Await(ctx, w.admin, id, browsing)
	if err != nil {
		w.tb.Fatalf("wait for %s: %v", id, err)
	}
	if a.Status() == models.StatusPending {
		w.tb.Fatalf("%s still waits", id)
	}
	return a
}

// asks has the agent ask for several things, soonest deadline first.
func (w *world) asks(n int) []*models.Approval {
	w.tb.Helper()
	var out []*models.Approval
	for i := range n {
		out = append(out, w.ask(func(in *models.AskInput) {
			in.Input = fmt.Appendf(nil, `{"command":"make step-%d"}`, i)
			in.TimeoutSeconds = new(int64(3600 + 60*i))
		}))
	}
	return out
}

func TestInABrowserTenRequestsAreDecidedByKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asked := w.asks(10)
	p := w.tab()
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
		got := w.decided(a.ID)
		want := models.StatusApproved
		if i%3 == 1 {
			want = models.StatusRejected
		}
		if got.Status() != want || got.Vote.UserID != w.owner.UserID() || want == models.StatusRejected && got.Vote.Reason != "jan" {
			t.Fatalf("request %d is %s with %+v, want %s", i, got.Status(), got.Vote, want)
		}
		p.becomes(fmt.Sprintf(`document.querySelector("#inbox-count [data-count]").dataset.count === "%d"`, 9-i))
		if i < 8 {
			p.becomes(fmt.Sprintf(`document.querySelector("[data-say]").textContent.endsWith("%d still waiting.")`, 9-i))
			p.becomes(`document.activeElement.matches("#detail #approval-title")`) // where no key but those of the desk does anything
		}
	}
	p.sees("#inbox", "Nothing is waiting")
	p.becomes(`!document.title.startsWith("(")`)
	if got := p.value("window.same"); got != "page" {
		t.Error("the page was loaded again")
	}
}
