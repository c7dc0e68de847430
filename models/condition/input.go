package condition

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"cel.dev/cel-go/common/types"
	"github.com/go-json-experiment/json/jsontext"
)

// maxDecimals bounds the digits of an exact comparison; a float has 17 digits.
const maxDecimals = 400

// maxValues bounds the memory that one input takes while conditions read it: behind
// that it can't be judged.
const maxValues = 1 << 17

var errInput = errors.New("not JSON")

// decode reads JSON into what CEL takes as it is. A number that would not be the same
// afterwards becomes a failure, which is found where it is read.
func decode(raw []byte) any {
	d := &decoder{Decoder: jsontext.NewDecoder(bytes.NewReader(raw)), rest: maxValues}
	value, err := decodeValue(d)
	switch {
	case errors.Is(err, errTooMany):
		return failure("the input has too many values")
	case err != nil:
		return failure("the input is not JSON")
	}
	return value
}

var errTooMany = errors.New("too many values")

// decoder reads at most left more values.
type decoder struct {
	*jsontext.Decoder

	rest int
}

func decodeValue(d *decoder) (any, error) {
	if d.rest--; d.rest < 0 {
		return nil, errTooMany
	}
	switch d.PeekKind() { //nolint:exhaustive // all others are one token
	case '{':
		return decodeObject(d)
	case '[':
		return decodeList(d)
	}
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() { //nolint:exhaustive // the others were read above
	case '"':
		return token.String(), nil
	case '0':
		return number(token.String()), nil
	case 't', 'f':
		return token.Bool(), nil
	case 'n':
		return types.NullValue, nil
	}
	return nil, errInput
}

func decodeObject(d *decoder) (any, error) {
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	out := map[string]any{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		if out[key], err = decodeValue(d); err != nil {
			return nil, err
		}
	}
	_, err := d.ReadToken()
	return out, err
}

func decodeList(d *decoder) (any, error) {
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	out := []any{}
	for d.PeekKind() != ']' {
		value, err := decodeValue(d)
		if err != nil {
			return nil, err
		}
		out = append(out, value)
	}
	_, err := d.ReadToken()
	return out, err
}

// number is an integer of 64 bits, or a decimal that a float tells from all others that
// are written as shortly.
func number(text string) any {
	if !strings.ContainsAny(text, ".eE") {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return n
		}
		return failure("a whole number is too large to be compared exactly")
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || len(text) > maxDecimals || !sameNumber(text, strconv.FormatFloat(f, 'g', -1, 64)) {
		return failure("a decimal number has too many digits to be compared exactly")
	}
	return f
}

// sameNumber compares two decimals exactly, without writing out their exponents.
func sameNumber(a, b string) bool {
	digitsA, exponentA, okA := scientific(a)
	digitsB, exponentB, okB := scientific(b)
	return okA && okB && digitsA == digitsB && exponentA == exponentB
}

// scientific writes a decimal as digits without zeros at the ends, with the sign, and the
// power of ten that they are multiplied by.
func scientific(text string) (digits string, exponent int, ok bool) {
	mantissa, power := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		var err error
		if power, err = strconv.Atoi(text[i+1:]); err != nil {
			return "", 0, false
		}
		mantissa = text[:i]
	}
	sign := ""
	if rest, negative := strings.CutPrefix(mantissa, "-"); negative {
		sign, mantissa = "-", rest
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := strings.TrimLeft(whole+fraction, "0")
	power -= len(fraction)
	significant := strings.TrimRight(all, "0")
	if significant == "" {
		return "0", 0, true
	}
	return sign + significant, power + len(all) - len(significant), true
}
