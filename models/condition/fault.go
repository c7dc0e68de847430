package condition

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
)

// SourceError is a mistake at one place of an expression, in words.
type SourceError struct {
	Line, Column int    // where it is, in characters from 1; 0: that is not known
	Token        string // the word that is written there; empty: the expression ends there
	Text         string // for a sentence
	Help         string // a further sentence; empty: there is none

	unknown bool // the word itself is the mistake
}

// Error says the mistake, where it is, and what helps.
func (f *SourceError) Error() string {
	text := f.Text + f.place()
	if f.Help != "" {
		text += ". " + f.Help
	}
	return text
}

func (f *SourceError) place() string {
	switch f.Line {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" (at character %d)", f.Column)
	}
	return fmt.Sprintf(" (in line %d at character %d)", f.Line, f.Column)
}

// newFault is a mistake at a place. The library names the bracket behind a function as its place, so the name, if there
// is one, is looked for before it.
func newFault(source string, at common.Location, name string) *SourceError {
	if at == nil || at.Line() < 1 {
		return &SourceError{}
	}
	lines := strings.Split(source, "\n")
	if at.Line() > len(lines) {
		return &SourceError{}
	}
	line := []rune(lines[at.Line()-1])
	column := min(max(at.Column(), 0), len(line))
	if rest, ok := strings.CutSuffix(string(line[:column]), name); ok {
		column = len([]rune(rest))
	}
	return &SourceError{Line: at.Line(), Column: column + 1, Token: tokenAt.FindString(string(line[column:]))}
}

// tokenAt is the word, number, text or sign at the beginning of a line.
var tokenAt = regexp.MustCompile(`^(?:[\p{L}_][\p{L}\p{N}_]*|[0-9][0-9.]*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|&&|\|\||=>|[=!<>]=|.)`)

// word is a token for people: what can't be seen is named.
func word(token string) string {
	const longest = 40
	if strings.ContainsFunc(token, func(r rune) bool { return !unicode.IsPrint(r) }) {
		token = strings.Trim(strconv.QuoteToASCII(token), `"`)
	}
	if runes := []rune(token); len(runes) > longest {
		token = string(runes[:longest]) + "…"
	}
	return "“" + token + "”"
}

// unclear says that a word is not understood.
func (f *SourceError) unclear(token string) {
	f.Text, f.unknown = "I don't understand "+word(token)+" here", true
}

var (
	undeclared  = regexp.MustCompile(`^undeclared reference to '([^']*)'`)
	noField     = regexp.MustCompile(`^undefined field '([^']*)'`)
	noOverload  = regexp.MustCompile(`^found no matching overload for '([^']*)' applied to '(.*)'`)
	badArgument = regexp.MustCompile(`^invalid (timestamp|duration|matches) argument`)
	operator    = regexp.MustCompile(`^_?(.*?)_?$`)
)

// faultOf is the first mistake that the library found, in words of ours: its own are for programmers.
func faultOf(source string, issues *cel.Issues) *SourceError {
	all := issues.Errors()
	if len(all) == 0 {
		return &SourceError{Text: "can't be read"}
	}
	text := all[0].Message
	name := ""
	for _, known := range [...]*regexp.Regexp{undeclared, noOverload, badArgument} {
		if found := known.FindStringSubmatch(text); found != nil {
			name = found[1]
		}
	}
	f := newFault(source, all[0].Location, name)
	syntax, isSyntax := strings.CutPrefix(text, "Syntax error: ")
	switch {
	case isSyntax:
		f.syntax(syntax)
	case undeclared.MatchString(text):
		f.unclear(name)
		f.Help = "There are tool, input, agent, owner, conversation, kind, now, and the helpers command, path, host and decimal"
	case noField.MatchString(text):
		f.Text = word(noField.FindStringSubmatch(text)[1]) + " is not known there"
	case noOverload.MatchString(text):
		f.Text = noOverloadText(noOverload.FindStringSubmatch(text))
	case badArgument.MatchString(text):
		f.Text = name + "() can't read its text"
	case strings.Contains(text, "has() macro"):
		f.Text = "has() needs a member, as in has(input.amount)"
	case strings.Contains(text, "must be a simple name"):
		f.Text = "the first value here must be a simple name, as in input.list.all(x, x > 1)"
	case strings.Contains(text, "invalid int literal"), strings.Contains(text, "invalid uint literal"),
		strings.Contains(text, "invalid double literal"):
		f.Text = "this number is too large"
	case f.Token != "":
		f.unclear(f.Token)
	default:
		f.Text = "is too long, or has too many brackets in each other"
	}
	return f
}

// spellings are the signs of those who write other languages.
var spellings = map[string]string{
	"and": "&&", "or": "||", "not": "!", "is": "==", "=": "==", "=>": ">=", "AND": "&&", "OR": "||", "NOT": "!", "&": "&&", "|": "||",
}

// syntax says what does not fit where it is written.
func (f *SourceError) syntax(text string) {
	switch {
	case f.Token == "" && (strings.Contains(text, "missing ')'") || strings.Contains(text, "{']'")):
		f.Text = "a bracket is not closed"
	case f.Token == "":
		f.Text = "something is missing at the end"
	case strings.ContainsAny(f.Token[:1], `"'`) && strings.HasPrefix(text, "token recognition"):
		f.Text = "the text that begins here has no end, or has a \\ that is not known"
	case strings.Contains("“”„‘’«»", f.Token):
		f.unclear(f.Token)
		f.Help = `Texts are written in straight quotation marks: "x"`
	default:
		f.unclear(f.Token)
		if sign := spellings[f.Token]; sign != "" {
			f.Help = "Did you mean `" + sign + "`?"
		}
	}
}

// noOverloadText says that an operator or function does not take these values.
func noOverloadText(found []string) string {
	sign := strings.TrimPrefix(found[1], "@")
	if strings.Contains(sign, "_") && !strings.ContainsAny(sign, "abcdefghijklmnopqrstuvwxyz") {
		sign = strings.Trim(operator.FindStringSubmatch(sign)[1], "_") // the library calls > “_>_”
	}
	values := strings.Trim(strings.Replace(found[2], ".(", ", ", 1), "(), ")
	if values == "" {
		return word(sign) + " needs a value in its brackets"
	}
	return word(sign) + " does not work for " + typeNames.Replace(values)
}

var typeNames = strings.NewReplacer("string", "text", "uint", "number", "int", "number", "double", "number", "dyn", "any value",
	"bool", "true or false", "countersign.", "", "google.protobuf.", "", "timestamp", "time", "null_type", "null")

// Suggest returns the expression that the author probably meant, from the members of the input of real calls; empty:
// unknown.
func (f *SourceError) Suggest(source string, members []Member) string {
	if !f.unknown || f.Line == 0 {
		return ""
	}
	before := f.before(source)
	value := strings.Trim(f.Token, `"'`)
	of := func(has func(Member) bool) *Member {
		first := -1
		for i, m := range members {
			if has(m) && (first < 0 || strings.Contains(before, m.Path) && !strings.Contains(before, members[first].Path)) {
				first = i
			}
		}
		if first < 0 {
			return nil
		}
		return &members[first]
	}
	if m := of(func(m Member) bool { return m.isText() && slices.Contains(m.Samples, value) }); m != nil {
		sign := " == "
		if strings.HasSuffix(strings.TrimRight(before, " "), "!=") {
			sign = " != "
		}
		return m.Path + sign + strconv.Quote(value)
	}
	if m := of(func(m Member) bool { return m.Name == value }); m != nil {
		return m.Path
	}
	if plainStep.MatchString(f.Token) && wantsText.MatchString(before) {
		return strconv.Quote(value)
	}
	return ""
}

// wantsText is an expression up to where a text may be expected.
var wantsText = regexp.MustCompile(`(?:[=!]=|[\[,(])\s*$`)

// before is the expression up to the mistake.
func (f *SourceError) before(source string) string {
	lines := strings.Split(source, "\n")
	if f.Line > len(lines) {
		return ""
	}
	line := []rune(lines[f.Line-1])
	return strings.Join(lines[:f.Line-1], "\n") + string(line[:min(f.Column-1, len(line))])
}

// Explain says in words why Compile refused an expression, and what may have been meant. Between ` and ` are
// expressions.
func Explain(err error, source string, members []Member) string {
	f, ok := err.(*SourceError) //nolint:errorlint // Compile wraps none
	if !ok {
		return err.Error()
	}
	if suggestion := f.Suggest(source, members); suggestion != "" {
		return f.Text + f.place() + ". Did you mean `" + suggestion + "`?"
	}
	return f.Error()
}
