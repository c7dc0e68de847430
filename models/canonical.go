package models

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// What may be sent (ARCHITECTURE.md, "Limits"), in bytes unless said.
const (
	MaxForm         = 1 << 20
	MaxInput        = 4 << 20
	MaxBody         = MaxInput + MaxForm // of programs: an input, and the members beside it
	MaxBeginning    = 256 << 10          // kept of an input that is longer than MaxInput
	MaxDrawn        = 256 << 10          // of a text, that a page shows whole
	MaxDepth        = 64                 // levels
	MaxInputMembers = 1 << 16            // of all objects in an input: each costs hundreds of bytes while it is sorted
	MaxDescription  = 2000
	MaxContext      = 16 << 10
	MaxPreview      = 16 << 10
	MaxReason       = 4000
	MaxAnswer       = 16 << 10
	MaxName         = 200
	MaxTitle        = 120 // characters
	MaxOptions      = 50

	MaxEnergy     = 1_000_000_000 // units that one response may consume
	DefaultEnergy = 1             // units, where nothing is said
)

// weighed is how much of an input counts as one ask, or as one reported event.
const weighed = 256 << 10

// Weight is how many asks or events something with an input of so many bytes counts as.
func Weight(input int) int { return 1 + max(0, input-1)/weighed }

// CheckInputSize refuses an input that has more than MaxInput bytes: CodeTooLarge, with the field.
func CheckInputSize(field string, bytes int) error { return checkSize(field, bytes, MaxInput) }

// CheckEditSize is CheckInputSize for an input that a person gives, and others sign: a page
// shows all of it, MaxDrawn bytes.
func CheckEditSize(field string, bytes int) error { return checkSize(field, bytes, MaxDrawn) }

func checkSize(field string, bytes, most int) error {
	if bytes <= most {
		return nil
	}
	return &Error{Code: CodeTooLarge, Text: "The input is too large.", Fields: map[string]string{
		field: fmt.Sprintf("is %d bytes long; at most %d are allowed", bytes, most),
	}}
}

// SameJSON reports whether two texts are JSON that means the same.
func SameJSON(a, b string) bool {
	one, err := CanonicalJSON("input", []byte(a))
	if err != nil {
		return false
	}
	other, err := CanonicalJSON("input", []byte(b))
	return err == nil && bytes.Equal(one, other)
}

// CanonicalJSON returns the canonical form of one JSON value: members sorted,
// white space out, strings normalised, number literals kept as sent. RFC 8785's
// numbers would give 9007199254740993 and …992 one digest, so they are not used.
// Duplicate members, lone surrogates, invalid UTF-8, more than MaxDepth levels
// and more than MaxInputMembers members are refused with an error that names field.
func CanonicalJSON(field string, raw []byte) ([]byte, error) {
	switch deepest, members := extent(raw); {
	case deepest > MaxDepth:
		return nil, Invalid(field, "is nested %d levels deep; at most %d are allowed", deepest, MaxDepth)
	case members > MaxInputMembers:
		return nil, Invalid(field, "has %d members; at most %d are allowed", members, MaxInputMembers)
	}
	return canonical(field, raw)
}

// canonical is CanonicalJSON however deep and of however many members.
func canonical(field string, raw []byte) ([]byte, error) {
	v := jsontext.Value(bytes.Clone(raw))
	err := v.Format(
		jsontext.AllowDuplicateNames(false),
		jsontext.AllowInvalidUTF8(false),
		jsontext.ReorderRawObjects(true),
		jsontext.CanonicalizeRawInts(false),
		jsontext.CanonicalizeRawFloats(false),
		jsontext.PreserveRawStrings(false),
		jsontext.Multiline(false),
		jsontext.SpaceAfterColon(false),
		jsontext.SpaceAfterComma(false),
	)
	if err != nil {
		return nil, Invalid(field, "must be one JSON value: %s", jsonProblem(err))
	}
	return v, nil
}

// jsonProblem describes a mistake in JSON without echoing the text.
func jsonProblem(err error) string {
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return "an object has the same member twice"
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Sprintf("wrong at byte %d (bad syntax, text that is not UTF-8, or a lone surrogate)", syntax.ByteOffset)
	}
	return "bad syntax"
}

// extent counts the deepest nesting of arrays and objects, and the members of all objects,
// without parsing more than brackets, colons and strings.
func extent(raw []byte) (deepest, members int) {
	level, inString := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			level++
			deepest = max(deepest, level)
		case c == '}' || c == ']':
			level--
		case c == ':':
			members++
		}
	}
	return deepest, members
}

// Canonical is what a digest is made over: the canonical bytes of an object of
// the kind, the tool's name and its input, or of the kind and the content.
func Canonical(kind Kind, toolName string, input []byte) ([]byte, error) {
	canonical, err := CanonicalJSON("input", input)
	if err != nil {
		return nil, err
	}
	name, err := jsontext.AppendQuote(nil, toolName)
	if err != nil {
		return nil, Invalid("toolName", "must be valid UTF-8")
	}
	out := make([]byte, 0, len(canonical)+len(name)+48)
	out = append(out, `{"input":`...)
	out = append(out, canonical...)
	out = append(out, `,"kind":"`...)
	out = append(out, kind...)
	out = append(out, `","toolName":`...)
	out = append(out, name...)
	return append(out, '}'), nil
}

// CanonicalContent is Canonical for kinds that carry text instead of a call.
func CanonicalContent(kind Kind, content string) ([]byte, error) {
	text, err := jsontext.AppendQuote(nil, content)
	if err != nil {
		return nil, Invalid("content", "must be valid UTF-8")
	}
	out := append([]byte(`{"content":`), text...)
	out = append(out, `,"kind":"`...)
	out = append(out, kind...)
	return append(out, `"}`...), nil
}

// Digest is the lower-case hexadecimal SHA-256 of canonical bytes.
func Digest(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:])
}
