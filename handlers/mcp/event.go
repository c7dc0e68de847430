package mcp

import (
	"encoding/json"

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
		JSONRPC string              `json:"jsonrpc"`
		ID      jsontext.Value      `json:"id"`
		Result  *sdk.CallToolResult `json:"result"`
	}
)

// messageEvent is an event with a message; empty if it can't be written.
func messageEvent(message any) string {
	raw, err := json.Marshal(message)
	if err != nil {
		return ""
	}
	return "event: message\ndata: " + string(raw) + "\n\n"
}
