package postgres

import (
	"errors"
	"fmt"
	"strings"
)

// kind is of which kind a piece of a statement is.
type kind int

const (
	word   kind = iota // a name or keyword
	text               // a literal in quotes, or a name in quotes
	number             // a number
	value              // the place of an argument: ?, ?1 or :name
	sign               // an operator, a comma …
	list               // all between two parentheses
)

// node is one piece of a statement; of a list its parts.
type node struct {
	kind  kind
	text  string
	space bool // white space is before it
	parts []node
}

// is reports whether a node is one of these words, in capital or small letters.
func (n *node) is(words ...string) bool {
	if n.kind != word {
		return false
	}
	for _, w := range words {
		if strings.EqualFold(n.text, w) {
			return true
		}
	}
	return false
}

// parse reads a statement as a list of nodes. It fails where quotes or parentheses do not match.
func parse(statement string) ([]node, error) {
	r := reader{in: statement}
	out, err := r.list(false)
	if err != nil {
		return nil, fmt.Errorf("read %.60q: %w", statement, err)
	}
	return out, nil
}

// reader goes along a statement.
type reader struct {
	in string
	at int
}

// list reads as far as the end, or the closing parenthesis of an inner list.
func (r *reader) list(inner bool) (out []node, err error) {
	for {
		space := r.space()
		if r.at == len(r.in) {
			if inner {
				return nil, errors.New("a parenthesis is not closed")
			}
			return out, nil
		}
		switch c := r.in[r.at]; c {
		case ')':
			if !inner {
				return nil, errors.New("a parenthesis is closed that was not opened")
			}
			r.at++
			return out, nil
		case '(':
			r.at++
			parts, err := r.list(true)
			if err != nil {
				return nil, err
			}
			out = append(out, node{kind: list, space: space, parts: parts})
		default:
			n, err := r.piece(c)
			if err != nil {
				return nil, err
			}
			n.space = space
			out = append(out, n)
		}
	}
}

// space goes past white space and comments, and reports whether there was any.
func (r *reader) space() bool {
	from := r.at
	for r.at < len(r.in) {
		switch {
		case strings.IndexByte(" \t\r\n", r.in[r.at]) >= 0:
			r.at++
		case strings.HasPrefix(r.in[r.at:], "--"):
			if end := strings.IndexByte(r.in[r.at:], '\n'); end >= 0 {
				r.at += end
			} else {
				r.at = len(r.in)
			}
		default:
			return r.at > from
		}
	}
	return r.at > from
}

// piece reads one piece that is no list.
func (r *reader) piece(c byte) (node, error) {
	from := r.at
	switch {
	case c == '\'' || c == '"' || c == '`':
		return r.quote(c)
	case c == '?' || c == '$' || c == ':' && r.at+1 < len(r.in) && isLetter(r.in[r.at+1]):
		r.at++
		r.while(isName)
		return node{kind: value, text: r.in[from:r.at]}, nil
	case isDigit(c):
		r.while(func(c byte) bool { return isName(c) || c == '.' })
		return node{kind: number, text: r.in[from:r.at]}, nil
	case isLetter(c):
		r.while(isName)
		if r.in[from:r.at] == "x" && r.at < len(r.in) && r.in[r.at] == '\'' {
			n, err := r.quote('\'')
			n.text = `'\x` + n.text[1:]
			return n, err
		}
		return node{kind: word, text: r.in[from:r.at]}, nil
	}
	for _, long := range []string{"||", "<>", "<=", ">=", "!=", "::", "->>", "->"} {
		if strings.HasPrefix(r.in[r.at:], long) {
			r.at += len(long)
			return node{kind: sign, text: long}, nil
		}
	}
	r.at++
	return node{kind: sign, text: r.in[from:r.at]}, nil
}

// quote reads a text in quotes, in which a doubled quote is one.
func (r *reader) quote(c byte) (node, error) {
	from := r.at
	for r.at++; r.at < len(r.in); r.at++ {
		if r.in[r.at] != c {
			continue
		}
		if r.at++; r.at == len(r.in) || r.in[r.at] != c {
			return node{kind: text, text: r.in[from:r.at]}, nil
		}
	}
	return node{}, errors.New("a quote is not closed")
}

func (r *reader) while(is func(byte) bool) {
	for r.at < len(r.in) && is(r.in[r.at]) {
		r.at++
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}
func isName(c byte) bool { return isLetter(c) || isDigit(c) }
