package condition

import (
	"time"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// Call is what conditions read of one call. It is used by one goroutine.
type Call struct {
	Tool         string
	Agent, Owner string // the agent's name, and its owner's e-mail
	Conversation string // as the agent names it
	Kind         string
	Now          time.Time // when the call was asked about, in the zone whose hours and days count
	// Input is the call's input as JSON; nothing: an empty object.
	Input []byte
	// Removed says that the contents were removed, so that nothing that reads them can be judged.
	Removed bool

	input any // decoded; nil: not yet
	spent uint64

	command ref.Val // the input, read as a command; nil: not yet
}

// ResolveName gives the value of a name in a condition.
func (c *Call) ResolveName(name string) (any, bool) {
	switch name {
	case varTool:
		return c.Tool, true
	case varInput:
		if c.input == nil {
			c.input = c.decoded()
		}
		return c.input, true
	case varAgent:
		return c.Agent, true
	case varOwner:
		return c.Owner, true
	case varConversation:
		return c.Conversation, true
	case varKind:
		return c.Kind, true
	case varNow:
		return types.Timestamp{Time: c.Now}, true
	}
	return nil, false
}

// Parent is nil: there are no other names.
func (c *Call) Parent() interpreter.Activation { return nil }

func (c *Call) decoded() any {
	if c.Removed {
		return failure("the contents of the call were removed")
	}
	if len(c.Input) == 0 {
		return map[string]any{}
	}
	value := decode(c.Input)
	if members, ok := value.(map[string]any); ok {
		return inputValue{types.NewStringInterfaceMap(types.DefaultTypeAdapter, members), c}
	}
	return value
}

// inputValue is an input that knows its call, which reads the command in it only once.
type inputValue struct {
	traits.Mapper

	call *Call
}
