package condition_test

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"countersign/models/condition"
)

// A decimal is the number that was written: no digit is lost, and what is not written as a number has no answer.
func TestDecimals(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		source, input string
		want          condition.Result
	}{
		{`decimal(input.n) > decimal("100")`, `{"n":"100.01"}`, yes},
		{`decimal(input.n) > decimal("100")`, `{"n":"100.00"}`, no},
		{`decimal(input.n) > decimal("100")`, `{"n":100.01}`, yes},
		{`decimal(input.n) > decimal(100)`, `{"n":101}`, yes},
		{`decimal(input.n) > decimal(100u)`, `{"n":18446744073709551615}`, yes},
		{`decimal(input.n) >= decimal("100")`, `{"n":"1e2"}`, yes},
		{`decimal(input.n) < decimal("0")`, `{"n":"-0.00"}`, no},
		{`decimal(input.n) < decimal("-5")`, `{"n":"-10"}`, yes},
		{`decimal(input.n) < decimal("-0.5")`, `{"n":"-0.49"}`, no},
		{`decimal(input.n) <= decimal("9")`, `{"n":"10"}`, no},
		{`decimal(input.n) == decimal("5")`, `{"n":"5.0"}`, yes},
		{`decimal(input.n) == decimal("5")`, `{"n":5}`, yes},
		{`decimal(input.n) != decimal("5")`, `{"n":"5.0"}`, no},
		{`decimal(input.n) != decimal("5")`, `{"n":"50"}`, yes},
		{`decimal(input.n) == decimal("0.3")`, `{"n":0.30000000000000004}`, no},
		{`decimal(input.n) > decimal("9007199254740992")`, `{"n":"9007199254740993"}`, yes},
		{`decimal(input.n) > decimal("99999999999999999999999999.9")`, `{"n":"100000000000000000000000000"}`, yes},
		{`decimal(input.n).between("1", "5")`, `{"n":"1.0"}`, yes},
		{`decimal(input.n).between("1", "5")`, `{"n":5}`, yes},
		{`decimal(input.n).between("1", "5")`, `{"n":"5.01"}`, no},
		{`decimal(input.n).between("-5", "-1")`, `{"n":"-0.99"}`, no},
		{`!decimal(input.n).between("1", "5")`, `{"n":"x"}`, un},
		{`input.all(n, decimal(n) < decimal("10"))`, `["1", 2, 9.99]`, yes},
		{`decimal(input.?n.orValue(0)) > decimal("1")`, `{}`, no},
		{`decimal(input.n) > decimal("100")`, `{}`, un},
		{`decimal(input.n) > decimal(input.m)`, `{"n":"2","m":1}`, yes},
	} {
		if got := judge(t, tt.source, tt.input); got.Result != tt.want {
			t.Errorf("%s of %s: %+v, want %d", tt.source, tt.input, got, tt.want)
		}
	}
	for _, text := range []string{
		``, ` 5`, `5 `, `5 EUR`, `1,000`, `1.000,50`, `1 000`, `+5`, `.5`, `5.`, `05`, `0x10`, `1e`, `1e5.0`, `1e9999999`, `--5`, `٥`, `５`, `NaN`, `Infinity`,
		`5\n`, strings.Repeat("9", 401),
	} {
		for _, source := range []string{`decimal(input.n) > decimal("1")`, `decimal(input.n) == decimal("5")`, `!(decimal(input.n) <= decimal("1"))`} {
			if got := judge(t, source, `{"n":"`+text+`"}`); got.Result != un || got.Why == "" {
				t.Errorf("%s of %.20q: %+v", source, text, got)
			}
		}
	}
	for _, value := range []string{`null`, `true`, `[5]`, `{"n":5}`, `1e400`, `0.1000000000000000055511151231257827`} {
		if got := judge(t, `decimal(input.n) > decimal("1")`, `{"n":`+value+`}`); got.Result != un {
			t.Errorf("%s: %+v", value, got)
		}
	}
}

// A decimal beside something that is no decimal would be false without a word, so it is refused, in words that say
// what to write.
func TestDecimalsThatAreRefused(t *testing.T) {
	t.Parallel()
	const onlyDecimals = "can only be compared with another one"
	for source, want := range map[string]string{
		`decimal(input.n) > 100`:                             "“>” does not work",
		`decimal(input.n) > "100"`:                           "“>” does not work",
		`100 < decimal(input.n)`:                             "“<” does not work",
		`input.n > decimal("5")`:                             onlyDecimals,
		`decimal(input.n) > input.m`:                         onlyDecimals,
		`input.n == decimal("5")`:                            onlyDecimals,
		`decimal("5") == input.n`:                            onlyDecimals,
		`input.n != decimal("5")`:                            onlyDecimals,
		`input.n == dyn(decimal("5"))`:                       onlyDecimals,
		`input.n in [decimal("5")]`:                          onlyDecimals,
		`decimal("5") in input.n`:                            onlyDecimals,
		`[input.n] == [decimal("5")]`:                        onlyDecimals,
		`input.n == {"a": decimal("5")}`:                     onlyDecimals,
		`input.n == (input.m ? decimal("5") : decimal("6"))`: onlyDecimals,
		`input.ns.map(n, decimal(n)) == input.ms`:            onlyDecimals,
		`[decimal("5")].exists(d, d == input.n)`:             onlyDecimals,
		`optional.of(decimal("5")) == input.n`:               onlyDecimals,
		`type(decimal(input.n)) == string`:                   onlyDecimals,
		`decimal(decimal(input.n)) > decimal("5")`:           onlyDecimals,
		`decimal(input.n)`:                                   "must be true or false, and is a decimal",
		`decimal(input.n) + decimal("5") > decimal("6")`:     "“+” does not work",
		`decimal(input.n) > decimal("1,000")`:                "decimal() needs a number",
		`decimal(input.n) > decimal("5 EUR")`:                "decimal() needs a number",
		`decimal(input.n) > decimal(true)`:                   "decimal() needs a number",
		`decimal(input.n) > decimal(0.5)`:                    "in quotation marks",
		`decimal(input.n * 2) > decimal("5")`:                "does not calculate",
		`decimal(input.n + input.m) > decimal("5")`:          "does not calculate",
		`decimal(input.n).between("5", "1")`:                 "must not be greater",
		`decimal(input.n).between("1", "five")`:              "needs two numbers",
		`decimal(input.n).between("1", input.m)`:             "written in the condition itself",
		`decimal(input.n).between(1, 5)`:                     "“between” does not work",
		`true && input.n == decimal("5")`:                    "a decimal can only be compared with another one, as in decimal(input.amount) > decimal(\"100\") (at character 20)",
		`command(input).deletesOutside("tmp")`:               "begins with /",
		`command(input).deletesOutside("/tmp/../x")`:         "begins with /",
		`command(input).deletesOutside(input.folder)`:        "begins with /",
	} {
		_, err := condition.Compile(source)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", source, err, want)
		}
	}
}

// Whole numbers that fit into 64 bits are ordered as they are by themselves, in every spelling.
func TestDecimalsAreOrdered(t *testing.T) {
	t.Parallel()
	c, err := condition.Compile(`decimal(input.a) < decimal(input.b)`)
	if err != nil {
		t.Fatal(err)
	}
	number := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-2000, 2000))
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		spell := func(n int64) string {
			text := strconv.FormatInt(n, 10)
			spellings := []string{text, `"` + text + `"`, `"` + text + `.000"`}
			if n != 0 { // 000e-2 is not written as a number
				spellings = append(spellings, `"`+text+`00e-2"`)
			}
			return rapid.SampledFrom(spellings).Draw(t, "spelling")
		}
		got := c.Judge(call(`{"a":` + spell(a) + `,"b":` + spell(b) + `}`))
		if (got.Result == yes) != (a < b) || got.Result == un {
			t.Errorf("%d < %d: %+v", a, b, got)
		}
	})
}
