package postgres

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Statement is one of ours as PostgreSQL takes it.
type Statement struct {
	Text string
	// Places are the arguments in PostgreSQL's order: of each its name, or its number from 1 in what a caller gives.
	Places []Place
	// Numbered is whether it stores one row, whose number is asked for.
	Numbered bool
}

// Place says which of a caller's arguments goes to a place.
type Place struct {
	Name   string // empty: it goes by number
	Number int
}

// Translate says a statement in PostgreSQL's language. It changes what models/db/dialect.go writes in SQLite's, and
// nothing else: what PostgreSQL does not know it refuses when the statement is prepared.
func Translate(statement string) (Statement, error) {
	nodes, err := parse(asked.Replace(statement))
	if err != nil {
		return Statement{}, err
	}
	t := translation{numbers: map[Place]int{}}
	nodes, ignore := t.insert(nodes)
	nodes, err = t.walk(nodes)
	if err != nil {
		return Statement{}, fmt.Errorf("translate %.60q: %w", statement, err)
	}
	if ignore {
		nodes = orNothing(nodes)
	}
	var out strings.Builder
	write(&out, nodes)
	return Statement{Text: strings.TrimSpace(out.String()), Places: t.places, Numbered: strings.HasSuffix(statement, tellNumber)}, nil
}

// What models/db/dialect.go asks for in comments: SQLite does it anyway.
const (
	inListOrder = ` /* in the order of the list */`
	tellNumber  = ` /* numbered */`
)

// Around a subquery that finds keys for each row: PostgreSQL looks them up by an index if they are an array, else it reads
// the whole table.
const (
	keysBegin = ` IN ( /* keys */ `
	keysEnd   = ` /* of keys */ )`
)

var asked = strings.NewReplacer(inListOrder, ` ORDER BY jn.place`, tellNumber, ` RETURNING number`,
	keysBegin, ` = ANY (ARRAY(`, keysEnd, `))`)

type translation struct {
	places  []Place
	numbers map[Place]int
	plain   int // how many ? there were
	tables  int // that have got a name
}

// insert takes OR IGNORE out of an INSERT, and reports that it was there.
func (*translation) insert(in []node) (out []node, ignore bool) {
	if len(in) > 3 && in[0].is("INSERT") && in[1].is("OR") && in[2].is("IGNORE") {
		return append(in[:1:1], in[3:]...), true
	}
	return in, false
}

// orNothing ends an INSERT that skips existing rows.
func orNothing(in []node) []node {
	end := len(in)
	for i := range in {
		if in[i].is("RETURNING") {
			end = i
		}
	}
	out := append(in[:end:end], words("ON CONFLICT DO NOTHING")...)
	return append(out, in[end:]...)
}

// words are keywords, as nodes.
func words(texts string) []node {
	var out []node
	for w := range strings.FieldsSeq(texts) {
		out = append(out, node{kind: word, text: w, space: true})
	}
	return out
}

// walk translates the nodes of one list.
func (t *translation) walk(in []node) ([]node, error) {
	var out []node
	for i := 0; i < len(in); {
		next, n, err := t.step(in, i, out)
		if err != nil {
			return nil, err
		}
		out, i = next, i+n
	}
	return out, nil
}

// step translates what begins at in[i], appends it to out, and says how many nodes that was.
func (t *translation) step(in []node, i int, out []node) ([]node, int, error) {
	n, rest := in[i], in[i:]
	switch {
	case n.is("INDEXED") && len(rest) > 2 && rest[1].is("BY"):
		return out, 3, nil
	case n.is("CROSS") && len(rest) > 1 && rest[1].is("JOIN") && hasOn(rest[2:]):
		return out, 1, nil
	case n.is("IS"):
		return append(out, same(rest)...), lengthOfIs(rest), nil
	case n.is("GLOB"):
		return t.glob(rest, out)
	case n.is("json_each") && len(rest) > 1 && rest[1].kind == list:
		return t.each(rest, out)
	case n.kind == word && len(rest) > 1 && rest[1].kind == list && !rest[1].space:
		return t.call(n, rest[1], out)
	case n.kind == sign && n.text == "+" && !isOperand(out):
		if len(rest) > 1 {
			in[i+1].space = in[i+1].space || n.space
		}
		return out, 1, nil
	case n.kind == value:
		n.text = t.place(n.text)
	case n.kind == text && n.text[0] == '`':
		n.text = `"` + strings.Trim(n.text, "`") + `"`
	case n.kind == list:
		parts, err := t.walk(n.parts)
		if err != nil {
			return nil, 0, err
		}
		n.parts = parts
		if len(parts) > 0 && parts[0].is("SELECT", "WITH", "VALUES") && fromTable(out) && !hasName(rest[1:]) {
			t.tables++
			return append(out, n, node{kind: word, text: "AS t" + strconv.Itoa(t.tables), space: true}), 1, nil
		}
	}
	return append(out, n), 1, nil
}

// place is the number of an argument's place.
func (t *translation) place(written string) string {
	var p Place
	switch {
	case written == "?":
		t.plain++
		p.Number = t.plain
	case written[0] == ':':
		p.Name = written[1:]
	default: // ?1, or $1 as GORM writes it
		p.Number, _ = strconv.Atoi(written[1:])
	}
	n, ok := t.numbers[p]
	if !ok {
		t.places = append(t.places, p)
		n = len(t.places)
		t.numbers[p] = n
	}
	return "$" + strconv.Itoa(n)
}

// hasOn reports whether the join that begins has a condition.
func hasOn(in []node) bool {
	for i := range in {
		if in[i].is("ON") {
			return true
		}
		if in[i].is("JOIN", "CROSS", "LEFT", "WHERE", "ORDER", "GROUP", "LIMIT", "UNION") || in[i].text == "," {
			return false
		}
	}
	return false
}

// IS compares two values of which either may be NULL; PostgreSQL has other words for that.
func same(in []node) []node {
	not := len(in) > 1 && in[1].is("NOT")
	n := lengthOfIs(in)
	if n < len(in) && in[n].is("NULL", "TRUE", "FALSE", "DISTINCT") {
		return in[:n]
	}
	if not {
		return words("IS DISTINCT FROM")
	}
	return words("IS NOT DISTINCT FROM")
}

func lengthOfIs(in []node) int {
	if len(in) > 1 && in[1].is("NOT") {
		return 2
	}
	return 1
}

// glob is a text that begins so: the only pattern that we write.
func (*translation) glob(in, out []node) ([]node, int, error) {
	if len(in) < 2 || in[1].kind != text || strings.IndexByte(in[1].text, '*') != len(in[1].text)-2 {
		return nil, 0, errors.New("GLOB is followed by no prefix")
	}
	prefix := in[1].text[:len(in[1].text)-2] + `'`
	return append(out, node{kind: sign, text: "^@", space: true}, node{kind: text, text: prefix, space: true}), 2, nil
}

// each is a table of the values of a JSON array, under the name that follows: jn is one of numbers, any other of texts.
func (t *translation) each(in, out []node) ([]node, int, error) {
	arg, err := t.walk(in[1].parts)
	if err != nil {
		return nil, 0, err
	}
	var values strings.Builder
	write(&values, arg)
	name, n := "each", 2
	if hasName(in[2:]) {
		name, n = in[2].text, 3
	}
	table := `jsonb_array_elements_text(CAST(` + values.String() + ` AS jsonb))`
	if name == "jn" {
		table = `(SELECT CAST(value AS bigint) AS value, place FROM ` + table + ` WITH ORDINALITY AS of(value, place)) ` + name
	} else {
		table = `(SELECT value FROM ` + table + ` AS of(value)) ` + name
	}
	return append(out, node{kind: word, text: table, space: in[0].space}), n, nil
}

// fromTable reports whether a table is named next.
func fromTable(out []node) bool { return len(out) > 0 && out[len(out)-1].is("FROM", "JOIN") }

// hasName reports whether a name for what came before follows.
func hasName(in []node) bool {
	return len(in) > 0 && in[0].kind == word &&
		!in[0].is("WHERE", "ORDER", "GROUP", "LIMIT", "UNION", "JOIN", "CROSS", "LEFT", "ON", "HAVING")
}

// isOperand reports whether a value is written last, so that a plus adds to it.
func isOperand(out []node) bool {
	if len(out) == 0 {
		return false
	}
	last := out[len(out)-1]
	if last.kind == word {
		return !last.is("SELECT", "WHERE", "AND", "OR", "NOT", "ON", "BY", "THEN", "ELSE", "WHEN", "CASE", "IN", "AS", "SET", "LIMIT", "DISTINCT")
	}
	return last.kind != sign
}

// write puts nodes into words again.
func write(out *strings.Builder, nodes []node) {
	for _, n := range nodes {
		if n.space {
			out.WriteByte(' ')
		}
		if n.kind != list {
			out.WriteString(n.text)
			continue
		}
		out.WriteByte('(')
		write(out, n.parts)
		out.WriteByte(')')
	}
}
