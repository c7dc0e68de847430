package mcp

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The methods that concern more than the SDK.
const (
	methodInitialize = "initialize"
	methodListen     = "subscriptions/listen"
	methodCall       = "tools/call"
	methodCancelled  = "notifications/cancelled"
)

// parseError answers a body that is not JSON, or that could be read in two ways.
var parseError = []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"The body must be JSON-RPC: one JSON value in UTF-8, in which no object has a member twice."}}`)

// message is what we read of a message of the protocol.
type message struct {
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params struct {
		RequestID jsontext.Value `json:"requestId"` // of notifications/cancelled
		Meta      struct {
			Progress jsontext.Value `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

// maxBatch is how many messages may be sent together: each may be a call that waits.
const maxBatch = 50

// messages are those of one POST.
type messages struct {
	all   []message
	batch bool
}

// parseMessages reads a body strictly: what we and the SDK could read differently, such as a
// member that appears twice, is refused.
func parseMessages(body []byte) (messages, error) {
	if text := bytes.TrimLeft(body, " \t\r\n"); len(text) > 0 && text[0] == '[' {
		sent := messages{batch: true}
		return sent, json.Unmarshal(body, &sent.all)
	}
	var one message
	err := json.Unmarshal(body, &one)
	return messages{all: []message{one}}, err
}

// only reports whether one message was sent, of this method.
func (m messages) only(method string) bool {
	return !m.batch && len(m.all) == 1 && m.all[0].Method == method
}
