package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"countersign/models"
	"countersign/models/storetest"
)

// switchForm is the form of the policy page with a button of a switch pressed.
func (p *person) switchForm(button string, fill map[string]string) url.Values {
	form := p.get("/policy").is(http.StatusOK).form("#policy-form", "#"+button)
	for name, text := range fill {
		form.Set(name, text)
	}
	return form
}

// The gate is switched off until a time by form only: reviewed, saved, red on every page, and
// on again at its end; and one press puts it on again before.
func TestTheGateIsSwitchedOffForAnHourI3I11(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn("admin@example.com")
	now := w.clock.Now()
	p.get("/policy").says("#gate-switch", "The gate is on", "60 minutes", "Until when?").says("#fallback-switch", "Fallback is off")
	p.post("/policy", p.switchForm("gate-off", nil)).redirects("/policy/review")
	w.policyIs(1) // nothing is saved before the review
	p.get("/policy").says("#gate-switch", "The gate is off until "+now.Add(time.Hour).Format("2006-01-02 15:04"))
	p.get("/").is(http.StatusOK)
	if n := p.get("/").doc.Find(".dangers").Length(); n != 0 {
		t.Error("a draft warns every page")
	}
	review := p.get("/policy/review").says(".warning", "The gate will be off: no tool call waits for a person from the moment you save until", "(1 hour)", "Pending requests stay pending.")
	if at, _ := review.doc.Find(".warning time").Attr("datetime"); at != now.Add(time.Hour).Format(time.RFC3339) {
		t.Errorf("the review has the time %q", at)
	}
	save := review.form("form:has(#save)", "#save")
	save.Set("note", "migration")
	p.post("/policy/review", save).redirects("/policy")
	doc := w.policyIs(2)
	if doc.ApprovalEnabled || doc.ApprovalOffUntil == nil || !doc.ApprovalOffUntil.Equal(now.Add(time.Hour)) {
		t.Errorf("saved %+v", doc)
	}
	red := p.get("/audit").says(".dangers", "The gate is off until", "approval_enabled")
	if at, _ := red.doc.Find(".dangers time").Attr("datetime"); at != now.Add(time.Hour).Format(time.RFC3339) {
		t.Errorf("the warning has the time %q", at)
	}
	p.get("/system").says("main", "Off until 2026-03-02 13:00 UTC")
	w.signedIn(ownerEmail).get("/policy").says("main", "false until 2026-03-02 13:00 UTC", "Approval is off")

	// At the end nothing is red any more, though nobody has written it down.
	w.clock.Step(time.Hour)
	if n := p.get("/audit").doc.Find(".dangers").Length(); n != 0 {
		t.Error("it is red behind the end")
	}
	w.policyIs(2)
	w.signedIn(ownerEmail).get("/policy").saysNot("main", "Approval is off")
	storetest.Must(t, storetest.Err(w.store.EndSwitches(t.Context())))
	p.get("/policy").says("main", "v3", "Countersign", "The gate was switched on again: its end of 2026-03-02 13:00 UTC was reached.").says("#gate-switch", "The gate is on")

	// What let calls through then is not restored.
	p.post("/policy/versions/2/restore", nil).redirects("/policy/review")
	p.get("/policy/review").says(".flash", "a time that has passed").says("main", "Nothing would change")
	p.post("/policy", url.Values{"step": {"discard"}}).redirects("/policy")

	p.post("/policy", p.switchForm("gate-off", map[string]string{"gate_for": "240"})).redirects("/policy/review")
	p.post("/policy", p.switchForm("gate-on", nil)).is(http.StatusOK).says("main", "Nothing would change").says("#gate-switch", "The gate is on")
}

// An end that is wrong comes back as it was typed, with the fault at its field, and what was
// typed elsewhere stays.
func TestAnEndThatIsWrongComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn("admin@example.com")
	for name, tt := range map[string]struct {
		fill         map[string]string
		at, says     string
		kept, filled string
	}{
		"no time":        {map[string]string{"gate_for": "until", "gate_at": "tomorrow"}, "#gate_at-error", "must be a date and a time", "#gate_at", "tomorrow"},
		"past":           {map[string]string{"gate_for": "until", "gate_at": "2026-03-02T11:00"}, "#gate_at-error", "is in the past", "#gate_at", "2026-03-02T11:00"},
		"too far":        {map[string]string{"gate_for": "until", "gate_at": "2027-03-02T11:00"}, "#gate_at-error", "more than 30 days", "#gate_at", "2027-03-02T11:00"},
		"no word":        {map[string]string{"gate_for": "none"}, "#gate_word-error", "no end", "#gate_word", ""},
		"another word":   {map[string]string{"gate_for": "none", "gate_word": "never"}, "#gate_word-error", "no end", "#gate_word", "never"},
		"other minutes":  {map[string]string{"gate_for": "soon"}, "#gate-switch", "must be one of these", "#gate_word", ""},
		"endless number": {map[string]string{"gate_for": "99999999"}, "#gate-switch", "must be one of these", "#gate_word", ""},
	} {
		form := p.switchForm("gate-off", tt.fill)
		form.Set("required_approval_tools", "deploy")
		back := p.post("/policy", form).is(http.StatusUnprocessableEntity).says(tt.at, tt.says).says("#gate-switch", "The gate is on")
		if got := back.value(tt.kept); got != tt.filled {
			t.Errorf("%s: the field holds %q", name, got)
		}
		if _, open := back.doc.Find("#gate-switch details").Attr("open"); !open {
			t.Errorf("%s: the fault is folded away", name)
		}
		if got := strings.TrimSpace(back.text("#required_approval_tools")); got != "deploy" {
			t.Errorf("%s: the tools are %q", name, got)
		}
		if t.Failed() {
			return
		}
	}
	w.policyIs(1)
	for _, fill := range []map[string]string{
		{"gate_for": "none", "gate_word": " No End "},
		{"gate_for": "until", "gate_at": "2026-03-03 09:30"},
	} {
		p.post("/policy", p.switchForm("gate-off", fill)).redirects("/policy/review")
	}
	p.get("/policy").says("#gate-switch", "off until 2026-03-03 09:30:00 UTC")
}

// Without an end is said as such, and the fallback is switched in the same way.
func TestTheFallbackIsSwitchedOnI11(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn("admin@example.com")
	p.post("/policy", p.switchForm("fallback-on", map[string]string{"fallback_for": "none", "fallback_word": "no end"})).redirects("/policy/review")
	p.get("/policy/review").says(".warning", "Fallback will be on with no end")
	p.post("/policy", p.switchForm("fallback-on", nil)).redirects("/policy/review")
	review := p.get("/policy/review").says(".warning", "Fallback will be on: clients run calls", "(1 hour)").saysNot(".warning", "The gate")
	save := review.form("form:has(#save)", "#save")
	save.Set("note", "maintenance")
	p.post("/policy/review", save).redirects("/policy")
	if doc := w.policyIs(2); !doc.FallbackAutoApprove || doc.FallbackUntil == nil || !doc.ApprovalEnabled {
		t.Errorf("saved %+v", doc)
	}
	p.get("/").says(".dangers", "Fallback is on until")
	p.post("/policy", p.switchForm("fallback-off", nil)).redirects("/policy/review")
	if n := p.get("/policy/review").saysNot("main", "Fallback goes").doc.Find("section .warning").Length(); n != 0 {
		t.Errorf("%d warnings of what is safer", n)
	}
}

// An end that passes between the press and the save is refused; the note is kept.
func TestAnEndThatPassesBeforeTheSave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn("admin@example.com")
	p.post("/policy", p.switchForm("gate-off", nil)).redirects("/policy/review")
	save := p.get("/policy/review").form("form:has(#save)", "#save")
	save.Set("note", "migration")
	for passes, says := range map[time.Duration]string{59*time.Minute + time.Second: "less than a minute away", time.Hour: "is in the past"} {
		w.clock.Step(passes)
		back := p.post("/policy/review", save).is(http.StatusUnprocessableEntity).says(".flash", "approval_off_until", says)
		if back.value("#note") != "migration" {
			t.Errorf("the note is %q", back.value("#note"))
		}
		p.get("/policy").says("#gate-fault", says)
		p.post("/policy", p.get("/policy").form("#policy-form", "#review")).is(http.StatusUnprocessableEntity)
		w.clock.Step(-passes)
	}
	w.policyIs(1)
	w.clock.Step(time.Hour)
	p.post("/policy", p.switchForm("gate-off", nil)).redirects("/policy/review")
	save = p.get("/policy/review").form("form:has(#save)", "#save")
	save.Set("note", "migration")
	p.post("/policy/review", save).redirects("/policy")
	w.policyIs(2)
}

// A draft that was begun before an end is brought together with what the system saved, and
// does not switch the gate off again.
func TestADraftIsMergedBehindAnEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn("admin@example.com")
	w.applyPolicy(`{"approval_enabled":false,"approval_off_until":"2026-03-02T13:00:00Z"}`)
	form := p.get("/policy").form("#policy-form", "#review")
	form.Set("default_timeout_minutes", "9")
	p.post("/policy", form).redirects("/policy/review")
	w.clock.Step(time.Hour)
	storetest.Must(t, storetest.Err(w.store.EndSwitches(t.Context())))
	stale := p.get("/policy/review").says("main", "saved v3").saysNot("main", "Changed by both")
	p.post("/policy/review", stale.form("form:has(#merge)", "#merge")).redirects("/policy/review")
	save := p.get("/policy/review").saysNot("table", "approval").form("form:has(#save)", "#save")
	save.Set("note", "nine minutes")
	p.post("/policy/review", save).redirects("/policy")
	if doc := w.policyIs(4); !doc.ApprovalEnabled || doc.DefaultTimeoutMinutes != 9 {
		t.Errorf("%+v", doc)
	}
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
			w := newWorld(t)
			p := w.adminTab(c.width, c.scripts)
			p.open("/policy")
			p.click("#gate-switch summary")
			p.do("wait", chromedp.WaitVisible(chromedp.CSS("#gate-off")))
			p.value(`document.querySelector("#gate-off").scrollIntoView({ block: "center" }), ""`) // from under the bar
			p.click("#gate-off")
			p.sees("main", "no tool call waits for a person from the moment you save until")
			p.fill("#note", "migration")
			p.click("#save")
			p.sees(".dangers", "The gate is off until")
			through := func() *models.Approval {
				return w.ask(func(in *models.AskInput) { in.ToolName, in.Explicit = "deploy", true })
			}
			if a := through(); a.Cause != models.CauseGateOff {
				t.Errorf("a call is %s, %s", a.Status(), a.Cause)
			}
			w.clock.Step(61 * time.Minute)
			if a := through(); a.Status() != models.StatusPending {
				t.Errorf("behind the end a call is %s, %s", a.Status(), a.Cause)
			}
		})
	}
}
