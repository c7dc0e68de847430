package api_test

import (
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"
)

// Which requests may wait is known by their route: it is those with the parameter, but
// for a history, which waits on its own goroutine. What the query says, and how it is
// spelled, changes nothing.
func TestRoutesThatMayWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string
			Parameters  []struct{ Name string }
		}
	}
	text, err := w.api.Document()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	waits := 0
	for path, operations := range document.Paths {
		for method, op := range operations {
			want := false
			for _, p := range op.Parameters {
				want = want || p.Name == "wait" && op.OperationID != "get-conversation" && op.OperationID != "hook-claude-code" // it waits beside this surface
			}
			if want {
				waits++
			}
			concrete := strings.NewReplacer("{", "a-", "}", "").Replace(path)
			for _, query := range []string{"", "?wait=50s", "?w%61it=50s"} {
				r := httptest.NewRequestWithContext(t.Context(), strings.ToUpper(method), concrete+query, nil)
				if got := w.api.MayWait(r); got != want {
					t.Errorf("%s %s%s may wait: %v, want %v", method, path, query, got, want)
				}
			}
		}
	}
	if waits != 4 {
		t.Errorf("%d operations wait", waits)
	}
	for _, elsewhere := range []string{"/v1/approvals/", "/nothing", "/v1/approvals/1/nothing"} {
		if w.api.MayWait(httptest.NewRequestWithContext(t.Context(), "GET", elsewhere+"?wait=50s", nil)) {
			t.Errorf("%s may wait", elsewhere)
		}
	}
}

// An answer is the same whether it comes at once or after a wait.
func TestAnAnswerIsTheSameAfterAWait(t *testing.T) {
	t.Parallel()
	for name, many := range map[string]bool{"among few": false, "among many": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if many {
				w.api.AsIfManyWaited()
			}
			id := w.ask(`{"runId":"r","toolUseId":"t1","toolName":"rm"}`)
			ask := `{"runId":"r","toolUseId":"t1","toolName":"rm"}`
			proposal := `{"kind":"proposal","content":"Shall I?","responseId":"` + uuid + `2"}`
			for _, tt := range []struct{ token, method, path, body string }{
				{w.agent, "POST", "/v1/approvals", ask},
				{w.agent, "GET", "/v1/approvals/" + id, ""},
				{w.reviewer, "GET", "/v1/approvals/" + id, ""},
				{w.agent, "GET", "/api/approval/invocation/t1", ""},
				{w.agent, "POST", "/conversations/" + run + "/responses", proposal},
			} {
				atOnce := w.call(tt.token, tt.method, tt.path, tt.body)
				for _, query := range []string{"?wait=5ms", "?w%61it=5ms"} {
					waited := w.call(tt.token, tt.method, tt.path+query, tt.body)
					for _, header := range []string{"Location", "Content-Type"} {
						if a, b := atOnce.header.Get(header), waited.header.Get(header); a != b {
							t.Errorf("%s %s: %s is %q at once, %q after a wait", tt.method, tt.path, header, a, b)
						}
					}
					if atOnce.status != waited.status || atOnce.body != waited.body {
						t.Errorf("%s %s: at once %d %s, after a wait %d %s", tt.method, tt.path, atOnce.status, atOnce.body, waited.status, waited.body)
					}
				}
			}
		})
	}
}
