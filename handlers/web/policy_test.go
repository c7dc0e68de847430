package web_test

import (
	"net/http"
	"strings"
	"testing"

	"countersign/models"
)

func TestPolicyIsReviewedThenSaved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn("admin@example.com")
	form := p.get("/policy").is(http.StatusOK).form("#policy-form", "#review")
	p.post("/policy", form).is(http.StatusOK).says("main", "Nothing would change")

	form.Set("required_approval_tools", "Bash\r\n\r\n /^git_/ \r\n")
	form.Set("default_timeout_minutes", "7")
	review := p.post("/policy", form).is(http.StatusOK).
		says("table", "required_approval_tools", "Bash", "/^git_/", "default_timeout_minutes", "5", "7")
	if v, err := w.store.CurrentPolicy(t.Context()); err != nil || v.Version != 1 {
		t.Fatalf("a review saved version %d (%v)", v.Version, err)
	}
	save := review.form("form:has(#save)", "#save")
	back := review.form("form:has(#save)", "button[value=edit]")
	if got := p.post("/policy", back).is(http.StatusOK).value("#default_timeout_minutes"); got != "7" {
		t.Errorf("back to the form: %q minutes", got)
	}
	save.Set("note", "after the incident")
	p.post("/policy", save).redirects("/policy")
	p.get("/policy").is(http.StatusOK).says(".flash", "new version").says("main", "v2", "after the incident", "admin@example.com")
	v, err := w.store.CurrentPolicy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	doc := v.Compiled.Document()
	if v.Version != 2 || strings.Join(doc.RequiredApprovalTools, " ") != "Bash /^git_/" || doc.DefaultTimeoutMinutes != 7 || !doc.ApprovalEnabled {
		t.Errorf("saved %+v as version %d", doc, v.Version)
	}
	p.get("/policy/versions/2").is(http.StatusOK).says("#document", "/^git_/")
	p.get("/policy/versions/1").is(http.StatusOK)

	// The form that was filled in against version 1 changes nothing any more.
	for _, step := range []string{"review", "save"} {
		save.Set("step", step)
		p.post("/policy", save).is(http.StatusConflict).says("main", "Version 2 was saved")
	}
	save.Set("base_version", "")
	p.post("/policy", save).is(http.StatusConflict)
	if v, err := w.store.CurrentPolicy(t.Context()); err != nil || v.Version != 2 {
		t.Errorf("a stale form saved version %d (%v)", v.Version, err)
	}
}

func TestPolicyErrorsStandAtTheirField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn("admin@example.com")
	for _, c := range []struct{ field, value, at string }{
		{"required_approval_tools", "Bash\n/(/", "#required_approval_tools-error"},
		{"default_timeout_minutes", "soon", "#default_timeout_minutes-error"},
		{"default_timeout_minutes", "0", "#default_timeout_minutes-error"},
		{"default_timeout_minutes", "99999", "#default_timeout_minutes-error"},
	} {
		for _, button := range []string{"review", "save"} {
			form := p.get("/policy").form("#policy-form", "#review")
			form.Set("step", button)
			form.Set(c.field, c.value)
			got := p.post("/policy", form).is(http.StatusUnprocessableEntity)
			if got.text(c.at) == "" || got.value("#"+c.field) != c.value {
				t.Errorf("%s %q: error %q, kept %q", c.field, c.value, got.text(c.at), got.value("#"+c.field))
			}
		}
	}
	if v, err := w.store.CurrentPolicy(t.Context()); err != nil || v.Version != 1 {
		t.Errorf("version %d stands (%v)", v.Version, err)
	}
}

func TestI11OpenGatesAreRedOnEveryPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	a := w.ask()
	everywhere := []string{"/", pageOf(a), "/agents", "/audit", "/policy", "/account/password", "/nowhere"}
	for _, path := range everywhere {
		if n := p.get(path).doc.Find(".dangers").Length(); n != 0 {
			t.Errorf("%s warns of nothing", path)
		}
	}
	w.applyPolicy(`{"approval_enabled": false, "fallback_auto_approve": true}`)
	for _, path := range everywhere {
		p.get(path).says(".dangers", "approval_enabled", "fallback_auto_approve")
	}
	w.visitor().get("/signin").says(".dangers", "approval_enabled")
	w.applyPolicy(`{"fallback_auto_approve": true}`)
	p.get("/").saysNot(".dangers", "approval_enabled").says(".dangers", "fallback_auto_approve")
}

func TestReviewersReadTheFieldsAndTheirOwnRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(`{"rules": [
		{"name": "payments", "tools": ["pay"], "effect": "require", "reviewers": ["` + ownerEmail + `"]},
		{"name": "secret ways", "tools": ["deploy"], "effect": "deny"}]}`)
	got := w.signedIn(ownerEmail).get("/policy").is(http.StatusOK).
		says("main", "approval_enabled", "default_timeout_minutes", "payments").saysNot("main", "secret ways", "Versions")
	if got.doc.Find("main form").Length() != 0 {
		t.Error("a reviewer is given a form")
	}
	w.signedIn("admin@example.com").get("/policy").is(http.StatusOK).says("main", "payments", "secret ways")

	// Who it was routed to sees and decides it, and nobody else's.
	a := w.ask(func(in *models.AskInput) { in.ToolName = "pay" })
	w.signedIn(ownerEmail).get(pageOf(a)).is(http.StatusOK).says(".facts", "payments")
	w.signedIn(strangerEmail).get(pageOf(a)).is(http.StatusNotFound)
}

func TestThePolicySaysWhatItDoesToBudgets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.signedIn("admin@example.com")
	admin.get("/policy").is(http.StatusOK).says("main", "Every raise of a budget that an agent asks for waits for a person")
	w.applyPolicy(`{"auto_budget_increase":1500,"rules":[{"name":"Searches","tools":["search"],"effect":"allow","energy":12}]}`)
	admin.get("/policy").is(http.StatusOK).says("main", "The system adds up to 1,500 units", "costs at least 12 energy")
	w.signedIn(ownerEmail).get("/policy").is(http.StatusOK).saysNot("main", "1,500", "costs at least")
}
