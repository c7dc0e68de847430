package condition

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// The overloads of decimals, as they are charged.
const (
	overloadDecimal = "decimal_dyn"
	overloadBetween = "decimal_between_string_string"
)

const (
	funcDecimal = "decimal"
	funcBetween = "between"
)

// decimalType has an order: the library compares whatever has that trait.
var decimalType = cel.ObjectType("countersign.decimal", traits.ComparerType)

// decimals are the functions of exact numbers. The comparisons need no bindings: the library asks the values.
func decimals() []cel.EnvOption {
	options := []cel.EnvOption{
		cel.Function(funcDecimal,
			cel.Overload(overloadDecimal, []*cel.Type{cel.DynType}, decimalType, cel.UnaryBinding(decimalOf))),
		cel.Function(funcBetween,
			cel.MemberOverload(overloadBetween, []*cel.Type{decimalType, cel.StringType, cel.StringType}, cel.BoolType,
				cel.FunctionBinding(decimalBetween))),
	}
	for name, overload := range map[string]string{
		operators.Greater: "greater_decimal", operators.GreaterEquals: "greater_equals_decimal",
		operators.Less: "less_decimal", operators.LessEquals: "less_equals_decimal",
	} {
		options = append(options, cel.Function(name,
			cel.Overload(overload, []*cel.Type{decimalType, decimalType}, cel.BoolType)))
	}
	return options
}

// decimal is a number as its digits say it: no digit is lost, and nothing is calculated.
type decimal struct {
	negative bool
	digits   string // without zeros at the ends; empty: the number is 0
	exponent int    // the power of ten that the digits are multiplied by
}

// decimalText is how JSON writes a number. Whatever else may look like one, as 1,000, 0x10 or 010, programs read
// differently.
var decimalText = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,6})?$`)

// ReadsAsNumber reports whether decimal() takes a text.
func ReadsAsNumber(text string) bool {
	_, ok := readDecimal(text)
	return ok
}

// CompareNumbers is -1, 0 or 1 as the first of two texts that read as numbers is less than the second, the same or more.
func CompareNumbers(a, b string) int {
	one, _ := readDecimal(a)
	other, _ := readDecimal(b)
	return one.compare(other)
}

func readDecimal(text string) (decimal, bool) {
	if len(text) > maxDecimals || !decimalText.MatchString(text) {
		return decimal{}, false
	}
	digits, exponent, ok := scientific(text)
	if !ok {
		return decimal{}, false
	}
	if digits == "0" {
		return decimal{}, true
	}
	digits, negative := strings.CutPrefix(digits, "-")
	return decimal{negative, digits, exponent}, true
}

// compare orders two numbers: by sign, then by how many digits they have before the point, then digit by digit.
func (d decimal) compare(other decimal) int {
	sign := func(d decimal) int {
		switch {
		case d.digits == "":
			return 0
		case d.negative:
			return -1
		}
		return 1
	}
	if order := cmp.Compare(sign(d), sign(other)); order != 0 {
		return order
	}
	order := cmp.Or(
		cmp.Compare(d.exponent+len(d.digits), other.exponent+len(other.digits)),
		cmp.Compare(d.digits, other.digits),
	)
	if d.negative {
		return -order
	}
	return order
}

// decimalOf reads a number, or a text that is written as one.
func decimalOf(v ref.Val) ref.Val {
	var text string
	switch v := v.(type) {
	case types.String:
		text = string(v)
	case types.Int:
		text = strconv.FormatInt(int64(v), 10)
	case types.Uint:
		text = strconv.FormatUint(uint64(v), 10)
	case types.Double:
		text = strconv.FormatFloat(float64(v), 'g', -1, 64)
	default:
		return failure("a value is neither a number nor a text that is written as one")
	}
	d, ok := readDecimal(text)
	if !ok {
		return failure("a text is not written as a number")
	}
	return decimalValue{opaque{decimalType, d}}
}

// decimalValue is a decimal in a condition.
type decimalValue struct{ opaque }

// Compare orders two decimals.
func (v decimalValue) Compare(other ref.Val) ref.Val {
	one, ok := v.value.(decimal)
	two, isDecimal := other.Value().(decimal)
	if !ok || !isDecimal {
		return failure(otherType)
	}
	return types.Int(one.compare(two))
}

// Equal reports whether two decimals are the same number, however they are written.
func (v decimalValue) Equal(other ref.Val) ref.Val {
	order := v.Compare(other)
	if n, ok := order.(types.Int); ok {
		return types.Bool(n == 0)
	}
	return order
}

// decimalBetween reports whether a decimal is one of two numbers or between them.
func decimalBetween(args ...ref.Val) ref.Val {
	d, ok := args[0].Value().(decimal)
	low, isLow := textOf(args[1])
	high, isHigh := textOf(args[2])
	if !ok || !isLow || !isHigh {
		return failure(otherType)
	}
	from, isLow := readDecimal(low)
	to, isHigh := readDecimal(high)
	if !isLow || !isHigh {
		return failure("a text is not written as a number")
	}
	return types.Bool(from.compare(d) <= 0 && d.compare(to) <= 0)
}

// orders are the operators that compare decimals.
var orders = []string{
	operators.Greater, operators.GreaterEquals, operators.Less, operators.LessEquals, operators.Equals, operators.NotEquals,
}

// calculations are the operators whose result is not a number that somebody wrote.
var calculations = []string{operators.Add, operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo}

// numberMistake is the mistake in the argument of decimal(), in words.
func numberMistake(arg ast.Expr) string {
	switch arg.Kind() { //nolint:exhaustive // the value of all others is only known of a call
	case ast.CallKind:
		if slices.Contains(calculations, arg.AsCall().FunctionName()) {
			return "decimal() reads one number and does not calculate"
		}
	case ast.LiteralKind:
		switch value := arg.AsLiteral().(type) {
		case types.Int, types.Uint:
		case types.Double:
			return `a number with a point must be in quotation marks to be exact, as in decimal("0.5")`
		default:
			if text, ok := textOf(value); !ok || !ReadsAsNumber(text) {
				return `decimal() needs a number, as in decimal("100.50")`
			}
		}
	}
	return ""
}

// betweenMistake is the mistake in the two numbers of between(), in words.
func betweenMistake(args []ast.Expr) string {
	var numbers []decimal
	for _, arg := range args {
		if arg.Kind() != ast.LiteralKind {
			return "the two numbers of between() must be written in the condition itself, in quotation marks"
		}
		text, _ := textOf(arg.AsLiteral())
		d, ok := readDecimal(text)
		if !ok {
			return `between() needs two numbers in quotation marks, as in between("1", "5")`
		}
		numbers = append(numbers, d)
	}
	if numbers[0].compare(numbers[1]) > 0 {
		return "the first number of between() must not be greater than the second"
	}
	return ""
}
