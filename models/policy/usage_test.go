package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"countersign/models/policy"
)

// Each warning fires where it should, and does not where it must not.
func TestLintWithUsage(t *testing.T) {
	t.Parallel()
	ann, bo, cy := policy.Person{Email: "ann@x", Admin: true, Owns: true}, policy.Person{Email: "bo@x"}, policy.Person{Email: "cy@x", Owns: true}
	for name, c := range map[string]struct {
		rules  string
		tools  []string
		more   bool
		people []policy.Person
		want   string // "path: part of the text", or nothing
	}{
		"matched no tool":                   {`{"name":"a","tools":["pay"],"effect":"require"}`, []string{"pa"}, false, nil, "rules[0]: The rule “a” matches no tool that agents asked about in the last 90 days."},
		"matched one":                       {`{"name":"a","tools":["pay"],"effect":"require"}`, []string{"pay"}, false, nil, ""},
		"nothing was seen":                  {`{"name":"a","tools":["pay"],"effect":"require"}`, nil, false, nil, ""},
		"more was seen":                     {`{"name":"a","tools":["pay"],"effect":"require"},{"name":"b","tools":["/./"],"effect":"require"}`, []string{"x"}, true, nil, "rules[1].tools[0]: nothing"},
		"narrowly misses another case":      {`{"name":"a","tools":["/^pay/"],"effect":"require"}`, []string{"Pay", "pay"}, false, nil, "rules[0].tools[0]: “/^pay/” in the rule “a” narrowly misses “Pay”, which agents asked about. Add"},
		"narrowly misses a similar name":    {`{"name":"a","tools":["pay_out"],"effect":"require"}`, []string{"pay-out", "pay_out"}, false, nil, "rules[0].tools[0]: “pay_out” in the rule “a” narrowly misses “pay-out”"},
		"matches a part only, under allow":  {`{"name":"a","tools":["/list/"],"effect":"allow"}`, []string{"list", "list_all"}, false, nil, "rules[0].tools[0]: “/list/” in the rule “a” narrowly misses “list_all”"},
		"matches a part, under require":     {`{"name":"a","tools":["/list/"],"effect":"require"}`, []string{"list", "list_all"}, false, nil, ""},
		"broader than any use":              {`{"name":"a","tools":["/read_[a-z]+/"],"effect":"allow"}`, []string{"read_file"}, false, nil, "rules[0].tools[0]: “/read_[a-z]+/” in the rule “a” lets through more than was ever used: only “read_file” in the last 90 days. List the names instead."},
		"as broad as the use":               {`{"name":"a","tools":["/read_(file|dir)/"],"effect":"allow"}`, []string{"read_file"}, false, nil, ""},
		"broad, under a condition":          {`{"name":"a","tools":["/read_[a-z]+/"],"effect":"allow","when":"input.x == 1"}`, []string{"read_file"}, false, nil, ""},
		"only unmatched covers":             {`{"name":"a","tools":["pay"],"effect":"require"}`, []string{"pay", "drop"}, false, nil, "unmatched: No rule covers drop, so it runs without approval."},
		"only questions and the like":       {`{"name":"a","tools":["pay"],"effect":"require"}`, []string{"pay", "question", "respond_with_approval", "set_budget", "allow_agent_energy"}, false, nil, ""},
		"a disabled rule":                   {`{"name":"a","tools":["pay"],"effect":"require","disabled":true},{"name":"b","tools":["x"],"effect":"require"}`, []string{"x"}, false, nil, ""},
		"a reviewer who can't sign in":      {`{"name":"a","tools":["x"],"effect":"require","reviewers":["bo@x","gone@x"]}`, []string{"x"}, false, []policy.Person{ann, bo, cy}, "rules[0].reviewers[1]: Nobody who may sign in has the address “gone@x”, which the rule “a” asks. Invite"},
		"reviewers who can":                 {`{"name":"a","tools":["x"],"effect":"require","reviewers":["BO@x"]}`, []string{"x"}, false, []policy.Person{ann, bo, cy}, ""},
		"the only reviewer is who asks":     {`{"name":"a","tools":["x"],"effect":"require","reviewers":["ann@x"]}`, []string{"x"}, false, []policy.Person{ann, bo}, "rules[0].reviewers: The rule “a” only asks ann@x, to whom all agents belong"},
		"high risk, approved by its owner":  {`{"name":"a","tools":["x"],"effect":"require","risk":"high"}`, []string{"x"}, false, []policy.Person{ann, bo}, "rules[0].self_approval: Calls under the rule “a” have high risk, and"},
		"high risk, for one person":         {`{"name":"a","tools":["x"],"effect":"require","risk":"high"}`, []string{"x"}, false, []policy.Person{ann}, ""},
		"medium risk":                       {`{"name":"a","tools":["x"],"effect":"require"}`, []string{"x"}, false, []policy.Person{ann, bo}, ""},
		"high risk, never by its owner":     {`{"name":"a","tools":["x"],"effect":"require","risk":"critical","self_approval":"never"}`, []string{"x"}, false, []policy.Person{ann, bo, {Email: "di@x", Admin: true}}, ""},
		"nobody could approve":              {`{"name":"a","tools":["x"],"effect":"require","reviewers":["gone@x"],"reviewers_only":true}`, []string{"x"}, false, []policy.Person{ann, bo}, "rules[0].reviewers: Nobody could approve"},
		"only the asker could":              {`{"name":"a","tools":["x"],"effect":"require","reviewers":["ann@x"],"reviewers_only":true,"self_approval":"never"}`, []string{"x"}, false, []policy.Person{ann, cy}, "rules[0].self_approval: Requests of ann@x's own agents"},
		"a rule before it, under condition": {`{"name":"a","tools":["x"],"effect":"allow","when":"input.a"},{"name":"b","tools":["x"],"effect":"require"}`, []string{"x"}, false, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := policy.Parse([]byte(`{"rules":[` + c.rules + `]}`))
			if err != nil {
				t.Fatal(err)
			}
			got := policy.LintIn(p.Document(), policy.Usage{Tools: c.tools, More: c.more, People: c.people})
			got = slices.DeleteFunc(got, func(w policy.Warning) bool {
				return slices.Contains(texts(policy.Lint(p.Document())), w.Path+": "+w.Text)
			})
			path, text, _ := strings.Cut(c.want, ": ")
			found := slices.ContainsFunc(got, func(w policy.Warning) bool { return w.Path == path && strings.Contains(w.Text, text) })
			switch {
			case text == "nothing", c.want == "":
				if slices.ContainsFunc(got, func(w policy.Warning) bool { return path == "" || w.Path == path }) {
					t.Errorf("%q", texts(got))
				}
			case !found:
				t.Errorf("%q, want %q", texts(got), c.want)
			}
		})
	}
}

// What an entry matches is what its rule matches.
func TestToolMatches(t *testing.T) {
	t.Parallel()
	tools := []string{"Payment.Send", "payment.refund", "payment.send", "read"}
	for _, c := range []struct {
		entry string
		allow bool
		want  string
	}{
		{`/^payment\./`, false, "{[payment.refund payment.send] [Payment.Send]} "},
		{`payment.send`, false, "{[payment.send] [Payment.Send]} "},
		{`/payment/`, true, "{[] [payment.refund payment.send]} "},
		{`none`, false, "{[] []} "},
		{`/(/`, false, "{[] []} is not a regular expression (RE2): missing closing )"},
	} {
		m, problem := policy.ToolMatches(c.entry, c.allow, tools)
		if got := fmt.Sprint(m, " ", problem); got != c.want {
			t.Errorf("%s: %s, want %s", c.entry, got, c.want)
		}
	}
}
