package client_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
)

// What is no whole answer of ours is none, whatever comes with it: an agent lets a call
// through on a decision that it does not know.
func TestAHookTakesWholeAnswersOnlyI11(t *testing.T) {
	t.Parallel()
	const pending, unknown = `"pending":{"approvalId":"1","kind":"tool_call","url":"/"}`, `"answer":{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"sure"}}`
	for _, said := range []string{`{}`, `{"answer":null}`, `{` + unknown + `}`, `{` + unknown + `,` + pending + `}`, `{"answer":{},` + pending + `}`} {
		front := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte(said)) }))
		got, err := client.New(front.URL, "x").Hook(t.Context(), wire.HookPreToolUse, []byte(`{}`), client.HookOptions{Connect: time.Second})
		front.Close()
		if err == nil {
			t.Errorf("%s was taken for %+v", said, got)
		}
	}
}
