package api_test

import (
	"strings"
	"testing"
)

// wrongNumbers are what no whole number is, and what no budget is.
var wrongNumbers = []string{
	`1e400`, `-1e400`, `1.5`, `"5"`, `NaN`, `Infinity`, `-Infinity`, `true`, `[]`, `{}`, `1e30`, `9223372036854775808`, `1000000000001`,
}

// What is refused names the field, changes nothing, and holds nothing of what
// was sent.
func TestWrongMembersAreNamedAndChangeNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	proposal := w.propose("first").text("responseId")
	w.call(w.reviewer, "PUT", "/conversations/"+run+"/budget", `{"budget":50}`).want(t, 200, nil)
	other := w.call(w.foreign, "POST", "/conversations/"+uuid+"f/responses", `{"kind":"proposal","content":"x"}`).text("responseId")
	own := w.call(w.agent, "POST", "/conversations/"+uuid+"e/responses", `{"kind":"proposal","content":"x"}`).text("responseId")
	text := func(bytes int) string { return strings.Repeat("x", bytes) }
	path := "/conversations/" + run
	type refusal struct {
		token, method, path, body string
		status                    int
		code, field               string
	}
	say := func(body string, status int, code, field string) refusal {
		return refusal{w.reviewer, "POST", "/message", body, status, code, field}
	}
	decides := func(member string, status int, code, field string) refusal {
		return say(`{"content":"x","id":"`+run+`","approvalResponse":{`+member+`}}`, status, code, field)
	}
	approves := func(body string, status int, code, field string) refusal {
		return refusal{w.reviewer, "POST", path + "/approve", body, status, code, field}
	}
	rejects := func(body string, status int, code, field string) refusal {
		return refusal{w.reviewer, "POST", path + "/reject", body, status, code, field}
	}
	responds := func(body string, status int, code, field string) refusal {
		return refusal{w.agent, "POST", path + "/responses", body, status, code, field}
	}
	budgets := func(body string, status int, code, field string) refusal {
		return refusal{w.agent, "PUT", path + "/budget", body, status, code, field}
	}
	refusals := []refusal{
		say(`{}`, 422, "invalid", "content"),
		say(`{"content":""}`, 422, "invalid", "content"),
		say(`{"content":null}`, 422, "invalid", "content"),
		say(`{"content":"`+text(64<<10+1)+`"}`, 422, "invalid", "content"),
		say(`{"content":7}`, 422, "invalid", "content"),
		say(`{"content":"x","Content":"`+secret+`"}`, 422, "invalid", "Content"),
		say(`{"content":"x","content":"`+secret+`"}`, 422, "invalid", "content"),
		say(`{"content":"x","conversationId":"`+run+`"}`, 422, "invalid", "conversationId"),
		say(`{"content":"x","userId":"`+uuid+`9"}`, 422, "invalid", "userId"), // I5
		say(`{"content":"x","id":"`+secret+`"}`, 422, "invalid", "id"),
		say(`{"content":"x","id":"`+uuid+`9"}`, 404, "not_found", ""),
		say(`{"content":"x","id":"`+uuid+`f"}`, 404, "not_found", ""),
		say(`{"content":"x","id":"`+run+`","energyBudget":5,"approvalResponse":{"newBudget":6}}`, 422, "invalid", "energyBudget"),
		say(`{"content":"x","id":"`+run+`","energyBudget":5,"approvalResponse":{"budgetChange":6}}`, 422, "invalid", "energyBudget"),
		say(`{"content":"x","id":"`+run+`","approvalResponse":{"requestId":"0190f5a0-0000-7000-8000-0000000000ff","approved":true}}`, 422, "invalid", "approvalResponse.requestId"),
		say(`{"content":"x","approvalResponse":{"requestId":"x","approved":true}}`, 422, "invalid", "approvalResponse.requestId"),
		say(`{"content":"x","energyBudget":-1}`, 422, "invalid", "energyBudget"),
		say(`{"content":"x","approvalResponse":{"approved":true}}`, 422, "invalid", "id"),
		say(`{"content":"x","approvalResponse":{"newBudget":5}}`, 422, "invalid", "id"),
		say(`{"content":"x","id":"`+run+`","approvalResponse":[]}`, 422, "invalid", "approvalResponse"),
		decides(``, 422, "invalid", "approvalResponse.approved"),
		decides(`"feedback":"x"`, 422, "invalid", "approvalResponse.approved"),
		decides(`"approved":"yes"`, 422, "invalid", "approvalResponse.approved"),
		decides(`"approved":true,"by":"`+secret+`"`, 422, "invalid", "approvalResponse.by"), // I5
		decides(`"responseId":"`+proposal+`"`, 422, "invalid", "approvalResponse.approved"),
		decides(`"responseId":"`+proposal+`","budgetChange":1`, 422, "invalid", "approvalResponse.approved"),
		decides(`"approved":true,"responseId":"`+secret+`"`, 422, "invalid", "approvalResponse.responseId"),
		decides(`"approved":true,"responseId":"`+uuid+`9"`, 404, "not_found", ""),
		decides(`"approved":true,"responseId":"`+other+`"`, 404, "not_found", ""),
		decides(`"approved":true,"responseId":"`+own+`"`, 404, "not_found", ""),
		decides(`"approved":true,"newBudget":1,"budgetChange":1`, 422, "invalid", "approvalResponse.budgetChange"),
		decides(`"newBudget":1,"budgetChange":1`, 422, "invalid", "approvalResponse.budgetChange"),
		decides(`"newBudget":-1`, 422, "invalid", "approvalResponse.newBudget"),
		decides(`"approved":false,"newBudget":-1`, 422, "invalid", "approvalResponse.newBudget"),
		decides(`"budgetChange":999999999999`, 422, "invalid", "approvalResponse.budgetChange"),
		decides(`"approved":true,"digest":"`+strings.Repeat("0", 64)+`"`, 409, "digest_mismatch", ""), // I6
		decides(`"approved":true,"feedback":"`+text(4001)+`"`, 422, "invalid", "approvalResponse.feedback"),
		approves(`{"newBudget":1,"budgetChange":1}`, 422, "invalid", "budgetChange"),
		approves(`{"newBudget":-1}`, 422, "invalid", "newBudget"),
		approves(`{"responseId":"`+secret+`"}`, 422, "invalid", "responseId"),
		approves(`{"responseId":"`+other+`"}`, 404, "not_found", ""),
		approves(`{"responseId":"`+own+`"}`, 404, "not_found", ""),
		approves(`{"digest":"`+strings.Repeat("0", 64)+`"}`, 409, "digest_mismatch", ""), // I6
		approves(`{"approved":false}`, 422, "invalid", "approved"),
		approves(`{"feedback":"`+text(4001)+`"}`, 422, "invalid", "feedback"),
		rejects(`{"newBudget":1}`, 422, "invalid", "newBudget"),
		rejects(`{"responseId":"`+uuid+`9"}`, 404, "not_found", ""),
		rejects(`{"digest":"`+strings.Repeat("0", 64)+`"}`, 409, "digest_mismatch", ""), // I6
		rejects(`{"reason":"x"}`, 422, "invalid", "reason"),
		responds(`{}`, 422, "invalid", "kind"),
		responds(`{"kind":"tool_call","content":"x"}`, 422, "invalid", "kind"),
		responds(`{"kind":"budget","content":"x"}`, 422, "invalid", "kind"),
		responds(`{"kind":"`+secret+`","content":"x"}`, 422, "invalid", "kind"),
		responds(`{"kind":"reply"}`, 422, "invalid", "content"),
		responds(`{"kind":"reply","content":"`+text(64<<10+1)+`"}`, 422, "invalid", "content"),
		responds(`{"kind":"reply","content":"x","responseId":"`+secret+`"}`, 422, "invalid", "responseId"),
		responds(`{"kind":"reply","content":"x","responseId":"`+other+`"}`, 409, "id_taken", ""),
		responds(`{"kind":"reply","content":"x","modelUsed":"`+text(201)+`"}`, 422, "invalid", "modelUsed"),
		responds(`{"kind":"reply","content":"x","energyBudget":5}`, 422, "invalid", "energyBudget"),
		responds(`{"kind":"proposal","content":"x","energyBudget":-5}`, 422, "invalid", "energyBudget"),
		responds(`{"kind":"reply","content":"x","energy":-1}`, 422, "invalid", "energy"),
		responds(`{"kind":"reply","content":"x","energy":1000000001}`, 422, "invalid", "energy"),
		responds(`{"kind":"reply","content":"x","status":"approved"}`, 422, "invalid", "status"),
		{w.agent, "POST", "/conversations/" + secret + "/responses", `{"kind":"reply","content":"x"}`, 422, "invalid", "requestId"},
		{w.agent, "POST", "/conversations/" + uuid + "f/responses", `{"kind":"reply","content":"x"}`, 409, "id_taken", ""},
		{w.second, "POST", path + "/responses", `{"kind":"reply","content":"x"}`, 409, "other_agent", ""},
		{w.reviewer, "POST", path + "/responses", `{"kind":"reply","content":"x"}`, 403, "forbidden", ""},
		{w.admin, "POST", path + "/responses", `{"kind":"reply","content":"x"}`, 403, "forbidden", ""},
		budgets(`{}`, 422, "invalid", "budget"),
		budgets(`{"budget":null}`, 422, "invalid", "budget"),
		budgets(`{"budget":1,"delta":1}`, 422, "invalid", "delta"),
		budgets(`{"budget":-1}`, 422, "invalid", "budget"),
		budgets(`{"delta":999999999999}`, 422, "invalid", "delta"),
		budgets(`{"newBudget":5}`, 422, "invalid", "newBudget"),
		{w.agent, "PUT", "/conversations/" + uuid + "9/budget", `{"budget":5}`, 404, "not_found", ""},
		{w.second, "PUT", path + "/budget", `{"budget":5}`, 404, "not_found", ""},
		{w.foreign, "PUT", path + "/budget", `{"budget":5}`, 404, "not_found", ""},
		{w.stranger, "PUT", path + "/budget", `{"budget":5}`, 404, "not_found", ""},
		{w.stranger, "POST", path + "/approve", `{}`, 404, "not_found", ""},
		{w.stranger, "POST", path + "/approve", `{"responseId":"` + proposal + `"}`, 404, "not_found", ""},
		{w.stranger, "POST", path + "/reject", `{}`, 404, "not_found", ""},
		{w.stranger, "POST", "/message", `{"content":"x","id":"` + run + `"}`, 404, "not_found", ""},
		{w.agent, "PUT", "/conversations/" + uuid + "e/budget", `{"delta":5}`, 422, "no_budget", "delta"},
		{w.reviewer, "PUT", "/conversations/" + uuid + "e/budget", `{"delta":-5}`, 422, "no_budget", "delta"},
		{w.reviewer, "POST", "/conversations/" + uuid + "e/approve", `{"budgetChange":5}`, 422, "no_budget", "budgetChange"},
		say(`{"content":"x","id":"`+uuid+`e","approvalResponse":{"budgetChange":5}}`, 422, "no_budget", "approvalResponse.budgetChange"),
		say(`{"content":"x","id":"`+uuid+`e","approvalResponse":{"approved":true,"budgetChange":5}}`, 422, "no_budget", "approvalResponse.budgetChange"),
	}
	for _, n := range wrongNumbers {
		refusals = append(refusals,
			say(`{"content":"x","energyBudget":`+n+`}`, 422, "invalid", "energyBudget"),
			decides(`"newBudget":`+n, 422, "invalid", "approvalResponse.newBudget"),
			decides(`"approved":true,"budgetChange":`+n, 422, "invalid", "approvalResponse.budgetChange"),
			approves(`{"newBudget":`+n+`}`, 422, "invalid", "newBudget"),
			approves(`{"budgetChange":`+n+`}`, 422, "invalid", "budgetChange"),
			responds(`{"kind":"reply","content":"x","energy":`+n+`}`, 422, "invalid", "energy"),
			responds(`{"kind":"proposal","content":"x","energyBudget":`+n+`}`, 422, "invalid", "energyBudget"),
			budgets(`{"budget":`+n+`}`, 422, "invalid", "budget"),
			budgets(`{"delta":`+n+`}`, 422, "invalid", "delta"),
		)
	}
	w.unchanged("what was refused", func() {
		for _, r := range refusals {
			name := r.method + " " + r.path + " " + r.body[:min(len(r.body), 200)]
			a := w.call(r.token, r.method, r.path, r.body)
			if a.status != r.status || (r.code != "" && a.text("code") != r.code) {
				t.Errorf("%s: %d %s, want %d %s: %s", name, a.status, a.text("code"), r.status, r.code, a.body)
			}
			if strings.Contains(a.body, secret) {
				t.Errorf("%s: the answer holds what was sent: %s", name, a.body)
			}
			if errs := a.entries("errors"); r.field != "" && (len(errs) == 0 || errs[0].text("field") != r.field) {
				t.Errorf("%s: names %v, want %s", name, a.at("errors"), r.field)
			}
		}
	})
}

func TestParametersOfConversationsAreReadStrictly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.propose("first")
	for _, query := range []string{
		"?limit=0", "?limit=201", "?after=" + secret[:12], "?after=-1", "?after=1.5", "?after=1e3", "?before=0", "?before=x", "?after=1&before=5", "?wait=5s",
		"?after=0&wait=soon", "?after=0&wait=-1s", "?nothing=1", "/approvals?limit=0", "/approvals?limit=201", "/approvals?cursor=" + secret, "/approvals?after=1",
	} {
		a := w.call(w.agent, "GET", "/conversations/"+run+query, "")
		a.want(t, 422, map[string]any{"code": "invalid"})
		if strings.Contains(a.body, secret[:12]) {
			t.Errorf("%s: the answer holds what was sent: %s", query, a.body)
		}
	}
	for _, query := range []string{"?limit=0", "?status=asleep", "?cursor=" + secret, "?archived=perhaps", "?owner=x"} {
		w.call(w.agent, "GET", "/conversations"+query, "").want(t, 422, map[string]any{"code": "invalid"})
	}
	w.call(w.agent, "POST", "/conversations/"+run+"/responses?wait=soon", `{"kind":"reply","content":"x"}`).want(t, 422, nil)
	for _, path := range []string{"/conversations/" + secret, "/conversations/" + uuid + "9", "/conversations/" + secret + "/approvals", "/conversations/" + uuid + "9/approvals"} {
		w.call(w.agent, "GET", path, "").want(t, 404, map[string]any{"code": "not_found"})
	}
	for _, token := range []string{w.second, w.foreign, w.stranger} {
		for _, path := range []string{"/conversations/" + run, "/conversations/" + run + "?after=0&wait=50s", "/conversations/" + run + "/approvals"} {
			w.call(token, "GET", path, "").want(t, 404, map[string]any{"code": "not_found"})
		}
		if list := w.call(token, "GET", "/conversations", "").entries("conversations"); len(list) != 0 {
			t.Errorf("another's list holds %d conversations", len(list))
		}
	}
	for _, path := range []string{"/message", "/conversations/" + run + "/approve", "/conversations/" + run + "/reject", "/conversations/" + run + "/responses"} {
		w.call("", "POST", path, `{"content":"x"}`).want(t, 401, map[string]any{"code": "unauthenticated"})
		w.call(w.agent, "POST", path, strings.Repeat(" ", 5<<20+1)).want(t, map[bool]int{true: 413, false: 403}[strings.HasSuffix(path, "responses")], nil)
	}
}
