package ui

import (
	"slices"
	"testing"
)

// Each word is found once, whichever of a foreign letter and a coded label comes first.
func TestDisguisedWordsAreFoundInOrder(t *testing.T) {
	t.Parallel()
	const cyrillic = "\u0430"
	text := "plain.example xn--a.one and p" + cyrillic + "y.two, \u200b\u200b xn--b.three \u00e9t\u00e9.four p" + cyrillic + "l.five xn--c"
	want := []string{"xn--a.one", "p" + cyrillic + "y.two", "xn--b.three", "p" + cyrillic + "l.five"}
	if got := disguised(text, 10); !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if got := disguised(text, 2); !slices.Equal(got, want[:2]) {
		t.Errorf("found %q of at most two", got)
	}
}
