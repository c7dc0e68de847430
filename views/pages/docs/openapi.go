package docs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// openAPI is what the page reads of an OpenAPI document.
type openAPI struct {
	Info struct{ Title, Version, Description string }
	Tags []struct{ Name, Description string }

	Servers    []struct{ URL string }
	Paths      map[string]map[string]*openAPIOperation
	Components struct {
		Schemas map[string]*openAPISchema
	}
}

type openAPIOperation struct {
	ID                   string `json:"operationId"`
	Summary, Description string
	Token                string `json:"x-token"`
	Order                int    `json:"x-order"`
	Tags                 []string
	Security             []map[string][]string
	Parameters           []struct {
		Name, In, Description string
		Required              bool
		Schema                *openAPISchema
	}
	RequestBody struct {
		Content map[string]*openAPIMedia
	}
	Responses map[string]*openAPIResponse
}

type openAPIResponse struct {
	Description string
	Content     map[string]*openAPIMedia
	Codes       []string `json:"x-problem-codes"`
}

type openAPIMedia struct {
	Schema   *openAPISchema
	Examples map[string]openAPIExample
}

type openAPIExample struct {
	Summary string
	Value   json.RawMessage
}

type openAPISchema struct {
	Ref         string `json:"$ref"`
	Type        oneOrMore
	Format      string
	Description string
	Enum        []any
	Default     any
	Minimum     *float64
	Maximum     *float64
	Items       *openAPISchema
	AnyOf       []*openAPISchema
	Properties  map[string]*openAPISchema
	Required    []string
}

// oneOrMore is a keyword that takes a word or a list of words.
type oneOrMore []string

// UnmarshalJSON reads either form.
func (o *oneOrMore) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '[' {
		return json.Unmarshal(raw, (*[]string)(o))
	}
	var one string
	err := json.Unmarshal(raw, &one)
	*o = oneOrMore{one}
	return err
}

func readOpenAPI(document []byte) (*openAPI, error) {
	var doc openAPI
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, err
	}
	return &doc, nil
}

// openAPIPlace is an operation and its place.
type openAPIPlace struct {
	method, path string
	op           *openAPIOperation
}

// places are the operations of one tag, in the order that the document gives
// them.
func (d *openAPI) places(tag string) (out []openAPIPlace) {
	for path, methods := range d.Paths {
		for method, op := range methods {
			if slices.Contains(op.Tags, tag) {
				out = append(out, openAPIPlace{strings.ToUpper(method), path, op})
			}
		}
	}
	slices.SortFunc(out, func(a, b openAPIPlace) int {
		return cmp.Or(cmp.Compare(a.op.Order, b.op.Order), strings.Compare(a.path, b.path),
			strings.Compare(a.method, b.method))
	})
	return out
}

// variables are the parts of a path that a caller fills in.
var variables = regexp.MustCompile(`\{[^}]+\}`)

const schemaRoot = "#/components/schemas/"

// resolve follows a reference to a component.
func (d *openAPI) resolve(s *openAPISchema) *openAPISchema {
	if s != nil && s.Ref != "" {
		return d.Components.Schemas[strings.TrimPrefix(s.Ref, schemaRoot)]
	}
	return s
}

// words say what kind of value a schema means, with the id of the type that
// describes it, if one does.
func (s *openAPISchema) words() (kind, link string) {
	switch {
	case s == nil:
		return "", ""
	case s.Ref != "":
		name := strings.TrimPrefix(s.Ref, schemaRoot)
		return name, typeID(name)
	case s.Items != nil:
		kind, link = s.Items.words()
		return "list of " + kind, link
	case len(s.AnyOf) > 0:
		var kinds []string
		for _, one := range s.AnyOf {
			k, l := one.words()
			kinds = append(kinds, k)
			link += l
		}
		return strings.Join(kinds, " or "), link
	case len(s.Enum) > 0:
		var words []string
		for _, word := range s.Enum {
			if text, ok := word.(string); ok {
				words = append(words, text)
			}
		}
		return strings.Join(words, " | "), ""
	case len(s.Type) > 2:
		return "any JSON value", ""
	}
	kind = strings.Join(s.Type, " or ")
	if s.Format == "date-time" {
		kind = strings.Replace(kind, "string", "time", 1)
	}
	if s.Minimum != nil && s.Maximum != nil {
		kind += fmt.Sprintf(", %v to %v", *s.Minimum, *s.Maximum)
	}
	if s.Default != nil {
		kind += fmt.Sprintf(", %v if left out", s.Default)
	}
	return kind, ""
}

// fields are the members of an object: those that must be there first, each by
// name.
func (d *openAPI) fields(s *openAPISchema) (out []Field) {
	if s == nil {
		return nil
	}
	for name, member := range s.Properties {
		kind, link := member.words()
		out = append(out,
			Field{Name: name, Type: kind, Link: link, Text: member.Description, Required: slices.Contains(s.Required, name)})
	}
	slices.SortFunc(out, func(a, b Field) int {
		switch {
		case a.Required && !b.Required:
			return -1
		case b.Required && !a.Required:
			return 1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// title is what a problem of the code is called.
func (m *openAPIMedia) title(code string) string {
	if m == nil {
		return ""
	}
	return m.Examples[code].Summary
}

// text is an example as people read it: JSON indented, a stream as it is sent.
func (e openAPIExample) text() string {
	var plain string
	if json.Unmarshal(e.Value, &plain) == nil {
		return plain
	}
	var b bytes.Buffer
	if err := json.Indent(&b, e.Value, "", "  "); err != nil {
		return string(e.Value)
	}
	return b.String()
}
