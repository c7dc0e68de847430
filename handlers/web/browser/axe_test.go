package browser_test

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
)

// hasBarriers has axe look at the page for what depends on where parts come together, which
// no single state of the gallery shows. Colours are looked at there.
const hasBarriers = `delete window.found; (async () => {
	for (const running of document.getAnimations()) running.finish();
	const { violations } = await axe.run(document, {
		runOnly: { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] },
		rules: { "target-size": { enabled: true }, "color-contrast": { enabled: false }, "link-in-text-block": { enabled: false } },
		resultTypes: ["violations"], preload: false,
	});
	window.found = violations.flatMap(({ id, nodes }) => nodes.map(({ html, target }) => id + ": " + target + ": " + html.slice(0, 160))).join("\n");
})(); ""`

// Every kind of page that an admin can reach by links, as it is, with a lot on it.
func TestInABrowserNoPageHasBarriers(t *testing.T) {
	t.Parallel()
	axe, err := os.ReadFile("../../../views/pages/browser/testdata/axe/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	w := webtest.Offering(t)
	var paths []string
	kinds := map[string]bool{}
	w.SignIn(webtest.AdminEmail).Walk(func(path string, _ *webtest.Page) {
		if k := webtest.PageKind(path); !kinds[k] {
			kinds[k] = true
			paths = append(paths, path)
		}
	})
	for _, width := range []int64{1440, 390} {
		p := openTab(w)
		p.do("size", chromedp.EmulateViewport(width, 900))
		p.signInAs(webtest.AdminEmail)
		for _, path := range paths {
			p.open(path)
			p.becomes(`document.readyState === "complete"`)
			for _, script := range []string{string(axe) + `; ""`, hasBarriers} {
				if _, err := p.evaluate(script); err != nil {
					t.Fatal(err)
				}
			}
			p.becomes(`window.found !== undefined`)
			if got := p.value(`window.found`); got != "" {
				t.Errorf("%s at %d:\n%s", path, width, got)
			}
		}
	}
}
