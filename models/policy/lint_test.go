package policy_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"countersign/models"
	"countersign/models/policy"
)

func TestLint(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		raw  string
		want []string // "path: part of the text"
	}{
		"initial": {`{}`, nil},
		"sound": {`{"required_approval_tools":["deploy"],"rules":[
			{"name":"a","tools":["read","/git_(log|status)/"],"effect":"allow"},
			{"name":"b","tools":["/rm/"],"effect":"deny"},
			{"name":"c","tools":["pay"],"effect":"require","reviewers":["a@b"],"timeout_minutes":3}]}`, nil},
		"off":          {`{"approval_enabled":false}`, []string{"approval_enabled: Approval is off:"}},
		"off until":    {`{"approval_enabled":false,"approval_off_until":"2026-11-23T14:00:00Z"}`, []string{"approval_enabled: Approval is off until 2026-11-23 14:00 UTC:"}},
		"fallback end": {`{"fallback_auto_approve":true,"fallback_until":"2026-11-23T14:00:30Z"}`, []string{"fallback_auto_approve: When no server answers until 2026-11-23 14:00:30 UTC, our clients run calls"}},
		"fallback":     {`{"fallback_auto_approve":true}`, []string{"fallback_auto_approve: When no server"}},
		"listed twice": {`{"required_approval_tools":["a","a"]}`, []string{"required_approval_tools[1]: “a” is listed twice among the tools that need approval. Remove one."}},
		"required but allowed": {
			`{"required_approval_tools":["a"],"rules":[{"name":"x","tools":["a"],"effect":"allow"}]}`,
			[]string{"required_approval_tools[0]: “a” has no effect among the tools that need approval: the rule “x” matches it first and lets its calls run. Remove it,"},
		},
		"half a regexp": {
			`{"required_approval_tools":["/rm"],"rules":[{"name":"x","tools":["sh/"],"effect":"deny"}]}`,
			[]string{`required_approval_tools[0]: “/rm” among the tools that need approval is read as an exact name,`, `rules[0].tools[0]: “sh/” in the rule “x” is read as an exact name, because it has a slash at one end only: write /sh/ for a regular expression, or /^sh\/$/`},
		},
		"held in another letter case": {
			`{"rules":[{"name":"x","tools":["/.*delete.*/"],"effect":"require"},{"name":"y","tools":["DELETE_page"],"effect":"allow"}]}`,
			[]string{"rules[1].tools[0]: “DELETE_page” in the rule “y” still needs approval: but for its letter case it matches “/.*delete.*/” in the rule “x”."},
		},
		"allows everything": {
			`{"rules":[{"name":"x","tools":["/.*/"],"effect":"allow"}]}`,
			[]string{"rules[0].tools[0]: “/.*/” in the rule “x” lets every tool run without a person. List"},
		},
		"wildcard": {
			`{"rules":[{"name":"x","tools":["/read.*/"],"effect":"allow"}]}`,
			[]string{"rules[0].tools[0]: “/read.*/” in the rule “x” lets through every tool that matches the wildcard."},
		},
		"matches the empty part": {
			`{"rules":[{"name":"x","tools":["/x*/"],"effect":"deny"}]}`,
			[]string{"rules[0].tools[0]: “/x*/” in the rule “x” matches every tool,"},
		},
		"shadowed by the same name": {
			`{"rules":[{"name":"x","tools":["a","b"],"effect":"allow"},{"name":"y","tools":["b","a"],"effect":"deny"}]}`,
			[]string{"rules[1]: The rule “y” never applies: rules before it match all its tools. Delete it,"},
		},
		"shadowed in part": {
			`{"rules":[{"name":"x","tools":["a"],"effect":"allow"},{"name":"y","tools":["b","a"],"effect":"deny"}]}`,
			[]string{"rules[1].tools[1]: “a” in the rule “y” never applies: the rule “x” before it matches first. Remove it,"},
		},
		"shadowed by a regexp": {
			`{"rules":[{"name":"x","tools":["/sh/"],"effect":"deny"},{"name":"y","tools":["bash"],"effect":"allow"}]}`,
			[]string{"rules[1]: The rule “y” never applies: rules before it match all its tools. Delete it,"},
		},
		"shadowed by all": {
			`{"rules":[{"name":"x","tools":["/./"],"effect":"require"},{"name":"y","tools":["/rm/"],"effect":"deny"}]}`,
			[]string{"rules[1]: The rule “y” never applies: rules before it match all its tools. Delete it,"},
		},
		"the same regexp is narrower under allow": {
			`{"rules":[{"name":"x","tools":["/rm/"],"effect":"allow"},{"name":"y","tools":["/rm/"],"effect":"deny"}]}`, nil,
		},
		"too similar to be allowed": {
			`{"rules":[{"name":"x","tools":["Shell"],"effect":"deny"},{"name":"y","tools":["shell"],"effect":"allow"}]}`,
			[]string{"rules[1].tools[0]: it is too similar to “Shell” in the rule “x”. Remove it,"},
		},
		"similar, but never reached at all": {
			`{"rules":[{"name":"x","tools":["Shell"],"effect":"deny"},{"name":"y","tools":["shell"],"effect":"require"},
				{"name":"z","tools":["shell"],"effect":"allow"}]}`,
			[]string{"rules[2]: The rule “z” never applies"},
		},
		"steps never come": {
			`{"rules":[{"name":"x","tools":["a"],"effect":"require","escalate":[{"after_minutes":9,"to":["a@b"]}]}]}`,
			[]string{"rules[0].escalate[0].after_minutes: The rule “x” asks further people after 9 minutes, but its requests expire after 5"},
		},
		"a short time": {`{"retention_days":2}`, []string{"retention_days: Contents are removed 2 days after"}},
		"a call that no agent may pay": {
			`{"budget_per_agent":{"energy":5,"hours":1},"rules":[{"name":"x","tools":["a"],"effect":"allow","energy":6}]}`,
			[]string{"rules[0].energy: A call under the rule “x” costs 6 units of energy, which is more than an agent may spend (5 units of energy in 1 hour)"},
		},
		"nobody is asked": {
			`{"rules":[{"name":"x","tools":["a"],"effect":"deny","reviewers":["a@b"],"timeout_minutes":3}]}`,
			[]string{"rules[0].reviewers: no effect on tool calls in the rule “x”: it denies its calls, so nobody is asked.", "rules[0].timeout_minutes: no effect on tool calls in the rule “x”"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := policy.ParseStored([]byte(c.raw))
			if err != nil {
				t.Fatal(err)
			}
			got := policy.Lint(p.Document())
			if len(got) != len(c.want) {
				t.Fatalf("warnings are %v, want %q", texts(got), c.want)
			}
			for i, w := range c.want {
				path, text, _ := strings.Cut(w, ": ")
				if got[i].Path != path || !strings.Contains(got[i].Text, text) {
					t.Errorf("warning %d is %s: %s, want %q", i, got[i].Path, got[i].Text, w)
				}
			}
		})
	}
}

func texts(warnings []policy.Warning) []string {
	var out []string
	for _, w := range warnings {
		out = append(out, w.Path+": "+w.Text)
	}
	return out
}

// fixed is what a document is after the remedy of a warning.
func fixed(t rapid.TB, doc policy.Document, f policy.Fix) policy.Document {
	t.Helper()
	d, err := policy.DraftOf(doc)
	if err != nil {
		t.Fatal(err)
	}
	d.Fix(f)
	out := d.Check(doc)
	if len(out.Problems) > 0 {
		t.Fatalf("%s: %v", f.Label, out.Problems)
	}
	return out.Document
}

// What the remedies change, and that each ends its warning.
func TestRemedies(t *testing.T) {
	t.Parallel()
	ann, bo, cy := policy.Person{Email: "ann@x", Admin: true, Owns: true}, policy.Person{Email: "bo@x"}, policy.Person{Email: "cy@x", Admin: true}
	for name, c := range map[string]struct{ doc, path, label, want string }{
		"listed twice":     {`{"required_approval_tools":["a","b","a"]}`, "required_approval_tools[2]", "Remove one", `required_approval_tools: "a", "b", "a" -> "a", "b"`},
		"without effect":   {`{"required_approval_tools":["a"],"rules":[{"name":"x","tools":["a"],"effect":"allow"}]}`, "required_approval_tools[0]", "Remove it", `required_approval_tools: "a" -> none`},
		"never applies":    {`{"rules":[{"name":"x","tools":["a"],"effect":"allow"},{"name":"y","tools":["a"],"effect":"deny"}]}`, "rules[1]", "Delete the rule", `rules["y"]: deny "a", risk medium -> `},
		"an entry":         {`{"rules":[{"name":"x","tools":["a"],"effect":"allow"},{"name":"y","tools":["a","b"],"effect":"deny"}]}`, "rules[1].tools[0]", "Remove it", `rules["y"].tools: "a", "b" -> "b"`},
		"in vain":          {`{"rules":[{"name":"x","tools":["Sh"],"effect":"deny"},{"name":"y","tools":["b","sh"],"effect":"allow"}]}`, "rules[1].tools[1]", "Remove it", `rules["y"].tools: "b", "sh" -> "b"`},
		"broader":          {`{"rules":[{"name":"x","tools":["ls","/(read_|l).*/"],"effect":"allow"}]}`, "rules[0].tools[1]", "List the names", `rules["x"].tools: "ls", "/(read_|l).*/" -> "ls", "read_file"`},
		"everything":       {`{"rules":[{"name":"x","tools":["/.*/"],"effect":"allow"}]}`, "rules[0].tools[0]", "List the names", `rules["x"].tools: "/.*/" -> "Pay", "ls", "read_file"`},
		"nobody is asked":  {`{"rules":[{"name":"x","tools":["ls"],"effect":"deny","reviewers":["bo@x"],"reviewers_only":true,"self_approval":"never","escalate":[{"after_minutes":2,"to":["bo@x"]}]}]}`, "rules[0].reviewers", "Remove who approves", `rules["x"].reviewers: "bo@x" -> none; rules["x"].reviewers_only: true -> false; rules["x"].self_approval: never -> allowed; rules["x"].escalate: "2: bo@x" -> none`},
		"nothing waits":    {`{"rules":[{"name":"x","tools":["ls"],"effect":"allow","timeout_minutes":3}]}`, "rules[0].timeout_minutes", "Remove the time", `rules["x"].timeout_minutes: 3 -> none`},
		"a lower risk":     {`{"templates":[{"name":"t","risk":"high","self_approval":"never"}],"rules":[{"name":"x","tools":["ls"],"effect":"require","template":"t","risk":"low"}]}`, "rules[0].risk", "Use the template's", `rules["x"].risk: low -> as its template says`},
		"short":            {`{"retention_days":2}`, "retention_days", "Keep them for 7 days", `retention_days: 2 -> 7`},
		"narrowly misses":  {`{"rules":[{"name":"x","tools":["/^pay/"],"effect":"deny"}]}`, "rules[0].tools[0]", "Add it", `rules["x"].tools: "/^pay/" -> "/^pay/", "Pay"`},
		"not used":         {`{"rules":[{"name":"x","tools":["gone"],"effect":"allow"}]}`, "rules[0]", "Disable the rule", `rules["x"].disabled: false -> true`},
		"approves alone":   {`{"rules":[{"name":"x","tools":["ls"],"effect":"require","risk":"high"}]}`, "rules[0].self_approval", "The owner may not approve", `rules["x"].self_approval: allowed -> never`},
		"covered by none":  {`{"required_approval_tools":["ls"]}`, "unmatched", "Require approval", `required_approval_tools: "ls" -> "ls", "Pay", "read_file"`},
		"a rule that asks": {`{"rules":[{"name":"x","tools":["gone"],"effect":"require"}]}`, "rules[0]", "", ""},
		"misses, allowed":  {`{"rules":[{"name":"x","tools":["pay"],"effect":"allow"}]}`, "rules[0].tools[0]", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := parse(t, c.doc).Document()
			in := policy.Usage{Tools: []string{"Pay", "ls", "read_file"}, People: []policy.Person{ann, bo, cy}}
			all := policy.LintIn(doc, in)
			i := slices.IndexFunc(all, func(w policy.Warning) bool { return w.Path == c.path })
			switch {
			case i < 0:
				t.Fatalf("%v", texts(all))
			case c.label == "" && all[i].Fix != nil:
				t.Fatalf("%s has the remedy %q", all[i].Text, all[i].Fix.Label)
			case c.label == "":
				return
			case all[i].Fix == nil || all[i].Fix.Label != c.label:
				t.Fatalf("%s: %+v", all[i].Text, all[i].Fix)
			}
			after := fixed(t, doc, *all[i].Fix)
			var changes []string
			for _, ch := range policy.Diff(doc, after) {
				changes = append(changes, ch.Path+": "+ch.Before+" -> "+ch.After)
			}
			if got := strings.Join(changes, "; "); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
			if slices.ContainsFunc(policy.LintIn(after, in), func(w policy.Warning) bool { return w.Key() == all[i].Key() }) {
				t.Errorf("it is still said: %s", all[i].Text)
			}
		})
	}
}

// Whatever a document says: its remedies can be carried out, and let nothing through that waits or is denied.
func TestARemedyLetsNoMoreThroughI11(t *testing.T) {
	t.Parallel()
	tools := []string{"Bash", "a b", "bash", "git_push", "pay-send", "pay.send", "rm"}
	effects := []policy.Effect{policy.EffectAllow, policy.EffectRequire, policy.EffectDeny}
	rapid.Check(t, func(t *rapid.T) {
		doc := documents().Draw(t, "document")
		raw, err := doc.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		before, err := policy.Parse(raw)
		if err != nil {
			t.Skip(err)
		}
		doc = before.Document()
		in := policy.Usage{Tools: tools, People: []policy.Person{{Email: "ann@example.com", Admin: true, Owns: true}, {Email: "bo@example.org"}}}
		for _, w := range policy.LintIn(doc, in) {
			if strings.HasPrefix(w.Text, "Is ") || strings.HasPrefix(w.Text, "Has ") || !strings.HasSuffix(w.Text, ".") {
				t.Fatalf("%s is no sentence", w.Text)
			}
			if w.Fix == nil {
				continue
			}
			raw, err := fixed(t, doc, *w.Fix).Marshal()
			if err != nil {
				t.Fatal(err)
			}
			after, err := policy.Parse(raw)
			if err != nil {
				t.Fatal(err)
			}
			for _, tool := range tools {
				c := policy.Call{Kind: models.KindToolCall, ToolName: tool}
				c.Facts.Input = []byte(`{"a":2}`)
				was, is := before.Judge(c), after.Judge(c)
				if slices.Index(effects, is.Effect) < slices.Index(effects, was.Effect) {
					t.Fatalf("%s: after “%s” %s is %s, before %s", w.Text, w.Fix.Label, tool, is.Effect, was.Effect)
				}
			}
		}
	})
}

func TestLintTakesAnInvalidDocument(t *testing.T) {
	t.Parallel()
	policy.Lint(policy.Document{})
	policy.Lint(policy.Document{
		RequiredApprovalTools: []string{"", "/(/"},
		Rules: []policy.Rule{
			{}, {Tools: []string{"", "//", "/(/", "a"}, Effect: "odd", Risk: models.Risk("odd")}, {Tools: []string{"a"}},
		},
	})
}

func TestUnmeetableRules(t *testing.T) {
	t.Parallel()
	ann, bo := policy.Person{Email: "ann@example.com", Admin: true, Owns: true}, policy.Person{Email: "bo@example.com"}
	for name, tt := range map[string]struct {
		rule              policy.Rule
		people            []policy.Person
		unmeetable, stuck bool
	}{
		"no demand":                      {rule: policy.Rule{Reviewers: []string{"gone@example.com"}}, people: []policy.Person{ann}},
		"only, one there":                {rule: policy.Rule{ReviewersOnly: true, Reviewers: []string{"Bo@example.com"}}, people: []policy.Person{ann, bo}},
		"only, nobody there":             {rule: policy.Rule{ReviewersOnly: true, Reviewers: []string{"gone@example.com"}}, people: []policy.Person{ann, bo}, unmeetable: true},
		"never, the only admin owns all": {rule: policy.Rule{SelfApproval: models.SelfNever}, people: []policy.Person{ann, bo}, unmeetable: true},
		"never, one person":              {rule: policy.Rule{SelfApproval: models.SelfNever}, people: []policy.Person{ann}, unmeetable: true},
		"never, another is named":        {rule: policy.Rule{SelfApproval: models.SelfNever, Reviewers: []string{"bo@example.com"}}, people: []policy.Person{ann, bo}},
		"never, the admin owns a part":   {rule: policy.Rule{SelfApproval: models.SelfNever}, people: []policy.Person{ann, {Email: "bo@example.com", Owns: true}}, stuck: true},
		"deny asks nobody":               {rule: policy.Rule{Effect: policy.EffectDeny, SelfApproval: models.SelfNever}, people: []policy.Person{ann}},
	} {
		tt.rule.Name = "Payments"
		doc := policy.Document{Rules: []policy.Rule{tt.rule}}
		if got := doc.Unmeetable(tt.people); (len(got) > 0) != tt.unmeetable {
			t.Errorf("%s: unmeetable %v", name, got)
		}
		if got := doc.Stuck(tt.people); (len(got) > 0) != tt.stuck {
			t.Errorf("%s: stuck %v", name, got)
		}
	}
}

func TestWhoApprovesIsReadWrittenAndCompared(t *testing.T) {
	t.Parallel()
	parse := func(more string) policy.Document {
		p, err := policy.Parse([]byte(`{"rules":[{"name":"Payments","tools":["pay"],"effect":"require","reviewers":["a@example.com"]` + more + `}]}`))
		if err != nil {
			t.Fatal(err)
		}
		return p.Document()
	}
	plain, strict := parse(`,"self_approval":"allowed"`), parse(`,"reviewers_only":true,"self_approval":"never"`)
	if raw, err := plain.Marshal(); err != nil || strings.Contains(string(raw), "self_approval") {
		t.Errorf("allowed is what is meant without a word: %s, %v", raw, err)
	}
	raw, err := strict.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	again, err := policy.Parse(raw)
	if err != nil || len(policy.Diff(strict, again.Document())) != 0 {
		t.Errorf("%s: %v", raw, err)
	}
	var told []string
	for _, c := range policy.Diff(plain, strict) {
		told = append(told, c.Path+": "+c.Before+" -> "+c.After)
	}
	want := `rules["Payments"].reviewers_only: false -> true; rules["Payments"].self_approval: allowed -> never`
	if got := strings.Join(told, "; "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if j := again.Judge(policy.Call{Kind: models.KindToolCall, ToolName: "pay"}); !j.ReviewersOnly || j.SelfApproval != models.SelfNever {
		t.Errorf("%+v", j)
	}
}
