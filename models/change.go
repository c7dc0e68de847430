package models

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// DescribeChange says in words how a call should be made instead, for an agent whose client
// can't receive an edited input: each member that was added, changed or removed, with its
// values as JSON. Inputs that are no objects are given whole. Empty for no change.
func DescribeChange(asked, edited []byte) (string, error) {
	before, err := ShapeOf(asked)
	if err != nil {
		return "", err
	}
	after, err := ShapeOf(edited)
	if err != nil {
		return "", err
	}
	var lines []string
	switch {
	case bytes.Equal(before.Whole, after.Whole):
		return "", nil
	case !before.Object || !after.Object:
		lines = []string{"the input " + string(after.Whole)}
	default:
		lines = changedMembers(before.Members, after.Members)
	}
	return "Make the call again with: " + strings.Join(lines, "; ") + ".", nil
}

// changedMembers compares two lists of members.
func changedMembers(before, after []Member) []string {
	was := make(map[string]jsontext.Value, len(before))
	for _, m := range before {
		was[m.Name] = m.Value
	}
	var lines []string
	for _, m := range after {
		old, known := was[m.Name]
		delete(was, m.Name)
		switch {
		case !known:
			lines = append(lines, fmt.Sprintf("%s added as %s", asJSON(m.Name), m.Value))
		case !bytes.Equal(old, m.Value):
			lines = append(lines, fmt.Sprintf("%s as %s instead of %s", asJSON(m.Name), m.Value, old))
		}
	}
	for _, m := range before {
		if _, found := was[m.Name]; found {
			lines = append(lines, "without "+asJSON(m.Name))
		}
	}
	return lines
}

// asJSON is a name as JSON writes it.
func asJSON(name string) string {
	quote, err := jsontext.AppendQuote(nil, name)
	if err != nil {
		return fmt.Sprintf("%q", name) // a member's name always quotes
	}
	return string(quote)
}
