package web_test

import (
	"context"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// Where the system chooses the colours, a risk is told by an edge and not by a colour that is
// taken away; and what has little time left says so in one word everywhere.
func TestInABrowserForcedColoursShowEachRisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(`{"rules":[{"name":"Harmless","tools":["Bash"],"effect":"require","risk":"low","timeout_minutes":5}]}`)
	a := w.ask()
	p := w.tab()
	p.do("have the system choose the colours", chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "forced-colors", Value: "active"}}})
		return err
	}))
	p.signIn()
	pill := `getComputedStyle(document.querySelector(".row-marks .pill"))`
	if got := p.value(pill + `.borderTopColor + " " + ` + pill + `.paddingLeft`); got != p.value(`getComputedStyle(document.body).color + " " + 0.5 * parseFloat(getComputedStyle(document.documentElement).fontSize) + "px"`) {
		t.Errorf("the edge of the pill: %s", got)
	}
	p.open(pageOf(a))
	p.becomes(`document.readyState === "complete"`)
	words := func(level, at string) string {
		return p.value(`(() => { const e = document.querySelector("` + at + `"); e.dataset.level = "` + level + `"; return getComputedStyle(e, "::after").content; })()`)
	}
	for _, level := range []string{"amber", "red"} {
		if got := words(level, ".deadline time"); got != `" · expires soon"` {
			t.Errorf("%s on the page says %s", level, got)
		}
	}
	p.open("/")
	p.becomes(`document.readyState === "complete"`)
	for _, level := range []string{"amber", "red"} {
		if got := words(level, ".row-left time"); got != `" · expires soon"` {
			t.Errorf("%s in the inbox says %s", level, got)
		}
	}
}
