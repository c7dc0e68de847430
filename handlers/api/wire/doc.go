// Package wire holds the JSON of the API: the bodies and answers of each route. The server's handlers and the Go
// client share these types, so that the two cannot drift apart. The package imports nothing else of this program.
//
// A type's name says where it belongs: AskRequest is sent, Approval is answered. The tags `doc` and `enum` go into the
// server's OpenAPI document, which explains each member. A pointer is null, or left out, where there is no value.
package wire

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// WriteOptions have raw JSON, such as an input, go out exactly as it came in:
// the handler that took it in has checked it.
var WriteOptions = json.JoinOptions(
	jsontext.PreserveRawStrings(true),
	jsontext.AllowDuplicateNames(true),
	jsontext.AllowInvalidUTF8(true),
)
