package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
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

// sizes are what a screen is looked at in, each set once: the narrowest phone, a wide
// screen, 200 % zoom, and a phone that is touched. In some the text is looked at in
// themes, in some the page is measured in every font.
var sizes = []struct {
	name     string
	width    int64
	touched  bool
	themes   []theme
	measured bool
}{
	{name: "a narrow phone", width: 320, measured: true, themes: []theme{{"light", "no"}, {"dark", "js"}}},
	{name: "a wide screen", width: 1440, measured: true, themes: []theme{{"dark", "js"}}},
	{name: "200 %", width: 720, themes: []theme{{"light", "js"}}},
	{name: "a touched phone", width: 390, touched: true, measured: true},
}

// theme is light or dark, and "js" or "no" for whether there is script.
type theme [2]string

// All text has AA contrast, nothing is to be scrolled sideways, the content security
// policy refuses nothing; and what is clicked is large enough, in whatever font.
func fitsInEverySize(t *testing.T, ctx context.Context) string {
	t.Helper()
	for _, name := range []string{"contrast.js", "targets.js", "sizes.js"} {
		eval(t, ctx, script(t, name))
	}
	fits := func(themes []theme, measured bool, next int) string {
		fonts := []string{}
		if measured {
			for _, f := range fontSets {
				fonts = append(fonts, f.family)
			}
		}
		asked := []any{append([]theme{}, themes...), fonts}
		if next < len(sizes) && len(sizes[next].themes) > 0 {
			asked = append(asked, sizes[next].themes[0])
		}
		list, err := json.Marshal(asked)
		if err != nil {
			t.Fatal(err)
		}
		return eval(t, ctx, `fits(...`+string(list)+`)`)
	}
	wrong := fits(nil, false, 0)
	for i, size := range sizes {
		if size.touched {
			if err := chromedp.Do(ctx, chromedp.EmulateViewport(size.width, 844, chromedp.EmulateMobile, chromedp.EmulateTouch)); err != nil {
				t.Fatal(err)
			}
		} else {
			resize(t, ctx, size.width)
		}
		if found := fits(size.themes, size.measured, i+1); found != "" {
			wrong += "\n" + size.name + ": " + strings.ReplaceAll(found, "\n", "\n"+size.name+": ")
		}
	}
	return wrong + eval(t, ctx, `refused()`)
}
