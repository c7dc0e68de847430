package api_test

import (
	"net/http"
	"strings"
	"testing"
)

const withTemplates = `{"templates":[{"name":"pay","checklist":["The recipient is known","The amount is right"],"text":"Look at the invoice."}],
 "rules":[{"name":"Payments","tools":["payment.send","question","respond_with_approval"],"effect":"require","template":"pay"}]}`

// TestEveryRouteOfAnApprovalWantsTheTicks, and takes them.
func TestEveryRouteOfAnApprovalWantsTheTicks(t *testing.T) {
	t.Parallel()
	for name, try := range map[string]struct {
		what, path, body string // % is what was ticked
	}{
		"respond":                {"call", "/v1/approvals/ID/respond", `{"approved":true%}`},
		"respond with an edit":   {"call", "/v1/approvals/ID/respond", `{"approved":true,"input":{"amount":2}%}`},
		"answer":                 {"question", "/v1/approvals/ID/respond", `{"answer":"yes"%}`},
		"decide":                 {"call", "/api/approval/decide", `{"tool_use_id":"call","session_id":"r","decision":"APPROVED"%}`},
		"approve the latest":     {"proposal", "/conversations/CONV/approve", `{"feedback":"go","digest":"DIGEST"%}`},
		"approve by id":          {"call", "/conversations/CONV/approve", `{"responseId":"ID"%}`},
		"approve with a message": {"proposal", "/message", `{"id":"CONV","content":"go","approvalResponse":{"approved":true,"digest":"DIGEST"%}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.policy(withTemplates)
			call := w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"call","runId":"r","toolName":"payment.send","input":{"amount":1},"acceptsEdits":true}`)
			asked, conv := call, call.text("conversationId")
			switch try.what {
			case "question":
				asked = w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"q","runId":"r","kind":"question","description":"Pay?"}`)
			case "proposal":
				asked = w.call(w.agent, "POST", "/conversations/"+conv+"/responses", `{"kind":"proposal","content":"Pay it."}`)
			}
			id := asked.text("approvalId")
			if id == "" {
				id = asked.text("responseId")
			}
			send := func(ticked string) answer {
				at := strings.NewReplacer("ID", id, "CONV", conv, "DIGEST", asked.text("digest"), "%", ticked)
				return w.call(w.reviewer, "POST", at.Replace(try.path), at.Replace(try.body))
			}
			for _, ticked := range []string{``, `,"checked":[]`, `,"checked":[1]`, `,"checked":[0,1,2]`} {
				got := send(ticked)
				got.want(t, http.StatusUnprocessableEntity, map[string]any{"code": "invalid"})
				if !strings.Contains(got.body, `"checked"`) {
					t.Errorf("%s: the field is not named: %s", ticked, got.body)
				}
				w.call(w.reviewer, "GET", "/v1/approvals/"+id, "").want(t, http.StatusOK, map[string]any{"status": "pending", "policy.text": "Look at the invoice."})
			}
			if got := send(`,"checked":[0,1]`); got.status != http.StatusOK && got.status != http.StatusAccepted {
				t.Fatalf("%d: %s", got.status, got.body)
			}
			done := w.call(w.reviewer, "GET", "/v1/approvals/"+id, "")
			done.want(t, http.StatusOK, map[string]any{"status": "approved"})
			if ticked, ok := done.at("decision.checked").([]any); !ok || len(ticked) != 2 {
				t.Errorf("what was ticked is not told: %s", done.body)
			}
		})
	}
}

// TestTicksNameTheirRequest over HTTP: sent for one proposal they approve no other.
func TestTicksNameTheirRequest(t *testing.T) {
	t.Parallel()
	for name, try := range map[string]struct{ path, body string }{
		"approve": {"/conversations/CONV/approve", `{"checked":[0,1]%}`},
		"message": {"/message", `{"id":"CONV","content":"go","approvalResponse":{"approved":true,"checked":[0,1]%}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.policy(withTemplates)
			conv := w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"call","runId":"r","toolName":"payment.send","input":{"amount":1}}`).text("conversationId")
			propose := func(text string) answer {
				return w.call(w.agent, "POST", "/conversations/"+conv+"/responses", `{"kind":"proposal","content":"`+text+`"}`)
			}
			send := func(names string) answer {
				return w.call(w.reviewer, "POST", strings.ReplaceAll(try.path, "CONV", conv), strings.NewReplacer("CONV", conv, "%", names).Replace(try.body))
			}
			first, second := propose("Delete the logs"), propose("Pay it")
			refused := send(``)
			refused.want(t, http.StatusUnprocessableEntity, map[string]any{"code": "digest_required"})
			if !strings.Contains(refused.body, "the request whose items you ticked") || !strings.Contains(refused.body, "unless responseId is sent") {
				t.Errorf("it does not say what to send: %s", refused.body)
			}
			send(`,"digest":"`+first.text("digest")+`"`).want(t, http.StatusConflict, map[string]any{"code": "digest_mismatch"})
			w.call(w.reviewer, "GET", "/v1/approvals/"+second.text("responseId"), "").want(t, http.StatusOK, map[string]any{"status": "pending"})
			for at, names := range map[string]string{
				first.text("responseId"): `,"responseId":"` + first.text("responseId") + `"`, second.text("responseId"): `,"digest":"` + second.text("digest") + `"`,
			} {
				if got := send(names); got.status != http.StatusOK && got.status != http.StatusAccepted {
					t.Fatalf("%s: %d %s", names, got.status, got.body)
				}
				w.call(w.reviewer, "GET", "/v1/approvals/"+at, "").want(t, http.StatusOK, map[string]any{"status": "approved"})
			}
		})
	}
}

// TestATemplateIsNamedInAnAsk over both surfaces that ask; without one nothing is new on the wire.
func TestATemplateIsNamedInAnAsk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(withTemplates)
	plain := w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"0","toolName":"read","input":{}}`)
	for _, member := range []string{"template", "checklist", "checked", `"text"`} {
		if strings.Contains(plain.body, member) {
			t.Errorf("%s is in an answer about a call without a template: %s", member, plain.body)
		}
	}
	w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"1","toolName":"read","input":{},"template":"pay"}`).
		want(t, http.StatusAccepted, map[string]any{"status": "pending", "template": "pay", "policy.text": "Look at the invoice."})
	w.call(w.agent, "POST", "/api/approval/request", `{"tool_use_id":"2","session_id":"s","tool_name":"read","tool_input":{},"template":"pay"}`).
		want(t, http.StatusOK, map[string]any{"status": "PENDING", "requires_approval": true})
	for _, at := range []struct{ path, body string }{
		{"/v1/approvals", `{"toolUseId":"3","toolName":"read","input":{},"template":"gone"}`},
		{"/api/approval/request", `{"tool_use_id":"3","session_id":"s","tool_name":"read","tool_input":{},"template":"gone"}`},
	} {
		got := w.call(w.agent, "POST", at.path, at.body)
		got.want(t, http.StatusUnprocessableEntity, map[string]any{"code": "invalid"})
		if !strings.Contains(got.body, "must be the name of a template of the policy: pay") {
			t.Errorf("%s: %s", at.path, got.body)
		}
	}
	w.call(w.reviewer, "POST", "/conversations/"+plain.text("conversationId")+"/responses", `{"kind":"proposal","content":"x","template":"pay"}`).want(t, http.StatusForbidden, nil)
	w.call(w.agent, "POST", "/conversations/"+plain.text("conversationId")+"/responses", `{"kind":"proposal","content":"x","template":"pay"}`).
		want(t, http.StatusUnprocessableEntity, nil)
}
