package ui_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"golang.org/x/net/html"

	"countersign/views/ui"
)

func laidOut(t *testing.T, text string) (string, *goquery.Document) {
	t.Helper()
	out := draw(t, ui.Markdown(text))
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	return out, doc
}

func TestMarkdownLaysOut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"words", "a **b** *c* ~~d~~ `e`", "<p>a <strong>b</strong> <em>c</em> <del>d</del> <code>e</code></p>\n"},
		{"headings stand below those of the page", "# a\n\n##### b", "<h3>a</h3><h6>b</h6>"},
		{"lines", "a\nb", "<p>a<br>\nb</p>\n"},
		{"lines of two characters", "- a\r\n- b\rc", "<ul>\n<li>a</li>\n<li>b<span class=\"unseen\">⟨U+000D⟩</span>c</li>\n</ul>\n"},
		{"lists", "- a\n  1. b\n", "<ul>\n<li>a\n<ol>\n<li>b</li>\n</ol>\n</li>\n</ul>\n"},
		{"a list that begins later", "7. a", "<ol start=\"7\">\n<li>a</li>\n</ol>\n"},
		{"code", "```sh\nrm -rf \"x\" <y>\n```", "<pre><code>rm -rf &#34;x&#34; &lt;y&gt;\n</code></pre>\n"},
		{"a table", "|a|b|\n|-|-:|\n|1|2|", "<table>\n<thead>\n<tr>\n<th>a</th>\n<th align=\"right\">b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td align=\"right\">2</td>\n</tr>\n</tbody>\n</table>\n"},
		{"a quotation", "> a", "<blockquote>\n<p>a</p>\n</blockquote>\n"},
		{"a link says its host", "[a](https://Example.com:8080/x?y#z)", `<p><a href="https://Example.com:8080/x?y#z" rel="nofollow noreferrer">a</a> <span class="link-host">(example.com:8080)</span></p>` + "\n"},
		{"a link by reference", "[a][b]\n\n[b]: http://example.com", `<p><a href="http://example.com" rel="nofollow noreferrer">a</a> <span class="link-host">(example.com)</span></p>` + "\n"},
		{"an address alone", "<https://example.com/x>", `<p><a href="https://example.com/x" rel="nofollow noreferrer">https://example.com/x</a></p>` + "\n"},
		{"a picture is described", "![a](https://example.com/p.png)", `<p><span class="quiet">picture: a (https://example.com/p.png)</span></p>` + "\n"},
		{"characters by name", "&lt;b&gt; &auml; &#65;", "<p>&lt;b&gt; ä A</p>\n"},
		{"hidden characters by name", "a&#x202e;b&#8203;c&zwj;d&nbsp;e&#x27e8;", "<p>a&amp;#x202e;b&amp;#8203;c&amp;zwj;d&amp;nbsp;e&amp;#x27e8;</p>\n"},
		{"hidden characters", "a\u202eb `c\u200bd`", `<p>a<span class="unseen">⟨U+202E⟩</span>b <code>c<span class="unseen">⟨U+200B⟩</span>d</code></p>` + "\n"},
		{"no imitation of those", "⟨U+202E⟩", `<p><span class="unseen">⟨U+27E8⟩</span>U+202E⟩</p>` + "\n"},
		{"HTML is text", "<b>a</b> **c** <!-- d -->", "<p>&lt;b&gt;a&lt;/b&gt; <strong>c</strong> &lt;!-- d --&gt;</p>\n"},
		{"a block of HTML is text", "<script>\nalert(1)\n</script>", "<p>&lt;script&gt;<br>\nalert(1)<br>\n&lt;/script&gt;</p>\n"},
		{"nothing", "", ""},
	} {
		got, _ := laidOut(t, tt.text)
		if want := `<div class="markdown natural" dir="auto" hx-ignore>` + tt.want + `</div>`; got != want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, want)
		}
	}
}

// What may be in a layout at all, with the attributes of each.
var may = map[string][]string{
	"p": nil, "h3": nil, "h4": nil, "h5": nil, "h6": nil, "ul": nil, "ol": {"start"}, "li": nil, "blockquote": nil, "pre": nil, "code": nil,
	"em": nil, "strong": nil, "del": nil, "hr": nil, "br": nil, "table": nil, "thead": nil, "tbody": nil, "tr": nil, "th": {"align"}, "td": {"align"},
	"span": {"class"}, "a": {"href", "rel"}, "div": {"class", "dir", "hx-ignore"}, "html": nil, "head": nil, "body": nil,
}

func harmless(t *testing.T, text string) {
	t.Helper()
	out, doc := laidOut(t, text)
	if strings.ContainsAny(out, "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u200c\u200d\u200e\u200f\ufeff\u00ad\U000E0041") {
		t.Errorf("%q: hidden characters come out: %q", text, out)
	}
	doc.Find("*").Each(func(_ int, s *goquery.Selection) {
		name := goquery.NodeName(s)
		attributes, ok := may[name]
		if !ok {
			t.Errorf("%q: <%s> comes out: %s", text, name, out)
		}
		for _, a := range s.Nodes[0].Attr {
			if !slices.Contains(attributes, a.Key) {
				t.Errorf("%q: <%s %s=%q> comes out", text, name, a.Key, a.Val)
			}
			if a.Key == "href" && !strings.HasPrefix(strings.ToLower(a.Val), "http://") && !strings.HasPrefix(strings.ToLower(a.Val), "https://") {
				t.Errorf("%q: leads to %q", text, a.Val)
			}
			if a.Key == "class" && name == "span" && !slices.Contains([]string{"unseen", "link-host", "quiet"}, a.Val) {
				t.Errorf("%q: has the class %q", text, a.Val)
			}
		}
		if name == "a" && s.AttrOr("rel", "") != "nofollow noreferrer" {
			t.Errorf("%q: a link without rel: %s", text, out)
		}
		if name == "div" && (!s.Is("[hx-ignore].markdown") || !s.Parent().Is("body")) {
			t.Errorf("%q: a <div> of its own: %s", text, out)
		}
	})
	for _, n := range doc.Nodes {
		if hasComment(n) {
			t.Errorf("%q: a comment comes out", text)
		}
	}
}

func hasComment(n *html.Node) bool {
	if n.Type == html.CommentNode {
		return true
	}
	for c := range n.ChildNodes() {
		if hasComment(c) {
			return true
		}
	}
	return false
}

var hostile = []string{
	"[a](javascript:alert(1))", "[a](JaVaScRiPt:alert(1))", "[a](java\nscript:alert(1))", "[a](java\tscript:alert(1))", "[a](<javascript:alert(1)>)",
	"[a](&#106;avascript:alert(1))", "[a](&#x6A;&#x61;vascript&colon;alert(1))", "[a](javascript&#58;alert(1))", "[a](java&Tab;script:alert(1))",
	"[a](\\javascript:alert(1))", "[a]( javascript:alert(1))", "[a](\x01javascript:alert(1))", "[a](vbscript:x)", "[a](data:text/html,<script>alert(1)</script>)",
	"[a](data:image/svg+xml;base64,PHN2Zy8+)", "[a](file:///etc/passwd)", "[a](//evil.example)", "[a](/approvals/x)", "[a](#x)", "[a](?x)", "[a](x:y)", "[a](blob:https://x/y)",
	"<javascript:alert(1)>", "<data:text/html,x>", "<JAVASCRIPT:alert(1)>", "<a@b.example>", "[a][b]\n\n[b]: javascript:alert(1)", "[b]\n\n[b]: <data:text/html,x> 'y'",
	"[a](https://user@evil.example)", "[a](https://good.example@evil.example/)", "[a](https://good.example\\@evil.example/)", "[a](https:\\\\evil.example)",
	"[a](https:evil.example)", "[a](https:///evil.example)", "[a](https://exаmple.com)", "[a](https://ex\u200bample.com)", "[a](https://evil.example\u202e/x)",
	"[a](https://%65vil.example)", "[a](https://[::1]/)", "<https://good.example@evil.example>", "[a](https://x\" onmouseover=\"alert(1))", "[a](https://x.example/\"onclick=\"x)",
	"[a](https://x.example 'x\" onclick=\"alert(1)')", "[a](https://x.example \"\u202e\")", "![a](javascript:alert(1))", "![a](https://x.example/\"onerror=\"x)", "![\"onerror=x](y)",
	"![![a](b)](c)", "[![a](b)](javascript:x)", "[a[b](https://x.example)](javascript:x)",
	"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>", "<iframe src=//evil>", "<a href=javascript:alert(1)>a</a>", "<style>*{}</style>",
	"<form action=/x><button>", "<div hx-get=/x hx-trigger=load>", "<input name=verdict>", "</div></div><p>", "<!-- x -->", "<?php ?>", "<![CDATA[x]]>", "<!DOCTYPE x>",
	"<b\nonclick=x>", "<<script>script>", "&lt;script&gt;", "&#60;img src=x&#62;", "\\<script>", "`<script>`", "```\n</code></pre><script>\n```", "``` \"><script>\nx\n```",
	"```\u202e\nx\n```", "    </code></pre><script>", "|<script>|\n|-|\n|<img src=x>|", "|a|\n|:-:\" onclick=x|\n|b|", "- [x] a", "# <script>", "# a {#id onclick=x}", "a\n=\n<script>",
	"a\u202eb\u2066c\u200bd\U000E0041e\u00adf\ufeffg", "**a\u202e**", "[\u202ea](https://x.example)", "`\u202e`", "a\x00b", "a\xffb", "&#x202e;&#8203;&shy;&ZeroWidthSpace;&rlm;&lrm;",
	"&#x202E&#x202e;", "[a](https://x.example/&#x202e;)", "[a](https://x.example/\u202e)", "![\u202e](x)", "⟨U+202E⟩", "⟨\"><script>⟩", "<span class=unseen>⟨U+202E⟩</span>",
	"[a]: https://x.example '</p><script>'\n\n[a]", "1. <script>\n2. </ol>", "> <script>\n> </blockquote>", "~~<script>~~", "*<script>*", "_[a](javascript:x)_",
}

func TestMarkdownIsHarmless(t *testing.T) {
	t.Parallel()
	for i, text := range hostile {
		harmless(t, text)
		harmless(t, "- > **"+text+"**\n\n| a | b |\n|-|-|\n| "+text+" | x |")
		harmless(t, text+hostile[(i+7)%len(hostile)])
	}
}

func TestMarkdownSaysWhereALinkWouldLead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"[a](javascript:alert(1))":                                 "a (javascript:alert(1))",
		"[bank](https://bank.example@evil.org)":                    "bank (https://bank.example@evil.org)",
		"[bank](https://bаnk.example)":                             "bank (https://bаnk.example)",
		"[a](/approvals/x)":                                        "a (/approvals/x)",
		"<javascript:alert(1)>":                                    "javascript:alert(1)",
		"[a](https://x.example/" + strings.Repeat("u", 3000) + ")": "a (https://x.example/" + strings.Repeat("u", 182) + "… 3,018 characters)",
		"[a](https://ex\u200bample.org)":                           "a (https://ex⟨U+200B⟩ample.org)",
	} {
		_, doc := laidOut(t, text)
		if got := strings.TrimSpace(doc.Text()); got != want || doc.Find("a").Length() != 0 {
			t.Errorf("%q says %q, want %q and no link", text, got, want)
		}
	}
	_, doc := laidOut(t, "[https://bank.example/login](https://evil.example/login)")
	if got := strings.TrimSpace(doc.Text()); got != "https://bank.example/login (evil.example)" {
		t.Errorf("%q", got)
	}
}

// What would take long, or come out much larger than it went in, is shown as it
// is, all of it.
func TestMarkdownThatIsLaboriousStaysText(t *testing.T) {
	t.Parallel()
	const most = 16 << 10
	fill := func(s string) string { return strings.Repeat(s, most/len(s)) }
	for name, text := range map[string]string{
		"longer than 16 KiB":     strings.Repeat("a", most+1),
		"hidden to be longer":    strings.Repeat("\u200b", most/3),
		"links that never end":   fill("[a]("),
		"brackets":               strings.Repeat("[", most/2) + strings.Repeat("]", most/2),
		"emphasis":               fill("*a_ "),
		"code without an end":    fill("\\```a\n"),
		"strikes":                fill("~~a "),
		"pictures":               fill("!["),
		"quotes in quotes":       fill(">"),
		"spaced quotes":          fill("> "),
		"lists in lists":         fill("- + "),
		"numbered lists":         fill("1. "),
		"quotes and lists":       fill("> - "),
		"a table that fills up":  strings.Repeat("|a", 2000) + "\n" + strings.Repeat("|-", 2000) + "\n" + strings.Repeat("a\n", 4000),
		"one address many times": "[a]: https://x.example/" + strings.Repeat("u", 1900) + "\n\n" + strings.Repeat("[a] ", 900),
	} {
		out, doc := laidOut(t, text)
		if doc.Find(".markdown[hx-ignore] .code").Length() != 1 || doc.Find(".markdown p > a").Length() != 0 {
			t.Errorf("%s is laid out: %.200s", name, out)
		}
		if got := doc.Find(".code code").Text(); name != "hidden to be longer" && got != text {
			t.Errorf("%s: %d bytes are shown, want %d", name, len(got), len(text))
		}
	}
	for name, text := range map[string]string{
		"just 16 KiB": fill("a "), "backticks": fill("`a``"), "lines": fill("a\n"), "rules": fill("---\n"),
		"a wide table":   strings.Repeat("|a", 50) + "\n" + strings.Repeat("|-", 50) + "\n" + strings.Repeat("|b\n", 190),
		"a long address": "[a]: https://x.example/" + strings.Repeat("u", 8000) + "\n\n" + strings.Repeat("[a] ", 900),
		"a deep list":    strings.Repeat("  ", 20) + "- a", "fifty quotes": strings.Repeat(">", 50) + "a", "blanks": "- a" + strings.Repeat("\n", 16000) + "b",
	} {
		out, doc := laidOut(t, text)
		if doc.Find(".markdown > .code").Length() != 0 || doc.Find(".markdown > *").Length() == 0 || len(out) > 1<<20 {
			t.Errorf("%s stays text, or grows to %d bytes", name, len(out))
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) <= 16<<10 && !strings.Contains(draw(t, ui.Markdown(text)), `class="code"`) {
			harmless(t, text)
		}
	})
}
