package browser_test

import (
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/policy"
	"countersign/models/storetest"
)

// adminTab is a tab in which the admin is signed in.
func adminTab(w *webtest.World, width int64, scripts bool) *tab {
	w.TB.Helper()
	p := openTab(w)
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
			w := webtest.New(t)
			storetest.Must(t, w.Store.People.AddGroup(t.Context(), w.Admin, "finance", ""))
			storetest.Must(t, w.Store.People.JoinGroup(t.Context(), w.Admin, "finance", webtest.OwnerEmail))
			for _, amount := range []string{"50", "5000"} { // what it would have made of real calls
				w.Ask(func(in *models.AskInput) {
					in.ToolName, in.Input, in.Explicit = "payment.send", []byte(`{"amount":`+amount+`}`), false
				})
			}
			p := adminTab(w, c.width, c.scripts)
			p.open("/policy/settings")
			p.retype("#default_timeout_minutes", "8")
			if !c.scripts { // with script the draft takes it along
				p.click("#policy-form button[value=keep]")
				p.sees(".draft-state", "Nothing takes effect")
			}
			p.click(".ways a[href='/policy']")
			p.sees("#rules-title", "Rules")
			p.click("#add-rule")
			p.sees("main h1", "A new rule")
			p.retype("#name", "payments")
			p.click(".advanced summary")
			p.retype("#tools", "/^payment/")
			if c.scripts {
				p.sees("#tool-matches", "matches 1 tool seen in the last 90 days: payment.send")
			}
			p.click("#condition-expression")
			p.retype("#when", "input.amount > 100")
			p.click("label:has([value='group:finance'])")
			p.click("details.step summary")
			p.do("choose the risk", chromedp.SendKeys(chromedp.CSS("#risk"), "high"))
			p.retype("#timeout_minutes", "60")
			p.click("#keep-rule")
			p.sees("#rule-1", "payments")
			p.sees(".draft-state", "Nothing takes effect")
			p.fits()
			p.open("/policy/settings")
			if got := p.value(`document.querySelector("#default_timeout_minutes").value`); got != "8" {
				t.Errorf("what was typed before became %q", got)
			}
			p.fits()
			for input, want := range map[string]string{
				`{"amount": 99}`: "runs without a person", `{"amount": 101}`: "its condition is true", `{"amount": "101"}`: "can't be judged, so the rule applies",
			} {
				p.open("/policy/try")
				p.retype("#tool", "payment.send")
				p.retype("#input", input)
				p.click("#try")
				p.sees(".tried-answer:nth-child(2)", want)
				p.fits()
			}
			p.open("/policy/replay")
			p.click("#replay")
			if !c.scripts {
				// Until the answer to the press is there: another page asked for before would abort it.
				p.becomes(`document.querySelector("#replay-summary, #replayed .panel-line") !== null`)
				for p.value(`document.querySelector("#replay-summary") !== null`) != "true" && t.Context().Err() == nil {
					p.open("/policy/replay") // as "Look again" does
				}
			}
			p.sees("#replay-summary", "Of 2 calls")
			p.sees("#replayed", "payments")
			p.fits()
			p.open("/policy")
			p.click("#review")
			p.sees("main h1", "Review your draft")
			p.sees("#changes", "New rule payments: calls wait for finance")
			p.sees("#replayed-briefly", "Of the last 2 calls, 1 would have waited.")
			p.fits()
			p.click(".difference > summary")
			p.sees(".difference", `"default_timeout_minutes": 8`)
			p.fits()
			w.PolicyIs(1)
			p.retype("#note", "payments need finance")
			p.click("#save")
			p.sees(".flash", "new version")
			if doc := w.PolicyIs(2); doc.DefaultTimeoutMinutes != 8 || len(doc.Rules) != 1 || doc.Rules[0].Risk != models.RiskHigh || doc.Rules[0].Effect != policy.EffectRequire ||
				!slices.Equal(doc.Rules[0].Reviewers, []string{"group:finance"}) {
				t.Fatalf("saved %+v", doc)
			}
			held := w.Ask(func(in *models.AskInput) {
				in.ToolName, in.Input, in.Explicit = "payment.send", []byte(`{"amount":101}`), false
			})
			if held.Status() != models.StatusPending || held.Risk != models.RiskHigh || held.PolicyRule != "payments" {
				t.Errorf("it is %s at %s by %q", held.Status(), held.Risk, held.PolicyRule)
			}
			p.open("/policy/versions/1")
			p.click("#restore")
			p.sees("main h1", "Review your draft")
			p.retype("#note", "back again")
			p.click("#save")
			p.sees(".flash", "new version")
			if doc := w.PolicyIs(3); len(doc.Rules) != 0 || doc.DefaultTimeoutMinutes != 5 {
				t.Errorf("restored %+v", doc)
			}
		})
	}
}

// Enter in a field reviews what was typed, and presses no button of a rule.
func TestInABrowserEnterReviewsThePolicy(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"rules": [{"name": "a", "tools": ["x"], "effect": "deny"}, {"name": "b", "tools": ["y"], "effect": "deny"}]}`)
	p := adminTab(w, 1440, true)
	p.open("/policy/settings")
	p.retype("#max_pause_minutes", "30\r")
	p.sees("main h1", "Review your draft")
	p.sees("#changes", "Minutes that a question may pause the timer")
	if p.value(`document.querySelectorAll("#changes > li").length`) != "1" {
		t.Errorf("something else changes too: %s", p.text("#changes"))
	}

	// By keys alone: to the row of a rule, and down with it.
	p.open("/policy")
	p.value(`document.querySelector("#rule-1 summary").focus()`)
	p.do("open more", chromedp.KeyEvent("\r"))
	p.do("to move down", chromedp.KeyEvent("\t"))
	p.do("press it", chromedp.KeyEvent("\r"))
	p.becomes(`document.querySelector("#rule-1 .rule-name")?.innerText.trim() === "b" && document.querySelector("#rule-2 .rule-name")?.innerText.trim() === "a"`)
	w.PolicyIs(2)
}

// The same by keys alone: from field to field with Tab, and Enter or Space on what is
// focused.
func TestInABrowserARuleIsWrittenByKeys(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := adminTab(w, 1440, true)
	// to moves with Tab until something is focused.
	to := func(selector string) {
		t.Helper()
		for range 120 {
			if p.value(`document.activeElement?.matches(`+"`"+selector+"`"+`) === true`) == "true" {
				return
			}
			p.do("tab", chromedp.KeyEvent("\t"))
		}
		t.Fatalf("Tab does not lead to %s", selector)
	}
	write := func(selector, text string) {
		t.Helper()
		to(selector)
		p.do("type", chromedp.KeyEvent(text))
	}
	p.open("/policy")
	to("#add-rule")
	p.do("add", chromedp.KeyEvent("\r"))
	p.sees("main h1", "A new rule")
	write("#name", "payments over 100")
	press := func(selector, key string) {
		t.Helper()
		to(selector)
		p.do("press", chromedp.KeyEvent(key))
	}
	// No tool was seen yet, so that names are to be typed.
	write("#tools", "/^payment/")
	press("#condition-always", kb.ArrowRight)
	press("#condition-rows", kb.ArrowRight)
	write("#when", "input.amount > 100")
	press("details.step summary", "\r")
	write("#risk", "high")
	to("#keep-rule")
	p.do("keep", chromedp.KeyEvent("\r"))
	p.sees("#rule-1", "input.amount > 100")
	p.open("/policy/try")
	write("#tool", "payment.send")
	write("#input", `{"amount": 101}`)
	to("#try")
	p.do("try", chromedp.KeyEvent("\r"))
	p.sees(".tried-answer:nth-child(2)", "its condition is true")
	p.open("/policy/replay")
	to("#replay")
	p.do("replay", chromedp.KeyEvent("\r"))
	p.sees("#replay-summary", "No calls found.")
	p.open("/policy/review")
	write("#note", "by keys")
	to("#save")
	p.do("save", chromedp.KeyEvent("\r"))
	p.sees(".flash", "new version")
	if doc := w.PolicyIs(2); len(doc.Rules) != 1 || doc.Rules[0].When != "input.amount > 100" || doc.Rules[0].Risk != models.RiskHigh {
		t.Errorf("saved %+v", doc)
	}
}

// Rules are dragged to another place, and moved by Alt and the arrow keys, with the focus
// staying on them; the lines of the JSON are numbered.
func TestInABrowserRulesAreDraggedAndMovedByKeys(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"rules": [{"name": "a", "tools": ["x"], "effect": "deny"}, {"name": "b", "tools": ["y"], "effect": "deny"}, {"name": "c", "tools": ["z"], "effect": "deny"}]}`)
	p := adminTab(w, 1440, true)
	order := func(want string) {
		t.Helper()
		p.becomes(`[...document.querySelectorAll("tr[id^=rule-] .rule-name")].map((td) => td.innerText.trim()).join("") === "` + want + `"`)
	}
	p.open("/policy")
	draggable := func(id string) {
		t.Helper()
		p.becomes(`document.querySelector("` + id + ` [data-drag]")?.draggable === true`)
	}
	draggable("#rule-1")
	const drag = `((from, to, bottom) => {
  const carry = new DataTransfer(), box = document.querySelector(to).getBoundingClientRect(), y = bottom ? box.bottom - 2 : box.top + 2;
  const send = (at, type) => document.querySelector(at).dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: carry, clientY: y }));
  send(from + " [data-drag]", "dragstart"); send(to + " td", "dragover"); send(to + " td", "drop"); send(from + " [data-drag]", "dragend");
})`
	p.value(drag + `("#rule-1", "#rule-3", true)`)
	order("bca")
	draggable("#rule-3") // the script makes handles after the rows are drawn
	p.value(drag + `("#rule-3", "#rule-1", false)`)
	order("abc")
	p.becomes(`document.activeElement?.closest("tr")?.id === "rule-1"`)
	p.do("down by keys", chromedp.KeyEvent(kb.ArrowDown, chromedp.KeyModifiers(chromedp.ModifierAlt)))
	order("bac")
	p.becomes(`document.activeElement?.closest("tr")?.id === "rule-2"`)

	p.open("/policy/json")
	p.becomes(`document.querySelector(".gutter")?.textContent.startsWith("1\n2\n3")`)
	p.becomes(`document.querySelector(".gutter").textContent.split("\n").length === document.querySelector("#document").value.split("\n").length`)
	p.fits()
}

// In a browser, with script and without, by the buttons alone; a call goes through, and the
// page turns from red when the system has saved the end.
func TestInABrowserTheGateIsSwitchedOff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		width   int64
		scripts bool
	}{{"wide", 1440, true}, {"phone without script", 390, false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := webtest.New(t)
			p := adminTab(w, c.width, c.scripts)
			p.open("/policy/settings")
			p.click("#gate-switch summary")
			p.do("wait", chromedp.WaitVisible(chromedp.CSS("#gate-off")))
			p.value(`document.querySelector("#gate-off").scrollIntoView({ block: "center" }), ""`) // from under the bar
			p.click("#gate-off")
			p.sees("main", "no tool call waits for a person from the moment you save until")
			p.fill("#note", "migration")
			p.click("#save")
			p.sees(".dangers", "The gate is off until")
			through := func() *models.Approval {
				return w.Ask(func(in *models.AskInput) { in.ToolName, in.Explicit = "deploy", true })
			}
			if a := through(); a.Cause != models.CauseGateOff {
				t.Errorf("a call is %s, %s", a.Status(), a.Cause)
			}
			w.Clock.Step(61 * time.Minute)
			if a := through(); a.Status() != models.StatusPending {
				t.Errorf("behind the end a call is %s, %s", a.Status(), a.Cause)
			}
		})
	}
}

// Approve and make a rule asks as any approval does, and goes on to the rule's form.
func TestInABrowserAnApprovalLeadsToARule(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(webtest.Danger)
	a := w.Ask()
	p := adminTab(w, 1440, true)
	p.open(webtest.PageOf(a))
	p.sees("#live-text", "live")
	p.click("#approve-rule")
	p.becomes(asks)
	p.sees("#decide [data-armed]", "and make a rule from it?")
	p.becomes(`document.querySelector("#decide [data-confirm]:not([aria-disabled])") !== null`)
	p.do("confirm", chromedp.Click(chromedp.CSS("#decide [data-confirm]")))
	p.becomes(`location.pathname + location.search === "/policy/rules/new?from=` + string(a.ID) + `"`)
	p.becomes(`document.querySelector("#tool-choices :checked")?.value === "` + a.ToolName + `"`)
	if got := w.Approval(a.ID).Status(); got != models.StatusApproved {
		t.Errorf("it is %s", got)
	}
}

// What is typed while a check is under way is checked: the answer to the one before is not the last word.
func TestInABrowserAConditionIsCheckedAsItWasTypedLast(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.Ask(func(in *models.AskInput) { in.ToolName, in.Input = "payment.send", []byte(`{"amount": "103.50"}`) })
	p := adminTab(w, 1440, true)
	p.open("/policy/rules/new")
	p.click("label:has([name=tool][value='payment.send'])")
	p.click("#condition-rows")
	p.sees("#condition-findings", "not complete yet")
	p.value(`window.goes = window.fetch, window.held = [], window.fetch = (...asked) => new Promise((resolve, reject) => held.push(() => goes(...asked).then(resolve, reject))), ""`)
	p.value(`((s) => { s.value = "input.amount"; s.dispatchEvent(new Event("change", { bubbles: true })); return s.value })(document.querySelector("#c1_subject"))`)
	p.becomes(`held.length === 1`)
	p.value(`((s) => { s.value = "greater:number"; s.dispatchEvent(new Event("change", { bubbles: true })); return s.value })(document.querySelector("#c1_op"))`)
	p.retype("#c1_value", "100")
	p.becomes(`held.length > 1`)
	p.value(`window.fetch = goes, held.forEach((go) => go()), ""`)
	p.sees("#condition-findings", "Matches the one call that is known.")
	// An answer that comes while what was typed last still waits for its delay.
	p.value(`window.held = [], window.fetch = (...asked) => new Promise((resolve, reject) => held.push(() => goes(...asked).then((answer) => (setTimeout(typed), resolve(answer)), reject))), ""`)
	p.value(`window.typed = () => ((s) => { s.value = "200"; s.dispatchEvent(new Event("input", { bubbles: true })) })(document.querySelector("#c1_value")), ""`)
	p.value(`((s) => { s.dispatchEvent(new Event("change", { bubbles: true })); return "" })(document.querySelector("#c1_op"))`)
	p.becomes(`held.length === 1`)
	p.value(`window.fetch = goes, held[0](), ""`)
	p.sees("#condition-findings", "Matches 0 of the last 1 call")
}

// The four rules that an admin writes who knows neither patterns nor expressions, with script and without: each by
// choosing and by typing plain values, in a form of at most eight fields.
func TestInABrowserFourRulesAreWrittenByChoosing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		width   int64
		scripts bool
	}{{"wide", 1440, true}, {"phone without script", 390, false}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := webtest.New(t)
			for _, group := range []string{"finance", "oncall"} {
				storetest.Must(t, w.Store.People.AddGroup(t.Context(), w.Admin, group, ""))
				storetest.Must(t, w.Store.People.JoinGroup(t.Context(), w.Admin, group, webtest.OwnerEmail))
			}
			ask := func(tool, input string) *models.Approval {
				t.Helper()
				return w.Ask(func(in *models.AskInput) { in.ToolName, in.Input, in.Explicit = tool, []byte(input), false })
			}
			for tool, inputs := range map[string][]string{
				"payment.send": {`{"amount": "103.50", "currency": "EUR"}`, `{"amount": "20", "currency": "EUR"}`},
				"shell.run":    {`{"command": "npm ci && npm test"}`, `{"command": "rm -rf /tmp/build"}`, `{"command": "rm -rf /srv/data"}`},
				"file.read":    {`{"path": "README.md"}`}, "deploy": {`{"version": "1.2"}`},
			} {
				for _, input := range inputs {
					ask(tool, input)
				}
			}
			p := adminTab(w, c.width, c.scripts)
			begin := func(name, tool string) {
				t.Helper()
				p.open("/policy/rules/new")
				const fields = `new Set([...document.querySelectorAll("#rule-form :is(input, select, textarea)")].filter((f) => f.checkVisibility()).map((f) => f.name)).size`
				if n := p.value(fields); n > "8" || len(n) > 1 {
					t.Errorf("a new rule has %s fields in view", n)
				}
				p.retype("#name", name)
				p.click("label:has([name=tool][value='" + tool + "'])")
			}
			choose := func(selector, value string) {
				t.Helper()
				p.value(`((s) => { s.value = "` + value + `"; s.dispatchEvent(new Event("change", { bubbles: true })); return s.value })(document.querySelector("` + selector + `"))`)
			}
			row := func(n, subject, operator, value string) {
				t.Helper()
				p.click("#condition-rows")
				choose("#c"+n+"_subject", subject)
				if off := p.value(`document.querySelector("#c` + n + `_op option[value='between:number']").disabled`); c.scripts && subject == "command" && off != "true" {
					t.Error("a command is offered to be compared with a number")
				}
				choose("#c"+n+"_op", operator)
				p.retype("#c"+n+"_value", value)
			}
			says := func(text string) {
				t.Helper()
				if !c.scripts {
					p.click("#condition-fields button[value=check]")
				}
				p.sees("#condition-findings", text)
				p.fits()
			}
			keep := func(row string, texts ...string) {
				t.Helper()
				p.click("#keep-rule")
				for _, text := range texts {
					p.sees("#rule-"+row, text)
				}
			}
			rest := func() { p.click("details.step summary") }

			begin("Payments over 100 EUR", "payment.send")
			row("1", "input.amount", "greater:number", "100")
			says("Matches 1 of the last 2 calls.")
			p.click("label:has([value='group:finance'])")
			rest()
			p.do("choose the risk", chromedp.SendKeys(chromedp.CSS("#risk"), "high"))
			keep("1", "calls wait for finance", "high risk")

			begin("No deletes outside of /tmp", "shell.run")
			row("1", "command", "deletes_outside:text", "/tmp")
			says("Matches 1 of the last 3 calls.")
			p.click("label:has(#effect-deny)")
			keep("2", "calls are denied")

			begin("Reads", "file.read")
			p.click("label:has(#effect-allow)")
			keep("3", "calls run without a person")

			begin("Deploys", "deploy")
			p.click("label:has([value='group:oncall'])")
			rest()
			p.retype("#timeout_minutes", "120")
			p.retype("#checklist", "The tests are green")
			keep("4", "calls wait for oncall", "2 hours", "The tests are green")

			p.click("#review")
			p.sees("main h1", "Review your draft")
			p.fill("#note", "four rules")
			p.click("#save")
			p.sees(".flash", "new version")
			if doc := w.PolicyIs(2); len(doc.Rules) != 4 {
				t.Fatalf("saved %+v", doc)
			}
			for _, call := range []struct {
				tool, input string
				status      models.Status
				rule        string
			}{
				{"payment.send", `{"amount": "100.01", "currency": "EUR"}`, models.StatusPending, "Payments over 100 EUR"},
				{"payment.send", `{"amount": "99.99", "currency": "EUR"}`, models.StatusNone, ""},
				{"shell.run", `{"command": "npm ci && npm test"}`, models.StatusNone, ""},
				{"shell.run", `{"command": "rm -rf /tmp/build"}`, models.StatusNone, ""},
				{"shell.run", `{"command": "cd / && rm -rf /srv"}`, models.StatusRejected, "No deletes outside of /tmp"},
				{"file.read", `{"path": "a"}`, models.StatusNone, "Reads"},
				{"deploy", `{"version": "2"}`, models.StatusPending, "Deploys"},
			} {
				a := ask(call.tool, call.input)
				if a.Status() != call.status || call.rule != "" && a.PolicyRule != call.rule {
					t.Errorf("%s %s is %q by %q", call.tool, call.input, a.Status(), a.PolicyRule)
				}
			}
		})
	}
}
