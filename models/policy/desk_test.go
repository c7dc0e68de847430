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

// TestWhenBusyIsForLowRiskOnly, in a rule that asks, and to escalate needs somebody to ask.
func TestWhenBusyIsForLowRiskOnly(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		`"effect":"require","risk":"low","when_busy":"batch"`:                                                              "",
		`"effect":"require","template":"small","when_busy":"expire"`:                                                       "",
		`"effect":"require","risk":"low","when_busy":"escalate","escalate":[{"after_minutes":2,"to":["ann@example.com"]}]`: "",
		`"effect":"require","risk":"low","when_busy":"escalate"`:                                                           "needs escalate: whom to ask at once where all others are busy",
		`"effect":"require","when_busy":"batch"`:                                                                           "is only for rules of low risk, and this one's is medium: such calls are always asked about",
		`"effect":"require","risk":"critical","when_busy":"expire"`:                                                        "is only for rules of low risk, and this one's is critical: such calls are always asked about",
		`"effect":"deny","risk":"low","when_busy":"expire"`:                                                                "has no effect in a rule that says deny: only calls that wait need attention",
		`"effect":"require","risk":"low","when_busy":"later"`:                                                              "must be expire, escalate or batch, or be left out",
	} {
		_, err := policy.Parse([]byte(`{"templates":[{"name":"small","risk":"low"}],"rules":[{"name":"a","tools":["x"],` + rule + `}]}`))
		got := ""
		if e, ok := errors.AsType[*models.Error](err); ok {
			got = e.Fields["rules[0].when_busy"]
		} else if err != nil {
			t.Errorf("%s: %v", rule, err)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", rule, got, want)
		}
	}
	for _, member := range []string{"max_asks_per_reviewer_hour", "flood_per_hour"} {
		for _, value := range []string{"-1", "9", "1001"} {
			if value == "9" && member != "flood_per_hour" {
				continue
			}
			_, err := policy.Parse([]byte(`{"` + member + `":` + value + `}`))
			if e, ok := errors.AsType[*models.Error](err); !ok || e.Fields[member] == "" {
				t.Errorf("%s of %s: %v", member, value, err)
			}
		}
	}
}

// TestNothingButItsOwnRuleTreatsACallAsOfLowRisk: not a similar name, not a condition that can't be judged, not a request
// that only a person can settle.
func TestNothingButItsOwnRuleTreatsACallAsOfLowRisk(t *testing.T) {
	t.Parallel()
	p := parse(t, `{"templates":[{"name":"careful","risk":"medium"}],"rules":[
		{"name":"a","tools":["read"],"effect":"require","risk":"low","when_busy":"expire"},
		{"name":"b","tools":["send"],"when":"input.n > 1","effect":"require","risk":"low","when_busy":"expire"}]}`)
	for name, c := range map[string]struct {
		call policy.Call
		want models.WhenBusy
	}{
		"its rule":         {with("read", `{}`), models.BusyExpire},
		"its condition":    {with("send", `{"n":2}`), models.BusyExpire},
		"a similar name":   {with("Read", `{}`), ""},
		"not judged":       {with("send", `{}`), ""},
		"a template":       {policy.Call{Kind: models.KindToolCall, ToolName: "read", Template: "careful"}, ""},
		"a question":       {policy.Call{Kind: models.KindQuestion, ToolName: "read"}, ""},
		"a budget request": {policy.Call{Kind: models.KindBudget, ToolName: "read"}, ""},
	} {
		if j := p.Judge(c.call); j.Effect != policy.EffectRequire || j.WhenBusy != c.want {
			t.Errorf("%s: %s, %q, want %q", name, j.Effect, j.WhenBusy, c.want)
		}
	}
}
