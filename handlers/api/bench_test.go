package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"countersign/models"
)

const benchBody = `{"approvalId":"ID","toolName":"deploy","input":{"command":"./deploy.sh","args":["--env","production"],"retries":3},"description":"1.4 to production"}`

// serve answers one request in process, without a network.
func (w *world) serve(token, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(w.tb.Context(), method, path, strings.NewReader(body))
	r.Host = "localhost"
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	rec := httptest.NewRecorder()
	w.api.ServeHTTP(rec, r)
	return rec
}

// BenchmarkAsk is POST /v1/approvals: the surface and the store, each ask a new
// row; BenchmarkAskStore is the same without the surface.
func BenchmarkAsk(b *testing.B) {
	w := newWorld(b)
	b.ReportAllocs()
	for b.Loop() {
		body := strings.Replace(benchBody, "ID", string(models.NewID[models.ResponseID]()), 1)
		if rec := w.serve(w.agent, "POST", "/v1/approvals", body); rec.Code != http.StatusAccepted {
			b.Fatal(rec.Body)
		}
	}
}

func BenchmarkAskStore(b *testing.B) {
	w := newWorld(b)
	actor, err := w.store.People.AuthenticateToken(b.Context(), w.agent)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		_, err := w.store.Ask(b.Context(), actor, models.AskInput{
			ApprovalID: string(models.NewID[models.ResponseID]()), ToolName: "deploy", Explicit: true, Explanation: models.Explanation{Description: "1.4 to production"},
			Input: []byte(`{"command":"./deploy.sh","args":["--env","production"],"retries":3}`),
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGet is GET /v1/approvals/{id} of a settled request, without and with
// a wait, and BenchmarkGetStore the same without the surface.
func BenchmarkGet(b *testing.B) {
	for name, query := range map[string]string{"plain": "", "wait": "?wait=50s"} {
		b.Run(name, func(b *testing.B) {
			w, id := settled(b)
			b.ReportAllocs()
			for b.Loop() {
				if rec := w.serve(w.agent, "GET", "/v1/approvals/"+id+query, ""); rec.Code != http.StatusOK {
					b.Fatal(rec.Body)
				}
			}
		})
	}
}

func BenchmarkGetStore(b *testing.B) {
	w, id := settled(b)
	actor, err := w.store.People.AuthenticateToken(b.Context(), w.agent)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.store.Await(b.Context(), actor, models.ResponseID(id), 1); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRouting is a request that ends at the token: router, middleware and
// problem document alone.
func BenchmarkRouting(b *testing.B) {
	w := newWorld(b)
	b.ReportAllocs()
	for b.Loop() {
		if rec := w.serve("", "GET", "/v1/approvals/"+uuid+"1", ""); rec.Code != http.StatusUnauthorized {
			b.Fatal(rec.Body)
		}
	}
}

func settled(b *testing.B) (*world, string) {
	b.Helper()
	w := newWorld(b)
	id := w.ask(fmt.Sprintf(`{"approvalId":"%s1","toolName":"deploy","input":{"a":1}}`, uuid))
	w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true}`).want(b, 200, nil)
	return w, id
}
