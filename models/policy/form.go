package policy

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// Form is what a form holds of a document, or of one rule: a text for each Field, by
// its path.
type Form map[string]string

// FieldKind says how a member is written in a form.
type FieldKind int

// The kinds.
const (
	FieldText    FieldKind = iota // a text, or one of a few words
	FieldLines                    // a list of texts, one a line
	FieldNumber                   // a whole number
	FieldSwitch                   // "true", or empty for false
	FieldSteps                    // a list of Escalation, one a line
	FieldSigners                  // a list of Signers, one a line
	FieldTime                     // a time such as 2026-03-02T18:00:00Z
)

// Field is one member of a document that people write in a form.
type Field struct {
	Path string // in the document, or in the rule: "undo_seconds.high"
	Kind FieldKind
	// Empty is the meaning of an empty text: nothing, or null, or the zero value itself, which a number can't be.
	Empty Emptiness
}

// Emptiness is the meaning of an empty field.
type Emptiness int

// The meanings of an empty field.
const (
	EmptyValue  Emptiness = iota // an empty text or list; no number
	EmptyAbsent                  // the member is left out
	EmptyNull                    // the member is null
)

// Settings are the fields of a document but for its rules.
func Settings() []Field { return settings }

// RuleFields are the fields of a rule.
func RuleFields() []Field { return ruleFields }

var (
	settings = []Field{
		{Path: "approval_enabled", Kind: FieldSwitch},
		{Path: "approval_off_until", Kind: FieldTime, Empty: EmptyAbsent},
		{Path: "required_approval_tools", Kind: FieldLines},
		{Path: "default_timeout_minutes", Kind: FieldNumber},
		{Path: "max_timeout_minutes", Kind: FieldNumber},
		{Path: "proposal_timeout_minutes", Kind: FieldNumber, Empty: EmptyNull},
		{Path: "fallback_auto_approve", Kind: FieldSwitch},
		{Path: "fallback_until", Kind: FieldTime, Empty: EmptyAbsent},
		{Path: "unmatched"},
		{Path: "auto_budget_increase", Kind: FieldNumber},
		{Path: "budget_per_agent.energy", Kind: FieldNumber, Empty: EmptyNull},
		{Path: "budget_per_agent.hours", Kind: FieldNumber, Empty: EmptyNull},
		{Path: "undo_seconds.low", Kind: FieldNumber},
		{Path: "undo_seconds.medium", Kind: FieldNumber},
		{Path: "undo_seconds.high", Kind: FieldNumber},
		{Path: "undo_seconds.critical", Kind: FieldNumber},
		{Path: "max_pause_minutes", Kind: FieldNumber},
		{Path: "explicit_response_id", Kind: FieldSwitch},
		{Path: "grants_enabled", Kind: FieldSwitch},
		{Path: "grant_max_hours", Kind: FieldNumber},
		{Path: "grant_max_uses", Kind: FieldNumber},
		{Path: "max_asks_per_reviewer_hour", Kind: FieldNumber},
		{Path: "flood_per_hour", Kind: FieldNumber},
		{Path: "attention_signals", Kind: FieldSwitch},
		{Path: "retention_days", Kind: FieldNumber},
		{Path: "policy_approvals", Kind: FieldNumber},
		{Path: "policy_alone_minutes", Kind: FieldNumber},
		{Path: "time_zone"},
	}
	ruleFields = []Field{
		{Path: "name"},
		{Path: "disabled", Kind: FieldSwitch},
		{Path: "tools", Kind: FieldLines},
		{Path: "when", Empty: EmptyAbsent},
		{Path: "effect"},
		{Path: "template", Empty: EmptyAbsent},
		{Path: "risk", Empty: EmptyAbsent},
		{Path: "timeout_minutes", Kind: FieldNumber, Empty: EmptyAbsent},
		{Path: "reviewers", Kind: FieldLines, Empty: EmptyAbsent},
		{Path: "reviewers_only", Kind: FieldSwitch},
		{Path: "self_approval", Empty: EmptyAbsent},
		{Path: "approvals", Kind: FieldSigners, Empty: EmptyAbsent},
		{Path: "any", Kind: FieldSwitch},
		{Path: "stages", Kind: FieldSwitch},
		{Path: "reject_count", Kind: FieldNumber, Empty: EmptyAbsent},
		{Path: "show_progress", Kind: FieldSwitch},
		{Path: "break_glass", Kind: FieldLines, Empty: EmptyAbsent},
		{Path: "readers", Kind: FieldLines, Empty: EmptyAbsent},
		{Path: "checklist", Kind: FieldLines, Empty: EmptyAbsent},
		{Path: "escalate", Kind: FieldSteps, Empty: EmptyAbsent},
		{Path: "substitutes", Kind: FieldSwitch},
		{Path: "when_busy", Empty: EmptyAbsent},
		{Path: "reason", Empty: EmptyAbsent},
		{Path: "reject_reasons", Kind: FieldLines, Empty: EmptyAbsent},
		{Path: "energy", Kind: FieldNumber, Empty: EmptyAbsent},
		{Path: "notify_headline", Kind: FieldSwitch},
		{Path: "note", Empty: EmptyAbsent},
	}
)

// TemplateFields are the fields of a template.
func TemplateFields() []Field { return templateFields }

var templateFields = []Field{
	{Path: "name"},
	{Path: "text", Empty: EmptyAbsent},
	{Path: "checklist", Kind: FieldLines, Empty: EmptyAbsent},
	{Path: "risk", Empty: EmptyAbsent},
	{Path: "timeout_minutes", Kind: FieldNumber, Empty: EmptyAbsent},
	{Path: "reviewers", Kind: FieldLines, Empty: EmptyAbsent},
	{Path: "reviewers_only", Kind: FieldSwitch},
	{Path: "self_approval", Empty: EmptyAbsent},
	{Path: "approvals", Kind: FieldSigners, Empty: EmptyAbsent},
	{Path: "any", Kind: FieldSwitch},
	{Path: "stages", Kind: FieldSwitch},
	{Path: "reject_count", Kind: FieldNumber, Empty: EmptyAbsent},
	{Path: "show_progress", Kind: FieldSwitch},
	{Path: "break_glass", Kind: FieldLines, Empty: EmptyAbsent},
	{Path: "escalate", Kind: FieldSteps, Empty: EmptyAbsent},
	{Path: "substitutes", Kind: FieldSwitch},
	{Path: "reject_reasons", Kind: FieldLines, Empty: EmptyAbsent},
	{Path: "note", Empty: EmptyAbsent},
}

// text is what a form shows of a value.
func (f Field) text(v jsontext.Value) string {
	switch v.Kind() { //nolint:exhaustive // all others are shown as they are written
	case '"':
		var s string
		if json.Unmarshal(v, &s) == nil {
			return typable(s)
		}
	case '[':
		if list, err := readList(v); err == nil && f.Kind == FieldLines {
			lines := make([]string, len(list))
			for i, item := range list {
				lines[i] = lineOf(item)
			}
			return strings.Join(lines, "\n")
		} else if g, ok := grammars[f.Kind]; err == nil && ok {
			lines := make([]string, len(list))
			for i, item := range list {
				lines[i] = g.line(item)
			}
			return strings.Join(lines, "\n")
		}
	case 'n', invalidKind:
		return ""
	case 'f':
		if f.Kind == FieldSwitch {
			return ""
		}
	}
	return string(v)
}

// invalidKind is the kind of a value that is not there.
const invalidKind jsontext.Kind = 0

// lineOf writes one entry of a list in a line of its own. An entry that would not come back unchanged is written as
// JSON: with line breaks, spaces at its ends, a quotation mark at its beginning, or invisible characters.
func lineOf(v jsontext.Value) string {
	var s string
	if v.Kind() != '"' || json.Unmarshal(v, &s) != nil {
		return string(v)
	}
	if s == "" || s != strings.TrimSpace(s) || strings.ContainsAny(s, "\r\n") || s[0] == '"' || hidden(s) {
		return escaped(s)
	}
	return s
}

// typable is a text as a form shows it: one with invisible characters is written as JSON, with their codes.
func typable(s string) string {
	if _, isCode := fromJSON(s); isCode || hidden(s) {
		return escaped(s)
	}
	return s
}

// fromJSON reads what typable has written as JSON, and nothing that people write.
func fromJSON(text string) (s string, ok bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, `"`) || !strings.Contains(text, `\`) {
		return "", false
	}
	return s, json.Unmarshal([]byte(text), &s) == nil
}

func hidden(s string) bool {
	_, found := models.Reveal(s, true)
	return found.Any()
}

// escaped is a text as JSON in ASCII.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range string(quoted(s)) {
		writeCode(&b, r, r >= 0x7f)
	}
	return b.String()
}

// Visible is JSON with its invisible characters written as their codes, which says the same. Text that is not JSON is
// left as it was typed.
func Visible(text string) string {
	if !hidden(text) || oneValue([]byte(text)) != nil {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		writeCode(&b, r, r >= 0x7f && hidden(string(r)))
	}
	return b.String()
}

// writeCode writes a character of JSON, as its code if coded.
func writeCode(b *strings.Builder, r rune, isCode bool) {
	switch {
	case !isCode:
		b.WriteRune(r)
	case r > 0xffff:
		high, low := utf16.EncodeRune(r)
		fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
	default:
		fmt.Fprintf(b, `\u%04x`, r)
	}
}

// value is what a text of a form says; nil leaves the member out.
func (f Field) value(text string) jsontext.Value {
	line := strings.TrimSpace(text)
	switch f.Kind {
	case FieldSwitch:
		return jsontext.Value(strconv.FormatBool(line == "true"))
	case FieldLines:
		return f.list(text)
	case FieldSteps, FieldSigners:
		return grammars[f.Kind].list(text)
	case FieldNumber:
		if n, err := strconv.ParseInt(line, 10, 64); err == nil {
			return jsontext.Value(strconv.FormatInt(n, 10))
		}
	case FieldText, FieldTime:
	}
	if line == "" {
		switch f.Empty {
		case EmptyAbsent:
			return nil
		case EmptyNull:
			return jsontext.Value("null")
		case EmptyValue:
		}
	}
	if f.Kind == FieldText {
		if s, ok := fromJSON(text); ok {
			return quoted(s)
		}
		return quoted(plainBreaks(text))
	}
	return quoted(line) // no number, and said to be wrong where it is checked
}

func (f Field) list(text string) jsontext.Value {
	out := []jsontext.Value{}
	for line := range strings.Lines(plainBreaks(text)) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		var s string
		if line[0] != '"' || json.Unmarshal([]byte(line), &s) != nil {
			s = line
		}
		out = append(out, quoted(s))
	}
	if len(out) == 0 && f.Empty == EmptyAbsent {
		return nil
	}
	return listOf(out)
}

// misfit says which value is expected, and where, if a value is of another kind.
func (f Field) misfit(v jsontext.Value) (path, text string) {
	switch f.Kind {
	case FieldSwitch:
		return f.Path, kindProblem[bool](v)
	case FieldText:
		return f.Path, kindProblem[string](v)
	case FieldTime:
		return f.Path, kindProblem[time.Time](v)
	case FieldSteps, FieldSigners:
		return grammars[f.Kind].misfit(f.Path, v)
	case FieldLines:
		list, err := readList(v)
		if err != nil {
			return f.Path, "must be a list"
		}
		for i, item := range list {
			if text := kindProblem[string](item); text != "" {
				return f.Path + "[" + strconv.Itoa(i) + "]", text
			}
		}
	case FieldNumber:
		if v.Kind() == 'n' && f.mayBeNull() {
			return f.Path, ""
		}
		if text := kindProblem[int64](v); text != "" {
			return f.Path, "must be a whole number"
		}
	}
	return f.Path, ""
}

// mayBeNull is for the minutes that may be missing.
func (f Field) mayBeNull() bool {
	return f.Path == "timeout_minutes" || f.Path == "proposal_timeout_minutes"
}

func kindProblem[T any](v jsontext.Value) string {
	var to T
	if v.Kind() != 'n' && json.Unmarshal(v, &to) == nil {
		return ""
	}
	return "must be " + typeName(reflect.TypeFor[T]())
}

// plainBreaks undoes what browsers do to the line breaks of a text area.
func plainBreaks(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// sameText reports whether a text that came back from a form is the one that it showed.
func sameText(shown, sent string) bool {
	return strings.TrimSpace(strings.ReplaceAll(plainBreaks(shown), "\r",
		"\n")) == strings.TrimSpace(strings.ReplaceAll(plainBreaks(sent), "\r", "\n"))
}

// initialRule is what a form of a new rule shows, and what a rule's member has that is
// not written down.
func initialRule() Rule {
	return Rule{Effect: EffectRequire}
}
