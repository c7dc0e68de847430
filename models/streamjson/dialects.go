package streamjson

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// bareCall reads a line that is a call, without a message around it.
func (l *line) bareCall(id string) (models.RunEvent, bool) {
	b := block{Type: "tool_use", ID: l.ToolID, Name: l.ToolName, Input: l.Parameters}
	return l.event(&b, id, id+"/0")
}

// bareResult reads a line that is the result of a call.
func (l *line) bareResult(id string) (models.RunEvent, bool) {
	b := block{
		Type: "tool_result", ToolUseID: l.ToolID, Content: l.Output, IsError: l.Status != "" && l.Status != "success",
	}
	e, ok := l.event(&b, id, id+"/0")
	if ok && e.Result == "" {
		e.Result, e.ResultBytes = cut(messageOf(l.Error))
	}
	return e, ok
}

// wrapped reads a call that is an object with one member, named after the tool: the call, and
// what came of it once it has ended.
func (l *line) wrapped(id string) (call, result models.RunEvent, ok bool) {
	var tools map[string]struct {
		Args      jsontext.Value `json:"args"`
		Name      text           `json:"name"`
		Arguments text           `json:"arguments"`
		Result    jsontext.Value `json:"result"`
	}
	if l.CallID == "" || json.Unmarshal(l.ToolCall, &tools, lenient) != nil || len(tools) != 1 {
		return call, result, false
	}
	for name, tool := range tools {
		b := block{Type: "tool_use", ID: l.CallID, Name: text(strings.TrimSuffix(name, "ToolCall")), Input: tool.Args}
		if name == "function" && tool.Name != "" {
			b.Name, b.Input = tool.Name, argumentsOf(string(tool.Arguments))
		}
		if call, ok = l.event(&b, id, id+"/0"); !ok || l.Subtype == "started" {
			return call, result, ok
		}
		result = models.RunEvent{ID: id + "/1", Type: models.RunEventToolResult, ToolUseID: call.ToolUseID}
		said, failure := outcomeOf(tool.Result)
		result.IsError = failure
		result.Result, result.ResultBytes = cut(said)
	}
	return call, result, l.Subtype == "completed"
}

// argumentsOf reads arguments that are JSON within a string; any other text is that string.
func argumentsOf(s string) jsontext.Value {
	if v := jsontext.Value(s); v.IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) {
		return v
	}
	return quote(s)
}

// outcomeOf reads what came of a wrapped call: its content, where it has one.
func outcomeOf(v jsontext.Value) (said string, failure bool) {
	var ends map[string]jsontext.Value
	if v.Kind() != '{' || json.Unmarshal(v, &ends, lenient) != nil {
		return string(v), false
	}
	good, done := ends["success"]
	if !done {
		return string(v), len(ends) > 0
	}
	var inner struct {
		Content jsontext.Value `json:"content"`
	}
	if good.Kind() == '{' && json.Unmarshal(good, &inner, lenient) == nil && inner.Content.Kind() == '"' {
		return messageOf(inner.Content), false
	}
	return string(good), false
}
