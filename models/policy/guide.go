package policy

import (
	_ "embed" // the guide
	"regexp"
	"strings"
	"sync"
)

// Guide explains the policy document to the people who write it, in Markdown, with
// examples that can be applied as they are.
//
//go:embed guide.md
var Guide string

// Example is a document to begin with.
type Example struct {
	Name     string // as in a form: "coding-agent"
	Title    string
	About    string // what it does
	Document string // JSON
}

// example is how the guide writes one, so that it is written once.
var example = regexp.MustCompile("(?s)\n\\*\\*([^*\n]+)\\*\\*: ([^\n]+)\n\n```json\n(.+?)```")

// Examples are the documents of the guide.
var Examples = sync.OnceValue(func() []Example {
	var out []Example
	for _, found := range example.FindAllStringSubmatch(Guide, -1) {
		out = append(out, Example{
			Name: strings.ReplaceAll(strings.ToLower(found[1]), " ", "-"), Title: found[1], About: found[2], Document: found[3],
		})
	}
	return out
})

// Begin puts an example into a draft: the members that it names, and its rules and
// templates in the place of those that there are.
func (d *Draft) Begin(e Example) error {
	from, err := ReadDraft([]byte(e.Document))
	if err != nil {
		return err
	}
	for _, m := range from.members {
		if m.name != rulesMember && m.name != templatesMember {
			d.members.set(m.name, m.value)
		}
	}
	d.rules, d.templates = from.rules, from.templates
	return nil
}
