package pages_test

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// writeOutline writes an element as golden files hold it: a line for each element,
// indented by depth, with its attributes in order and its texts in quotes. An icon
// is one line.
func writeOutline(b *strings.Builder, n *html.Node, indent string) {
	if isIcon(n) {
		fmt.Fprintf(b, "%s%s\n", indent, icon(n))
		return
	}
	b.WriteString(indent + n.Data + attributes(n))
	if only := n.FirstChild; only != nil && only.NextSibling == nil && only.Type == html.TextNode {
		if text := said(only); text != "" {
			fmt.Fprintf(b, " %s", text)
		}
		b.WriteString("\n")
		return
	}
	b.WriteString("\n")
	for child := range n.ChildNodes() {
		switch child.Type {
		case html.ElementNode:
			writeOutline(b, child, indent+"  ")
		case html.TextNode:
			if text := said(child); text != "" {
				fmt.Fprintf(b, "%s  %s\n", indent, text)
			}
		case html.CommentNode:
			fmt.Fprintf(b, "%s  <!--%s-->\n", indent, child.Data)
		case html.ErrorNode, html.DocumentNode, html.DoctypeNode, html.RawNode:
		}
	}
}

// attributes are those of an element in the order of their names; the class and id
// come first, as in a selector.
func attributes(n *html.Node) string {
	var first, rest string
	for _, a := range slices.SortedFunc(slices.Values(n.Attr), func(a, b html.Attribute) int { return strings.Compare(a.Key, b.Key) }) {
		value := hashed.ReplaceAllString(a.Val, "$1.HASH.")
		switch {
		case a.Key == "class" && value != "":
			first = "." + strings.Join(strings.Fields(value), ".") + first
		case a.Key == "id":
			first += "#" + value
		case value == "":
			rest += " [" + a.Key + "]"
		default:
			rest += fmt.Sprintf(" [%s=%s]", a.Key, value)
		}
	}
	return first + rest
}

// said is a text in quotes, "" for none. Space counts only where it is shown.
func said(n *html.Node) string {
	text := n.Data
	for up := n.Parent; up != nil; up = up.Parent {
		if up.Data == "pre" || up.Data == "textarea" {
			return fmt.Sprintf("%q", text)
		}
	}
	words := strings.Join(strings.Fields(text), " ")
	if words == "" {
		return ""
	}
	if strings.TrimLeft(text, " \n\t") != text {
		words = " " + words
	}
	if strings.TrimRight(text, " \n\t") != text {
		words += " "
	}
	return `"` + words + `"`
}

// icon is an icon by the shapes it draws.
func icon(n *html.Node) string {
	var shapes []string
	for child := range n.ChildNodes() {
		if child.Type == html.ElementNode {
			shapes = append(shapes, child.Data+attributes(child))
		}
	}
	return "icon " + strings.Join(shapes, " ")
}

func isIcon(n *html.Node) bool {
	return n.Data == "svg" && slices.Contains(n.Attr, html.Attribute{Key: "class", Val: "icon"})
}
