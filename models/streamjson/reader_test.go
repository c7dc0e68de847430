package streamjson_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/streamjson"
)

// read reads a whole stream.
func read(t *testing.T, stream []byte) (events []models.RunEvent, unread string, lost bool) {
	t.Helper()
	var r streamjson.Reader
	n := int64(0)
	for line := range bytes.Lines(stream) {
		events = append(events, r.Read(line, n)...)
		n++
	}
	events = append(events, r.End()...)
	ids := map[string]bool{}
	for i := range events {
		ids[events[i].ID] = true
	}
	lines, first, lost := r.Unread()
	var b strings.Builder
	for _, one := range first {
		fmt.Fprintf(&b, "%d: %.30s\n", one.Line, one.Head)
	}
	if lines > len(first) {
		fmt.Fprintf(&b, "and %d more\n", lines-len(first))
	}
	return events, b.String(), lost
}

// Streams of three dialects, and odd ones: everything is read, or counted with its beginning.
func TestStreamsOfEveryDialect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		want, unread string
		lost         bool
	}{
		"s01-gemini.jsonl": {want: `
status status="running"
message content="count the files"
tool_call use="run_shell_command-17-a1" tool="run_shell_command" batch="L" input="{\"command\":\"ls | wc -l\"}"
tool_result use="run_shell_command-17-a1" result="12"
reply content="There are 12 files."
status status="completed"
`},
		"s02-cursor.jsonl": {want: `
status status="running"
message content="read the notes"
tool_call use="call_9" tool="read" batch="L" input="{\"path\":\"notes.md\"}"
tool_result use="call_9" result="# n"
reply content="Read."
status status="completed"
`},
		"s03-two-results.jsonl": {want: `
status status="running"
tool_call use="31" tool="Agent" batch="31" input="{\"description\":\"look\",\"prompt\":\"look around\",\"run_in_backgro… (70)"
tool_result use="31" result="started"
reply content="Waiting for the agent."
status status="completed"
tool_call use="32" tool="Bash" batch="32" input="{\"command\":\"rm -rf build\"}" in="31"
tool_result use="32" result="done" in="31"
status status="running"
reply content="The agent has finished: all well."
status status="completed"
`},
		"s05-success-then-error.jsonl": {want: `
status status="running"
reply content="Started it."
status status="completed"
status content="only prompt commands are supported in streaming mode" status="failed"
`},
		"s07-interrupt-resume.jsonl": {want: `
status status="running"
message content="please tidy up"
reply content="I tidy."
tool_call use="71" tool="Bash" batch="71" input="{\"command\":\"rm a\"}"
tool_result use="71" result="The user doesn't want to proceed with this tool use." error
status content="error_during_execution" status="failed"
status status="running"
message content="please tidy up"
reply content="I tidy."
tool_call use="71" tool="Bash" batch="71" input="{\"command\":\"rm a\"}"
reply content="Done."
status status="completed"
`},
		"s09-odd.jsonl": {want: `
status status="running"
tool_call use="91" tool="Pay" batch="91" input="\"{\\\"amount\\\":9007199254740993,\\\"amount\\\":1,\\\"x\\\":-0.0,\\\"big\\… (85)"
tool_call use="92" tool="Pay" batch="92" input="{\"amount\":5}"
tool_call use="93" tool="Pay" batch="93" input="{\"amount\":\"NaN\"}"
tool_call use="94" tool="Nothing" batch="94" input="{}"
tool_call use="95" tool="List" batch="94" input="[1,2]"
tool_call use="96" tool="Text" batch="94" input="\"*** Begin Patch\""
tool_call use="u9-4/3" tool="NoId" batch="94" input="{}"
reply content="first"
reply content="second on the same line"
reply content="ok"
status status="completed"
`, unread: "2: [DEBUG] starting\n"},
		"s11-reused-ids.jsonl": {want: `
status status="running"
tool_call use="call_0" tool="Bash" batch="m1" input="{\"command\":\"ls\"}"
tool_result use="call_0" result="a"
tool_call use="call_0~2" tool="Bash" batch="m2" input="{\"command\":\"rm -rf build\"}"
tool_result use="call_0~2" result="b"
reply content="ok"
status status="completed"
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(filepath.Join("testdata", "odd", name))
			if err != nil {
				t.Fatal(err)
			}
			events, unread, lost := read(t, raw)
			for i := range events {
				if strings.HasPrefix(name, "s01") || strings.HasPrefix(name, "s02") {
					if events[i].BatchID != "" {
						events[i].BatchID = "L" // of the line, which has no id
					}
				}
			}
			compare(t, events, c.want)
			if unread != c.unread || lost != c.lost {
				t.Errorf("unread %q, lost %v", unread, lost)
			}
		})
	}
}

// What is not understood is counted: no line is silently nothing.
func TestWhatIsNotUnderstoodIsCounted(t *testing.T) {
	t.Parallel()
	const reply = `{"type":"assistant","message":{"id":"m","content":"hi"}}`
	for name, c := range map[string]struct {
		stream, want, unread string
		lost                 bool
	}{
		"an unknown type":                {`{"type":"dance"}`, ``, "1: {\"type\":\"dance\"}\n", true},
		"no type":                        {`{"a":1}`, ``, "1: {\"a\":1}\n", true},
		"an unknown block":               {`{"type":"assistant","message":{"id":"m","content":[{"type":"dance"},{"type":"text","text":"a"}]}}`, `reply content="a"`, "1: {\"type\":\"assistant\",\"message\":\n", true},
		"no message":                     {`{"type":"assistant"}`, ``, "1: {\"type\":\"assistant\"}\n", true},
		"a result of no call":            {`{"type":"user","message":{"content":[{"type":"tool_result","content":"x"}]}}`, ``, "1: {\"type\":\"user\",\"message\":{\"con\n", true},
		"text alone":                     {"Warning: x\n" + reply, `reply content="hi"`, "1: Warning: x\n", false},
		"text before an object":          {"[DEBUG] " + reply, `reply content="hi"`, "1: [DEBUG] {\"type\":\"assistant\",\"m\n", false},
		"text behind an object":          {reply + " tail", `reply content="hi"`, "1: tail\n", false},
		"torn":                           {reply[:20] + "\n" + reply[20:], `reply content="hi"`, "", false},
		"torn twice":                     {reply[:20] + "\n" + reply[20:30] + "\n" + reply[30:], `reply content="hi"`, "", false},
		"torn, and the rest is lost":     {reply[:20] + "\n" + reply, `reply content="hi"`, "1: {\"type\":\"assistant\",\n", true},
		"torn at the end":                {reply + "\n" + reply[:20], `reply content="hi"`, "2: {\"type\":\"assistant\",\n", true},
		"broken, then whole on its line": {`{"type":"x",,}` + reply, `reply content="hi"`, "1: {\"type\":\"x\",,}{\"type\":\"assista\n", true},
		"many":                           {strings.Repeat("x\n", 7), ``, "1: x\n2: x\n3: x\n4: x\n5: x\nand 2 more\n", false},
		"thoughts":                       {`{"type":"assistant","message":{"id":"m","content":[{"type":"thinking","thinking":"hm"}]}}`, ``, "", false},
		"an end without a word":          {`{"type":"result"}`, `status status="completed"`, "", false},
		"a call that only its end tells": {
			`{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"shellToolCall":{"args":{"command":"x"},"result":{"rejected":{"reason":"no"}}}}}`,
			`tool_call use="c" tool="shell" batch="u" input="{\"command\":\"x\"}"
tool_result use="c" result="{\"rejected\":{\"reason\":\"no\"}}" error`, "", false,
		},
		"a function": {
			`{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"function":{"name":"f","arguments":"{\"a\":1}"}}}`,
			`tool_call use="c" tool="f" batch="u" input="{\"a\":1}"`, "", false,
		},
		"a tool that failed": {
			`{"type":"tool_result","tool_id":"c","status":"error","error":{"type":"x","message":"no such file"}}`,
			`tool_result use="c" result="no such file" error`, "", false,
		},
		"a run that failed": {`{"type":"result","status":"error","error":{"message":"quota"}}`, `status content="quota" status="failed"`, "", false},
		"an id of a line, used for another": {
			`{"type":"assistant","uuid":"u","message":{"id":"m","content":"a"}}` + "\n" + `{"type":"assistant","uuid":"u","message":{"id":"m","content":"b"}}`,
			"reply content=\"a\"\nreply content=\"b\"", "", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			events, unread, lost := read(t, []byte(c.stream))
			ids := map[string]bool{}
			for i := range events {
				if ids[events[i].ID] {
					t.Errorf("the id %s twice", events[i].ID)
				}
				if ids[events[i].ID] = true; events[i].BatchID != "" {
					events[i].BatchID = "u"
				}
			}
			want := c.want
			if want != "" {
				want += "\n"
			}
			compare(t, events, want)
			if unread != c.unread || lost != c.lost {
				t.Errorf("unread %q, lost %v", unread, lost)
			}
		})
	}
}
