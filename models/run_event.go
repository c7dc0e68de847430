package models

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxResult is how much of a tool's result, or of what an agent reports as
// said, is kept, in bytes; its true length is kept beside it.
const MaxResult = 256 << 10

// RunEventType names what an agent reports of its run.
type RunEventType string

// The types of events.
const (
	RunEventMessage    RunEventType = "message" // what a person said, by the agent's word
	RunEventReply      RunEventType = "reply"
	RunEventToolCall   RunEventType = "tool_call"
	RunEventToolResult RunEventType = "tool_result"
	RunEventStatus     RunEventType = "status"
)

// RunEvent is one thing that an agent reports of its run, as it travels. It is a
// claim and has not been checked.
type RunEvent struct {
	// ID is the client's, unique in the conversation: a repeat is the same event.
	// Calls and results may go without; then Type and ToolUseID name them.
	ID        string         `json:"id,omitzero" doc:"The agent's own, unique in the run; a message, reply or status needs one"`
	Type      RunEventType   `json:"type" enum:"message,reply,tool_call,tool_result,status"`
	ToolUseID string         `json:"toolUseId,omitzero" doc:"Of calls and results"`
	ToolName  string         `json:"toolName,omitzero"`
	Input     jsontext.Value `json:"input,omitzero" doc:"Any JSON value"`
	// BatchID is shared by the calls that the agent queued at once.
	BatchID string             `json:"batchId,omitzero" doc:"Shared by the calls that were queued at once"`
	Content string             `json:"content,omitzero" doc:"Of messages and replies; of a status, why"`
	Result  string             `json:"result,omitzero"`
	IsError bool               `json:"isError,omitzero"`
	At      *time.Time         `json:"at,omitzero"`
	Status  ConversationStatus `json:"status,omitzero" enum:"running,waiting_input,completed,failed"`
	// ParentToolUseID is the call that started the sub-agent whose event this is.
	ParentToolUseID string `json:"parentToolUseId,omitzero" doc:"The call that started the sub-agent whose event this is"`

	// What does not fit into a request is cut by who reports it, and its true
	// length told in bytes; zero: it is whole. A cut input is a JSON string with
	// the beginning of its text, and InputDigest is that of the whole call.
	InputBytes   int64  `json:"inputBytes,omitzero" doc:"The true length of an input that was cut to a string"`
	InputDigest  string `json:"inputDigest,omitzero" doc:"With inputBytes: SHA-256 over the canonical JSON of the whole call"`
	ContentBytes int64  `json:"contentBytes,omitzero" doc:"The true length of a content that was cut"`
	ResultBytes  int64  `json:"resultBytes,omitzero" doc:"The true length of a result that was cut"`
}

// RunEventOutcome says what became of a reported event.
type RunEventOutcome string

// The outcomes.
const (
	RunEventStored   RunEventOutcome = "stored"
	RunEventRepeated RunEventOutcome = "repeated" // known already; nothing changed
	RunEventConflict RunEventOutcome = "conflict" // it contradicts the stored event, which is recorded
	RunEventError    RunEventOutcome = "error"    // not taken; Error says why
)

// RunEventResult is the answer to one reported event.
type RunEventResult struct {
	Line       int             `json:"line" doc:"Which one, from 1, as sent"`
	ID         string          `json:"id,omitzero"`
	Status     RunEventOutcome `json:"status" enum:"stored,repeated,conflict,error"`
	ResponseID ResponseID      `json:"responseId,omitzero" doc:"The tool call or reply, where it is one"`
	Error      string          `json:"error,omitzero"`
}

// NewUseOf is the id of a call whose own was used before: the same each time for the same use.
func NewUseOf(toolUseID string, use any) string { return fmt.Sprintf("%s~%v", toolUseID, use) }
