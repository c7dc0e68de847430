package inputs

import (
	"encoding/json"
	"slices"
	"unicode/utf8"

	"countersign/models/headline"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

const (
	// cardText is how long a value on one line of a card may be, in characters: it is
	// never cut there.
	cardText = 1000
	// cardValues is how many values of a list a card shows.
	cardValues = 50
)

// known makes the card of a call of a known kind, and blocks of its longer members. Members that have no place there
// are left to others. Shell, SQL and files have the blocks of any tool.
func (m *inputLayout) known(k headline.Known) {
	switch k := k.(type) {
	case *headline.Payment:
		c := m.card("Payment")
		c.figure("amount")
		c.figure("currency")
		c.row("Payee", "to", "recipient", "payee")
		c.row("Account", "iban", "account")
		c.row("Reference", "reference", "memo", "invoice")
		c.done()
	case *headline.Email:
		c := m.card("Email")
		c.row("From", "from")
		c.row("To", "to")
		c.row("Cc", "cc")
		c.row("Bcc", "bcc")
		c.row("Subject", "subject")
		if c.done() {
			m.body("body", "text", "html")
		}
	case *headline.HTTP:
		c := m.card("HTTP request")
		c.method(k.Method)
		c.address("url")
		if c.done() {
			m.body("headers")
			m.body("body", "json", "data")
		}
	}
}

// knownCard is a card that is being made. One value that it can't show makes it none.
type knownCard struct {
	m       *inputLayout
	label   string
	card    ui.Card
	members []string
	failed  bool
}

func (m *inputLayout) card(label string) *knownCard { return &knownCard{m: m, label: label} }

// values are those of the member that has one of these names; none if there is none.
func (c *knownCard) values(names ...string) (member string, values []ui.Node) {
	for _, name := range names {
		raw, ok := c.m.members[name]
		if !ok {
			continue
		}
		member, values = name, cardNodes(raw)
		c.failed = c.failed || values == nil || slices.Contains(c.members, name)
		c.members = append(c.members, name)
	}
	return member, values
}

// cardNodes are a value, or those of a list, that have a line each; nil if one is too long
// for that or has values of its own.
func cardNodes(raw json.RawMessage) []ui.Node {
	if len(raw) > LayoutMost {
		return nil
	}
	tree, _ := ui.NewTree(raw)
	if tree == nil {
		return nil
	}
	nodes := tree.Root.Children
	if len(nodes) == 0 {
		nodes = []ui.Node{tree.Root}
	}
	for _, n := range nodes {
		if len(n.Children) > 0 || n.Named || utf8.RuneCountInString(n.Value) > cardText || len(nodes) > cardValues {
			return nil
		}
	}
	return nodes
}

func (c *knownCard) figure(name string) {
	_, values := c.values(name)
	c.card.Figure = append(c.card.Figure, values...)
}

// method is the member of that name, or what the tool's name says.
func (c *knownCard) method(known string) {
	if c.figure("method"); len(c.card.Figure) == 0 {
		c.card.Figure = []ui.Node{{Value: known, Kind: "from the tool's name"}}
	}
}

func (c *knownCard) address(name string) {
	a, ok := ui.ReadAddress(name, c.m.text(name))
	c.failed = c.failed || !ok
	c.card.Address, c.members = a, append(c.members, name)
}

func (c *knownCard) row(label string, names ...string) {
	if member, values := c.values(names...); member != "" {
		c.card.Rows = append(c.card.Rows, ui.CardRow{Label: label, Member: member, Values: values})
	}
}

// done adds the card, if it shows all that it should.
func (c *knownCard) done() bool {
	if !c.failed {
		c.m.add(ui.Block{Code: ui.Code{Label: c.label}, Card: &c.card}, c.members...)
	}
	return !c.failed
}

// body is the member of one of these names in a block: a text as source, all else as a tree.
func (m *inputLayout) body(names ...string) {
	for _, name := range names {
		raw, ok := m.members[name]
		if !ok || len(raw) > LayoutMost {
			continue
		}
		if text, ok := words.Text(raw); ok {
			m.add(ui.Block{Code: ui.Code{Label: name, Text: text}}, name)
		} else if tree, _ := ui.NewTree(raw); tree != nil {
			m.add(ui.Block{Code: ui.Code{Label: name}, Tree: tree}, name)
		}
	}
}

// others shows the members that have no place in a block yet as a tree.
func (m *inputLayout) others() {
	left := slices.DeleteFunc(m.rest(), m.isLabel)
	if len(left) == 0 || len(m.blocks) == 0 {
		return
	}
	members := make(map[string]json.RawMessage, len(left))
	for _, name := range left {
		members[name] = m.members[name]
	}
	raw, err := json.Marshal(members)
	if err != nil || len(raw) > LayoutMost {
		return
	}
	if tree, _ := ui.NewTree(raw); tree != nil {
		m.add(ui.Block{Code: ui.Code{Label: "Other fields"}, Tree: tree}, left...)
	}
}

// isLabel reports whether a member is the path that blocks are labelled with.
func (m *inputLayout) isLabel(name string) bool {
	s, ok := words.Text(m.members[name])
	return ok && m.named && s == m.path && slices.Contains(paths[:], name)
}
