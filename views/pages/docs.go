package pages

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
	Groups               []DocsGroup
	Types                []DocsType
}

// DocsGroup are the operations of one surface.
type DocsGroup struct {
	ID, Name, Text string
	Operations     []DocsOperation
}

// DocsOperation is one method of one path.
type DocsOperation struct {
	ID, Method, Path string
	Summary, Text    string
	Token            string // whose token it takes, in words
	Parameters       []DocsField
	Body             []DocsField
	Examples         []DocsExample // of requests, the first as a command
	Answers          []DocsAnswer
	Problems         []DocsProblem
}

// DocsField is a parameter or member. Link names the type that describes it.
type DocsField struct {
	Name, Where, Type, Link, Text string
	Required                      bool
}

// DocsExample is text to read or to copy.
type DocsExample struct{ ID, Label, Text string }

// DocsAnswer is what comes back when all is well.
type DocsAnswer struct {
	Status, Text, Type, Link string
	Examples                 []DocsExample
}

// DocsProblem is one code that an operation may answer with.
type DocsProblem struct{ Status, Code, Title string }

// DocsType is a kind of object that several places name.
type DocsType struct {
	ID, Name string
	Fields   []DocsField
}

// NewDocs reads an OpenAPI document.
func NewDocs(document []byte) (Docs, error) {
	doc, err := readOpenAPI(document)
	if err != nil {
		return Docs{}, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	v := Docs{Title: doc.Info.Title, Version: doc.Info.Version, Text: doc.Info.Description}
	for _, tag := range doc.Tags {
		group := DocsGroup{ID: "group-" + slug(tag.Name), Name: tag.Name, Text: tag.Description}
		for _, place := range doc.places(tag.Name) {
			group.Operations = append(group.Operations, doc.operation(place.method, place.path, place.op))
		}
		v.Groups = append(v.Groups, group)
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		if fields := doc.fields(doc.Components.Schemas[name]); len(fields) > 0 {
			v.Types = append(v.Types, DocsType{ID: typeID(name), Name: name, Fields: fields})
		}
	}
	return v, nil
}

func (d *openAPI) operation(method, path string, op *openAPIOperation) DocsOperation {
	v := DocsOperation{
		ID: "op-" + op.ID, Method: method, Path: path, Summary: op.Summary, Text: op.Description, Token: op.Token,
	}
	for _, p := range op.Parameters {
		kind, link := p.Schema.words()
		v.Parameters = append(v.Parameters, DocsField{Name: p.Name, Where: p.In, Type: kind, Link: link, Text: p.Description, Required: p.Required})
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
			v.Problems = append(v.Problems, DocsProblem{Status: status, Code: code, Title: res.Content["application/problem+json"].title(code)})
		}
	}
	return v
}

// answer shows each example of one status.
func (d *openAPI) answer(id, status string, res *openAPIResponse) DocsAnswer {
	a := DocsAnswer{Status: status, Text: res.Description}
	for _, kind := range slices.Sorted(maps.Keys(res.Content)) {
		media := res.Content[kind]
		a.Type, a.Link = media.Schema.words()
		if a.Type == "" {
			a.Type = kind
		}
		for i, name := range slices.Sorted(maps.Keys(media.Examples)) {
			a.Examples = append(a.Examples, DocsExample{
				ID: id + "-" + status + "-" + strconv.Itoa(i+1), Label: "Example", Text: media.Examples[name].text(),
			})
		}
	}
	return a
}

// requests shows the call as a command, and the other bodies that it may have.
func (d *openAPI) requests(v DocsOperation, op *openAPIOperation) (out []DocsExample) {
	for _, kind := range slices.Sorted(maps.Keys(op.RequestBody.Content)) {
		media := op.RequestBody.Content[kind]
		for _, name := range slices.Sorted(maps.Keys(media.Examples)) {
			out = append(out, DocsExample{
				ID: v.ID + "-call-" + strconv.Itoa(len(out)+1), Label: "curl: " + strings.ReplaceAll(name, "_", " "), Text: d.command(v, op, kind, media.Examples[name].text()),
			})
		}
	}
	if len(out) == 0 {
		return []DocsExample{{ID: v.ID + "-call", Label: "curl", Text: d.command(v, op, "", "")}}
	}
	return out
}

// command calls an operation from a shell, with what a reader fills in as
// variables.
func (d *openAPI) command(v DocsOperation, op *openAPIOperation, kind, body string) string {
	path := variables.ReplaceAllStringFunc(v.Path, func(s string) string { return "$" + strings.ToUpper(strings.Trim(s, "{}")) })
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
