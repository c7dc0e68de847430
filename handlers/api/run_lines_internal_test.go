package api

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzReadReport looks for lines that lose or change their neighbours, and for
// bodies that are read otherwise as lines than as an array.
func FuzzReadReport(f *testing.F) {
	for _, seed := range []string{
		"", "\n\n", "null", "[]", "{}", `{"id":"1"}` + "\r\n" + `{"id":"2"`,
		`{"id":"1","type":"reply","content":"x"}` + "\n" + `{"type":"tool_call","toolUseId":"t","toolName":"bash","input":{"a":[1e400,"\ud800"]}}`,
		`{"id":"1","id":"2","type":"status"}` + "\n" + `{"type":"reply","at":"2026-03-02T12:00:00Z"}` + "\n" + `{"type":"reply","at":"noon"}`,
		`{"id":"1","Type":"reply"}` + "\n" + `{"type":"tool_call","input":{"a":1,"a":2}}` + "\n\xff\n" + `"text"` + "\n7\n[]",
		`{"id":"\u0031","type":"reply","inputBytes":1.5}` + "\u2028" + `{"id":"2"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		lines, err := readReport(ndjson, body)
		if err != nil {
			if bytes.Count(body, []byte("\n")) < maxEvents {
				t.Fatalf("lines are refused as a whole: %v", err)
			}
			return
		}
		last := 0
		for i := range lines {
			if lines[i].number <= last {
				t.Fatalf("line %d after %d", lines[i].number, last)
			}
			last = lines[i].number
			checkLine(t, &lines[i])
		}
		among, err := readReport(ndjson, []byte("{\n"+string(body)+"\n\"\n"))
		if err != nil || len(among) != len(lines)+2 {
			t.Fatalf("%d lines beside two bad ones, want %d: %v", len(among), len(lines)+2, err)
		}
		sameLines(t, lines, among[1:len(among)-1])
		asArray(t, body, lines)
	})
}

func checkLine(t *testing.T, l *reportedLine) {
	t.Helper()
	if !utf8.ValidString(l.wrong) || !utf8.ValidString(l.event.ID) {
		t.Errorf("the answer is no UTF-8: %q, %q", l.wrong, l.event.ID)
	}
	if l.wrong != "" {
		bare := l.event
		bare.ID = ""
		if !reflect.ValueOf(bare).IsZero() {
			t.Errorf("a wrong event keeps more than its id: %+v", l.event)
		}
		return
	}
	if len(l.event.Input) > 0 && !l.event.Input.IsValid() {
		t.Errorf("an input is no JSON: %q", l.event.Input)
	}
}

func sameLines(t *testing.T, want, got []reportedLine) {
	t.Helper()
	for i := range want {
		if want[i].wrong != got[i].wrong || !reflect.DeepEqual(want[i].event, got[i].event) {
			t.Errorf("%+v is read as %+v", want[i], got[i])
		}
	}
}

// asArray reads those lines that are JSON as the elements of an array.
func asArray(t *testing.T, body []byte, lines []reportedLine) {
	t.Helper()
	var elements []string
	var want []reportedLine
	for line := range bytes.Lines(body) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if jsontext.Value(line).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
			elements, want = append(elements, string(line)), append(want, lines[0])
		}
		lines = lines[1:]
	}
	got, err := readReport("application/json", []byte("["+strings.Join(elements, ",")+"]"))
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d elements, want %d: %v", len(got), len(want), err)
	}
	sameLines(t, want, got)
}
