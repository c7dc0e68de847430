package headline_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"countersign/models"
	"countersign/models/headline"
)

// leads are how headlines of known kinds begin.
var leads = []string{
	"Pay ", "Email ", "Edit ", "Write ", "Get from ", "Post to ", "Put to ", "Patch at ", "Delete ", "Push ", "Force-push ", "Run: ", "Run ", "Answer: ", "Proposal: ", "Reply: ",
	"Update ", "Insert into ", "Drop table ", "Truncate ", "Alter table ", "Set the budget ", "Allow the agent ", "On ", "With ", "Approve", "Rejected", "Transfer ",
}

// pieces are what hostile texts are made of.
var pieces = []string{
	"Pay", "Run", "SQL", "Answer", ":", " ", "5", "EUR", "to", "Bob", "\n", "\r", "\u2028", "\u202e", "\u200b", "\"", "'", "\\", "`", "$(", ")", ";", "&&", "|", "#", "--", "/*", "*/",
	"git push", "--force", "origin", "main", "+", "rm -rf /", "UPDATE a SET x = 1", "DROP TABLE b", "⏎", "…", "⟨", "\u0430", "א", "(", "{", "}", "<<", "https://", "@", "evil.example", "%", "[", "]",
}

func text(t *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, label), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
}

func anyInput(t *rapid.T) string {
	names := []string{"command", "cmd", "amount", "currency", "to", "url", "method", "query", "file_path", "old_string", "new_string", "content", "subject", "question", "description", "x", "cwd", "database", "params", "iban", "headers"}
	in := map[string]any{}
	for range rapid.IntRange(0, 5).Draw(t, "members") {
		value := any(text(t, "value"))
		switch rapid.IntRange(0, 6).Draw(t, "type") {
		case 0:
			value = []any{value, value}
		case 1:
			value = rapid.Float64Range(-1e6, 1e6).Draw(t, "number")
		case 2:
			value = map[string]any{"a": value}
		}
		in[rapid.SampledFrom(names).Draw(t, "name")] = value
	}
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw[:rapid.IntRange(len(raw)*rapid.IntRange(0, 1).Draw(t, "whole"), len(raw)).Draw(t, "cut")])
}

// Whatever an agent sends, a headline is one short line, and begins with a verb only where the
// call is of a known kind (I13).
func TestHeadlinesAreNotForgedI13(t *testing.T) {
	t.Parallel()
	known := []string{"pay", "send_email", "Edit", "Write", "http.post", "http.request", "Bash", "sql", "str_replace_editor"}
	rapid.Check(t, func(t *rapid.T) {
		tool := rapid.OneOf(rapid.SampledFrom(known), rapid.Custom(func(t *rapid.T) string { return text(t, "tool") })).Draw(t, "tool")
		h := headline.Of(call(tool, anyInput(t)))
		got := h.Text()
		if strings.Contains(got, "\n") || !utf8.ValidString(got) || utf8.RuneCountInString(got) > 3*headline.MaxText {
			t.Fatalf("%q", got)
		}
		if h.Known != nil {
			return
		}
		for _, lead := range leads {
			if strings.HasPrefix(strings.ToLower(got), strings.ToLower(lead)) {
				t.Fatalf("%q of %q begins as a known kind", got, tool)
			}
		}
	})
}

// A shell command is told by its verb only if it is one command (I13).
func TestOneCommandIsOneI13(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := "git push origin main" + text(t, "rest")
		raw, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			t.Fatal(err)
		}
		got := headline.Of(call("Bash", string(raw))).Text()
		verb := strings.HasPrefix(got, "Push ") || strings.HasPrefix(got, "Force-push ") || strings.HasPrefix(got, "Delete ") || strings.HasPrefix(got, "Run: ")
		if verb && strings.ContainsAny(strings.TrimSpace(line), ";|\n`") && !strings.ContainsAny(line, `'"\`) {
			t.Fatalf("%q is told as %q", line, got)
		}
	})
}

func BenchmarkOf(b *testing.B) {
	long := strings.Repeat("a line of text\n", 1000)
	for name, r := range map[string]*models.Response{
		"payment": call("payment.send", `{"to":"Nordlicht Hosting","amount":"240.00","currency":"EUR","reference":"invoice 2026-118"}`),
		"command": call("Bash", `{"command":"git push --force origin main","timeout":120000}`),
		"script":  call("Bash", `{"command":"`+strings.Repeat(`echo a && `, 400)+`ls"}`),
		"sql":     call("sql", `{"query":"UPDATE orders SET paid = true WHERE id = 7"}`),
		"tool":    call("deploy", `{"env":"prod","version":"1.2","replicas":3,"force":true}`),
		"edit":    call("Edit", `{"file_path":"a.go","old_string":"`+strings.Repeat(`a line\n`, 200)+`","new_string":"`+strings.Repeat(`b line\n`, 200)+`"}`),
		"largest": call("deploy", `{"text":"`+strings.ReplaceAll(strings.Repeat(long, 16), "\n", `\n`)+`"}`),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				headline.Of(r)
			}
		})
	}
}
