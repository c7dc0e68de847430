package pages_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
)

// fontSets are what pages are measured in: a reader's fonts are not ours to choose.
// Both are installed by .ci/chromium.
var fontSets = []struct{ family, pkg string }{{"DejaVu Sans", "fonts-dejavu-core"}, {"Noto Sans", "fonts-noto-core"}}

// widthOf is how wide a text is in a font, or "missing".
const widthOf = `(() => {
	const context = document.createElement("canvas").getContext("2d");
	const width = (family) => { context.font = "100px " + family; return context.measureText("Approve WWW iiii 0123456789").width; };
	const [family, mono, serif] = ['"%[1]s"', "monospace", "serif"];
	return width(family + ", " + mono) === width(family + ", " + serif) ? String(width(family)) : "missing";
})()`

// useFont has a page show all its text in a font.
const useFont = `document.documentElement.style.setProperty("--sans", '"%[1]s"'), document.documentElement.style.setProperty("--font-sans", '"%[1]s"'), getComputedStyle(document.body).fontFamily`

func TestTheFontSetsAreThereAndDiffer(t *testing.T) {
	t.Parallel()
	ctx := tab(t)
	widths := map[string]string{}
	for _, f := range fontSets {
		got := eval(t, ctx, fmt.Sprintf(widthOf, f.family))
		if got == "missing" {
			t.Fatalf("this test needs the font %s: apt-get install %s", f.family, f.pkg)
		}
		if other, ok := widths[got]; ok {
			t.Errorf("%s and %s are the same font", f.family, other)
		}
		widths[got] = f.family
	}
}

// sizes are what a screen is looked at in, each set once: the narrowest phone, 200 %
// zoom, a wide screen, and a phone that is touched. In some the text is looked at in
// a theme, with script or without; in some the page is measured in every font.
var sizes = []struct {
	name     string
	width    int64
	touched  bool
	shown    []shown
	measured bool
}{
	{name: "a narrow phone", width: 320, measured: true, shown: []shown{{"light", "no"}, {"dark", "js"}}},
	{name: "200 %", width: 720, shown: []shown{{"light", "js"}}},
	{name: "a wide screen", width: 1440, measured: true, shown: []shown{{"dark", "js"}}},
	{name: "a touched phone", width: 390, touched: true, measured: true},
}

// shown is a theme, and "js" or "no" for whether there is script.
type shown struct{ theme, class string }

// All text has AA contrast, nothing is to be scrolled sideways, the content security
// policy refuses nothing; and what is clicked is large enough, in whatever font.
func fitsInEverySize(t *testing.T, ctx context.Context) string {
	t.Helper()
	contrast, targets, wrong := script(t, "contrast.js"), script(t, "targets.js"), ""
	for _, size := range sizes {
		if size.touched {
			if err := chromedp.Do(ctx, chromedp.EmulateViewport(size.width, 844, chromedp.EmulateMobile, chromedp.EmulateTouch)); err != nil {
				t.Fatal(err)
			}
		} else {
			resize(t, ctx, size.width)
		}
		for _, as := range size.shown {
			if found := eval(t, ctx, `document.documentElement.className = "`+as.class+`"; document.documentElement.dataset.theme = "`+as.theme+`"; `+contrast); found != "" {
				wrong += fmt.Sprintf("\n%s, %s, %s: %s", size.name, as.theme, as.class, found)
			}
		}
		if !size.measured {
			continue
		}
		eval(t, ctx, asLoaded)
		for _, f := range fontSets {
			if got := eval(t, ctx, fmt.Sprintf(useFont, f.family)); got != `"`+f.family+`"` {
				t.Fatalf("the page is in %s, not in %s", got, f.family)
			}
			if found := eval(t, ctx, targets); found != "" {
				wrong += fmt.Sprintf("\n%s in %s:%s", size.name, f.family, found)
			}
		}
	}
	return wrong
}
