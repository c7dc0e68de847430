package browser_test

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Who asked for no motion gets none, and who goes by the keyboard sees where they are;
// and paper shows what was asked, folded parts and all, without what only a screen can do.
func respectsTheReader(t *testing.T, ctx context.Context) string {
	t.Helper()
	eval(t, ctx, `frame.take()`)
	emulate(t, ctx, "", "reduce")
	wrong := eval(t, ctx, script(t, "motion.js"))
	wrong += eval(t, ctx, script(t, "focus.js"))
	eval(t, ctx, asLoaded)
	emulate(t, ctx, "print", "reduce")
	wrong += eval(t, ctx, `document.documentElement.dataset.theme = "dark"; `+script(t, "print.js"))
	emulate(t, ctx, "", "")
	return wrong
}

// The tabulator goes through a page in the order of its text, and comes to all
// that can be used.
func TestTabComesToEverything(t *testing.T) {
	t.Parallel()
	s, ctx := newSite(t), tab(t)
	for _, name := range []string{"inbox", "approval", "conversation-waiting", "policy", "people"} {
		visit(t, ctx, s.URL+"/"+name)
		eval(t, ctx, `window.visited = []; document.addEventListener("focusin", (event) => visited.push(event.target)); ""`)
		want := eval(t, ctx, `window.reached = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary")]
			.filter((e) => !e.disabled && e.checkVisibility({ visibilityProperty: true }) && e.tabIndex >= 0 && (e.type !== "radio" || e === (document.querySelector("[name=" + e.name + "]:checked") ?? document.querySelector("[name=" + e.name + "]")))); String(reached.length)`)
		for eval(t, ctx, `String(visited.length <= reached.length + 40 && !(visited.length > 1 && visited.at(-1) === visited[0]))`) == "true" {
			before := eval(t, ctx, `String(visited.length)`)
			if err := chromedp.Do(ctx, chromedp.KeyEvent("\t")); err != nil {
				t.Fatal(err)
			}
			if eval(t, ctx, `String(visited.length)`) == before && before != "0" {
				break // past the end of the page
			}
		}
		if missed := eval(t, ctx, `reached.filter((e) => !visited.includes(e)).map((e) => e.outerHTML.slice(0, 120)).join("\n")`); missed != "" {
			t.Errorf("%s: of %s the tabulator never comes to:\n%s", name, want, missed)
		}
		if order := eval(t, ctx, `visited.slice(1).filter((e, i) => e !== visited[0] && visited[i].compareDocumentPosition(e) & Node.DOCUMENT_POSITION_PRECEDING).map((e) => e.outerHTML.slice(0, 120)).join("\n")`); strings.TrimSpace(order) != "" {
			t.Errorf("%s: the tabulator goes back to:\n%s", name, order)
		}
	}
}

// emulate shows the page on a medium (empty: a screen) to a reader who asks for
// this motion (empty: any).
func emulate(t *testing.T, ctx context.Context, medium, motion string) {
	t.Helper()
	to := emulation.SetEmulatedMediaParams{Media: medium, Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: motion}}}
	err := chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, to)
		return err
	}))
	if err != nil {
		t.Fatal(err)
	}
}
