package policy_test

import (
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/policy"
)

// TestAPatternHoldsWhatItMatchesInAnotherLetterCase and never lets through nor denies
// it.
func TestAPatternHoldsWhatItMatchesInAnotherLetterCase(t *testing.T) {
	t.Parallel()
	const must = `{"rules":[{"name":"money","tools":["/.*delete.*/"],"effect":"require","risk":"high","reviewers":["a@b"]},{"name":"rest","tools":["/.+/"],"effect":"allow"}]}`
	for _, tt := range []struct {
		name, doc, tool string
		effect          policy.Effect
		rule            string
	}{
		{"require", must, "DELETE_page", policy.EffectRequire, "money"},
		{"require, mixed", must, "pageDelete", policy.EffectRequire, "money"},
		{"require, exactly", must, "delete_page", policy.EffectRequire, "money"},
		{"require, another name", must, "read", policy.EffectAllow, "rest"},
		{"the list of tools", `{"required_approval_tools":["/.*delete.*/"]}`, "DELETE_page", policy.EffectRequire, policy.RuleRequiredTools},
		{"deny", `{"rules":[{"name":"never","tools":["/sudo/"],"effect":"deny"}]}`, "Sudo", policy.EffectRequire, "never"},
		{"deny, exactly", `{"rules":[{"name":"never","tools":["/sudo/"],"effect":"deny"}]}`, "sudo", policy.EffectDeny, "never"},
		{"opted out", `{"rules":[{"name":"money","tools":["/(?-i).*delete.*/"],"effect":"require"}]}`, "DELETE_page", policy.EffectAllow, policy.RuleUnmatched},
		{"allow stays exact", `{"unmatched":"require","rules":[{"name":"reads","tools":["/read.*/"],"effect":"allow"}]}`, "READ_page", policy.EffectRequire, policy.RuleUnmatched},
		{"an allow rule before it", `{"rules":[{"name":"mine","tools":["DELETE_draft"],"effect":"allow"},{"name":"money","tools":["/delete/"],"effect":"require"}]}`, "DELETE_draft", policy.EffectAllow, "mine"},
		{"what really matches comes first", `{"rules":[{"name":"never","tools":["/delete/"],"effect":"deny"},{"name":"pages","tools":["/page/"],"effect":"require"}]}`, "DELETE_page", policy.EffectRequire, "pages"},
		{"a similar name before it", `{"rules":[{"name":"one","tools":["delete-page"],"effect":"require"},{"name":"two","tools":["/delete/"],"effect":"deny"}]}`, "DELETE_page", policy.EffectRequire, "one"},
		{"a similar name after it", `{"rules":[{"name":"one","tools":["/delete/"],"effect":"deny"},{"name":"two","tools":["delete-page"],"effect":"require"}]}`, "DELETE_page", policy.EffectRequire, "one"},
		{"a name like an allowed one", `{"rules":[{"name":"one","tools":["delete_page"],"effect":"allow"},{"name":"two","tools":["/delete/"],"effect":"require","risk":"high"}]}`, "DELETE_page", policy.EffectRequire, "two"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j := parse(t, tt.doc).Judge(policy.Call{Kind: models.KindToolCall, ToolName: tt.tool})
			if j.Effect != tt.effect || j.Rule != tt.rule {
				t.Errorf("%s by “%s”, want %s by “%s”: %s", j.Effect, j.Rule, tt.effect, tt.rule, j.Reason)
			}
		})
	}
	j := parse(t, must).Judge(policy.Call{Kind: models.KindToolCall, ToolName: "DELETE_page"})
	if j.Risk != models.RiskHigh || len(j.Reviewers) != 1 || !strings.Contains(j.Reason, "But for its letter case") {
		t.Errorf("%+v", j)
	}
}

// TestANameWithOneSlashIsRefusedAtSave, for it reads like a regular expression; what is
// stored stays what it was.
func TestANameWithOneSlashIsRefusedAtSave(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"/delete": `write /delete/ for a regular expression, or /^\/delete$/ for a tool of exactly this name`,
		"delete/": `write /delete/ for a regular expression, or /^delete\/$/`,
		"/a.b":    `/^\/a\.b$/`,
		"/":       `write /^\/$/ for a tool of exactly this name`,
	} {
		for path, doc := range map[string]string{
			"required_approval_tools[0]": `{"required_approval_tools":["` + text + `"]}`,
			"rules[0].tools[0]":          `{"rules":[{"name":"x","tools":["` + text + `"],"effect":"require"}]}`,
		} {
			_, err := policy.Parse([]byte(doc))
			if got := fields(t, err)[path]; !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q in it", doc, got, want)
			}
			p, err := policy.ParseStored([]byte(doc))
			if err != nil {
				t.Fatal(err)
			}
			if j := p.Judge(policy.Call{Kind: models.KindToolCall, ToolName: text}); j.Effect != policy.EffectRequire {
				t.Errorf("stored: %s is %s by %s", text, j.Effect, j.Rule)
			}
			if _, err := policy.ParseChanged([]byte(doc), p.Document()); err != nil {
				t.Errorf("changed: %v", err)
			}
			if _, err := policy.ParseChanged([]byte(doc), policy.Default()); err == nil {
				t.Errorf("%s is taken", doc)
			}
		}
	}
	// What is written as the text says is that name only.
	p := parse(t, `{"rules":[{"name":"x","tools":["/^\\/delete$/"],"effect":"require"}]}`)
	for tool, want := range map[string]policy.Effect{"/delete": policy.EffectRequire, "delete": policy.EffectAllow, "/delete/x": policy.EffectAllow} {
		if j := p.Judge(policy.Call{Kind: models.KindToolCall, ToolName: tool}); j.Effect != want {
			t.Errorf("%s: %s", tool, j.Effect)
		}
	}
	for _, text := range []string{"a/b", "/api/delete", "files/a/"} {
		parse(t, `{"required_approval_tools":["`+text+`"]}`)
	}
}
