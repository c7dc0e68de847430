package api_test

import (
	"strings"
	"testing"
	"time"
)

// TestARunThatWaitsSaysSo: a run with an undecided request is waiting_input on every
// surface, whichever surface asked, and the stream tells each change once and in
// order, before the request or outcome that brought it.
func TestARunThatWaitsSaysSo(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(w *world, conv string) string{
		"the queue": func(w *world, _ string) string {
			return w.ask(`{"runId":"r","toolUseId":"t1","toolName":"deploy"}`)
		},
		"a question in the queue": func(w *world, _ string) string {
			return w.ask(`{"runId":"r","kind":"question","description":"Which one?"}`)
		},
		"tool approval": func(w *world, _ string) string {
			return w.request("t1", "deploy", "r").text("tool_call_id")
		},
		"a call that ingest reported": func(w *world, conv string) string {
			w.report(w.agent, conv, ndjson, `{"type":"tool_call","toolUseId":"t1","toolName":"deploy","input":{},"batchId":"b"}`)
			w.call(w.agent, "GET", "/conversations/"+conv, "").want(w.tb, 200, map[string]any{"status": "running"})
			return w.ask(`{"runId":"r","toolUseId":"t1","toolName":"deploy","input":{}}`)
		},
		"a proposal": func(w *world, conv string) string {
			return w.call(w.agent, "POST", "/conversations/"+conv+"/responses", `{"kind":"proposal","content":"Shall I?"}`).text("responseId")
		},
	} {
		for end, settle := range map[string]func(w *world, conv, id string){
			"rejected":  func(w *world, _, id string) { w.decide(id, "false") },
			"cancelled": func(w *world, _, id string) { w.call(w.agent, "POST", "/v1/approvals/"+id+"/cancel", "") },
			"expired": func(w *world, _, _ string) {
				w.clock.Step(24 * time.Hour)
				if _, err := w.store.ExpireDue(w.tb.Context(), 10); err != nil {
					w.tb.Fatal(err)
				}
			},
		} {
			if end == "expired" && (name == "a proposal" || strings.HasPrefix(name, "a question")) {
				continue // they have no deadline
			}
			t.Run(name+", "+end, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.policy(`{"required_approval_tools":["deploy"]}`)
				conv := w.openRun(`{"runId":"r"}`)
				open := w.listen(w.reviewer, eventStream, "")
				open.from()
				id := ask(w, conv)
				shows := func(status string) {
					t.Helper()
					w.call(w.agent, "GET", "/conversations/"+conv, "").want(t, 200, map[string]any{"status": status})
					for filter, n := range map[string]int{status: 1, "completed": 0} {
						if got := w.call(w.reviewer, "GET", "/conversations?status="+filter, "").ids("conversations"); len(got) != n {
							t.Errorf("%d conversations are listed as %s, want %d", len(got), filter, n)
						}
					}
				}
				shows("waiting_input")
				w.report(w.agent, conv, ndjson, `{"type":"status","id":"s1","status":"running"}`).want(t, 200, nil)
				shows("waiting_input")
				settle(w, conv, id)
				shows("running")
				w.report(w.agent, conv, ndjson, `{"type":"status","id":"s2","status":"completed"}`).want(t, 200, nil)
				shows("completed")
				tells(t, open, conv, "running waiting_input", "new_approval", "waiting_input running", "approval_resolved", "running completed")
			})
		}
	}
}

// tells compares what a stream tells next: changes of status, and other events by
// their type.
func tells(t *testing.T, open *listener, conv string, want ...string) {
	t.Helper()
	for _, what := range want {
		e := open.next()
		got, _ := e.at("type").(string)
		if got == "session_status_changed" {
			old, _ := e.at("data.old_status").(string)
			status, _ := e.at("data.new_status").(string)
			if got = old + " " + status; e.at("data.session_id") != conv {
				t.Errorf("told of another run: %s", e.data)
			}
		}
		if got != what {
			t.Errorf("the stream tells %q, want %q: %s", got, what, e.data)
		}
	}
}

// A second request begins no other wait, and only the last outcome ends it. What
// the run waits for besides is told when nobody decides any more.
func TestOnlyTheFirstAndTheLastRequestChangeTheStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	conv := w.openRun(`{"runId":"r"}`)
	open := w.listen(w.agent, eventStream, "")
	begin := open.from()
	first, second := w.ask(`{"runId":"r","toolUseId":"t1","toolName":"deploy"}`), w.ask(`{"runId":"r","toolUseId":"t2","toolName":"deploy"}`)
	w.decide(first, "true")
	w.report(w.agent, conv, ndjson, `{"type":"status","id":"s1","status":"waiting_input"}`).want(t, 200, nil)
	w.decide(second, "true")
	w.call(w.agent, "GET", "/conversations/"+conv, "").want(t, 200, map[string]any{"status": "waiting_input", "pending": jsonNumber("0")})
	w.report(w.agent, conv, ndjson, `{"type":"status","id":"s2","status":"running"}`).want(t, 200, nil)
	all := []string{"running waiting_input", "new_approval", "new_approval", "approval_resolved", "approval_resolved", "waiting_input running"}
	tells(t, open, conv, all...)
	tells(t, w.listen(w.agent, eventStream, begin), conv, all...) // and to whoever comes later
}

// An ask that names no run waits in the agent's own conversation, and joins the
// run when its call is reported: the one goes on, the other waits.
func TestAnAskThatJoinsItsRunTakesTheWaitAlong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.ask(`{"toolUseId":"t1","toolName":"deploy","input":{"n":1}}`)
	own := w.call(w.agent, "GET", "/v1/approvals/"+id, "").text("conversationId")
	conv := w.openRun(`{"runId":"r"}`)
	open := w.listen(w.reviewer, eventStream, "")
	open.from()
	w.report(w.agent, conv, ndjson, `{"type":"tool_call","toolUseId":"t1","toolName":"deploy","input":{"n":1}}`)
	tells(t, open, own, "waiting_input running")
	tells(t, open, conv, "running waiting_input")
	w.call(w.agent, "GET", "/conversations/"+own, "").want(t, 200, map[string]any{"status": "running"})
	w.call(w.agent, "GET", "/conversations/"+conv, "").want(t, 200, map[string]any{"status": "waiting_input"})
	w.decide(id, "true")
	tells(t, open, conv, "waiting_input running", "approval_resolved")
}
