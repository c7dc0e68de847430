package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"countersign/models"
	"countersign/models/policy"
	"countersign/models/storetest"
)

// adminTab is a tab in which the admin is signed in.
func (w *world) adminTab(width int64, scripts bool) *tab {
	w.tb.Helper()
	p := w.tab()
	p.do("size", chromedp.EmulateViewport(width, 900))
	if !scripts {
		p.withoutScript()
	}
	p.open("/")
	p.fill("#email", "admin@example.com")
	p.fill("#password", storetest.Password)
	p.click("#sign-in")
	p.sees("main h1", "Inbox")
	return p
}

// retype puts a text in the place of what a field holds.
func (t *tab) retype(selector, text string) {
	t.tb.Helper()
	t.value(`document.querySelector("` + selector + `").value = ""`)
	t.do("type "+selector, chromedp.WaitVisible(chromedp.CSS(selector)), chromedp.SendKeys(chromedp.CSS(selector), text))
}

// A rule is written, reviewed and saved by form only; it holds a real call, and the version
// before comes back.
func TestInABrowserARuleIsWrittenAndTheVersionBeforeRestored(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		width   int64
		scripts bool
	}{{"wide", 1440, true}, {"phone", 390, true}, {"without script", 1440, false}, {"phone without script", 390, false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.adminTab(c.width, c.scripts)
			p.open("/policy")
			p.retype("#default_timeout_minutes", "8")
			p.click("#add-rule")
			p.sees("main h1", "A new rule")
			p.retype("#name", "payments")
			p.retype("#tools", "/^payment/")
			p.do("choose the risk", chromedp.SendKeys(chromedp.CSS("#risk"), "high"))
			p.retype("#timeout_minutes", "60")
			p.retype("#reviewers-1", ownerEmail)
			p.click("#keep-rule")
			p.sees("#rule-1", "payments")
			p.sees(".draft-state", "Nothing takes effect")
			if got := p.value(`document.querySelector("#default_timeout_minutes").value`); got != "8" {
				t.Errorf("what was typed before became %q", got)
			}
			p.fits()
			p.click("#review")
			p.sees("main h1", "Review your draft")
			p.sees("table", "payments")
			p.fits()
			w.policyIs(1)
			p.retype("#note", "payments need finance")
			p.click("#save")
			p.sees(".flash", "new version")
			if doc := w.policyIs(2); doc.DefaultTimeoutMinutes != 8 || len(doc.Rules) != 1 || doc.Rules[0].Risk != models.RiskHigh || doc.Rules[0].Effect != policy.EffectRequire {
				t.Fatalf("saved %+v", doc)
			}
			held := w.ask(func(in *models.AskInput) { in.ToolName = "payment.send" })
			if held.Status() != models.StatusPending || held.Risk != models.RiskHigh || held.PolicyRule != "payments" {
				t.Errorf("it is %s at %s by %q", held.Status(), held.Risk, held.PolicyRule)
			}
			p.open("/policy/versions/1")
			p.click("#restore")
			p.sees("main h1", "Review your draft")
			p.retype("#note", "back again")
			p.click("#save")
			p.sees(".flash", "new version")
			if doc := w.policyIs(3); len(doc.Rules) != 0 || doc.DefaultTimeoutMinutes != 5 {
				t.Errorf("restored %+v", doc)
			}
		})
	}
}

// Enter in a field reviews what was typed, and presses no button of a rule.
func TestInABrowserEnterReviewsThePolicy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(`{"rules": [{"name": "a", "tools": ["x"], "effect": "deny"}, {"name": "b", "tools": ["y"], "effect": "deny"}]}`)
	p := w.adminTab(1440, true)
	p.open("/policy")
	p.retype("#max_pause_minutes", "30\r")
	p.sees("main h1", "Review your draft")
	p.sees("table", "max_pause_minutes")
	if p.value(`document.querySelectorAll("tbody tr").length`) != "1" {
		t.Errorf("something else changes too: %s", p.text("table"))
	}

	// By keys alone: to the row of a rule, and down with it.
	p.open("/policy")
	p.value(`document.querySelector("#rule-1 button[value='down:0']").focus()`)
	p.do("press it", chromedp.KeyEvent("\r"))
	p.becomes(`document.querySelector("#rule-1 td")?.innerText.trim() === "b" && document.querySelector("#rule-2 td")?.innerText.trim() === "a"`)
	w.policyIs(2)
}
