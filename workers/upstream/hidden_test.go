package upstream_test

import (
	"fmt"
	"strings"
	"testing"

	"countersign/models"
	"countersign/workers/upstream"
)

// Whatever a member is called, what it holds is shown where it is not what is read
// under its name.
func TestNoNameHidesWhatItHolds(t *testing.T) {
	t.Parallel()
	names := strings.Fields("id approval_id approvalId callId run_id runId type status spec fn functionName tool_name toolName name tool_use_id toolUseId requested_at created_at " +
		"timeout_at timeoutAt expires_at timeout_seconds channel reject_options state subject msg message question response_options options approved response user_info x")
	var items []string
	for _, name := range names {
		for _, held := range []string{`{"command":"rm"}`, `["rm"]`, `[{"name":{"command":"rm"}}]`, `{"slack":{"command":"rm"}}`, `{"requested_at":["rm"]}`, `{"x":1,"x":"rm"}`} {
			for _, args := range []string{`{}`, `{"message":"Which?"}`} {
				for _, form := range []string{`{"call_id":"%d","function_name":"f","function_args":%s,"%s":%s}`, `{"call_id":"%d","spec":{"fn":"f","kwargs":%s,"%s":%s}}`} {
					items = append(items, fmt.Sprintf(form, len(items), args, name, held))
				}
			}
		}
	}
	c := saying(t, upstream.Plain, `[`+strings.Join(items, ",")+`]`)
	calls, err := c.PendingCalls(t.Context())
	if err != nil || len(calls.Items) != len(items) {
		t.Fatalf("%v: %d of %d", err, len(calls.Items), len(items))
	}
	for _, call := range calls.Items {
		if !strings.Contains(string(call.Arguments)+string(call.Beside), `"rm"`) {
			t.Errorf("%s: arguments %s, beside %s", call.Raw, call.Arguments, call.Beside)
		}
	}
	contacts, err := c.PendingContacts(t.Context())
	if err != nil || len(contacts.Items) != len(items) {
		t.Fatalf("%v: %d of %d", err, len(contacts.Items), len(items))
	}
	for _, contact := range contacts.Items {
		offered := len(contact.Options) == 1 && contact.Options[0] == models.Option{Name: "rm"}
		if !strings.Contains(string(contact.Rest), `"rm"`) && !offered {
			t.Errorf("%s: rest %s, answers %v", contact.Raw, contact.Rest, contact.Options)
		}
	}
}
