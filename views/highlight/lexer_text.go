package highlight

import (
	"strings"
	"unicode"

	"github.com/alecthomas/chroma/v2"
)

// quote begins a text, if it is sure that it is one.
func (r *reading) quote(q quote) chroma.TokenType {
	rest := r.text[r.at:]
	if !r.opens(q) || !strings.Contains(rest[len(q.open):], q.close) {
		return r.lose()
	}
	if q.names && Run(rest[1:], func(c rune) bool { return IsWord(c) || c == ' ' }) != strings.Index(rest[1:], q.close) {
		return r.lose()
	}
	r.at += len(q.open)
	r.until, r.open, r.first, r.value = q, true, false, false
	return r.inside()
}

// opens reports whether a text can begin here: behind a word or another quote a quote has a meaning of its own in some
// languages (E'…', $"…", '"').
func (r *reading) opens(q quote) bool {
	if r.shell || r.at == 0 {
		return true
	}
	before := rune(r.text[r.at-1])
	switch {
	case r.doubles && string(before) == q.close:
		return true
	case r.apart:
		return strings.ContainsRune(" \t\n[{,", before)
	case q.tag && (IsWord(before) || before == ')' || before == ']'):
		return true
	case r.prefixes != "" && IsWord(before):
		n := 1
		for n < 3 && n < r.at && IsWord(rune(r.text[r.at-n-1])) {
			n++
		}
		return n < 3 && strings.Trim(r.text[r.at-n:r.at], r.prefixes) == ""
	}
	return !IsWord(before) && before < 0x80 && !strings.ContainsRune("'\"`\\#@$?%", before)
}

// inside reads on in a text, to its end or to a variable in it.
func (r *reading) inside() chroma.TokenType {
	start := r.at
	formats := r.formats(start)
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		if strings.HasPrefix(rest, r.until.close) {
			r.at += len(r.until.close)
			r.open = false
			return r.textKind()
		}
		if n := r.inserted(rest, formats); n != 0 {
			if n < 0 {
				r.lost = true
				return chroma.LiteralString
			}
			r.at += n
			continue
		}
		switch c := rest[0]; {
		case c == '\n' && !r.until.long, c == '\\' && r.until.escapes && r.escapeDoubt(rest):
			r.lost = true // it ends elsewhere than this language says
			return chroma.LiteralString
		case c == '\\' && r.until.escapes && len(rest) > 1:
			r.at += 2
		case c == '$' && r.variables && r.until.escapes && r.until.close == `"`:
			switch n := r.variable(rest); {
			case n < 0:
				r.lost = true
				return chroma.LiteralString
			case n == 0 && strings.HasPrefix(rest, "$(") && r.shell:
				return r.command()
			case n < 2:
				r.at++
			case r.at > start:
				return chroma.LiteralString
			default:
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

// escapeDoubt reports whether a backslash keeps a text open that would end, or
// go on over a line, without it.
func (r *reading) escapeDoubt(rest string) bool {
	if len(rest) < 2 {
		return false
	}
	return rest[1] == '\n' && !r.until.long || r.shell && r.until.open != `"` && rest[1] == '\''
}

// command begins what a shell runs within a text.
func (r *reading) command() chroma.TokenType {
	if len(r.outer) == 16 {
		r.lost = true
		return chroma.LiteralString
	}
	r.at += 2
	r.outer = append(r.outer, command{in: r.until})
	r.open, r.first = false, true
	return chroma.LiteralString
}

// formats reports whether a text of Python, its quote read, holds expressions in
// braces.
func (r *reading) formats(start int) bool {
	if r.prefixes == "" || !r.until.escapes {
		return false
	}
	before := r.text[:start-len(r.until.open)]
	before = before[max(0, len(before)-2):]
	return strings.ContainsAny(before[strings.LastIndexFunc(before, func(c rune) bool { return !IsWord(c) })+1:], "fFtT")
}

// inserted is the length of an expression that a text holds here: 0 if there is
// none, -1 if it may hold another text.
func (r *reading) inserted(rest string, formats bool) int {
	inserts := r.until.inserts
	if formats {
		inserts = "{"
	}
	for opener := range strings.FieldsSeq(inserts) {
		if !strings.HasPrefix(rest, opener) {
			continue
		}
		if formats && strings.HasPrefix(rest, "{{") {
			return 2
		}
		closer := byte('}')
		if strings.HasSuffix(opener, "(") {
			closer = ')'
		}
		body := rest[len(opener):]
		n := Run(body, func(c rune) bool {
			return IsWord(c) || strings.ContainsRune(" .,:[]!?+*-=$>", c) || closer == '}' && (c == '(' || c == ')')
		})
		if n == len(body) || body[n] != closer {
			return -1
		}
		return len(opener) + n + 1
	}
	return 0
}

// textKind tells a member's name from a text.
func (r *reading) textKind() chroma.TokenType {
	if r.keys && strings.HasPrefix(r.text[r.at:], ":") {
		return chroma.NameTag
	}
	return chroma.LiteralString
}

// variable is the length of a variable that s begins with: $x, ${x}, $1, $@;
// -1 if it may hold a text or a command.
func (r *reading) variable(s string) int {
	if len(s) < 2 {
		return 0
	}
	if s[1] == '{' {
		n := Run(s[2:], func(c rune) bool { return IsWord(c) || strings.ContainsRune("#%:/,.^@*+=?!-[]~", c) })
		if n == 0 || 2+n == len(s) || s[2+n] != '}' {
			return -1
		}
		return n + 3
	}
	if n := Run(s[1:], IsWord); n > 0 {
		return n + 1
	}
	if r.shell && strings.IndexByte("@*#?$!-", s[1]) >= 0 {
		return 2
	}
	return 0
}

func (l *lexicon) letter(c rune) bool {
	return IsWord(c) || c == '-' && l.dashes || l.shell && strings.ContainsRune("-./~+:@%,", c)
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// IsWord reports whether a character may be part of a name.
func IsWord(c rune) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		c > 0x7f && unicode.IsLetter(c)
}

// Run is how many bytes from the beginning of s are of a kind.
func Run(s string, is func(rune) bool) int {
	for i, c := range s {
		if !is(c) {
			return i
		}
	}
	return len(s)
}
