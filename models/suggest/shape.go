package suggest

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
	"countersign/models/condition"
)

// maxExact is how many bytes a value has at most that a rule repeats.
const maxExact = 200

// partKind is how a part of an input may be alike in a family.
type partKind int

const (
	exact   partKind = iota // only by being the same
	folder                  // by the folder that paths are in
	address                 // by where addresses begin
	amount                  // by the least and the most
)

// part is a member of an input, or a word of its command.
type part struct {
	name    string // for people
	subject string // for conditions
	kind    partKind
	text    string // the value; of exact, as a condition writes it
	shown   string // the value, for people
	origin  string // of an address: until behind its host
}

// shape is an input as families compare it.
type shape struct {
	unreadable bool // it can't be said exactly
	names      []string
	line       string // the path to its command, where parts are words of that
	program    string // of that command
	parts      []part
}

// key is the same for all inputs that differ in nothing but paths, addresses and amounts.
func (s *shape) key() string { return s.keyBut(-1) }

// keyBut is key without one part.
func (s *shape) keyBut(i int) string {
	b := strings.Builder{}
	for _, name := range s.names {
		b.WriteString(strconv.Quote(name))
	}
	for k, p := range s.parts {
		b.WriteString("\x00" + p.subject + "\x00" + strconv.Itoa(int(p.kind)))
		if k == i {
			continue
		}
		switch p.kind {
		case exact:
			b.WriteString(p.text)
		case address:
			b.WriteString(p.origin)
		case folder, amount:
		}
	}
	return b.String()
}

var (
	// plainPath is an absolute path of names that each program reads in the same way: nothing climbs or is hidden in a
	// letter that looks like another.
	plainPath = regexp.MustCompile(`^(?:/\.?[A-Za-z0-9_@+,=-]+(?:\.[A-Za-z0-9_@+,=-]+)*)+$`)
	// plainAddress is one of a host that is written out.
	plainAddress = regexp.MustCompile(`^(https?://[a-z0-9][a-z0-9.-]*[a-z0-9](?::[0-9]{1,5})?)(/[A-Za-z0-9_.~/?=&,:;%+-]*)?$`)
	// plainLine is a command without anything that a shell reads.
	plainLine = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,= -]+$`)
)

// toldOf are members that say to people what a call does, and do nothing themselves.
var toldOf = map[string]string{"Bash": "description"}

// readShape takes an input apart.
func readShape(tool string, input []byte) shape {
	whole, err := models.ShapeOf(input)
	if err != nil || !whole.Object {
		return shape{unreadable: true}
	}
	var out shape
	for _, m := range whole.Members {
		out.names = append(out.names, m.Name)
		subject := condition.MemberPath(m.Name)
		switch {
		case toldOf[tool] == m.Name:
		case m.Name == "command" || m.Name == "cmd":
			if !out.command(m, subject) {
				return shape{unreadable: true}
			}
		default:
			p, ok := partOf(m.Value)
			if !ok {
				return shape{unreadable: true}
			}
			p.name, p.subject = m.Name, subject
			out.parts = append(out.parts, p)
		}
	}
	return out
}

// partOf reads a value; ok is false of one that is too long to repeat.
func partOf(value jsontext.Value) (p part, ok bool) {
	switch value.Kind() { //nolint:exhaustive // of the others, only the same is alike
	case '"':
		text, err := jsontext.AppendUnquote(nil, value)
		if err != nil {
			return p, false
		}
		return textPart(string(text))
	case '0':
		if condition.ReadsAsNumber(string(value)) {
			return part{kind: amount, text: string(value), shown: string(value)}, true
		}
	}
	return part{text: string(value), shown: string(value)}, len(value) <= maxExact
}

func textPart(text string) (p part, ok bool) {
	if found := plainAddress.FindStringSubmatch(text); found != nil {
		return part{kind: address, text: text, shown: text, origin: found[1]}, true
	}
	if plainPath.MatchString(text) {
		return part{kind: folder, text: text, shown: text}, true
	}
	return part{text: strconv.Quote(text), shown: text}, len(text) <= maxExact
}

// command reads a simple command: as a whole, or by its words where some of them are paths. ok is false of any other.
func (s *shape) command(m models.Member, subject string) (ok bool) {
	raw, err := jsontext.AppendUnquote(nil, m.Value)
	line := string(raw)
	if err != nil || m.Value.Kind() != '"' || s.line != "" || len(line) > maxExact || !plainLine.MatchString(line) {
		return false
	}
	words := condition.SimpleCommand(line)
	if len(words) == 0 {
		return false
	}
	s.line = subject
	var parts []part
	paths := false
	for i, word := range words[1:] {
		p := part{text: strconv.Quote(word), shown: word}
		if plainPath.MatchString(word) {
			p, paths = part{kind: folder, text: word, shown: word}, true
		}
		p.name, p.subject = "argument "+strconv.Itoa(i+1)+" of "+m.Name, "command("+subject+").args["+strconv.Itoa(i)+"]"
		parts = append(parts, p)
	}
	if !paths {
		s.line = ""
		s.parts = append(s.parts, part{name: m.Name, subject: subject, text: strconv.Quote(line), shown: line})
		return true
	}
	s.program = words[0]
	s.parts = append(s.parts, part{name: m.Name, subject: "command(" + subject + ").program", text: strconv.Quote(words[0]), shown: words[0]})
	s.parts = append(s.parts, parts...)
	return true
}
