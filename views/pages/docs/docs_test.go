package docs_test

import (
	"strings"
	"testing"

	"countersign/views"
	"countersign/views/gallery"
	"countersign/views/pages/docs"
	"countersign/views/pages/pagestest"
)

// A body of lines is shown as a command that keeps them, and a list by its
// elements.
func TestDocsShowBodiesOfLines(t *testing.T) {
	t.Parallel()
	v, err := docs.New([]byte(`{"tags":[{"name":"Runs"}],"paths":{"/r":{"post":{"operationId":"report","tags":["Runs"],"requestBody":{"content":{
"application/json":{"schema":{"type":"array","items":{"$ref":"#/components/schemas/Event"}},"examples":{"batch":{"value":[{"id":"1"}]}}},
"application/x-ndjson":{"examples":{"end":{"value":"{\"id\":\"1\"}\n{\"id\":\"2\"}\n"}}}}}}}},
"components":{"schemas":{"Event":{"properties":{"id":{"type":"string"}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	op := v.Groups[0].Operations[0]
	if len(op.Body) != 1 || op.Body[0].Name != "id" {
		t.Errorf("members: %+v", op.Body)
	}
	const want = "curl -X POST \"$SERVER/r\" \\\n  -H \"Content-Type: application/x-ndjson\" \\\n  --data-binary '{\"id\":\"1\"}\n{\"id\":\"2\"}\n'"
	if len(op.Examples) != 2 || op.Examples[0].ID == op.Examples[1].ID || op.Examples[1].Text != want {
		t.Errorf("examples: %+v\nwant %s", op.Examples, want)
	}
}

func docsPage(t *testing.T) docs.Docs {
	t.Helper()
	v, err := docs.New([]byte(gallery.Document))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDocsReadTheDocument(t *testing.T) {
	t.Parallel()
	v := docsPage(t)
	if len(v.Groups) != 1 || len(v.Groups[0].Operations) != 2 || v.Groups[0].ID != "group-tool-approval" {
		t.Fatalf("%+v", v.Groups)
	}
	decide, watch := v.Groups[0].Operations[0], v.Groups[0].Operations[1]
	if decide.ID != "op-decide" || watch.ID != "op-watch" {
		t.Errorf("the order is %s, %s", decide.ID, watch.ID)
	}
	want := "curl -X POST \"https://sign.example.org/z/$TOOL_USE_ID\" \\\n  -H \"Authorization: Bearer $TOKEN\" \\\n" +
		"  -H \"Content-Type: application/json\" \\\n  -d '{\n  \"reason\": \"it'\\''s <late>\"\n}'"
	if got := decide.Examples[0].Text; got != want {
		t.Errorf("the command is\n%s\nwant\n%s", got, want)
	}
	if got := watch.Examples[0].Text; got != `curl "https://sign.example.org/a"` {
		t.Errorf("without a token: %s", got)
	}
	if got := watch.Answers[0].Examples[0].Text; got != "id: 1\nevent: x\n" {
		t.Errorf("a stream reads %q", got)
	}
	if p := decide.Problems; len(p) != 1 || p[0] != (docs.Problem{Status: "409", Code: "expired", Title: "Past its deadline"}) {
		t.Errorf("problems: %+v", p)
	}
	if got := decide.Parameters[1].Type; got != "integer, 1 to 200, 50 if left out" {
		t.Errorf("limit is %q", got)
	}
	var types []string
	for _, f := range v.Types[0].Fields {
		types = append(types, f.Name+": "+f.Type)
	}
	if got := strings.Join(types, "; "); got != "reason: string; all: list of string; at: time or null; by: Verdict or null; kind: a | b; note: string or null; raw: any JSON value" {
		t.Errorf("members are %s", got)
	}
}

func TestDocsEscapeWhatTheDocumentHolds(t *testing.T) {
	t.Parallel()
	html := pagestest.Draw(t, docs.Page(views.Page{Title: "API", Path: "/docs", Now: gallery.Now}, docsPage(t)))
	if strings.Contains(html, "<late>") || !strings.Contains(html, "&lt;late&gt;") {
		t.Error("an example is not escaped")
	}
}

func TestDocsRefuseWhatIsNoDocument(t *testing.T) {
	t.Parallel()
	if _, err := docs.New([]byte(`{"paths":7}`)); err == nil {
		t.Error("taken for a document")
	}
}
