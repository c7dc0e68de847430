package api_test

import (
	"fmt"
	"strings"
	"testing"

	"countersign/models/requests"
	"countersign/models/store"
)

// Inputs are never cut: a page ends early instead, and the next goes on.
func TestListsEndAfterAMegabyte(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const count = 9
	input := strings.Repeat("x", 250<<10)
	conversation := ""
	for i := range count {
		got := w.call(w.agent, "POST", "/v1/approvals", fmt.Sprintf(`{"toolUseId":"%d","runId":"r","toolName":"rm","input":{"a":%q}}`, i, input))
		got.want(t, 202, nil)
		conversation = got.text("conversationId")
	}
	for _, tt := range []struct{ token, path, member string }{
		{w.agent, "/v1/approvals?limit=100", "approvals"},
		{w.admin, "/v1/approvals?limit=100", "approvals"},
		{w.agent, "/v1/approvals/pending?limit=100", "pending"},
		{w.reviewer, "/v1/approvals/pending?limit=100", "pending"},
		{w.agent, "/api/approval/pending/r?limit=100", "pending"},
		{w.reviewer, "/conversations/" + conversation + "/approvals?limit=100", "approvals"},
	} {
		all, pages := 0, 0
		for next := ""; ; pages++ {
			page := w.call(tt.token, "GET", tt.path+next, "")
			page.want(t, 200, nil)
			list, _ := page.at(tt.member).([]any)
			if len(page.body) > requests.MaxListBytes || len(list) == 0 {
				t.Fatalf("%s: %d requests in %d bytes", tt.path, len(list), len(page.body))
			}
			all += len(list)
			if page.text("next") == "" {
				break
			}
			next = "&cursor=" + page.text("next")
		}
		if all != count || pages == 0 {
			t.Errorf("%s: %d requests on %d further pages", tt.path, all, pages)
		}
	}
	after, all := "0", 0
	for range count + 1 {
		page := w.call(w.agent, "GET", "/conversations/"+conversation+"?limit=100&after="+after, "")
		page.want(t, 200, nil)
		list, _ := page.at("entries").([]any)
		if len(page.body) > requests.MaxListBytes+64<<10 {
			t.Errorf("a history of %d bytes", len(page.body))
		}
		all, after = all+len(list), fmt.Sprint(page.at("after"))
	}
	if all != count {
		t.Errorf("the history, read forwards, has %d entries", all)
	}
	before, all := "", 0
	for range count {
		page := w.call(w.agent, "GET", "/conversations/"+conversation+"?limit=100"+before, "")
		list, _ := page.at("entries").([]any)
		all += len(list)
		if page.at("before") == nil {
			break
		}
		before = "&before=" + fmt.Sprint(page.at("before"))
	}
	if all != count {
		t.Errorf("the history, read backwards, has %d entries", all)
	}
}

func TestReportsRunsAndMessagesAreLimitedByTheHour(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *store.Options) { o.ReportsPerHour, o.RunsPerHour, o.MessagesPerHour = 3, 2, 1 })
	refused := func(a answer) {
		t.Helper()
		a.want(t, 429, map[string]any{"code": "too_many_requests"})
		if a.header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	}
	id := w.openRun(`{"runId":"1"}`)
	w.openRun(`{"runId":"2"}`)
	refused(w.call(w.agent, "POST", "/v1/conversations", `{"runId":"3"}`))
	for range 3 {
		w.openRun(`{"runId":"1"}`) // it stands: not counted
	}
	two := `{"type":"reply","id":"a","content":"x"}` + "\n" + `{"type":"reply","id":"b","content":"x"}`
	w.report(w.agent, id, ndjson, two).want(t, 200, map[string]any{"accepted": jsonNumber("2")})
	for range 3 {
		w.report(w.agent, id, ndjson, two).want(t, 200, map[string]any{"repeated": jsonNumber("2")})
	}
	refused(w.report(w.agent, id, ndjson, strings.NewReplacer(`"a"`, `"c"`, `"b"`, `"d"`).Replace(two)))
	w.report(w.agent, id, ndjson, strings.Replace(two, `"a"`, `"c"`, 1)).want(t, 200, map[string]any{"accepted": jsonNumber("1"), "repeated": jsonNumber("1")})
	w.call(w.reviewer, "POST", "/message", `{"content":"hello"}`).want(t, 202, nil)
	refused(w.call(w.reviewer, "POST", "/message", `{"content":"hello"}`))
}
