package api_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"countersign/handlers"
	"countersign/models"
)

// document is /openapi.json, read by a tool that knows the standard.
func document(t *testing.T, w *world) *openapi3.T {
	t.Helper()
	got := w.call("", "GET", "/openapi.json", "")
	got.want(t, 200, nil)
	doc, err := openapi3.NewLoader().LoadFromData([]byte(got.body))
	if err != nil {
		t.Fatalf("the document cannot be read: %v", err)
	}
	return doc
}

// The document says of every answer that may tell of a stop that it does, and of no other.
func TestTheDocumentSaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	var got []string
	for path, item := range document(t, newWorld(t)).Paths.Map() {
		for method, op := range item.Operations() {
			for status, res := range op.Responses.Map() {
				if res.Value.Headers["Retry-After"] != nil {
					got = append(got, method+" "+path+" "+status)
				}
			}
		}
	}
	slices.Sort(got)
	want := []string{
		"GET /api/approval/invocation/{tool_use_id} 200", "GET /conversations/{requestId} 200", "GET /v1/approvals/{id} 200",
		"POST /conversations/{requestId}/responses 202", "POST /hooks/claude-code 202", "POST /v1/approvals 202",
	}
	if !slices.Equal(got, want) {
		t.Errorf("it says so of\n%q, want\n%q", got, want)
	}
}

// The document keeps to OpenAPI 3.1, and its examples to its schemas.
func TestTheDocumentIsValid(t *testing.T) {
	t.Parallel()
	doc := document(t, newWorld(t))
	if doc.OpenAPI != "3.1.0" {
		t.Errorf("openapi: %s, want 3.1.0", doc.OpenAPI)
	}
	if err := doc.Validate(t.Context(), openapi3.IsOpenAPI31OrLater(), openapi3.DisableExamplesValidation(), openapi3.EnableMultiError()); err != nil {
		t.Errorf("the document is not valid: %v", err)
	}
	checked := 0
	for _, op := range operations(doc) {
		for _, media := range contents(op.op) {
			for name, example := range media.Examples {
				if media.Schema == nil {
					continue // a stream's example is its text
				}
				if err := doc.ValidateSchemaJSON(media.Schema.Value, example.Value.Value, openapi3.EnableJSONSchema2020(), openapi3.MultiErrors()); err != nil {
					t.Errorf("%s: example %s does not keep to its schema: %v", op.name, name, err)
				}
				checked++
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d examples were checked", checked)
	}
}

// Members that hold a value of one of models' lists name the whole list, and so does
// the parameter that takes a status.
func TestTheDocumentNamesTheListsOfModels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	doc := document(t, w)
	found := map[string]int{}
	see := func(name string, enum []any) {
		if slices.Contains(enum, any("all")) {
			t.Errorf("%s: an enum tag was not filled in: %v", name, enum)
		}
		for list, want := range map[string][]any{
			"risks": anys(models.Risks()), "statuses": anys(models.Statuses()), "kinds": anys(models.Kinds()),
		} {
			if slices.Equal(enum, want) {
				found[list]++
			} else if strings.HasSuffix(name, ".risk") && list == "risks" {
				t.Errorf("%s: %v", name, enum)
			}
		}
	}
	for name, schema := range doc.Components.Schemas {
		for member, property := range schema.Value.Properties {
			see(name+"."+member, property.Value.Enum)
		}
	}
	for _, op := range operations(doc) {
		for _, p := range op.op.Parameters {
			see(op.name+" "+p.Value.Name, p.Value.Schema.Value.Enum)
		}
	}
	if found["risks"] < 4 || found["statuses"] < 5 || found["kinds"] < 1 {
		t.Errorf("found %v", found)
	}
	w.call(w.agent, "GET", "/v1/approvals?status=odd", "").want(t, 422, map[string]any{"code": "invalid"})
	for _, status := range models.Statuses() {
		w.call(w.agent, "GET", "/v1/approvals?status="+string(status), "").want(t, 200, nil)
	}
}

func anys[T ~string](list []T) []any {
	out := make([]any, len(list))
	for i, value := range list {
		out[i] = string(value)
	}
	return out
}

// Every operation has an example of its body and of each answer, and names the
// codes of each problem.
func TestEveryOperationHasExamplesAndProblemCodes(t *testing.T) {
	t.Parallel()
	const remedy = "; add it to the operationDocs map of its surface, in handlers/api/openapi_*.go"
	for _, op := range operations(document(t, newWorld(t))) {
		if op.op.Summary == "" || op.op.OperationID == "" || len(op.op.Tags) == 0 {
			t.Errorf("%s: summary, operationId or tag is missing", op.name)
		}
		if op.op.RequestBody != nil {
			for kind, media := range op.op.RequestBody.Value.Content {
				if len(media.Examples) == 0 {
					t.Errorf("%s (%s): no example of the %s body"+remedy, op.name, op.op.OperationID, kind)
				}
			}
		}
		problems := 0
		for status, res := range op.op.Responses.Map() {
			problems += checkAnswer(t, op, status, res.Value, remedy)
		}
		if problems == 0 {
			t.Errorf("%s (%s): no problem codes"+remedy, op.name, op.op.OperationID)
		}
	}
}

// checkAnswer looks at one answer and returns how many problem codes it names.
func checkAnswer(t *testing.T, op operation, status string, res *openapi3.Response, remedy string) int {
	t.Helper()
	for kind, media := range res.Content {
		if len(media.Examples) == 0 {
			t.Errorf("%s (%s): no example of the %s answer of status %s"+remedy, op.name, op.op.OperationID, kind, status)
		}
	}
	number, err := strconv.Atoi(status)
	if err != nil {
		t.Errorf("%s: an answer of status %q: name it", op.name, status)
	}
	if number < 400 {
		if len(res.Content) == 0 {
			t.Errorf("%s (%s): the answer of status %s has no content"+remedy, op.name, op.op.OperationID, status)
		}
		return 0
	}
	codes := codesOf(t, res)
	if len(codes) == 0 {
		t.Errorf("%s (%s): status %s names no problem codes"+remedy, op.name, op.op.OperationID, status)
	}
	for _, code := range codes {
		if got := handlers.Status(code); got != number {
			t.Errorf("%s: %s is named at %d, but its status is %d", op.name, code, number, got)
		}
		example := res.Content["application/problem+json"].Examples[string(code)]
		if example == nil {
			t.Errorf("%s: %s has no example", op.name, code)
			continue
		}
		if p, ok := example.Value.Value.(map[string]any); !ok || p["code"] != string(code) || p["detail"] == "" {
			t.Errorf("%s: the example of %s is %v", op.name, code, example.Value.Value)
		}
	}
	return len(codes)
}

func codesOf(t *testing.T, res *openapi3.Response) (codes []models.Code) {
	t.Helper()
	raw, err := json.Marshal(res.Extensions["x-problem-codes"])
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &codes); err != nil {
		t.Fatal(err)
	}
	return codes
}

// Answers of the server keep to the schemas that the document gives for them,
// and problems have codes that it names.
func TestAnswersKeepToTheDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	doc := document(t, w)
	w.policy(`{"rules":[{"name":"ls","tools":["ls"],"effect":"allow"},{"name":"critical","tools":["rm"],"effect":"require","risk":"critical"},
		{"name":"mv","tools":["mv"],"effect":"require","risk":"low"}],"undo_seconds":{"low":30}}`)
	undone := w.ask(`{"toolUseId":"mv","toolName":"mv"}`)
	question := w.ask(`{"toolUseId":"q","kind":"question","description":"Which?","options":[{"name":"eu"}]}`)
	held := w.ask(`{"toolUseId":"rm","toolName":"rm","input":[1,"two"],"runId":"r"}`)
	seen := map[string]int{}
	for _, c := range []struct{ token, method, path, body string }{
		{w.agent, "POST", "/v1/approvals", `{"toolUseId":"1","toolName":"ls"}`},
		{w.agent, "POST", "/v1/approvals", `{"toolUseId":"2","toolName":"deploy"}`},
		{w.agent, "POST", "/v1/approvals", `{"toolUseId":"2","toolName":"other"}`},
		{w.agent, "POST", "/v1/approvals?wait=1ms", `{"toolUseId":"2","toolName":"deploy"}`},
		{w.agent, "POST", "/v1/approvals", `{"toolname":"x"}`},
		{w.reviewer, "POST", "/v1/approvals", `{}`},
		{"", "GET", "/v1/approvals", ""},
		{w.agent, "GET", "/v1/approvals?limit=0", ""},
		{w.agent, "GET", "/v1/approvals?wait=long", ""},
		{w.reviewer, "GET", "/v1/approvals", ""},
		{w.reviewer, "GET", "/v1/approvals/pending", ""},
		{w.admin, "GET", "/v1/approvals/stats", ""},
		{w.reviewer, "GET", "/v1/approvals/" + held, ""},
		{w.stranger, "GET", "/v1/approvals/" + held, ""},
		{w.reviewer, "POST", "/v1/approvals/" + held + "/respond", `{"approved":true}`},
		{w.reviewer, "POST", "/v1/approvals/" + held + "/respond", `{"answer":"yes"}`},
		{w.reviewer, "POST", "/v1/approvals/" + held + "/respond", `{"approved":true,"digest":"0"}`},
		{w.reviewer, "POST", "/v1/approvals/" + held + "/respond", `{"approved":false,"reason":"no"}`},
		{w.reviewer, "POST", "/v1/approvals/" + held + "/respond", `{"approved":false}`},
		{w.reviewer, "POST", "/v1/approvals/" + question + "/respond", `{"answer":""}`},
		{w.reviewer, "POST", "/v1/approvals/" + question + "/respond", `{"option":"eu"}`},
		{w.agent, "POST", "/v1/approvals/" + question + "/cancel", ""},
		{w.reviewer, "POST", "/v1/approvals/" + undone + "/notes", `{"text":"Why?"}`},
		{w.reviewer, "POST", "/v1/approvals/" + undone + "/notes", `{"text":""}`},
		{w.agent, "GET", "/v1/approvals/" + undone + "?wait=1s&seenNote=", ""},
		{w.agent, "GET", "/v1/approvals/" + undone + "?seenNote=x", ""},
		{w.agent, "POST", "/v1/approvals?wait=1s&seenNote=", `{"toolUseId":"mv","toolName":"mv"}`},
		{w.agent, "GET", "/api/approval/invocation/mv", ""},
		{w.agent, "POST", "/v1/approvals/" + undone + "/notes", `{"text":"So."}`},
		{w.stranger, "POST", "/v1/approvals/" + undone + "/notes", `{"text":"So."}`},
		{w.reviewer, "GET", "/v1/approvals/" + undone + "/notes", ""},
		{w.reviewer, "POST", "/v1/approvals/" + undone + "/extend", `{"minutes":60}`},
		{w.reviewer, "POST", "/v1/approvals/" + undone + "/extend", `{"minutes":1}`},
		{w.agent, "POST", "/v1/approvals/" + undone + "/extend", `{"minutes":60}`},
		{w.reviewer, "POST", "/v1/approvals/" + undone + "/undo", ""},
		{w.reviewer, "POST", "/v1/approvals/" + undone + "/respond", `{"approved":true}`},
		{w.admin, "POST", "/v1/approvals/" + undone + "/undo", ""},
		{w.admin, "POST", "/v1/approvals/" + undone + "/notes", `{"text":"Why?"}`},
		{w.admin, "POST", "/v1/approvals/" + undone + "/extend", `{"minutes":90}`},
		{w.reviewer, "GET", "/v1/approvals/" + undone, ""},
		{w.reviewer, "POST", "/v1/approvals/" + undone + "/undo", ""},
		{w.reviewer, "POST", "/v1/approvals/" + undone + "/cancel", ""},
		{w.reviewer, "POST", "/v1/approvals/" + undone + "/undo", ""},
		{w.reviewer, "POST", "/v1/approvals/" + undone + "/extend", `{"minutes":60}`},
		{w.agent, "POST", "/v1/approvals/" + undone + "/notes", `{"text":"Late."}`},
		{w.agent, "POST", "/api/approval/request", `{"tool_use_id":"9","tool_name":"read","session_id":"s"}`},
		{w.agent, "POST", "/api/approval/request", `{"tool_use_id":"8","tool_name":"rm","session_id":"s"}`},
		{w.agent, "POST", "/api/approval/request", `{"tool_use_id":"8","tool_name":"ls","session_id":"s"}`},
		{w.agent, "POST", "/api/approval/request", `{"tool_use_id":"8","tool_name":"rm","session_id":"t"}`},
		{w.reviewer, "GET", "/api/approval/invocation/8", ""},
		{w.reviewer, "GET", "/api/approval/invocation/8?session_id=s", ""},
		{w.reviewer, "GET", "/api/approval/pending/s", ""},
		{w.reviewer, "POST", "/api/approval/decide", `{"tool_use_id":"8","session_id":"s","decision":"APPROVED"}`},
		{w.reviewer, "POST", "/api/approval/decide", `{"tool_use_id":"8","session_id":"s","decision":"REJECTED"}`},
		{w.reviewer, "POST", "/api/approval/decide", `{"tool_use_id":"8","session_id":"s","decision":"REJECTED"}`},
		{w.reviewer, "GET", "/api/approval/config", ""},
		{w.reviewer, "PUT", "/api/approval/config", `{}`},
		{w.admin, "PUT", "/api/approval/config", `{"default_timeout_minutes":7}`},
		{w.admin, "GET", "/v1/policy", ""},
		{w.reviewer, "GET", "/v1/policy", ""},
		{w.admin, "PUT", "/v1/policy", `{"document":{},"note":"all anew"}`},
		{w.agent, "POST", "/conversations/" + uuid + "1/responses", `{"kind":"reply","content":"hello","responseId":"` + uuid + `2"}`},
		{w.agent, "POST", "/conversations/" + uuid + "1/responses", `{"kind":"reply","content":"other","responseId":"` + uuid + `2"}`},
		{w.agent, "POST", "/conversations/" + uuid + "1/responses", `{"kind":"proposal","content":"may I?","energyBudget":9}`},
		{w.agent, "POST", "/conversations/" + uuid + "1/responses?wait=1ms", `{"kind":"proposal","content":"and this?","responseId":"` + uuid + `3"}`},
		{w.agent, "POST", "/conversations/" + uuid + "1/responses", `{"kind":"rumour"}`},
		{w.reviewer, "GET", "/conversations/" + uuid + "1", ""},
		{w.reviewer, "GET", "/conversations/" + uuid + "1?after=0&wait=1s", ""},
		{w.stranger, "GET", "/conversations/" + uuid + "1", ""},
		{w.reviewer, "GET", "/conversations", ""},
		{w.reviewer, "GET", "/conversations?status=asleep", ""},
		{w.reviewer, "GET", "/conversations/" + uuid + "1/approvals", ""},
		{w.reviewer, "POST", "/conversations/" + uuid + "1/approve", `{"budgetChange":5}`},
		{w.reviewer, "POST", "/conversations/" + uuid + "1/approve", `{"newBudget":5}`},
		{w.reviewer, "POST", "/conversations/" + uuid + "1/approve", `{"responseId":"` + uuid + `3"}`},
		{w.reviewer, "POST", "/conversations/" + uuid + "1/reject", `{"feedback":"no"}`},
		{w.reviewer, "POST", "/conversations/" + uuid + "1/reject", `{}`},
		{w.reviewer, "POST", "/message", `{"content":"so?","id":"` + uuid + `1"}`},
		{w.reviewer, "POST", "/message", `{"content":"go on","id":"` + uuid + `1","approvalResponse":{"approved":true}}`},
		{w.reviewer, "POST", "/message", `{"id":"` + uuid + `1","approvalResponse":{"newBudget":2}}`},
		{w.agent, "POST", "/conversations/" + uuid + "1/responses", `{"kind":"reply","content":"too much"}`},
		{w.agent, "POST", "/v1/approvals", `{"toolUseId":"3","toolName":"rm","conversationId":"` + uuid + `1"}`},
		{w.agent, "POST", "/api/approval/request", `{"tool_use_id":"10","tool_name":"rm","session_id":"` + uuid + `1"}`},
		{w.agent, "PUT", "/conversations/" + uuid + "1/budget", `{"delta":5}`},
		{w.reviewer, "POST", "/conversations/" + uuid + "1/reject", `{"feedback":"enough"}`},
		{w.agent, "PUT", "/conversations/" + uuid + "1/budget", `{"delta":5}`},
		{w.reviewer, "PUT", "/conversations/" + uuid + "1/budget", `{"delta":5}`},
		{w.agent, "POST", "/v1/conversations", `{"id":"` + uuid + `7","runId":"nightly","energyBudget":5}`},
		{w.agent, "POST", "/v1/conversations", `{"runId":"nightly","parentRunId":"weekly"}`},
		{w.second, "POST", "/v1/conversations", `{"runId":"nightly"}`},
		{w.agent, "POST", "/v1/conversations", `{}`},
		{w.agent, "POST", "/v1/conversations/" + uuid + "7/events", `[{"type":"reply","id":"1","content":"x"},{"type":"rumour"},7]`},
		{w.agent, "POST", "/v1/conversations/" + uuid + "7/events", `{}`},
		{w.agent, "POST", "/v1/conversations/" + uuid + "8/events", `[]`},
		{w.second, "POST", "/v1/conversations/" + uuid + "7/events", `[]`},
		{w.admin, "POST", "/api/approval/cleanup", ""},
	} {
		got := w.call(c.token, c.method, c.path, c.body)
		path, _, _ := strings.Cut(c.path, "?")
		op := operationAt(doc, c.method, path)
		if op == nil {
			t.Errorf("%s %s is not in the document", c.method, path)
			continue
		}
		seen[op.OperationID]++
		res := op.Responses.Status(got.status)
		if res == nil {
			t.Errorf("%s %s answers %d, of which the document does not know: %s", c.method, c.path, got.status, got.body)
			continue
		}
		kind := got.header.Get("Content-Type")
		media := res.Value.Content[kind]
		if media == nil {
			t.Errorf("%s %s answers %d as %s, of which the document does not know", c.method, c.path, got.status, kind)
			continue
		}
		var value any
		if err := json.Unmarshal([]byte(got.body), &value); err != nil {
			t.Fatal(err)
		}
		if err := doc.ValidateSchemaJSON(media.Schema.Value, value, openapi3.EnableJSONSchema2020(), openapi3.MultiErrors()); err != nil {
			t.Errorf("%s %s: %s\ndoes not keep to the schema: %v", c.method, c.path, got.body, err)
		}
		if got.status >= 400 && !slices.Contains(codesOf(t, res.Value), models.Code(got.text("code"))) {
			t.Errorf("%s %s: the code %q is not named", c.method, c.path, got.text("code"))
		}
	}
	if len(seen) < 22 {
		t.Errorf("only these were called: %v", seen)
	}
}

// operation is one entry of the document.
type operation struct {
	name string // "GET /v1/approvals"
	path string
	op   *openapi3.Operation
}

func operations(doc *openapi3.T) (all []operation) {
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			all = append(all, operation{name: method + " " + path, path: path, op: op})
		}
	}
	slices.SortFunc(all, func(a, b operation) int { return strings.Compare(a.name, b.name) })
	return all
}

// operationAt finds the operation that a request means; names go before
// parameters.
func operationAt(doc *openapi3.T, method, path string) (found *openapi3.Operation) {
	for _, op := range operations(doc) {
		if !strings.HasPrefix(op.name, method+" ") {
			continue
		}
		if op.path == path {
			return op.op
		}
		want, got := strings.Split(op.path, "/"), strings.Split(path, "/")
		if len(want) == len(got) && slices.EqualFunc(want, got, func(w, g string) bool { return w == g || strings.HasPrefix(w, "{") }) {
			found = op.op
		}
	}
	return found
}

// contents are all bodies of an operation, asked and answered.
func contents(op *openapi3.Operation) (all []*openapi3.MediaType) {
	if op.RequestBody != nil {
		for _, media := range op.RequestBody.Value.Content {
			all = append(all, media)
		}
	}
	for _, res := range op.Responses.Map() {
		for _, media := range res.Value.Content {
			all = append(all, media)
		}
	}
	return all
}
