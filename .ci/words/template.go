package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"html"
	"slices"
	"strings"

	templ "github.com/a-h/templ/parser/v2"
)

// templateTexts collects the texts of one template.
type templateTexts struct {
	file string
	out  []text

	// The sentence that is being read: it runs on through links and emphasis.
	said strings.Builder
	line int
}

// readTemplate reads what a template says: its text, the attributes that people see or
// hear, and the literals in its Go.
func readTemplate(name, source string) ([]text, error) {
	file, err := templ.ParseString(source)
	if err != nil {
		return nil, err
	}
	t := templateTexts{file: name}
	for _, n := range file.Nodes {
		switch n := n.(type) {
		case *templ.TemplateFileGoExpression:
			t.code(n.Expression, "package p\n", "")
		case *templ.HTMLTemplate:
			t.nodes(n.Children)
			t.end()
		}
	}
	return t.out, nil
}

// Elements that are part of the sentence in which they are.
var inline = []string{"a", "abbr", "b", "bdi", "code", "em", "i", "kbd", "mark", "q", "s", "samp", "small", "span", "strong", "sub", "sup", "time", "var", "wbr"}

// Attributes that people see or hear.
var spoken = []string{"title", "aria-label", "aria-description", "aria-roledescription", "aria-valuetext", "placeholder", "alt", "label", "content", "summary", "value"}

func (t *templateTexts) nodes(nodes []templ.Node) {
	for _, n := range nodes {
		t.node(n)
	}
}

func (t *templateTexts) node(n templ.Node) {
	switch n := n.(type) {
	case *templ.Text:
		t.say(n.Range.From, html.UnescapeString(n.Value)+string(n.TrailingSpace))
	case *templ.Whitespace:
		t.say(n.Range.From, n.Value)
	case *templ.StringExpression:
		t.say(n.Expression.Range.From, "…"+string(n.TrailingSpace))
		t.code(n.Expression, "package p\nvar _ = f(\n", ")")
	case *templ.Element:
		t.element(n)
	case *templ.RawElement:
		t.attributes(n.Attributes)
	case *templ.ScriptElement:
		t.attributes(n.Attributes)
	case *templ.TemplElementExpression:
		t.code(n.Expression, "package p\nvar _ =\n", "")
		t.block(n.Children)
	case *templ.CallTemplateExpression:
		t.code(n.Expression, "package p\nvar _ =\n", "")
	case *templ.IfExpression:
		t.branch(n.Expression, n.Then)
		for _, e := range n.ElseIfs {
			t.branch(e.Expression, e.Then)
		}
		t.block(n.Else)
	case *templ.ForExpression:
		t.block(n.Children)
	case *templ.SwitchExpression:
		for _, c := range n.Cases {
			t.block(c.Children)
		}
	case *templ.GoCode:
		t.code(n.Expression, "package p\nfunc _() {\n", "\n}")
	}
}

func (t *templateTexts) branch(condition templ.Expression, then []templ.Node) {
	t.code(condition, "package p\nfunc _() { if\n", "{}\n}")
	t.block(then)
}

// block reads nodes whose text is not part of the sentence around them.
func (t *templateTexts) block(nodes []templ.Node) {
	t.end()
	t.nodes(nodes)
	t.end()
}

func (t *templateTexts) element(e *templ.Element) {
	t.attributes(e.Attributes)
	switch {
	case e.Name == "code", e.Name == "samp", e.Name == "kbd":
		t.say(e.Range.From, "…")
	case slices.Contains(inline, e.Name):
		t.nodes(e.Children)
	default:
		t.block(e.Children)
		return
	}
	t.say(e.Range.From, string(e.TrailingSpace))
}

func (t *templateTexts) attributes(attributes []templ.Attribute) {
	for _, a := range attributes {
		switch a := a.(type) {
		case *templ.ConstantAttribute:
			key, ok := a.Key.(templ.ConstantAttributeKey)
			if ok && slices.Contains(spoken, key.Name) && (isPhrase(a.Value) || isLabel(a.Value)) {
				t.add(key.NameRange.From, html.UnescapeString(a.Value))
			}
		case *templ.ExpressionAttribute:
			key, ok := a.Key.(templ.ConstantAttributeKey)
			if !ok || key.Name != "class" {
				t.code(a.Expression, "package p\nvar _ = f(\n", ")")
			}
		case *templ.SpreadAttributes:
			t.code(a.Expression, "package p\nvar _ =\n", "")
		case *templ.ConditionalAttribute:
			t.code(a.Expression, "package p\nfunc _() { if\n", "{}\n}")
			t.attributes(a.Then)
			t.attributes(a.Else)
		}
	}
}

// say goes on with the sentence, which begins at the first of its parts that is no space.
func (t *templateTexts) say(at templ.Position, part string) {
	if t.said.Len() == 0 {
		if strings.TrimSpace(part) == "" {
			return
		}
		t.line = int(at.Line) + 1
	}
	t.said.WriteString(part)
}

// end closes the sentence.
func (t *templateTexts) end() {
	said := strings.TrimSpace(t.said.String())
	t.said.Reset()
	if strings.ContainsFunc(said, func(r rune) bool { return r != '…' && isLetter(r) }) {
		t.out = append(t.out, text{Kind: kindPage, File: t.file, Line: t.line, Text: said})
	}
}

func (t *templateTexts) add(at templ.Position, said string) {
	t.out = append(t.out, text{Kind: kindPage, File: t.file, Line: int(at.Line) + 1, Text: said})
}

// code reads the literals of Go in the template; before and after make a whole file of it.
func (t *templateTexts) code(e templ.Expression, before, after string) {
	g := goTexts{file: t.file, set: token.NewFileSet()}
	file, err := parser.ParseFile(g.set, t.file, before+e.Value+after, parser.SkipObjectResolution)
	if err != nil && file == nil {
		return
	}
	g.walk(ast.Node(file))
	for _, found := range g.out {
		found.Line += int(e.Range.From.Line) - strings.Count(before, "\n")
		t.out = append(t.out, found)
	}
}
