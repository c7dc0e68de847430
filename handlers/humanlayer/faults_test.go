package humanlayer_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"countersign/models/store"
	"countersign/models/storetest"
)

// What a client of this API meets when the server is down: its SDK fails the tool call with
// an error for whatever is no answer below 400, so nothing runs, and the request, if it got
// here, waits for the same call_id.

func TestFaultServerDownBeforeTheAsk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := w.url
	w.url = "http://" + storetest.ClosedPort(t)
	if got, err := w.try(w.agent, "POST", "/function_calls", `{"call_id":"c1","spec":{"fn":"f"}}`); err == nil {
		t.Fatalf("answered %d", got.status)
	}
	w.url = up
	w.call(w.agent, "GET", "/function_calls/c1", "").want(t, 404, nil)
	w.ask("c1").want(t, 200, map[string]any{"status.approved": nil})
	if n := storetest.Scalar[int](t, w.store, `SELECT count(*) FROM responses`); n != 1 {
		t.Errorf("%d rows", n)
	}
}

// The answer of the ask is lost: the client can't know whether it was stored.
func TestFaultServerDownDuringTheAskI8(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	up := w.url
	dying := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		w.api.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(dying.Close)
	w.url = dying.URL
	if got, err := w.try(w.agent, "POST", "/function_calls", `{"run_id":"run-1","call_id":"c1","spec":{"fn":"send_email","kwargs":{"to":"a@example.test","subject":"hi"}}}`); err == nil {
		t.Fatalf("answered %d", got.status)
	}
	w.url = up
	w.ask("c1").want(t, 200, map[string]any{"status.approved": nil})
	if n := storetest.Scalar[int](t, w.store, `SELECT count(*) FROM responses`); n != 1 {
		t.Errorf("%d rows for one call", n)
	}
	w.call(w.reviewer, "POST", "/agent/function_calls/c1/respond", `{"approved":true}`).want(t, 200, nil)
	w.ask("c1").want(t, 200, map[string]any{"status.approved": true})
}

// The server restarts while the call waits, and somebody decides before the client asks again.
func TestFaultServerDownAfterTheAskI8(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.ask("c1")
	w.contact("q1")
	restarted := w.restart()
	restarted.call(w.agent, "GET", "/function_calls/c1", "").want(t, 200, map[string]any{"status.approved": nil, "url": made.at("url"), "status.requested_at": made.at("status.requested_at")})
	restarted.call(w.agent, "GET", "/contact_requests/q1", "").want(t, 200, map[string]any{"status.response": nil})
	restarted.ask("c1").want(t, 200, map[string]any{"url": made.at("url")})
	restarted.call(w.reviewer, "POST", "/agent/function_calls/c1/respond", `{"approved":false,"comment":"no"}`).want(t, 200, nil)
	again := restarted.restart()
	again.call(w.agent, "GET", "/function_calls/c1", "").want(t, 200, map[string]any{"status.approved": false, "status.comment": "no"})
	if n := storetest.Scalar[int](t, again.store, `SELECT count(*) FROM responses`); n != 2 {
		t.Errorf("%d rows, want 2", n)
	}
}

// restart is the same world behind a new server over the same files.
func (w *world) restart() *world {
	w.tb.Helper()
	storetest.Must(w.tb, w.store.Close())
	next := *w
	next.store = storetest.Again(w.tb, w.store, storetest.WithClock(w.clock), func(o *store.Options) { noLimits(o) })
	next.serve()
	return &next
}
