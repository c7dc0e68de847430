package upstream_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/workers/upstream"
)

// saying starts an upstream that answers every list with one body.
func saying(t *testing.T, d upstream.Dialect, body string) *upstream.Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", "Fri, 20 Nov 2026 12:00:00 GMT")
		_, _ = io.WriteString(w, body) // the client went away
	}))
	t.Cleanup(s.Close)
	return client(t, upstream.Options{BaseURL: s.URL, Dialect: d})
}

func TestFormsOfAList(t *testing.T) {
	t.Parallel()
	const a, b = `{"call_id":"a","spec":{"fn":"f","kwargs":{}}}`, `{"call_id":"b","spec":{"fn":"f"}}`
	for _, c := range []struct {
		what, body   string
		plain, cloud string // the ids; with + if complete, "error" if refused
	}{
		{"an array", `[` + a + `,` + b + `]`, "a b +", "a b"},
		{"an empty array", ` [ ] `, "+", ""},
		{"items, counted", `{"items":[` + a + `],"total":1,"has_more":false,"new":{}}`, "a +", "a +"},
		{"items without a count", `{"items":[` + a + `],"has_more":false}`, "a +", "a +"},
		{"items, and nothing else said", `{"items":[` + a + `]}`, "a +", "a"},
		{"items under their own name", `{"function_calls":[` + a + `],"total":1}`, "a +", "a +"},
		{"no items", `{"items":null}`, "error", "error"},
		{"an object of something else", `{"error":"no"}`, "error", "error"},
		{"the rest missing", `[` + a + `,`, "error", "error"},
		{"the end missing", `{"items":[` + a + `],"total":1`, "error", "error"},
		{"something behind it", `[` + a + `] x`, "error", "error"},
		{"two lists", `[` + a + `][]`, "error", "error"},
		{"two lists in one", `{"items":[` + a + `],"items":[],"total":1}`, "error", "error"},
		{"nothing", ``, "error", "error"},
		{"another page", `{"items":[` + a + `],"total":1,"offset":7,"has_more":false}`, "a +", "a"},
		{"counts that are none", `{"items":[` + a + `],"total":"1","has_more":"no"}`, "a +", "a"},
		{"plain with pages", `{"items":[` + a + `],"total":2,"offset":0,"has_more":true}`, "a", "a"},
		{"something that is no item", `[` + a + `,7,` + b + `]`, "a b +", "a b"},
		{"an item without an id", `[` + a + `,{"spec":{"fn":"f"}}]`, "a +", "a"},
		{"an item with an empty id", `[` + a + `,{"call_id":"","spec":{"fn":"f"}}]`, "a +", "a"},
		{"an item with two ids", `[` + a + `,{"call_id":"b","call_id":"c","spec":{"fn":"f"}}]`, "a +", "a"},
		{"an id that is no text", "[" + a + ",{\"call_id\":\"\xff\",\"spec\":{\"fn\":\"f\"}}]", "a +", "a"},
		{"an item without a name", `[` + a + `,{"call_id":"b","spec":{}}]`, "a b +", "a b"},
		{"a run that is an object", `[` + a + `,{"call_id":"b","run_id":{},"spec":{"fn":"f"}}]`, "a b +", "a b"},
		{"a settled one", `[` + a + `,{"call_id":"b","spec":{"fn":"f"},"status":{"approved":false}}]`, "a +", "a"},
		{"a settled one, in a word", `[` + a + `,{"call_id":"b","spec":{"fn":"f"},"status":"approved"}]`, "a +", "a"},
		{"a pending one, in a word", `[{"call_id":"b","spec":{"fn":"f"},"status":"pending"}]`, "b +", "b"},
		{"a pending one, not yet approved", `[{"call_id":"b","spec":{"fn":"f"},"status":{"approved":null}}]`, "b +", "b"},
	} {
		for d, want := range map[upstream.Dialect]string{upstream.Plain: c.plain, upstream.Cloud: c.cloud} {
			l, err := saying(t, d, c.body).PendingCalls(t.Context())
			got := ids(l.Items)
			if l.Complete {
				got = append(got, "+")
			}
			if err != nil {
				got = []string{"error"}
			}
			if said := strings.Join(got, " "); said != want {
				t.Errorf("%s, %s: %q, want %q (%s)", c.what, d, said, want, l.Flaw)
			}
		}
	}
}

func TestFormsOfACall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what, item          string
		run, name, use, arg string // arg "all": the whole item
	}{
		{
			"the specification's own", `{"id":"appr_1","call_id":"a","run_id":"r","type":"function_call","status":"pending","function_name":"f","function_args":{"x":1},` +
				`"requested_at":"2026-11-20T11:59:00Z","timeout_at":"2026-11-20T12:05:00Z"}`, "r", "f", "", `{"x":1}`,
		},
		{"no arguments, said so", `{"call_id":"a","function_name":"f","function_args":{}}`, "", "f", "", `{}`},
		{"arguments under no known name", `{"call_id":"a","function_name":"f","payload":{"x":1}}`, "", "f", "", `all`},
		{"empty arguments beside others", `{"call_id":"a","function_name":"f","function_args":{},"payload":{"x":1}}`, "", "f", "", `all`},
		{"empty arguments beside a text", `{"call_id":"a","function_name":"f","function_args":{},"command":"rm -rf /"}`, "", "f", "", `all`},
		{"empty arguments beside nothing", `{"call_id":"a","function_name":"f","function_args":{},"note":"","tags":[]}`, "", "f", "", `{}`},
		{"arguments under two names", `{"call_id":"a","function_name":"f","function_args":{"x":1},"input":{"x":2}}`, "", "f", "", `all`},
		{"the same under two names", `{"call_id":"a","function_name":"f","function_args":{"x":1},"input":{"x": 1}}`, "", "f", "", `{"x":1}`},
		{"arguments beside the spec", `{"call_id":"a","spec":{"fn":"f"},"function_args":{"x":1}}`, "", "f", "", `{"x":1}`},
		{"a spec that is no object", `{"call_id":"a","spec":"rm -rf /"}`, "", "", "", `all`},
		{"nothing but an id", `{"call_id":"a"}`, "", "", "", `all`},
		{"a name that is no text", `{"call_id":"a","function_name":7,"function_args":{"x":1}}`, "", "", "", `{"x":1}`},
		{"nested", `{"call_id":"a","run_id":"r","spec":{"fn":"f","kwargs":{"x":1}}}`, "r", "f", "", `{"x":1}`},
		{"flat", `{"call_id":"a","run_id":"r","function_name":"f","arguments":{"x":1},"tool_use_id":"u"}`, "r", "f", "u", `{"x":1}`},
		{"camel case", `{"id":"a","runId":"r","toolName":"f","input":{},"toolUseId":"u"}`, "r", "f", "u", `{}`},
		{"numbers for ids", `{"call_id":"a","run_id":17,"spec":{"fn":"f"}}`, "17", "f", "", `all`},
		{"nulls", `{"call_id":"a","run_id":null,"spec":{"fn":"f","kwargs":null},"tool_use_id":null,"status":null}`, "", "f", "", `all`},
		{"arguments that mean two things", `{"call_id":"a","spec":{"fn":"f","kwargs":{"x":1,"x":2}}}`, "", "f", "", `{"x":1,"x":2}`},
		{"arguments that are no object", `{"call_id":"a","spec":{"fn":"f","kwargs":[1]}}`, "", "f", "", `[1]`},
		{"a name of any length", `{"call_id":"a","spec":{"fn":"` + strings.Repeat("n", 5000) + `"}}`, "", strings.Repeat("n", 5000), "", `all`},
		{"an empty name", `{"call_id":"a","spec":{"fn":""}}`, "", "", "", `all`},
		{"a name that is no UTF-8", "{\"call_id\":\"a\",\"spec\":{\"fn\":\"f\xff\"}}", "", "f\ufffd", "", `all`},
	} {
		l, err := saying(t, upstream.Plain, `[`+c.item+`]`).PendingCalls(t.Context())
		if err != nil || len(l.Items) != 1 || !l.Complete {
			t.Errorf("%s: %v %+v", c.what, err, l)
			continue
		}
		got := l.Items[0]
		if c.arg == "all" {
			c.arg = c.item
		}
		if got.RunID != c.run || got.ToolName != c.name || got.ToolUseID != c.use || string(got.Arguments) != c.arg || string(got.Raw) != c.item {
			t.Errorf("%s: %+v", c.what, got)
		}
	}
}

func TestFormsOfAContact(t *testing.T) {
	t.Parallel()
	l, err := saying(t, upstream.Plain, `[
		{"call_id":"a","spec":{"msg":"m","response_options":["eu",{"name":"us","title":"States"},7,{"title":"x"}]}},
		{"call_id":"b","message":"m","status":{"response":""}},
		{"call_id":"c","message":"m","status":{"response":"yes"}}]`).PendingContacts(t.Context())
	if err != nil || !l.Complete || len(l.Items) != 2 {
		t.Fatalf("%v %+v", err, l)
	}
	if got := l.Items[0].Options; !slices.Equal(got, []models.Option{{Name: "eu"}, {Name: "us", Title: "States"}}) {
		t.Errorf("%+v", got)
	}
	if l.Items[1].CallID != "b" || l.Items[1].Message != "m" {
		t.Errorf("%+v", l.Items[1])
	}
}

func TestAContactIsNeverDroppedNorCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ what, item, message, subject, rest, options string }{
		{
			"the specification's own", `{"id":"appr_1","call_id":"a","run_id":"r","type":"human_contact","status":"pending","function_name":"ask","function_args":{"message":"Which?"},` +
				`"requested_at":"2026-11-20T11:59:00Z","timeout_at":"2026-11-20T12:05:00Z"}`, "Which?", "", "", "",
		},
		{"more than a question", `{"call_id":"a","function_args":{"message":"Which?","subject":"Deploy","options":["eu"],"region":{"now":"us"}}}`, "Which?", "Deploy", `{"region":{"now":"us"}}`, "eu"},
		{"two questions", `{"call_id":"a","message":"Which?","function_args":{"message":"Why?"}}`, "Which?", "", `{"message":"Why?"}`, ""},
		{"a question beside arguments that clash", `{"call_id":"a","message":"Which?","function_args":{"x":1},"input":{"x":2}}`, "Which?", "", "all", ""},
		{"a question of another name", `{"call_id":"a","function_args":{"prompt":"Which?"}}`, "", "", "all", ""},
		{"a question that is no text", `{"call_id":"a","message":{"en":"Which?"}}`, "", "", "all", ""},
		{"no question", `{"call_id":"a"}`, "", "", "all", ""},
	} {
		l, err := saying(t, upstream.Plain, `[`+c.item+`]`).PendingContacts(t.Context())
		if err != nil || len(l.Items) != 1 || !l.Complete {
			t.Errorf("%s: %v %+v", c.what, err, l)
			continue
		}
		got := l.Items[0]
		if c.rest == "all" {
			c.rest = c.item
		}
		options := ""
		for _, o := range got.Options {
			options += o.Name
		}
		if got.Message != c.message || got.Subject != c.subject || string(got.Rest) != c.rest || options != c.options {
			t.Errorf("%s: %+v, rest %s", c.what, got, got.Rest)
		}
	}
}

func TestWhatTheSpecificationTellsOfAnItem(t *testing.T) {
	t.Parallel()
	const item = `{"id":"appr_1","call_id":"a","function_name":"f","function_args":{"x":1},"requested_at":"2026-11-20T11:59:00Z","timeout_at":"2026-11-20T12:05:00Z"}`
	l, err := saying(t, upstream.Plain, `[`+item+`,{"call_id":"b","call_id":"b2","n":7},[["c"]]]`).PendingCalls(t.Context())
	if err != nil || len(l.Items) != 1 || !l.Complete || l.Unread != 2 {
		t.Fatalf("%v %+v", err, l)
	}
	if c := l.Items[0]; c.ApprovalID != "appr_1" || !c.TimeoutAt.Equal(time.Date(2026, 11, 20, 12, 5, 0, 0, time.UTC)) || *c.Timeout != 5*time.Minute {
		t.Errorf("%+v", c)
	}
	for _, id := range []string{"b", "b2", "7", "c"} {
		if !slices.Contains(l.Mentioned, id) {
			t.Errorf("%q is not among what the unread entries mention: %q", id, l.Mentioned)
		}
	}
}

func TestFormsOfAMoment(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 11, 30, 15, 0, time.UTC)
	micro := at.Add(123456 * time.Microsecond)
	for written, want := range map[string]time.Time{
		`"2026-11-20T11:30:15Z"`:                at,
		`"2026-11-20T11:30:15"`:                 at,
		`"2026-11-20T11:30:15.123456"`:          micro,
		`"2026-11-20T11:30:15,123456Z"`:         micro,
		`"2026-11-20T11:30:15.123456789+00:00"`: micro,
		`"2026-11-20 13:30:15.123456+02:00"`:    micro,
		`"2026-11-20T13:30:15+0200"`:            at,
		`"2026-11-20T13:30:15+02"`:              at,
		`"2026-11-20 11:30:15 UTC"`:             at,
		`"2026-11-20 13:30:15 +0200"`:           at,
		`" 2026-11-20t11:30:15z "`:              at,
		`"2026-11-20T11:30Z"`:                   at.Add(-15 * time.Second),
		`"2026-11-20 11:30"`:                    at.Add(-15 * time.Second),
		`"2026-11-20"`:                          time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC),
		`"Fri, 20 Nov 2026 11:30:15 GMT"`:       at,
		`"Fri, 20 Nov 2026 13:30:15 +0200"`:     at,
		`1795174215`:                            at,
		`1795174215.123456`:                     micro,
		`1795174215123`:                         at.Add(123 * time.Millisecond),
		`1795174215123.456`:                     at.Add(123 * time.Millisecond),
		`1795174215123456`:                      micro,
		`1795174215123456789`:                   micro,
		`"1795174215"`:                          at,
		`0`:                                     {},
		`-5`:                                    {},
		`1e300`:                                 {},
		`"yesterday"`:                           {},
		`""`:                                    {},
		`"0001-01-01T00:00:00Z"`:                {},
		`"2026-13-40T25:61:61Z"`:                {},
		`{}`:                                    {},
		`true`:                                  {},
	} {
		l, err := saying(t, upstream.Plain, `[{"call_id":"a","spec":{"fn":"f"},"status":{"requested_at":`+written+`}}]`).PendingCalls(t.Context())
		if err != nil || len(l.Items) != 1 || !l.Complete {
			t.Errorf("%s: %v %+v", written, err, l)
			continue
		}
		if got := l.Items[0].RequestedAt; !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("%s: %s, want %s", written, got, want)
		}
	}
}

// Moments are compared with the upstream's own clock (noon, in saying), whatever
// ours says.
func TestWhatIsLeftOfATimeout(t *testing.T) {
	t.Parallel()
	for item, want := range map[string]string{
		`"status":{"requested_at":"2026-11-20T11:59:00Z"},"timeout_seconds":300`: "4m0s",
		`"timeout_seconds":300`: "5m0s",
		`"status":{"requested_at":"2026-11-20T11:50:00Z"},"timeout_seconds":300`:              "-5m0s",
		`"status":{"requested_at":"2026-11-20T12:50:00Z"},"timeout_seconds":300`:              "5m0s",
		`"status":{"requested_at":"2026-11-20T11:59:00Z","timeout_at":"2026-11-20T12:00:30"}`: "30s",
		`"expires_at":"soon"`:     "",
		`"timeout_seconds":"300"`: "",
		`"timeout_seconds":-1`:    "",
		`"x":1`:                   "",
	} {
		l, err := saying(t, upstream.Plain, `[{"call_id":"a","spec":{"fn":"f"},`+item+`}]`).PendingCalls(t.Context())
		if err != nil || len(l.Items) != 1 {
			t.Errorf("%s: %v %+v", item, err, l)
			continue
		}
		got := ""
		if left := l.Items[0].Timeout; left != nil {
			got = left.String()
		}
		if got != want {
			t.Errorf("%s: %q is left, want %q", item, got, want)
		}
	}
}

// What stands beside arguments and is not understood is kept: people read it.
func TestWhatACallSendsBesideItsArguments(t *testing.T) {
	t.Parallel()
	const known = `"id":"p","call_id":"a","run_id":"r","type":"function_call","status":"pending","function_name":"f","requested_at":"2026-11-20T11:59:00Z","timeout_at":"2026-11-20T12:05:00Z"`
	for _, c := range []struct{ what, item, want string }{
		{"nothing", `{` + known + `,"function_args":{"x":1}}`, ""},
		{"nothing that holds anything", `{` + known + `,"function_args":{"x":1},"note":"","tags":[],"by":null,"labels":{}}`, ""},
		{"members", `{` + known + `,"function_args":{"x":1},"force":true,"message":"hurry","count":0}`, `{"count":0,"force":true,"message":"hurry"}`},
		{"in the spec and beside it", `{"call_id":"a","spec":{"fn":"f","kwargs":{"x":1},"as":"root"},"force":true}`, `{"as":"root","force":true}`},
		{"one name for two things", `{"call_id":"a","spec":{"fn":"f","kwargs":{"x":1},"as":"root"},"as":"me"}`, "all"},
		{"arguments that were not found", `{` + known + `,"payload":{"x":1}}`, ""}, // the whole item is the input
	} {
		l, err := saying(t, upstream.Plain, `[`+c.item+`]`).PendingCalls(t.Context())
		if err != nil || len(l.Items) != 1 {
			t.Fatalf("%s: %v %+v", c.what, err, l)
		}
		if c.want == "all" {
			c.want = c.item
		}
		if got := string(l.Items[0].Beside); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}
