package policy_test

import (
	"testing"

	"countersign/models/policy"
)

// What a document leaves out stays, also within an object; lists are whole.
func TestOver(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ document, active, want string }{
		"a part":                   {`{"unmatched":"require"}`, `{"unmatched":"allow","retention_days":9}`, `{"retention_days":9,"unmatched":"require"}`},
		"a part of an object":      {`{"undo_seconds":{"high":1}}`, `{"undo_seconds":{"high":5,"critical":10}}`, `{"undo_seconds":{"critical":10,"high":1}}`},
		"an object that is none":   {`{"budget_per_agent":null}`, `{"budget_per_agent":{"energy":5,"hours":1}}`, `{"budget_per_agent":null}`},
		"a list":                   {`{"rules":[]}`, `{"rules":[{"name":"a"}]}`, `{"rules":[]}`},
		"a switch without its end": {`{"approval_enabled":true}`, `{"approval_enabled":false,"approval_off_until":"x"}`, `{"approval_enabled":true}`},
		"another, and the end":     {`{"unmatched":"allow"}`, `{"fallback_auto_approve":true,"fallback_until":"x"}`, `{"fallback_auto_approve":true,"fallback_until":"x","unmatched":"allow"}`},
		"a member that none knows": {`{"x":1}`, `{"unmatched":"allow"}`, `{"unmatched":"allow","x":1}`},
		"no JSON":                  {`{`, `{"unmatched":"allow"}`, `{`},
		"a member twice":           {`{"rules":[],"rules":[]}`, `{"unmatched":"allow"}`, `{"rules":[],"rules":[]}`},
	} {
		got, err := policy.Over([]byte(c.document), []byte(c.active))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, want %s (%v)", name, got, c.want, err)
		}
	}
}

// Every member of the default document that is left out stays as it is.
func TestOverKeepsEveryMember(t *testing.T) {
	t.Parallel()
	doc := policy.Default()
	doc.MaxTimeoutMinutes, doc.MaxPauseMinutes, doc.GrantMaxUses, doc.RetentionDays, doc.UndoSeconds.High = 99, 7, 3, 30, 42
	active, err := doc.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	merged, err := policy.Over([]byte(`{}`), active)
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse(merged)
	if err != nil {
		t.Fatal(err)
	}
	if changes := policy.Diff(doc, p.Document()); len(changes) > 0 {
		t.Errorf("changed: %v", changes)
	}
}
