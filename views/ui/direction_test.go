package ui_test

import (
	"strings"
	"testing"

	"countersign/models"
	"countersign/views/ui"
)

// A letter keeps its marks wherever a colour or a changed word ends.
func TestMarksStayWithTheirLetter(t *testing.T) {
	t.Parallel()
	for name, html := range map[string]string{
		"colour":   draw(t, ui.CodeView(ui.Code{Text: "cafe\u0301 -x e\u0301e\u0301=1 # e\u0301", Language: "Bash"})),
		"changes":  draw(t, ui.BlockView(ui.DiffOf("x", "pay cafe\u0301 now\n", "pay cafe\u0300 now\n"))),
		"Markdown": draw(t, ui.Markdown("**cafe\u0301** _e\u0301_")),
	} {
		if strings.Contains(html, "unseen") {
			t.Errorf("%s: %s", name, html)
		}
	}
	if html := draw(t, ui.Markdown(strings.Repeat("a*\u0301\u0301\u0301\u0301*", 3))); strings.Count(html, "⟨U+0301⟩") == 0 {
		t.Errorf("marks pile up where stars are taken away: %s", html)
	}
}

func TestRightToLeftTextIsSaidToBe(t *testing.T) {
	t.Parallel()
	const words = "העתק 1\n\nthen 2"
	for name, html := range map[string]string{
		"a line":  draw(t, ui.Untrusted(words)),
		"prose":   draw(t, ui.Prose(words, ui.PreviewDecided)),
		"code":    draw(t, ui.CodeView(ui.Code{Text: words})),
		"changes": draw(t, ui.BlockView(ui.DiffOf("x", words, "gone"))),
	} {
		if !strings.Contains(html, models.RightToLeftNote) {
			t.Errorf("%s says nothing: %s", name, html)
		}
	}
	html := draw(t, ui.Prose(words, ui.PreviewDecided))
	if strings.Count(html, `dir="auto"`) != 3 || !strings.Contains(html, ui.PreviewDecided) {
		t.Errorf("the preview is %s", html)
	}
	if html := draw(t, ui.Prose("plain", ui.PreviewDecided)); strings.Contains(html, "preview") {
		t.Errorf("a preview of what needs none: %s", html)
	}
}
