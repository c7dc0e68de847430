package models

import (
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
	ID        string         `json:"id,omitzero"`
	Type      RunEventType   `json:"type"`
	ToolUseID string         `json:"toolUseId,omitzero"` // of calls and results
	ToolName  string         `json:"toolName,omitzero"`
	Input     jsontext.Value `json:"input,omitzero"`
	// BatchID is shared by the calls that the agent queued at once.
	BatchID string             `json:"batchId,omitzero"`
	Content string             `json:"content,omitzero"` // of messages and replies; of a status, why
	Result  string             `json:"result,omitzero"`
	IsError bool               `json:"isError,omitzero"`
	At      *time.Time         `json:"at,omitzero"`
	Status  ConversationStatus `json:"status,omitzero"`
	// ParentToolUseID is the call that started the sub-agent whose event this is.
	ParentToolUseID string `json:"parentToolUseId,omitzero"`

	// What does not fit into a request is cut by who reports it, and its true
	// length told in bytes; zero: it is whole. A cut input is a JSON string with
	// the beginning of its text, and InputDigest is that of the whole call.
	InputBytes   int64  `json:"inputBytes,omitzero"`
	InputDigest  string `json:"inputDigest,omitzero"`
	ContentBytes int64  `json:"contentBytes,omitzero"`
	ResultBytes  int64  `json:"resultBytes,omitzero"`
}

// RunEventOutcome says what became of a reported event.
type RunEventOutcome string

// The outcomes.
const (
	RunEventStored   RunEventOutcome = "stored"
	RunEventRepeated RunEventOutcome = "repeated" // known already; nothing changed
	RunEventConflict RunEventOutcome = "conflict" // it contradicts what stands, which is recorded
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
