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
		{"a pending one, not yet approved, beside the word", `[{"call_id":"b","spec":{"fn":"f"},"status":"pending","approved":false}]`, "b +", "b"},
		{"a pending one, by its word", `[{"call_id":"b","spec":{"fn":"f"},"status":"PENDING","approved":true}]`, "b +", "b"},
		{"one of an unknown word, not approved", `[{"call_id":"b","spec":{"fn":"f"},"status":"in review","approved":false}]`, "b +", "b"},
		{"one of an unknown word, approved", `[` + a + `,{"call_id":"b","spec":{"fn":"f"},"status":"done","approved":true}]`, "a +", "a"},
		{"a settled one without a word", `[` + a + `,{"call_id":"b","spec":{"fn":"f"},"approved":false}]`, "a +", "a"},
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
		{"empty arguments beside a spec that is no object", `{"call_id":"a","function_name":"f","function_args":{},"spec":["rm -rf"]}`, "", "f", "", `all`},
		{"empty arguments beside a spec that says two things", `{"call_id":"a","function_name":"f","function_args":{},"spec":{"fn":"g","fn":"h"}}`, "", "f", "", `all`},
		{"empty arguments beside a state", `{"call_id":"a","function_name":"f","function_args":{},"state":{"command":"rm"}}`, "", "f", "", `all`},
		{"empty arguments beside more than a status", `{"call_id":"a","function_name":"f","function_args":{},"status":{"command":"rm"}}`, "", "f", "", `all`},
		{"empty arguments beside a status of an unknown word", `{"call_id":"a","function_name":"f","function_args":{},"status":"rm -rf /"}`, "", "f", "", `all`},
		{"empty arguments beside a type that is none", `{"call_id":"a","function_name":"f","function_args":{},"type":"rm -rf /"}`, "", "f", "", `all`},
		{"empty arguments beside a message that is no text", `{"call_id":"a","function_name":"f","function_args":{},"message":{"command":"rm"}}`, "", "f", "", `all`},
		{"empty arguments beside an unknown channel", `{"call_id":"a","function_name":"f","function_args":{},"channel":{"shell":"rm"}}`, "", "f", "", `all`},
		{"empty arguments beside ways to refuse that are none", `{"call_id":"a","function_name":"f","function_args":{},"reject_options":[{"name":"no","run":"rm"}]}`, "", "f", "", `all`},
		{"empty arguments beside a moment that is none", `{"call_id":"a","function_name":"f","function_args":{},"requested_at":"rm -rf /"}`, "", "f", "", `all`},
		{"empty arguments beside a moment that is not said", `{"call_id":"a","function_name":"f","function_args":{},"timeout_at":"0001-01-01T00:00:00Z"}`, "", "f", "", `{}`},
		{"empty arguments beside a run that is an object", `{"call_id":"a","run_id":{"command":"rm"},"function_name":"f","function_args":{}}`, "", "f", "", `all`},
		{"empty arguments beside a name that is no text", `{"call_id":"a","function_name":{"command":"rm"},"tool_name":"f","function_args":{}}`, "", "f", "", `all`},
		{"no arguments, in a text, beside others", `{"call_id":"a","function_name":"f","arguments":" {} ","payload":"rm"}`, "", "f", "", `all`},
		{"empty arguments beside a message", `{"call_id":"a","function_name":"f","function_args":{},"message":"hurry"}`, "", "f", "", `{}`},
		{"two names", `{"call_id":"a","function_name":"read_file","tool_name":"delete_file","function_args":{"x":1}}`, "", "read_file", "", `all`},
		{"another name in the spec", `{"call_id":"a","function_name":"delete_file","spec":{"fn":"read_file","kwargs":{"x":1}}}`, "", "read_file", "", `all`},
		{"one name twice", `{"call_id":"a","function_name":"f","spec":{"fn":"f","kwargs":{"x":1}}}`, "", "f", "", `{"x":1}`},
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

// Where arguments stand under no known name, what may be them is set apart from the ids and
// times of the item, so that a headline can begin with it.
func TestWhatMayRunIsSetApartInAnItem(t *testing.T) {
	t.Parallel()
	for item, want := range map[string]string{
		`{"call_id":"a","run_id":"r","type":"function_call","status":"pending","function_name":"f","payload":{"x":1},"requested_at":"2026-11-20T11:59:00Z"}`: `{"payload":{"x":1}}`,
		`{"call_id":"a","spec":{"fn":"f","payload":{"x":1}},"command":"rm"}`:                                                                                 `{"command":"rm","payload":{"x":1}}`,
		`{"call_id":"a","function_name":"f","function_args":{"x":1},"input":{"x":2}}`:                                                                        `{"function_args":{"x":1},"input":{"x":2}}`,
		`{"call_id":"a","function_name":"f","function_args":{"x":1}}`:                                                                                        ``,
		`{"call_id":"a"}`: ``,
	} {
		l, err := saying(t, upstream.Plain, `[`+item+`]`).PendingCalls(t.Context())
		if err != nil || len(l.Items) != 1 || string(l.Items[0].Extra) != want {
			t.Errorf("%s: %v, %+v", item, err, l.Items)
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
		{"a spec that is no object", `{"call_id":"a","message":"Which?","spec":["rm -rf"]}`, "Which?", "", `{"spec":["rm -rf"]}`, ""},
		{"a state", `{"call_id":"a","spec":{"msg":"Which?","state":{"command":"rm"}}}`, "Which?", "", `{"state":{"command":"rm"}}`, ""},
		{"two tools", `{"call_id":"a","function_name":"ask","tool_name":"delete_file","message":"Which?"}`, "Which?", "", `{"function_name":"ask","tool_name":"delete_file"}`, ""},
		{"an answer beside the word for pending", `{"call_id":"a","status":"pending","response":"yes","message":"Which?"}`, "Which?", "", `{"response":"yes"}`, ""},
		{"a subject that is no text", `{"call_id":"a","message":"Which?","subject":["Deploy"]}`, "Which?", "", `{"subject":["Deploy"]}`, ""},
		{
			"answers that say more than their titles", `{"call_id":"a","spec":{"msg":"Which?","response_options":[{"name":"eu","description":"costs more"}]}}`, "Which?", "",
			`{"response_options":[{"name":"eu","description":"costs more"}]}`, "eu",
		},
		{"answers that are none", `{"call_id":"a","spec":{"msg":"Which?","response_options":[7]}}`, "Which?", "", `{"response_options":[7]}`, ""},
		{
			"the cloud's own, all members", `{"run_id":"r","call_id":"human_call-1","spec":{"msg":"Which?","subject":"Deploy","channel":{"email":{"address":"a@example.com","context_about_user":null,"references_message_id":"<1@example.com>"}},` +
				`"response_options":[{"name":"eu","title":"Europe","description":null,"prompt_fill":"","interactive":false}],"state":null},"status":{"requested_at":"2026-11-20T11:59:00Z","responded_at":null,"response":null,"response_option_name":null}}`,
			"Which?", "Deploy", "", "eu",
		},
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
		if !slices.Contains(l.Mentions, id) {
			t.Errorf("%q is not among what the unread entries mention: %q", id, l.Mentions)
		}
	}
}

// What stands beside arguments and may matter is kept: people read it.
func TestWhatACallSendsBesideItsArguments(t *testing.T) {
	t.Parallel()
	const known = `"id":"p","call_id":"a","run_id":"r","type":"function_call","status":"pending","function_name":"f","requested_at":"2026-11-20T11:59:00Z","timeout_at":"2026-11-20T12:05:00Z"`
	for _, c := range []struct{ what, item, want string }{
		{"nothing", `{` + known + `,"function_args":{"x":1}}`, ""},
		{"nothing that holds anything", `{` + known + `,"function_args":{"x":1},"note":"","tags":[],"by":null,"labels":{}}`, ""},
		{"members", `{` + known + `,"function_args":{"x":1},"force":true,"message":"hurry","count":0}`, `{"count":0,"force":true,"message":"hurry"}`},
		{"in the spec and beside it", `{"call_id":"a","spec":{"fn":"f","kwargs":{"x":1},"as":"root"},"force":true}`, `{"as":"root","force":true}`},
		{"one name for two things", `{"call_id":"a","spec":{"fn":"f","kwargs":{"x":1},"as":"root"},"as":"me"}`, "all"},
		{"a spec that is no object", `{` + known + `,"function_args":{"x":1},"spec":["rm -rf"]}`, `{"spec":["rm -rf"]}`},
		{"a spec that says two things", `{` + known + `,"function_args":{"x":1},"spec":{"fn":"g","fn":"h"}}`, `{"spec":{"fn":"g","fn":"h"}}`},
		{"a state", `{` + known + `,"function_args":{"x":1},"state":{"command":"rm"}}`, `{"state":{"command":"rm"}}`},
		{"a name that is no text", `{"call_id":"a","function_name":7,"function_args":{"x":1}}`, `{"function_name":7}`},
		{
			"more than a status", `{"call_id":"a","function_name":"f","function_args":{"x":1},"status":{"requested_at":"2026-11-20T11:59:00Z","comment":"hurry"}}`,
			`{"status":{"requested_at":"2026-11-20T11:59:00Z","comment":"hurry"}}`,
		},
		{"a status that says two things", `{"call_id":"a","function_name":"f","function_args":{"x":1},"status":{"a":1,"a":2}}`, `{"status":{"a":1,"a":2}}`},
		{"a status beside the one that is read", `{"call_id":"a","spec":{"fn":"f","kwargs":{"x":1},"status":"pending"}}`, `{"status":"pending"}`},
		{"another type", `{"call_id":"a","type":"human_contact","function_name":"f","function_args":{"x":1}}`, `{"type":"human_contact"}`},
		{
			"other ids", `{"call_id":"a","callId":"b","id":"p","approval_id":"q","run_id":"r","function_name":"f","function_args":{"x":1},"spec":{"run_id":"s"}}`,
			`{"approval_id":"q","callId":"b","run_id":"s"}`,
		},
		{"ids that are none", `{"call_id":"a","run_id":["r"],"tool_use_id":{},"toolUseId":{"u":1},"function_name":"f","function_args":{"x":1}}`, `{"run_id":["r"],"toolUseId":{"u":1}}`},
		{"moments that are none", `{"call_id":"a","timeout_seconds":"300","created_at":"soon","function_name":"f","function_args":{"x":1}}`, `{"created_at":"soon","timeout_seconds":"300"}`},
		{"approved beside the word for pending", `{` + known + `,"function_args":{"x":1},"approved":true}`, `{"approved":true}`},
		{"not approved beside the word for pending", `{` + known + `,"function_args":{"x":1},"approved":false}`, ""},
		{
			"ways to refuse", `{"call_id":"a","spec":{"fn":"f","kwargs":{},"reject_options":[{"name":"later","description":"Ask again tomorrow","interactive":false}]}}`,
			`{"reject_options":[{"name":"later","description":"Ask again tomorrow","interactive":false}]}`,
		},
		{"answers to a call", `{` + known + `,"function_args":{"x":1},"options":["--force"]}`, `{"options":["--force"]}`},
		{"an unknown channel", `{` + known + `,"function_args":{"x":1},"channel":{"slack":{"channel":"#prod"}}}`, `{"channel":{"slack":{"channel":"#prod"}}}`},
		{"a channel that is no object", `{` + known + `,"function_args":{"x":1},"channel":"#prod"}`, `{"channel":"#prod"}`},
		{"what a channel says", `{"call_id":"a","spec":{"fn":"f","kwargs":{},"channel":{"slack":{"channel_or_user_id":"C1","context_about_channel_or_user":"who pays","bot_token":"xoxb-1"},` +
			`"email":{"address":"a@example.com","subject":"Refund","additional_recipients":null}}}}`, `{"channel":{"email":{"subject":"Refund"},"slack":{"context_about_channel_or_user":"who pays"}}}`},
		{"more than an address", `{"call_id":"a","spec":{"fn":"f","kwargs":{"x":1},"channel":{"email":{"address":"rm -rf /"}}}}`, `{"channel":{"email":{"address":"rm -rf /"}}}`},
		{"the cloud's own item, all members", `{"run_id":"r","call_id":"call-c17ea629","spec":{"fn":"send_email","kwargs":{"to":"a@example.com"},"channel":{"slack":{"channel_or_user_id":"C0123","context_about_channel_or_user":null,` +
			`"bot_token":"xoxb-1","allowed_responder_ids":["U1","U2"],"experimental_slack_blocks":true,"thread_ts":"1732100000.000100"},"email":null,"sms":{"phone_number":"+15550100","context_about_user":""},"whatsapp":null},` +
			`"reject_options":null,"state":null},"status":{"requested_at":"2026-11-20T11:59:00.123456","responded_at":null,"approved":null,"comment":null,"reject_option_name":null,"slack_message_ts":"1732100000.000200","user_info":null}}`, ""},
		{"the cloud's own item, no arguments", `{"run_id":"r","call_id":"call-c17ea629","spec":{"fn":"noop","kwargs":{},"reject_options":[],"state":{}},"status":{"requested_at":"2026-11-20T11:59:00Z"}}`, ""},
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
