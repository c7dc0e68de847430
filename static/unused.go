package static

import (
	"regexp"
	"slices"
	"strings"
)

// Unused are the classes of the component library that no page has. Rules that need one of
// them are not sent: they would be a third of all style sheets. A test of the pages fails
// when one of them comes into use.
var Unused = []string{
	"accordion", "alert", "alert-dialog", "avatar", "avatar-group", "breadcrumb", "button-group", "chart", "chart-legend",
	"chart-legend-indicator", "chart-legend-item", "chart-tooltip", "chart-tooltip-indicator", "chart-tooltip-item",
	"chart-tooltip-items", "chart-tooltip-label", "chart-tooltip-title", "chart-tooltip-value", "combobox", "combobox-chip",
	"combobox-chip-remove", "combobox-chips", "command", "command-dialog", "drawer", "dropdown-menu", "empty", "field-separator",
	"input-group", "item", "item-group", "popover", "progress", "scrollbar", "scrollbar-sm", "sidebar", "skeleton", "tabs",
	"toast-content", "toaster",
}

// withoutUnused leaves out the rules of a style sheet that match nothing without a class in
// Unused. What it does not understand stays.
func withoutUnused(css string) string {
	var b strings.Builder
	for css != "" {
		head, block, rest, hasBlock := statement(css)
		css = rest
		selector := head[strings.LastIndex(head, "*/")+1:]
		selector = strings.TrimSpace(strings.TrimPrefix(selector, "/"))
		switch {
		case !hasBlock:
			b.WriteString(head)
			continue
		case grouping.MatchString(selector):
			inner := withoutUnused(block)
			if inner == "" && block != "" {
				continue
			}
			block = inner
		case !strings.HasPrefix(selector, "@") && matchesNothing(selector):
			continue
		}
		b.WriteString(head + "{" + block + "}")
	}
	return b.String()
}

// grouping are the rules that hold others.
var grouping = regexp.MustCompile(`^@(layer|media|supports|container)\b`)

// statement is the first rule of a style sheet, with what is in its braces, and the rest. A
// rule without braces is all head.
func statement(css string) (head, block, rest string, hasBlock bool) {
	depth, open, quote := 0, 0, byte(0)
	for i := range len(css) {
		c := css[i]
		switch {
		case quote != 0:
			if c == quote && css[i-1] != '\\' {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{':
			if depth == 0 {
				open = i
			}
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return css[:open], css[open+1 : i], css[i+1:], true
			}
		case c == ';' && depth == 0:
			return css[:i+1], "", css[i+1:], false
		}
	}
	return css, "", "", false
}

var className = regexp.MustCompile(`\.([A-Za-z][\w-]*)`)

// matchesNothing reports whether each selector of a list needs a class that no page has.
// What is said in parentheses may be one of several, or what is not: it counts for nothing.
func matchesNothing(list string) bool {
	for _, selector := range plainSelectors(list) {
		needs := false
		for _, found := range className.FindAllStringSubmatch(selector, -1) {
			needs = needs || slices.Contains(Unused, found[1])
		}
		if !needs {
			return false
		}
	}
	return true
}

// plainSelectors are the selectors of a list without what stands in parentheses and brackets.
func plainSelectors(list string) []string {
	var out []string
	var b strings.Builder
	depth := 0
	for _, c := range list {
		switch c {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, b.String())
				b.Reset()
			}
		default:
			if depth == 0 {
				b.WriteRune(c)
			}
		}
	}
	return append(out, b.String())
}
