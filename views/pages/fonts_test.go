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

// The size of what is clicked, and whether a page fits, hang on no font.
func fitsInEveryFont(t *testing.T, ctx context.Context) string {
	t.Helper()
	check, wrong := script(t, "targets.js"), ""
	for _, f := range fontSets {
		if got := eval(t, ctx, fmt.Sprintf(widthOf, f.family)); got == "missing" {
			t.Fatalf("this test needs the font %s: apt-get install %s", f.family, f.pkg)
		}
		if got := eval(t, ctx, fmt.Sprintf(useFont, f.family)); got != `"`+f.family+`"` {
			t.Fatalf("the page is in %s, not in %s", got, f.family)
		}
		for _, width := range []int64{1440, 320} {
			resize(t, ctx, width)
			if found := eval(t, ctx, check); found != "" {
				wrong += fmt.Sprintf("\n%s at %d px:%s", f.family, width, found)
			}
		}
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch)); err != nil {
			t.Fatal(err)
		}
		if found := eval(t, ctx, check); found != "" {
			wrong += fmt.Sprintf("\n%s, touched:%s", f.family, found)
		}
	}
	return wrong
}
