package browser_test

import (
	"encoding/json"
	"testing"
	"unicode"

	"countersign/models"
)

// pictures are scripts of thousands of characters, each a picture; with them, and
// the syllables of Hangul, the test takes minutes. They were drawn once: none is
// blank.
var pictures = []*unicode.RangeTable{
	unicode.Han, unicode.Tangut, unicode.Cuneiform, unicode.Egyptian_Hieroglyphs, unicode.Anatolian_Hieroglyphs, unicode.Bamum, unicode.Nushu, unicode.SignWriting,
}

// Each character that Reveal shows as it is leaves ink in Chromium. What no font
// on a machine has is drawn as a box, which is ink too.
func TestWhatIsShownLeavesInkI13(t *testing.T) {
	t.Parallel()
	var ranges [][2]rune
	for r := rune('!'); r <= unicode.MaxRune; r++ {
		if !unicode.IsGraphic(r) || unicode.In(r, pictures...) || r >= 0xAC00 && r <= 0xD7A3 || models.RevealString("o"+string(r), false) != "o"+string(r) {
			continue
		}
		if n := len(ranges); n > 0 && ranges[n-1][1] == r-1 {
			ranges[n-1][1] = r
		} else {
			ranges = append(ranges, [2]rune{r, r})
		}
	}
	list, err := json.Marshal(ranges)
	if err != nil {
		t.Fatal(err)
	}
	s, ctx := newSite(t), tab(t)
	visit(t, ctx, s.URL+"/inbox")
	if got := eval(t, ctx, script(t, "blank.js")+`([[0x34F, 0x34F], [0x2800, 0x2800]])`); got != "U+034F U+2800" {
		t.Fatalf("what is blank is found to be %q", got)
	}
	if blank := eval(t, ctx, script(t, "blank.js")+`(`+string(list)+`)`); blank != "" {
		t.Errorf("these are shown and leave no ink: %s", blank)
	}
}
