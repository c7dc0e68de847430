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
