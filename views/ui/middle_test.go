package ui_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"countersign/models"
	"countersign/views/ui"
)

var tags = regexp.MustCompile(`<[^>]*>`)

// What may be cut keeps its end, says all of it, and hides nothing that is not seen (I13).
func TestUntrustedMiddleLosesNothingI13(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, tail string }{
		{"short", "npm publish", ""},
		{"long", "npm publish --access public --workspace packages/api-client", "packages/api-client"},
		{"letters with marks at the place", strings.Repeat("x", 40) + strings.Repeat("e\u0301", 12), "e\u0301"},
		{"no letter to cut before", strings.Repeat("é", 60), ""},
		{"not seen", strings.Repeat("x", 60) + "\u200b" + strings.Repeat("y", 60), ""},
		{"right to left", strings.Repeat("x", 60) + "שלום", ""},
		{"mixed scripts", strings.Repeat("x", 60) + " p\u0430ypal", ""},
		{"a bracket of escapes", strings.Repeat("x", 60) + "⟨U+202E⟩", ""},
		{"markup", `<b title="` + strings.Repeat("x", 60) + `">`, `&#34;&gt;`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := draw(t, ui.UntrustedMiddle(tt.text))
			if cut := strings.Contains(got, "middle-tail"); cut != (tt.tail != "") {
				t.Fatalf("cut %v: %s", cut, got)
			}
			if tt.tail == "" {
				if whole := draw(t, ui.Untrusted(tt.text)); got != whole {
					t.Errorf("got %s, want %s", got, whole)
				}
				return
			}
			if !strings.Contains(got, tt.tail+`</span></bdi>`) || strings.Contains(got, "<b ") {
				t.Errorf("%s", got)
			}
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.RuneFrom([]rune("ab /é\u0301日<\"&\u200b"))).Draw(t, "text")
		html := &strings.Builder{}
		if err := ui.UntrustedMiddle(s).Render(t.Context(), html); err != nil {
			t.Fatal(err)
		}
		whole := &strings.Builder{}
		if err := ui.Untrusted(s).Render(t.Context(), whole); err != nil {
			t.Fatal(err)
		}
		if got, want := tags.ReplaceAllString(html.String(), ""), tags.ReplaceAllString(whole.String(), ""); got != want {
			t.Fatalf("%q reads %q, want %q", s, got, want)
		}
		if revealed := models.RevealString(s, false); revealed != s && strings.Contains(html.String(), "middle") {
			t.Fatalf("%q is cut", s)
		}
	})
}

// What leads a headline and what ends it are never in the part that may be cut, and all of it
// is there (I13).
func TestUntrustedPartedKeepsItsEndsI13(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("npm publish ", 10) + "packages/api-client"
	for _, tt := range []struct{ lead, rest, tail, kept string }{
		{"Email ann@x.example, bcc drop@evil.example:", long, "", "drop@evil.example"},
		{"Pay 5 EUR to", long, "(account DE89)", "(account DE89)"},
		{"Run:", "ls", "", "ls"},
	} {
		got := draw(t, ui.UntrustedParted(tt.lead, tt.rest, tt.tail))
		whole := strings.TrimSpace(tt.lead + " " + tt.rest + " " + tt.tail)
		if text := tags.ReplaceAllString(got, ""); text != whole {
			t.Errorf("it reads %q, want %q", text, whole)
		}
		if i := strings.Index(got, `middle-head">`); i >= 0 && strings.Contains(got[i:i+strings.Index(got[i:], "</span>")], tt.kept) {
			t.Errorf("%q may be cut: %s", tt.kept, got)
		}
	}
	if got := draw(t, ui.UntrustedParted("Pay 5 EUR to", long+"\u200b", "")); strings.Contains(got, "middle-head") {
		t.Errorf("what is not seen may be cut away: %s", got)
	}
}
