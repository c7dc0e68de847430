package policy_test

import (
	"os"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/policy"
)

// readmePolicy is the document that follows a word in bold in the README.
func readmePolicy(t *testing.T, title string) string {
	t.Helper()
	raw, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(raw), "**"+title+"**")
	_, after, fenced := strings.Cut(after, "```json\n")
	doc, _, closed := strings.Cut(after, "```\n")
	if !found || !fenced || !closed {
		t.Fatalf("the README has no document after %s", title)
	}
	return doc
}

func TestPoliciesOfTheREADMEDoWhatTheySay(t *testing.T) {
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
	}
	for _, tt := range tests {
		t.Run(tt.title, func(t *testing.T) {
			t.Parallel()
			p, err := policy.Parse([]byte(readmePolicy(t, tt.title)))
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

// Every other document in the README must be one that can be applied.
func TestEveryPolicyOfTheREADMEParses(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	parsed := 0
	for _, block := range strings.Split(string(raw), "```json\n")[1:] {
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
