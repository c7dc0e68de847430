package llmtest

import (
	"net/http"
	"regexp"
	"slices"
)

// Request is what the endpoint was asked.
type Request struct {
	N      int         `json:"-"` // how many came before it
	Raw    []byte      `json:"-"` // the body as it came
	Header http.Header `json:"-"`

	Model               string    `json:"model"`
	Stream              bool      `json:"stream"`
	Messages            []Message `json:"messages"`
	Tools               []Tool    `json:"tools"`
	MaxTokens           int64     `json:"max_tokens"`
	MaxCompletionTokens int64     `json:"max_completion_tokens"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// Message is one message of a request.
type Message struct {
	Role      string `json:"role"`
	Content   string `json:"content"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`
}

// Tool is a tool that the model was offered.
type Tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Parameters  map[string]any `json:"parameters"`
	} `json:"function"`
}

// Last is the content of the last message of a role ("system": the ephemeral
// message); empty if there is none.
func (r Request) Last(role string) string {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == role {
			return m.Content
		}
	}
	return ""
}

// Result is what the model was told about a call of its own; empty if nothing.
func (r Request) Result(callID string) string {
	for _, m := range r.Messages {
		if m.Role == "tool" && m.ToolCallID == callID {
			return m.Content
		}
	}
	return ""
}

var requestID = regexp.MustCompile(`(?m)^requestId: *([0-9a-f-]{36})\s*$`)

// RequestID is the conversation's id, as the ephemeral message says it.
func (r Request) RequestID() string {
	if found := requestID.FindStringSubmatch(r.Last("system")); found != nil {
		return found[1]
	}
	return ""
}
