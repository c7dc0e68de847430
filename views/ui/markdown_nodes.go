package ui

import (
	stdhtml "html"
	"net/url"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"countersign/models"
)

var (
	ownClasses = pattern(`^(unseen|link-host|quiet)$`)
	// webAddress is what hostOf finds a host in, or more: it is asked first.
	webAddress = pattern(`^(?i:https?)://[A-Za-z0-9]`)
	plainHost  = pattern(`^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?(?::[0-9]{1,5})?$`)
	// shownEscape is what Reveal writes for what would not be seen. Text cannot
	// imitate it, for Reveal escapes the bracket too.
	shownEscape = pattern(`⟨(?:U\+[0-9A-F]{4,6}|0x[0-9A-F]{2})⟩`)
	// reference is a character by its name or number.
	reference = pattern(`^&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});`)
)

// plainWriter writes text into HTML. A character by its name or number becomes
// that character only if it may be shown as it is; else it stays as written.
type plainWriter struct{}

// Write takes text in which backslashes and references mean something.
func (plainWriter) Write(w util.BufWriter, source []byte) {
	var b strings.Builder
	text := string(source)
	for i := 0; i < len(text); {
		if text[i] == '\\' && i+1 < len(text) && util.IsPunct(text[i+1]) {
			b.WriteByte(text[i+1])
			i += 2
			continue
		}
		if text[i] == '&' {
			if name := reference().FindString(text[i:]); name != "" {
				b.WriteString(referred(name))
				i += len(name)
				continue
			}
		}
		b.WriteByte(text[i])
		i++
	}
	writeShown(w, b.String())
}

// RawWrite takes text in which they mean nothing.
func (plainWriter) RawWrite(w util.BufWriter, source []byte) { writeShown(w, string(source)) }

// SecureWrite is RawWrite.
func (plainWriter) SecureWrite(w util.BufWriter, source []byte) { writeShown(w, string(source)) }

func referred(name string) string {
	meant := stdhtml.UnescapeString(name)
	if segments, found := models.Reveal(meant, false); meant == name || found.Any() || len(segments) != 1 ||
		segments[0].Escape {
		return name
	}
	return meant
}

// writeShown escapes text that Reveal has gone over and marks its escapes.
func writeShown(w util.BufWriter, text string) {
	for text != "" {
		at := shownEscape().FindStringIndex(text)
		if at == nil {
			break
		}
		writePlain(w, text[:at[0]])
		_, _ = w.WriteString(`<span class="unseen">` + text[at[0]:at[1]] + `</span>`)
		text = text[at[1]:]
	}
	writePlain(w, text)
}

// writePlain escapes text for HTML. Marks that have lost their letter to the layout, and would climb on the text before
// them, are written out.
func writePlain(w util.BufWriter, text string) {
	n := leadingMarks(text)
	segments, _ := models.Reveal(text[:n], true)
	_, _ = w.WriteString(markup(segments))
	_, _ = w.WriteString(stdhtml.EscapeString(text[n:]))
}

// markdownNodes draws what the library would draw otherwise: links, pictures,
// headings and code with a language.
type markdownNodes struct{}

// RegisterFuncs says which those are.
func (markdownNodes) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindLink, link)
	r.Register(ast.KindAutoLink, autoLink)
	r.Register(ast.KindImage, picture)
	r.Register(ast.KindHeading, heading)
	r.Register(ast.KindFencedCodeBlock, fenced)
}

const (
	addressMost  = 2000 // bytes of an address that a link may have
	addressShown = 200  // characters of one that leads nowhere
)

// hostOf is the host that a link leads to, or empty for an address that is none
// on the web, or one that could be taken for another: the host is in plain
// letters, with nothing before an @, and no backslash anywhere.
func hostOf(address string) string {
	if len(address) > addressMost || !webAddress().MatchString(address) || strings.Contains(address, `\`) {
		return ""
	}
	_, rest, _ := strings.Cut(address, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	if u, err := url.Parse(address); err != nil || u.User != nil || u.Host != rest || !plainHost().MatchString(rest) {
		return ""
	}
	return strings.ToLower(rest)
}

// writeAddress says where text that is not a link would have led.
func writeAddress(w util.BufWriter, address string) {
	cut, length := Cut(address, addressShown)
	writeShown(w, cut)
	if length > addressShown {
		_, _ = w.WriteString(`… ` + number(length) + ` characters`)
	}
}

func link(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	address := string(node.(*ast.Link).Destination)
	host := hostOf(address)
	switch {
	case entering && host != "":
		_, _ = w.WriteString(`<a href="` + stdhtml.EscapeString(address) + `">`)
	case entering:
	case host != "":
		_, _ = w.WriteString(`</a> <span class="link-host">(` + stdhtml.EscapeString(host) + `)</span>`)
	default: // what leads nowhere still says where it would have led
		_, _ = w.WriteString(` <span class="link-host">(`)
		writeAddress(w, address)
		_, _ = w.WriteString(`)</span>`)
	}
	return ast.WalkContinue, nil
}

func autoLink(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.AutoLink)
	address := string(n.URL(source))
	if n.AutoLinkType != ast.AutoLinkURL || hostOf(address) == "" {
		writeShown(w, string(n.Label(source)))
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString(`<a href="` + stdhtml.EscapeString(address) + `">`)
	writeShown(w, string(n.Label(source)))
	_, _ = w.WriteString(`</a>`)
	return ast.WalkContinue, nil
}

// picture says what it would have shown: loading it would tell its host that somebody looks.
func picture(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(`<span class="quiet">picture: `)
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString(` (`)
	writeAddress(w, string(node.(*ast.Image).Destination))
	_, _ = w.WriteString(`)</span>`)
	return ast.WalkContinue, nil
}

// heading begins below what a page itself has.
func heading(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	open := "</h"
	if entering {
		open = "<h"
	}
	_, _ = w.WriteString(open + strconv.Itoa(min(node.(*ast.Heading).Level+2, 6)) + ">")
	return ast.WalkContinue, nil
}

func fenced(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString("<pre><code>")
	lines := node.Lines()
	for i := range lines.Len() {
		line := lines.At(i)
		writeShown(w, string(line.Value(source)))
	}
	_, _ = w.WriteString("</code></pre>\n")
	return ast.WalkSkipChildren, nil
}
