package browser_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// tapAt touches a place of the window, whatever is there.
func (t *tab) tapAt(x, y float64) {
	t.tb.Helper()
	t.do("tap", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, input.DispatchTouchEvent, input.DispatchTouchEventParams{
			Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{{X: x, Y: y}},
		}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, target, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: input.DispatchTouchEventTypeTouchEnd, TouchPoints: []*input.TouchPoint{}})
		return err
	}))
}

// wholeEnd is the end of the whole input, where the request decides.
const wholeEnd = `[...document.querySelectorAll("[data-seen-end$=' source']")].find((e) => e.checkVisibility())`

// Two presses in one place approve nothing that can do much harm, on any layout, and
// nothing is approved whose whole input was not in view to its end.
func TestInABrowserTwoPressesInOnePlaceApproveNothing(t *testing.T) {
	t.Parallel()
	desk := func(a *models.Approval) string { return "/?open=" + string(a.ID) }
	there := func(a *models.Approval) string { return webtest.ConversationPath(a.ConversationID) }
	for name, c := range map[string]struct {
		width, height int64
		at            func(*models.Approval) string
		ask           func(*models.AskInput)
		button        string
	}{
		"a page":                     {1440, 900, webtest.PageOf, nil, "#approve"},
		"a page on a phone":          {390, 844, webtest.PageOf, nil, "#approve"},
		"the desk":                   {1440, 900, desk, nil, "#approve"},
		"the desk on a phone":        {390, 844, desk, nil, "#approve"},
		"a low window":               {1000, 480, webtest.PageOf, nil, "#approve"},
		"a phone on its side":        {844, 390, webtest.PageOf, nil, "#approve"},
		"a conversation":             {1440, 900, there, nil, `button[value=approve]`},
		"a conversation on a phone":  {390, 844, there, nil, `button[value=approve]`},
		"a question on a phone":      {390, 844, webtest.PageOf, webtest.Question, `[data-act=option]`},
		"words on a phone":           {390, 844, webtest.PageOf, webtest.Question, `#answer-button`},
		"no way to edit, on a phone": {390, 844, webtest.PageOf, func(in *models.AskInput) { in.Input = []byte(`{}`) }, "#approve"},
		"a narrow phone":             {320, 640, webtest.PageOf, nil, "#approve"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := webtest.New(t)
			w.ApplyPolicy(strings.Replace(webtest.Danger, `"Bash"`, `"Bash","question"`, 1))
			a := w.Ask(func(in *models.AskInput) {
				if c.ask != nil {
					c.ask(in)
				}
			})
			p := openTab(w)
			p.do("size", chromedp.EmulateViewport(c.width, c.height, chromedp.EmulateTouch))
			p.signIn()
			p.open(c.at(a))
			p.sees("#live-text", "live")
			p.calm() // the top has been in view
			if c.button == "#answer-button" {
				p.fill("#answer", "Neither.")
			}
			p.do("wait", chromedp.WaitVisible(chromedp.CSS(c.button)))
			form := fmt.Sprintf(`document.querySelector(%q).form`, c.button)
			saw := form + `.elements.seen_end.value`
			if p.value(saw) == "" {
				p.insist(func() { p.value(fmt.Sprintf(`document.querySelector(%q).click()`, c.button)) })
				p.becomes(form + `.querySelector("[data-end-first]").checkVisibility()`)
				w.Waits(a)
				for p.value(saw) == "" {
					p.value(form + `.querySelector("[data-end-go]").click()`)
					p.value(`new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))`)
				}
			}
			if mark := p.value(wholeEnd + ` !== undefined`); mark != "true" && c.ask == nil {
				t.Error("nobody has to see the end of the whole input")
			}
			p.value(fmt.Sprintf(`document.querySelector(%q).scrollIntoView({ block: "nearest" })`, c.button))
			p.calm()
			x, y := p.middle(c.button)
			p.tapAt(x, y)
			confirm := form + `.querySelector("[data-confirm]")`
			p.becomes(confirm + `.checkVisibility() && ` + confirm + `.getAttribute("aria-disabled") !== "true"`)
			p.tapAt(x, y)
			if got := p.value(fmt.Sprintf(`document.elementFromPoint(%v, %v).closest("[data-confirm]") === null`, x, y)); got != "true" {
				t.Errorf("Confirm is where the first press was: %s", p.value(form+`.dataset.asking`))
			}
			w.Waits(a)
			p.value(confirm + `.scrollIntoView({ block: "nearest" })`)
			p.becomes(`(() => { const at = ` + confirm + `.getBoundingClientRect(); return at.top >= 0 && at.bottom <= innerHeight && at.left >= 0 && at.right <= innerWidth; })()`)
		})
	}
}
