package agentsettings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// node is a value with its place in the text.
type node struct {
	kind       jsontext.Kind
	start, end int
	text       string   // of a string
	members    []member // of an object
	items      []node   // of an array
}

type member struct {
	name  string
	start int // of the name
	value node
}

// at is the member of an object; nil: it has none of that name.
func (n *node) at(name string) *node {
	if i := n.index(name); i >= 0 {
		return &n.members[i].value
	}
	return nil
}

// index is the place of a member among the others; -1: there is none of that name.
func (n *node) index(name string) int {
	return slices.IndexFunc(n.members, func(m member) bool { return m.name == name })
}

// len is how many items or members there are.
func (n *node) len() int { return len(n.items) + len(n.members) }

// read reads settings. Comments, and a byte order mark, are read as white space.
func read(text []byte) (*node, []byte, error) {
	blank, err := withoutComments(text)
	if err != nil {
		return nil, nil, err
	}
	d := jsontext.NewDecoder(bytes.NewReader(blank))
	root, err := readValue(d)
	if err != nil {
		return nil, nil, faultOf(blank, d, err)
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("line %d: there is text after the settings", lineAt(blank, d.InputOffset()))
	}
	if root.kind != '{' {
		return nil, nil, errors.New("the settings must be one JSON object")
	}
	return &root, blank, nil
}

func faultOf(blank []byte, d *jsontext.Decoder, err error) error {
	place := d.InputOffset()
	if fault, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		place = fault.ByteOffset
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return fmt.Errorf("line %d: a member appears twice", lineAt(blank, place))
		}
	}
	if comma, found := danglingComma(blank, int(place)); found {
		return fmt.Errorf("line %d: nothing follows this comma: remove it, for only comments are taken beside JSON",
			lineAt(blank, int64(comma)))
	}
	return fmt.Errorf("line %d: this is not valid JSON", lineAt(blank, place))
}

// danglingComma is the comma before or at a place behind which an object or array ends.
func danglingComma(blank []byte, place int) (comma int, found bool) {
	place = min(place, len(blank))
	before := bytes.TrimRight(blank[:place], space)
	comma = len(before) - 1
	if rest := bytes.TrimLeft(blank[place:], space); bytes.HasPrefix(rest, []byte(",")) {
		comma = len(blank) - len(rest)
	}
	if comma < 0 || blank[comma] != ',' {
		return 0, false
	}
	next := bytes.TrimLeft(blank[comma+1:], space)
	return comma, len(next) > 0 && (next[0] == '}' || next[0] == ']')
}

func lineAt(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(int(offset), len(text))], []byte{'\n'})
}

func readValue(d *jsontext.Decoder) (node, error) {
	if next := d.PeekKind(); next == '{' {
		return readObject(d)
	} else if next == '[' {
		return readArray(d)
	}
	raw, err := d.ReadValue()
	if err != nil {
		return node{}, err
	}
	end := int(d.InputOffset())
	n := node{kind: raw.Kind(), start: end - len(raw), end: end}
	if n.kind == '"' {
		text, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return node{}, err
		}
		n.text = string(text)
	}
	return n, nil
}

func readObject(d *jsontext.Decoder) (node, error) {
	if _, err := d.ReadToken(); err != nil {
		return node{}, err
	}
	n := node{kind: '{', start: int(d.InputOffset()) - 1}
	for d.PeekKind() != '}' {
		name, err := readValue(d)
		if err != nil {
			return node{}, err
		}
		value, err := readValue(d)
		if err != nil {
			return node{}, err
		}
		n.members = append(n.members, member{name.text, name.start, value})
	}
	return n.close(d)
}

func readArray(d *jsontext.Decoder) (node, error) {
	if _, err := d.ReadToken(); err != nil {
		return node{}, err
	}
	n := node{kind: '[', start: int(d.InputOffset()) - 1}
	for d.PeekKind() != ']' {
		item, err := readValue(d)
		if err != nil {
			return node{}, err
		}
		n.items = append(n.items, item)
	}
	return n.close(d)
}

func (n node) close(d *jsontext.Decoder) (node, error) {
	_, err := d.ReadToken()
	n.end = int(d.InputOffset())
	return n, err
}

// withoutComments replaces comments and a byte order mark by as many spaces, so that
// places in it are places in the text.
func withoutComments(text []byte) ([]byte, error) {
	out := bytes.Clone(text)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if out[i] != '\n' && out[i] != '\r' {
				out[i] = ' '
			}
		}
	}
	if bytes.HasPrefix(out, []byte("\xEF\xBB\xBF")) {
		blank(0, 3)
	}
	for i := 0; i < len(out); i++ {
		switch {
		case out[i] == '"':
			i = endOfString(out, i)
		case bytes.HasPrefix(out[i:], []byte("//")):
			end := i + bytes.IndexByte(append(out[i:len(out):len(out)], '\n'), '\n')
			blank(i, end)
		case bytes.HasPrefix(out[i:], []byte("/*")):
			length := bytes.Index(out[i+2:], []byte("*/"))
			if length < 0 {
				return nil, fmt.Errorf("line %d: a comment does not end", lineAt(text, int64(i)))
			}
			blank(i, i+2+length+2)
		}
	}
	return out, nil
}

// endOfString is the place of the quotation mark that ends a string, or of the last byte.
func endOfString(text []byte, start int) int {
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(text)
}
