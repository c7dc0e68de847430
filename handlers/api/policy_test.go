package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// put sends a document with an If-Match header, unless that is empty.
func (w *world) putPolicy(token, match, body string) answer {
	w.tb.Helper()
	req, err := http.NewRequestWithContext(w.tb.Context(), http.MethodPut, w.url+"/v1/policy", strings.NewReader(body))
	if err != nil {
		w.tb.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	if match != "" {
		req.Header.Set("If-Match", match)
	}
	a, err := do(req)
	if err != nil {
		w.tb.Fatal(err)
	}
	return a
}

func TestThePolicyIsReadAndChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, token := range []string{w.agent, w.reviewer} {
		w.call(token, "GET", "/v1/policy", "").want(t, http.StatusForbidden, map[string]any{"code": "forbidden"})
		w.unchanged("without the right", func() {
			w.putPolicy(token, "*", `{"document":{},"note":"x"}`).want(t, http.StatusForbidden, nil)
		})
	}
	first := w.call(w.admin, "GET", "/v1/policy", "")
	first.want(t, http.StatusOK, map[string]any{"document.approval_enabled": true})
	tag := first.header.Get("ETag")
	const body = `{"document":{"unmatched":"require","rules":[{"name":"payments","tools":["/^pay/"],"effect":"require","risk":"high"}]},"note":"hold payments"}`

	w.unchanged("refused", func() {
		w.putPolicy(w.admin, "", body).want(t, http.StatusPreconditionRequired, map[string]any{"code": "precondition_required"})
		for _, other := range []string{`"999"`, tag + "0", strings.Trim(tag, `"`), "W/" + tag, "x"} {
			w.putPolicy(w.admin, other, body).want(t, http.StatusPreconditionFailed, map[string]any{"code": "precondition_failed"})
		}
		w.putPolicy(w.admin, tag, `{"document":{"rules":[{"name":"a","tools":["/(/"],"effect":"require"}]},"note":"x"}`).
			want(t, http.StatusUnprocessableEntity, map[string]any{"code": "invalid"})
		for _, part := range []string{`{"note":"x"}`, `{"document":{}}`, `{"document":{},"note":"  "}`, `{"document":[],"note":"x"}`, `{"document":{"colour":1},"note":"x"}`, `{"document":{"unmatched":"allow","unmatched":"require"},"note":"x"}`} {
			w.putPolicy(w.admin, tag, part).want(t, http.StatusUnprocessableEntity, map[string]any{"code": "invalid"})
		}
	})
	wrong := w.putPolicy(w.admin, tag, `{"document":{"rules":[{"name":"a","tools":["/(/"],"effect":"require"}]},"note":"x"}`)
	if !strings.Contains(wrong.body, "rules[0].tools[0]") {
		t.Errorf("the fault has no place: %s", wrong.body)
	}

	changed := w.putPolicy(w.admin, `"999", `+tag, body)
	changed.want(t, http.StatusOK, map[string]any{"document.unmatched": "require", "note": "hold payments"})
	if now := changed.header.Get("ETag"); now == tag || now != w.call(w.admin, "GET", "/v1/policy", "").header.Get("ETag") {
		t.Errorf("the tag was %s, and is %s", tag, now)
	}
	w.putPolicy(w.admin, tag, body).want(t, http.StatusPreconditionFailed, nil)
	same := w.putPolicy(w.admin, "*", body)
	same.want(t, http.StatusOK, map[string]any{"version": changed.at("version")})
	w.call(w.agent, "POST", "/api/approval/request", `{"tool_use_id":"1","tool_name":"pay.send","session_id":"s"}`).want(t, http.StatusOK, map[string]any{"status": "PENDING"})
}

// What the policy says of a call, what another would have made of real ones, and what is
// perhaps not meant: to read for admins, and nothing changes by it.
func TestThePolicyIsTriedReplayedAndLookedThrough(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const draft = `{"rules":[{"name":"payments over 100","tools":["/^payment\\./"],"when":"input.amount > 100","effect":"require","risk":"high"}]}`
	for _, input := range []string{`{"amount":99}`, `{"amount":101}`} {
		w.call(w.agent, "POST", "/api/approval/request", `{"tool_name":"payment.send","tool_input":`+input+`,"session_id":"s","tool_use_id":"`+input[10:12]+`"}`)
	}
	for _, path := range []string{"try", "replay", "lint"} {
		for _, token := range []string{w.agent, w.reviewer} {
			w.call(token, "POST", "/v1/policy/"+path, `{"document":{},"toolName":"x"}`).want(t, http.StatusForbidden, map[string]any{"code": "forbidden"})
		}
	}
	w.unchanged("asked about", func() {
		w.call(w.admin, "POST", "/v1/policy/try", `{"toolName":"payment.send","input":{"amount":101},"document":`+draft+`}`).want(t, http.StatusOK, map[string]any{
			"active.effect": "allow", "active.rule": "unmatched", "draft.effect": "require", "draft.rule": "payments over 100", "draft.risk": "high", "draft.unjudged": false,
		})
		w.call(w.admin, "POST", "/v1/policy/try", `{"toolName":"payment.send","input":{"amount":"101"},"document":`+draft+`}`).want(t, http.StatusOK, map[string]any{
			"draft.effect": "require", "draft.unjudged": true,
		})
		escalates := `{"rules":[{"name":"all","tools":["x"],"effect":"require","timeout_minutes":60,"substitutes":false,"escalate":[{"after_minutes":30,"to":["owner@example.com"]}]}]}`
		w.call(w.admin, "POST", "/v1/policy/try", `{"toolName":"x","document":`+escalates+`}`).want(t, http.StatusOK, map[string]any{
			"draft.escalate.0.afterMinutes": jsonNumber("30"), "draft.escalate.0.to.0": "owner@example.com", "draft.substitutes": false, "active.substitutes": true,
		})
		w.call(w.admin, "POST", "/v1/policy/try", `{"toolName":"payment.send"}`).want(t, http.StatusOK, map[string]any{"active.effect": "allow", "draft": nil})
		w.call(w.admin, "POST", "/v1/policy/try", `{"toolName":"rm -rf ;"}`).want(t, http.StatusUnprocessableEntity, map[string]any{"code": "invalid"})
		w.call(w.admin, "POST", "/v1/policy/try", `{}`).want(t, http.StatusUnprocessableEntity, map[string]any{"code": "invalid"})
		w.call(w.admin, "POST", "/v1/policy/try", `{"approvalId":"nothing"}`).want(t, http.StatusUnprocessableEntity, nil)
		w.call(w.admin, "POST", "/v1/policy/try", `{"toolName":"x","document":{"colour":1}}`).want(t, http.StatusUnprocessableEntity, map[string]any{"code": "invalid"})

		got := w.call(w.admin, "POST", "/v1/policy/replay", `{"last":100,"document":`+draft+`}`)
		got.want(t, http.StatusOK, map[string]any{"more": false})
		if !strings.Contains(got.body, `"calls":2,"changed":1,"effects":1,"unjudged":0`) || !strings.Contains(got.body, `"active":{"effect":"allow","rule":"unmatched","terms":""},"draft":{"effect":"require","rule":"payments over 100","terms":"risk high"}`) {
			t.Errorf("%s", got.body)
		}
		for _, wrong := range []string{`{"document":{},"last":0}`, `{"document":{},"last":10001}`, `{}`, `{"document":{"rules":[{}]}}`, `{"document":{},"since":"yesterday"}`} {
			w.call(w.admin, "POST", "/v1/policy/replay", wrong).want(t, http.StatusUnprocessableEntity, nil)
		}

		lint := w.call(w.admin, "POST", "/v1/policy/lint", `{"document":{"rules":[{"name":"a","tools":["Payment.Send"],"effect":"require"}]}}`)
		lint.want(t, http.StatusOK, nil)
		if !strings.Contains(lint.body, `"problems":[]`) || !strings.Contains(lint.body, `{"path":"rules[0].tools[0]","text":"“Payment.Send” in the rule “a” narrowly misses “payment.send”`) {
			t.Errorf("%s", lint.body)
		}
		past := w.call(w.admin, "POST", "/v1/policy/lint", `{"document":{"approval_enabled":false,"approval_off_until":"2001-01-01T00:00:00Z"}}`)
		if !strings.Contains(past.body, `{"path":"approval_off_until","text":"is in the past`) {
			t.Errorf("%s", past.body)
		}
		faults := w.call(w.admin, "POST", "/v1/policy/lint", `{"document":{"rules":[{"name":"a","tools":["/(/"],"effect":"require","when":"x >"}]}}`)
		faults.want(t, http.StatusOK, nil)
		for _, path := range []string{"rules[0].tools[0]", "rules[0].when"} {
			if !strings.Contains(faults.body, `"path":"`+path+`"`) {
				t.Errorf("%s: %s", path, faults.body)
			}
		}
	})
}
