package requests

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/views/pages/inputs"
)

// The source may be closed at first only where the blocks draw the whole input: every member,
// every value to its end, nothing folded, nothing to warn of, at low or medium risk (I13).
func TestTheSourceIsClosedOnlyBelowAllOfItI13(t *testing.T) {
	t.Parallel()
	const payment = `{"amount":240.00,"currency":"EUR","to":"Nordlicht","reference":"R-1"}`
	for _, c := range []struct {
		name, tool, input string
		risk              models.Risk
		mend              func(*models.Approval)
		shut              bool
	}{
		{"low", "pay", payment, models.RiskLow, nil, true},
		{"medium", "pay", payment, models.RiskMedium, nil, true},
		{"high", "pay", payment, models.RiskHigh, nil, false},
		{"critical", "pay", payment, models.RiskCritical, nil, false},
		{"a risk that is not known", "pay", payment, "", nil, false},
		{"a tree", "submit", payment, models.RiskLow, nil, true},
		{"a command and the rest", "Bash", `{"command":"ls","timeout":5,"cwd":"/"}`, models.RiskLow, nil, true},
		{"a text that folds", "submit", `{"a":1,"b":2,"c":3,"d":"` + strings.Repeat("long ", 100) + `"}`, models.RiskLow, nil, false},
		{"a block that folds", "Bash", `{"command":"` + strings.Repeat(`ls\n`, 100) + `","timeout":5,"cwd":"/"}`, models.RiskLow, nil, false},
		{"edits that may say more", "MultiEdit", `{"file_path":"a","edits":[{"old_string":"a","new_string":"b","x":1}]}`, models.RiskLow, nil, false},
		{"a patch that may say more", "apply_patch", `{"patch":"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n","a":1,"b":2,"c":3}`, models.RiskLow, nil, false},
		{"more members than blocks", "submit", members(`"line\nline"`, inputs.LayoutBlocks+1), models.RiskLow, nil, false},
		{"more values than a tree", "submit", members("["+strings.Repeat("1,", 300)+"1]", 8), models.RiskLow, nil, false},
		{"too long to be laid out", "submit", `{"a":"` + strings.Repeat("x", inputs.LayoutMost) + `"}`, models.RiskLow, nil, false},
		{"hidden characters", "pay", strings.Replace(payment, "Nord", `Nord\u200b`, 1), models.RiskLow, nil, false},
		{"a host that looks like another", "submit", `{"a":1,"b":2,"c":"https://xn--80ak6aa92e.com/"}`, models.RiskLow, nil, false},
		{"another digest", "pay", payment, models.RiskLow, func(a *models.Approval) { a.Digest = "77aa" }, false},
		{"a part of an input", "pay", payment, models.RiskLow, func(a *models.Approval) { a.InputBytes = new(int64(5000)) }, false},
		{"a question", "ask", payment, models.RiskLow, func(a *models.Approval) { a.Kind = models.KindQuestion }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := models.Approval{Response: models.Response{Kind: models.KindToolCall, ToolName: c.tool, ToolInputJSON: c.input, Risk: c.risk, DigestVersion: models.DigestVersion}}
			var err error
			if a.Digest, err = a.DigestUnder(a.DigestVersion); err != nil {
				t.Fatal(err)
			}
			if c.mend != nil {
				c.mend(&a)
			}
			if v := New(Input{Approval: a, Substitution: models.ActingPage{Right: models.Right{Own: true, MayApprove: true}}}, time.Now()); (v.DrawnWhole && !v.SourceOpen) != c.shut {
				t.Errorf("drawn whole: %v, the source is open: %v", v.DrawnWhole, v.SourceOpen)
			}
		})
	}
}

// members is an object of so many members with one value.
func members(value string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`,"` + strings.Repeat("m", i+1) + `":` + value)
	}
	return "{" + b.String()[1:] + "}"
}
