package api_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/outside"
	"countersign/models/requests"
)

// outsideWorld is another system whose approvals are decided here. Nobody polls it: it
// asks when the test says so, and hears what the test says it did.
type outsideWorld struct {
	*world

	up         *models.Upstream
	poll, tell *models.Lease
}

func newOutsideWorld(t *testing.T) *outsideWorld {
	t.Helper()
	w := &outsideWorld{world: newWorld(t)}
	var err error
	if w.up, err = outside.New(w.store).AddUpstream(t.Context(), w.adminAs, outside.NewUpstream{
		Name: "orders", BaseURL: "https://orders.example.com", Dialect: "plain", Key: "sk-1", OwnerID: w.owner.UserID(),
	}); err != nil {
		t.Fatal(err)
	}
	w.poll, w.tell = w.lease(t, "poll"), w.lease(t, "deliver")
	return w
}

func (w *outsideWorld) lease(t *testing.T, name string) *models.Lease {
	t.Helper()
	l, err := w.store.Nodes.TakeLease(t.Context(), name, "test", 1000*time.Hour)
	if err != nil || l == nil {
		t.Fatalf("take lease %s: %v", name, err)
	}
	return l
}

// wants has the other system ask, and returns the request that stands for it then.
func (w *outsideWorld) wants(t *testing.T, item models.OutsideItem) string {
	t.Helper()
	var before []string
	for range 2 { // of one that fits nothing, a second poll makes a request
		before = w.waits(t)
		if err := outside.New(w.store).Take(t.Context(), w.poll, w.up.ID, item); err != nil {
			t.Fatal(err)
		}
		for _, id := range w.waits(t) {
			if !strings.Contains(strings.Join(before, " "), id) {
				return id
			}
		}
	}
	t.Fatalf("%s waits for nobody", item.CallID)
	return ""
}

// waits are the requests in the owner's inbox.
func (w *outsideWorld) waits(t *testing.T) (ids []string) {
	t.Helper()
	page, err := w.store.Requests.Inbox(t.Context(), w.owner, requests.InboxQuery{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for i := range page.Items {
		ids = append(ids, string(page.Items[i].ID))
	}
	return ids
}

// outsideCall asks for a call of the run "r".
func outsideCall(id, tool, args string) models.OutsideItem {
	return models.OutsideItem{Kind: models.OutsideCallKind, CallID: id, RunID: "r", Name: tool, Arguments: []byte(args), Timeout: new(5 * time.Minute), Raw: []byte(`{}`)}
}

// tells delivers a verdict as the worker does.
func (w *outsideWorld) tells(t *testing.T, id string, end models.DeliveryEnd) {
	t.Helper()
	d, _, err := outside.New(w.store).BeginDelivery(t.Context(), w.tell, models.ResponseID(id))
	if err != nil || d == nil {
		t.Fatalf("begin delivery: %+v, %v", d, err)
	}
	if err := outside.New(w.store).EndDelivery(t.Context(), w.tell, models.ResponseID(id), end); err != nil {
		t.Fatal(err)
	}
}

// Every surface takes a verdict with 202 and says what holds it; the request
// stays pending, and a second verdict is refused with the name of the first.
func TestI1AVerdictIsHeldUntilTheOtherSystemKnows(t *testing.T) {
	t.Parallel()
	queue := func(_, id, _ string) (string, string) {
		return "/v1/approvals/" + id + "/respond", `{"approved":true,"reason":"go"}`
	}
	for name, tt := range map[string]struct {
		sends   func(conv, id, use string) (path, body string)
		members map[string]any // beside held
		at      string         // where held stands
		settled string
	}{
		"queue": {queue, map[string]any{"success": true, "status": "pending", "response.approved": false, "response.reason": "go"}, "held", "approved"},
		"queue, rejected": {
			func(_, id, _ string) (string, string) {
				return "/v1/approvals/" + id + "/respond", `{"approved":false,"reason":"no"}`
			},
			map[string]any{"status": "pending", "response.approved": false, "response.reason": "no"},
			"held", "rejected",
		},
		"tool": {
			func(_, _, use string) (string, string) {
				return "/api/approval/decide", `{"tool_use_id":"` + use + `","decision":"APPROVED"}`
			},
			map[string]any{"status": "PENDING", "decided_at": nil, "decided_by": nil, "cause": ""},
			"held", "approved",
		},
		"message": {
			func(conv, id, _ string) (string, string) {
				return "/message", `{"id":"` + conv + `","content":"go on","approvalResponse":{"approved":true,"responseId":"` + id + `","newBudget":7}}`
			},
			map[string]any{"approval.status": "pending", "budget.total": jsonNumber("7")},
			"approval.held", "approved",
		},
		"approve": {
			func(conv, id, _ string) (string, string) {
				return "/conversations/" + conv + "/approve", `{"responseId":"` + id + `","newBudget":7}`
			},
			map[string]any{"status": "pending", "budgetUpdated": true, "newBudget": jsonNumber("7")},
			"held", "approved",
		},
		"reject": {
			func(conv, id, _ string) (string, string) {
				return "/conversations/" + conv + "/reject", `{"responseId":"` + id + `","feedback":"no"}`
			},
			map[string]any{"status": "pending"},
			"held", "rejected",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newOutsideWorld(t)
			conv := w.openRun(`{"runId":"r"}`)
			w.report(w.agent, conv, ndjson, `{"type":"tool_call","toolUseId":"t1","toolName":"bash","input":{"n":1},"batchId":"b"}`)
			id := w.wants(t, outsideCall("call-1", "bash", `{"n":1}`))
			w.call(w.agent, "GET", "/conversations/"+conv, "").want(t, 200, map[string]any{"status": "waiting_input", "pending": jsonNumber("1")})
			all := w.listen(w.reviewer, eventStream, "")
			path, body := tt.sends(conv, id, "t1")
			got := w.call(w.reviewer, "POST", path, body)
			got.want(t, 202, tt.members)
			got.want(t, 202, map[string]any{tt.at + ".reason": "upstream"})
			until, err := time.Parse(time.RFC3339Nano, got.text(tt.at+".until"))
			if left := until.Sub(w.clock.Now()); err != nil || left < 9*time.Minute || left > 10*time.Minute {
				t.Errorf("held until %s, %v", got.text(tt.at+".until"), err)
			}
			w.pending(t, conv, id)

			// Whoever comes second is told who was first, on every surface.
			for _, second := range []struct{ path, body string }{
				{"/v1/approvals/" + id + "/respond", `{"approved":false,"reason":"no"}`},
				{"/api/approval/decide", `{"tool_use_id":"t1","decision":"REJECTED","reason":"no"}`},
				{"/message", `{"id":"` + conv + `","content":"x","approvalResponse":{"approved":false,"responseId":"` + id + `","feedback":"no"}}`},
				{"/conversations/" + conv + "/approve", `{"responseId":"` + id + `"}`},
				{"/conversations/" + conv + "/reject", `{"responseId":"` + id + `","feedback":"no"}`},
			} {
				a := w.call(w.admin, "POST", second.path, second.body)
				a.want(t, 409, map[string]any{"code": "being_decided", "approval.held.reason": "upstream"})
				if !strings.Contains(a.text("detail"), w.owner.Name) {
					t.Errorf("%s: %q does not name %s", second.path, a.text("detail"), w.owner.Name)
				}
			}
			w.tells(t, id, models.DeliveryEnd{Result: models.DeliveryLater, Text: "It answered 500."})
			one := w.call(w.reviewer, "GET", "/v1/approvals/"+id, "")
			one.want(t, 200, map[string]any{
				"origin.upstream": "orders", "origin.callId": "call-1", "origin.matchedBy": "only", "origin.telling.by": w.owner.Name,
				"origin.telling.problem": "It answered 500.", "origin.telling.attempts": jsonNumber("1"),
			})
			for _, list := range []string{"/v1/approvals", "/v1/approvals/pending"} {
				if a := w.call(w.reviewer, "GET", list, ""); !strings.Contains(a.body, `"origin":{"upstream":"orders"`) {
					t.Errorf("%s does not say who asks: %s", list, a.body)
				}
			}
			w.call(w.agent, "GET", "/v1/approvals/"+id, "").want(t, 200, map[string]any{"origin": nil})
			w.clock.Step(time.Minute)
			w.tells(t, id, models.DeliveryEnd{Result: models.DeliveryTaken})
			now := w.call(w.agent, "GET", "/v1/approvals/"+id, "")
			now.want(t, 200, map[string]any{"status": tt.settled, "cause": "reviewer", "decision.by.name": w.owner.Name, "held": nil})
			w.call(w.agent, "GET", "/conversations/"+conv, "").want(t, 200, map[string]any{"status": "running", "pending": jsonNumber("0")})
			about(all, "data.new_status", "running").want(t, 0, map[string]any{"type": "session_status_changed", "data.old_status": "waiting_input", "data.session_id": conv})
			about(all, "data.approval_id", id).want(t, 0, map[string]any{"type": "approval_resolved", "data.decision": map[string]string{"approved": "approved", "rejected": "denied"}[tt.settled], "data.status": tt.settled, "data.cause": "reviewer", "data.call_id": "call-1"})
		})
	}
}

// pending checks that a held request is pending, and held, on every surface that
// shows it.
func (w *outsideWorld) pending(t *testing.T, conv, id string) {
	t.Helper()
	for _, token := range []string{w.agent, w.reviewer} {
		for path, status := range map[string]string{
			"/v1/approvals/" + id: "pending", "/v1/approvals/" + id + "?wait=1ms": "pending", "/api/approval/invocation/t1": "PENDING",
		} {
			w.call(token, "GET", path, "").want(t, 200, map[string]any{"status": status, "held.reason": "upstream", "decision": nil})
		}
		for _, path := range []string{"/v1/approvals?status=pending", "/v1/approvals", "/conversations/" + conv + "/approvals", "/conversations/" + conv + "?after=0", "/api/approval/pending/r"} {
			if a := w.call(token, "GET", path, ""); !strings.Contains(a.body, `"held":{"reason":"upstream"`) {
				t.Errorf("%s does not say that it is held: %s", path, a.body)
			}
		}
	}
}

// What the other system does not take is refused before anything is stored.
func TestVerdictsThatTheOtherSystemDoesNotTake(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	conv := w.openRun(`{"runId":"r"}`)
	w.report(w.agent, conv, ndjson, `{"type":"tool_call","toolUseId":"t1","toolName":"bash","input":{"n":1}}`)
	id := w.wants(t, outsideCall("call-1", "bash", `{"n":1}`))
	question := w.wants(t, models.OutsideItem{
		Kind: models.OutsideContact, CallID: "call-2", RunID: "r", Message: "Which region?", Options: []models.Option{{Name: "eu"}}, Raw: []byte(`{}`),
	})
	call, asked := "/v1/approvals/"+id+"/respond", "/v1/approvals/"+question+"/respond"
	before := w.head()
	for _, tt := range []struct{ path, body, code, field string }{
		{call, `{"approved":false}`, "comment_required", "reason"},
		{call, `{"approved":false,"reason":" "}`, "comment_required", "reason"},
		{call, `{"approved":true,"input":{"n":2}}`, "takes_no_edits", "input"},
		{call, `{"answer":"yes"}`, "wrong_decision_kind", ""},
		{asked, `{"approved":true}`, "wrong_decision_kind", ""},
		{asked, `{"approved":false,"reason":"no"}`, "wrong_decision_kind", ""},
		{asked, `{"answer":""}`, "response_required", "answer"},
		{asked, `{"option":"us"}`, "invalid", "option"},
		{"/api/approval/decide", `{"tool_use_id":"t1","decision":"REJECTED"}`, "comment_required", "reason"},
		{"/conversations/" + conv + "/reject", `{"responseId":"` + id + `"}`, "comment_required", "feedback"},
		{"/conversations/" + conv + "/approve", `{"responseId":"` + question + `"}`, "wrong_decision_kind", ""},
		{"/message", `{"id":"` + conv + `","content":"no","approvalResponse":{"approved":false,"responseId":"` + id + `"}}`, "comment_required", "approvalResponse.feedback"},
	} {
		a := w.call(w.reviewer, "POST", tt.path, tt.body)
		a.want(t, 422, map[string]any{"code": tt.code})
		if errs, _ := a.at("errors").([]any); tt.field != "" && (len(errs) == 0 || errs[0].(map[string]any)["field"] != tt.field) {
			t.Errorf("%s %s: errors %v, want one that names %s", tt.path, tt.body, errs, tt.field)
		}
	}
	if w.head().Seq != before.Seq {
		t.Error("something was stored")
	}
	w.call(w.reviewer, "POST", asked, `{"option":"eu"}`).want(t, 202, map[string]any{
		"status": "pending", "held.reason": "upstream", "held.until": nil, "response.approved": false,
	})
	w.tells(t, question, models.DeliveryEnd{Result: models.DeliveryTaken})
	w.call(w.reviewer, "GET", "/v1/approvals/"+question, "").want(t, 200, map[string]any{"status": "approved", "decision.option": "eu"})
}

// What becomes of an outside approval has its own cause on every surface and in
// every stream (I10).
func TestI10EndsOfOutsideApprovalsAreToldApart(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ends                              func(t *testing.T, w *outsideWorld, conv, id string)
		status, tool, cause, advice, word string
	}{
		"elsewhere": {func(t *testing.T, w *outsideWorld, _, id string) {
			t.Helper()
			w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true}`).want(t, 202, nil)
			w.tells(t, id, models.DeliveryEnd{Result: models.DeliveryElsewhere, Text: "Somebody else answered there first."})
		}, "resolved", "CANCELLED", "elsewhere", "settled at another system", "Somebody else"},
		"gone": {func(t *testing.T, w *outsideWorld, _, id string) {
			t.Helper()
			w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true}`).want(t, 202, nil)
			w.tells(t, id, models.DeliveryEnd{Result: models.DeliveryGone})
		}, "resolved", "CANCELLED", "gone", "no longer knows it", ""},
		"undelivered": {func(t *testing.T, w *outsideWorld, _, id string) {
			t.Helper()
			w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true}`).want(t, 202, nil)
			w.tells(t, id, models.DeliveryEnd{Result: models.DeliveryLater, Text: "It answered 500."})
			w.clock.Step(11 * time.Minute)
			if d, _, err := outside.New(w.store).BeginDelivery(t.Context(), w.tell, models.ResponseID(id)); d != nil || err != nil {
				t.Fatalf("it is still delivered: %+v, %v", d, err)
			}
		}, "expired", "TIMED_OUT", "undelivered", "could not be told in time", "could not be sent"},
		"run_ended": {func(t *testing.T, w *outsideWorld, conv, _ string) {
			t.Helper()
			w.report(w.agent, conv, ndjson, `{"type":"status","id":"end","status":"completed"}`).want(t, 200, map[string]any{"accepted": jsonNumber("1")})
		}, "cancelled", "CANCELLED", "run_ended", "has ended", ""},
		"cascade": {func(t *testing.T, w *outsideWorld, _, _ string) {
			t.Helper()
			first := w.wants(t, outsideCall("call-0", "write", `{}`))
			w.call(w.reviewer, "POST", "/v1/approvals/"+first+"/respond", `{"approved":false,"reason":"not this plan"}`).want(t, 202, nil)
			w.tells(t, first, models.DeliveryEnd{Result: models.DeliveryTaken})
		}, "rejected", "REJECTED", "cascade", "An earlier request", "not this plan"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newOutsideWorld(t)
			conv := w.openRun(`{"runId":"r","onReject":"cascade"}`)
			w.report(w.agent, conv, ndjson, `{"type":"tool_call","toolUseId":"t0","toolName":"write","batchId":"b"}`+"\n"+
				`{"type":"tool_call","toolUseId":"t1","toolName":"bash","input":{"n":1},"batchId":"b"}`)
			id := w.wants(t, outsideCall("call-1", "bash", `{"n":1}`))
			queue, tools, all := w.listen(w.reviewer, queueStream, ""), w.listen(w.reviewer, toolStream, ""), w.listen(w.reviewer, eventStream, "")
			tt.ends(t, w, conv, id)

			w.call(w.agent, "GET", "/v1/approvals/"+id, "").want(t, 200, map[string]any{"status": tt.status, "cause": tt.cause, "decision.approved": false, "held": nil})
			for _, got := range []string{
				w.call(w.agent, "GET", "/v1/approvals/"+id, "").text("advice"), w.entry(t, conv, id).text("response.advice"),
			} {
				if !strings.Contains(got, tt.advice) {
					t.Errorf("the advice %q does not say %q", got, tt.advice)
				}
			}
			tool := w.call(w.agent, "GET", "/api/approval/invocation/t1", "")
			tool.want(t, 200, map[string]any{"status": tt.tool, "cause": tt.cause})
			if tool.text("reason") == "" || !strings.Contains(tool.text("reason"), tt.word) {
				t.Errorf("the reason %q does not say %q", tool.text("reason"), tt.word)
			}
			w.entry(t, conv, id).want(t, 200, map[string]any{"response.status": tt.status, "response.cause": tt.cause})

			about(queue, "approvalId", id).want(t, 0, map[string]any{"status": tt.status, "cause": tt.cause})
			about(tools, "tool_call_id", id).want(t, 0, map[string]any{"status": tt.tool, "cause": tt.cause})
			decision, approved := "denied", any(false)
			if tt.status == "resolved" {
				decision, approved = "resolved", nil // only the other system knows
			}
			about(all, "data.approval_id", id).want(t, 0, map[string]any{"type": "approval_resolved", "data.decision": decision, "data.approved": approved, "data.status": tt.status, "data.cause": tt.cause, "data.call_id": "call-1"})
		})
	}
}

// entry is a response's entry in the history of its conversation.
func (w *outsideWorld) entry(t *testing.T, conv, id string) answer {
	t.Helper()
	history := w.call(w.agent, "GET", "/conversations/"+conv+"?after=0", "")
	entries, _ := history.at("entries").([]any)
	for _, e := range entries {
		if a := (answer{status: 200, object: e.(map[string]any), body: history.body}); a.text("response.responseId") == id {
			return a
		}
	}
	t.Fatalf("%s is not in the history: %s", id, history.body)
	return answer{}
}

// about waits for the event that is about a request.
func about(l *listener, member, id string) answer {
	l.tb.Helper()
	for {
		if e := l.next(); e.at(member) == id {
			a := answer{body: e.data}
			if err := json.Unmarshal([]byte(e.data), &a.object); err != nil {
				l.tb.Fatal(err)
			}
			return a
		}
	}
}

// What is reported is never refused for its size or name. A call of which only
// the beginning is kept can be rejected, not approved.
func TestLargeAndOddReportsAreKept(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	conv := w.openRun(`{"runId":"r"}`)
	long := strings.Repeat("x", 300<<10)
	odd := strings.Repeat("ü", 2000)
	input := `{"text":"` + strings.Repeat("x", 4<<20) + `"}`
	got := w.report(w.agent, conv, ndjson, strings.Join([]string{
		`{"type":"tool_call","toolUseId":"t1","toolName":"write","input":` + input + `,"batchId":"b"}`,
		`{"type":"tool_call","toolUseId":"t2","toolName":"<b>\u202e ` + odd + `","batchId":"b"}`,
		`{"type":"tool_call","toolUseId":"` + odd[:2000] + `","toolName":"` + strings.Repeat("[", 99) + `","input":` + strings.Repeat("[", 99) + strings.Repeat("]", 99) + `}`,
		`{"type":"tool_result","toolUseId":"t2","result":"` + long + `"}`,
		`{"type":"reply","id":"1","content":"` + long + `"}`,
	}, "\n"))
	got.want(t, 200, map[string]any{"accepted": jsonNumber("5"), "failed": jsonNumber("0")})
	if t.Failed() {
		t.Log(got.body[:min(len(got.body), 4000)])
	}
	id := w.wants(t, outsideCall("call-1", "write", input))
	if want := got.result(t, 0).text("responseId"); id != want {
		t.Errorf("the approval stands at %s, want %s", id, want)
	}
	one := w.call(w.reviewer, "GET", "/v1/approvals/"+id, "")
	if len(one.body) > 280<<10 || one.at("input") == nil {
		t.Errorf("%d bytes are shown of it", len(one.body))
	}
	path := "/v1/approvals/" + id + "/respond"
	w.call(w.reviewer, "POST", path, `{"approved":true,"digest":"`+one.text("digest")+`"}`).want(t, 422, map[string]any{"code": "wrong_decision_kind"})
	w.call(w.reviewer, "POST", path, `{"approved":false,"reason":"too long to read"}`).want(t, 202, nil)
}

// The run for which another system asks, and when it was asked there, are told as it sends
// them: where no conversation has that run, and where the call is found in another's.
func TestARequestOfAnotherSystemKeepsItsRunAndTime(t *testing.T) {
	t.Parallel()
	for name, found := range map[string]bool{"no run": false, "run below": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newOutsideWorld(t)
			item := outsideCall("call-1", "bash", `{"n":1}`)
			item.RunID, item.AskedAt = "run-of-theirs", w.clock.Now().Add(-5*time.Minute)
			if found {
				w.report(w.agent, w.openRun(`{"runId":"below","parentRunId":"run-of-theirs"}`), ndjson, `{"type":"tool_call","toolUseId":"u","toolName":"bash","input":{"n":1}}`)
			}
			all := w.listen(w.reviewer, eventStream, "")
			id := w.wants(t, item)
			asked := item.AskedAt.Format(time.RFC3339Nano)
			e := about(all, "type", "new_approval")
			e.want(t, 0, map[string]any{"data.run_id": "run-of-theirs"})
			first, _ := e.at("data.approvals").([]any)[0].(map[string]any)
			if first["run_id"] != "run-of-theirs" || first["requested_at"] != asked {
				t.Errorf("told run %v, asked at %v, want %s", first["run_id"], first["requested_at"], asked)
			}
			w.call(w.reviewer, "GET", "/v1/approvals/"+id, "").want(t, 200, map[string]any{"runId": "run-of-theirs", "claimedAt": asked})
			if list := w.call(w.reviewer, "GET", "/v1/approvals", ""); !strings.Contains(list.body, `"runId":"run-of-theirs"`) {
				t.Errorf("the list names no run: %s", list.body)
			}
			w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":false,"reason":"no"}`).want(t, 202, nil)
			w.tells(t, id, models.DeliveryEnd{Result: models.DeliveryElsewhere})
			about(all, "data.approval_id", id).want(t, 0, map[string]any{"data.run_id": "run-of-theirs"})
		})
	}
}

// A client is told the input that runs, also where the reported one is kept cut; and
// whoever decides by program reads what the other system sends beside it.
func TestAProgramReadsWhatAnotherSystemAsks(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	w.report(w.agent, w.openRun(`{"runId":"r"}`), ndjson, `{"type":"tool_call","toolUseId":"u","toolName":"bash","input":{"text":"`+strings.Repeat("x", models.MaxInput)+`"}}`)
	all := w.listen(w.reviewer, eventStream, "")
	item := outsideCall("call-1", "bash", `{"command":"ls"}`)
	item.Rest = []byte(`{"as":"root"}`)
	id := w.wants(t, item)
	told := about(all, "type", "new_approval").body
	if !strings.Contains(told, `"function_args":{"command":"ls"}`) {
		t.Errorf("told %.300s", told)
	}
	w.call(w.reviewer, "GET", "/v1/approvals/"+id, "").want(t, 200, map[string]any{"origin.beside": `{"as":"root"}`})
}
