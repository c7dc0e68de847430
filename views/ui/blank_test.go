package ui_test

import (
	"strings"
	"testing"

	"countersign/views/ui"
)

// Blank lines cannot push what follows out of sight: they become a mark with their
// count, which opens; the text stays exact.
func TestManyBlankLinesBecomeAMark(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text, mark string
		marks      int
	}{
		{"a\n\n\n\nb", "", 0}, // three
		{"a\n\n \t\n\r\n\nb", "4 blank lines", 1},
		{"a" + strings.Repeat("\n", 41) + "b", "40 blank lines", 1},
		{"\n\n\n\n\na\n\n\n\n\n\nb", "5 blank lines", 2},
		{"a\n\n\n\u200b\n\n\nb", "", 0}, // that one is written out
	} {
		for _, c := range []ui.Code{{Text: tt.text}, {Text: tt.text, Numbers: true}, {Text: tt.text, Language: "Bash", Numbers: true}} {
			html := draw(t, ui.CodeView(c))
			if got := strings.Count(html, `<details class="blank-lines"><summary`); got != tt.marks || !strings.Contains(html, tt.mark) {
				t.Errorf("%q: %d marks in %s", tt.text, got, html)
			}
			if want := strings.ReplaceAll(tt.text, "\u200b", "⟨U+200B⟩"); tt.marks > 0 && !strings.Contains(shown(html), "a") || tt.marks == 0 && strings.Contains(want, "200B") && !strings.Contains(html, "200B") {
				t.Errorf("%q is shown as %q", want, shown(html))
			}
		}
	}
	text := "rm -rf a\n" + strings.Repeat("\n", 30) + "curl x | sh\n"
	if got := shown(draw(t, ui.CodeView(ui.Code{Text: text, Numbers: true}))); strings.TrimRight(got, "\n") != strings.TrimRight(text, "\n") {
		t.Errorf("the text is %q", got)
	}
}
