package wire

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// HookName is the moment at which a coding agent runs a hook.
type HookName string

// The moments that Countersign knows.
const (
	HookPreToolUse         HookName = "PreToolUse"         // before each call
	HookPermissionRequest  HookName = "PermissionRequest"  // where the agent's own rules ask a person
	HookPostToolUse        HookName = "PostToolUse"        // after a call that worked
	HookPostToolUseFailure HookName = "PostToolUseFailure" // after one that did not
	HookStop               HookName = "Stop"               // the agent has answered and waits for a person
)

// HookNames lists them.
func HookNames() []HookName {
	return []HookName{HookPreToolUse, HookPermissionRequest, HookPostToolUse, HookPostToolUseFailure, HookStop}
}

// Gates reports whether the answer to a hook decides if a call runs.
func (n HookName) Gates() bool { return n == HookPreToolUse || n == HookPermissionRequest }

// HookEvent is what a coding agent hands to its hook. Its programs add members as they
// like, so unknown ones are passed over.
type HookEvent struct {
	Name           HookName        `json:"hook_event_name"`
	SessionID      string          `json:"session_id"`
	Directory      string          `json:"cwd,omitempty"`
	PermissionMode string          `json:"permission_mode,omitempty"`
	PromptID       string          `json:"prompt_id,omitempty"`
	AgentType      string          `json:"agent_type,omitempty"` // of a sub-agent
	ToolName       string          `json:"tool_name,omitempty"`
	ToolInput      json.RawMessage `json:"tool_input,omitzero"`
	ToolUseID      string          `json:"tool_use_id,omitempty"` // PermissionRequest has none
	ToolResponse   json.RawMessage `json:"tool_response,omitzero"`
	Error          string          `json:"error,omitempty"`                  // of PostToolUseFailure
	LastMessage    string          `json:"last_assistant_message,omitempty"` // of Stop

	// ToolResponseBytes is the true length of a tool_response that our client has cut to a
	// text; zero: it is whole.
	ToolResponseBytes int64 `json:"tool_response_bytes,omitzero"`
}

// HookNameIn reads the moment out of a hook's input that may be cut, or broken further
// on, or has a member twice or bytes that are no UTF-8: the refusal must know what it
// is refusing. Of two names the first that decides about a call counts. Empty: it says none.
func HookNameIn(raw []byte) HookName {
	return nameOf(bytes.NewReader(raw), HookName.Gates)
}

// FirstHookName reads the first moment that a hook's input says, and no further.
func FirstHookName(r io.Reader) HookName {
	return nameOf(r, func(n HookName) bool { return n != "" })
}

// nameOf reads members until enough is known of the moment.
func nameOf(r io.Reader, enough func(HookName) bool) (name HookName) {
	d := jsontext.NewDecoder(r, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return ""
	}
	for !enough(name) {
		member, err := d.ReadToken()
		if err != nil || member.Kind() != '"' {
			return name
		}
		if member.String() != "hook_event_name" || d.PeekKind() != '"' {
			if d.SkipValue() != nil {
				return name
			}
			continue
		}
		said, err := d.ReadToken()
		if err != nil {
			return name
		}
		if next := HookName(said.String()); name == "" || next.Gates() {
			name = next
		}
	}
	return name
}

// HookAnswer is what a hook answers its coding agent. Without Output the agent goes on
// as if it had no hook.
type HookAnswer struct {
	Output *HookOutput `json:"hookSpecificOutput,omitzero"`

	// Continue is false where the agent must stop, whatever the moment: it was not learnt.
	Continue   *bool  `json:"continue,omitzero"`
	StopReason string `json:"stopReason,omitempty"`
}

// HookResult answers our own client, which polls until someone decides. One of the two is set: an empty object does
// not come from this server.
type HookResult struct {
	Answer  *HookAnswer  `json:"answer,omitzero"`
	Pending *HookPending `json:"pending,omitzero"`
}

// HookPending is the request that a hook waits for.
type HookPending struct {
	ApprovalID ResponseID `json:"approvalId"`
	Kind       Kind       `json:"kind"` // budget: more energy is needed before the call is asked about
	URL        string     `json:"url"`
	// Reviewers may decide; WaitingFor says in words what the request waits for.
	Reviewers  []string `json:"reviewers,omitzero"`
	WaitingFor string   `json:"waitingFor,omitzero"`
}

// HookOutput is a decision, in the members that belong to its moment.
type HookOutput struct {
	Name HookName `json:"hookEventName"`

	// Of PreToolUse.
	Decision HookDecision    `json:"permissionDecision,omitempty"`
	Reason   string          `json:"permissionDecisionReason,omitempty"`
	Input    json.RawMessage `json:"updatedInput,omitzero"` // runs instead of the input that was sent

	// Of PermissionRequest.
	Request *HookPermission `json:"decision,omitzero"`
}

// HookDecision is the answer to PreToolUse.
type HookDecision string

// The answers. Ask leaves the call to the agent's own prompt.
const (
	HookAllow HookDecision = "allow"
	HookDeny  HookDecision = "deny"
	HookAsk   HookDecision = "ask"
)

// HookPermission is the answer to PermissionRequest.
type HookPermission struct {
	Behavior HookDecision    `json:"behavior"` // allow or deny
	Message  string          `json:"message,omitempty"`
	Input    json.RawMessage `json:"updatedInput,omitzero"`
}

// Answers reports whether a is a complete answer to that moment. The client must not accept an incomplete one: it
// would let the call run.
func (a *HookAnswer) Answers(name HookName) bool {
	o := a.Output
	switch {
	case a.Continue != nil || a.StopReason != "":
		return false // our client is never told so
	case o == nil:
		return true
	case o.Name != name:
		return false
	case name == HookPreToolUse:
		return o.Request == nil && (o.Decision == HookAllow || o.Decision == HookDeny || o.Decision == HookAsk)
	case name == HookPermissionRequest:
		return o.Decision == "" && o.Request != nil && (o.Request.Behavior == HookAllow || o.Request.Behavior == HookDeny)
	}
	return false
}

// DenyHook refuses a call, for a reason that the agent's model reads. Of a moment that
// decides about none it is an empty answer.
func DenyHook(name HookName, reason string) *HookAnswer {
	switch name {
	case HookPreToolUse:
		return &HookAnswer{Output: &HookOutput{Name: name, Decision: HookDeny, Reason: reason}}
	case HookPermissionRequest:
		return &HookAnswer{Output: &HookOutput{Name: name, Request: &HookPermission{Behavior: HookDeny, Message: reason}}}
	case HookPostToolUse, HookPostToolUseFailure, HookStop:
	}
	return new(HookAnswer)
}
