package condition

import (
	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"
)

// namingPrograms hands the texts that a condition holds to the commands that it reads: it may
// know a program that no list knows.
func namingPrograms(texts []string) cel.ProgramOption {
	return cel.CustomDecoratorV2(func(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
		if call, ok := i.(interpreter.InterpretableCall); ok && call.OverloadID() == overloadCommand {
			return namingCall{call, texts}, nil
		}
		return i, nil
	})
}

// namingCall is a call of command().
type namingCall struct {
	interpreter.InterpretableCall

	texts []string
}

// Eval reads the command.
func (n namingCall) Eval(vars interpreter.Activation) ref.Val {
	return n.naming(n.InterpretableCall.Eval(vars))
}

// Exec reads the command.
func (n namingCall) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	return n.naming(n.InterpretableCall.Exec(frame))
}

func (n namingCall) naming(v ref.Val) ref.Val {
	o, ok := v.(opaque)
	if !ok {
		return v
	}
	c, ok := o.value.(*command)
	if !ok {
		return v
	}
	clone := *c
	clone.names = n.texts
	return opaque{commandType, &clone}
}
