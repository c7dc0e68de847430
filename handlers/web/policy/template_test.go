package policy_test

import (
	"net/http"
	"slices"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models/storetest"
)

func TestTemplatesAreWrittenByForm(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn("admin@example.com")
	step := func(value string) *webtest.Page {
		form := p.Get("/policy/templates").Form("#policy-form", "")
		form.Set("step", value)
		return p.Post("/policy/templates", form)
	}
	step("add-template").Redirects("/policy/templates/new")
	form := p.Get("/policy/templates/new").Is(http.StatusOK).Form("#template-form", "#keep-template")
	form.Set("name", "Pay Ments")
	form.Set("checklist", "The recipient is known\r\n\r\nThe amount is right")
	form["reviewers"] = []string{webtest.OwnerEmail, ""}
	back := p.Post("/policy/templates/new", form).Is(http.StatusUnprocessableEntity).Says("#name-error", "letters a-z")
	if back.Value("#name") != "Pay Ments" {
		t.Error("what was typed is lost")
	}
	form = back.Form("#template-form", "#keep-template")
	form.Set("name", "payments")
	p.Post("/policy/templates/1", form).Redirects("/policy/templates")
	p.Get("/policy/templates").Says("#template-1", "payments", "The recipient is known", "none")

	rule := p.Get("/policy/rules/new").Form("#rule-form", "#keep-rule")
	rule.Set("name", "payouts")
	rule.Set("tools", "payout")
	rule.Set("template", "payments")
	p.Post("/policy/rules/new", rule).Redirects("/policy#rule-1")
	shown := p.Get("/policy/templates").Says("#template-1", "payouts")
	p.Get("/policy").Says("#rule-1", "template “payments”")
	if shown.Doc.Find("button[value='delete-template:0']").Length() != 0 {
		t.Error("a template that a rule uses can be deleted")
	}
	step("delete-template:0").Is(http.StatusConflict).Says("main", "1 rule uses it")
	step("duplicate-template:0").Redirects("/policy/templates")
	p.Get("/policy/templates").Says("#template-2", "payments-2")
	step("delete-template:1").Redirects("/policy/templates")

	// The rules follow a new name; another window is told.
	old := p.Get("/policy/templates/1").Form("#template-form", "#keep-template")
	renamed := p.Get("/policy/templates/1").Says("main", "payouts").Form("#template-form", "#keep-template")
	renamed.Set("name", "payouts")
	p.Post("/policy/templates/1", renamed).Redirects("/policy/templates")
	old.Set("note", "typed meanwhile")
	p.Post("/policy/templates/1", old).Is(http.StatusNotFound)
	stale := p.Get("/policy/templates/1").Form("#template-form", "#keep-template")
	step("duplicate-template:0").Redirects("/policy/templates")
	stale.Set("note", "typed meanwhile")
	if got := p.Post("/policy/templates/1", stale).Is(http.StatusConflict).Says("main", "another window").Value("#note"); got != "typed meanwhile" {
		t.Errorf("what was typed became %q", got)
	}
	p.Get("/policy/templates/9").Is(http.StatusNotFound)

	p.Post("/policy", p.Get("/policy").Form("#policy-form", "#review")).Redirects("/policy/review")
	review := p.Get("/policy/review").Is(http.StatusOK).Says("main", "payouts", "The amount is right")
	save := review.Form("form:has(#save)", "#save")
	save.Set("note", "templates by form")
	p.Post("/policy/review", save).Redirects("/policy")
	doc := w.PolicyIs(2)
	if len(doc.Templates) != 2 || doc.Templates[0].Name != "payouts" || doc.Rules[0].Template != "payouts" || doc.Rules[0].Risk != "" ||
		!slices.Equal(doc.Templates[0].Checklist, []string{"The recipient is known", "The amount is right"}) || !slices.Equal(doc.Templates[0].Reviewers, []string{webtest.OwnerEmail}) {
		t.Errorf("%+v", doc)
	}
	w.SignIn(webtest.OwnerEmail).Get("/policy").Is(http.StatusOK).Says("main", "payouts") // names its reader by its template
}

// TestWhoMustSignIsWrittenInRows, of a rule and of a template: what is wrong comes back as it was typed, and what was
// written is read back in a sentence.
func TestWhoMustSignIsWrittenInRows(t *testing.T) {
	t.Parallel()
	w := webtest.SignersWorld(t)
	p := w.SignIn(storetest.AdminEmail)
	for at, form := range map[string]string{"/policy/rules/new": "#rule-form", "/policy/templates/new": "#template-form"} {
		sent := p.Get(at).Is(http.StatusOK).Form(form, "")
		sent.Set("step", "keep")
		sent.Set("name", "wires")
		if form == "#rule-form" {
			sent.Set("tools", "wire")
			sent.Set("effect", "require")
		}
		sent["approvals_count"] = []string{"two", "1"}
		sent["approvals"] = []string{"group:finance", "group:oncall, ann@example.com"}
		sent["approvals_minutes"] = []string{"", "30"}
		sent.Set("stages", "true")
		wrong := p.Post(at, sent).Is(http.StatusUnprocessableEntity).Says("#approvals-error", "Line 1: must be a number, a colon and names")
		again := wrong.Form(form, "")
		if got := again["approvals"]; len(got) < 2 || got[0] != "two: group:finance" || got[1] != "group:oncall, ann@example.com" {
			t.Errorf("%s: the rows come back as %q", at, got)
		}
		again["approvals_count"], again["approvals"] = []string{"2", "1"}, []string{"group:finance", "group:oncall, ann@example.com"}
		again["approvals_minutes"] = []string{"", "30"}
		again.Set("step", "keep")
		p.Post(wrong.Doc.Find(form).AttrOr("action", ""), again).Is(http.StatusSeeOther)
	}
	read := "2 of finance and 1 of oncall, ann@example.com within 30 minutes, in this order"
	p.Get("/policy").Says("main", "calls wait for the signatures of "+read)
	p.Get("/policy/rules/2").Says("#approvals", "It takes "+read+".")
	p.Get("/policy/templates/1").Says("#approvals", "It takes "+read+".")
	more := p.Get("/policy/rules/2").Form("#rule-form", "")
	before := len(more["approvals"])
	more.Set("step", "more-signers")
	if after := len(p.Post("/policy/rules/2", more).Is(http.StatusOK).Form("#rule-form", "")["approvals"]); after <= before {
		t.Errorf("%d rows, and %d after more were asked for", before, after)
	}
}
