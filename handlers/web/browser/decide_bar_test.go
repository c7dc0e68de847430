package browser_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/views"
)

// releases checks that an edit was let through, and no original.
func releases(w *webtest.World, a *models.Approval, want string) {
	w.TB.Helper()
	got := w.Decided(a.ID)
	if got.Status() != models.StatusApproved || got.Vote.Input == nil || *got.Vote.Input != want {
		w.TB.Errorf("it is %s with %+v, want %s", got.Status(), got.Vote, want)
	}
}

// clearOfBar reports whether an element is in view above the bar.
const clearOfBar = `(() => {
	const field = document.querySelector(%q).getBoundingClientRect();
	const bar = [...document.querySelectorAll(".decide-bar, .decide")].find((e) => getComputedStyle(e).position === "sticky" && e.checkVisibility()).getBoundingClientRect();
	return field.top >= 0 && field.bottom <= bar.top;
})()`

func TestInABrowserAnEditIsNeverDropped(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"mouse", "keys", "phone"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := webtest.New(t)
			a := w.Pays()
			p := openTab(w)
			press := p.click
			if how == "phone" {
				p.do("a phone", chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
				press = p.tap
			} else {
				p.do("size", chromedp.EmulateViewport(1440, 600))
			}
			p.signIn()
			if how == "phone" {
				p.open("/?open=" + string(a.ID))
			}
			p.sees("#detail #approval-title", "pay")
			if how == "keys" {
				p.calm()
				p.press("e")
			} else {
				press("[data-opens=edit]")
			}
			p.becomes(`document.activeElement.id === "m0"`)
			p.becomes(fmt.Sprintf(clearOfBar, "#m0"))
			p.types("#m0", "Evil")
			p.becomes(`document.querySelector("#approve").hidden && !document.querySelector("#approve-edited").hidden`)
			p.sees("#decide .changed", "to ACME → Evil")
			p.becomes(fmt.Sprintf(clearOfBar, "#m0")) // though the bar has grown
			switch how {
			case "keys":
				p.press("\x1b")
				p.acts("a")
			default:
				press("#approve-edited")
			}
			releases(w, a, `{"to":"Evil","amount":120.00}`)
		})
	}
}

func TestInABrowserTheOriginalNeedsTheEditsDiscarded(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a, b := w.Pays(), w.Pays()
	p := openDesk(w, a.ID)
	p.click("[data-opens=edit]")
	p.types("#m1", "5")
	p.becomes(`document.querySelector("#approve").hidden`)

	// What is typed is there again after another request was looked at.
	p.press("\x1b", "j")
	p.shownBeside(b.ID)
	p.becomes(`!document.querySelector("#approve").hidden`)
	p.press("k")
	p.shownBeside(a.ID)
	p.sees("#decide .changed", "amount 120.00 → 5")
	p.becomes(`document.querySelector("#approve").hidden`)

	p.click("#discard")
	p.becomes(`!document.querySelector("#approve").hidden && document.querySelector("#approve-edited").hidden && document.querySelector("#m1").value === "120.00"`)

	// The input as JSON says its members too.
	p.value(`document.querySelector("#edit").open = true, document.querySelector("#edit-whole").open = true, ""`)
	p.types("#input", `{"to":"ACME","amount":7}`)
	p.sees("#decide .changed", "amount 120 → 7")
	p.click("#discard")
	p.click("#approve")
	if got := w.Decided(a.ID); got.Status() != models.StatusApproved || got.Vote.Input != nil {
		t.Errorf("it is %s with %+v", got.Status(), got.Vote)
	}
}

func TestInABrowserAChosenReasonIsNeverSwallowed(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"mouse", "keys", "phone"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := webtest.New(t)
			w.ApplyPolicy(strings.Replace(webtest.Danger, `"high"`, `"low"`, 1))
			a, b := w.Ask(), w.Ask()
			p := openTab(w)
			press := p.click
			if how == "phone" {
				p.do("a phone", chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
				press = p.tap
			} else {
				p.do("size", chromedp.EmulateViewport(1440, 900))
			}
			p.signIn()
			p.open("/?open=" + string(a.ID))
			p.sees("#detail #approval-title", "Run: rm -rf build/")
			chosen := `document.querySelector("[name=preset]:checked").value`
			if how == "keys" {
				p.calm()
				p.press("r")
				p.becomes(`document.querySelector("#reject-menu").open && document.activeElement.matches("[data-presets]")`)
				p.press("1")
			} else {
				press("#reject-menu > summary")
				press("label[for=preset-1]")
			}
			p.becomes(chosen + ` === "Wrong branch"`)
			if how == "keys" {
				p.press("a")
			} else {
				press("#approve")
			}
			p.sees("[data-hint]", "A reject reason is chosen")
			w.Waits(a)

			// Chosen again it is cleared, as by Clear and by Esc.
			switch how {
			case "keys":
				p.press("1")
				p.becomes(chosen + ` === ""`)
				p.press("2", "\x1b")
				p.becomes(chosen + ` === "" && !document.querySelector("#reject-menu").open`)
				p.calm()
				p.press("r")
				p.becomes(`document.activeElement.matches("[data-presets]")`)
				p.press("2")
				p.becomes(chosen + ` === "Not on a Friday"`)
				p.press("\r")
			default:
				press("label[for=preset-1]")
				p.becomes(chosen + ` === ""`)
				press("label[for=preset-1]")
				press("[data-preset-clear]")
				p.becomes(chosen + ` === ""`)
				press("label[for=preset-2]")
				press("#reject")
			}
			if got := w.Decided(a.ID); got.Status() != models.StatusRejected || got.Vote.Reason != "Not on a Friday" {
				t.Errorf("it is %s with %+v", got.Status(), got.Vote)
			}

			// What is typed goes with either.
			p.open("/?open=" + string(b.ID))
			p.fill("#reason", "fine")
			press("#approve")
			if got := w.Decided(b.ID); got.Status() != models.StatusApproved || got.Vote.Reason != "fine" {
				t.Errorf("it is %s with %+v", got.Status(), got.Vote)
			}
		})
	}
}

// pointer presses or lets go of the pointer in the middle of an element.
func (t *tab) pointer(kind input.DispatchMouseEventType, x, y float64) {
	t.tb.Helper()
	t.do("pointer", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: x, Y: y, Button: input.MouseButtonLeft, ClickCount: 1})
		return err
	}))
}

const asks = `document.querySelector("#decide [data-armed]").checkVisibility()`

func TestInABrowserHarmNeedsMoreThanAPress(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"mouse", "keys", "phone"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := webtest.New(t)
			w.ApplyPolicy(webtest.Danger)
			a, b := w.Ask(), w.Ask()
			p := openTab(w)
			press := p.click
			if how == "phone" {
				p.do("a phone", chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
				press = p.tap
			} else {
				p.do("size", chromedp.EmulateViewport(1440, 900))
			}
			p.signIn()
			p.open("/?open=" + string(a.ID))
			p.sees("#detail #approval-title", "Run: rm -rf build/")
			p.sees("#live-text", "live")
			live := `document.querySelector("#decide [data-confirm]").getAttribute("aria-disabled") !== "true"`
			p.do("keep the focus", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error { // other tabs take it, and a hold ends with it
				_, err := cdp.Call(ctx, target, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
				return err
			}))
			arm := func() {
				if how == "keys" {
					p.acts("a")
				} else {
					press("#approve")
				}
				p.becomes(asks)
				p.sees("#decide [data-armed]", "Approve “Run: rm -rf build/”?")
			}
			arm()
			p.becomes(live)
			w.Waits(a)
			if how == "keys" {
				p.press("\x1b")
			} else {
				press("#decide [data-disarm]")
			}
			p.becomes(`!` + asks)
			w.Waits(a)
			arm()
			p.becomes(live)
			if how == "keys" {
				p.press("a")
			} else {
				press("#decide [data-confirm]")
			}
			if got := w.Decided(a.ID); got.Status() != models.StatusApproved {
				t.Fatalf("it is %s", got.Status())
			}

			// To hold does both.
			p.open("/?open=" + string(b.ID))
			p.sees("#detail #approval-title", "Run: rm -rf build/")
			p.sees("#live-text", "live")
			p.becomes(`document.querySelector("#inbox [data-gone]") === null`) // the list has come to rest
			p.scrollsThrough()
			p.calm()
			x, y := p.middle("#approve")
			switch how {
			case "keys":
				down := strokes('a')[0]
				down.Text, down.UnmodifiedText = "", ""
				p.do("hold a", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
					_, err := cdp.Call(ctx, target, input.DispatchKeyEvent, down)
					return err
				}))
			case "mouse":
				p.pointer(input.DispatchMouseEventTypeMousePressed, x, y)
			default:
				p.do("hold", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
					_, err := cdp.Call(ctx, target, input.DispatchTouchEvent, input.DispatchTouchEventParams{
						Type: input.DispatchTouchEventTypeTouchStart, TouchPoints: []*input.TouchPoint{{X: x, Y: y}},
					})
					return err
				}))
			}
			if got := w.Decided(b.ID); got.Status() != models.StatusApproved {
				t.Errorf("held, it is %s", got.Status())
			}
		})
	}
}

// What is drawn anew as it was keeps the question, its words and its focus; what has
// changed is asked about again.
func TestInABrowserAQuestionOutlivesARedrawOfTheSame(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(webtest.Danger)
	a := w.Ask()
	p := openTab(w)
	p.signIn()
	p.open("/approvals/" + string(a.ID))
	p.sees("#live-text", "live")
	p.scrollsThrough()
	p.calm()
	p.value(`window.drawn = 0, document.addEventListener("htmx:after:swap", (event) => { if (event.detail.ctx.target?.id === "approval") drawn++; }), ""`)
	again := func(n int) {
		p.value(fmt.Sprintf(`document.body.dispatchEvent(new CustomEvent(%q, { bubbles: true })), ""`, views.ApprovalTopic(a.ID)))
		p.becomes(fmt.Sprintf(`drawn >= %d`, n))
	}
	p.click("#approve")
	p.becomes(asks)
	again(1)
	p.becomes(asks)
	p.sees("#decide [data-armed]", "Approve “Run: rm -rf build/”?")
	p.becomes(`document.activeElement === document.querySelector("#decide [data-confirm]")`)
	p.becomes(`document.querySelector("#decide [data-confirm]").getAttribute("aria-disabled") !== "true"`)
	w.Waits(a)
	if _, err := w.Store.AskBack(t.Context(), w.Owner, a.ID, "Why now?"); err != nil {
		t.Fatal(err)
	}
	p.sees("#notes", "Why now?")
	p.becomes(`!` + asks)
	w.Waits(a)
	p.click("#approve")
	p.becomes(asks)
	again(3)
	p.becomes(`document.querySelector("#decide [data-confirm]").getAttribute("aria-disabled") !== "true"`)
	p.click("#decide [data-confirm]")
	if got := w.Decided(a.ID); got.Status() != models.StatusApproved {
		t.Errorf("it is %s", got.Status())
	}
}

func TestInABrowserDigitsChooseAnswers(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask(webtest.Question)
	p := openDesk(w, a.ID)
	p.calm()
	p.press("2")
	if got := w.Decided(a.ID); got.Vote == nil || got.Vote.Option == nil || *got.Vote.Option != "us" {
		t.Errorf("it is %s with %+v", got.Status(), got.Vote)
	}
}

// What comes next is shown from its top with its title, and a strip says what was
// just done and undoes it.
func TestInABrowserTheNextRequestDoesNotSlideUnderTheThumb(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"mouse", "keys", "phone"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := webtest.New(t)
			w.ApplyPolicy(`{"undo_seconds": {"medium": 600}}`)
			var asked []*models.Approval
			for i := range 3 {
				asked = append(asked, w.Ask(func(in *models.AskInput) {
					in.Input = fmt.Appendf(nil, `{"command":"make step-%d%s"}`, i, strings.Repeat(`\necho more`, 50))
					in.TimeoutSeconds = new(int64(3600 + 60*i))
				}))
			}
			p := openTab(w)
			press := p.click
			if how == "phone" {
				p.do("a phone", chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
				press = p.tap
			} else {
				p.do("size", chromedp.EmulateViewport(1440, 600))
			}
			p.signIn()
			p.open("/?open=" + string(asked[0].ID))
			p.sees("#detail #approval-title", "Run 51 commands, first: make step-0")
			p.sees("#live-text", "live")
			p.calm()
			p.value(`document.querySelector("#detail").scrollTop = 9999, scrollTo(0, 9999), ""`)
			if how == "keys" {
				p.acts("a")
			} else {
				press("#approve")
			}
			p.becomes(fmt.Sprintf(`document.querySelector("#detail [data-card]")?.dataset.card === %q`, asked[1].ID))
			p.becomes(`document.activeElement.id === "approval-title"`)
			p.becomes(`(() => { const t = document.querySelector("#approval-title").getBoundingClientRect(); return t.top >= 0 && t.bottom <= innerHeight / 2; })()`)
			p.becomes(`(() => {
				const strip = document.querySelector("#done").getBoundingClientRect(), title = document.querySelector("#approval-title").getBoundingClientRect();
				return strip.top >= 0 && strip.height > 0 && strip.bottom <= title.top && document.elementFromPoint(strip.x + strip.width / 2, strip.y + strip.height / 2).closest("#done") !== null;
			})()`)
			p.sees("#done", "Approved “Run 51 commands, first: make step-0”")
			p.becomes(`document.querySelector("#inbox-count [data-count]").dataset.count === "2" && document.querySelector("#inbox-tally").textContent === "2 waiting · 1 sending"`)

			// Nothing is decided while its top was not in view.
			p.calm()
			p.value(`document.documentElement.dataset.unseen = ""`)
			p.value(`document.querySelector("#approve").click()`)
			p.sees("[data-hint]", "Look at the top")
			w.Waits(asked[1], asked[2])
			p.value(`delete document.documentElement.dataset.unseen`)

			if how == "keys" {
				p.press("u")
			} else {
				press("#done [data-act=undo]")
			}
			p.sees("#done", "Undone “Run 51 commands, first: make step-0”")
			if got := w.Approval(asked[0].ID); got.Status() != models.StatusPending || got.HeldUntil != nil {
				t.Errorf("it is %s, held until %v", got.Status(), got.HeldUntil)
			}
			p.becomes(`document.querySelector("#inbox-tally").textContent === "3 waiting"`)
		})
	}
}

// An editor that is opened by its own line, at the end of the card, is clear of the bar.
func TestInABrowserAnEditorOpenedByItsLineIsClearOfTheBar(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.Pays()
	p := openTab(w)
	p.do("size", chromedp.EmulateViewport(1440, 600))
	p.signIn()
	p.sees("#detail #approval-title", "pay")
	p.click("#edit > summary")
	p.becomes(`document.querySelector("#edit").open`)
	p.becomes(fmt.Sprintf(clearOfBar, "#m0"))
}
