// Package condition judges what a policy's rules say of a call beyond its tool's name:
// CEL expressions (https://cel.dev) over the call, with helpers that read commands, paths
// and addresses. It is pure: no I/O and no clock. What can't be judged is neither true nor
// false, and says why in words that repeat nothing of the call.
package condition

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/types"
)

// Limits of conditions.
const (
	MaxSource   = 1 << 10   // bytes of one condition
	MaxCost     = 100_000   // of judging one condition, in CEL's units: about one for each step
	MaxCallCost = 1_000_000 // of judging all conditions for one call

	maxNodes       = 2_000 // of a condition, macros written out
	maxNesting     = 50
	maxRegexSize   = 300 // instructions of one regular expression
	maxLiveObjects = 1_000_000
)

// The names of what a condition reads.
const (
	varTool         = "tool"
	varInput        = "input"
	varAgent        = "agent"
	varOwner        = "owner"
	varConversation = "conversation"
	varKind         = "kind"
	varNow          = "now"
)

// Condition is a compiled expression. It never changes, and any number of goroutines may
// use it at once.
type Condition struct {
	program cel.Program
	reads   []string // the names of what it reads, sorted
}

// Claims are the names of what the condition reads that are only the agent's word.
func (c *Condition) Claims() []string {
	var out []string
	for _, name := range c.reads {
		if name == varKind || name == varConversation {
			out = append(out, name)
		}
	}
	return out
}

// environment is what all conditions are compiled in.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(
		cel.Variable(varTool, cel.StringType),
		cel.Variable(varInput, cel.DynType),
		cel.Variable(varAgent, cel.StringType),
		cel.Variable(varOwner, cel.StringType),
		cel.Variable(varConversation, cel.StringType),
		cel.Variable(varKind, cel.StringType),
		cel.Variable(varNow, cel.TimestampType),
		cel.OptionalTypes(),
		cel.CrossTypeNumericComparisons(true),
		cel.DefaultUTCTimeZone(false), // hours and days are those of the time that is read
		cel.EnableErrorOnBadPresenceTest(true),
		cel.ParserExpressionSizeLimit(MaxSource),
		cel.ParserRecursionLimit(maxNesting),
		cel.ExpressionNodeLimit(maxNodes),
		cel.RegexProgramSizeLimit(maxRegexSize),
		cel.ASTValidators(cel.ValidateRegexLiterals(), cel.ValidateTimestampLiterals(), cel.ValidateDurationLiterals()),
		helpers(),
	)
})

// Compile reads a condition. The error says in words what a mistake is, and is a *SourceError if it is at one place.
func Compile(source string) (*Condition, error) {
	if len(source) > MaxSource {
		return nil, fmt.Errorf("is longer than %d bytes", MaxSource)
	}
	if strings.TrimSpace(source) == "" {
		return nil, errors.New("must be an expression that is true or false, such as input.amount > 100")
	}
	env, err := environment()
	if err != nil {
		return nil, fmt.Errorf("prepare conditions: %w", err)
	}
	tree, issues := env.Compile(source)
	if issues.Err() != nil {
		return nil, faultOf(source, issues)
	}
	if out := tree.OutputType(); !out.IsExactType(cel.BoolType) && !out.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("must be true or false, and is %s", typeWord(out))
	}
	if err := mistakeIn(source, tree.NativeRep()); err != nil {
		return nil, err
	}
	names, texts := look(tree.NativeRep().Expr())
	program, err := env.Program(tree,
		cel.EvalOptions(cel.OptOptimize),
		cel.CostLimit(MaxCost),
		cel.CostTrackerOptions(costs()...),
		cel.MemoryLimit(maxLiveObjects),
		namingPrograms(texts),
	)
	if err != nil {
		return nil, errors.New("can't be used")
	}
	return &Condition{program: program, reads: names}, nil
}

// look finds which of a call's members are read and which texts are written down.
func look(expr ast.Expr) (names, texts []string) {
	ast.PreOrderVisit(expr, ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() { //nolint:exhaustive // all others have these within them
		case ast.IdentKind:
			if name := e.AsIdent(); !slices.Contains(names, name) {
				names = append(names, name)
			}
		case ast.LiteralKind:
			if text, ok := textOf(e.AsLiteral()); ok {
				texts = append(texts, text)
			}
		}
	}))
	slices.Sort(names)
	return names, texts
}

// Result is what a condition says of a call.
type Result int

// The results. The zero value is Failed: neither true nor false.
const (
	Failed Result = iota
	True
	False
)

// Outcome is a result, and why there is none.
type Outcome struct {
	Result Result
	Why    string // of Failed, for a sentence after a colon; it repeats nothing of the call
}

// Judge says whether the condition is true of a call. It takes time and memory within the
// limits, whatever the call holds, and never panics.
func (c *Condition) Judge(call *Call) (out Outcome) {
	defer func() {
		if recover() != nil {
			out = Outcome{Why: "an error occurred while it was judged"}
		}
	}()
	if c.program == nil {
		return Outcome{Why: "it can no longer be read"}
	}
	if call.spent >= MaxCallCost {
		return Outcome{Why: "the conditions before it took too many steps"}
	}
	value, details, err := c.program.Eval(call)
	if details != nil && details.ActualCost() != nil {
		call.spent += *details.ActualCost()
	}
	switch {
	case err != nil:
		return Outcome{Why: whyFailed(err)}
	case value == types.True:
		return Outcome{Result: True}
	case value == types.False:
		return Outcome{Result: False}
	default:
		return Outcome{Why: "it is neither true nor false"}
	}
}

// costs charges the helpers for what they read.
func costs() []cost.TrackerOption {
	return []cost.TrackerOption{
		cost.OverloadTracker(overloads.MatchesString, chargeMatch), // by its text, whatever the expression
		cost.OverloadTracker(overloadCommand, chargeText),
		cost.OverloadTracker(overloadPath, chargeText),
		cost.OverloadTracker(overloadHost, chargeText),
		cost.OverloadTracker(overloadHas, chargeText),
		cost.OverloadTracker(overloadWithin, chargeText),
		cost.OverloadTracker(overloadDeletes, chargeText),
		cost.OverloadTracker(overloadDecimal, chargeText),
		cost.OverloadTracker(overloadBetween, chargeText),
	}
}

// Unreadable is a condition that fails for every call.
func Unreadable() *Condition { return &Condition{} }
