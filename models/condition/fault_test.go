package condition_test

import (
	"strings"
	"testing"

	"countersign/models/condition"
)

// saysNoJargon finds words of the libraries, which are for programmers.
func saysNoJargon(t *testing.T, source string, err error) {
	t.Helper()
	for _, jargon := range []string{
		"expecting", "mismatched", "extraneous", "viable", "recognition", "Syntax error", "EOF", "IDENTIFIER", "NUM_", "overload", "undeclared", "macro",
		"ERROR:", "<input>", "literal", "google.", "_ ", "dyn", "reserved",
	} {
		// What was written itself may be repeated.
		if text := err.Error(); strings.Contains(text, jargon) && !strings.Contains(source, jargon) {
			t.Errorf("%q: %q has %q", source, text, jargon)
		}
	}
}

// What is wrong is said in words, at its place, with what may have been meant.
func TestMistakesInWords(t *testing.T) {
	t.Parallel()
	members := condition.Members([][]byte{
		[]byte(`{"currency":"EUR","amount":"103.50","to":{"name":"ann"}}`), []byte(`{"currency":"USD","country":"EUR","amount":7,"odd name":"x"}`),
	})
	for _, tt := range []struct{ source, want string }{
		{`input.currency == EUR`, "I don't understand “EUR” here (at character 19). Did you mean `input.currency == \"EUR\"`?"},
		{`input.currency != EUR`, "I don't understand “EUR” here (at character 19). Did you mean `input.currency != \"EUR\"`?"},
		{`input.country == EUR`, "Did you mean `input.country == \"EUR\"`?"},
		{`input.amount > 100 EUR`, "I don't understand “EUR” here (at character 20). Did you mean `input.currency == \"EUR\"`?"},
		{`input.currency EUR`, "Did you mean `input.currency == \"EUR\"`?"},
		{`input.currency "USD"`, "I don't understand “\"USD\"” here (at character 16). Did you mean `input.currency == \"USD\"`?"},
		{`tool == "pay" &&` + "\n  EUR", "I don't understand “EUR” here (in line 2 at character 3). Did you mean `input.currency == \"EUR\"`?"},
		{`amount > 100`, "I don't understand “amount” here (at character 1). Did you mean `input.amount`?"},
		{`"é😀" == bo && amount`, "I don't understand “bo” here (at character 9). Did you mean `\"bo\"`?"},
		{`input.currency == GBP`, "Did you mean `\"GBP\"`?"},
		{`tool in [pay]`, "Did you mean `\"pay\"`?"},
		{`price > 100`, "I don't understand “price” here (at character 1). There are tool, input"},
		{`foo(1)`, "I don't understand “foo” here (at character 1). There are"},
		{`tool.foo()`, "I don't understand “foo” here (at character 6). There are"},
		{`input.amount >`, "something is missing at the end (at character 15)"},
		{`(tool == "a"`, "a bracket is not closed (at character 13)"},
		{`tool in ["a"`, "a bracket is not closed"},
		{`tool == "a")`, "I don't understand “)” here (at character 12)"},
		{`tool == "a`, "the text that begins here has no end"},
		{`tool == "a\q"`, "has a \\ that is not known"},
		{`tool == “a”`, "I don't understand ““” here (at character 9). Texts are written in straight quotation marks: \"x\""},
		{`tool = "a"`, "I don't understand “=” here (at character 6). Did you mean `==`?"},
		{`input.amount => 5`, "I don't understand “=>” here (at character 14). Did you mean `>=`?"},
		{`tool == "a" and agent == "b"`, "I don't understand “and” here (at character 13). Did you mean `&&`?"},
		{`tool is "a"`, "Did you mean `==`?"},
		{`input.amount == 1,000`, "I don't understand “,” here (at character 18)"},
		{`if tool`, "I don't understand “if” here (at character 1)"},
		{`@`, "I don't understand “@” here (at character 1)"},
		{"tool == \u202e", "I don't understand “\\u202e” here (at character 9)"},
		{`tool == ` + strings.Repeat("x", 200), "I don't understand “" + strings.Repeat("x", 40) + "…” here"},
		{`input.amount == 99999999999999999999`, "this number is too large (at character 17)"},
		{`now > timestamp("yesterday")`, "timestamp() can't read its text (at character 17)"},
		{`input.a.matches("(")`, "matches() can't read its text (at character 17)"},
		{`has(tool)`, "has() needs a member, as in has(input.amount) (at character 5)"},
		{`input.all(1, true)`, "must be a simple name"},
		{`tool in "x"`, "“in” does not work for text, text (at character 6)"},
		{`tool.startsWith(1)`, "“startsWith” does not work for text, number (at character 6)"},
		{`decimal(input.a) > 100`, "“>” does not work for decimal, number"},
		{`command().program == "x"`, "“command” needs a value in its brackets (at character 1)"},
		{`true ? 1 : "x"`, "does not work for true or false, number, text"},
		{`tool == 7`, "“==” does not work for text, number"},
		{strings.Repeat("(", 200) + "true" + strings.Repeat(")", 200), "too many brackets in each other"},
	} {
		_, err := condition.Compile(tt.source)
		if err == nil {
			t.Errorf("%s is taken", tt.source)
			continue
		}
		if got := condition.Explain(err, tt.source, members); !strings.Contains(got, tt.want) {
			t.Errorf("%.60s: %s; want %s", tt.source, got, tt.want)
		}
		saysNoJargon(t, tt.source, err)
	}
	_, err := condition.Compile(`input.currency == EUR`)
	if got := condition.Explain(err, `input.currency == EUR`, nil); !strings.Contains(got, "Did you mean `\"EUR\"`?") {
		t.Errorf("without calls: %s", got)
	}
	_, err = condition.Compile(``)
	if got := condition.Explain(err, ``, members); got != err.Error() {
		t.Errorf("of the whole: %s", got)
	}
}
