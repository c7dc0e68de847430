package condition_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"countersign/models/condition"
)

func call(input string) *condition.Call {
	return &condition.Call{
		Tool: "payment.send", Agent: "builder", Owner: "ann@example.com", Conversation: "nightly", Kind: "tool_call",
		Now: time.Date(2026, 11, 23, 17, 30, 0, 0, time.FixedZone("", 3600)), Input: []byte(input),
	}
}

func judge(t *testing.T, source, input string) condition.Outcome {
	t.Helper()
	c, err := condition.Compile(source)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return c.Judge(call(input))
}

const (
	yes = condition.True
	no  = condition.False
	un  = condition.Failed
)

// A condition is true, false, or neither: a type that does not fit, a member that is
// missing and a number that can't be compared exactly are neither.
func TestConditionsOfACall(t *testing.T) {
	for _, tt := range []struct {
		source, input string
		want          condition.Result
		why           string
	}{
		{source: `tool.startsWith("payment.") && input.amount > 100`, input: `{"amount":101}`, want: yes},
		{source: `input.amount > 100`, input: `{"amount":99}`, want: no},
		{source: `input.amount > 100`, input: `{"amount":"101"}`, want: un, why: "another type"},
		{source: `input.amount > 100`, input: `{"amount":100.01}`, want: yes},
		{source: `input.amount > 100`, input: `{"amount":1e2}`, want: no},
		{source: `input.amount > 100`, input: `{"amount":1.1e2}`, want: yes},
		{source: `input.amount > 100`, input: `{"amount":null}`, want: un, why: "another type"},
		{source: `input.amount > 100`, input: `{"amount":[101]}`, want: un, why: "another type"},
		{source: `input.amount > 100`, input: `{}`, want: un, why: "missing"},
		{source: `input.amount > 100`, input: ``, want: un, why: "missing"},
		{source: `input.amount > 100`, input: `[]`, want: un, why: ""},
		{source: `input.amount > 100`, input: `"text"`, want: un, why: ""},
		{source: `input.amount > 100`, input: `{"amount":9007199254740993}`, want: yes},
		{source: `input.amount == 9007199254740993`, input: `{"amount":9007199254740992}`, want: no},
		{source: `input.amount > 100`, input: `{"amount":18446744073709551615}`, want: yes},
		{source: `input.amount > 100`, input: `{"amount":18446744073709551616}`, want: un, why: "too large"},
		{source: `input.amount > 100`, input: `{"amount":-99999999999999999999}`, want: un, why: "too large"},
		{source: `input.amount > 100`, input: `{"amount":0.1000000000000000055511151231257827}`, want: un, why: "too many digits"},
		{source: `input.amount > 100`, input: `{"amount":1e400}`, want: un, why: "too many digits"},
		{source: `input.amount > 0`, input: `{"amount":1e-400}`, want: un, why: "too many digits"},
		{source: `input.amount > 100`, input: `{"amount":100.10}`, want: yes},
		{source: `input.amount < 0`, input: `{"amount":-0.0}`, want: no},
		{source: `input.amount > 100`, input: `{"amount":50,"id":123456789012345678901234567890}`, want: no},
		{source: `input.ids.exists(i, i == 1)`, input: `{"ids":[99999999999999999999, 1]}`, want: yes},
		{source: `input.ids.all(i, i < 5)`, input: `{"ids":[99999999999999999999]}`, want: un, why: "too large"},
		{source: `has(input.amount) && input.amount > 100`, input: `{}`, want: no},
		{source: `has(input.a.b)`, input: `{"a":"text"}`, want: un, why: ""},
		{source: `!has(input.a.b)`, input: `{"a":7}`, want: un, why: ""},
		{source: `input.?amount.orValue(0) > 100`, input: `{}`, want: no},
		{source: `input[?"amount"].orValue(500) > 100`, input: `{}`, want: yes},
		{source: `input.?amount.orValue(0) > 100`, input: `{"amount":99999999999999999999}`, want: un, why: "too large"},
		{source: `input.items[2].price > 1`, input: `{"items":[{"price":2}]}`, want: un, why: "missing"},
		{source: `input.amount / input.parts > 1`, input: `{"amount":4,"parts":0}`, want: un, why: "by zero"},
		{source: `input.amount * 2 > 1`, input: `{"amount":9223372036854775807}`, want: un, why: "too large"},
		{source: `input.approved`, input: `{"approved":true}`, want: yes},
		{source: `input.approved`, input: `{"approved":"true"}`, want: un, why: "neither"},
		{source: `input.missing || true`, input: `{}`, want: yes},
		{source: `input.missing && false`, input: `{}`, want: no},
		{source: `agent == "builder" && owner.endsWith("@example.com")`, want: yes},
		{source: `conversation == "nightly" && kind == "tool_call"`, want: yes},
		{source: `now.getHours() >= 17 && now.getDayOfWeek() == 1`, want: yes},
		{source: `now.getHours("UTC") == 16`, want: yes},
		{source: `now > timestamp("2026-11-23T16:29:59Z")`, want: yes},
		{source: `input.name.matches("^[a-z]+$")`, input: `{"name":"abc"}`, want: yes},
		{source: `input.name == "é"`, input: `{"name":"\u00e9"}`, want: yes},
		{source: `input.a == {"b": [1, 2.0]}`, input: `{"a":{"b":[1,2]}}`, want: yes},
		{source: `type(input) == map`, input: `{}`, want: yes},
	} {
		out := judge(t, tt.source, tt.input)
		if out.Result != tt.want || !strings.Contains(out.Why, tt.why) || (out.Why == "") != (out.Result != un) {
			t.Errorf("%s of %s is %+v; want %d, %q", tt.source, tt.input, out, tt.want, tt.why)
		}
	}
}

// What a condition says of why it failed repeats nothing that the agent sent.
func TestAFailureRepeatsNothingOfTheCall(t *testing.T) {
	const secret = "hunter2"
	for _, source := range []string{
		`input[input.k] == 1`, `timestamp(input.k) > now`, `int(input.k) > 1`, `duration(input.k) > duration("1s")`, `now.getHours(input.k) > 1`,
		`bool(input.k)`, `double(input.k) > 1.0`, `uint(input.k) > 1u`, `command(input.k).program == "" && false || host(input.k) == ""`,
		`path(input.k).within("/")`, `[1][input.k] == 1`, `{"a": 1}[input.k] == 1`, `input.k.x == 1`, `-input.k == 1`,
	} {
		out := judge(t, source, `{"k":"`+secret+`"}`)
		if out.Result != un || strings.Contains(out.Why, secret) {
			t.Errorf("%s: %+v", source, out)
		}
	}
}

// What is wrong is refused with words that say where.
func TestConditionsThatAreRefused(t *testing.T) {
	for _, tt := range []struct{ source, want string }{
		{``, "true or false"},
		{`  `, "true or false"},
		{`input.amount >`, "at character"},
		{`amount > 100`, "I don't understand “amount” here (at character 1). There are tool"},
		{"true &&\namount > 100", "in line 2 at character 1"},
		{`tool > 100`, "“>” does not work for text, number"},
		{`"text"`, "must be true or false, and is a text"},
		{`1 + 1`, "must be true or false, and is a number"},
		{`[true]`, "is a list"},
		{`input.name.matches(input.pattern)`, "written in the condition itself"},
		{`matches(input.name, input.pattern)`, "written in the condition itself"},
		{`input.name.matches("(")`, "at character"},
		{`input.name.matches("((a{1000}){1000})")`, "at character"},
		{`command(input).programm == "ls"`, "“programm” is not known there"},
		{`path(input.file).inside("/srv")`, "I don't understand “inside” here"},
		{`now > timestamp("yesterday")`, "at character"},
		{strings.Repeat("(", 200) + "true" + strings.Repeat(")", 200), ""},
		{strings.Repeat("true||", 200) + "true", "longer than 1024 bytes"},
		{`countersign.command{}.program == ""`, ""},
	} {
		c, err := condition.Compile(tt.source)
		if err == nil {
			if out := c.Judge(call(`{}`)); out.Result != un {
				t.Errorf("%.60s is taken, and %+v", tt.source, out)
			}
			continue
		}
		if !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.60s: %v; want %q", tt.source, err, tt.want)
		}
	}
}

// A claim of the agent is known as one.
func TestClaimsOfAnAgent(t *testing.T) {
	for source, want := range map[string]string{
		`input.amount > 100`: "[]",
		`kind == "question"`: "[kind]",
		`tool == "a" || conversation == "b" || kind == ""`: "[conversation kind]",
	} {
		c, err := condition.Compile(source)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(c.Claims()); got != want {
			t.Errorf("%s: %s", source, got)
		}
	}
}

// Contents that were removed make a condition fail that reads them, and no other.
func TestRemovedContents(t *testing.T) {
	for source, want := range map[string]condition.Result{`input.amount > 100`: un, `tool == "payment.send"`: yes} {
		c, err := condition.Compile(source)
		if err != nil {
			t.Fatal(err)
		}
		gone := call(`{"amount":500}`)
		gone.Removed = true
		if out := c.Judge(gone); out.Result != want {
			t.Errorf("%s: %+v", source, out)
		}
	}
}

// All conditions of one call share a limit.
func TestConditionsOfOneCallShareALimit(t *testing.T) {
	c, err := condition.Compile(`input.a.all(x, input.a.all(y, x + y < 1000))`)
	if err != nil {
		t.Fatal(err)
	}
	one := call(`{"a":[` + strings.TrimSuffix(strings.Repeat("1,", 100), ",") + `]}`)
	results := map[condition.Outcome]int{}
	for range 30 {
		results[c.Judge(one)]++
	}
	if len(results) != 2 || results[condition.Outcome{Result: yes}] == 0 {
		t.Errorf("%v", results)
	}
}

func BenchmarkCondition(b *testing.B) {
	for _, source := range []string{
		`tool.startsWith("payment.") && input.amount > 100`, `input.amount > 100`, `command(input).program == "git"`, `host(input.url) == "example.com"`,
	} {
		c, err := condition.Compile(source)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(source, func(b *testing.B) {
			one := call(`{"amount":50,"command":"git status","url":"https://example.com/a"}`)
			b.ReportAllocs()
			for range b.N {
				one.Forget()
				c.Judge(one)
			}
		})
	}
}
