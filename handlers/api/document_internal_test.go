package api

import (
	"encoding/json"
	"log/slog"
	"net/url"
	"reflect"
	"sync"
	"testing"

	"countersign/handlers"
	"countersign/models/storetest"
)

func newForTest(tb testing.TB) *API {
	tb.Helper()
	s := storetest.New(tb)
	a, err := New(handlers.Kit{Log: slog.New(slog.DiscardHandler), Now: s.Now, PublicURL: &url.URL{Scheme: "http", Host: "localhost"}}, s, "test")
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// What serves checks the parameters that the document describes, by the same
// schemas, and asks for a body where it does.
func TestServingChecksWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	a := newForTest(t)
	serving, described := a.huma.OpenAPI(), a.described().huma.OpenAPI()
	checked := 0
	for path, item := range described.Paths {
		for _, op := range operationsOf(item) {
			if serving.Paths[path] == nil {
				if _, served := op.Metadata[metadataWho]; served {
					t.Errorf("%s is not served", path)
				}
				continue // cmd serves those of operation
			}
			for _, served := range operationsOf(serving.Paths[path]) {
				if served.Method != op.Method {
					continue
				}
				if got, want := written(t, served.Parameters), written(t, op.Parameters); got != want {
					t.Errorf("%s checks the parameters\n%s, not\n%s", op.OperationID, got, want)
				}
				if (served.RequestBody == nil) != (op.RequestBody == nil) || served.RequestBody != nil && served.RequestBody.Required != op.RequestBody.Required {
					t.Errorf("%s asks for another body", op.OperationID)
				}
				if !served.SkipValidateBody && served.RequestBody != nil {
					t.Errorf("%s checks its body by an empty schema", op.OperationID)
				}
				checked += len(op.Parameters)
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d parameters were checked", checked)
	}
}

func written(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Whoever comes first, all get the same document, and it is built once.
func TestTheDocumentIsBuiltOnce(t *testing.T) {
	t.Parallel()
	a := newForTest(t)
	documents := make([][]byte, 8)
	var wg sync.WaitGroup
	for i := range documents {
		wg.Go(func() {
			document, err := a.Document()
			if err != nil {
				t.Error(err)
			}
			documents[i] = document
		})
	}
	wg.Wait()
	for _, document := range documents {
		if len(document) == 0 || reflect.ValueOf(document).Pointer() != reflect.ValueOf(documents[0]).Pointer() {
			t.Error("the document was built twice")
		}
	}
}

// BenchmarkNew is what the surface adds to the start.
func BenchmarkNew(b *testing.B) {
	a := newForTest(b)
	for b.Loop() {
		if _, err := New(a.kit, a.store, "test"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkDocument is what the first reader of the document waits for.
func BenchmarkDocument(b *testing.B) {
	a := newForTest(b)
	for b.Loop() {
		if _, err := a.buildDocument(); err != nil {
			b.Fatal(err)
		}
	}
}
