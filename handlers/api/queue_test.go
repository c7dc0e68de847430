package api_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"countersign/models/store"
	"countersign/models/storetest"
)

// ids reads the approvalIds of a page.
func (a answer) ids(member string) []string {
	list, _ := a.at(member).([]any)
	ids := make([]string, 0, len(list))
	for _, one := range list {
		id, _ := one.(map[string]any)["approvalId"].(string)
		ids = append(ids, id)
	}
	return ids
}

func TestListsPageByKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var asked []string
	for i := range 7 {
		asked = append(asked, w.ask(fmt.Sprintf(`{"toolUseId":"%d","toolName":"rm","timeoutSeconds":%d}`, i, 600-i)))
		w.clock.Step(time.Millisecond)
	}
	walk := func(token, path, member string) (all []string) {
		for next := ""; ; {
			page := w.call(token, "GET", path+"limit=3"+next, "")
			page.want(t, 200, nil)
			all = append(all, page.ids(member)...)
			if page.text("next") == "" {
				return all
			}
			if len(all) > 100 {
				t.Fatalf("%s does not end", path)
			}
			next = "&cursor=" + page.text("next")
		}
	}
	for _, tt := range []struct {
		name, token, path, member string
		want                      int
	}{
		{"the agent's own", w.agent, "/v1/approvals?", "approvals", 7},
		{"the agent's pending", w.agent, "/v1/approvals/pending?", "pending", 7},
		{"the owner's", w.reviewer, "/v1/approvals?", "approvals", 7},
		{"the owner's pending", w.reviewer, "/v1/approvals/pending?", "pending", 7},
		{"an admin's", w.admin, "/v1/approvals?status=pending&", "approvals", 7},
		{"an admin's pending", w.admin, "/v1/approvals/pending?", "pending", 7},
		{"another agent of the owner's", w.second, "/v1/approvals?", "approvals", 0},
		{"a stranger's", w.stranger, "/v1/approvals?", "approvals", 0},
		{"a stranger's pending", w.stranger, "/v1/approvals/pending?", "pending", 0},
		{"a stranger's agent's", w.foreign, "/v1/approvals/pending?", "pending", 0},
		{"none approved", w.agent, "/v1/approvals?status=approved&", "approvals", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := walk(tt.token, tt.path, tt.member)
			seen := map[string]bool{}
			for _, id := range got {
				if seen[id] {
					t.Errorf("%s stands on two pages", id)
				}
				seen[id] = true
			}
			if len(got) != tt.want {
				t.Errorf("%d requests, want %d", len(got), tt.want)
			}
		})
	}
	if newest := walk(w.agent, "/v1/approvals?", "approvals"); newest[0] != asked[6] {
		t.Errorf("the newest is not first: %v of %v", newest, asked)
	}
	pending := w.call(w.agent, "GET", "/v1/approvals/pending?limit=1", "")
	one, _ := pending.at("pending").([]any)[0].(map[string]any)
	for _, member := range []string{"approvalId", "toolName", "input", "description", "timestamp", "digest", "url", "timeoutAt"} {
		if _, ok := one[member]; !ok {
			t.Errorf("no %q in %v", member, one)
		}
	}
}

func TestListsByStatusAndConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"rules":[{"name":"reading","tools":["read"],"effect":"allow"}]}`)
	through := w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"0","toolName":"read"}`).text("approvalId")
	approved := w.ask(`{"toolUseId":"1","runId":"a","toolName":"rm"}`)
	rejected := w.ask(`{"toolUseId":"2","runId":"a","toolName":"rm"}`)
	pending := w.ask(`{"toolUseId":"3","runId":"b","toolName":"rm"}`)
	w.call(w.reviewer, "POST", "/v1/approvals/"+approved+"/respond", `{"approved":true}`).want(t, 200, nil)
	w.call(w.reviewer, "POST", "/v1/approvals/"+rejected+"/respond", `{"approved":false}`).want(t, 200, nil)
	conversation := w.call(w.agent, "GET", "/v1/approvals/"+approved, "").text("conversationId")
	for query, want := range map[string][]string{
		"status=approved":                  {approved, through},
		"status=rejected":                  {rejected},
		"status=pending":                   {pending},
		"status=expired":                   {},
		"conversationId=" + conversation:   {rejected, approved},
		"conversationId=" + uuid + "1":     {},
		"limit=200":                        {pending, rejected, approved, through},
		"conversationId=&status=cancelled": {},
	} {
		a := w.call(w.agent, "GET", "/v1/approvals?"+query, "")
		if got := a.ids("approvals"); a.status != 200 || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %d %v, want %v", query, a.status, got, want)
		}
	}
}

// A page on which nothing matches is an empty list with a cursor, not the end.
func TestAnEmptyPageHasACursor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rejected := w.ask(`{"toolName":"rm"}`)
	w.call(w.reviewer, "POST", "/v1/approvals/"+rejected+"/respond", `{"approved":false}`).want(t, 200, nil)
	agent, err := w.store.People.AuthenticateToken(t.Context(), w.agent)
	storetest.Must(t, err)
	storetest.Seed(t, w.store, agent, storetest.Rows{Settled: 5_000})
	for name, token := range map[string]string{"agent": w.agent, "owner": w.reviewer, "admin": w.admin} {
		first := w.call(token, "GET", "/v1/approvals?status=rejected", "")
		if list, isList := first.at("approvals").([]any); first.status != 200 || !isList || len(list) != 0 || first.text("next") == "" {
			t.Fatalf("%s: %d %s", name, first.status, first.body)
		}
		second := w.call(token, "GET", "/v1/approvals?status=rejected&cursor="+first.text("next"), "")
		if got := second.ids("approvals"); len(got) != 1 || got[0] != rejected || second.text("next") != "" {
			t.Errorf("%s: then %d %s", name, second.status, second.body)
		}
	}
}

func TestTwoOwnersNeverMeet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"runId":"the run","toolUseId":"the call","toolName":"rm"}`
	mine := w.call(w.agent, "POST", "/v1/approvals", body)
	theirs := w.call(w.foreign, "POST", "/v1/approvals", body)
	mine.want(t, 202, nil)
	theirs.want(t, 202, nil)
	if mine.text("approvalId") == theirs.text("approvalId") || mine.text("conversationId") == theirs.text("conversationId") {
		t.Errorf("two owners share a row: %s %s", mine.body, theirs.body)
	}
	// An id that exists elsewhere is refused, and shows nothing.
	for _, tt := range []struct {
		body string
		code string
	}{
		{`{"approvalId":"` + mine.text("approvalId") + `","toolName":"rm"}`, "id_taken"},
		{`{"conversationId":"` + mine.text("conversationId") + `","toolUseId":"x","toolName":"rm"}`, "id_taken"},
	} {
		a := w.call(w.foreign, "POST", "/v1/approvals", tt.body)
		a.want(t, http.StatusConflict, map[string]any{"code": tt.code, "approval": nil})
	}
	for _, token := range []string{w.stranger, w.foreign} {
		w.call(token, "GET", "/v1/approvals/"+mine.text("approvalId"), "").want(t, 404, nil)
	}
	w.call(w.stranger, "POST", "/v1/approvals/"+mine.text("approvalId")+"/respond", `{"approved":true}`).want(t, 404, nil)
	w.call(w.agent, "GET", "/v1/approvals/"+mine.text("approvalId"), "").want(t, 200, map[string]any{"status": "pending"})
}

func TestLimitsSayWhenToComeBack(t *testing.T) {
	t.Parallel()
	few := func(o *store.Options) { o.AsksPerMinute, o.PendingPerAgent = 5, 3 }
	w := newWorld(t, storetest.Option(few))
	for i := range 3 {
		w.ask(fmt.Sprintf(`{"toolUseId":"%d","toolName":"rm"}`, i))
	}
	full := w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"3","toolName":"rm"}`)
	full.want(t, 429, map[string]any{"code": "too_many_pending"})
	if full.header.Get("Retry-After") == "" {
		t.Error("no Retry-After with too_many_pending")
	}
	var last answer
	for i := range 6 {
		last = w.call(w.second, "POST", "/v1/approvals", fmt.Sprintf(`{"toolUseId":"%d","toolName":"rm"}`, i))
		if last.status == 202 {
			w.call(w.second, "POST", "/v1/approvals/"+last.text("approvalId")+"/cancel", "").want(t, 200, nil)
		}
	}
	last.want(t, 429, map[string]any{"code": "too_many_requests"})
	if last.header.Get("Retry-After") == "" {
		t.Error("no Retry-After with too_many_requests")
	}
	// A repeat is never refused.
	for range 10 {
		w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"1","toolName":"rm"}`).want(t, 202, nil)
	}
}
