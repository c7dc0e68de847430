package streamjson_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/streamjson"
)

// told is an event in one line, for comparing.
func told(e *models.RunEvent) string {
	s := string(e.Type)
	for _, part := range []struct{ name, value string }{
		{"use", strings.TrimLeft(strings.TrimPrefix(e.ToolUseID, "toolu_"), "0")},
		{"tool", e.ToolName},
		{"batch", strings.TrimLeft(strings.TrimPrefix(e.BatchID, "msg_"), "0")},
		{"input", string(e.Input)},
		{"content", e.Content},
		{"result", e.Result},
		{"status", string(e.Status)},
		{"in", strings.TrimLeft(strings.TrimPrefix(e.ParentToolUseID, "toolu_"), "0")},
	} {
		if part.value == "" {
			continue
		}
		if len(part.value) > 60 {
			part.value = part.value[:60] + fmt.Sprintf("… (%d)", len(part.value))
		}
		s += fmt.Sprintf(" %s=%q", part.name, part.value)
	}
	if e.IsError {
		s += " error"
	}
	return s
}

// recorded reads a recorded stream and checks what holds for every one.
func recorded(t *testing.T, name string) []models.RunEvent {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var events []models.RunEvent
	ids := map[string]bool{}
	var stream streamjson.Reader
	for i, line := range bytes.Split(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n")) {
		for _, e := range stream.Read(line, int64(i)) {
			if ids[e.ID] || len(e.ID) != len("8fb02eb7-3585-4f3c-927b-9b49be9cd4e4/0") {
				t.Errorf("line %d: the id %q is not the line's own or stands twice", i, e.ID)
			}
			ids[e.ID] = true
			if e.At == nil && e.Type != models.RunEventStatus {
				t.Errorf("line %d: no time", i)
			}
			events = append(events, e)
		}
	}
	if n, first, _ := stream.Unread(); n > 0 || len(stream.End()) > 0 {
		t.Errorf("%d lines could not be read: %v", n, first)
	}
	return events
}

func compare(t *testing.T, events []models.RunEvent, want string) {
	t.Helper()
	var got strings.Builder
	for i := range events {
		got.WriteString(told(&events[i]) + "\n")
	}
	if want = strings.TrimPrefix(want, "\n"); got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

// A run as it was printed: five calls in one message, of which one fails; a
// sub-agent with two calls of its own, whose results come in another order; the
// end.
func TestARecordedRun(t *testing.T) {
	t.Parallel()
	compare(t, recorded(t, "run.jsonl"), `
status status="running"
reply content="Looking around first, then preparing the release."
tool_call use="1" tool="Read" batch="6" input="{\"file_path\":\"/home/agent/project/notes.txt\"}"
tool_call use="2" tool="Bash" batch="6" input="{\"command\":\"touch one.txt\",\"description\":\"first\"}"
tool_call use="3" tool="Bash" batch="6" input="{\"command\":\"cat missing.txt\",\"description\":\"fails\"}"
tool_call use="4" tool="Write" batch="6" input="{\"file_path\":\"/home/agent/project/two.txt\",\"content\":\"zwei \xc3… (78)"
tool_call use="5" tool="Bash" batch="6" input="{\"command\":\"printf '%05000d\\\\n' 7\",\"description\":\"prints a l… (64)"
tool_result use="1" result="1\tnotes of the project\n2\t"
tool_result use="2" result="(Bash completed with no output)"
tool_result use="3" result="Exit code 1\ncat: missing.txt: No such file or directory" error
tool_result use="4" result="File created successfully at: /home/agent/project/two.txt (f… (125)"
tool_result use="5" result="000000000000000000000000000000000000000000000000000000000000… (5000)"
reply content="Asking for a review."
tool_call use="8" tool="Task" batch="9" input="{\"description\":\"Review\",\"prompt\":\"SUBTASK review the project… (122)"
tool_call use="11" tool="Bash" batch="13" input="{\"command\":\"ls\",\"description\":\"list\"}" in="8"
tool_call use="12" tool="Read" batch="13" input="{\"file_path\":\"/home/agent/project/two.txt\"}" in="8"
tool_result use="12" result="1\tzwei äö \u202e 二\n2\t" in="8"
tool_result use="11" result="notes.txt\none.txt\ntwo.txt" in="8"
tool_result use="8" result="[Subagent hand-back] The text below is the final report of a… (697)"
tool_call use="17" tool="Bash" batch="18" input="{\"command\":\"rm one.txt\",\"description\":\"clean up\"}"
tool_result use="17" result="(Bash completed with no output)"
reply content="All done: one file written, one removed."
status status="completed"
`)
}

// A run in which nobody was there to allow anything: denials are results.
func TestARecordedRunWithDenials(t *testing.T) {
	t.Parallel()
	results := map[string]string{}
	for _, e := range recorded(t, "denied.jsonl") {
		if e.Type == models.RunEventToolResult && e.IsError && e.ParentToolUseID == "" {
			results[e.ToolUseID] = e.Result
		}
	}
	for id, want := range map[string]string{
		"toolu_000000000000000000000002": "needs approval",
		"toolu_000000000000000000000004": "you haven't granted it yet",
		"toolu_000000000000000000000017": "needs approval",
	} {
		if !strings.Contains(results[id], want) {
			t.Errorf("%s came to %q, want that it %s", id, results[id], want)
		}
	}
}

// Its last line says "subtype":"success" and "is_error":true.
func TestARecordedRunWithoutAModel(t *testing.T) {
	t.Parallel()
	const why = "API Error: Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)"
	compare(t, recorded(t, "unreachable.jsonl"), fmt.Sprintf("status status=\"running\"\nreply content=%[1]q\nstatus content=%[1]q status=\"failed\"\n", why[:60]+fmt.Sprintf("… (%d)", len(why))))
}

var lines = []struct{ name, line, want string }{
	{"nothing", ``, ``},
	{"no JSON", `Warning: no stdin data received`, ``},
	{"cut off", `{"type":"assistant","message":{"content":[{"type":"text","te`, ``},
	{"another type", `{"type":"stream_event","event":{"type":"content_block_start"},"uuid":"u"}`, ``},
	{"a question of the agent to its host", `{"type":"control_request","request_id":"1","request":{"subtype":"can_use_tool","tool_name":"Bash"}}`, ``},
	{"another system line", `{"type":"system","subtype":"permission_denied","tool_use_id":"t"}`, ``},
	{"an array", `[{"type":"assistant"}]`, ``},
	{"no message", `{"type":"assistant"}`, ``},
	{"a message that is none", `{"type":"assistant","message":"hello"}`, ``},
	{"a type that is none", `{"type":7,"message":{"content":"x"}}`, ``},
	{"CRLF", "{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"content\":\"hi\"}}\r\n", `reply content="hi"`},
	{"thoughts", `{"type":"assistant","message":{"id":"m","content":[{"type":"thinking","thinking":"hm"},{"type":"redacted_thinking","data":"x"}]}}`, ``},
	{"blank text", `{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":" \n"}]}}`, ``},
	{
		"text and calls in one line, and a block that is none",
		`{"type":"assistant","message":{"id":"m","content":[7,{"type":"text","text":"a"},{"type":"tool_use","id":"t1","name":"x","input":{"n":9007199254740993}},null,{"type":"tool_use","id":"t2","name":"y"}]}}`,
		`reply content="a"
tool_call use="t1" tool="x" batch="m" input="{\"n\":9007199254740993}"
tool_call use="t2" tool="y" batch="m" input="{}"`,
	},
	{"a call without an id", `{"type":"assistant","uuid":"u","message":{"id":"m","content":[{"type":"tool_use","name":"x","input":{}}]}}`, `tool_call use="u/0" tool="x" batch="m" input="{}"`},
	{"a call without a message's id", `{"type":"assistant","uuid":"u","message":{"content":[{"type":"tool_use","id":"t","name":"x","input":{}}]}}`, `tool_call use="t" tool="x" batch="u" input="{}"`},
	{
		"the provider's own tool",
		`{"type":"assistant","message":{"id":"m","content":[{"type":"server_tool_use","id":"s","name":"web_search","input":{"q":"x"}},{"type":"web_search_tool_result","tool_use_id":"s","content":[{"type":"web_search_result","url":"u"}]}]}}`,
		`tool_call use="s" tool="web_search" batch="m" input="{\"q\":\"x\"}"
tool_result use="s" result="[web_search_result]"`,
	},
	{"a result as a string", `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"out"}]}}`, `tool_result use="t" result="out"`},
	{
		"a result of blocks",
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":[{"type":"text","text":"a"},{"type":"image","source":{"data":"aGk="}},{"type":"text","text":"b"}]}]}}`,
		`tool_result use="t" result="a\n[image]\nb" error`,
	},
	{"no result", `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t"}]}}`, `tool_result use="t"`},
	{"a result without a call", `{"type":"user","message":{"content":[{"type":"tool_result","content":"x"}]}}`, ``},
	{"what a person said", `{"type":"user","isReplay":true,"message":{"role":"user","content":"go on"}}`, `message content="go on"`},
	{"what nobody said", `{"type":"user","isSynthetic":true,"message":{"role":"user","content":"go on"}}`, ``},
	{"a sub-agent's task", `{"type":"user","parent_tool_use_id":"p","message":{"content":[{"type":"text","text":"review"}]}}`, ``},
	{"a sub-agent's words", `{"type":"assistant","parent_tool_use_id":"p","message":{"id":"m","content":[{"type":"text","text":"hm"}]}}`, `reply content="hm" in="p"`},
	{"the end", `{"type":"result","subtype":"success","is_error":false,"result":"done"}`, "reply content=\"done\"\nstatus status=\"completed\""},
	{"an end in error", `{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["too many","turns"]}`, `status content="too many\nturns" status="failed"`},
	{"an end that only its name tells", `{"type":"result","subtype":"error_during_execution"}`, `status content="error_during_execution" status="failed"`},
	{"no end yet: a call is put off", `{"type":"result","subtype":"success","stop_reason":"tool_deferred","deferred_tool_use":{"id":"t"}}`, `status status="waiting_input"`},
	{"text that is not UTF-8", "{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"content\":\"a\xffb\"}}", `reply content="a` + "\ufffd" + `b"`},
	{"an input that is not UTF-8", "{\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"x\",\"input\":{\"a\":\"\xff\\ud800\",\"n\":1.0}}]}}", `tool_call use="t" tool="x" batch="m" input="{\"a\":\"` + "\ufffd\ufffd" + `\",\"n\":1.0}"`},
	{"an input with a member twice", `{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"x","input":{"a":1,"a":2}}]}}`, `tool_call use="t" tool="x" batch="m" input="\"{\\\"a\\\":1,\\\"a\\\":2}\""`},
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tt := range lines {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := tt.want
			if want != "" {
				want += "\n"
			}
			compare(t, streamjson.Parse([]byte(tt.line), 1), want)
		})
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	first := func(line string, position int64) string {
		t.Helper()
		events := streamjson.Parse([]byte(line), position)
		if len(events) == 0 {
			t.Fatalf("nothing in %s", line)
		}
		return events[len(events)-1].ID
	}
	const hello = `{"type":"assistant","message":{"content":[{"type":"thinking"},{"type":"text","text":"hello"}]}}`
	if got := first(strings.Replace(hello, `{`, `{"uuid":"u-1",`, 1), 1); got != "u-1/1" {
		t.Errorf("the line's own id and the block's place give %q", got)
	}
	if first(hello, 1) != first(hello+"\r\n", 1) {
		t.Error("the end of the line changes the id")
	}
	for what, other := range map[string]string{
		"another position":       first(hello, 2),
		"another line":           first(strings.Replace(hello, "hello", "hallo", 1), 1),
		"an id that is not one":  first(strings.Replace(hello, `{`, `{"uuid":"a\u0000",`, 1), 1),
		"an id that is too long": first(strings.Replace(hello, `{`, `{"uuid":"`+strings.Repeat("u", 101)+`",`, 1), 1),
	} {
		if other == first(hello, 1) || len(other) != 34 {
			t.Errorf("%s: the id is %q", what, other)
		}
	}
	if cut := streamjson.Cut(first(hello, 1)); cut.ID == first(hello, 1) || cut.ID == streamjson.Cut("other").ID || cut.Status != models.ConversationFailed {
		t.Errorf("the end of a stream that was cut: %+v", cut)
	}
}

func TestLargeOnesAreCutAndTellTheirLength(t *testing.T) {
	t.Parallel()
	parse := func(format, what string) models.RunEvent {
		t.Helper()
		quoted, err := json.Marshal(what)
		if err != nil {
			t.Fatal(err)
		}
		events := streamjson.Parse(fmt.Appendf(nil, format, quoted), 1)
		if len(events) != 1 {
			t.Fatalf("%d events", len(events))
		}
		raw, err := json.Marshal(&events[0])
		if err != nil || len(raw) > models.MaxBody-4096 {
			t.Fatalf("as a line it is %d bytes long (%v)", len(raw), err)
		}
		return events[0]
	}
	const result = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":%s}]}}`
	const reply = `{"type":"assistant","message":{"id":"m","content":%s}}`
	const call = `{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"x","input":{"a":%s}}]}}`

	if e := parse(result, strings.Repeat("x", models.MaxResult)); len(e.Result) != models.MaxResult || e.ResultBytes != 0 {
		t.Errorf("a result of the largest size: %d of %d", len(e.Result), e.ResultBytes)
	}
	long := strings.Repeat("x", models.MaxResult-1) + strings.Repeat("ä", 5<<20)
	if e := parse(result, long); e.Result != long[:models.MaxResult-1] || e.ResultBytes != int64(len(long)) {
		t.Errorf("a long result: %d of %d", len(e.Result), e.ResultBytes)
	}
	if e := parse(result, strings.Repeat("\x01", models.MaxResult)); e.Result == "" || e.ResultBytes != models.MaxResult {
		t.Errorf("a result that is longer when it is escaped: %d of %d", len(e.Result), e.ResultBytes)
	}
	if e := parse(reply, long); e.Content != long[:models.MaxResult-1] || e.ContentBytes != int64(len(long)) {
		t.Errorf("a long reply: %d of %d", len(e.Content), e.ContentBytes)
	}
	if e := parse(call, strings.Repeat("x", 700<<10)); len(e.Input) != 700<<10+8 || e.InputBytes != 0 || e.InputDigest != "" {
		t.Errorf("an input that fits: %d of %d", len(e.Input), e.InputBytes)
	}
	e := parse(call, long)
	canonical, err := models.Canonical(models.KindToolCall, "x", []byte(`{"a":"`+long+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	if e.Input.Kind() != '"' || len(e.Input) > models.MaxResult+100 || e.InputBytes != int64(len(long)+8) || e.InputDigest != models.Digest(canonical) {
		t.Errorf("a long input: %d of %d, digest %s", len(e.Input), e.InputBytes, e.InputDigest)
	}
	deep := fmt.Sprintf(call, strings.Repeat("[", 65)+strings.Repeat("]", 65))
	if events := streamjson.Parse([]byte(deep), 1); len(events) != 1 || events[0].Input.Kind() != '"' {
		t.Errorf("a deep input: %v", events)
	}
	names := fmt.Sprintf(`{"type":"assistant","parent_tool_use_id":"%[1]s","message":{"id":"%[1]s","content":[{"type":"tool_use","id":"%[1]s","name":"%[1]s","input":{"a":"%[2]s"}}]}}`,
		strings.Repeat(`\u0001`, 1<<20), strings.Repeat("x", 767<<10))
	if raw, err := json.Marshal(streamjson.Parse([]byte(names), 1)); err != nil || len(raw) > models.MaxBody-4096 || len(raw) < 767<<10 {
		t.Errorf("with the longest names an event is %d bytes long (%v)", len(raw), err)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"run.jsonl", "denied.jsonl", "unreachable.jsonl"} {
		raw, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.Lines(raw) {
			if len(line) < 2000 {
				f.Add(line)
			}
		}
	}
	for _, tt := range lines {
		f.Add([]byte(tt.line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		events := streamjson.Parse(line, 7)
		ids := map[string]bool{}
		for i := range events {
			e := &events[i]
			raw, err := json.Marshal(e) // strict: valid UTF-8, no member twice
			if err != nil || len(raw) > models.MaxBody-4096 || bytes.ContainsRune(raw, '\n') {
				t.Fatalf("event %d is no line to send: %d bytes, %v", i, len(raw), err)
			}
			var back models.RunEvent
			if err := json.Unmarshal(raw, &back, json.RejectUnknownMembers(true)); err != nil {
				t.Fatalf("event %d does not come back: %v", i, err)
			}
			if ids[e.ID] || models.CheckKey("id", e.ID) != nil {
				t.Fatalf("event %d has the id %q", i, e.ID)
			}
			ids[e.ID] = true
			switch e.Type {
			case models.RunEventToolCall:
				if _, err := models.Canonical(models.KindToolCall, e.ToolName, e.Input); err != nil || e.ToolUseID == "" || e.BatchID == "" || e.ToolName == "" {
					t.Fatalf("event %d is no call: %+v %v", i, e, err)
				}
			case models.RunEventToolResult:
				if e.ToolUseID == "" {
					t.Fatalf("event %d is no result: %+v", i, e)
				}
			case models.RunEventMessage, models.RunEventReply:
				if e.Content == "" {
					t.Fatalf("event %d says nothing", i)
				}
			case models.RunEventStatus:
				if e.Status == "" {
					t.Fatalf("event %d has no status", i)
				}
			default:
				t.Fatalf("event %d has the type %q", i, e.Type)
			}
		}
		again := streamjson.Parse(line, 7)
		if len(again) != len(events) || len(events) > 0 && again[0].ID != events[0].ID {
			t.Fatal("the same line gives other events")
		}
	})
}
