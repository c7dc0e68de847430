package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"countersign/models"
)

const financeOnly = `{"rules":[{"name":"Payments","tools":["payment.send","question","respond_with_approval"],"effect":"require","reviewers":["stranger@example.com"],"reviewers_only":true,"self_approval":"never"}]}`

// TestNotAReviewerOnEverySurface: who may not approve gets 403 everywhere, whatever
// the token, and may reject.
func TestNotAReviewerOnEverySurface(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(financeOnly)
	ask := func(id string) answer {
		return w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"`+id+`","runId":"r","toolName":"payment.send","input":{"amount":1},"acceptsEdits":true}`)
	}
	a := ask("p1")
	a.want(t, http.StatusAccepted, map[string]any{"policy.reviewersOnly": true, "policy.selfApproval": "never", "policy.approvers": nil})
	id, conv, digest := a.text("approvalId"), a.text("conversationId"), a.text("digest")
	proposal := w.call(w.agent, "POST", "/conversations/"+conv+"/responses", `{"kind":"proposal","content":"Pay it."}`)
	question := w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"q1","runId":"r","kind":"question","description":"Pay?"}`)
	for _, token := range []string{w.reviewer, w.admin} {
		for _, try := range []struct{ path, body string }{
			{"/v1/approvals/" + id + "/respond", `{"approved":true,"digest":"` + digest + `"}`},
			{"/v1/approvals/" + id + "/respond", `{"approved":true,"digest":"` + digest + `","input":{"amount":2}}`},
			{"/v1/approvals/" + question.text("approvalId") + "/respond", `{"answer":"yes"}`},
			{"/api/approval/decide", `{"tool_use_id":"p1","session_id":"r","decision":"APPROVED","digest":"` + digest + `"}`},
			{"/conversations/" + conv + "/approve", `{}`},
			{"/conversations/" + conv + "/approve", `{"responseId":"` + id + `","digest":"` + digest + `"}`},
			{"/message", `{"id":"` + conv + `","content":"go","approvalResponse":{"approved":true}}`},
		} {
			got := w.call(token, "POST", try.path, try.body)
			got.want(t, http.StatusForbidden, map[string]any{"code": "not_a_reviewer"})
			if t.Failed() {
				t.Fatalf("%s %s: %s", try.path, try.body, got.body)
			}
		}
	}
	seen := w.call(w.reviewer, "GET", "/v1/approvals/"+id, "")
	seen.want(t, http.StatusOK, map[string]any{"status": "pending"})
	if list, ok := seen.at("policy.approvers").([]any); !ok || len(list) != 1 || list[0] != "stranger@example.com" {
		t.Errorf("a person is told who must approve: %s", seen.body)
	}
	w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":false,"reason":"no"}`).want(t, http.StatusOK, map[string]any{"status": "rejected"})
	w.call(w.reviewer, "POST", "/v1/approvals/"+ask("p2").text("approvalId")+"/cancel", ``).want(t, http.StatusOK, map[string]any{"status": "cancelled"})
	w.call(w.stranger, "POST", "/v1/approvals/"+ask("p3").text("approvalId")+"/respond", `{"approved":true,"digest":"`+digest+`"}`).
		want(t, http.StatusOK, map[string]any{"status": "approved"})
	w.call(w.stranger, "POST", "/v1/approvals/"+proposal.text("responseId")+"/respond", `{"approved":true}`).want(t, http.StatusOK, map[string]any{"status": "approved"})
}

// TestAnEditThatOthersMustApproveIs202 with held.reason quorum, and still pending.
func TestAnEditThatOthersMustApproveIs202(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"rules":[{"name":"Payments","tools":["payment.send"],"effect":"require"}]}`)
	a := w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"p1","toolName":"payment.send","input":{"amount":1},"acceptsEdits":true}`)
	w.policy(financeOnly)
	respond, edit := "/v1/approvals/"+a.text("approvalId")+"/respond", `{"approved":true,"input":{"amount":2}}`
	w.call(w.reviewer, "POST", respond, edit).want(t, http.StatusAccepted, map[string]any{"status": "pending", "held.reason": "quorum"})
	w.call(w.agent, "GET", "/v1/approvals/"+a.text("approvalId"), "").want(t, http.StatusOK, map[string]any{"status": string(models.StatusPending), "held": nil})
	w.call(w.stranger, "POST", respond, edit).want(t, http.StatusOK, map[string]any{"status": "approved"})
}

// TestTwoSignOnEachSurface: the first signature is 202 and nothing is released, whichever way it comes; the second
// releases. People see who has signed, and agents only how many, where the rule says so.
func TestTwoSignOnEachSurface(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"rules":[{"name":"Payments","tools":["payment.send","respond_with_approval"],"effect":"require","show_progress":true,
	 "approvals":[{"from":["admin@example.com","stranger@example.com"],"count":2}]}]}`)
	call := func(name string) (id string, sign []func(token string) answer) {
		a := w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"`+name+`","runId":"r","toolName":"payment.send","input":{"amount":1},"acceptsEdits":true}`)
		id = a.text("approvalId")
		return id, []func(string) answer{
			func(token string) answer {
				return w.call(token, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true}`)
			},
			func(token string) answer {
				return w.call(token, "POST", "/api/approval/decide", `{"tool_use_id":"`+name+`","session_id":"r","decision":"APPROVED"}`)
			},
		}
	}
	proposal := func(string) (id string, sign []func(token string) answer) {
		opened := w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"open","runId":"p","toolName":"payment.send","input":{"amount":2}}`)
		conv := opened.text("conversationId")
		id = w.call(w.agent, "POST", "/conversations/"+conv+"/responses", `{"kind":"proposal","content":"Pay it."}`).text("responseId")
		return id, []func(string) answer{
			func(token string) answer {
				return w.call(token, "POST", "/conversations/"+conv+"/approve", `{"responseId":"`+id+`"}`)
			},
			func(token string) answer {
				return w.call(token, "POST", "/message", `{"id":"`+conv+`","content":"go","approvalResponse":{"approved":true,"responseId":"`+id+`"}}`)
			},
		}
	}
	for name, opens := range map[string]func(string) (string, []func(string) answer){"call": call, "proposal": proposal} {
		for first := range 2 {
			id, sign := opens(name + string(rune('0'+first)))
			if got := sign[first](w.admin); got.status != http.StatusAccepted {
				t.Fatalf("%s, way %d: %d %s", name, first, got.status, got.body)
			}
			at := "/v1/approvals/" + id
			w.call(w.agent, "GET", at, "").want(t, http.StatusOK, map[string]any{
				"status": "pending", "decision": nil, "held": nil, "reviewers": nil, "signatures.have": json.Number("1"), "signatures.need": json.Number("2"), "signatures.signed": nil,
			})
			seen := w.call(w.admin, "GET", at, "")
			if signed, ok := seen.at("signatures.signed").([]any); !ok || len(signed) != 1 {
				t.Errorf("%s: a person sees %s", name, seen.body)
			}
			if name == "call" { // a conversation is for its owner and admins; whoever signs besides does so here
				sign[1-first](w.stranger).want(t, http.StatusOK, nil)
			} else {
				w.call(w.stranger, "POST", at+"/respond", `{"approved":true}`).want(t, http.StatusOK, nil)
			}
			w.call(w.agent, "GET", at, "").want(t, http.StatusOK, map[string]any{"status": "approved", "decision.signed": nil})
			done := w.call(w.admin, "GET", at, "")
			if signed, ok := done.at("decision.signed").([]any); !ok || len(signed) != 2 {
				t.Errorf("%s: signed by %s", name, done.body)
			}
		}
	}
}

// TestGlassOverTheAPI: one who may break it decides alone with a reason; a person reads who was skipped, an agent
// nothing of it.
func TestGlassOverTheAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"rules":[{"name":"Payments","tools":["payment.send"],"effect":"require","break_glass":["stranger@example.com"],
	 "approvals":[{"from":["admin@example.com","owner@example.com"],"count":2}]}]}`)
	id := w.call(w.agent, "POST", "/v1/approvals", `{"toolName":"payment.send","input":{"amount":1}}`).text("approvalId")
	at := "/v1/approvals/" + id
	w.call(w.agent, "GET", at, "").want(t, http.StatusOK, map[string]any{"signatures": nil})
	seen := w.call(w.stranger, "GET", at, "")
	if may, ok := seen.at("signatures.breakGlass").([]any); !ok || len(may) != 1 || may[0] != "stranger@example.com" {
		t.Errorf("who may break glass: %s", seen.body)
	}
	respond := func(token, body string) answer { return w.call(token, "POST", at+"/respond", body) }
	const why = `"reason":"The plant stops at noon, and nobody answers."`
	respond(w.stranger, `{"approved":true,`+why+`}`).want(t, http.StatusForbidden, map[string]any{"code": "not_a_reviewer"})
	respond(w.stranger, `{"approved":true,"breakGlass":true}`).want(t, http.StatusUnprocessableEntity, map[string]any{"code": "comment_required"})
	respond(w.admin, `{"approved":true,"breakGlass":true,`+why+`}`).want(t, http.StatusForbidden, map[string]any{"code": "not_a_reviewer"})
	respond(w.agent, `{"approved":true,"breakGlass":true,`+why+`}`).want(t, http.StatusForbidden, nil)
	respond(w.stranger, `{"approved":true,"breakGlass":true,`+why+`}`).want(t, http.StatusOK, map[string]any{"status": "approved"})
	w.call(w.admin, "GET", at, "").want(t, http.StatusOK, map[string]any{"decision.brokeGlass": true})
	w.call(w.agent, "GET", at, "").want(t, http.StatusOK, map[string]any{"status": "approved", "decision.brokeGlass": nil, "decision.signed": nil})
}
