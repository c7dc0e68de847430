package api_test

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
)

func TestToolRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"required_approval_tools":["rm"],"rules":[{"name":"never","tools":["format"],"effect":"deny","reason":"not here"}]}`)
	const path = "/api/approval/request"
	first := w.request("tu", "rm", "s")
	first.want(t, 200, map[string]any{"status": "PENDING"})
	conversation := w.call(w.agent, "GET", "/v1/approvals/"+first.text("tool_call_id"), "").text("conversationId")
	for _, tt := range []struct {
		name, body string
		status     int
		members    map[string]any
		field      string
	}{
		{name: "let through", body: `{"tool_use_id":"1","tool_name":"ls","session_id":"s"}`, status: 200, members: map[string]any{
			"requires_approval": false, "status": "APPROVED", "cause": "policy", "job_id": nil, "timeout_at": nil, "session_id": "s",
		}},
		{name: "denied", body: `{"tool_use_id":"2","tool_name":"format","session_id":"s"}`, status: 200, members: map[string]any{
			"status": "REJECTED", "cause": "policy", "reason": "not here",
		}},
		{name: "I9: again", body: `{"tool_use_id":"tu","tool_name":"rm","tool_input":{"n":9007199254740993},"session_id":"s","description":"other"}`, status: 200, members: map[string]any{
			"tool_call_id": first.text("tool_call_id"), "session_id": "s",
		}},
		{name: "I9: again, by the conversation", body: `{"tool_use_id":"tu","tool_name":"rm","tool_input":{"n":9007199254740993},"session_id":"` + strings.ToUpper(conversation) + `"}`, status: 200, members: map[string]any{
			"tool_call_id": first.text("tool_call_id"), "session_id": strings.ToUpper(conversation),
		}},
		{name: "I9: another input", body: `{"tool_use_id":"tu","tool_name":"rm","tool_input":{"n":9007199254740992},"session_id":"s"}`, status: 409, members: map[string]any{
			"code": "key_conflict", "approval.tool_use_id": "tu", "approval.status": "PENDING", "approval.session_id": "s",
		}},
		{name: "no session", body: `{"tool_use_id":"3","tool_name":"rm"}`, status: 422, field: "session_id"},
		{name: "no tool use id", body: `{"session_id":"s","tool_name":"rm"}`, status: 422, field: "tool_use_id"},
		{name: "no tool", body: `{"tool_use_id":"3","session_id":"s"}`, status: 422, field: "tool_name"},
		{name: "odd tool", body: `{"tool_use_id":"3","session_id":"s","tool_name":"` + secret + `<"}`, status: 422, field: "tool_name"},
		{name: "odd session", body: `{"tool_use_id":"3","session_id":"` + secret + `\n","tool_name":"rm"}`, status: 422, field: "session_id"},
		{name: "odd job", body: `{"tool_use_id":"3","session_id":"s","job_id":"` + secret + `\n","tool_name":"rm"}`, status: 422, field: "job_id"},
		{name: "input too deep", body: `{"tool_use_id":"3","session_id":"s","tool_name":"rm","tool_input":` + strings.Repeat("[", 65) + strings.Repeat("]", 65) + `}`, status: 422, field: "tool_input"},
		{name: "camel case", body: `{"toolUseId":"` + secret + `","session_id":"s","tool_name":"rm"}`, status: 422, field: "toolUseId"},
		{name: "a decision of its own", body: `{"tool_use_id":"3","session_id":"s","tool_name":"rm","status":"APPROVED"}`, status: 422, field: "status"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := w.call(w.agent, "POST", path, tt.body)
			a.want(t, tt.status, tt.members)
			if strings.Contains(a.body, secret) {
				t.Errorf("the answer holds what was sent: %s", a.body)
			}
			if errs, _ := a.at("errors").([]any); tt.field != "" && (len(errs) == 0 || errs[0].(map[string]any)["field"] != tt.field) {
				t.Errorf("errors %v, want one of %s", errs, tt.field)
			}
		})
	}
	for _, token := range []string{w.reviewer, w.admin} {
		w.call(token, "POST", path, `{"tool_use_id":"tu","tool_name":"rm","session_id":"s"}`).want(t, 403, map[string]any{"code": "forbidden"})
	}
}

// The answers have these members and no others, whatever stands.
func TestToolAnswersHaveTheirMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"required_approval_tools":["rm"]}`)
	want := func(what string, object map[string]any, members string) {
		t.Helper()
		if got := strings.Join(slices.Sorted(maps.Keys(object)), " "); got != members {
			t.Errorf("%s has %s, want %s", what, got, members)
		}
	}
	const answered = "cause job_id reason requires_approval session_id status timeout_at tool_call_id tool_use_id"
	const invocation = "agent cause decided_at decided_by description digest job_id reason requested_at requires_approval risk session_id status timeout_at tool_call_id tool_input tool_name tool_use_id"
	pending := func(members string) string {
		all := append(strings.Fields(members), "reviewers", "waiting_for")
		slices.Sort(all)
		return strings.Join(all, " ")
	}
	want("a request held", w.request("tu", "rm", "s").object, pending(answered))
	want("a request let through", w.request("tu 2", "ls", "s").object, answered)
	want("an invocation held", w.call(w.agent, "GET", "/api/approval/invocation/tu", "").object, pending(invocation))
	want("an invocation", w.call(w.agent, "GET", "/api/approval/invocation/tu%202", "").object, invocation)
	listed := w.call(w.agent, "GET", "/api/approval/pending/s", "")
	want("the list", listed.object, "pending")
	list, _ := listed.at("pending").([]any)
	if len(list) != 1 {
		t.Fatalf("pending: %s", listed.body)
	}
	want("a pending one", list[0].(map[string]any), pending(invocation))
	want("a decision", w.call(w.reviewer, "POST", "/api/approval/decide", `{"tool_use_id":"tu","decision":"REJECTED"}`).object, invocation)
	want("the configuration", w.call(w.agent, "GET", "/api/approval/config", "").object,
		"approval_enabled default_timeout_minutes fallback_auto_approve required_approval_tools")
}

func TestToolDecide(t *testing.T) {
	t.Parallel()
	digest := func(a answer) string { return a.text("digest") }
	for _, tt := range []struct {
		name, body string // DIGEST stands for the digest shown
		token      func(*world) string
		status     int
		members    map[string]any
		stands     string
	}{
		{"approve", `{"tool_use_id":"tu","decision":"APPROVED","digest":"DIGEST","reason":"fine"}`, nil, 200, map[string]any{"status": "APPROVED", "reason": "fine", "cause": "reviewer"}, "APPROVED"},
		{"reject without digest", `{"tool_use_id":"tu","session_id":"s","decision":"REJECTED"}`, nil, 200, map[string]any{"status": "REJECTED", "decided_by.name": "owner@example.com"}, "REJECTED"},
		{"approve without digest", `{"tool_use_id":"tu","decision":"APPROVED"}`, nil, 422, map[string]any{"code": "digest_required"}, "PENDING"},
		{"approve what was not shown", `{"tool_use_id":"tu","decision":"APPROVED","digest":"` + strings.Repeat("0", 64) + `"}`, nil, 409, map[string]any{"code": "digest_mismatch", "approval.status": "PENDING"}, "PENDING"},
		{"another word", `{"tool_use_id":"tu","decision":"approved","digest":"DIGEST"}`, nil, 422, map[string]any{"code": "invalid"}, "PENDING"},
		{"a status that is no decision", `{"tool_use_id":"tu","decision":"CANCELLED"}`, nil, 422, map[string]any{"code": "invalid"}, "PENDING"},
		{"no decision", `{"tool_use_id":"tu"}`, nil, 422, map[string]any{"code": "invalid"}, "PENDING"},
		{"no name", `{"decision":"REJECTED"}`, nil, 422, map[string]any{"code": "invalid"}, "PENDING"},
		{"I5: a decider in the body", `{"tool_use_id":"tu","decision":"REJECTED","decided_by":"boss"}`, nil, 422, map[string]any{"code": "invalid"}, "PENDING"},
		{"unknown", `{"tool_use_id":"` + "nothing" + `","decision":"REJECTED"}`, nil, 404, map[string]any{"detail": "No pending approval request for ID: nothing"}, "PENDING"},
		{"another session", `{"tool_use_id":"tu","session_id":"other","decision":"REJECTED"}`, nil, 404, map[string]any{"code": "not_found"}, "PENDING"},
		{"a stranger", `{"tool_use_id":"tu","decision":"REJECTED"}`, func(w *world) string { return w.stranger }, 404, map[string]any{"code": "not_found"}, "PENDING"},
		{"I4: the agent", `{"tool_use_id":"tu","decision":"APPROVED","digest":"DIGEST"}`, func(w *world) string { return w.agent }, 403, map[string]any{"code": "forbidden"}, "PENDING"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.policy(`{"rules":[{"name":"dangerous","tools":["rm"],"effect":"require","risk":"high"}]}`)
			w.request("tu", "rm", "s")
			shown := w.call(w.reviewer, "GET", "/api/approval/invocation/tu", "")
			token := w.reviewer
			if tt.token != nil {
				token = tt.token(w)
			}
			w.call(token, "POST", "/api/approval/decide", strings.Replace(tt.body, "DIGEST", digest(shown), 1)).want(t, tt.status, tt.members)
			w.call(w.agent, "GET", "/api/approval/invocation/tu", "").want(t, 200, map[string]any{"status": tt.stands})
		})
	}
}

func TestAToolUseIDInSeveralSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"required_approval_tools":["rm"]}`)
	w.request("tu", "rm", "s1")
	w.request("tu", "rm", "s2")
	for _, token := range []string{w.agent, w.reviewer, w.admin} {
		w.call(token, "GET", "/api/approval/invocation/tu", "").want(t, 409, map[string]any{"code": "ambiguous_session"})
		w.call(token, "GET", "/api/approval/invocation/tu?wait=50s", "").want(t, 409, map[string]any{"code": "ambiguous_session"})
		w.call(token, "GET", "/api/approval/invocation/tu?session_id=s2", "").want(t, 200, map[string]any{"session_id": "s2"})
	}
	w.call(w.reviewer, "POST", "/api/approval/decide", `{"tool_use_id":"tu","decision":"APPROVED"}`).want(t, 409, map[string]any{"code": "ambiguous_session"})
	w.call(w.reviewer, "POST", "/api/approval/decide", `{"tool_use_id":"tu","session_id":"s1","decision":"APPROVED"}`).want(t, 200, map[string]any{"session_id": "s1", "status": "APPROVED"})
	w.call(w.agent, "GET", "/api/approval/invocation/tu?session_id=s2", "").want(t, 200, map[string]any{"status": "PENDING"})
	for _, token := range []string{w.second, w.foreign, w.stranger} {
		w.call(token, "GET", "/api/approval/invocation/tu?session_id=s1", "").want(t, 404, map[string]any{"code": "not_found"})
		w.call(token, "GET", "/api/approval/invocation/tu?session_id=s1&wait=50s", "").want(t, 404, nil)
		if list, ok := w.call(token, "GET", "/api/approval/pending/s2", "").at("pending").([]any); !ok || len(list) != 0 {
			t.Errorf("a stranger sees what waits: %v", list)
		}
	}
	w.call(w.second, "POST", "/api/approval/request", `{"tool_use_id":"x","tool_name":"rm","session_id":"s1"}`).want(t, 409, map[string]any{"code": "other_agent", "approval": nil})
}

// What a reviewer approved on another surface is told here: an edit too, where the
// orchestrator says that it takes them.
func TestAnEditReachesTheOrchestrator(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"required_approval_tools":["rm"]}`)
	ask := func() answer {
		return w.call(w.agent, "POST", "/api/approval/request", `{"tool_use_id":"tu","tool_name":"rm","tool_input":{"n":9007199254740993},"session_id":"s","accepts_edits":true}`)
	}
	id := ask().text("tool_call_id")
	w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true,"input":{"n":1}}`).want(t, 200, nil)
	ask().want(t, 200, map[string]any{"status": "APPROVED", "edited_input.n": jsonNumber("1")})
	w.call(w.agent, "GET", "/api/approval/invocation/tu", "").
		want(t, 200, map[string]any{"status": "APPROVED", "edited_input.n": jsonNumber("1"), "tool_input.n": jsonNumber("9007199254740993")})
}

// Names are any text, also where they stand in a path.
func TestOddNamesInPaths(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"required_approval_tools":["rm"]}`)
	for _, name := range []string{"a/b", "50% + 1?", "ключ", "..", "{x}", ":id", "a%2Fb", `say \"hi\"`} {
		w.request(name, "rm", name).want(t, 200, map[string]any{"status": "PENDING", "session_id": strings.ReplaceAll(name, `\`, "")})
		name = strings.ReplaceAll(name, `\`, "")
		escaped := strings.ReplaceAll(url.PathEscape(name), "..", "%2E%2E")
		w.call(w.reviewer, "GET", "/api/approval/invocation/"+escaped+"?session_id="+url.QueryEscape(name), "").want(t, 200, map[string]any{"tool_use_id": name, "session_id": name})
		if list, _ := w.call(w.agent, "GET", "/api/approval/pending/"+escaped, "").at("pending").([]any); len(list) != 1 {
			t.Errorf("%d calls wait in session %q, want 1", len(list), name)
		}
	}
}

// I9: one call asked over two surfaces is one call.
func TestACallIsTheSameOverBothSurfaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"required_approval_tools":["rm"]}`)
	id := w.request("tu", "rm", "s").text("tool_call_id")
	body := `{"toolUseId":"tu","runId":"s","toolName":"rm","input":{"n":9007199254740993}}`
	w.call(w.agent, "POST", "/v1/approvals", body).want(t, 202, map[string]any{"approvalId": id})
	let := w.request("other", "ls", "s").text("tool_call_id")
	body = strings.NewReplacer(`"tu"`, `"other"`, `"rm"`, `"ls"`).Replace(body)
	w.call(w.agent, "POST", "/v1/approvals", body).want(t, 200, map[string]any{"approvalId": let, "requiresApproval": false})
}

func TestEveryStatusHasAWordOnTheToolSurface(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"required_approval_tools":["rm"]}`)
	id := w.request("tu", "rm", "s").text("tool_call_id")
	w.call(w.agent, "POST", "/v1/approvals/"+id+"/cancel", "").want(t, 200, nil)
	w.call(w.reviewer, "GET", "/api/approval/invocation/tu", "").
		want(t, 200, map[string]any{"status": "CANCELLED", "cause": "cancelled", "reason": "withdrawn by the agent", "decided_by": nil})
	w.policy(`{"required_approval_tools":["rm"],"approval_enabled":false}`)
	w.request("off", "rm", "s").want(t, 200, map[string]any{"requires_approval": false, "status": "APPROVED", "cause": string(models.CauseGateOff)})
}

// The configuration says what counts now. A bare value means what it meant before there were
// ends, and an end that is not named is not kept.
func TestToolConfigHasEndsI3(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const path = "/api/approval/config"
	const off, bare, on = `"approval_enabled":false,"approval_off_until":"2026-03-02T13:00:00Z"`, `"approval_enabled":false`, `"approval_enabled":true`
	const fallback, none = `"fallback_auto_approve":true,"fallback_until":"2026-03-02T13:30:00Z"`, `"fallback_auto_approve":false`
	config := func(method, body string) string {
		t.Helper()
		a := w.call(w.admin, method, path, body)
		a.want(t, 200, nil)
		var found []string
		for member := range strings.SplitSeq(off+","+on+","+fallback+","+none, ",") {
			if strings.Contains(a.body, member) {
				found = append(found, member)
			}
		}
		return strings.Join(found, ",")
	}
	put := func(body string) string { return config("PUT", "{"+body+"}") }
	for i, step := range []struct{ sent, want string }{
		{off, off + "," + none},
		{`"default_timeout_minutes":9`, off + "," + none},
		{fallback, off + "," + fallback},
		{bare, bare + "," + fallback},
		{`"approval_off_until":"2026-03-02T14:00:00+01:00"`, off + "," + fallback},
		{on, on + "," + fallback},
		{off, off + "," + fallback},
	} {
		if got := put(step.sent); got != step.want {
			t.Errorf("step %d, %s: %s, want %s", i+1, step.sent, got, step.want)
		}
	}
	version := w.policyVersion()
	for _, step := range []struct {
		passes time.Duration
		want   string
	}{
		{time.Hour - time.Second, off + "," + fallback},
		{time.Second, on + "," + fallback},
		{30 * time.Minute, on + "," + none},
	} {
		now := w.clock.Step(step.passes)
		if got := config("GET", ""); got != step.want {
			t.Errorf("at %s: %s, want %s", now, got, step.want)
		}
	}
	if now := w.policyVersion(); now != version {
		t.Errorf("reading saved version %d (I15)", now)
	}
	if got := put(`"default_timeout_minutes":10`); got != on+","+none || w.policyVersion() != version+2 {
		t.Errorf("behind both ends: %s, version %d behind %d", got, w.policyVersion(), version)
	}
}

func TestToolConfig(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"required_approval_tools":["a"],"rules":[{"name":"r","tools":["x"],"effect":"deny"}]}`)
	const path = "/api/approval/config"
	version := w.policyVersion()
	for _, tt := range []struct{ name, body, field string }{
		{"unknown member", `{"rules":[]}`, "rules"},
		{"a member of the policy that is not one of the four", `{"unmatched":"require"}`, "unmatched"},
		{"camel case", `{"approvalEnabled":false}`, "approvalEnabled"},
		{"null switch", `{"approval_enabled":null}`, "approval_enabled"},
		{"null list", `{"required_approval_tools":null}`, "required_approval_tools"},
		{"a string for a number", `{"default_timeout_minutes":"5"}`, "default_timeout_minutes"},
		{"half a minute", `{"default_timeout_minutes":0.5}`, "default_timeout_minutes"},
		{"no time", `{"default_timeout_minutes":0}`, "default_timeout_minutes"},
		{"too long", `{"default_timeout_minutes":1441}`, "default_timeout_minutes"},
		{"a number for a switch", `{"approval_enabled":0}`, "approval_enabled"},
		{"a list of numbers", `{"required_approval_tools":["a",1]}`, "required_approval_tools[1]"},
		{"an end beside a gate that is on", `{"approval_off_until":"2026-03-02T13:00:00Z"}`, "approval_off_until"},
		{"an end of a gate that goes on", `{"approval_enabled":true,"approval_off_until":"2026-03-02T13:00:00Z"}`, "approval_off_until"},
		{"an end that passed", `{"approval_enabled":false,"approval_off_until":"2026-03-02T12:00:00Z"}`, "approval_off_until"},
		{"an end in half a minute", `{"fallback_auto_approve":true,"fallback_until":"2026-03-02T12:00:30Z"}`, "fallback_until"},
		{"no end at all", `{"approval_enabled":false,"approval_off_until":null}`, "approval_off_until"},
		{"an end that is no time", `{"approval_enabled":false,"approval_off_until":"soon"}`, "approval_off_until"},
		{"no regular expression", `{"approval_enabled":false,"required_approval_tools":["a","/(/"]}`, "required_approval_tools[1]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := w.call(w.admin, "PUT", path, tt.body)
			a.want(t, 422, map[string]any{"code": "invalid"})
			if !strings.Contains(a.body, `"field":"`+tt.field+`"`) {
				t.Errorf("%s is not named: %s", tt.field, a.body)
			}
		})
	}
	for _, token := range []string{w.agent, w.reviewer, w.stranger} {
		w.call(token, "GET", path, "").want(t, 200, map[string]any{"default_timeout_minutes": jsonNumber("5"), "fallback_auto_approve": false, "approval_enabled": true})
		w.call(token, "PUT", path, `{"approval_enabled":false}`).want(t, 403, map[string]any{"code": "forbidden"})
		w.call(token, "POST", "/api/approval/cleanup", "").want(t, 403, map[string]any{"code": "forbidden"})
	}
	if now := w.policyVersion(); now != version {
		t.Errorf("what was refused moved the policy from version %d to %d", version, now)
	}
	w.call(w.admin, "PUT", path, `{"fallback_auto_approve":true}`).want(t, 200, map[string]any{"fallback_auto_approve": true, "approval_enabled": true, "default_timeout_minutes": jsonNumber("5")})
	w.call(w.admin, "PUT", path, `{}`).want(t, 200, map[string]any{"fallback_auto_approve": true})
	if now := w.policyVersion(); now != version+1 {
		t.Errorf("the policy is at version %d, want %d", now, version+1)
	}
	v, err := w.store.CurrentPolicy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if doc := v.Program.Document(); len(doc.Rules) != 1 || len(doc.RequiredApprovalTools) != 1 || v.AuthorName != w.adminAs.Name {
		t.Errorf("a partial change lost something: %+v by %s", doc, v.AuthorName)
	}
	w.call(w.admin, "PUT", path, `{"required_approval_tools":[]}`).want(t, 200, nil)
	if a := w.call(w.admin, "GET", path, ""); !strings.Contains(a.body, `"required_approval_tools":[]`) {
		t.Errorf("an empty list is not one: %s", a.body)
	}
}
