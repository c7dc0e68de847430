package humanlayer_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models/store"
)

// The bodies are those that the published SDKs send.
func TestACallIsApprovedAsTheSDKReadsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := w.ask("call-c17ea629")
	made.want(t, 200, map[string]any{
		"run_id": "run-1", "call_id": "call-c17ea629", "spec.fn": "send_email", "spec.kwargs.to": "a@example.test",
		"status.approved": nil, "status.comment": nil, "dropped": nil,
		"waiting_for": "a decision by " + w.owner.Name + " or an admin",
	})
	if pending := w.call(w.agent, "GET", "/agent/function_calls/pending", ""); !strings.Contains(pending.body, `"reviewers":["`+w.owner.Name+`","admins"],"waiting_for":"a decision by `) {
		t.Errorf("the list does not say what is waited for: %s", pending.body)
	}
	if _, err := time.Parse("2006-01-02T15:04:05.999999999Z", made.text("status.requested_at")); err != nil {
		t.Errorf("requested_at: %v", err)
	}
	w.call(w.agent, "GET", "/function_calls/call-c17ea629", "").want(t, 200, map[string]any{"status.approved": nil})
	w.call(w.reviewer, "POST", "/agent/function_calls/call-c17ea629/respond", `{"approved":true}`).want(t, 200, map[string]any{"status.approved": true})
	w.call(w.agent, "GET", "/function_calls/call-c17ea629", "").want(t, 200, map[string]any{
		"waiting_for": nil, "status.approved": true, "status.cause": "reviewer", "status.user_info.name": w.owner.Name, "run_id": "run-1",
	})
	w.call(w.reviewer, "POST", "/agent/function_calls/call-c17ea629/respond", `{"approved":false}`).want(t, 409, map[string]any{"error.code": "already_decided"})
}

func TestARejectOptionComesBackWithTheReason(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const spec = `"spec":{"fn":"deploy","kwargs":{"env":"prod"},"reject_options":[{"name":"later","title":"Later","description":"not now","prompt_fill":"wait until ","interactive":true}],"state":{"step":3}}`
	w.call(w.agent, "POST", "/function_calls", `{"run_id":"r","call_id":"c1",`+spec+`}`).want(t, 200, map[string]any{"spec.state.step": float64(3)})
	respond := func(body string) answer {
		return w.call(w.reviewer, "POST", "/agent/function_calls/c1/respond", body)
	}
	respond(`{"approved":false,"reject_option_name":"never"}`).want(t, 422, map[string]any{"error.code": "invalid"})
	respond(`{"approved":true,"reject_option_name":"later"}`).want(t, 422, nil)
	respond(`{"comment":"no"}`).want(t, 422, nil)
	respond(`{"approved":false,"comment":"no","reject_option_name":"later"}`).want(t, 200, map[string]any{"status.approved": false})
	got := w.call(w.agent, "GET", "/function_calls/c1", "").want(t, 200, map[string]any{
		"status.approved": false, "status.comment": "no", "status.reject_option_name": "later", "status.cause": "reviewer",
	})
	if !strings.Contains(got.body, `"reject_options":[{"name":"later","title":"Later","description":"not now","prompt_fill":"wait until ","interactive":true}]`) {
		t.Errorf("the options did not come back as they were sent: %s", got.body)
	}

	w.call(w.agent, "POST", "/function_calls", `{"run_id":"r","call_id":"c2",`+spec+`}`).want(t, 200, nil)
	w.call(w.reviewer, "POST", "/agent/function_calls/c2/respond", `{"approved":false,"reject_option_name":"later"}`).want(t, 200, map[string]any{"status.comment": "Later"})
}

func TestAContactIsAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.call(w.agent, "POST", "/human_contacts", `{"run_id":"r","call_id":"human_call-13665d39","spec":{"msg":"pick one","subject":"Region","response_options":[{"name":"a"},{"name":"b","prompt_fill":"because "}]}}`).
		want(t, 200, map[string]any{"spec.msg": "pick one", "spec.subject": "Region", "status.response": nil})
	respond := func(body string) answer {
		return w.call(w.reviewer, "POST", "/agent/human_contacts/human_call-13665d39/respond", body)
	}
	for _, empty := range []string{`{"response":""}`, `{}`, `{"response":null}`} {
		respond(empty).want(t, 422, map[string]any{"error.code": "response_required"})
	}
	respond(`{"response":"x","response_option_name":"c"}`).want(t, 422, map[string]any{"error.code": "invalid"})
	respond(`{"response":"a","response_option_name":"a"}`).want(t, 200, map[string]any{"status.response": "a"})
	for _, path := range []string{"/contact_requests/", "/human_contacts/"} {
		w.call(w.agent, "GET", path+"human_call-13665d39", "").want(t, 200, map[string]any{
			"status.response": "a", "status.response_option_name": "a", "status.answered": true,
		})
	}
	respond(`{"response":"b"}`).want(t, 409, nil)
	w.contact("c2")
	w.call(w.reviewer, "POST", "/agent/human_contacts/c2/respond", `{"response":"eu-west"}`).want(t, 200, map[string]any{"status.response": "eu-west", "status.response_option_name": nil})
}

// Clients wait as long as there is no response, so every end has one.
func TestAContactThatNobodyAnswersEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"rules":[{"name":"questions","tools":["question"],"effect":"require","timeout_minutes":5}]}`)
	w.contact("c1")
	w.clock.Step(time.Hour)
	got := w.call(w.agent, "GET", "/contact_requests/c1", "").want(t, 200, map[string]any{"status.answered": false, "status.cause": "timeout"})
	if text := got.text("status.response"); !strings.HasPrefix(text, "No person answered. Nobody decided in time.") {
		t.Errorf("response is %q", text)
	}
}

func TestALongMessageIsKeptWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	msg := strings.Repeat("Is this all right? ", 500)
	body := `{"run_id":"r","call_id":"c1","spec":{"msg":"` + msg + `"}}`
	w.call(w.agent, "POST", "/contact_requests", body).want(t, 200, map[string]any{"spec.msg": msg})
	w.call(w.agent, "POST", "/contact_requests", body).want(t, 200, map[string]any{"spec.msg": msg})
	w.call(w.agent, "POST", "/contact_requests", strings.Replace(body, "Is this all right? \"", "Is it?\"", 1)).want(t, 409, map[string]any{"error.code": "key_conflict"})
}

func TestKeysI9(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.ask("call-1")
	body := func(run, id, fn, kwargs, rest string) string {
		return `{"run_id":"` + run + `","call_id":"` + id + `","spec":{"fn":"` + fn + `","kwargs":` + kwargs + rest + `}}`
	}
	const kwargs = `{"subject":"hi","to":"a@example.test"}`
	for name, again := range map[string]string{
		"identical":      body("run-1", "call-1", "send_email", `{"to":"a@example.test","subject":"hi"}`, ""),
		"another order":  body("run-1", "call-1", "send_email", kwargs, ""),
		"another run":    body("run-2", "call-1", "send_email", kwargs, ""),
		"another state":  body("run-1", "call-1", "send_email", kwargs, `,"state":{"n":1}`),
		"reject options": body("run-1", "call-1", "send_email", kwargs, `,"reject_options":[{"name":"x"}]`),
	} {
		got := w.call(w.agent, "POST", "/function_calls", again).want(t, 200, map[string]any{"run_id": "run-1", "url": first.at("url"), "spec.state": nil, "spec.reject_options": nil})
		if got.text("digest") != first.text("digest") {
			t.Errorf("%s: another digest", name)
		}
	}
	for name, other := range map[string]string{
		"another input": body("run-1", "call-1", "send_email", `{"to":"b@example.test"}`, ""),
		"another tool":  body("run-2", "call-1", "send_mail", kwargs, ""),
	} {
		if got := w.call(w.agent, "POST", "/function_calls", other); got.status != 409 || got.text("error.code") != "key_conflict" {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
	}
	w.call(w.agent, "POST", "/contact_requests", `{"run_id":"run-1","call_id":"call-1","spec":{"msg":"?"}}`).want(t, 409, nil)
	w.call(w.agent, "GET", "/contact_requests/call-1", "").want(t, 404, nil)

	// The key is the agent's own: others neither meet nor see it.
	w.call(w.foreign, "POST", "/function_calls", body("run-1", "call-1", "rm", `{}`, "")).want(t, 200, map[string]any{"spec.fn": "rm"})
	w.call(w.second, "GET", "/function_calls/call-1", "").want(t, 404, nil)
	w.call(w.foreign, "GET", "/function_calls/call-1", "").want(t, 200, map[string]any{"spec.fn": "rm"})
	w.call(w.reviewer, "GET", "/function_calls/call-1", "").want(t, 200, map[string]any{"spec.fn": "send_email"})
	w.call(w.stranger, "GET", "/function_calls/call-1", "").want(t, 200, map[string]any{"spec.fn": "rm"})
	w.call(w.admin, "GET", "/function_calls/call-1", "").want(t, 409, map[string]any{"error.code": "ambiguous_session"})
}

func TestARepeatIsNeverLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *store.Options) { o.AsksPerMinute = 1 })
	w.ask("call-1")
	for range 3 {
		w.ask("call-1")
	}
	w.call(w.agent, "POST", "/function_calls", `{"run_id":"run-1","call_id":"call-2","spec":{"fn":"x","kwargs":{}}}`).want(t, 429, map[string]any{"error.code": "too_many_requests"})
}

func TestBadBodiesNameTheMember(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for body, names := range map[string]string{
		``:   "body",
		`[]`: "body",
		`{"run_id":"r","call_id":"","spec":{"fn":"f"}}`:                                                      "call_id",
		`{"run_id":"r","call_id":"a/b","spec":{"fn":"f"}}`:                                                   "call_id",
		`{"run_id":"r","call_id":"..","spec":{"fn":"f"}}`:                                                    "call_id",
		`{"run_id":"r","call_id":"c","spec":{"fn":""}}`:                                                      "spec.fn",
		`{"run_id":"r","call_id":"c","spec":{"fn":"f","kwargs":[1]}}`:                                        "spec.kwargs",
		`{"run_id":"r","call_id":"c","spec":{"fn":"f","kwargs":{"a":1,"a":2}}}`:                              "spec.kwargs",
		`{"run_id":"r","call_id":"c","spec":{"fn":"f","channel":"C1"}}`:                                      "spec.channel",
		`{"run_id":"r","call_id":"c","spec":{"fn":"f","state":7}}`:                                           "spec.state",
		`{"run_id":"r","call_id":"c","spec":{"fn":"f","approved":true}}`:                                     "spec.approved",
		`{"run_id":"r","call_id":"c","spec":{"fn":"f"},"status":{"approved":true}}`:                          "status",
		`{"run_id":"r","call_id":"c","spec":{"fn":"f","reject_options":[{"name":"a"},{"name":"A"}]}}`:        "spec.reject_options[1].name",
		`{"run_id":"\u0001","call_id":"c","spec":{"fn":"f"}}`:                                                "run_id",
		`{"run_id":"r","call_id":"c","spec":{"fn":"f","state":{"x":"` + strings.Repeat("y", 17<<10) + `"}}}`: "spec",
	} {
		got := w.call(w.agent, "POST", "/function_calls", body)
		if got.status != 422 || !strings.Contains(got.text("error.message"), names) {
			t.Errorf("%.80s: %d %s, want 422 that names %s", body, got.status, got.body, names)
		}
	}
	w.call(w.agent, "POST", "/contact_requests", `{"call_id":"c","spec":{"msg":"  "}}`).want(t, 422, nil)
	w.call(w.agent, "POST", "/function_calls", `{"spec":{"fn":"`+strings.Repeat("x", 6<<20)+`"}}`).want(t, 413, map[string]any{"error.code": "too_large"})
	// What SDKs send for what is not there is fine.
	w.call(w.agent, "POST", "/function_calls", `{"run_id":"r","call_id":"c","spec":{"fn":"f","kwargs":{},"channel":null,"reject_options":null,"state":null},"status":null}`).want(t, 200, nil)
}

func TestProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.call(w.agent, "GET", "/project", "").want(t, 200, map[string]any{"name": "deployer", "slug": "deployer", "organization": "sign.example.com"})
	w.call("", "GET", "/project", "").want(t, 401, map[string]any{"error.code": "unauthenticated"})
}

func TestPendingPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, id := range []string{"c1", "c2", "c3"} {
		w.ask(id)
	}
	w.contact("q1")
	w.call(w.reviewer, "POST", "/agent/function_calls/c2/respond", `{"approved":true}`).want(t, 200, nil)
	for _, token := range []string{w.agent, w.reviewer, w.admin} {
		got := w.call(token, "GET", "/agent/function_calls/pending?limit=1", "").want(t, 200, map[string]any{"total": 2.0, "limit": 1.0, "offset": 0.0, "has_more": true})
		if !strings.Contains(got.body, `"call_id":"c1"`) {
			t.Errorf("the first is %s", got.body)
		}
		got = w.call(token, "GET", "/agent/function_calls/pending?limit=1&offset=1", "").want(t, 200, map[string]any{"total": 2.0, "offset": 1.0, "has_more": false})
		if !strings.Contains(got.body, `"call_id":"c3"`) {
			t.Errorf("the second is %s", got.body)
		}
		w.call(token, "GET", "/agent/human_contacts/pending", "").want(t, 200, map[string]any{"total": 1.0, "has_more": false})
	}
	for _, token := range []string{w.second, w.foreign, w.stranger} {
		if got := w.call(token, "GET", "/agent/function_calls/pending", "").want(t, 200, map[string]any{"total": 0.0}); !strings.Contains(got.body, `"items":[]`) {
			t.Errorf("others see %s", got.body)
		}
	}
	w.call(w.agent, "GET", "/agent/function_calls/pending?offset=-1", "").want(t, 422, nil)
}
