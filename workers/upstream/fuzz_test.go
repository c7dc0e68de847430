package upstream_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"countersign/workers/upstream"
)

// transport answers every request with one body.
type transport []byte

func (b transport) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Request: r, Body: io.NopCloser(bytes.NewReader(b)),
		Header: http.Header{"Date": {"Fri, 20 Nov 2026 12:00:00 GMT"}},
	}, nil
}

// Whatever an upstream answers, ids are there and come once, and nothing is said
// to be both complete and flawed.
func FuzzListings(f *testing.F) {
	for _, body := range []string{
		`[]`, `{"items":[],"total":0,"has_more":false}`,
		`[{"call_id":"a","run_id":"r","spec":{"fn":"f","kwargs":{"x":1}},"status":{"requested_at":"2026-11-20T11:30:15.1Z","approved":null},"timeout_seconds":3}]`,
		`{"items":[{"id":1,"name":"f","input":[[]],"status":"pending","created_at":1795174215.5},{"id":1,"name":"g"}],"total":2,"limit":50,"offset":0,"has_more":false}`,
		`[{"call_id":"h","spec":{"msg":"m","subject":"s","response_options":["a",{"name":"b","title":"c"}]},"expires_at":"2026-11-20 12"}]`,
		`{"items":[{"call_id":"a","spec":{"fn":"f"}}],"total":9,"has_more":true}`, "[{\"call_id\":\"\xff\"}]", `[[[[`, `{"items":{}}`,
	} {
		f.Add([]byte(body), true)
		f.Add([]byte(body), false)
	}
	f.Fuzz(func(t *testing.T, body []byte, cloud bool) {
		d := upstream.Plain
		if cloud {
			d = upstream.Cloud
		}
		c := client(t, upstream.Options{BaseURL: "http://a.example", Dialect: d, HTTP: &http.Client{Transport: transport(body)}})
		calls, err := c.PendingCalls(t.Context())
		seen := map[string]bool{}
		for _, call := range calls.Items {
			if call.CallID == "" || seen[call.CallID] || len(call.Arguments) == 0 || len(call.Raw) == 0 || !bytes.Contains(body, call.Raw) {
				t.Errorf("%+v", call)
			}
			seen[call.CallID] = true
		}
		if calls.Complete == (calls.Flaw != "") || err != nil && calls.Complete {
			t.Errorf("complete: %t, %q, %v", calls.Complete, calls.Flaw, err)
		}
		contacts, err := c.PendingContacts(t.Context())
		for _, contact := range contacts.Items {
			if contact.CallID == "" || !bytes.Contains(body, contact.Raw) {
				t.Errorf("%+v", contact)
			}
		}
		if contacts.Complete == (contacts.Flaw != "") || err != nil && contacts.Complete {
			t.Errorf("complete: %t, %q, %v", contacts.Complete, contacts.Flaw, err)
		}
	})
}
