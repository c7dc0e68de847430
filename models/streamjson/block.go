package streamjson

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// text is a string; any other value in its place is the empty one.
type text string

// UnmarshalJSONFrom takes any value.
func (t *text) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	if err != nil {
		return err
	}
	*t = ""
	if v.Kind() == '"' {
		return json.Unmarshal(v, (*string)(t), lenient)
	}
	return nil
}

// flag is true only for the value true.
type flag bool

// UnmarshalJSONFrom takes any value.
func (f *flag) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	*f = err == nil && v.Kind() == 't'
	return err
}

// block is one part of a message.
type block struct {
	Type      text           `json:"type"`
	Text      text           `json:"text"`
	ID        text           `json:"id"`
	ToolUseID text           `json:"tool_use_id"`
	Name      text           `json:"name"`
	Input     jsontext.Value `json:"input"`
	Content   jsontext.Value `json:"content"`
	IsError   flag           `json:"is_error"`
}

// isCall and isResult know the calls that the model's provider runs too, whose
// types end alike (server_tool_use, web_search_tool_result).
func (b *block) isCall() bool {
	return b.Type == "tool_use" || strings.HasSuffix(string(b.Type), "_tool_use")
}

func (b *block) isResult() bool {
	return b.Type == "tool_result" || strings.HasSuffix(string(b.Type), "_tool_result")
}

// isQuiet reports whether a block is known, and nothing to report.
func (b *block) isQuiet() bool {
	switch b.Type {
	case "text", "thinking", "redacted_thinking", "image", "document", "search_result", "container_upload":
		return true
	}
	return false
}

// result is what a tool gave back, as text: the text of its blocks, and of each
// other block its type.
func (b *block) result() string {
	var parts []string
	for _, part := range blocksOf(b.Content) {
		switch {
		case part.Type == "text":
			parts = append(parts, string(part.Text))
		case part.Type != "":
			parts = append(parts, "["+string(part.Type)+"]")
		}
	}
	return strings.Join(parts, "\n")
}

// blocksOf reads the content of a message or result: a string, one block or an array of blocks. A value that is no
// block keeps its place and is empty.
func blocksOf(content jsontext.Value) []block {
	kind := content.Kind()
	if kind == '"' {
		var s text
		_ = json.Unmarshal(content, &s, lenient) // it is a string
		return []block{{Type: "text", Text: s}}
	}
	if kind == '{' {
		content = append(append(jsontext.Value{'['}, content...), ']')
	} else if kind != '[' {
		return nil
	}
	var raw []jsontext.Value
	if err := json.Unmarshal(content, &raw, lenient); err != nil {
		return nil
	}
	blocks := make([]block, len(raw))
	for i := range raw {
		if raw[i].Kind() == '{' {
			_ = json.Unmarshal(raw[i], &blocks[i], lenient) // no member of it can be of a wrong type
		}
	}
	return blocks
}

// joined is the text of an array of strings.
func joined(v jsontext.Value) string {
	var lines []text
	if err := json.Unmarshal(v, &lines, lenient); err != nil {
		return ""
	}
	parts := make([]string, len(lines))
	for i := range lines {
		parts[i] = string(lines[i])
	}
	return strings.Join(parts, "\n")
}

// messageOf is the text of an error: a string, or the message of an object.
func messageOf(v jsontext.Value) string {
	var whole struct {
		Message text `json:"message"`
	}
	var plain text
	switch v.Kind() { //nolint:exhaustive // others are read below or not at all
	case '"':
		_ = json.Unmarshal(v, &plain, lenient) // it is a string
		return string(plain)
	case '{':
		_ = json.Unmarshal(v, &whole, lenient) // no member of it can be of a wrong type
	}
	return string(whole.Message)
}
