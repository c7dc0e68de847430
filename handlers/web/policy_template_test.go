package web_test

import (
	"net/http"
	"slices"
	"testing"
)

func TestTemplatesAreWrittenByForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn("admin@example.com")
	step := func(value string) *page {
		form := p.get("/policy").form("#policy-form", "")
		form.Set("step", value)
		return p.post("/policy", form)
	}
	step("add-template").redirects("/policy/templates/new")
	form := p.get("/policy/templates/new").is(http.StatusOK).form("#template-form", "#keep-template")
	form.Set("name", "Pay Ments")
	form.Set("checklist", "The recipient is known\r\n\r\nThe amount is right")
	form["reviewers"] = []string{ownerEmail, ""}
	back := p.post("/policy/templates/new", form).is(http.StatusUnprocessableEntity).says("#name-error", "letters a-z")
	if back.value("#name") != "Pay Ments" {
		t.Error("what was typed is lost")
	}
	form = back.form("#template-form", "#keep-template")
	form.Set("name", "payments")
	p.post("/policy/templates/1", form).redirects("/policy#templates-title")
	p.get("/policy").says("#template-1", "payments", "The recipient is known", "none")

	rule := p.get("/policy/rules/new").form("#rule-form", "#keep-rule")
	rule.Set("name", "payouts")
	rule.Set("tools", "payout")
	rule.Set("template", "payments")
	p.post("/policy/rules/new", rule).redirects("/policy#rule-1")
	shown := p.get("/policy").says("#template-1", "payouts").says("#rule-1", "template “payments”")
	if shown.doc.Find("button[value='delete-template:0']").Length() != 0 {
		t.Error("a template that a rule uses can be deleted")
	}
	step("delete-template:0").is(http.StatusConflict).says("main", "1 rule uses it")
	step("duplicate-template:0").redirects("/policy#templates-title")
	p.get("/policy").says("#template-2", "payments-2")
	step("delete-template:1").redirects("/policy#templates-title")

	// The rules follow a new name; another window is told.
	old := p.get("/policy/templates/1").form("#template-form", "#keep-template")
	renamed := p.get("/policy/templates/1").says("main", "payouts").form("#template-form", "#keep-template")
	renamed.Set("name", "payouts")
	p.post("/policy/templates/1", renamed).redirects("/policy#templates-title")
	old.Set("note", "typed meanwhile")
	p.post("/policy/templates/1", old).is(http.StatusNotFound)
	stale := p.get("/policy/templates/1").form("#template-form", "#keep-template")
	step("duplicate-template:0").redirects("/policy#templates-title")
	stale.Set("note", "typed meanwhile")
	if got := p.post("/policy/templates/1", stale).is(http.StatusConflict).says("main", "another window").value("#note"); got != "typed meanwhile" {
		t.Errorf("what was typed became %q", got)
	}
	p.get("/policy/templates/9").is(http.StatusNotFound)

	p.post("/policy", p.get("/policy").form("#policy-form", "#review")).redirects("/policy/review")
	review := p.get("/policy/review").is(http.StatusOK).says("main", "payouts", "The amount is right")
	save := review.form("form:has(#save)", "#save")
	save.Set("note", "templates by form")
	p.post("/policy/review", save).redirects("/policy")
	doc := w.policyIs(2)
	if len(doc.Templates) != 2 || doc.Templates[0].Name != "payouts" || doc.Rules[0].Template != "payouts" || doc.Rules[0].Risk != "" ||
		!slices.Equal(doc.Templates[0].Checklist, []string{"The recipient is known", "The amount is right"}) || !slices.Equal(doc.Templates[0].Reviewers, []string{ownerEmail}) {
		t.Errorf("%+v", doc)
	}
	w.signedIn(ownerEmail).get("/policy").is(http.StatusOK).says("main", "payouts") // names its reader by its template
}
