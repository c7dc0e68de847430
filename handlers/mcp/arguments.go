package mcp

import (
	"bytes"
	stdjson "encoding/json"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign/models"
)

// arguments reads those of a call strictly; the error names the wrong member.
func arguments[In any](params *sdk.CallToolParamsRaw) (in In, err error) {
	return in, decode(params.Arguments, &in, json.RejectUnknownMembers(true))
}

// openArguments reads those of a call whose client may send members that we do not know.
func openArguments[In any](params *sdk.CallToolParamsRaw) (in In, err error) {
	return in, decode(params.Arguments, &in)
}

func decode(raw []byte, in any, opts ...json.Options) error {
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	err := json.Unmarshal(raw, in, opts...)
	if err == nil {
		return nil
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok && semantic.JSONPointer != "" {
		if errors.Is(err, json.ErrUnknownName) {
			return models.Invalid("arguments", "contain a member that this tool does not take")
		}
		return models.Invalid(string(semantic.JSONPointer[1:]), "is of the wrong type")
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return models.Invalid("arguments", "contain the same member twice")
	}
	return models.Invalid("arguments", "must be one JSON object")
}

// isObject reports whether a value is a JSON object.
func isObject(v jsontext.Value) bool { return v.Kind() == '{' }

// keyOf is the name that the pipe gave a call, so that it can be sent again; empty: none.
func keyOf(params *sdk.CallToolParamsRaw) string {
	key, _ := params.Meta[MetaKey].(string)
	return key
}

// encode writes JSON without the escapes for browsers, which have no use here.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := stdjson.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
