package agent

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"countersign/handlers/mcp"
)

// piped is one message of an MCP client on its way to the server.
type piped struct {
	id        jsontext.Value // nil: it wants no answer
	method    string
	name      string         // of the tool that is called
	protocol  string         // that it says itself, where the protocol has that
	cancelled jsontext.Value // the call that it gives up
	raw       []byte         // as it is sent
}

const (
	methodInitialize = "initialize"
	methodCall       = "tools/call"
	methodCancelled  = "notifications/cancelled"
)

// parsePiped reads a message. A call gets a name by which it can be sent again (I9).
func parsePiped(line []byte) (piped, error) {
	var whole map[string]jsontext.Value
	if err := json.Unmarshal(line, &whole); err != nil {
		return piped{}, errors.New("must be one JSON object in UTF-8, in which no object has a member twice")
	}
	p := piped{id: whole["id"], raw: line, method: textIn(whole, "method")}
	if p.id.Kind() == 'n' {
		p.id = nil
	}
	params, meta := objectIn(whole, "params"), map[string]jsontext.Value{}
	if params == nil {
		return p, nil
	}
	p.name, p.cancelled = textIn(params, "name"), params["requestId"]
	if sent := objectIn(params, "_meta"); sent != nil {
		meta = sent
	}
	p.protocol = textIn(meta, "io.modelcontextprotocol/protocolVersion")
	if p.method != methodCall {
		return p, nil
	}
	var err error
	if meta[mcp.MetaKey], err = json.Marshal(uuid.NewString()); err != nil {
		return p, err
	}
	if params["_meta"], err = json.Marshal(meta); err != nil {
		return p, err
	}
	if whole["params"], err = json.Marshal(params); err != nil {
		return p, err
	}
	p.raw, err = json.Marshal(whole)
	return p, err
}

// idOf finds the id of a message that is refused, so that its call has an answer: a client
// would wait for it. Nil: there is none, or more than one can be read.
func idOf(line []byte) jsontext.Value {
	var ids []jsontext.Value
	dec := jsontext.NewDecoder(bytes.NewReader(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if begin, err := dec.ReadToken(); err != nil || begin.Kind() != '{' {
		return nil
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil
		}
		isID := name.String() == "id"
		value, err := dec.ReadValue()
		if err != nil {
			break
		}
		if isID {
			ids = append(ids, value.Clone())
		}
	}
	if len(ids) != 1 || ids[0].Kind() != '"' && ids[0].Kind() != '0' || json.Unmarshal(ids[0], new(any)) != nil {
		return nil
	}
	return ids[0]
}

// objectIn is a member that is an object; nil if it is none.
func objectIn(object map[string]jsontext.Value, member string) (inner map[string]jsontext.Value) {
	if object[member].Kind() == '{' {
		_ = json.Unmarshal(object[member], &inner)
	}
	return inner
}

func textIn(object map[string]jsontext.Value, member string) (text string) {
	if object[member].Kind() == '"' {
		_ = json.Unmarshal(object[member], &text)
	}
	return text
}

// again reports whether a message may be sent again when it is not known what became of it. A
// step of a budget would be made twice; all others meet what they made (I9).
func (p piped) again() bool { return p.name != "adjust_budget" }

// failure is the answer to a message that can't be passed on.
func (p piped) failure(text string) []byte {
	id := p.id
	if id == nil {
		id = jsontext.Value("null")
	}
	type failure struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	raw, err := json.Marshal(struct {
		Version string         `json:"jsonrpc"`
		ID      jsontext.Value `json:"id"`
		Error   failure        `json:"error"`
	}{"2.0", id, failure{-32000, text}})
	if err != nil {
		return nil
	}
	return raw
}

// isAnswer reports whether a message of the server's ends a call.
func isAnswer(raw []byte) bool {
	var m struct {
		Version string         `json:"jsonrpc"`
		Method  string         `json:"method"`
		Result  jsontext.Value `json:"result"`
		Error   jsontext.Value `json:"error"`
	}
	return json.Unmarshal(raw, &m) == nil && m.Version == "2.0" && m.Method == "" && (m.Result != nil || m.Error != nil)
}
