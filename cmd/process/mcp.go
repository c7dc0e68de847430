package process

import (
	"fmt"
	"io"
	"testing"
)

// MCPClient is a client that starts `countersign mcp`, in one of the protocols.
type MCPClient struct {
	*Program

	T      *testing.T
	modern bool
}

// What a client says first, and hears when its call is allowed.
const (
	MCPBegins  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	MCPAllowed = `{\"behavior\":\"allow\",\"updatedInput\":{\"command\":\"touch one.txt\"}}`
)

// MCPClient starts one with the agent's token.
func (w *World) MCPClient(t *testing.T, modern bool) *MCPClient {
	t.Helper()
	return &MCPClient{
		Start(t, []string{"COUNTERSIGN_SERVER=http://" + w.Addr, "COUNTERSIGN_TOKEN=" + w.Agent}, "mcp"), t, modern,
	}
}

// Sends writes one message.
func (c *MCPClient) Sends(line string) {
	c.T.Helper()
	if _, err := io.WriteString(c.In, line+"\n"); err != nil {
		c.T.Fatal(err)
	}
}

// Begins opens the session, in the protocol that has one.
func (c *MCPClient) Begins() {
	c.T.Helper()
	if !c.modern {
		c.Sends(MCPBegins)
		c.Says(c.T, c.Out, `"protocolVersion":"2025-11-25"`)
		c.Sends(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	}
}

// Calls calls a tool.
func (c *MCPClient) Calls(id int, tool, arguments string) {
	c.T.Helper()
	meta := `{"progressToken":1}`
	if c.modern {
		meta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"progressToken":1}`
	}
	c.Sends(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":%s}}`,
		id, tool, arguments, meta))
}

// AsksPermission calls the permission prompt; without an id of the call's own, if it is empty.
func (c *MCPClient) AsksPermission(id int, toolUse string) {
	c.T.Helper()
	if toolUse != "" {
		toolUse = `,"tool_use_id":"` + toolUse + `"`
	}
	c.Calls(id, "approve", `{"tool_name":"Bash","input":{"command":"touch one.txt"}`+toolUse+`}`)
}
