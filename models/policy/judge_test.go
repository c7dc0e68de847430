package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/policy"
)

// ordered is a policy with one rule per line: "name effect risk pattern…". Each
// rule's patterns are separated by commas.
func ordered(tb testing.TB, unmatched policy.Effect, required string, lines ...string) *policy.Policy {
	tb.Helper()
	doc := policy.Default()
	doc.Unmatched = unmatched
	if required != "" {
		doc.RequiredApprovalTools = strings.Split(required, ",")
	}
	for _, line := range lines {
		f := strings.SplitN(line, " ", 4)
		doc.Rules = append(doc.Rules, policy.Rule{
			Name: f[0], Effect: policy.Effect(f[1]), Risk: models.Risk(f[2]), Tools: strings.Split(f[3], ","),
		})
	}
	return compiled(tb, doc)
}

func compiled(tb testing.TB, doc policy.Document) *policy.Policy {
	tb.Helper()
	raw, err := doc.Marshal()
	if err != nil {
		tb.Fatal(err)
	}
	return parse(tb, string(raw))
}

func tool(name string) policy.Call { return policy.Call{Kind: models.KindToolCall, ToolName: name} }

func explicit(name string) policy.Call {
	return policy.Call{Kind: models.KindToolCall, ToolName: name, Explicit: true}
}

// verdict is the part of a judgement that the tables compare.
func verdict(j policy.Judgement) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s", j.Effect, j.Rule, j.Risk, j.Cause))
}

func TestJudgeOrder(t *testing.T) {
	t.Parallel()
	rules := []string{
		"reads allow low read_file,/list_.*/",
		"no-rm deny critical /rm/",
		"pay require high pay,/^transfer_/",
		"late allow low pay,deploy,rm_all",
	}
	p := ordered(t, policy.EffectAllow, "deploy,notify,/secret/", rules...)
	strict := ordered(t, policy.EffectRequire, "", rules...)
	for name, c := range map[string]struct {
		policy *policy.Policy
		call   policy.Call
		want   string
	}{
		"exact allow":                           {p, tool("read_file"), "allow reads low policy"},
		"regexp allow":                          {p, tool("list_files"), "allow reads low policy"},
		"allow must match the whole name":       {p, tool("x_list_files"), "allow unmatched medium policy"},
		"deny is unanchored":                    {p, tool("xrmx"), "deny no-rm critical policy"},
		"first match wins, exact":               {p, tool("pay"), "require pay high"},
		"first match wins, regexp before exact": {p, tool("rm_all"), "deny no-rm critical policy"},
		"first match wins, allow before deny":   {p, tool("list_rm"), "allow reads low policy"},
		"anchored as written":                   {p, tool("my_transfer_x"), "allow unmatched medium policy"},
		"regexp require":                        {p, tool("transfer_money"), "require pay high"},
		"rules before required tools":           {p, tool("deploy"), "allow late low policy"},
		"required tool":                         {p, tool("notify"), "require required_approval_tools medium"},
		"required regexp is unanchored":         {p, tool("get_secrets"), "require required_approval_tools medium"},
		"required before explicit":              {p, explicit("notify"), "require required_approval_tools medium"},
		"unmatched allow":                       {p, tool("other"), "allow unmatched medium policy"},
		"unmatched require":                     {strict, tool("other"), "require unmatched medium"},
		"explicit needs approval":               {p, explicit("other"), "require explicit ask medium"},
		"explicit, strict":                      {strict, explicit("other"), "require explicit ask medium"},
		"explicit but allowed by a rule":        {p, explicit("read_file"), "allow reads low policy"},
		"explicit but denied by a rule":         {p, explicit("rm"), "deny no-rm critical policy"},
		"explicit under a rule":                 {p, explicit("pay"), "require pay high"},
		"a call without a name is held":         {p, tool(""), "require explicit ask medium"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := c.policy.Judge(c.call)
			if got := verdict(j); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if j.Reason == "" {
				t.Error("no reason")
			}
		})
	}
}

func TestAllowMatchesTheWholeName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{`/read/`, "read", true},
		{`/read/`, "read_all", false},
		{`/read/`, "unread", false},
		{`/a|ab/`, "ab", true},
		{`/ab|a/`, "ab", true},
		{`/b|ab/`, "ab", true},
		{`/a|b/`, "ab", false},
		{`/a*?/`, "aaa", true},
		{`/^read|write$/`, "read_rm", false},
		{`/^read|write$/`, "rm_write", false},
		{`/^read$/`, "read", true},
		{`/(?i)READ/`, "read", true},
		{`/\Qread/`, "read", true},
		{`/\Qa)|(.*/`, "a)|(.*", true},
		{`/\Qa)|(.*/`, "rm", false},
		{`/(?m)^read$/`, "read\nrm", false},
		{`/(?s).*/`, "a\nb", true},
		{`/read\b/`, "read rm", false},
		{`/.*/`, "anything", true},
	} {
		p := ordered(t, policy.EffectRequire, "", "r allow low "+c.pattern)
		if got := p.Judge(tool(c.name)).Effect == policy.EffectAllow; got != c.want {
			t.Errorf("%s allows %q: %v, want %v", c.pattern, c.name, got, c.want)
		}
	}
}

// I11: a name that is nearly a listed one is held.
func TestSimilarNamesAreHeld(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		required string
		rules    []string
		tool     string
		want     string
		names    string // what the reason must name; empty if it must not speak of similarity
	}{
		"case":        {"Shell", nil, "shell", "require required_approval_tools medium", "“Shell”"},
		"underscore":  {"read_file", nil, "readfile", "require required_approval_tools medium", "“read_file”"},
		"hyphen":      {"read_file", nil, "read-file", "require required_approval_tools medium", "“read_file”"},
		"space":       {"read_file", nil, "Read File", "require required_approval_tools medium", "“read_file”"},
		"not a dot":   {"read_file", nil, "read.file", "allow unmatched medium policy", ""},
		"same name":   {"read_file,ReadFile", nil, "ReadFile", "require required_approval_tools medium", ""},
		"a pattern":   {"/^Shell$/", nil, "shell", "require required_approval_tools medium", ""},
		"not regexps": {"/^Sh_ell$/", nil, "shell", "allow unmatched medium policy", ""},

		"near an allow rule":    {"", []string{"a allow low Shell"}, "shell", "require a low", "“Shell”"},
		"near a deny rule":      {"", []string{"d deny critical Shell"}, "shell", "require d critical", "“Shell”"},
		"near a require rule":   {"", []string{"q require high Shell"}, "shell", "require q high", "“Shell”"},
		"letters outside ASCII": {"", []string{"q require high kill"}, "\u212aill", "require q high", "“kill”"},

		"then a rule that denies":   {"", []string{"q require high Shell", "d deny low /sh/"}, "shell", "deny d low policy", ""},
		"then a rule that requires": {"", []string{"d deny high Shell", "q require low /sh/"}, "shell", "require q low", ""},
		"then a rule that allows":   {"", []string{"d deny high Shell", "a allow low shell"}, "shell", "require d high", "“Shell”"},
		"then a regexp that allows": {"", []string{"q require high Shell", "a allow low /.*/"}, "shell", "require q high", "“Shell”"},
		"allow after near allow":    {"", []string{"a allow low Shell", "b allow medium shell"}, "shell", "allow b medium policy", ""},
		"allow after near allow and near deny": {
			"", []string{"a allow low Shell", "d deny high SHELL", "b allow low shell"}, "shell", "require d high", "“SHELL”",
		},
		"a match before the near one":             {"", []string{"a allow low shell", "d deny high Shell"}, "shell", "allow a low policy", ""},
		"both in one rule":                        {"", []string{"a allow low Shell,shell"}, "shell", "allow a low policy", ""},
		"near a required tool, allowed by a rule": {"Shell", []string{"a allow low shell"}, "shell", "allow a low policy", ""},
		"near a required tool, allowed by a later rule": {
			"Shell", []string{"d deny high rm", "a allow low /s.*l/"}, "shell", "allow a low policy", "",
		},
		"really required, near a rule":   {"shell", []string{"d deny high Shell"}, "shell", "require required_approval_tools medium", ""},
		"the one that holds comes first": {"SHELL", []string{"a allow low Shell"}, "shell", "require required_approval_tools medium", "“SHELL”"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := ordered(t, policy.EffectAllow, c.required, c.rules...).Judge(tool(c.tool))
			if got := verdict(j); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if similar := strings.Contains(j.Reason, "differs"); similar != (c.names != "") || !strings.Contains(j.Reason, c.names) {
				t.Errorf("reason is %q, want it to name %q", j.Reason, c.names)
			}
		})
	}
}

func TestSimilarNameIsAskedAsItsRuleSays(t *testing.T) {
	t.Parallel()
	p := parse(t, `{"rules":[{"name":"pay","tools":["pay_out"],"effect":"require","risk":"critical",
		"timeout_minutes":7,"reviewers":["cfo@example.com"],"reason":"Money."}]}`)
	j := p.Judge(tool("PayOut"))
	if j.Timeout == nil || *j.Timeout != 7 || !slices.Equal(j.Reviewers, []string{"cfo@example.com"}) || j.Risk != models.RiskCritical {
		t.Errorf("got %+v", j)
	}
}

func TestRuleSpeaksInItsJudgement(t *testing.T) {
	t.Parallel()
	p := parse(t, `{"rules":[
		{"name":"pay","tools":["pay"],"effect":"require","risk":"high","timeout_minutes":7,"reviewers":["cfo@example.com"],"reason":"Money."},
		{"name":"bare","tools":["bare"],"effect":"require"},
		{"name":"never","tools":["never"],"effect":"deny"}]}`)
	j := p.Judge(tool("pay"))
	if j.Reason != "Money." || j.Timeout == nil || *j.Timeout != 7 || !slices.Equal(j.Reviewers, []string{"cfo@example.com"}) {
		t.Errorf("got %+v", j)
	}
	if j = p.Judge(tool("bare")); j.Reason != "The rule “bare” requires approval of this tool." || j.Timeout != nil || j.Reviewers != nil {
		t.Errorf("got %+v", j)
	}
	if j = p.Judge(tool("never")); j.Reason != "The rule “never” denies this tool." {
		t.Errorf("got %+v", j)
	}
}

// I11: approval switched off lets tool calls through and nothing else.
func TestApprovalSwitchedOff(t *testing.T) {
	t.Parallel()
	p := parse(t, `{"approval_enabled":false,"required_approval_tools":["deploy"],"rules":[
		{"name":"ok","tools":["read"],"effect":"allow","risk":"low"},
		{"name":"no","tools":["rm","question"],"effect":"deny"},
		{"name":"pay","tools":["pay"],"effect":"require","risk":"critical","timeout_minutes":3,"reviewers":["a@b"],"reason":"Money."}]}`)
	for name, c := range map[string]struct {
		call policy.Call
		want string
	}{
		"required tool":      {tool("deploy"), "allow required_approval_tools medium gate_off"},
		"require rule":       {tool("pay"), "allow pay critical gate_off"},
		"similar name":       {tool("Deploy"), "allow required_approval_tools medium gate_off"},
		"explicit ask":       {explicit("other"), "allow explicit ask medium gate_off"},
		"real allow":         {tool("read"), "allow ok low policy"},
		"unmatched":          {tool("other"), "allow unmatched medium policy"},
		"deny":               {tool("rm"), "deny no medium policy"},
		"question":           {policy.Call{Kind: models.KindQuestion, ToolName: "ask"}, "require explicit ask medium"},
		"question, denied":   {policy.Call{Kind: models.KindQuestion, ToolName: "question"}, "deny no medium policy"},
		"proposal":           {policy.Call{Kind: models.KindProposal}, "require explicit ask medium"},
		"budget":             {policy.Call{Kind: models.KindBudget}, "require explicit ask medium"},
		"question with rule": {policy.Call{Kind: models.KindQuestion, ToolName: "pay"}, "require pay critical"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := p.Judge(c.call)
			if got := verdict(j); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if j.Cause == models.CauseGateOff && (j.Timeout != nil || j.Reviewers != nil || !strings.Contains(j.Reason, "switched off")) {
				t.Errorf("got %+v", j)
			}
		})
	}
}

func TestOnlyToolCallsGoAheadAlone(t *testing.T) {
	t.Parallel()
	p := parse(t, `{"rules":[
		{"name":"ok","tools":["/.*/"],"effect":"allow","risk":"low","timeout_minutes":9,"reviewers":["a@b"],"reason":"Fine."}]}`)
	for _, kind := range append(models.Kinds(), "new") {
		if kind == models.KindToolCall {
			continue
		}
		j := p.Judge(policy.Call{Kind: kind, ToolName: "question"})
		if got := verdict(j); got != "require ok low" || j.Timeout == nil || *j.Timeout != 9 || len(j.Reviewers) != 1 {
			t.Errorf("%s under an allow rule: %+v", kind, j)
		}
		if j.Reason == "Fine." || j.Reason == "" {
			t.Errorf("%s: reason is %q, which does not say why it is held", kind, j.Reason)
		}
		if got := verdict(p.Judge(policy.Call{Kind: kind})); got != "require explicit ask medium" {
			t.Errorf("%s without a name: %q", kind, got)
		}
	}
	deny := parse(t, `{"rules":[{"name":"no","tools":["question"],"effect":"deny"}]}`)
	if got := verdict(deny.Judge(policy.Call{Kind: models.KindQuestion, ToolName: "question"})); got != "deny no medium policy" {
		t.Errorf("a denied question: %q", got)
	}
}

func TestDefaultTimeout(t *testing.T) {
	t.Parallel()
	plain, timed := parse(t, `{}`), parse(t, `{"default_timeout_minutes":8,"proposal_timeout_minutes":90}`)
	for _, c := range []struct {
		kind           models.Kind
		plain, timed   int
		plainOK, timOK bool
	}{
		{models.KindToolCall, 5, 8, true, true},
		{models.KindProposal, 0, 90, false, true},
		{models.KindQuestion, 0, 90, false, true},
		{models.KindBudget, 0, 90, false, true},
	} {
		if m, ok := plain.DefaultTimeout(c.kind); m != c.plain || ok != c.plainOK {
			t.Errorf("%s: %d, %v", c.kind, m, ok)
		}
		if m, ok := timed.DefaultTimeout(c.kind); m != c.timed || ok != c.timOK {
			t.Errorf("%s with a proposal timeout: %d, %v", c.kind, m, ok)
		}
	}
}

func TestJudgeByManyAtOnce(t *testing.T) {
	t.Parallel()
	p := benchPolicy(t)
	for range 8 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for range 200 {
				for _, name := range []string{"read_file", "git_status", "Shell", "other"} {
					p.Judge(explicit(name))
				}
			}
		})
	}
}

func benchPolicy(tb testing.TB) *policy.Policy {
	tb.Helper()
	return ordered(tb, policy.EffectAllow, "deploy,/^prod_/",
		"reads allow low read_file,list_files,/git_(status|log|diff)/",
		"never deny critical /\\brm\\b/,format_disk",
		"shell require high shell,bash",
		"pay require critical pay,refund",
	)
}

func BenchmarkJudge(b *testing.B) {
	p := benchPolicy(b)
	for _, c := range []struct{ name, tool string }{
		{"exact allow", "read_file"},
		{"regexp allow", "git_status"},
		{"exact require", "shell"},
		{"required", "deploy"},
		{"similar", "Bash"},
		{"unmatched", "weather_forecast"},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			call := tool(c.tool)
			for b.Loop() {
				p.Judge(call)
			}
		})
	}
}

func TestJudgeSaysWhatACallCosts(t *testing.T) {
	t.Parallel()
	p := parse(t, `{"approval_enabled":false,"rules":[{"name":"dear","tools":["pay"],"effect":"require","energy":7}]}`)
	for name, want := range map[string]int64{"pay": 7, "Pay": 7, "look": 0} {
		if got := p.Judge(tool(name)).Energy; got != want {
			t.Errorf("%s costs at least %d, want %d", name, got, want)
		}
	}
}

// I11: only a call that its rule was written for may be told with its headline.
func TestHeadlinesLeaveOnlyWhereTheRuleSaysSoI11(t *testing.T) {
	t.Parallel()
	p := parse(t, `{"required_approval_tools":["wire"],"rules":[
		{"name":"pay","tools":["pay_out","/^mcp\\.pay/"],"effect":"require","notify_headline":true},
		{"name":"large","tools":["send"],"when":"input.amount > 100","effect":"require","notify_headline":true},
		{"name":"quiet","tools":["bare"],"effect":"require"}]}`)
	for _, tt := range []struct {
		tool, input string
		want        bool
	}{
		{"pay_out", `{}`, true},
		{"PayOut", `{}`, false},
		{"mcp.pay.x", `{}`, true},
		{"MCP.pay.x", `{}`, false},
		{"send", `{"amount":101}`, true},
		{"send", `{"amount":"101"}`, false},
		{"bare", `{}`, false},
		{"wire", `{}`, false},
	} {
		if j := p.Judge(with(tt.tool, tt.input)); j.Effect != policy.EffectRequire || j.NotifyHeadline != tt.want {
			t.Errorf("%s %s: %s, headline %v, want %v", tt.tool, tt.input, j.Effect, j.NotifyHeadline, tt.want)
		}
	}
}
