package condition

import (
	"errors"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
)

// otherType is the most common reason.
const otherType = "a value is of another type than the condition expects"

// failed is why a value can't be told, in words of ours.
type failed struct{ why string }

func (f failed) Error() string { return f.why }

// failure is an unknown value: anything computed from it is unknown too, unless the result is the same without it.
func failure(why string) ref.Val { return types.WrapErr(failed{why}) }

// whyFailed says in words why a condition is neither true nor false. The library's own
// texts repeat what the call holds, so they are not passed on.
func whyFailed(err error) string {
	if own, ok := errors.AsType[failed](err); ok {
		return own.why
	}
	text := err.Error()
	for _, known := range [...]struct{ part, why string }{
		{"no such key", "a member that it reads is missing"},
		{"no such attribute", "a member that it reads is missing"},
		{"index out of bounds", "an entry that it reads is missing"},
		{"cost limit", "it takes too many steps"},
		{"memory limit", "it takes too much memory"},
		{"cancelled", "it takes too many steps"},
		{"no such overload", otherType},
		{"unsupported index", otherType},
		{"unsupported key type", otherType},
		{"type conversion error", otherType},
		{"by zero", "it divides by zero"},
		{"overflow", "a number gets too large"},
		{"out of range", "a number gets too large"},
		{"optional.none", "a member that it reads is missing"},
	} {
		if strings.Contains(text, known.part) {
			return known.why
		}
	}
	return "a value is not what the condition expects"
}

// typeWord names a type for people.
func typeWord(t *cel.Type) string {
	switch t.Kind() { //nolint:exhaustive // the others are rare, and are named as CEL does
	case types.IntKind, types.UintKind, types.DoubleKind:
		return "a number"
	case types.StringKind:
		return "a text"
	case types.ListKind:
		return "a list"
	case types.MapKind:
		return "an object"
	case types.TimestampKind:
		return "a time"
	case types.DurationKind:
		return "a duration"
	}
	if t.IsExactType(decimalType) {
		return "a decimal"
	}
	return t.TypeName()
}
