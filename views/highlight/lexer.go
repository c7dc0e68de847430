package highlight

import (
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/chroma/v2"
)

// scanner is a lexer for highlighting that reads a text once, byte by byte, and
// never looks back: its time is in proportion to the text, whatever it holds.
// It knows words, texts, comments and numbers, and no grammar. Where these could
// end elsewhere than it thinks, the rest of the text has no colour.
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
	r := reading{lexicon: s.lexicon, whole: text, text: text[:s.sure(text)], first: true, escape: -1}
	return r.next, nil
}

// reading is how far a text has been read.
type reading struct {
	*lexicon
	whole  string
	text   string // the beginning of whole that holds no doubt
	at     int
	lost   bool // the next token could be anything
	first  bool // in a shell: a command may begin here
	value  bool // the last token is a value: a slash behind it divides
	escape int  // where a character ended that a backslash made part of a word
	until  quote
	open   bool      // within a text that until closes, after a variable in it
	outer  []command // the commands within texts of a shell that are open
}

// command is one within a text of a shell: "$( … )".
type command struct {
	in     quote
	parens int // that are open in it
}

// next reads one token.
func (r *reading) next() chroma.Token {
	start := r.at
	kind := chroma.Text
	if start < len(r.text) && !r.lost {
		kind = r.read()
	}
	if r.at == start { // lost, or at the doubt
		if start == len(r.whole) {
			return chroma.EOF
		}
		r.at, r.lost = len(r.whole), true
		return chroma.Token{Type: chroma.Text, Value: r.whole[start:]}
	}
	return chroma.Token{Type: kind, Value: r.whole[start:r.at]}
}

// lose gives up: what follows has no colour.
func (r *reading) lose() chroma.TokenType {
	r.lost = true
	return chroma.Text
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
	if r.at == 0 && strings.HasPrefix(rest, "#!/") {
		r.at = Run(rest, func(c rune) bool { return c != '\n' })
		return chroma.Text
	}
	if kind, ok := r.comment(rest); ok {
		return kind
	}
	for _, q := range r.quotes {
		if strings.HasPrefix(rest, q.open) {
			return r.quote(q)
		}
	}
	if r.odd != "" && strings.IndexByte(r.odd, c) >= 0 && (c != '$' || len(rest) < 2 || !digit(rest[1])) ||
		r.literals != "" && !r.value && strings.IndexByte(r.literals, c) >= 0 {
		return r.lose()
	}
	r.value = false
	switch {
	case c == '\\' && r.shell && len(rest) > 1:
		_, size := utf8.DecodeRuneInString(rest[1:])
		r.at += 1 + size
		r.escape, r.first = r.at, false
		return chroma.Name
	case c == '$' && r.variables:
		n := r.variable(rest)
		if n < 0 {
			return r.lose()
		}
		if n > 1 {
			r.at += n
			r.first = false
			return chroma.NameVariable
		}
	case digit(c):
		r.at += Run(rest, func(c rune) bool { return IsWord(c) || c == '.' })
		r.first, r.value = false, true
		return chroma.LiteralNumber
	case c == '@' && r.decorators:
		if n := Run(rest[1:], IsWord); n > 0 {
			r.at += 1 + n
			return chroma.NameDecorator
		}
	case c == '-' && r.shell && r.begins():
		r.at += Run(rest, func(c rune) bool { return IsWord(c) || c == '-' })
		return chroma.NameAttribute
	}
	if n := Run(rest, r.letter); n > 0 {
		return r.word(rest[:n])
	}
	return r.sign(rest)
}

// sign reads one character that belongs to no word.
func (r *reading) sign(rest string) chroma.TokenType {
	_, size := utf8.DecodeRuneInString(rest)
	c := rest[0]
	r.at += size
	r.value = c == ']'
	if r.shell {
		r.first = strings.IndexByte(";&|({`!", c) >= 0
	}
	if n := len(r.outer); n > 0 {
		switch {
		case c == '(':
			r.outer[n-1].parens++
		case c == ')' && r.outer[n-1].parens > 0:
			r.outer[n-1].parens--
		case c == ')':
			r.until, r.open, r.first = r.outer[n-1].in, true, false
			r.outer = r.outer[:n-1]
		}
	}
	return chroma.Punctuation
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
	r.value = kind != chroma.Keyword
	switch {
	case r.shell && len(r.outer) > 0 && (w == "case" || w == "esac"):
		r.at -= len(w) // its patterns end with a parenthesis that none opened
		return r.lose()
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
