package mcp

import (
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// What we write of the protocol, beside the SDK.
type (
	notification struct {
		JSONRPC string     `json:"jsonrpc"`
		Method  string     `json:"method"`
		Params  progressed `json:"params"`
	}
	progressed struct {
		Token    jsontext.Value `json:"progressToken"`
		Progress int            `json:"progress"`
		Message  string         `json:"message"`
	}
	response struct {
		JSONRPC string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Result  result         `json:"result"`
	}
	result struct {
		Meta              *resultMeta `json:"_meta,omitempty"`
		Type              string      `json:"resultType,omitempty"`
		Content           any         `json:"content"`
		StructuredContent any         `json:"structuredContent,omitempty"`
		IsError           bool        `json:"isError,omitempty"`
	}
	resultMeta struct {
		Server *sdk.Implementation `json:"io.modelcontextprotocol/serverInfo"`
	}
)

// respondedIn is the event with the answer to a call, as the protocol has it that it was made in.
func (m *Server) respondedIn(x *exchange, r *sdk.CallToolResult) string {
	out := response{
		JSONRPC: "2.0", ID: x.one.ID,
		Result: result{Content: r.Content, StructuredContent: r.StructuredContent, IsError: r.IsError},
	}
	if x.modern {
		out.Result.Type, out.Result.Meta = "complete", &resultMeta{m.self}
	}
	return messageEvent(out)
}

// messageEvent is an event with a message; empty if it can't be written.
func messageEvent(message any) string {
	raw, err := encode(message)
	if err != nil {
		return ""
	}
	return "event: message\ndata: " + string(raw) + "\n\n"
}
