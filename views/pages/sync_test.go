package pages_test

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// listening are the attributes of an element that asks the server anew when a field elsewhere changes.
var listening = regexp.MustCompile(`(?s)<\w+[^<]*?hx-trigger="[^"]* from:#[^<]*?>`)

// htmx keeps one change that comes while an answer is under way and drops the later ones. An answer that took the
// element's place would drop a change whose delay still runs.
func TestWhatListensToFieldsAsksForTheLastChange(t *testing.T) {
	t.Parallel()
	found := 0
	err := fs.WalkDir(os.DirFS(".."), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".templ") {
			return err
		}
		text, err := fs.ReadFile(os.DirFS(".."), path)
		for _, element := range listening.FindAllString(string(text), -1) {
			found++
			if !strings.Contains(element, `hx-sync="this:replace"`) {
				t.Errorf("%s: without hx-sync: %s", path, element)
			}
			if !strings.Contains(element, `hx-swap="outerMorph"`) {
				t.Errorf("%s: its answer takes its place: %s", path, element)
			}
		}
		return err
	})
	if err != nil || found < 4 {
		t.Errorf("%d elements, %v", found, err)
	}
}
