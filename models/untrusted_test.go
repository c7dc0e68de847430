package models_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"countersign/models"
)

func TestRevealI13(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in string
		lines    bool
		want     string
		found    models.Findings
	}{
		{name: "empty"},
		{name: "plain", in: "rm -rf build/", want: "rm -rf build/"},
		{name: "other scripts stay", in: "naïve 日本 🙂 עברית", want: "naïve 日本 🙂 עברית"},
		{name: "bidi override", in: "a\u202Eb\u202C", want: "a⟨U+202E⟩b⟨U+202C⟩", found: models.Findings{Direction: 2}},
		{name: "isolates and marks", in: "\u2066\u200F\u061C", want: "⟨U+2066⟩⟨U+200F⟩⟨U+061C⟩", found: models.Findings{Direction: 3}},
		{name: "zero width", in: "pay\u200Bpal\uFEFF\u2060", want: "pay⟨U+200B⟩pal⟨U+FEFF⟩⟨U+2060⟩", found: models.Findings{ZeroWidth: 3}},
		{name: "variation selectors", in: "x\uFE0F\U000E0100", want: "x⟨U+FE0F⟩⟨U+E0100⟩", found: models.Findings{ZeroWidth: 1, Tags: 1}},
		{name: "tags", in: "ok\U000E0041\U000E007F", want: "ok⟨U+E0041⟩⟨U+E007F⟩", found: models.Findings{Tags: 2}},
		{name: "controls", in: "a\x1b[2Jb\r\x00\u0085", want: "a⟨U+001B⟩[2Jb⟨U+000D⟩⟨U+0000⟩⟨U+0085⟩", found: models.Findings{Control: 4}},
		{name: "line feed in a line", in: "a\nb\t", want: "a⟨U+000A⟩b⟨U+0009⟩", found: models.Findings{Control: 2}},
		{name: "line feed in code", in: "a\nb\t", lines: true, want: "a\nb\t"},
		{name: "separators and spaces", in: "a\u2028\u00A0\u3000\u2800\u3164", want: "a⟨U+2028⟩⟨U+00A0⟩⟨U+3000⟩⟨U+2800⟩⟨U+3164⟩", found: models.Findings{Spaces: 5}},
		{name: "private and unassigned", in: "\uE000\U0003FFFE", want: "⟨U+E000⟩⟨U+3FFFE⟩", found: models.Findings{Other: 2}},
		{name: "broken UTF-8", in: "a\xffb", want: "a⟨0xFF⟩b", found: models.Findings{Other: 1}},
		{name: "blank glyphs", in: "\uFFFC\U0001D159\U00016FE4\u115F", want: "⟨U+FFFC⟩⟨U+1D159⟩⟨U+16FE4⟩⟨U+115F⟩", found: models.Findings{Spaces: 4}},
		{name: "blank letters of no width", in: "\u17B4\u180E\u206A\U0001D173\U00013430", want: "⟨U+17B4⟩⟨U+180E⟩⟨U+206A⟩⟨U+1D173⟩⟨U+13430⟩", found: models.Findings{Spaces: 1, ZeroWidth: 4}},
		{name: "marks that languages use", in: "e\u0301 ᾅ שָּׁ กิ์ a\u0301\u0302\u0303\u0304", want: "e\u0301 ᾅ שָּׁ กิ์ a\u0301\u0302\u0303\u0304"},
		{name: "marks beyond four", in: "a\u0301\u0302\u0303\u0304\u0305\u0306b\u0301", want: "a\u0301\u0302\u0303\u0304⟨U+0305⟩⟨U+0306⟩b\u0301", found: models.Findings{Marks: 2}},
		{name: "marks on nothing", in: "\u0301a \u0302\n\u0303/\u0338", lines: true, want: "⟨U+0301⟩a ⟨U+0302⟩\n⟨U+0303⟩/⟨U+0338⟩", found: models.Findings{Marks: 4}},
		{name: "marks on an escape", in: "a\u200D\u0301", want: "a⟨U+200D⟩⟨U+0301⟩", found: models.Findings{ZeroWidth: 1, Marks: 1}},
		{name: "no imitation", in: "⟨U+202E⟩", want: "⟨U+27E8⟩U+202E⟩"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, found := models.Reveal(tt.in, tt.lines)
			if got := models.RevealString(tt.in, tt.lines); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if found != tt.found {
				t.Errorf("found %+v, want %+v", found, tt.found)
			}
		})
	}
}

func TestVisibleJSONFollowsTheSameList(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"{\n\t\"a\": \"x\"\r\n}":                  "{\n\t\"a\": \"x\"\r\n}",
		"\"\u202E\uFFFC\U000E0041\"":              `"\u202e\ufffc\udb40\udc41"`,
		"\"a\u007F⟨\"":                            `"a\u007f⟨"`,
		"\"a\u0301\u0301\u0301\u0301\u0301שלום\"": "\"a\u0301\u0301\u0301\u0301" + `\u0301` + "שלום\"",
	} {
		if got := models.VisibleJSON(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestRightToLeft(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"":                    "",
		"größer 日本 🙂 e\u0301": "größer 日本 🙂 e\u0301",
		"cp א/1":              "\u2066\u202Dcp א/1\u202C\u2069",
		"١ + ٢":               "\u2066\u202D١ + ٢\u202C\u2069",
		"\u202Eab":            "⟨U+202E⟩ab",
	} {
		if got := models.StoredOrder(s); got != want || models.HasRightToLeft(s) != (got != s && got[0] == 0xE2 && got[1] == 0x81) {
			t.Errorf("%q became %q, want %q", s, got, want)
		}
	}
}

func TestFindingsInWords(t *testing.T) {
	t.Parallel()
	f := models.Findings{Direction: 2, Tags: 1, Other: 3}
	if got, want := f.String(), "2 direction controls, 1 tag character, 3 unprintable characters"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if (models.Findings{}).Any() || !f.Any() || (models.Findings{}).String() != "" {
		t.Error("Any or the empty text is wrong")
	}
}

// FuzzReveal checks the promise that nothing is dropped and nothing unseen is
// left: reading the escapes back gives the text again.
func FuzzReveal(f *testing.F) {
	for _, s := range []string{"", "abc", "a\u202E\xff⟨", "\U000E0041\n", "🙂\u200D\uFE0F"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		segments, found := models.Reveal(s, true)
		var back strings.Builder
		escapes := 0
		for _, seg := range segments {
			if !seg.Escape {
				back.WriteString(seg.Text)
				if _, again := models.Reveal(seg.Text, true); again.Any() {
					t.Fatalf("hidden characters left in %q", seg.Text)
				}
				continue
			}
			escapes++
			back.WriteString(unescape(t, seg.Text))
		}
		if back.String() != s {
			t.Fatalf("read back %q, want %q", back.String(), s)
		}
		if escapes == 0 && found.Any() {
			t.Fatal("found something but escaped nothing")
		}
	})
}

func unescape(t *testing.T, s string) string {
	t.Helper()
	body := strings.TrimSuffix(strings.TrimPrefix(s, "⟨"), "⟩")
	var n rune
	raw := strings.HasPrefix(body, "0x")
	for _, c := range body[2:] {
		n <<= 4
		if c >= 'A' {
			n += c - 'A' + 10
		} else {
			n += c - '0'
		}
	}
	if raw {
		return string([]byte{byte(n)})
	}
	if !utf8.ValidRune(n) {
		t.Fatalf("escape %q names no character", s)
	}
	return string(n)
}

func BenchmarkReveal(b *testing.B) {
	for name, text := range map[string]string{
		"ascii":   strings.Repeat("rm -rf build/ && make\n", 12000),
		"latin":   strings.Repeat("größer naïve ", 17000),
		"cjk":     strings.Repeat("東京タワーです ", 12000),
		"hebrew":  strings.Repeat("עברית שלום ", 12000),
		"marks":   strings.Repeat("e\u0301a\u0300 ", 37000),
		"summary": "rm -rf build/ && make",
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				models.Reveal(text, true)
			}
		})
	}
}
