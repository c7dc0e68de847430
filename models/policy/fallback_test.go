package policy_test

import (
	"testing"
	"time"

	"countersign/models"
	"countersign/models/policy"
)

// TestFallbackIsForToolsWithoutDenyOrHighRiskI11: whatever a rule's condition says, for the
// input is not known when a client wants to know.
func TestFallbackIsForToolsWithoutDenyOrHighRiskI11(t *testing.T) {
	t.Parallel()
	const rules = `"rules":[
 {"name":"never","tools":["format","/disk_.*/"],"effect":"deny"},
 {"name":"when","tools":["Bash"],"when":"input.command == \"rm\"","effect":"deny"},
 {"name":"free","tools":["read","late"],"effect":"allow"},
 {"name":"careful","tools":["deploy"],"effect":"require","risk":"critical"},
 {"name":"loud","tools":["mail","late"],"effect":"require","risk":"high"},
 {"name":"mild","tools":["note"],"effect":"require","risk":"medium"}],
 "templates":[{"name":"plain"},{"name":"grave","risk":"high"}],"required_approval_tools":["Write"]}`
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for _, on := range []bool{true, false} {
		doc := `{"fallback_auto_approve":false,` + rules
		if on {
			doc = `{"fallback_auto_approve":true,` + rules
		}
		p := parse(t, doc)
		for _, tt := range []struct {
			tool, template string
			kind           models.Kind
			want           bool
		}{
			{tool: "read", want: true},
			{tool: "note", want: true},
			{tool: "unknown", want: true},
			{tool: "Write", want: true},
			{tool: "late", want: true}, // a rule before it settles every call
			{tool: "format"},
			{tool: "disk_wipe"},
			{tool: "Bash"},
			{tool: "deploy"},
			{tool: "mail"},
			{tool: "DEPLOY"},
			{tool: "Disk_wipe"}, // similar names are held as the listed one
			{tool: "read", template: "plain", want: true},
			{tool: "read", template: "grave"},
			{tool: "read", kind: models.KindQuestion},
		} {
			if tt.kind == "" {
				tt.kind = models.KindToolCall
			}
			got := p.FallbackFor(policy.Call{Kind: tt.kind, ToolName: tt.tool, Template: tt.template, At: now})
			if got != (on && tt.want) {
				t.Errorf("on %v: %s under %q: %v", on, tt.tool, tt.template, got)
			}
		}
	}
}
