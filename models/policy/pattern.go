package policy

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"

	"countersign/models"
)

// pattern is one entry of a tools list: an exact name or a regular expression.
type pattern struct {
	text  string
	re    *regexp.Regexp // nil for an exact name
	folds *regexp.Regexp // re in any letter case; nil under allow, or where it matches no more
	whole bool           // re must match the whole name, not a part of it
	steps int            // the size of re
}

// match reports whether the name is what the pattern says.
func (p pattern) match(name string) bool {
	switch {
	case p.re == nil:
		return p.text != "" && p.text == name
	case p.whole:
		// Of all matches of a leftmost-longest expression, one that spans the
		// whole name comes first, so no anchors need to be wrapped around a text
		// that might close or quote them.
		at := p.re.FindStringIndex(name)
		return at != nil && at[0] == 0 && at[1] == len(name)
	default:
		return p.re.MatchString(name)
	}
}

// exact reports whether the pattern is a readable exact name.
func (p pattern) exact() bool { return p.re == nil && p.text != "" }

// readPattern reads one entry; problem says which entry is expected instead. kept says that the entry was stored before
// names with one slash were refused.
func readPattern(text string, whole, kept bool) (p pattern, problem string) {
	switch {
	case text == "":
		return pattern{}, "must be a tool's name or a /regular expression/"
	case len(text) > MaxPattern:
		return pattern{}, "is longer than 500 bytes"
	case text == "//":
		return pattern{}, "must not be empty between the slashes"
	case flagsBehind(text):
		return pattern{}, "has flags after the last slash; write them inside, as in /(?i)name/"
	case len(text) > 1 && text[0] == '/' && text[len(text)-1] == '/':
		return readRegexp(text, whole)
	}
	if e, ok := errors.AsType[*models.Error](models.CheckToolName("", text)); ok {
		return pattern{}, e.Fields[""] + "; a regular expression is written between slashes"
	}
	if oneSlash(text) && !kept {
		return pattern{}, "has a slash at one end only; " + howToWrite(text)
	}
	return pattern{text: text}, ""
}

func readRegexp(text string, whole bool) (p pattern, problem string) {
	expr := text[1 : len(text)-1]
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		if se, ok := errors.AsType[*syntax.Error](err); ok {
			return pattern{}, "is not a regular expression (RE2): " + se.Code.String()
		}
		return pattern{}, "is not a regular expression (RE2)"
	}
	size := steps(tree)
	if size > maxPatternSteps {
		return pattern{}, "repeats too much; use smaller counts"
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return pattern{}, "is not a regular expression (RE2)"
	}
	if whole {
		re.Longest()
		return pattern{text: text, re: re, whole: true, steps: size}, ""
	}
	return pattern{text: text, re: re, folds: foldedRegexp(expr, tree), steps: size}, ""
}

// foldedRegexp is a regular expression in any letter case; nil where that matches no
// more, as with (?-i).
func foldedRegexp(expr string, tree *syntax.Regexp) *regexp.Regexp {
	expr = "(?i)" + expr
	fold, err := syntax.Parse(expr, syntax.Perl)
	if err != nil || fold.String() == tree.String() {
		return nil
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil
	}
	return re
}

// oneSlash spots /name and name/, which read like a regular expression and would
// silently be an exact name.
func oneSlash(text string) bool {
	return strings.Count(text, "/") == 1 && (text[0] == '/' || text[len(text)-1] == '/')
}

// howToWrite says how to write what somebody may have meant by such a text.
func howToWrite(text string) string {
	exact := "/^" + strings.ReplaceAll(regexp.QuoteMeta(text), "/", `\/`) + "$/ for a tool of exactly this name"
	if part := strings.Trim(text, "/"); part != "" {
		return "write /" + part + "/ for a regular expression, or " + exact
	}
	return "write " + exact
}

// steps estimates the size of the compiled program, on which the time and memory
// of each match depend: counted repeats multiply.
func steps(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += steps(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

// flagsBehind spots /name/i, which reads like a regular expression of another
// language and would silently be an exact name here.
func flagsBehind(text string) bool {
	last := strings.LastIndexByte(text, '/')
	return text[0] == '/' && last > 0 && last < len(text)-1 && strings.Trim(text[last+1:], "dgimsuvxy") == ""
}
