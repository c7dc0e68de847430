package main

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	markdown "github.com/yuin/goldmark/text"
)

// readGuide reads the paragraphs, headings and table cells of a guide, without its code.
func readGuide(name, source string) (out []text, err error) {
	raw := []byte(source)
	root := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(markdown.NewReader(raw))
	err = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Type() != ast.TypeBlock || n.FirstChild() == nil || n.FirstChild().Type() != ast.TypeInline {
			return ast.WalkContinue, nil
		}
		p := paragraph{source: raw}
		p.read(n)
		if strings.ContainsFunc(p.said.String(), isLetter) {
			out = append(out, text{Kind: kindGuide, File: name, Line: 1 + bytes.Count(raw[:p.began], []byte("\n")), Text: p.said.String()})
		}
		return ast.WalkSkipChildren, nil
	})
	return out, err
}

// paragraph is the text of one block, with an ellipsis for code.
type paragraph struct {
	source []byte
	began  int
	said   strings.Builder
}

func (p *paragraph) read(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			if p.began == 0 {
				p.began = c.Segment.Start
			}
			p.said.Write(c.Segment.Value(p.source))
			if c.SoftLineBreak() || c.HardLineBreak() {
				p.said.WriteByte('\n')
			}
		case *ast.CodeSpan:
			p.said.WriteString("…")
		default:
			p.read(c)
		}
	}
}
