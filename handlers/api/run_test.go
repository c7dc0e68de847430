package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models/store"
)

const ndjson = "application/x-ndjson"

// openRun opens a run of the owner's agent and returns its conversation.
func (w *world) openRun(body string) string {
	w.tb.Helper()
	a := w.call(w.agent, "POST", "/v1/conversations", body)
	a.want(w.tb, 200, nil)
	return a.text("id")
}

// report sends events of the owner's agent.
func (w *world) report(token, conversation, kind, body string) answer {
	w.tb.Helper()
	return w.send(token, "POST", "/v1/conversations/"+conversation+"/events", kind, body)
}

// results are the outcomes of a report, one word each.
func (a answer) results(tb testing.TB) (words []string) {
	tb.Helper()
	all, ok := a.at("results").([]any)
	if !ok {
		tb.Fatalf("no results: %d %s", a.status, a.body)
	}
	for _, r := range all {
		words = append(words, answer{object: r.(map[string]any)}.text("status"))
	}
	return words
}

func (a answer) result(tb testing.TB, i int) answer {
	tb.Helper()
	all, _ := a.at("results").([]any)
	if i >= len(all) {
		tb.Fatalf("no result %d: %d %s", i, a.status, a.body)
	}
	object, _ := all[i].(map[string]any)
	return answer{status: a.status, body: a.body, object: object}
}

func TestARunIsOpenedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"runId":"nightly/7","parentRunId":"nightly","title":"Nightly","energyBudget":5e1,"onReject":"cascade"}`
	first := w.call(w.agent, "POST", "/v1/conversations", body)
	first.want(t, 200, map[string]any{
		"runId": "nightly/7", "parentRunId": "nightly", "title": "Nightly", "onReject": "cascade", "opened": true, "status": "running",
		"agent.name": "deployer", "budget.total": jsonNumber("50"), "pending": jsonNumber("0"),
	})
	id := first.text("id")
	if got := first.header.Get("Location"); got != "/conversations/"+id {
		t.Errorf("Location %q", got)
	}
	before := w.head()
	again := w.call(w.agent, "POST", "/v1/conversations", body)
	again.want(t, 200, map[string]any{"id": id, "opened": false, "onReject": "cascade"})
	if w.head().Seq != before.Seq {
		t.Error("I9: a repeat changed something")
	}
	w.call(w.agent, "POST", "/v1/conversations", `{"runId":"plain"}`).want(t, 200, map[string]any{"opened": true, "onReject": "continue", "parentRunId": nil})
	chosen := w.call(w.agent, "POST", "/v1/conversations", `{"id":"`+uuid+`1","runId":"chosen"}`)
	chosen.want(t, 200, map[string]any{"id": uuid + "1"})

	foreign := w.call(w.foreign, "POST", "/v1/conversations", `{"runId":"nightly/7"}`)
	foreign.want(t, 200, map[string]any{"opened": true})
	if foreign.text("id") == id {
		t.Error("another owner's agent found the run")
	}
	for _, tt := range []struct {
		token, body string
		status      int
		code, field string
	}{
		{w.second, `{"runId":"nightly/7"}`, 409, "other_agent", ""},
		{w.agent, `{"runId":"nightly/7","parentRunId":"weekly"}`, 409, "key_conflict", "parentRunId"},
		{w.foreign, `{"runId":"mine","id":"` + uuid + `1"}`, 409, "id_taken", ""},
		{w.agent, `{}`, 422, "invalid", "runId"},
		{w.agent, `{"runId":7}`, 422, "invalid", "runId"},
		{w.agent, `{"runId":"r","parentRunId":"r"}`, 422, "invalid", "parentRunId"},
		{w.agent, `{"runId":"r","id":"` + secret + `"}`, 422, "invalid", "id"},
		{w.agent, `{"runId":"r","onReject":"` + secret + `"}`, 422, "invalid", "onReject"},
		{w.agent, `{"runId":"r","energyBudget":1.5}`, 422, "invalid", "energyBudget"},
		{w.agent, `{"runId":"r","energyBudget":-1}`, 422, "invalid", "energyBudget"},
		{w.agent, `{"runId":"r","title":"` + strings.Repeat("x", 121) + `"}`, 422, "invalid", "title"},
		{w.agent, `{"runId":"r","ownerId":"` + secret + `"}`, 422, "invalid", "ownerId"},
		{w.agent, `{"runId":"r","runid":"` + secret + `"}`, 422, "invalid", "runid"},
		{w.reviewer, `{"runId":"r"}`, 403, "forbidden", ""},
		{w.admin, `{"runId":"r"}`, 403, "forbidden", ""},
		{"", `{"runId":"r"}`, 401, "unauthenticated", ""},
	} {
		a := w.call(tt.token, "POST", "/v1/conversations", tt.body)
		a.want(t, tt.status, map[string]any{"code": tt.code})
		if strings.Contains(a.body, secret) {
			t.Errorf("the answer holds what was sent: %s", a.body)
		}
		if errs, _ := a.at("errors").([]any); tt.field != "" && (len(errs) == 0 || errs[0].(map[string]any)["field"] != tt.field) {
			t.Errorf("%s: errors %v, want one that names %s", tt.body, errs, tt.field)
		}
	}
}

// mixed are events among which some are wrong, what becomes of each, and what the
// answer says about it.
var mixed = []struct{ event, status, says, id string }{
	{`{"id":"1","type":"message","content":"Clean up."}`, "stored", "", "1"},
	{`{"id":"2","type":"reply","content":"I look.","batchId":"b"}`, "stored", "", "2"},
	{`{"type":"tool_call","toolUseId":"t1","toolName":"bash","input":{"command":"ls"},"batchId":"b"}`, "stored", "", ""},
	{`{"id":"3","type":"tool_call","toolUseId":"t2","toolname":"` + secret + `"}`, "error", "toolname", "3"},
	{`{"type":"reply","content":"` + secret + `"}`, "error", "id", ""},
	{`{"id":"4","type":"` + secret + `"}`, "error", "type", "4"},
	{`{"id":"5","type":"reply","content":["` + secret + `"]}`, "error", "content", "5"},
	{`{"id":"6","type":"tool_call","toolUseId":"t3","toolName":"x","input":{"a":{"b":"` + secret + `","b":2}}}`, "error", "input.a.b", "6"},
	{`{"id":"7","type":"reply","at":"` + secret + `","content":"x"}`, "error", "at: must be a time", "7"},
	{`"` + secret + `"`, "error", "event", ""},
	{`null`, "error", "event", ""},
	{`{"type":"tool_result","result":"` + secret + `"}`, "error", "toolUseId", ""},
	{`{"id":"8","type":"status","status":"` + secret + `"}`, "error", "status", "8"},
	{`{"type":"tool_call","toolUseId":"t1","toolName":"bash","input":{"command":"ls"},"batchId":"b"}`, "repeated", "", ""},
	{`{"type":"tool_call","toolUseId":"t1","toolName":"bash","input":{"command":"rm"},"batchId":"b"}`, "conflict", "another", ""},
	{`{"type":"tool_result","toolUseId":"t1","result":"a\nb"}`, "stored", "", ""},
	{`{"id":"9","type":"status","status":"completed"}`, "stored", "", "9"},
}

// A wrong line is named and does not lose its neighbours.
func TestEventsAreAnsweredOneByOne(t *testing.T) {
	t.Parallel()
	events := make([]string, 0, len(mixed))
	for _, m := range mixed {
		events = append(events, m.event)
	}
	broken := []string{`{"id":"b1","type":"reply","content":"` + secret, secret, `{"id":"b2","type":"reply"} {}`, "{\"id\":\"b3\",\"type\":\"reply\",\"content\":\"" + secret + "\xff\"}"}
	for name, tt := range map[string]struct {
		kind, body string
		line       func(i int) int
	}{
		"array":           {"application/json; charset=utf-8", "[" + strings.Join(events, " , ") + "]", func(i int) int { return i + 1 }},
		"lines":           {ndjson, strings.Join(events, "\n"), func(i int) int { return i + 1 }},
		"lines of DOS":    {"application/x-ndjson; charset=utf-8", "\r\n" + strings.Join(events, "\r\n") + "\r\n\r\n", func(i int) int { return i + 2 }},
		"lines in jsonl":  {"application/jsonl", strings.Join(events, "\n\n") + "\n", func(i int) int { return 2*i + 1 }},
		"lines, broken":   {ndjson, strings.Join(slices.Concat(broken, events), "\n"), func(i int) int { return i + 1 + len(broken) }},
		"no content type": {"", "[" + strings.Join(events, ",") + "]", func(i int) int { return i + 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.openRun(`{"runId":"r"}`)
			got := w.report(w.agent, id, tt.kind, tt.body)
			got.want(t, 200, map[string]any{"accepted": jsonNumber("5"), "repeated": jsonNumber("1")})
			if strings.Contains(got.body, secret) {
				t.Errorf("the answer holds what was sent: %s", got.body)
			}
			first := len(got.results(t)) - len(mixed)
			for i := range first {
				got.result(t, i).want(t, 200, map[string]any{"status": "error", "line": jsonNumber(fmt.Sprint(i + 1))})
			}
			for i, m := range mixed {
				r := got.result(t, first+i)
				r.want(t, 200, map[string]any{"status": m.status, "line": jsonNumber(fmt.Sprint(tt.line(i)))})
				if r.text("id") != m.id || !strings.Contains(r.text("error"), m.says) || (m.says == "") != (r.text("error") == "") {
					t.Errorf("event %d: id %q, error %q, want %q, %q", i, r.text("id"), r.text("error"), m.id, m.says)
				}
			}
			history := w.call(w.agent, "GET", "/conversations/"+id+"?after=0", "")
			history.want(t, 200, map[string]any{"status": "completed"})
			if entries, _ := history.at("entries").([]any); len(entries) != 3 {
				t.Errorf("%d entries, want a message, a reply and a call: %s", len(entries), history.body)
			}
		})
	}
}

func TestReportsThatAreNoListAreRefusedWhole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.openRun(`{"runId":"r"}`)
	good := `{"id":"1","type":"reply","content":"x"}`
	padded := func(bytes int) string { return good + strings.Repeat(" ", bytes-len(good)) }
	before := w.head()
	for name, tt := range map[string]struct {
		token, id, kind, body string
		status                int
		code                  string
	}{
		"a form":              {w.agent, id, "application/x-www-form-urlencoded", good, 422, "invalid"},
		"text":                {w.agent, id, "text/plain", good, 422, "invalid"},
		"no type at all":      {w.agent, id, "/;", good, 422, "invalid"},
		"an object":           {w.agent, id, "application/json", good, 422, "invalid"},
		"half an array":       {w.agent, id, "application/json", "[" + good, 422, "invalid"},
		"half an element":     {w.agent, id, "application/json", "[" + good + `,{"id":"` + secret, 422, "invalid"},
		"a bare word":         {w.agent, id, "application/json", "[" + good + "," + secret + "]", 422, "invalid"},
		"two arrays":          {w.agent, id, "application/json", "[" + good + "][]", 422, "invalid"},
		"nothing":             {w.agent, id, "application/json", "", 422, "invalid"},
		"a byte over 5 MiB":   {w.agent, id, ndjson, padded(5<<20 + 1), 413, "too_large"},
		"20,001 events":       {w.agent, id, ndjson, strings.Repeat("{}\n", 20_001), 422, "invalid"},
		"20,001 elements":     {w.agent, id, "application/json", "[" + strings.Repeat("1,", 20_000) + "1]", 422, "invalid"},
		"no conversation":     {w.agent, uuid + "9", ndjson, good, 404, "not_found"},
		"no id":               {w.agent, "r", ndjson, good, 404, "not_found"},
		"another agent's":     {w.second, id, ndjson, good, 409, "other_agent"},
		"another owner's":     {w.foreign, id, ndjson, good, 404, "not_found"},
		"the owner":           {w.reviewer, id, ndjson, good, 403, "forbidden"},
		"an admin":            {w.admin, id, ndjson, good, 403, "forbidden"},
		"nobody":              {"", id, ndjson, good, 401, "unauthenticated"},
		"wrong lines, no run": {w.agent, uuid + "9", ndjson, "x", 404, "not_found"},
	} {
		a := w.report(tt.token, tt.id, tt.kind, tt.body)
		if a.status != tt.status || a.text("code") != tt.code || strings.Contains(a.body, secret) {
			t.Errorf("%s: %d, want %d %s: %s", name, a.status, tt.status, tt.code, a.body)
		}
	}
	if w.head().Seq != before.Seq {
		t.Error("something was stored")
	}
	w.report(w.agent, id, ndjson, "\n").want(t, 200, map[string]any{"accepted": jsonNumber("0")})
	w.report(w.agent, id, "application/json", "[]").want(t, 200, map[string]any{"accepted": jsonNumber("0")})
	if w.head().Seq != before.Seq {
		t.Error("nothing was reported, and something was stored")
	}
	w.report(w.agent, id, ndjson, padded(1<<20)).want(t, 200, map[string]any{"accepted": jsonNumber("1")})
	if got := w.report(w.agent, id, ndjson, strings.Repeat("{}\n", 20_000)); len(got.results(t)) != 20_000 {
		t.Errorf("%d results", len(got.results(t)))
	}
}

// What is reported is not counted as an ask.
func TestReportsAreNotCountedAsAsks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *store.Options) { o.AsksPerMinute, o.PendingPerAgent = 1, 1 })
	for i := range 30 {
		id := w.openRun(fmt.Sprintf(`{"runId":"r%d"}`, i))
		got := w.report(w.agent, id, ndjson, `{"type":"tool_call","toolUseId":"a","toolName":"x"}`+"\n"+`{"type":"tool_call","toolUseId":"b","toolName":"x"}`)
		got.want(t, 200, map[string]any{"accepted": jsonNumber("2")})
	}
	w.ask(`{"toolUseId":"1","toolName":"rm"}`)
	w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"2","toolName":"rm"}`).want(t, 429, nil)
	w.openRun(`{"runId":"after"}`)
}

// What was only reported was asked of nobody: no surface says that it may go
// ahead.
func TestReportedCallsAreNotApproved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.openRun(`{"runId":"r"}`)
	call := w.report(w.agent, id, ndjson, `{"type":"tool_call","toolUseId":"t1","toolName":"rm","input":{"n":1}}`).result(t, 0).text("responseId")
	for _, path := range []string{"/v1/approvals/" + call, "/v1/approvals/" + call + "?wait=1s", "/api/approval/invocation/t1", "/api/approval/invocation/t1?session_id=r&wait=1s"} {
		w.call(w.agent, "GET", path, "").want(t, 404, map[string]any{"code": "not_found"})
	}
	w.call(w.agent, "POST", "/v1/approvals/"+call+"/cancel", "").want(t, 404, nil)
	w.call(w.reviewer, "POST", "/v1/approvals/"+call+"/respond", `{"approved":true}`).want(t, 404, nil)
	w.call(w.reviewer, "POST", "/api/approval/decide", `{"tool_use_id":"t1","decision":"APPROVED"}`).want(t, 404, nil)
	w.call(w.reviewer, "POST", "/conversations/"+id+"/approve", `{"responseId":"`+call+`"}`).want(t, 404, nil)
	for _, path := range []string{"/v1/approvals", "/v1/approvals?status=approved", "/conversations/" + id + "/approvals"} {
		if a := w.call(w.reviewer, "GET", path, ""); strings.Contains(a.body, call) {
			t.Errorf("%s lists it: %s", path, a.body)
		}
	}
	entry := w.call(w.agent, "GET", "/conversations/"+id+"?after=0", "")
	if !strings.Contains(entry.body, `"responseId":"`+call+`"`) || !strings.Contains(entry.body, `"status":null`) {
		t.Errorf("the history: %s", entry.body)
	}

	// Asked about, it is that row, and waits.
	w.call(w.agent, "POST", "/v1/approvals", `{"runId":"r","toolUseId":"t1","toolName":"rm","input":{"n":2}}`).want(t, 409, map[string]any{"code": "key_conflict"})
	w.call(w.agent, "POST", "/v1/approvals", `{"runId":"r","toolUseId":"t1","toolName":"rm","input":{"n":1.0}}`).want(t, 409, map[string]any{"code": "key_conflict"})
	w.call(w.agent, "POST", "/v1/approvals", `{"runId":"r","toolUseId":"t1","toolName":"rm","input":{ "n":1}}`).want(t, 202, map[string]any{"approvalId": call, "status": "pending"})
	w.call(w.reviewer, "POST", "/v1/approvals/"+call+"/respond", `{"approved":true}`).want(t, 200, nil)
	w.call(w.agent, "GET", "/api/approval/invocation/t1", "").want(t, 200, map[string]any{"status": "APPROVED"})
}

// The client of `ingest` sends what the server takes, and reads its answer.
func TestTheClientReportsRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := client.New(w.url, w.agent)
	run, err := c.OpenConversation(t.Context(), wire.OpenRequest{RunID: "nightly/7", ParentRunID: "nightly"})
	if err != nil {
		t.Fatal(err)
	}
	lines := `{"id":"1","type":"reply","content":"x"}` + "\n" + `{"id":"2","type":"nothing"}` + "\n"
	for _, want := range []wire.RunEventOutcome{wire.RunEventStored, wire.RunEventRepeated} {
		got, err := c.Report(t.Context(), run.ID, []byte(lines))
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Results) != 2 || got.Results[0].Status != want || got.Results[1].Status != wire.RunEventError || got.Failed != 1 {
			t.Errorf("%+v", got)
		}
	}
	if _, err := client.New(w.url, w.second).OpenConversation(t.Context(), wire.OpenRequest{RunID: "nightly/7"}); err == nil || !client.Answered(err) {
		t.Errorf("another agent's run: %v", err)
	}
	if _, err := c.Report(t.Context(), uuid+"9", []byte(lines)); err == nil {
		t.Error("reported into nothing")
	}
}

// send sends a body of any kind.
func (w *world) send(token, method, path, kind, body string) answer {
	w.tb.Helper()
	req, err := http.NewRequestWithContext(w.tb.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.tb.Fatal(err)
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	a, err := do(req)
	if err != nil {
		w.tb.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}
