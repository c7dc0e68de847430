package ui_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"countersign/views/highlight"
	"countersign/views/ui"
)

var (
	anyTag   = regexp.MustCompile(`<[^>]*>`)
	unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&#34;", `"`, "&#39;", "'", "&amp;", "&")
)

// shown is the text of the code elements of html, as a reader sees it.
func shown(html string) string {
	var b strings.Builder
	for _, part := range strings.Split(html, "<code>")[1:] {
		inner, _, _ := strings.Cut(part, "</code>")
		b.WriteString(inner)
	}
	return unescape.Replace(anyTag.ReplaceAllString(b.String(), ""))
}

func coloured(tb testing.TB, language, text string) string {
	tb.Helper()
	var b strings.Builder
	if err := ui.CodeView(ui.Code{Label: "Code", Text: text, Language: language, Opened: true}).Render(tb.Context(), &b); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func TestHighlightTellsWordsApart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ language, text, want string }{
		{"Bash", "rm -rf $HOME # x", `<span class="nf">rm</span> <span class="na">-rf</span> <span class="nv">$HOME</span> <span class="c"># x</span>`},
		{"Bash", `echo "a $b c" 'd'`, `<span class="nb">echo</span> <span class="s">&#34;a </span><span class="nv">$b</span><span class="s"> c&#34;</span> <span class="s">&#39;d&#39;</span>`},
		{"Bash", "a && if true; then b; fi", `<span class="nf">a</span> &amp;&amp; <span class="k">if</span> <span class="nf">true</span>; <span class="k">then</span> <span class="nf">b</span>; <span class="k">fi</span>`},
		{"Go", "func Round(x int) { return `a\nb` }", `<span class="k">func</span> <span class="nf">Round</span>(x <span class="nb">int</span>) { <span class="k">return</span> <span class="s">` + "`a\nb`</span> }"},
		{"SQL", "SELECT 'it''s', 12 FROM t -- x", `<span class="k">SELECT</span> <span class="s">&#39;it&#39;&#39;s&#39;</span>, <span class="m">12</span> <span class="k">FROM</span> t <span class="c">-- x</span>`},
		{"JSON", `{"a": true}`, `{<span class="nt">&#34;a&#34;</span>: <span class="k">true</span>}`},
		{"YAML", "a-b: 'c'\n# d", `<span class="nt">a-b</span>: <span class="s">&#39;c&#39;</span>` + "\n" + `<span class="c"># d</span>`},
		{"CSS", "a { color: red }", `class="`},
		{"HTML", "<p class=x>", `<span class="nt">p</span>`},
		{"none of these", "if x", "<code>if x</code>"},
	} {
		if got := coloured(t, tt.language, tt.text); !strings.Contains(got, tt.want) {
			t.Errorf("%s %q: %s", tt.language, tt.text, got)
		}
	}
}

// I13: what a lexer finds goes through the one renderer.
func TestHighlightEscapesI13(t *testing.T) {
	t.Parallel()
	for _, language := range everyLanguage(t) {
		html := coloured(t, language, "a \u202E\"b\u200B</code><script>alert(1)</script>\" # \U000E0041 'x\u2066' \xff\r\n⟨U+0041⟩")
		if !utf8.ValidString(html) || strings.ContainsAny(html, "\u202E\u200B\u2066\U000E0041\r") || strings.Contains(html, "<script") {
			t.Errorf("%s: hostile text came through: %q", language, html)
		}
		if want := "a ⟨U+202E⟩\"b⟨U+200B⟩</code><script>alert(1)</script>\" # ⟨U+E0041⟩ 'x⟨U+2066⟩' ⟨0xFF⟩⟨U+000D⟩\n⟨U+27E8⟩U+0041⟩"; shown(html) != want {
			t.Errorf("%s shows %q", language, shown(html))
		}
	}
}

// everyLanguage is one name of each, by the endings of files.
func everyLanguage(t *testing.T) []string {
	t.Helper()
	var out []string
	for ending := range strings.FieldsSeq("sh ps1 go py js ts json yaml toml sql c cpp cs java kt swift rs rb php lua tf dockerfile makefile html xml css diff") {
		name := highlight.LanguageOf("x." + ending)
		if name == "" {
			t.Fatalf("%s is in no language", ending)
		}
		out = append(out, name)
	}
	return out
}

// stuck is after how long drawing something is given up.
const stuck = time.Minute

// A lexer takes no longer for hostile texts, and none is lost.
func TestHighlightOfHostileTextEnds(t *testing.T) {
	t.Parallel()
	const most = highlight.MaxBytes / 4
	texts := map[string]string{}
	for _, piece := range []string{"(", "{[", "<", `"`, `'`, "`", `\`, "/*", "#", "$", "${", "a", "a ", "-", "1", "<!--", "<a b='", "\"\n", "ä", "<<<", "@", "url(", "\n", "--[[", "{a:'", "$a"} {
		texts["many "+piece] = strings.Repeat(piece, most/len(piece))
	}
	texts["a variable that is never closed"] = strings.Repeat("${a", most/3)
	texts["nested"] = strings.Repeat("<p>", most/6) + strings.Repeat("</p>", most/8)
	for _, language := range everyLanguage(t) {
		for name, text := range texts {
			began := time.Now()
			html := coloured(t, language, text)
			if took := time.Since(began); took > stuck {
				t.Errorf("%s, %s: took %v", language, name, took)
			}
			if got := shown(html); got != text {
				t.Errorf("%s, %s: %d bytes are shown, want %d", language, name, len(got), len(text))
			}
		}
	}
}

func TestHighlightStopsAtItsLimit(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("if ", highlight.MaxBytes/3+1)
	if html := coloured(t, "Go", text); strings.Contains(html, `class="k"`) || shown(html) != text {
		t.Error("a text above the limit is coloured, or not shown")
	}
	if html := coloured(t, "Go", text[:highlight.MaxBytes]); !strings.Contains(html, `class="k"`) {
		t.Error("a text at the limit is not coloured")
	}
}

func BenchmarkHighlight64KiB(b *testing.B) {
	source, err := os.ReadFile("lexer.go")
	if err != nil {
		b.Fatal(err)
	}
	for _, tt := range []struct{ language, piece string }{
		{"Bash", "if [ -f \"$x\" ]; then rm -rf build/ && git push --force origin main; fi # really\n"},
		{"Go", string(source)},
		{"Python", "def f(a, b=2):\n    \"\"\"doc\"\"\"\n    return [x ** 2 for x in range(10) if x % 2 == 0]  # c\n"},
		{"SQL", "SELECT a.b, count(*) FROM t AS a WHERE a.x = 'it''s' AND b > 12; -- c\n"},
		{"JSON", "{\"a\": [1, 2, true, null, \"text\"]},\n"},
	} {
		text := strings.Repeat(tt.piece, highlight.MaxBytes/len(tt.piece))
		b.Run(tt.language, func(b *testing.B) {
			size := 0
			for b.Loop() {
				size = len(coloured(b, tt.language, text))
			}
			b.ReportMetric(float64(size)/1024, "KiB/page")
		})
	}
}

func BenchmarkSource256KiB(b *testing.B) {
	text := strings.Repeat("0123456789abcdef \u202E \"quoted\"\n", 256<<10/30)
	size := 0
	for b.Loop() {
		size = len(coloured(b, "", text))
	}
	b.ReportMetric(float64(size)/1024, "KiB/page")
}
