package api

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/handlers"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/policy"
)

// operationDoc is what /openapi.json tells of an operation beyond its types:
// examples, and every code that its problems may have. Each surface has a map
// of them by OperationID, in its openapi_ file.
type operationDoc struct {
	requests map[string]any // examples of the body, by a word for each
	lines    map[string]any // examples of the body as lines, where it may be that
	answers  map[int]any    // an example by status; for a stream, its text
	problems []models.Code  // its own; those of every operation are added
	conflict any            // "approval" of a 409; nil: nothing
	held     any            // "approval" of a 409 being_decided
	spent    any            // "approval" of a 402
}

// operationDocs are all surfaces' maps in one. They are functions, so that only a
// program that builds the document makes the examples.
func operationDocs() map[string]operationDoc {
	all := map[string]operationDoc{}
	for _, docs := range []func() map[string]operationDoc{
		approvalDocs, policyDocs, policyJudgingDocs, stopDocs, toolDocs, conversationDocs, runDocs, streamDocs, hookDocs,
		operationRouteDocs,
	} {
		maps.Copy(all, docs())
	}
	return all
}

// Where register leaves for the document who may use an operation, and which
// one it is.
const (
	metadataWho   = "who"
	metadataOrder = "order"
)

const (
	extensionToken = "x-token" // whose token an operation takes, in words
	extensionOrder = "x-order" // in which order a reader should meet the operations
)

var tokenWords = map[Capability]string{
	Anyone: "any token",
	Agents: "an agent's token",
	People: "a reviewer's or an admin's token",
	Admins: "an admin's token",

	PolicyReaders: "an admin's token, or an auditor's or a policy editor's",
	Drafters:      "an admin's token, or a policy editor's",
}

// functionCalls is a surface that the document tells of without its operations: a reader who
// calls them has an SDK.
const functionCalls = "Function calls"

// describe completes the document that huma made of routes and types.
func (a *API) describe() {
	doc := a.huma.OpenAPI()
	a.describeHooks()
	a.describeOperation()
	if a.kit.PublicURL != nil {
		doc.Servers = []*huma.Server{{URL: strings.TrimSuffix(a.kit.PublicURL.String(), "/")}}
	}
	doc.Tags = []*huma.Tag{
		{Name: "Approvals", Description: approvalsGuide},
		{Name: "Tool approval", Description: toolGuide},
		{Name: functionCalls, Description: functionCallsGuide},
		{Name: "Policy", Description: policyGuide},
		{
			Name:        "Stops",
			Description: "People stop one agent or all: what they ask is rejected and what waits is cancelled, until the stop is lifted.",
		},
		{Name: "Conversations", Description: conversationsGuide},
		{Name: "Run events", Description: runEventsGuide},
		{Name: "Coding agents", Description: hooksGuide},
		{Name: "Streams", Description: streamsGuide},
		{Name: "MCP", Description: mcpGuide}, // whose messages are the protocol's
		{Name: "Operation", Description: "For those who run the server."},
	}
	doc.Tags = slices.DeleteFunc(doc.Tags,
		func(t *huma.Tag) bool { return t.Name != functionCalls && !usesTag(doc, t.Name) })
	doc.Components.Schemas.Schema(reflect.TypeFor[policy.Document](), true, "")
	for name, schema := range doc.Components.Schemas.Map() {
		describeMembers(schema, doc.Components.Schemas.TypeFromRef("#/components/schemas/"+name))
	}
	describePolicy(doc.Components.Schemas)
	docs := operationDocs()
	for _, item := range doc.Paths {
		for _, op := range operationsOf(item) {
			d := docs[op.OperationID]
			if who, ok := op.Metadata[metadataWho].(Capability); ok {
				op.Extensions = map[string]any{extensionToken: tokenWords[who]}
			}
			if order, ok := op.Metadata[metadataOrder].(int); ok {
				op.Extensions[extensionOrder] = order
			}
			d.describe(op)
			describeWait(op)
			d.describeProblems(op)
		}
	}
}

func operationsOf(item *huma.PathItem) []*huma.Operation {
	all := []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete}
	return slices.DeleteFunc(all, func(op *huma.Operation) bool { return op == nil })
}

func usesTag(doc *huma.OpenAPI, tag string) bool {
	for _, item := range doc.Paths {
		for _, op := range operationsOf(item) {
			if slices.Contains(op.Tags, tag) {
				return true
			}
		}
	}
	return false
}

// describe puts examples at requests and answers.
func (d operationDoc) describe(op *huma.Operation) {
	if op.RequestBody != nil {
		for kind, media := range op.RequestBody.Content {
			media.Examples = examplesOf(d.requests)
			if kind == ndjson {
				media.Examples = examplesOf(d.lines)
			}
		}
	}
	for status, example := range d.answers {
		res := op.Responses[strconv.Itoa(status)]
		if res == nil {
			continue // the test of the document says so
		}
		if ok := op.Responses["200"]; res.Content == nil && ok != nil { // 202 answers as 200 does
			res.Headers = ok.Headers
			res.Content = map[string]*huma.MediaType{}
			for kind, media := range ok.Content {
				res.Content[kind] = &huma.MediaType{Schema: media.Schema}
			}
		}
		for _, media := range res.Content {
			media.Examples = examplesOf(map[string]any{"answer": example})
		}
	}
}

// describeWait adds what handlers.HintRetry sets to the answer of a wait without an outcome: 202, or 200 where that
// is pending too.
func describeWait(op *huma.Operation) {
	if !slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.Name == "wait" }) {
		return
	}
	res := op.Responses["202"]
	if res == nil {
		res = op.Responses["200"]
	}
	headers := map[string]*huma.Header{"Retry-After": {
		Description: "1 if the wait ended because the server stops: send the same again after a second",
		Schema:      &huma.Schema{Type: huma.TypeInteger},
	}}
	maps.Copy(headers, res.Headers) // which 200 may have too
	res.Headers = headers
}

func examplesOf(values map[string]any) map[string]*huma.Example {
	out := make(map[string]*huma.Example, len(values))
	for name, value := range values {
		out[name] = &huma.Example{Value: value}
	}
	return out
}

// extensionCodes lists, at each answer that is a problem, the codes it may have.
const extensionCodes = "x-problem-codes"

// describeProblems names the codes of each status, with an example of each.
func (d operationDoc) describeProblems(op *huma.Operation) {
	codes := append(commonProblems(op), d.problems...)
	slices.Sort(codes)
	byStatus := map[int][]models.Code{}
	for _, code := range slices.Compact(codes) {
		byStatus[handlers.Status(code)] = append(byStatus[handlers.Status(code)], code)
	}
	for status, codes := range byStatus {
		media := &huma.MediaType{
			Schema:   &huma.Schema{Ref: "#/components/schemas/Problem"},
			Examples: map[string]*huma.Example{},
		}
		for _, code := range codes {
			p := exampleProblem(code)
			switch status {
			case http.StatusConflict:
				switch {
				case code == models.CodeBeingDecided && d.held != nil:
					p.Approval = d.held
				case code == models.CodeSeveralWaiting:
					p.Waiting = []handlers.NamedRequest{
						{ResponseID: exampleID, Kind: models.KindProposal}, {ResponseID: exampleWish, Kind: models.KindBudget},
					}
				case code != models.CodeNoPendingApproval:
					p.Approval = d.conflict
				}
			case http.StatusPaymentRequired:
				p.ApprovalID, p.Approval = exampleID, d.spent
			}
			media.Examples[string(code)] = &huma.Example{Summary: p.Title, Value: p}
		}
		op.Responses[strconv.Itoa(status)] = &huma.Response{
			Description: fmt.Sprintf("%s: %s", http.StatusText(status), joinCodes(codes)),
			Content:     map[string]*huma.MediaType{"application/problem+json": media},
			Extensions:  map[string]any{extensionCodes: codes},
		}
	}
}

func joinCodes(codes []models.Code) string {
	words := make([]string, len(codes))
	for i, c := range codes {
		words[i] = string(c)
	}
	return strings.Join(words, ", ")
}

// anyJSON are the types that a value of any JSON may have.
var anyJSON = []string{"object", "array", "string", "number", "boolean", "null"}

// schemaPolicy is the tag of members that hold a policy as JSON, and policyRef its schema.
const (
	schemaPolicy = "policy"
	policyRef    = "#/components/schemas/Document"
)

// describePolicy says of a policy what its types do not: each member of the document may be
// left out, and a few words have a list.
func describePolicy(schemas huma.Registry) {
	document := schemas.SchemaFromRef(policyRef)
	document.Required = nil
	document.Properties["unmatched"].Enum = []any{policy.EffectAllow, policy.EffectRequire}
	rule := schemas.SchemaFromRef(document.Properties["rules"].Items.Ref)
	rule.Properties["effect"].Enum = []any{policy.EffectAllow, policy.EffectRequire, policy.EffectDeny}
	template := schemas.SchemaFromRef(document.Properties["templates"].Items.Ref)
	for _, s := range []*huma.Schema{rule, template} {
		s.Properties["risk"].Enum = lists[reflect.TypeFor[wire.Risk]()]
	}
}

// describeMembers adds what huma leaves out: that pointers to objects may be null, that raw values may be anything,
// and the values of enumAll.
func describeMembers(schema *huma.Schema, t reflect.Type) {
	if t == nil || t.Kind() != reflect.Struct {
		return
	}
	for _, field := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := schema.Properties[name]
		switch {
		case property == nil:
		case field.Tag.Get("enum") == enumAll:
			t := field.Type
			if t.Kind() == reflect.Pointer {
				t = t.Elem()
			}
			property.Enum = lists[t]
		case field.Tag.Get("schema") == schemaPolicy:
			schema.Properties[name] = &huma.Schema{Ref: policyRef, Description: property.Description}
		case field.Type == reflect.TypeFor[json.RawMessage](), field.Type == reflect.TypeFor[jsontext.Value]():
			property.ContentEncoding = "" // of bytes, for which they are taken
			property.Extensions = map[string]any{"type": anyJSON}
		case property.Ref != "" && field.Type.Kind() == reflect.Pointer && !strings.Contains(options, "omit"):
			schema.Properties[name] = &huma.Schema{
				Description: property.Description,
				AnyOf:       []*huma.Schema{{Ref: property.Ref}, {Type: "null"}},
			}
		}
	}
}
