package policy_test

import (
	"errors"
	"slices"
	"strconv"
	"strings"
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

// Every level of risk has its own undo window, with its limits, its place in what the
// pages say, and its line in the guide.
func TestEveryRiskHasItsUndoWindow(t *testing.T) {
	t.Parallel()
	for i, risk := range models.Risks() {
		member := `"` + string(risk) + `"`
		u := parse(t, `{"undo_seconds":{`+member+`:`+strconv.Itoa(i+1)+`}}`).Document().UndoSeconds
		for _, other := range models.Risks() {
			want := time.Duration(0)
			if other == risk {
				want = time.Duration(i+1) * time.Second
			}
			if got := u.For(other); got != want {
				t.Errorf("undo_seconds.%s: %s is held for %v, want %v", risk, other, got, want)
			}
		}
		if want := string(risk) + " " + strconv.Itoa(i+1); !strings.Contains(u.String(), want) {
			t.Errorf("%q does not say %q", u, want)
		}
		_, err := policy.Parse([]byte(`{"undo_seconds":{` + member + `:601}}`))
		if e, ok := errors.AsType[*models.Error](err); !ok || e.Fields["undo_seconds."+string(risk)] == "" {
			t.Errorf("undo_seconds.%s of 601: %v", risk, err)
		}
		if !strings.Contains(policy.Guide, "`"+string(risk)+"`") || !strings.Contains(policy.Guide, member+": 0") {
			t.Errorf("the guide does not name %s", risk)
		}
	}
}

func TestRejectReasonsOfARule(t *testing.T) {
	t.Parallel()
	p := parse(t, `{"rules":[{"name":"Pay","tools":["pay"],"effect":"require","reject_reasons":["Too much","Not now"]},{"name":"Look","tools":["look"],"effect":"require","reject_reasons":[]}]}`)
	got := p.RejectReasons("Pay", "")
	if !slices.Equal(got, []string{"Too much", "Not now"}) {
		t.Errorf("%q", got)
	}
	got[0] = "changed"
	if again := p.RejectReasons("Pay", ""); again[0] != "Too much" {
		t.Error("what a reader does to the list changes the policy")
	}
	for _, rule := range []string{"Look", "gone", policy.RuleExplicit, ""} {
		if got := p.RejectReasons(rule, ""); len(got) != 0 {
			t.Errorf("%s: %q", rule, got)
		}
	}
}
