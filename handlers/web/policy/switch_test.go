package policy_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models/storetest"
)

// switchForm is the form of the policy page with a button of a switch pressed.
func switchForm(p *webtest.Person, button string, fill map[string]string) url.Values {
	form := p.Get("/policy/settings").Is(http.StatusOK).Form("#policy-form", "#"+button)
	for name, text := range fill {
		form.Set(name, text)
	}
	return form
}

// The gate is switched off until a time by form only: reviewed, saved, red on every page, and
// on again at its end; and one press puts it on again before.
func TestTheGateIsSwitchedOffForAnHourI3I11(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn("admin@example.com")
	now := w.Clock.Now()
	p.Get("/policy/settings").Says("#gate-switch", "The gate is on", "60 minutes", "Until when?").Says("#fallback-switch", "Fallback is off")
	p.Post("/policy/settings", switchForm(p, "gate-off", nil)).Redirects("/policy/review")
	w.PolicyIs(1) // nothing is saved before the review
	p.Get("/policy/settings").Says("#gate-switch", "The gate is off until "+now.Add(time.Hour).Format("2006-01-02 15:04"))
	p.Get("/").Is(http.StatusOK)
	if n := p.Get("/").Doc.Find(".dangers").Length(); n != 0 {
		t.Error("a draft warns every page")
	}
	review := p.Get("/policy/review").Says(".warning", "The gate will be off: no tool call waits for a person from the moment you save until", "(1 hour)", "Pending requests stay pending.")
	if at, _ := review.Doc.Find(".warning time").Attr("datetime"); at != now.Add(time.Hour).Format(time.RFC3339) {
		t.Errorf("the review has the time %q", at)
	}
	save := review.Form("form:has(#save)", "#save")
	save.Set("note", "migration")
	p.Post("/policy/review", save).Redirects("/policy")
	doc := w.PolicyIs(2)
	if doc.ApprovalEnabled || doc.ApprovalOffUntil == nil || !doc.ApprovalOffUntil.Equal(now.Add(time.Hour)) {
		t.Errorf("saved %+v", doc)
	}
	red := p.Get("/audit").Says(".dangers", "The gate is off until", "approval_enabled")
	if at, _ := red.Doc.Find(".dangers time").Attr("datetime"); at != now.Add(time.Hour).Format(time.RFC3339) {
		t.Errorf("the warning has the time %q", at)
	}
	p.Get("/system").Says("main", "Off until 2026-03-02 13:00 UTC")
	w.SignIn(webtest.OwnerEmail).Get("/policy/settings").Says("main", "false until 2026-03-02 13:00 UTC")
	w.SignIn(webtest.OwnerEmail).Get("/policy").Says("main", "Approval is off")

	// At the end nothing is red any more, though nobody has written it down.
	w.Clock.Step(time.Hour)
	if n := p.Get("/audit").Doc.Find(".dangers").Length(); n != 0 {
		t.Error("it is red behind the end")
	}
	w.PolicyIs(2)
	w.SignIn(webtest.OwnerEmail).Get("/policy").SaysNot("main", "Approval is off")
	storetest.Must(t, storetest.Err(w.Store.EndSwitches(t.Context())))
	p.Get("/policy/settings").Says("#gate-switch", "The gate is on")
	p.Get("/policy/versions").Says("main", "v3", "Countersign", "The gate was switched on again: its end of 2026-03-02 13:00 UTC was reached.")

	// What let calls through then is not restored.
	p.Post("/policy/versions/2/restore", nil).Redirects("/policy/review")
	p.Get("/policy/review").Says(".flash", "a time that has passed").Says("main", "Nothing would change")
	p.Post("/policy/settings", url.Values{"step": {"discard"}}).Redirects("/policy/settings")

	p.Post("/policy/settings", switchForm(p, "gate-off", map[string]string{"gate_for": "240"})).Redirects("/policy/review")
	p.Post("/policy/settings", switchForm(p, "gate-on", nil)).Is(http.StatusOK).Says("main", "Nothing would change").Says("#gate-switch", "The gate is on")
}

// An end that is wrong comes back as it was typed, with the fault at its field, and what was
// typed elsewhere stays.
func TestAnEndThatIsWrongComesBack(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn("admin@example.com")
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
		form := switchForm(p, "gate-off", tt.fill)
		form.Set("required_approval_tools", "deploy")
		back := p.Post("/policy/settings", form).Is(http.StatusUnprocessableEntity).Says(tt.at, tt.says).Says("#gate-switch", "The gate is on")
		if got := back.Value(tt.kept); got != tt.filled {
			t.Errorf("%s: the field holds %q", name, got)
		}
		if _, open := back.Doc.Find("#gate-switch details").Attr("open"); !open {
			t.Errorf("%s: the fault is folded away", name)
		}
		if got := strings.TrimSpace(back.Text("#required_approval_tools")); got != "deploy" {
			t.Errorf("%s: the tools are %q", name, got)
		}
		if t.Failed() {
			return
		}
	}
	w.PolicyIs(1)
	for _, fill := range []map[string]string{
		{"gate_for": "none", "gate_word": " No End "},
		{"gate_for": "until", "gate_at": "2026-03-03 09:30"},
	} {
		p.Post("/policy/settings", switchForm(p, "gate-off", fill)).Redirects("/policy/review")
	}
	p.Get("/policy/settings").Says("#gate-switch", "off until 2026-03-03 09:30:00 UTC")
}

// Without an end is said as such, and the fallback is switched in the same way.
func TestTheFallbackIsSwitchedOnI11(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn("admin@example.com")
	p.Post("/policy/settings", switchForm(p, "fallback-on", map[string]string{"fallback_for": "none", "fallback_word": "no end"})).Redirects("/policy/review")
	p.Get("/policy/review").Says(".warning", "Fallback will be on with no end")
	p.Post("/policy/settings", switchForm(p, "fallback-on", nil)).Redirects("/policy/review")
	review := p.Get("/policy/review").Says(".warning", "Fallback will be on: clients run calls", "(1 hour)").SaysNot(".warning", "The gate")
	save := review.Form("form:has(#save)", "#save")
	save.Set("note", "maintenance")
	p.Post("/policy/review", save).Redirects("/policy")
	if doc := w.PolicyIs(2); !doc.FallbackAutoApprove || doc.FallbackUntil == nil || !doc.ApprovalEnabled {
		t.Errorf("saved %+v", doc)
	}
	p.Get("/").Says(".dangers", "Fallback is on until")
	p.Post("/policy/settings", switchForm(p, "fallback-off", nil)).Redirects("/policy/review")
	if n := p.Get("/policy/review").SaysNot("main", "Fallback goes").Doc.Find("section .warning").Length(); n != 0 {
		t.Errorf("%d warnings of what is safer", n)
	}
}

// An end that passes between the press and the save is refused; the note is kept.
func TestAnEndThatPassesBeforeTheSave(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn("admin@example.com")
	p.Post("/policy/settings", switchForm(p, "gate-off", nil)).Redirects("/policy/review")
	save := p.Get("/policy/review").Form("form:has(#save)", "#save")
	save.Set("note", "migration")
	for passes, says := range map[time.Duration]string{59*time.Minute + time.Second: "less than a minute away", time.Hour: "is in the past"} {
		w.Clock.Step(passes)
		back := p.Post("/policy/review", save).Is(http.StatusUnprocessableEntity).Says(".flash", "approval_off_until", says)
		if back.Value("#note") != "migration" {
			t.Errorf("the note is %q", back.Value("#note"))
		}
		p.Get("/policy/settings").Says("#gate-fault", says)
		p.Post("/policy/settings", p.Get("/policy/settings").Form("#policy-form", "#review")).Is(http.StatusUnprocessableEntity)
		w.Clock.Step(-passes)
	}
	w.PolicyIs(1)
	w.Clock.Step(time.Hour)
	p.Post("/policy/settings", switchForm(p, "gate-off", nil)).Redirects("/policy/review")
	save = p.Get("/policy/review").Form("form:has(#save)", "#save")
	save.Set("note", "migration")
	p.Post("/policy/review", save).Redirects("/policy")
	w.PolicyIs(2)
}

// A draft that was begun before an end is brought together with what the system saved, and
// does not switch the gate off again.
func TestADraftIsMergedBehindAnEnd(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn("admin@example.com")
	w.ApplyPolicy(`{"approval_enabled":false,"approval_off_until":"2026-03-02T13:00:00Z"}`)
	form := p.Get("/policy/settings").Form("#policy-form", "#review")
	form.Set("default_timeout_minutes", "9")
	p.Post("/policy/settings", form).Redirects("/policy/review")
	w.Clock.Step(time.Hour)
	storetest.Must(t, storetest.Err(w.Store.EndSwitches(t.Context())))
	stale := p.Get("/policy/review").Says("main", "saved v3").SaysNot("main", "Changed by both")
	p.Post("/policy/review", stale.Form("form:has(#merge)", "#merge")).Redirects("/policy/review")
	save := p.Get("/policy/review").SaysNot("table", "approval").Form("form:has(#save)", "#save")
	save.Set("note", "nine minutes")
	p.Post("/policy/review", save).Redirects("/policy")
	if doc := w.PolicyIs(4); !doc.ApprovalEnabled || doc.DefaultTimeoutMinutes != 9 {
		t.Errorf("%+v", doc)
	}
}
