package pages_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"countersign/static"
	"countersign/views/gallery"
	"countersign/views/pages/pagestest"
)

// No page in any state, and no script, has a class whose rules are not sent.
func TestNoPageHasAClassThatIsLeftOut(t *testing.T) {
	t.Parallel()
	for _, state := range gallery.States() {
		doc, err := goquery.NewDocumentFromReader(strings.NewReader(pagestest.Screen(state.Key())))
		if err != nil {
			t.Fatal(err)
		}
		doc.Find("[class]").Each(func(_ int, s *goquery.Selection) {
			for class := range strings.FieldsSeq(s.AttrOr("class", "")) {
				if slices.Contains(static.Unused, class) {
					t.Errorf("%s: %s has the class %s: take it out of static.Unused", state.Key(), goquery.NodeName(s), class)
				}
			}
		})
	}
	scripts, err := os.ReadDir("../../static/js")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range scripts {
		raw, err := os.ReadFile("../../static/js/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			_, set, found := strings.Cut(line, "class")
			for _, class := range static.Unused {
				if found && (strings.Contains(set, `"`+class+`"`) || strings.Contains(set, " "+class+`"`)) {
					t.Errorf("%s sets the class %s: %s", e.Name(), class, line)
				}
			}
		}
	}
}
