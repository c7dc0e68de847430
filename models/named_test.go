package models_test

import (
	"testing"

	"countersign/models"
)

// TestNamesWithoutStylingI13: titles, terminals and logs say what a page marks.
func TestNamesWithoutStylingI13(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"deployer":                 "deployer",
		"Zürich büro":              "Zürich büro",
		"d\u0435ployer":            "d\u0435ployer (mixes Cyrillic and Latin)",
		"Nordl\u0131cht Bank":      "Nordl\u0131cht Bank (has letters that look like others)",
		"bot\u202e":                "bot⟨U+202E⟩",
		"two\nlines":               "two⟨U+000A⟩lines",
		"d\u0435p\u200bl\u0435yer": "d\u0435p⟨U+200B⟩l\u0435yer (mixes Cyrillic and Latin)",
	} {
		if got := models.RevealName(name); got != want {
			t.Errorf("%q is shown as %q, want %q", name, got, want)
		}
	}
	for text, want := range map[string]string{
		"plain\ntext\t":  "",
		"a\u200bb\u202e": "Hidden characters, written out in place: 1 direction control, 1 zero-width character.",
	} {
		if got := models.HiddenIn(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
