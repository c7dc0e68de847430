// Package llm is the model behind the built-in agent: any OpenAI-compatible
// endpoint for chat completions, or the scripted one that needs no network.
package llm

import (
	"context"

	"countersign/models"
)

// Model answers for the agent.
type Model interface {
	// Name is stored with what the model says.
	Name() string
	// WorstCase is how many tokens completing the request can take at most, prompt
	// and answer together.
	WorstCase(Request) int64
	// Complete asks the model once. It calls onText with each piece of text as it
	// comes, and with reset when the text begins again; the text is a draft until
	// Complete returns without an error. It retries errors of the endpoint that may
	// pass; an error that it returns is final, or ctx was cancelled.
	Complete(ctx context.Context, r Request, onText func(text string, reset bool)) (*Turn, error)
}

// Request is what the model is shown.
type Request struct {
	// System comes first: what the agent is.
	System string
	Turns  []Message
	// Ephemeral comes last, as a system message that no later request repeats: the current state.
	Ephemeral string
	Tools     []models.AgentTool
}

// Role is who said something.
type Role string

// The roles.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one message of the context.
type Message struct {
	Role    Role
	Content string
	Calls   []Call // of an assistant
	CallID  string // of a tool: which call it answers
}

// Call is a tool call of the model.
type Call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // as the model sent them; may be no JSON at all
}

// Turn is what the model said at once.
type Turn struct {
	Content string
	Calls   []Call
	Usage   Usage
}

// Usage is what a turn took.
type Usage struct {
	PromptTokens     int64
	CompletionTokens int64
}
