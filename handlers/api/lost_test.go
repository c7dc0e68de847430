package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestI8ALostConnectionWithdrawsNothing, on every route that waits: people see that the
// agent waits no more, the request is as it was, and whoever comes back meets it.
func TestI8ALostConnectionWithdrawsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"required_approval_tools":["rm"]}`)
	id := w.ask(`{"runId":"s","toolUseId":"t1","toolName":"rm"}`)
	conv := w.call(w.agent, "GET", "/v1/approvals/"+id, "").text("conversationId")
	proposal := w.call(w.agent, "POST", "/conversations/"+conv+"/responses", `{"responseId":"`+uuid+`7","kind":"proposal","content":"Go?"}`).text("responseId")
	for name, tt := range map[string]struct{ method, path, body, id string }{
		"ask":        {"POST", "/v1/approvals?wait=50s", `{"toolUseId":"t1","toolName":"rm"}`, id},
		"get":        {"GET", "/v1/approvals/" + id + "?wait=50s", "", id},
		"invocation": {"GET", "/api/approval/invocation/t1?wait=50s", "", id},
		"proposal":   {"POST", "/conversations/" + conv + "/responses?wait=50s", `{"responseId":"` + uuid + `7","kind":"proposal","content":"Go?"}`, proposal},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cut := context.WithCancel(t.Context())
			defer cut()
			req, err := http.NewRequestWithContext(ctx, tt.method, w.url+tt.path, strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+w.agent)
			req.Header.Set("Content-Type", "application/json")
			ended := make(chan error, 1)
			go func() {
				_, err := do(req)
				ended <- err
			}()
			w.blocked(1)
			w.agentsWait("1")
			w.call(w.reviewer, "GET", "/v1/approvals/"+tt.id, "").want(t, http.StatusOK, map[string]any{"waiting": true})
			cut()
			if err := <-ended; err == nil {
				t.Fatal("the connection was not lost")
			}
			w.blocked(0)
			w.clock.Step(4 * time.Second)
			w.call(w.reviewer, "GET", "/v1/approvals/"+tt.id, "").want(t, http.StatusOK, map[string]any{"waiting": false, "status": "pending", "decision": nil})
		})
	}
}
