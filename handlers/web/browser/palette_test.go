package browser_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/suggest"
)

// palette presses Ctrl+K and waits for the results of an empty text.
func (t *tab) palette() {
	t.tb.Helper()
	t.becomes(`document.readyState === "complete"`)
	t.do("Ctrl+K", chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	t.becomes(`document.getElementById("palette").open && document.activeElement.id === "palette-field" && document.querySelector("#palette-found a") !== null`)
}

// on is whether the row that is chosen says so.
func (t *tab) on(text string) {
	t.tb.Helper()
	t.becomes(`(() => {
		const one = document.querySelector("#palette [aria-selected=true]");
		return one?.id === document.activeElement.getAttribute("aria-activedescendant") && one?.textContent.includes(` + quoted(text) + `);
	})()`)
}

// TestInABrowserThePaletteGoesByKeyboard, with single keys switched off.
func TestInABrowserThePaletteGoesByKeyboard(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	asked := w.Asks(2)
	p := openDesk(w, asked[0].ID)
	p.value(`localStorage.setItem("countersign:keys", "off")`)
	p.open("/history")
	p.palette()
	p.sees("[data-palette-says]", "results")
	p.on("Inbox")
	p.press(kb.ArrowDown)
	p.on("Conversations")
	p.press(kb.End)
	p.on("Change password")
	p.press(kb.ArrowDown)
	p.on("Inbox")
	p.press(kb.ArrowUp, kb.Home)
	p.on("Inbox")

	// Escape closes it, and the focus is where it was.
	p.press(kb.Escape)
	p.becomes(`!document.getElementById("palette").open`)
	p.value(`document.querySelector(".brand").focus()`)
	p.palette()
	p.press(kb.Escape)
	p.becomes(`!document.getElementById("palette").open && document.activeElement.matches(".brand")`)

	// What is found by text and by id is opened by Enter, also before it is there.
	p.palette()
	p.press("make step-1")
	p.on("make step-1")
	p.press(kb.Enter)
	p.becomes(`location.pathname === ` + quoted(webtest.PageOf(asked[1])))
	p.palette()
	p.press("policy gu", kb.Enter)
	p.becomes(`location.pathname === "/policy/guide"`)
	// Where somebody was comes first, and nothing else is kept.
	p.palette()
	p.on("History")
	if kept := p.value(`localStorage.getItem("countersign:pages")`); kept != `["/policy/guide","/history","/"]` {
		t.Errorf("kept: %s", kept)
	}
	for _, a := range asked {
		if got := w.Approval(a.ID); got.Status() != models.StatusPending {
			t.Errorf("%s: %s", a.ID, got.Status())
		}
	}
}

// TestI15InABrowserThePaletteDecidesNothing: it leads to the button, and the key that
// chose it does not press it, however long it stays down.
func TestI15InABrowserThePaletteDecidesNothing(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask()
	p := openDesk(w, a.ID)
	p.calm()
	p.value(`(globalThis.presses = [], document.addEventListener("click", (event) => { if (event.target.matches("#detail button")) presses.push(event.target.dataset.act); }, true))`)
	p.palette()
	p.press("appr")
	p.on("Approve…")
	p.holdEnter(5)
	p.becomes(`document.activeElement.matches("#detail [data-act=approve]") && !document.getElementById("palette").open`)
	p.palette()
	p.press("reje", kb.Enter)
	p.becomes(`document.activeElement.matches("#detail [data-act-reason]")`)
	if presses := p.value("presses.join()"); presses != "" {
		t.Errorf("pressed: %s", presses)
	}
	if got := w.Approval(a.ID); got.Status() != models.StatusPending || got.HeldUntil != nil {
		t.Errorf("%s", got.Status())
	}
}

// holdEnter keeps Enter down, so that the keyboard repeats it.
func (t *tab) holdEnter(repeats int) {
	t.tb.Helper()
	t.do("hold Enter", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		strokes := strokes('\r')
		down, up := strokes[0], strokes[len(strokes)-1]
		for i := range repeats {
			down.AutoRepeat = new(i > 0)
			if _, err := cdp.Call(ctx, target, input.DispatchKeyEvent, down); err != nil {
				return err
			}
		}
		_, err := cdp.Call(ctx, target, input.DispatchKeyEvent, up)
		return err
	}))
}

// TestInABrowserThePaletteWaitsItsTurn: behind another dialog, and while somebody composes
// a character.
func TestInABrowserThePaletteWaitsItsTurn(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := openDesk(w, w.Ask().ID)
	ctrlK := `document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "k", code: "KeyK", ctrlKey: true, bubbles: true, cancelable: true, isComposing: %s }))`
	p.press("?")
	p.becomes(`document.getElementById("keys").open`)
	p.do("Ctrl+K", chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	if open := p.value(`document.getElementById("palette").open`); open != "false" {
		t.Error("it opened over another dialog")
	}
	p.press(kb.Escape)
	p.becomes(`!document.getElementById("keys").open`)
	for composing, want := range map[string]string{"true": "false", "false": "true"} {
		p.value(fmt.Sprintf(ctrlK, composing))
		if open := p.value(`document.getElementById("palette").open`); open != want {
			t.Errorf("composing %s: open %s", composing, open)
		}
		p.value(`document.getElementById("palette").close()`)
	}
}

// TestInABrowserSuggestionsAreHandledByKeyboard, without script too: one is dismissed with a note, suggested again, and put
// into the draft.
func TestInABrowserSuggestionsAreHandledByKeyboard(t *testing.T) {
	t.Parallel()
	for name, scripts := range map[string]bool{"with script": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := webtest.New(t)
			for i := range suggest.MinCalls {
				w.Decides(w.Ask(func(in *models.AskInput) {
					in.ToolName, in.Input = "Read", fmt.Appendf(nil, `{"file_path":"/srv/app/f%d"}`, i)
				}), true, "")
			}
			p := adminTab(w, 390, scripts)
			p.open("/policy/suggestions")
			p.sees(".suggestion h2", "file_path is in /srv/app")
			p.do("to the note", chromedp.Focus(".suggestion .confirm summary"))
			p.press(kb.Enter, kb.Tab, "We want to see reads.", kb.Enter)
			p.sees("main", "Dismissed. It stays so")
			p.sees("main table", "We want to see reads.")
			p.do("to the button", chromedp.Focus("main table button"))
			p.press(kb.Enter)
			p.sees("main", "It is suggested again.")
			p.do("to the button", chromedp.Focus(".suggestion button[value=draft]"))
			p.press(kb.Enter)
			p.sees("main", "The suggested rule is in your draft.")
			if got := p.value(`document.querySelector("#name").value`); got != "Read by deployer, /srv/app" {
				t.Errorf("the form is of %q", got)
			}
		})
	}
}
