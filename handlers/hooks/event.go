package hooks

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"countersign/handlers/api/wire"
	"countersign/models"
)

// askUserQuestion is the tool by which the agent asks the person at its terminal.
const askUserQuestion = "AskUserQuestion"

// readEvent reads what the agent sent and checks what every moment needs.
func readEvent(raw []byte) (wire.HookEvent, error) {
	var e wire.HookEvent
	if err := json.Unmarshal(raw, &e); err != nil {
		return wire.HookEvent{Name: wire.HookNameIn(raw)}, models.Errorf(models.CodeInvalid,
			"The body must be the JSON that the agent sends to its hooks, with each member once and in UTF-8.")
	}
	if e.Name.Gates() { // a wait holds nothing that belongs to another moment
		e.ToolResponse, e.Error, e.LastMessage = nil, "", ""
	}
	return e, check(&e)
}

func check(e *wire.HookEvent) error {
	if err := models.CheckKey("session_id", e.SessionID); err != nil {
		return err
	}
	switch e.Name {
	case wire.HookPreToolUse, wire.HookPermissionRequest, wire.HookPostToolUse, wire.HookPostToolUseFailure:
	case wire.HookStop:
		return nil
	default:
		return errUnknownMoment()
	}
	if err := models.CheckToolName("tool_name", e.ToolName); err != nil {
		return err
	}
	if e.Name != wire.HookPermissionRequest {
		if err := models.CheckKey("tool_use_id", e.ToolUseID); err != nil {
			return err
		}
	}
	if !e.Name.Gates() {
		return nil
	}
	return models.CheckInputSize("tool_input", len(e.ToolInput))
}

func errUnknownMoment() error {
	return models.Invalid("hook_event_name", "must be %s", models.AnyOf(wire.HookNames()))
}

// input is the request that a call becomes. Where the agent's own rules want a person,
// one is asked unless a rule of the policy says otherwise: that is a request beside the one
// before the call, which was let through.
func (h *hook) input() models.AskInput {
	e := &h.event
	in := models.AskInput{
		RunID: e.SessionID, ToolUseID: e.ToolUseID, ToolName: e.ToolName, Input: e.ToolInput,
		Explanation: models.Explanation{Description: description(e), Context: around(e)}, AcceptsEdits: true,
	}
	if e.Name == wire.HookPermissionRequest {
		in.ToolUseID, in.ApprovalID, in.Explicit = "", h.key, true
	}
	return in
}

// description is what the agent says that the call is for, as some of its tools do.
func description(e *wire.HookEvent) string {
	var input struct {
		Description string `json:"description"`
	}
	if json.Unmarshal(e.ToolInput, &input) != nil {
		return "" // a description of another type, or an input that is no object
	}
	return cut(input.Description, models.MaxDescription)
}

// ofPermission ends the context of each request that a PermissionRequest becomes, and of no
// other.
const ofPermission = "The agent's own permission rules want a person to decide."

// mostDirectory is how much of a directory's name is shown.
const mostDirectory = 1 << 10

// around says where the agent works and what it may do without asking.
func around(e *wire.HookEvent) string {
	var lines []string
	for _, line := range [...]struct{ what, is string }{
		{"Directory", cut(e.Directory, mostDirectory)},
		{"Permission mode", cut(e.PermissionMode, models.MaxName)},
		{"Sub-agent", cut(e.AgentType, models.MaxName)},
	} {
		if line.is != "" {
			lines = append(lines, line.what+": "+strings.Map(oneLine, line.is))
		}
	}
	if e.Name == wire.HookPermissionRequest {
		lines = append(lines, ofPermission)
	}
	return strings.Join(lines, "\n")
}

// oneLine keeps a value from posing as the next line.
func oneLine(r rune) rune {
	if r < 0x20 || r == 0x7f || r == '\u2028' || r == '\u2029' {
		return '\uFFFD'
	}
	return r
}

// title names the conversation of a session after its directory, whose end tells most.
func title(e *wire.HookEvent) string {
	const program = "Claude Code"
	where := strings.Map(oneLine, e.Directory)
	if where == "" {
		return program
	}
	const most = models.MaxTitle - len(program+" in …")
	if n := utf8.RuneCountInString(where); n > most {
		where = "…" + string([]rune(where)[n-most:])
	}
	return program + " in " + where
}

// cut keeps at most so many bytes of a text, and no half character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	s = s[:most]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s
}
