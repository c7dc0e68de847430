package policy_test

import (
	"slices"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/policy"
)

// A document that says nothing holds no approval, lets questions stop the clock
// for an hour, and allows grants of a day.
func TestTheDeskBeforeAnybodyWroteAnything(t *testing.T) {
	t.Parallel()
	d := parse(t, `{}`).Document()
	if d.UndoSeconds != (policy.UndoSeconds{}) || d.MaxPauseMinutes != 60 || !d.GrantsEnabled || d.GrantMaxHours != 24 || d.GrantMaxUses != 50 {
		t.Errorf("%+v", d)
	}
}

func TestUndoByRisk(t *testing.T) {
	t.Parallel()
	u := parse(t, `{"undo_seconds":{"low":1,"high":3}}`).Document().UndoSeconds
	for risk, want := range map[models.Risk]time.Duration{
		models.RiskLow: time.Second, models.RiskMedium: 0, models.RiskHigh: 3 * time.Second, models.RiskCritical: 0, "unheard of": 0,
	} {
		if got := u.For(risk); got != want {
			t.Errorf("%s: %v, want %v", risk, got, want)
		}
	}
}

func TestRejectReasonsOfARule(t *testing.T) {
	t.Parallel()
	p := parse(t, `{"rules":[{"name":"Pay","tools":["pay"],"effect":"require","reject_reasons":["Too much","Not now"]},{"name":"Look","tools":["look"],"effect":"require","reject_reasons":[]}]}`)
	got := p.RejectReasons("Pay")
	if !slices.Equal(got, []string{"Too much", "Not now"}) {
		t.Errorf("%q", got)
	}
	got[0] = "changed"
	if again := p.RejectReasons("Pay"); again[0] != "Too much" {
		t.Error("what a reader does to the list changes the policy")
	}
	for _, rule := range []string{"Look", "gone", policy.RuleExplicit, ""} {
		if got := p.RejectReasons(rule); len(got) != 0 {
			t.Errorf("%s: %q", rule, got)
		}
	}
}
