package policy_test

import (
	"slices"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/policy"
)

func TestDiffOfFields(t *testing.T) {
	t.Parallel()
	a, b := policy.Default(), policy.Default()
	if got := policy.Diff(a, b); len(got) != 0 {
		t.Errorf("the same document: %q", got)
	}
	b.ApprovalEnabled, b.ApprovalOffUntil, b.FallbackUntil = false, new(end), new(end.Add(time.Second))
	b.RequiredApprovalTools = []string{"a", "/b,c/"}
	b.DefaultTimeoutMinutes, b.MaxTimeoutMinutes, b.ProposalTimeoutMinutes = 10, 60, new(30)
	b.FallbackAutoApprove = true
	b.Unmatched = policy.EffectRequire
	b.AutoBudgetIncrease = 25
	b.BudgetPerAgent = &policy.BudgetPerAgent{Energy: 500, Hours: 24}
	b.UndoSeconds.High, b.MaxPauseMinutes, b.GrantsEnabled, b.GrantMaxHours, b.GrantMaxUses = 10, 90, false, 8, 20
	b.RetentionDays, b.ExplicitResponseID = 90, true
	want := []policy.Change{
		{Path: "approval_enabled", Before: "true", After: "false"},
		{Path: "approval_off_until", Before: "none", After: "2026-11-23 14:00 UTC"},
		{Path: "required_approval_tools", Before: "none", After: `"a", "/b,c/"`},
		{Path: "default_timeout_minutes", Before: "5", After: "10"},
		{Path: "max_timeout_minutes", Before: "1440", After: "60"},
		{Path: "proposal_timeout_minutes", Before: "none", After: "30"},
		{Path: "fallback_auto_approve", Before: "false", After: "true"},
		{Path: "fallback_until", Before: "none", After: "2026-11-23 14:00:01 UTC"},
		{Path: "auto_budget_increase", Before: "0", After: "25"},
		{Path: "budget_per_agent", Before: "none", After: "500 units of energy in 24 hours"},
		{Path: "undo_seconds", Before: policy.UndoSeconds{}.String(), After: policy.UndoSeconds{High: 10}.String()},
		{Path: "max_pause_minutes", Before: "60", After: "90"},
		{Path: "explicit_response_id", Before: "false", After: "true"},
		{Path: "grants_enabled", Before: "true", After: "false"},
		{Path: "grant_max_hours", Before: "24", After: "8"},
		{Path: "grant_max_uses", Before: "50", After: "20"},
		{Path: "retention_days", Before: "0", After: "90"},
		{Path: "unmatched", Before: "allow", After: "require"},
	}
	if got := policy.Diff(a, b); !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestDiffOfRules(t *testing.T) {
	t.Parallel()
	rule := func(name string) policy.Rule {
		return policy.Rule{Name: name, Tools: []string{name}, Effect: policy.EffectRequire}
	}
	changed := policy.Rule{
		Name: "b", Note: "none", Tools: []string{"b", "b2"}, Effect: policy.EffectDeny, TimeoutMinutes: new(3),
		Risk: models.RiskHigh, Reviewers: []string{"a@b"}, Reason: "Why.", Energy: 5, RejectReasons: []string{"No"}, NotifyHeadline: true, WhenBusy: models.BusyExpire,
		Escalate: []policy.Escalation{{AfterMinutes: 2, To: []string{"group:g", "c@d"}}}, Substitutes: new(false),
	}
	medium := rule("a")
	medium.Risk = models.RiskMedium
	for name, c := range map[string]struct {
		before, after []policy.Rule
		want          []policy.Change
	}{
		"said medium": {[]policy.Rule{rule("a")}, []policy.Rule{medium}, nil},
		"new": {[]policy.Rule{rule("a")}, []policy.Rule{changed, rule("a")}, []policy.Change{{
			Path:  `rules["b"]`,
			After: `rule 1 of 2: deny "b", "b2", risk high, timeout_minutes 3, reviewers "a@b", escalate "2: group:g, c@d", substitutes false, when_busy expire, reason "Why.", energy 5, reject_reasons "No", notify_headline, note "none"`,
		}}},
		"gone": {[]policy.Rule{rule("a"), rule("b")}, []policy.Rule{rule("b")}, []policy.Change{{
			Path: `rules["a"]`, Before: `require "a", risk medium`,
		}}},
		"changed": {[]policy.Rule{rule("b")}, []policy.Rule{changed}, []policy.Change{
			{Path: `rules["b"].note`, Before: "none", After: `"none"`},
			{Path: `rules["b"].tools`, Before: `"b"`, After: `"b", "b2"`},
			{Path: `rules["b"].effect`, Before: "require", After: "deny"},
			{Path: `rules["b"].timeout_minutes`, Before: "none", After: "3"},
			{Path: `rules["b"].risk`, Before: "medium", After: "high"},
			{Path: `rules["b"].reviewers`, Before: "none", After: `"a@b"`},
			{Path: `rules["b"].escalate`, Before: "none", After: `"2: group:g, c@d"`},
			{Path: `rules["b"].substitutes`, Before: "true", After: "false"},
			{Path: `rules["b"].when_busy`, Before: "none", After: "expire"},
			{Path: `rules["b"].reason`, Before: "none", After: `"Why."`},
			{Path: `rules["b"].reject_reasons`, Before: "none", After: `"No"`},
			{Path: `rules["b"].energy`, Before: "0", After: "5"},
			{Path: `rules["b"].notify_headline`, Before: "false", After: "true"},
		}},
		"moved": {[]policy.Rule{rule("a"), rule("b"), rule("c")}, []policy.Rule{rule("b"), rule("a")}, []policy.Change{
			{Path: `rules["c"]`, Before: `require "c", risk medium`},
			{Path: "order of rules", Before: `"a", "b"`, After: `"b", "a"`},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := policy.Diff(policy.Document{Rules: c.before}, policy.Document{Rules: c.after}); !slices.Equal(got, c.want) {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}
