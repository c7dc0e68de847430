package ui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
)

// scanner is a lexer for highlighting that reads a text once, byte by byte, and
// never looks back: its time is in proportion to the text, whatever it holds.
// It knows words, texts, comments and numbers, and no grammar.
type scanner struct{ *lexicon }

// Config implements chroma.Lexer.
func (s *scanner) Config() *chroma.Config { return &chroma.Config{Name: s.name, Aliases: s.aliases} }

// SetRegistry implements chroma.Lexer; no other lexer is needed.
func (s *scanner) SetRegistry(*chroma.LexerRegistry) chroma.Lexer { return s }

// SetAnalyser implements chroma.Lexer; languages are never guessed.
func (s *scanner) SetAnalyser(func(string) float32) chroma.Lexer { return s }

// AnalyseText implements chroma.Lexer; languages are never guessed.
func (s *scanner) AnalyseText(string) float32 { return 0 }

// Tokenise implements chroma.Lexer.
func (s *scanner) Tokenise(_ *chroma.TokeniseOptions, text string) (chroma.Iterator, error) {
	r := reading{lexicon: s.lexicon, text: text, first: true}
	return r.next, nil
}

// reading is how far a text has been read.
type reading struct {
	*lexicon
	text  string
	at    int
	first bool // in a shell: a command may begin here
	until quote
	open  bool // within a text that until closes, after a variable in it
}

// next reads one token.
func (r *reading) next() chroma.Token {
	if r.at >= len(r.text) {
		return chroma.EOF
	}
	start := r.at
	kind := r.read()
	return chroma.Token{Type: kind, Value: r.text[start:r.at]}
}

func (r *reading) read() chroma.TokenType {
	if r.open {
		return r.inside()
	}
	rest := r.text[r.at:]
	c := rest[0]
	switch c {
	case '\n':
		r.at++
		r.first = true
		return chroma.Text
	case ' ', '\t', '\r':
		r.at++
		return chroma.Text
	}
	if kind, ok := r.comment(rest); ok {
		return kind
	}
	for _, q := range r.quotes {
		if strings.HasPrefix(rest, q.open) {
			r.at += len(q.open)
			r.until, r.open, r.first = q, true, false
			return r.inside()
		}
	}
	switch {
	case c == '$' && r.variables:
		if n := variable(rest); n > 1 {
			r.at += n
			r.first = false
			return chroma.NameVariable
		}
	case c >= '0' && c <= '9':
		r.at += run(rest, func(c rune) bool { return word(c) || c == '.' })
		r.first = false
		return chroma.LiteralNumber
	case c == '@' && r.decorators:
		if n := run(rest[1:], word); n > 0 {
			r.at += 1 + n
			return chroma.NameDecorator
		}
	case c == '-' && r.shell && r.starts():
		r.at += run(rest, func(c rune) bool { return word(c) || c == '-' })
		return chroma.NameAttribute
	}
	if n := run(rest, r.letter); n > 0 {
		return r.word(rest[:n])
	}
	_, size := utf8.DecodeRuneInString(rest)
	r.at += size
	if r.shell {
		r.first = strings.IndexByte(";&|({`!", c) >= 0
	}
	return chroma.Punctuation
}

// starts reports whether a word begins here.
func (r *reading) starts() bool {
	return r.at == 0 || strings.IndexByte(" \t\n;&|(){}=", r.text[r.at-1]) >= 0
}

func (r *reading) comment(rest string) (chroma.TokenType, bool) {
	for _, opener := range r.lines {
		if strings.HasPrefix(rest, opener) && (opener != "#" || r.starts()) {
			if n := strings.IndexByte(rest, '\n'); n >= 0 {
				r.at += n
			} else {
				r.at = len(r.text)
			}
			return chroma.Comment, true
		}
	}
	if opener, closer, _ := strings.Cut(r.block, " "); opener != "" && strings.HasPrefix(rest, opener) {
		if n := strings.Index(rest[len(opener):], closer); n >= 0 {
			r.at += len(opener) + n + len(closer)
		} else {
			r.at = len(r.text)
		}
		return chroma.Comment, true
	}
	return 0, false
}

// inside reads on in a text, to its end or to a variable in it.
func (r *reading) inside() chroma.TokenType {
	start := r.at
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		switch c := rest[0]; {
		case strings.HasPrefix(rest, r.until.close):
			r.at += len(r.until.close)
			r.open = false
			return r.textKind()
		case c == '\n' && !r.until.long:
			r.open = false
			if r.at == start { // the line feed itself is read as ever
				return r.read()
			}
			return chroma.LiteralString
		case c == '\\' && r.until.escapes && len(rest) > 1 && rest[1] != '\n':
			r.at += 2
		case c == '$' && r.variables && r.until.escapes:
			n := variable(rest)
			if n < 2 {
				r.at++
			} else if r.at > start {
				return chroma.LiteralString
			} else {
				r.at += n
				return chroma.NameVariable
			}
		default:
			r.at++
		}
	}
	r.open = false
	return chroma.LiteralString
}

// textKind tells a member's name from a text.
func (r *reading) textKind() chroma.TokenType {
	if r.keys && strings.HasPrefix(r.text[r.at:], ":") {
		return chroma.NameTag
	}
	return chroma.LiteralString
}

func (r *reading) word(w string) chroma.TokenType {
	r.at += len(w)
	rest := r.text[r.at:]
	first := r.first
	r.first = false
	look := w
	if r.folds {
		look = strings.ToLower(w)
	}
	kind, known := r.words[look]
	switch {
	case r.shell && first && strings.HasPrefix(rest, "="):
		return chroma.NameVariable
	case r.shell && !first && kind == chroma.Keyword && w != "in" && w != "do" && w != "then":
		return chroma.Name // an argument that is called like a word of the shell
	case known:
		r.first = r.shell && kind == chroma.Keyword
		return kind
	case r.shell && first:
		return chroma.NameFunction
	case r.shell:
		return chroma.Name
	case r.keys && strings.HasPrefix(rest, ":"):
		return chroma.NameTag
	case r.assigns && strings.HasPrefix(strings.TrimLeft(rest[:min(len(rest), 8)], " "), "="):
		return chroma.NameTag
	case strings.HasPrefix(rest, "("):
		return chroma.NameFunction
	}
	return chroma.Name
}

func (l *lexicon) letter(c rune) bool {
	return word(c) || c == '-' && l.dashes || l.shell && strings.ContainsRune("-./~+:@%,", c)
}

// variable is the length of a variable that s begins with: $x, ${x}, $1, $@.
func variable(s string) int {
	if len(s) < 2 {
		return 0
	}
	if s[1] == '{' {
		if n := strings.IndexAny(s[:min(len(s), 200)], "}\n"); n > 0 && s[n] == '}' {
			return n + 1
		}
		return 0
	}
	if n := run(s[1:], word); n > 0 {
		return n + 1
	}
	if strings.IndexByte("@*#?$!", s[1]) >= 0 {
		return 2
	}
	return 0
}

func word(c rune) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c > 0x7f && unicode.IsLetter(c)
}

// run is how many bytes from the beginning of s are of a kind.
func run(s string, is func(rune) bool) int {
	for i, c := range s {
		if !is(c) {
			return i
		}
	}
	return len(s)
}
