package ui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/a-h/templ"
	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"countersign/models"
)

// Limits of the layout. The library's time grows with the square of some inputs and its output with the product of
// others, so longer text is shown as escaped text.
const (
	MaxMarkdown   = 16 << 10  // bytes of text
	markdownOut   = 512 << 10 // bytes of HTML
	markdownCells = 10_000    // of tables, the empty ones that a short row is given included
	markdownDepth = 50        // quotes and lists within each other
	markdownLinks = 1000      // brackets that may begin one
	markdownMarks = 2000      // stars, underlines and tildes that may be emphasis
	markdownTicks = 100       // backticks behind a backslash, after which code may never end
)

// Markdown lays out what a model wrote: a second view beside the source, never the content to decide on. Hidden
// characters are made visible first (I13); HTML appears as text, pictures as their description, headings begin below
// those of a page; a link shows its host, and htmx looks at none of it. Text that is longer than 16 KiB, or built to
// take long, is shown unchanged.
func Markdown(text string) templ.Component {
	rendered, ok := renderMarkdown(text)
	if !ok {
		return markdownAsText(text)
	}
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		return write(w, `<div class="markdown natural" dir="auto" hx-ignore>`, rendered, `</div>`)
	})
}

func renderMarkdown(text string) (string, bool) {
	if len(text) > MaxMarkdown {
		return "", false
	}
	source := models.RevealString(strings.ReplaceAll(text, "\r\n", "\n"), true)
	if len(source) > MaxMarkdown || costly(source) {
		return "", false
	}
	out := &bounded{most: markdownOut}
	if err := markdown().Convert([]byte(source), out); err != nil {
		return "", false
	}
	return string(allowed().SanitizeBytes(out.Bytes())), true
}

// laborious reports whether a text is deeper or wider than anything that a person
// reads: each line goes through every quote and list around it, each bracket,
// mark of emphasis and backtick looks for its other end, and each row of a table is filled up to the width of its head.
func costly(source string) bool {
	marks := strings.Count(source, "*") + strings.Count(source, "_") + strings.Count(source, "~")
	if strings.Count(source, "[") > markdownLinks || marks > markdownMarks ||
		strings.Count(source, "\\`") > markdownTicks {
		return true
	}
	lines, widest := 0, 0
	for line := range strings.Lines(source) {
		lines++
		widest = max(widest, strings.Count(line, "|")+1)
		if depthOf(line) > markdownDepth {
			return true
		}
	}
	return lines*widest > markdownCells && widest > 1
}

// depthOf counts what opens a quote or list at the beginning of a line, and how
// far it is set in.
func depthOf(line string) int {
	markers, spaces := 0, 0
	for i := range len(line) {
		switch c := line[i]; {
		case c == '>' || c == '-' || c == '+' || c == '*':
			markers++
		case c == ' ':
			spaces++
		case c == '\t':
			spaces += 4
		case c >= '0' && c <= '9' || c == '.' || c == ')':
			if c == '.' || c == ')' {
				markers++
			}
		default:
			return markers + spaces/4
		}
	}
	if strings.Trim(line, "-* \t\n") == "" {
		return 0 // a rule, or nothing
	}
	return markers + spaces/4
}

// bounded is a buffer that refuses to grow beyond its size.
type bounded struct {
	bytes.Buffer

	most int
}

var errTooLarge = errors.New("the layout is too large")

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		return 0, errTooLarge
	}
	return b.Buffer.Write(p)
}

// markdown has no parser for HTML: what looks like it is text.
var markdown = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(
				util.Prioritized(parser.NewSetextHeadingParser(), 100),
				util.Prioritized(parser.NewThematicBreakParser(), 200),
				util.Prioritized(parser.NewListParser(), 300),
				util.Prioritized(parser.NewListItemParser(), 400),
				util.Prioritized(parser.NewCodeBlockParser(), 500),
				util.Prioritized(parser.NewATXHeadingParser(), 600),
				util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
				util.Prioritized(parser.NewBlockquoteParser(), 800),
				util.Prioritized(parser.NewParagraphParser(), 1000),
			),
			parser.WithInlineParsers(
				util.Prioritized(parser.NewCodeSpanParser(), 100),
				util.Prioritized(parser.NewLinkParser(), 200),
				util.Prioritized(parser.NewAutoLinkParser(), 300),
				util.Prioritized(parser.NewEmphasisParser(), 500),
			),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		)),
		goldmark.WithExtensions(
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
			extension.Strikethrough,
		),
		goldmark.WithRendererOptions(
			html.WithHardWraps(), html.WithWriter(plainWriter{}),
			renderer.WithNodeRenderers(util.Prioritized(markdownNodes{}, 1)),
		),
	)
})

// allowed is all that may come out: no picture, no style, no id, no form, no
// class but our own, and links to pages on the web alone.
var allowed = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "del",
		"hr", "br", "table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("align").Matching(bluemonday.CellAlign).OnElements("th", "td")
	p.AllowAttrs("class").Matching(ownClasses()).OnElements("span")
	p.AllowAttrs("href").Matching(webAddress()).OnElements("a")
	p.AllowURLSchemes("http", "https")
	p.RequireParseableURLs(true)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	return p
})

// MarkdownParts are the sections of a guide, each with its heading: all together are more
// than is laid out at once.
func MarkdownParts(guide string) []string {
	parts := strings.Split(guide, "\n# ")
	for i := 1; i < len(parts); i++ {
		parts[i] = "# " + parts[i]
	}
	return parts
}
