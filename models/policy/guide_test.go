package policy_test

import (
	"reflect"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/policy"
)

// guidePolicy is the document that follows a word in bold in the guide.
func guidePolicy(t *testing.T, title string) string {
	t.Helper()
	_, after, found := strings.Cut(policy.Guide, "**"+title+"**")
	_, after, fenced := strings.Cut(after, "```json\n")
	doc, _, closed := strings.Cut(after, "```\n")
	if !found || !fenced || !closed {
		t.Fatalf("the guide has no document after %s", title)
	}
	return doc
}

func TestPoliciesOfTheGuideDoWhatTheySay(t *testing.T) {
	t.Parallel()
	tests := []struct {
		title string
		want  map[string]policy.Effect
	}{
		{"Development", map[string]policy.Effect{
			"Read": policy.EffectAllow, "git.diff": policy.EffectAllow, "build": policy.EffectAllow,
			"git.push": policy.EffectRequire, "deploy_staging": policy.EffectRequire, "Bash": policy.EffectRequire,
			"shell.run": policy.EffectRequire, "db.drop_table": policy.EffectRequire, "delete_user": policy.EffectRequire,
			"git.diffx": policy.EffectAllow, "bash": policy.EffectRequire,
		}},
		{"Production", map[string]policy.Effect{
			"db.drop_all": policy.EffectDeny, "backup.delete": policy.EffectDeny, "iam.grant": policy.EffectDeny,
			"payment.send": policy.EffectRequire, "deploy": policy.EffectRequire, "release.publish": policy.EffectRequire,
			"logs.search": policy.EffectAllow, "logs.search_and_delete": policy.EffectRequire, "anything": policy.EffectRequire,
		}},
		{"Coding agent", map[string]policy.Effect{
			"Read": policy.EffectAllow, "Edit": policy.EffectAllow, "Bash": policy.EffectRequire, "WebFetch": policy.EffectRequire,
			"mcp__mail__send": policy.EffectRequire, "NewTool": policy.EffectRequire, "read": policy.EffectRequire,
		}},
		{"Payments", map[string]policy.Effect{
			"payout.send": policy.EffectRequire, "payments.create": policy.EffectRequire, "refund.make": policy.EffectRequire,
			"Read": policy.EffectAllow, "Payment.send": policy.EffectRequire,
		}},
		{"Read-only", map[string]policy.Effect{
			"Read": policy.EffectAllow, "files.list": policy.EffectAllow, "files.list_and_delete": policy.EffectRequire,
			"Bash": policy.EffectRequire, "files.delete": policy.EffectRequire,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.title, func(t *testing.T) {
			t.Parallel()
			p, err := policy.Parse([]byte(guidePolicy(t, tt.title)))
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range policy.Lint(p.Document()) {
				t.Errorf("%s: %s", w.Path, w.Text)
			}
			for tool, want := range tt.want {
				if got := p.Judge(policy.Call{Kind: models.KindToolCall, ToolName: tool}); got.Effect != want {
					t.Errorf("%s: %s, want %s", tool, got.Effect, want)
				}
			}
		})
	}
}

// Every other document in the guide must be one that can be applied.
func TestEveryPolicyOfTheGuideParses(t *testing.T) {
	t.Parallel()
	parsed := 0
	for _, block := range strings.Split(policy.Guide, "```json\n")[1:] {
		doc, _, _ := strings.Cut(block, "```\n")
		if _, err := policy.Parse([]byte(doc)); err != nil {
			t.Errorf("%v in:\n%s", err, doc)
		}
		parsed++
	}
	if parsed < 3 {
		t.Errorf("%d documents, want three", parsed)
	}
}

// The guide says of each member what it does, so that nobody has to read the code.
func TestTheGuideNamesEveryMember(t *testing.T) {
	t.Parallel()
	for _, kind := range []reflect.Type{reflect.TypeFor[policy.Document](), reflect.TypeFor[policy.Rule](), reflect.TypeFor[policy.Template]()} {
		for field := range kind.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name != "" && name != "-" && !strings.Contains(policy.Guide, "`"+name+"`") && !strings.Contains(policy.Guide, `"`+name+`"`) && !strings.Contains(policy.Guide, "`"+name+":") {
				t.Errorf("%s: the guide says nothing about %s", kind.Name(), name)
			}
		}
	}
}

// The examples are what the guide writes, whole, and a draft that begins with one keeps
// what it does not name.
func TestExamplesAreThoseOfTheGuide(t *testing.T) {
	t.Parallel()
	var names []string
	for _, e := range policy.Examples() {
		names = append(names, e.Name)
		d := draft(t, `{"grant_max_uses": 7, "rules": [{"name": "old", "tools": ["x"], "effect": "deny"}]}`)
		if err := d.Begin(e); err != nil {
			t.Fatal(err)
		}
		want := parsed(t, e.Document)
		want.GrantMaxUses = 7
		if got := d.Check(policy.Default()); len(got.Problems) > 0 || len(policy.Diff(want, got.Document)) > 0 {
			t.Errorf("%s: %v %v", e.Name, got.Problems, policy.Diff(want, got.Document))
		}
	}
	if got := strings.Join(names, " "); got != "development production coding-agent payments read-only" {
		t.Errorf("%s", got)
	}
}
