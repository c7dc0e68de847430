package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// MaxNodes is how many values a tree shows; above, there is only the source.
	MaxNodes = 2000
	// treeText is where a text in a tree folds, in characters.
	treeText = 300
)

// Tree is a JSON value laid out with the types and true lengths of its members.
type Tree struct{ Root Node }

// Node is one value. Children belong to lists and objects; those of a list have
// no Key.
type Node struct {
	Key      string
	Named    bool   // it is a member, called Key
	Kind     string // in words, with its length
	Value    string // of a text its characters, else the literal as it was sent; empty where it has Children
	Text     bool
	Children []Node
}

var errTooManyNodes = errors.New("more values than a tree shows")

// NewTree lays out canonical JSON; tooMany if it has more than MaxNodes values,
// and nil without tooMany if the text is not JSON.
func NewTree(canonical []byte) (t *Tree, tooMany bool) {
	d := json.NewDecoder(bytes.NewReader(canonical))
	d.UseNumber() // literals stay as they were sent
	left := MaxNodes
	root, err := node(d, &left)
	if err != nil {
		return nil, errors.Is(err, errTooManyNodes)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, false
	}
	return &Tree{Root: root}, false
}

func node(d *json.Decoder, left *int) (Node, error) {
	if *left--; *left < 0 {
		return Node{}, errTooManyNodes
	}
	token, err := d.Token()
	if err != nil {
		return Node{}, err
	}
	switch v := token.(type) {
	case json.Delim:
		return branch(d, v, left)
	case string:
		return Node{Kind: "text, " + counted(utf8.RuneCountInString(v), "character"), Value: v, Text: true}, nil
	case json.Number:
		return Node{Kind: "number", Value: v.String()}, nil
	case bool:
		return Node{Kind: "boolean", Value: strconv.FormatBool(v)}, nil
	}
	return Node{Kind: "null", Value: "null"}, nil
}

func branch(d *json.Decoder, opener json.Delim, left *int) (Node, error) {
	var n Node
	for d.More() {
		key := ""
		if opener == '{' {
			token, err := d.Token()
			if err != nil {
				return n, err
			}
			key, _ = token.(string)
		}
		child, err := node(d, left)
		if err != nil {
			return n, err
		}
		child.Key, child.Named = key, opener == '{'
		n.Children = append(n.Children, child)
	}
	if _, err := d.Token(); err != nil {
		return n, err
	}
	kind, empty := "list", "[]"
	if opener == '{' {
		kind, empty = "object", "{}"
	}
	if len(n.Children) == 0 {
		n.Kind, n.Value = "empty "+kind, empty
		return n, nil
	}
	n.Kind = kind + " of " + number(len(n.Children))
	return n, nil
}

// folds reports whether a text in the tree is folded.
func (t *Tree) folds() bool { return t.Root.folds() }

func (n Node) folds() bool {
	for _, c := range n.Children {
		if c.folds() {
			return true
		}
	}
	return n.long()
}

// long reports whether the node is a text that is folded.
func (n Node) long() bool {
	_, length := Cut(n.Value, treeText)
	return n.Text && length > treeText
}

// quote is the quotation mark around a text that would otherwise look like a number, a list or nothing, or whose spaces
// would not be seen.
func (n Node) quote() string {
	if n.Text && (strings.TrimSpace(n.Value) != n.Value || n.Value == "" || json.Valid([]byte(n.Value))) {
		return `"`
	}
	return ""
}

// counted is a number of things in words.
func counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + one + "s"
}
