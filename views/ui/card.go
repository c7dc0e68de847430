package ui

import "strings"

// Card is a call of a known kind, by what its members are. Every value is drawn whole and
// on one line: a line break in it is shown as a code.
type Card struct {
	Figure  []Node   // what it is about, large
	Address *Address // where it goes, below that
	Rows    []CardRow
}

// CardRow is a member of a card. Of a list, every value has its own line.
type CardRow struct {
	Label, Member string
	Values        []Node
}

// shown is a value of a card: between quotation marks where its ends would not be seen.
func (n Node) shown() string {
	if n.Text && (strings.TrimSpace(n.Value) != n.Value || n.Value == "") {
		return `"` + n.Value + `"`
	}
	return n.Value
}
