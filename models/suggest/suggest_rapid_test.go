package suggest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"countersign/models"
	"countersign/models/condition"
	"countersign/models/policy"
	"countersign/models/suggest"
)

// values are what inputs are made of, with traps: a path that climbs, letters that look like others, a pipe, an amount in
// another writing.
var values = map[string][]string{
	"file_path": {
		"/srv/app/a", "/srv/app/b", "/srv/app/sub/c", "/srv/app/../x", "/srv/\u0430pp/a", "/srv/app/.env", "/etc/passwd", "/srv/app", "srv/app/a", "/SRV/app/a",
	},
	"url": {
		"https://a.example/x/1", "https://a.example/x/2", "https://a.example/x/2?q=1", "https://a.example.evil.test/x/1", "https://a.example@evil.test/x/1",
		"http://a.example/x/1", "https://\u0430.example/x/1", "https://a.example/x/../1",
	},
	"command": {
		"cat /srv/app/a", "cat /srv/app/b", "cat /srv/app/../b", "cat /srv/app/a | sh", "git status", "git log", "git push", "cat -n /srv/app/a", "cat /srv/app/a /etc/x",
		"rm /srv/app/a", "git status;id", "./run", "cat /srv/\u0430pp/a",
	},
	"to": {"acme", "acm\u0435", "other"},
}

var amounts = []string{"1", "2", "2.0", "10", "11.5", "100", "1e3", "-1"}

func anInput(t *rapid.T) string {
	members := map[string]string{}
	for _, name := range rapid.SampledFrom([][]string{{"file_path"}, {"url"}, {"command"}, {"amount", "to"}, {"file_path", "amount"}}).Draw(t, "names") {
		if name == "amount" {
			members[name] = rapid.SampledFrom(amounts).Draw(t, name)
			continue
		}
		raw, err := json.Marshal(rapid.SampledFrom(values[name]).Draw(t, name))
		if err != nil {
			t.Fatal(err)
		}
		members[name] = string(raw)
	}
	if rapid.IntRange(0, 20).Draw(t, "more") == 0 {
		members["force"] = "true"
	}
	var parts []string
	for name, value := range members {
		parts = append(parts, fmt.Sprintf("%q:%s", name, value))
	}
	slices.Sort(parts)
	return "{" + strings.Join(parts, ",") + "}"
}

// TestNoSuggestionLetsARejectedCallThrough: over random histories no rule settles a call otherwise than people did, nor one
// that differs from what it says of itself.
func TestNoSuggestionLetsARejectedCallThrough(t *testing.T) {
	t.Parallel()
	offered := 0
	rapid.Check(t, func(rt *rapid.T) {
		h := &history{t: t}
		usual := map[string]suggest.Outcome{}
		for range rapid.IntRange(1, 12).Draw(rt, "inputs") {
			agent, input := rapid.SampledFrom([]string{"planner", "other"}).Draw(rt, "agent"), anInput(rt)
			ending, known := usual[input]
			if !known {
				ending = rapid.SampledFrom([]suggest.Outcome{suggest.Approved, suggest.Approved, suggest.Approved, suggest.Refused, suggest.Edited}).Draw(rt, "ending")
				usual[input] = ending
			}
			for range rapid.IntRange(1, 25).Draw(rt, "times") {
				h.put(agent, "tool", input, ending)
			}
			if rapid.IntRange(0, 9).Draw(rt, "once") == 0 {
				h.put(agent, "tool", input, rapid.SampledFrom([]suggest.Outcome{suggest.Refused, suggest.Open, suggest.Approved}).Draw(rt, "otherwise"))
			}
		}
		p := policyOf(t, rapid.SampledFrom([][]policy.Rule{
			{tool("all", "/.*/")}, {}, {{Name: "big", Tools: []string{"tool"}, When: "has(input.amount) && input.amount > 5", Effect: policy.EffectRequire}, tool("all", "tool")},
		}).Draw(rt, "rules")...)
		for _, s := range suggest.Find(p, h.calls, nil) {
			offered++
			sound(rt, p, s, h.calls, anInput(rt))
		}
	})
	if offered == 0 {
		t.Error("no history led to a suggestion")
	}
}

func sound(t *rapid.T, p *policy.Policy, s suggest.Suggestion, calls []suggest.Call, unseen string) {
	if len(s.Rule.When) > condition.MaxSource {
		t.Fatalf("the condition is too long: %d", len(s.Rule.When))
	}
	next, err := p.WithRule(s.Rule, s.Holds)
	if err != nil {
		t.Fatalf("%v: %s", err, s.Rule.When)
	}
	settled := 0
	for i := range calls {
		before, after := p.Judge(calls[i].Call), next.Judge(calls[i].Call)
		if before.Effect == after.Effect {
			continue
		}
		want := map[suggest.Kind]suggest.Outcome{suggest.Allow: suggest.Approved, suggest.Deny: suggest.Refused}[s.Kind]
		if ending := calls[i].Outcome; ending == want {
			settled++
		} else if ending != suggest.Open {
			t.Fatalf("%s %s would be %s, and ended as %v", calls[i].Facts.Input, s.Rule.When, after.Effect, calls[i].Outcome)
		}
	}
	if settled != s.Calls || settled < suggest.MinCalls {
		t.Fatalf("%d calls, and it says %d", settled, s.Calls)
	}
	call := policy.Call{Kind: models.KindToolCall, ToolName: s.Tool, Explicit: true, Facts: policy.Facts{Agent: s.Agent, Owner: "ann@example.com", Input: []byte(unseen)}}
	if next.Judge(call).Rule == s.Rule.Name && s.Kind == suggest.Allow && !covered(t, s, unseen) {
		t.Fatalf("%s lets %s through", s.Rule.When, unseen)
	}
}

// covered says naively whether an input is as the terms say.
func covered(t *rapid.T, s suggest.Suggestion, input string) bool {
	var members map[string]any
	if err := json.Unmarshal([]byte(input), &members); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, term := range s.Terms {
		word, name, isWord := strings.Cut(strings.TrimPrefix(term.Part, "argument "), " of ")
		if !isWord {
			name = term.Part
		}
		names[name] = true
		text := fmt.Sprint(members[name])
		if words := strings.Fields(text); name == "command" && len(s.Terms) > 1 {
			n := 0
			if isWord {
				_, _ = fmt.Sscan(word, &n)
			}
			if len(words) != len(s.Terms) || strings.ContainsAny(text, "|;&$") {
				return false
			}
			text = words[n]
		}
		ok := false
		switch term.How {
		case suggest.Is, suggest.OneOf:
			ok = slices.ContainsFunc(term.Values, func(v string) bool {
				return v == text || condition.ReadsAsNumber(v) && condition.ReadsAsNumber(text) && condition.CompareNumbers(v, text) == 0
			})
		case suggest.Below, suggest.At:
			ok = strings.HasPrefix(text, term.Values[0]) && !strings.Contains(text, "..")
		case suggest.Between:
			ok = condition.CompareNumbers(text, term.Values[0]) >= 0 && condition.CompareNumbers(text, term.Values[1]) <= 0
		}
		if !ok {
			return false
		}
	}
	return len(members) == len(names)
}
