package ui_test

import (
	"strings"
	"testing"

	"github.com/a-h/templ"

	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

func draw(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestUntrustedI13(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		c    templ.Component
		want string
	}{
		{"plain", ui.Untrusted("a & b"), `<bdi class="untrusted">a &amp; b</bdi>`},
		{"markup", ui.Untrusted("<b>"), `<bdi class="untrusted">&lt;b&gt;</bdi>`},
		{"bidi", ui.Untrusted("a\u202Eb"), `<bdi class="untrusted">a<span class="unseen">⟨U+202E⟩</span>b</bdi>`},
		{"a line break in a line", ui.Untrusted("a\nb"), `<bdi class="untrusted">a<span class="unseen">⟨U+000A⟩</span>b</bdi>`},
		{"a line break in text", ui.UntrustedText("a\nb"), "<bdi class=\"untrusted lines\">a\nb</bdi>"},
		{"not cut", ui.UntrustedCut("äöü", 3), `<bdi class="untrusted">äöü</bdi>`},
		{"cut says the true length", ui.UntrustedCut("äöüß", 3), `<bdi class="untrusted">äöü</bdi><span class="cut">… 4 characters</span>`},
		{"quoted", ui.Quoted("x", 9), `<q><bdi class="untrusted">x</bdi></q>`},
		{"look-alikes of one script", ui.UntrustedCut("Nordl\u0131cht Bank", 20), "<bdi class=\"untrusted\">Nordl\u0131cht Bank</bdi> <span class=\"mixed\">has letters that look like others</span>"},
		{"scripts that are mixed", ui.UntrustedCut("rele\u0430se", 9), "<bdi class=\"untrusted\">rele\u0430se</bdi> <span class=\"mixed\">mixes Cyrillic and Latin</span>"},
		{"broken", ui.Untrusted("\xff"), `<bdi class="untrusted"><span class="unseen">⟨0xFF⟩</span></bdi>`},
	} {
		if got := draw(t, tt.c); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestEscapeSaysWhatItFound(t *testing.T) {
	t.Parallel()
	segments, found := models.Reveal("a\U000E0041", false)
	if len(segments) != 2 || found != (models.Findings{Tags: 1}) {
		t.Errorf("%v %+v", segments, found)
	}
}

func TestCodeViewHoldsAllOfTheText(t *testing.T) {
	t.Parallel()
	lines := strings.Repeat("line\n", 400)
	for _, tt := range []struct {
		name, text string
		folded     bool
		says       string
	}{
		{"short", "one\ntwo", false, "2 lines, 7 bytes"},
		{"empty", "", false, "0 bytes"},
		{"many lines", lines, true, "401 lines, 2,000 bytes"},
		{"one long line", strings.Repeat("ä", 9000), true, "17.6 KiB"},
		{"exactly a screen", strings.TrimSuffix(strings.Repeat("x\n", 60), "\n"), false, "60 lines"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			html := draw(t, ui.CodeView(ui.Code{ID: "c", Label: "Code", Text: tt.text, Numbers: true}))
			if got := strings.Contains(html, "<details"); got != tt.folded {
				t.Errorf("folded: %v", got)
			}
			if !strings.Contains(html, tt.says) {
				t.Errorf("the true length %q is not said", tt.says)
			}
			if got := text(html); got != tt.text {
				t.Errorf("%d bytes are shown, want %d", len(got), len(tt.text))
			}
			if tt.text == "" && !strings.Contains(html, "empty") {
				t.Error("an empty text is not said to be empty")
			}
		})
	}
}

// text is what the code elements of html hold, without line wrappers.
func text(html string) string {
	var b strings.Builder
	for {
		_, after, ok := strings.Cut(html, "<code>")
		if !ok {
			return strings.NewReplacer(`<span class="line">`, "", "</span>", "").Replace(b.String())
		}
		inner, rest, _ := strings.Cut(after, "</code>")
		b.WriteString(inner)
		html = rest
	}
}

func TestFieldTellsItsErrorAtItsPlace(t *testing.T) {
	t.Parallel()
	html := draw(t, ui.Input(ui.Field{Name: "email", Label: "E-mail", Type: "email", Value: `"><x`, Error: "is taken", Help: "Yours.", Required: true}))
	for _, want := range []string{`for="email"`, `id="email"`, `aria-invalid="true"`, `aria-describedby="email-error email-help"`, `id="email-error"`, `id="email-help"`, "required", `value="&#34;&gt;&lt;x"`} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is missing in %s", want, html)
		}
	}
	if html := draw(t, ui.Input(ui.Field{Name: "p", Type: "password", Value: "secret"})); strings.Contains(html, "secret") {
		t.Error("a password is sent back")
	}
	if html := draw(t, ui.Input(ui.Field{Name: "n", Type: "textarea", Value: "\nfirst"})); !strings.Contains(html, ">\n\nfirst</textarea>") {
		t.Errorf("a leading line break is lost: %s", html)
	}
}

// I10: no two causes share their sentence, and all have one.
func TestCausesAreToldApartI10(t *testing.T) {
	t.Parallel()
	seen := map[string]models.Cause{}
	for _, c := range models.Causes() {
		for _, text := range []string{c.Text(), c.Short()} {
			if other, ok := seen[text]; ok || text == "" {
				t.Errorf("%s and %s are both %q", c, other, text)
			}
			seen[text] = c
		}
	}
}

func TestEveryRiskHasItsWord(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range models.Risks() {
		w := ui.RiskWord(r)
		if w.Text == "" || seen[w.Text] {
			t.Errorf("%s is %q", r, w.Text)
		}
		if r.NeedsDigest() && (w.Icon == "" || w.Tone == views.ToneNeutral) {
			t.Errorf("%s can do much harm and is drawn as %+v", r, w)
		}
		seen[w.Text] = true
	}
}

func TestStatusWords(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range models.Statuses() {
		w := ui.StatusWord(s, models.CauseReviewer)
		if w.Text == "" || seen[w.Text] {
			t.Errorf("%s is %q", s, w.Text)
		}
		seen[w.Text] = true
	}
	if w := ui.StatusWord(models.StatusRan, models.CauseFallback); w.Tone != views.ToneBad {
		t.Errorf("I11: what went ahead by fallback is %+v", w)
	}
	if w := ui.StatusWord(models.StatusNone, models.CausePolicy); w.Text != "allowed" {
		t.Errorf("allowed by policy is %q", w.Text)
	}
}
