package docs

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Docs is the description of the JSON surfaces, made from the OpenAPI document
// that the server serves: nothing in it is written twice.
type Docs struct {
	Title, Version, Text string
	Groups               []Group
	Types                []Type
}

// Group are the operations of one surface.
type Group struct {
	ID, Name, Text string
	Operations     []Operation
}

// Operation is one method of one path.
type Operation struct {
	ID, Method, Path string
	Summary, Text    string
	Token            string // whose token it takes, in words
	Parameters       []Field
	Body             []Field
	Examples         []Example // of requests, the first as a command
	Answers          []Answer
	Problems         []Problem
}

// Field is a parameter or member. Link names the type that describes it.
type Field struct {
	Name, Where, Type, Link, Text string
	Required                      bool
}

// Example is text to read or to copy.
type Example struct{ ID, Label, Text string }

// Answer is the answer when all is well.
type Answer struct {
	Status, Text, Type, Link string
	Examples                 []Example
}

// Problem is one code that an operation may answer with.
type Problem struct{ Status, Code, Title string }

// Type is a kind of object that several places name.
type Type struct {
	ID, Name string
	Fields   []Field
}

// New reads an OpenAPI document.
func New(document []byte) (Docs, error) {
	doc, err := readOpenAPI(document)
	if err != nil {
		return Docs{}, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	v := Docs{Title: doc.Info.Title, Version: doc.Info.Version, Text: doc.Info.Description}
	for _, tag := range doc.Tags {
		group := Group{ID: "group-" + slug(tag.Name), Name: tag.Name, Text: tag.Description}
		for _, place := range doc.places(tag.Name) {
			group.Operations = append(group.Operations, doc.operation(place.method, place.path, place.op))
		}
		v.Groups = append(v.Groups, group)
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		if fields := doc.fields(doc.Components.Schemas[name]); len(fields) > 0 {
			v.Types = append(v.Types, Type{ID: typeID(name), Name: name, Fields: fields})
		}
	}
	return v, nil
}

func (d *openAPI) operation(method, path string, op *openAPIOperation) Operation {
	v := Operation{
		ID: "op-" + op.ID, Method: method, Path: path, Summary: op.Summary, Text: op.Description, Token: op.Token,
	}
	for _, p := range op.Parameters {
		kind, link := p.Schema.words()
		v.Parameters = append(v.Parameters,
			Field{Name: p.Name, Where: p.In, Type: kind, Link: link, Text: p.Description, Required: p.Required})
	}
	v.Examples = d.requests(v, op)
	if media := op.RequestBody.Content["application/json"]; media != nil {
		schema := d.resolve(media.Schema)
		if schema != nil && schema.Items != nil {
			schema = d.resolve(schema.Items) // of each element
		}
		v.Body = d.fields(schema)
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		res := op.Responses[status]
		if status < "400" {
			v.Answers = append(v.Answers, d.answer(v.ID, status, res))
			continue
		}
		for _, code := range res.Codes {
			v.Problems = append(v.Problems,
				Problem{Status: status, Code: code, Title: res.Content["application/problem+json"].title(code)})
		}
	}
	return v
}

// answer shows each example of one status.
func (d *openAPI) answer(id, status string, res *openAPIResponse) Answer {
	a := Answer{Status: status, Text: res.Description}
	for _, kind := range slices.Sorted(maps.Keys(res.Content)) {
		media := res.Content[kind]
		a.Type, a.Link = media.Schema.words()
		if a.Type == "" {
			a.Type = kind
		}
		for i, name := range slices.Sorted(maps.Keys(media.Examples)) {
			a.Examples = append(a.Examples, Example{
				ID: id + "-" + status + "-" + strconv.Itoa(i+1), Label: "Example", Text: media.Examples[name].text(),
			})
		}
	}
	return a
}

// requests shows the call as a command, and the other bodies that it may have.
func (d *openAPI) requests(v Operation, op *openAPIOperation) (out []Example) {
	for _, kind := range slices.Sorted(maps.Keys(op.RequestBody.Content)) {
		media := op.RequestBody.Content[kind]
		for _, name := range slices.Sorted(maps.Keys(media.Examples)) {
			out = append(out, Example{
				ID: v.ID + "-call-" + strconv.Itoa(len(out)+1), Label: "curl: " + strings.ReplaceAll(name, "_", " "),
				Text: d.command(v, op, kind, media.Examples[name].text()),
			})
		}
	}
	if len(out) == 0 {
		return []Example{{ID: v.ID + "-call", Label: "curl", Text: d.command(v, op, "", "")}}
	}
	return out
}

// command calls an operation from a shell, with what a reader fills in as
// variables.
func (d *openAPI) command(v Operation, op *openAPIOperation, kind, body string) string {
	path := variables.ReplaceAllStringFunc(v.Path,
		func(s string) string { return "$" + strings.ToUpper(strings.Trim(s, "{}")) })
	server := "$SERVER"
	if len(d.Servers) > 0 {
		server = d.Servers[0].URL
	}
	parts := []string{"curl"}
	if v.Method != http.MethodGet {
		parts = append(parts, "-X "+v.Method)
	}
	parts = append(parts, `"`+server+path+`"`)
	lines := []string{strings.Join(parts, " ")}
	if len(op.Security) > 0 {
		lines = append(lines, `  -H "Authorization: Bearer $TOKEN"`)
	}
	if body != "" {
		data := "-d"
		if kind != "application/json" {
			data = "--data-binary" // -d drops the ends of lines
		}
		lines = append(lines, `  -H "Content-Type: `+kind+`"`, `  `+data+` '`+strings.ReplaceAll(body, `'`, `'\''`)+`'`)
	}
	return strings.Join(lines, " \\\n")
}

func typeID(name string) string { return "type-" + slug(name) }

// slug is a name as an id.
func slug(name string) string { return strings.ToLower(strings.ReplaceAll(name, " ", "-")) }
