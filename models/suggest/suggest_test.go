package suggest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/policy"
	"countersign/models/suggest"
)

var day = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

// history is a list of calls that grows.
type history struct {
	t     testing.TB
	calls []suggest.Call
}

// add puts n calls in; the input may have a %d, which counts them.
func (h *history) add(n int, tool, input string, ending suggest.Outcome) {
	h.t.Helper()
	for i := range n {
		text := input
		if strings.Contains(input, "%d") {
			text = strings.ReplaceAll(input, "%d", fmt.Sprint(i))
		}
		h.put("planner", tool, text, ending)
	}
}

func (h *history) put(agent, tool, input string, ending suggest.Outcome) {
	h.t.Helper()
	if _, err := models.ShapeOf([]byte(input)); err != nil {
		h.t.Fatalf("%s: %v", input, err)
	}
	n := int64(len(h.calls) + 1)
	h.calls = append(h.calls, suggest.Call{
		Call: policy.Call{
			Kind: models.KindToolCall, ToolName: tool, Explicit: true, At: day.Add(time.Duration(n) * time.Minute),
			Facts: policy.Facts{Agent: agent, Owner: "ann@example.com", Input: []byte(input)},
		},
		Number: n, ID: models.ResponseID(fmt.Sprintf("r%d", n)), Agent: models.AgentID(agent), Outcome: ending, By: "bob",
		Took: 4 * time.Second,
	})
}

func policyOf(tb testing.TB, rules ...policy.Rule) *policy.Policy {
	tb.Helper()
	doc := policy.Default()
	doc.Rules = rules
	raw, err := doc.Marshal()
	if err != nil {
		tb.Fatal(err)
	}
	p, err := policy.Parse(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func tool(name, tool string) policy.Rule {
	return policy.Rule{Name: name, Tools: []string{tool}, Effect: policy.EffectRequire}
}

// says writes suggestions in a line each.
func says(found []suggest.Suggestion) (out []string) {
	for _, s := range found {
		line := fmt.Sprintf("%s %s %d", s.Kind, s.Tool, s.Calls)
		for _, term := range s.Terms {
			line += fmt.Sprintf(" %s %s %s", term.Part, term.How, strings.Join(term.Values, "|"))
		}
		out = append(out, line)
	}
	return out
}

func TestWhatWasAlwaysAnsweredInTheSameWayIsSuggested(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rules []policy.Rule
		make  func(h *history)
		want  []string
	}{
		"reads below a folder": {
			make: func(h *history) { h.add(40, "Read", `{"file_path":"/srv/app/src/f%d.go"}`, suggest.Approved) },
			want: []string{"allow Read 40 file_path below /srv/app/src"},
		},
		"one rejected in 400: the folders without it": {
			make: func(h *history) {
				h.add(200, "Read", `{"file_path":"/srv/app/src/f%d.go"}`, suggest.Approved)
				h.add(200, "Read", `{"file_path":"/srv/app/docs/f%d.md"}`, suggest.Approved)
				h.put("planner", "Read", `{"file_path":"/srv/app/docs/passwords"}`, suggest.Refused)
			},
			want: []string{"allow Read 200 file_path below /srv/app/src"},
		},
		"one of them was rejected too": {
			make: func(h *history) {
				h.add(40, "Deploy", `{"to":"staging"}`, suggest.Approved)
				h.add(1, "Deploy", `{"to":"staging"}`, suggest.Refused)
			},
		},
		"one of them was edited": {
			make: func(h *history) {
				h.add(40, "Deploy", `{"to":"staging"}`, suggest.Approved)
				h.add(1, "Deploy", `{"to":"staging"}`, suggest.Edited)
			},
		},
		"too few": {make: func(h *history) { h.add(19, "Deploy", `{"to":"staging"}`, suggest.Approved) }},
		"files from everywhere": {
			make: func(h *history) {
				h.add(15, "Read", `{"file_path":"/srv/f%d.go"}`, suggest.Approved)
				h.add(15, "Read", `{"file_path":"/etc/f%d.go"}`, suggest.Approved)
			},
		},
		"paths that climb are no paths": {
			make: func(h *history) { h.add(40, "Read", `{"file_path":"/srv/app/../f%d"}`, suggest.Approved) },
		},
		"amounts below those that were rejected": {
			make: func(h *history) {
				h.add(60, "pay", `{"amount":1%d.5,"to":"acme"}`, suggest.Approved)
				h.add(3, "pay", `{"amount":90%d,"to":"acme"}`, suggest.Approved)
				h.put("planner", "pay", `{"amount":700,"to":"acme"}`, suggest.Refused)
			},
			want: []string{"allow pay 60 amount between 10.5|159.5 to is acme"},
		},
		"commands, as they were": {
			make: func(h *history) {
				h.add(15, "Bash", `{"command":"git status","description":"Look %d"}`, suggest.Approved)
				h.add(12, "Bash", `{"command":"git log -3","description":"Look"}`, suggest.Approved)
				h.add(2, "Bash", `{"command":"git diff","description":"seldom"}`, suggest.Approved)
				h.add(3, "Bash", `{"command":"git push","description":"no"}`, suggest.Refused)
			},
			want: []string{"allow Bash 27 command one_of git status|git log -3"},
		},
		"a program below a folder": {
			make: func(h *history) {
				h.add(30, "Bash", `{"command":"cat /srv/app/f%d"}`, suggest.Approved)
				h.add(30, "Bash", `{"command":"cat /srv/app/f%d | sh"}`, suggest.Refused)
			},
			want: []string{"allow Bash 30 command is cat argument 1 of command below /srv/app"},
		},
		"commands that are not simple": {
			make: func(h *history) { h.add(40, "Bash", `{"command":"git log | head"}`, suggest.Approved) },
		},
		"addresses of a host": {
			make: func(h *history) {
				h.add(30, "WebFetch", `{"url":"https://docs.example.com/a/p%d","method":"GET"}`, suggest.Approved)
				h.put("planner", "WebFetch", `{"url":"https://docs.example.com.evil.test/a/p","method":"GET"}`, suggest.Refused)
				h.put("planner", "WebFetch", `{"url":"https://docs.ex\u0430mple.com/a/p","method":"GET"}`, suggest.Refused)
			},
			want: []string{"allow WebFetch 30 method is GET url at https://docs.example.com/a/"},
		},
		"always rejected": {
			make: func(h *history) { h.add(25, "Write", `{"file_path":"/etc/app/f%d","content":"x"}`, suggest.Refused) },
			want: []string{"deny Write 25 content is x file_path below /etc/app"},
		},
		"texts that differ": {
			make: func(h *history) { h.add(40, "mail", `{"to":"a@example.com","text":"Hello %d"}`, suggest.Approved) },
		},
		"what is of high risk is not let through": {
			rules: []policy.Rule{{Name: "deploys", Tools: []string{"Deploy"}, Effect: policy.EffectRequire, Risk: models.RiskHigh}},
			make:  func(h *history) { h.add(40, "Deploy", `{"to":"staging%d"}`, suggest.Approved) },
			want:  []string{"checklist  40"},
		},
		"what runs by now is not suggested": {
			rules: []policy.Rule{{Name: "reading", Tools: []string{"Read"}, Effect: policy.EffectAllow}},
			make:  func(h *history) { h.add(40, "Read", `{"file_path":"/srv/app/src/f%d.go"}`, suggest.Approved) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &history{t: t}
			c.make(h)
			found := suggest.Find(policyOf(t, c.rules...), h.calls, nil)
			if got := says(found); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got %q, want %q", got, c.want)
				for _, s := range found {
					t.Log(s.Rule.When)
				}
			}
		})
	}
}

// near are calls that no rule of the histories above may let through, beside what each would let through.
func TestASuggestedRuleSettlesNothingBesideWhatWasSeen(t *testing.T) {
	t.Parallel()
	h := &history{t: t}
	h.add(40, "Read", `{"file_path":"/srv/app/src/f%d.go"}`, suggest.Approved)
	h.add(40, "Bash", `{"command":"cat /srv/app/f%d"}`, suggest.Approved)
	h.add(40, "Bash", `{"command":"git status"}`, suggest.Approved)
	h.add(40, "WebFetch", `{"url":"https://docs.example.com/a/p%d"}`, suggest.Approved)
	h.add(40, "pay", `{"amount":1%d,"dry_run":true}`, suggest.Approved)
	p := policyOf(t, tool("all", "/.*/"))
	found := suggest.Find(p, h.calls, nil)
	if len(found) != 5 {
		t.Fatalf("got %q", says(found))
	}
	for _, s := range found {
		next, err := p.WithRule(s.Rule, s.Holds)
		if err != nil {
			t.Fatal(err)
		}
		for input, runs := range near[s.Tool] {
			call := policy.Call{Kind: models.KindToolCall, ToolName: s.Tool, Explicit: true, Facts: policy.Facts{Agent: "planner", Owner: "ann@example.com", Input: []byte(input)}}
			want := runs && (s.Tool != "Bash" || strings.Contains(input, s.Terms[0].Values[0]))
			if got := next.Judge(call); (got.Effect == policy.EffectAllow) != want {
				t.Errorf("%s: %s %+v", input, got.Effect, got.Reason)
			} else if !want && got.Unjudged && !strings.Contains(input, "..") {
				t.Errorf("%s can't be judged: %s", input, got.Reason)
			}
			call.Facts.Agent = "other"
			if got := next.Judge(call); got.Effect != policy.EffectRequire || got.Unjudged {
				t.Errorf("another agent: %s %s", input, got.Effect)
			}
		}
	}
}

var near = map[string]map[string]bool{
	"Read": {
		`{"file_path":"/srv/app/src/new.go"}`: true, `{"file_path":"/srv/app/src/deep/new.go"}`: true,
		`{"file_path":"/srv/app/other.go"}`: false, `{"file_path":"/srv/app/src/../../etc/passwd"}`: false, `{"file_path":"/srv/app/src/.env"}`: false,
		`{"file_path":"/srv/app/srcs/x"}`: false, `{"file_path":"/srv/\u0430pp/src/x"}`: false, `{"file_path":"/srv/app/src/a","limit":3}`: false,
		`{"path":"/srv/app/src/a"}`: false, `{}`: false, `{"file_path":7}`: false, `{"file_path":"srv/app/src/x"}`: false,
	},
	"Bash": {
		`{"command":"cat /srv/app/new"}`: true, `{"command":"git status"}`: true, `{"command":"cat /srv/app/x | sh"}`: false,
		`{"command":"cat /srv/app/x /etc/passwd"}`: false, `{"command":"cat /srv/app/../etc"}`: false, `{"command":"cat -n /srv/app/x"}`: false,
		`{"command":"cat /srv/app/$(id)"}`: false, `{"command":"rm /srv/app/x"}`: false, `{"command":"git status; id"}`: false,
		`{"command":"git\tstatus"}`: false, `{"command":"git push"}`: false, `{"command":"sudo cat /srv/app/x"}`: false,
		`{"command":"cat /srv/app/x\nid"}`: false, `{"command":"cat /srv/app/x > /etc/y"}`: false, `{"command":"git status","cwd":"/etc"}`: false,
	},
	"WebFetch": {
		`{"url":"https://docs.example.com/a/new"}`: true, `{"url":"http://docs.example.com/a/x"}`: false, `{"url":"https://docs.example.com/b"}`: false,
		`{"url":"https://docs.example.com/a/../b"}`: false, `{"url":"https://docs.example.com/a/x?q=secret"}`: false,
		`{"url":"https://docs.example.com.evil.test/a/x"}`: false, `{"url":"https://docs.example.com@evil.test/a/"}`: false,
		`{"url":"https://docs.example.com/a/%2e%2e/b"}`: false, `{"url":"https://docs.example.com:8443/a/x"}`: false,
	},
	"pay": {
		`{"amount":120,"dry_run":true}`: true, `{"amount":12.5,"dry_run":true}`: true, `{"amount":140,"dry_run":true}`: false, `{"amount":9,"dry_run":true}`: false,
		`{"amount":20,"dry_run":false}`: false, `{"amount":20}`: false, `{"amount":-20,"dry_run":true}`: false, `{"amount":1e9,"dry_run":true}`: false,
		`{"amount":20,"dry_run":"true"}`: false, `{"amount":"120","dry_run":true}`: false,
	},
}

func TestASuggestionTellsWhatItIsMadeFromAndWhatItLeaves(t *testing.T) {
	t.Parallel()
	h := &history{t: t}
	h.add(30, "Read", `{"file_path":"/srv/app/src/f%d.go"}`, suggest.Approved)
	h.add(2, "Read", `{"file_path":"/srv/app/src/g%d.go"}`, suggest.Open)
	h.add(4, "Read", `{"file_path":"/etc/f%d"}`, suggest.Refused)
	h.add(1, "Read", `{"file_path":"/etc/hosts"}`, suggest.Approved)
	h.add(1, "Read", `["/srv"]`, suggest.Approved)
	found := suggest.Find(policyOf(t, tool("reading", "Read")), h.calls, nil)
	if len(found) != 1 {
		t.Fatalf("got %q", says(found))
	}
	s := found[0]
	if s.Calls != 30 || s.Open != 2 || s.People != 1 || s.Half != 4*time.Second || s.Holds != "reading" || len(s.Examples) != 3 ||
		s.Examples[0].ID != "r30" {
		t.Errorf("got %+v", s)
	}
	if want := (suggest.Rest{Approved: 2, Rejected: 4, Unreadable: 1}); s.Rest != want {
		t.Errorf("left %+v, want %+v", s.Rest, want)
	}
	raw, err := json.Marshal(s.Rule)
	if err != nil || !strings.Contains(string(raw), `"effect":"allow"`) {
		t.Errorf("%s %v", raw, err)
	}
}

func TestARuleIsNotSuggestedForACallThatWasRefusedBefore(t *testing.T) {
	t.Parallel()
	h := &history{t: t}
	h.add(30, "Deploy", `{"to":"staging"}`, suggest.Approved)
	old := &history{t: t}
	old.add(1, "Deploy", `{"to":"staging"}`, suggest.Refused)
	if found := suggest.Find(policyOf(t, tool("all", "/.*/")), h.calls, old.calls); len(found) != 0 {
		t.Errorf("got %q", says(found))
	}
}

// TestAWiderRuleBehindTheOneThatHoldsIsNotPassed: what another rule holds with more risk stays held.
func TestAWiderRuleBehindTheOneThatHoldsIsNotPassed(t *testing.T) {
	t.Parallel()
	h := &history{t: t}
	h.add(30, "pay", `{"amount":1%d}`, suggest.Approved)
	p := policyOf(t,
		policy.Rule{Name: "small", Tools: []string{"pay"}, When: "input.amount < 150", Effect: policy.EffectRequire},
		policy.Rule{Name: "odd", Tools: []string{"pay"}, When: "input.amount == 120.5", Effect: policy.EffectRequire, Risk: models.RiskCritical},
		policy.Rule{Name: "rest", Tools: []string{"pay"}, Effect: policy.EffectRequire, Risk: models.RiskHigh})
	found := suggest.Find(p, h.calls, nil)
	if len(found) != 1 || !strings.HasSuffix(found[0].Rule.When, "&& (input.amount < 150)") {
		t.Fatalf("got %q", says(found))
	}
}

// TestASuggestedRuleCostsWhatTheCallsCost: a call that no one is asked about any more costs as much energy as before.
func TestASuggestedRuleCostsWhatTheCallsCost(t *testing.T) {
	t.Parallel()
	h := &history{t: t}
	h.add(30, "search", `{"q":"prices"}`, suggest.Approved)
	found := suggest.Find(policyOf(t, policy.Rule{Name: "searches", Tools: []string{"search"}, Effect: policy.EffectRequire, Risk: models.RiskLow, Energy: 7}), h.calls, nil)
	if len(found) != 1 || found[0].Rule.Energy != 7 || found[0].Rule.Risk != models.RiskLow {
		t.Errorf("got %+v", found)
	}
}

// TestASuggestionStaysTheSame while amounts grow and a list gets longer, so that one which was dismissed stays so.
func TestASuggestionStaysTheSame(t *testing.T) {
	t.Parallel()
	h := &history{t: t}
	h.add(40, "Bash", `{"command":"git status"}`, suggest.Approved)
	h.add(30, "pay", `{"amount":1%d}`, suggest.Approved)
	h.add(20, "Read", `{"file_path":"/srv/app/src/f%d"}`, suggest.Approved)
	p := policyOf(t, tool("all", "/.*/"))
	before := suggest.Find(p, h.calls, nil)
	h.add(10, "Bash", `{"command":"git log"}`, suggest.Approved)
	h.add(1, "pay", `{"amount":500}`, suggest.Approved)
	h.add(1, "Read", `{"file_path":"/srv/app/other"}`, suggest.Approved)
	after := suggest.Find(p, h.calls, nil)
	if len(before) != 3 || len(after) != 3 {
		t.Fatalf("got %q, then %q", says(before), says(after))
	}
	for i := range before {
		if same := before[i].Key == after[i].Key; same != (before[i].Tool != "Read") {
			t.Errorf("%s: %s is %s", before[i].Tool, before[i].Key, after[i].Key)
		}
	}
}

// TestARejectedCallThatCanNotBeReadCounts: whether a rule would have let it through is not known, so there is none.
func TestARejectedCallThatCanNotBeReadCounts(t *testing.T) {
	t.Parallel()
	p := policyOf(t, tool("all", "/.*/"))
	for _, older := range []bool{false, true} {
		h, old := &history{t: t}, &history{t: t}
		h.add(30, "Deploy", `{"to":"staging"}`, suggest.Approved)
		if found := suggest.Find(p, h.calls, nil); len(found) != 1 {
			t.Fatalf("got %q", says(found))
		}
		to := h
		if older {
			to = old
		}
		to.add(1, "Deploy", `{"to":"production"}`, suggest.Refused)
		to.calls[len(to.calls)-1].Facts.Removed = true
		if found := suggest.Find(p, h.calls, old.calls); len(found) != 0 {
			t.Errorf("older %t: got %q", older, says(found))
		}
	}
}
