package api_test

import (
	"net/http"
	"strings"
	"testing"
)

// secret stands in what is sent; no answer may hold it.
const secret = "hunter2-do-not-echo"

func TestBodiesAreReadStrictly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	nested := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
	text := func(bytes int) string { return `"` + strings.Repeat("x", bytes-2) + `"` }
	for _, tt := range []struct {
		name, body string
		status     int
		field      string // named by the first of errors
	}{
		{"wrong casing", `{"toolUseId":"1","toolname":"` + secret + `"}`, 422, "toolname"},
		{"unknown member", `{"toolName":"rm","approvedBy":"` + secret + `"}`, 422, "approvedBy"},
		{"options that read alike", `{"kind":"question","options":[{"name":"yes","title":"No"},{"name":"no"}]}`, 422, "options[1].name"},
		{"unknown member inside", `{"kind":"question","options":[{"name":"a"},{"name":"b","value":"` + secret + `"}]}`, 422, "options[1].value"},
		{"unknown member of an odd name", `{"toolName":"rm","` + secret + ` !":1}`, 422, "(member)"},
		{"duplicate member", `{"toolName":"` + secret + `","toolName":"rm"}`, 422, "toolName"},
		{"duplicate member in the input", `{"toolName":"rm","input":{"a":{"b":"` + secret + `","b":2}}}`, 422, "input.a.b"},
		{"duplicate member spelled otherwise", `{"toolName":"rm","input":{"ab":"` + secret + `","\u0061b":2}}`, 422, "input.ab"},
		{"invalid UTF-8", "{\"toolName\":\"rm\",\"description\":\"" + secret + "\xff\"}", 422, "body"},
		{"lone surrogate in the input", `{"toolName":"rm","input":"` + secret + `\ud800"}`, 422, ""},
		{"a string for a number", `{"toolName":"rm","timeoutSeconds":"` + secret + `"}`, 422, "timeoutSeconds"},
		{"a fraction of a second", `{"toolName":"rm","timeoutSeconds":1.5}`, 422, "timeoutSeconds"},
		{"a number for a string", `{"toolName":12345678987}`, 422, "toolName"},
		{"an object for an array", `{"toolName":"rm","options":{"` + secret + `":1}}`, 422, "options"},
		{"an array", `["` + secret + `"]`, 422, "body"},
		{"no JSON", secret, 422, "body"},
		{"half of it", `{"toolName":"` + secret, 422, "body"},
		{"two values", `{"toolName":"rm"} {"toolName":"` + secret + `"}`, 422, "body"},
		{"nothing", ``, 422, "body"},
		{"no tool", `{}`, 422, "toolName"},
		{"odd tool name", `{"toolName":"` + secret + `<script>"}`, 422, "toolName"},
		{"kind", `{"toolName":"rm","kind":"` + secret + `"}`, 422, "kind"},
		{"id", `{"toolName":"rm","approvalId":"` + secret + `"}`, 422, "approvalId"},
		{"timeout of nothing", `{"toolName":"rm","timeoutSeconds":0}`, 422, "timeoutSeconds"},
		{"timeout of ages", `{"toolName":"rm","timeoutSeconds":86401}`, 422, "timeoutSeconds"},
		{"description too long", `{"toolName":"rm","description":` + text(2003) + `}`, 422, "description"},
		{"64 levels", `{"toolUseId":"deep","toolName":"rm","input":` + nested(64) + `}`, 202, ""},
		{"65 levels", `{"toolName":"rm","input":` + nested(65) + `}`, 422, "input"},
		{"20,000 levels", `{"toolName":"rm","input":` + nested(20_000) + `}`, 422, ""},
		{"4 MiB", `{"toolUseId":"big","toolName":"rm","input":` + text(4<<20) + `}`, 202, ""},
		{"a byte more", `{"toolName":"rm","input":` + text(4<<20+1) + `}`, 413, "input"},
		{"5 MiB in all", `{"toolName":"rm"}` + strings.Repeat(" ", 5<<20-17), 202, ""},
		{"a byte more than 5 MiB", `{"toolName":"rm"}` + strings.Repeat(" ", 5<<20-16), 413, ""},
		{"null members", `{"toolUseId":"null","toolName":"rm","input":null,"description":null,"options":null,"timeoutSeconds":null}`, 202, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := w.call(w.agent, "POST", "/v1/approvals", tt.body)
			a.want(t, tt.status, nil)
			if tt.status < 400 {
				return
			}
			if strings.Contains(a.body, secret) {
				t.Errorf("the answer holds what was sent: %s", a.body)
			}
			if got := a.header.Get("Content-Type"); got != "application/problem+json" {
				t.Errorf("Content-Type %q", got)
			}
			if errs, _ := a.at("errors").([]any); tt.field != "" {
				if len(errs) == 0 || errs[0].(map[string]any)["field"] != tt.field {
					t.Errorf("errors %v, want one that names %s: %s", errs, tt.field, a.body)
				}
			}
		})
	}
}

func TestInputsAreKeptAsSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	digests := map[string]string{}
	for i, input := range []string{
		`9007199254740993`, `9007199254740992`, `1.0`, `1.00`, `1e400`, `-0`, `"\u0041\/"`, `""`, `[]`, `{}`, `null`, `false`,
		`{"z":1,"a":{"y":[1,2,{"x":"é"}]}}`, `"<&>\u2028"`,
	} {
		id := w.ask(`{"approvalId":"` + uuid[:34] + string(rune('a'+i/10)) + string(rune('0'+i%10)) + `","toolName":"rm","input":` + input + `}`)
		a := w.call(w.reviewer, "GET", "/v1/approvals/"+id, "")
		if !strings.Contains(a.body, `"input":`+input+`,`) {
			t.Errorf("input %s came back otherwise: %s", input, a.body)
		}
		if other, ok := digests[a.text("digest")]; ok {
			t.Errorf("%s and %s have one digest", input, other)
		}
		digests[a.text("digest")] = input
	}
}

func TestParametersAreReadStrictly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{
		"/v1/approvals?limit=0", "/v1/approvals?limit=201", "/v1/approvals?limit=x", "/v1/approvals?status=" + secret,
		"/v1/approvals?conversationId=" + secret, "/v1/approvals?conversationid=" + uuid + "1", "/v1/approvals?cursor=" + secret,
		"/v1/approvals/pending?limit=500", "/v1/approvals/pending?cursor=" + secret,
	} {
		a := w.call(w.agent, "GET", path, "")
		a.want(t, 422, map[string]any{"code": "invalid"})
		if strings.Contains(a.body, secret) {
			t.Errorf("%s: the answer holds what was sent: %s", path, a.body)
		}
	}
}

func TestProblemsOfTheAddress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.ask(`{"toolUseId":"1","toolName":"rm"}`)
	for _, tt := range []struct {
		token, method, path string
		status              int
		code                string
	}{
		{w.agent, "GET", "/v1/approval", 404, "not_found"},
		{"", "GET", "/v1/nothing", 404, "not_found"},
		{w.agent, "DELETE", "/v1/approvals", 405, "method_not_allowed"},
		{w.agent, "PUT", "/v1/approvals/" + id, 405, "method_not_allowed"},
		{w.agent, "GET", "/v1/approvals/not-an-id", 404, "not_found"},
		{w.agent, "GET", "/v1/approvals/" + uuid + "7", 404, "not_found"},
		{w.foreign, "GET", "/v1/approvals/" + id, 404, "not_found"},
		{w.second, "GET", "/v1/approvals/" + id, 404, "not_found"},
		{w.stranger, "GET", "/v1/approvals/" + id, 404, "not_found"},
		{w.foreign, "POST", "/v1/approvals/" + id + "/cancel", 404, "not_found"},
		{w.stranger, "POST", "/v1/approvals/" + id + "/cancel", 404, "not_found"},
		{w.agent, "POST", "/v1/approvals/" + id + "/undo", 403, "forbidden"},
		{w.agent, "POST", "/v1/approvals/" + id + "/extend", 403, "forbidden"},
		{w.foreign, "GET", "/v1/approvals/" + id + "/notes", 404, "not_found"},
		{w.reviewer, "POST", "/v1/approvals", 403, "forbidden"},
		{w.admin, "POST", "/v1/approvals", 403, "forbidden"},
		{"", "GET", "/v1/approvals/" + id, 401, "unauthenticated"},
		{"nonsense", "GET", "/v1/approvals/" + id, 401, "unauthenticated"},
		{strings.Repeat("x", 5000), "GET", "/v1/approvals/" + id, 401, "unauthenticated"},
	} {
		a := w.call(tt.token, tt.method, tt.path, "")
		a.want(t, tt.status, map[string]any{"code": tt.code, "type": "urn:countersign:problem:" + tt.code})
		if got := a.header.Get("WWW-Authenticate"); (tt.status == 401) != (got != "") {
			t.Errorf("%s %s: WWW-Authenticate %q", tt.method, tt.path, got)
		}
		if got := a.header.Get("Allow"); (tt.status == 405) != (got != "") {
			t.Errorf("%s %s: Allow %q", tt.method, tt.path, got)
		}
	}
	missing := w.call(w.stranger, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true}`)
	missing.want(t, 404, map[string]any{"detail": "No pending approval request for ID: " + id})
	form, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/v1/approvals", strings.NewReader("toolName="+secret))
	if err != nil {
		t.Fatal(err)
	}
	form.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	form.Header.Set("Authorization", "Bearer "+w.agent)
	res, err := http.DefaultClient.Do(form)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a form: %d, want 422", res.StatusCode)
	}
}

func TestOnlyOwnHostsAreAnsweredTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for host, want := range map[string]int{
		"": 200, "sign.example.com": 200, "SIGN.example.com:8443": 200, "localhost:8080": 200, "[::1]:8080": 200, "127.9.9.9": 200,
		"evil.example.com": 421, "sign.example.com.evil.example": 421, "192.168.1.2": 421, "localhost.evil.example": 421,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+"/v1/approvals", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		req.Header.Set("Authorization", "Bearer "+w.agent)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("Host %q: %d, want %d", host, res.StatusCode, want)
		}
	}
}
