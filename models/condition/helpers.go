package condition

import (
	"reflect"
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// The overloads of the helpers, as they are charged.
const (
	overloadCommand = "command_dyn"
	overloadHas     = "command_has_string"
	overloadPath    = "path_dyn"
	overloadWithin  = "path_within_string"
	overloadHost    = "host_dyn"
)

// The types that the helpers return.
var (
	commandType = cel.ObjectType("countersign.command")
	pathType    = cel.ObjectType("countersign.path")
)

const (
	fieldProgram  = "program"
	fieldArgs     = "args"
	fieldCommands = "commands"
)

// helpers are the functions that conditions may call besides CEL's own.
func helpers() cel.EnvOption {
	return func(env *cel.Env) (*cel.Env, error) {
		registry, err := types.NewRegistry()
		if err != nil {
			return nil, err
		}
		for _, option := range append([]cel.EnvOption{
			cel.CustomTypeProvider(provider{registry}),
			cel.CustomTypeAdapter(registry),
			allCommands(),
			cel.Function("command",
				cel.Overload(overloadCommand, []*cel.Type{cel.DynType}, commandType, cel.UnaryBinding(commandOf))),
			cel.Function("has",
				cel.MemberOverload(overloadHas, []*cel.Type{commandType, cel.StringType}, cel.BoolType,
					cel.BinaryBinding(commandHas))),
			cel.Function("path", cel.Overload(overloadPath, []*cel.Type{cel.DynType}, pathType, cel.UnaryBinding(pathOf))),
			cel.Function("within",
				cel.MemberOverload(overloadWithin, []*cel.Type{pathType, cel.StringType}, cel.BoolType,
					cel.BinaryBinding(pathWithin))),
			cel.Function("host", cel.Overload(overloadHost, []*cel.Type{cel.DynType}, cel.StringType, cel.UnaryBinding(hostOf))),
			cel.Function(funcDeletes,
				cel.MemberOverload(overloadDeletes, []*cel.Type{commandType, cel.StringType}, cel.BoolType,
					cel.BinaryBinding(deletesOutside))),
		}, decimals()...) {
			if env, err = option(env); err != nil {
				return nil, err
			}
		}
		return env, nil
	}
}

// provider knows the members of what the helpers return besides CEL's own types.
type provider struct{ *types.Registry }

// FindStructType finds a type by its name.
func (p provider) FindStructType(name string) (*types.Type, bool) {
	switch name {
	case commandType.TypeName():
		return types.NewTypeTypeWithParam(commandType), true
	case pathType.TypeName():
		return types.NewTypeTypeWithParam(pathType), true
	case decimalType.TypeName():
		return types.NewTypeTypeWithParam(decimalType), true
	}
	return p.Registry.FindStructType(name)
}

// FindStructFieldNames lists the members of a type.
func (p provider) FindStructFieldNames(name string) ([]string, bool) {
	switch name {
	case commandType.TypeName():
		return []string{fieldProgram, fieldArgs, fieldCommands}, true
	case pathType.TypeName(), decimalType.TypeName():
		return nil, true
	}
	return p.Registry.FindStructFieldNames(name)
}

// FindStructFieldType finds a member of a type.
func (p provider) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	if name != commandType.TypeName() {
		return p.Registry.FindStructFieldType(name, field)
	}
	switch field {
	case fieldProgram:
		return simpleMember(cel.StringType, func(c *command) any { return c.program }), true
	case fieldArgs:
		return simpleMember(cel.ListType(cel.StringType), func(c *command) any { return c.args }), true
	case fieldCommands:
		return memberOf(cel.ListType(commandType), commandsOf), true
	}
	return nil, false
}

// simpleMember is a member of a command, which is known only of a simple one.
func simpleMember(kind *cel.Type, get func(*command) any) *types.FieldType {
	return memberOf(kind, func(c *command) (any, error) {
		if c.unclear != "" {
			return nil, failed{c.unclear}
		}
		if c.doubt != "" && (!c.byName || !slices.Contains(c.names, c.program)) {
			return nil, failed{c.doubt}
		}
		return get(c), nil
	})
}

func memberOf(kind *cel.Type, get func(*command) (any, error)) *types.FieldType {
	return &types.FieldType{
		Type:  kind,
		IsSet: func(any) bool { return true },
		GetFrom: func(target any) (any, error) {
			c, ok := target.(*command)
			if !ok {
				return nil, failed{otherType}
			}
			return get(c)
		},
	}
}

// opaque is a value that conditions can only hand to a helper.
type opaque struct {
	kind  *cel.Type
	value any
}

// ConvertToNative refuses: the value is for the helpers only.
func (opaque) ConvertToNative(reflect.Type) (any, error) {
	return nil, failed{otherType}
}

// ConvertToType knows no other type.
func (o opaque) ConvertToType(to ref.Type) ref.Val {
	if to.TypeName() == types.TypeType.TypeName() {
		return o.kind
	}
	return failure(otherType)
}

// Equal can't be told.
func (opaque) Equal(ref.Val) ref.Val {
	return failure(otherType)
}

// Type is the value's type.
func (o opaque) Type() ref.Type { return o.kind }

// Value is what the helpers read.
func (o opaque) Value() any { return o.value }

// textOf is a text, whatever its value was declared as.
func textOf(v ref.Val) (string, bool) {
	s, ok := v.(types.String)
	return string(s), ok
}

// chargeText charges a call of a helper: what it reads, and a little for the call.
func chargeText(args []ref.Val, _ ref.Val) *uint64 {
	sum := uint64(callCost)
	for _, arg := range args {
		sum += sizeOf(arg)
	}
	return &sum
}

const callCost = 10

// chargeMatch charges a regular expression for the text that it is tried on: one of the
// largest that are taken needs some µs for each KiB.
func chargeMatch(args []ref.Val, _ ref.Val) *uint64 {
	charge := uint64(callCost)
	if len(args) > 0 {
		charge += 2 * sizeOf(args[0])
	}
	return &charge
}

func sizeOf(v ref.Val) uint64 {
	switch v := v.(type) {
	case types.String:
		return uint64(len(v))
	case inputValue:
		if c, ok := v.call.command.(opaque); ok {
			return sizeOf(c)
		}
	case opaque:
		if c, ok := v.value.(*command); ok {
			return uint64(c.size)
		}
	case traits.Mapper:
		if member, why := commandMember(v); why == "" {
			if line := lineOf(member); line != nil {
				return uint64(line.size())
			}
		}
	default:
		if line := lineOf(v); line != nil {
			return uint64(line.size())
		}
	}
	return 1
}
