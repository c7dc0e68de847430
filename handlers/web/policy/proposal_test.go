package policy_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

// TestAPolicyIsProposedAndConfirmed by three people at their browsers: an editor drafts it, two admins agree.
func TestAPolicyIsProposedAndConfirmed(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"policy_approvals":2}`)
	storetest.User(t, w.Store, webtest.EditorEmail, models.RolePolicyEditor)
	storetest.User(t, w.Store, webtest.AuditorEmail, models.RoleAuditor)
	storetest.User(t, w.Store, "second@example.com", models.RoleAdmin)
	editor, ann, bo, auditor := w.SignIn(webtest.EditorEmail), w.SignIn(webtest.AdminEmail), w.SignIn("second@example.com"), w.SignIn(webtest.AuditorEmail)
	drafts := func(p *webtest.Person, minutes string) {
		form := p.Get("/policy/settings").Is(http.StatusOK).Form("#policy-form", "#review")
		form.Set("default_timeout_minutes", minutes)
		p.Post("/policy/settings", form).Redirects("/policy/review")
		review := p.Get("/policy/review").Is(http.StatusOK).Says("#proposes", "2 admins agree").Has("#save", 0)
		propose := review.Form("form:has(#propose)", "#propose")
		p.Post("/policy/review", propose).Is(http.StatusUnprocessableEntity).Says("#note-error", "Say why")
		propose.Set("note", "more time")
		p.Post("/policy/review", propose).Redirects("/policy/proposal")
	}
	ann.Get("/policy/proposal").Is(http.StatusOK).Says("main", "No change is proposed")
	drafts(editor, "9")
	editor.Get("/policy/proposal").Says("#agreed", "0 of 2 admins agree").Has("#confirm-policy", 0).Has("#take-back-policy", 1).Has("#alone", 0)
	auditor.Get("/policy").Says("#proposal", "proposes a change")
	auditor.Get("/policy/proposal").Is(http.StatusOK).Says("#changes", "Minutes until a tool call expires: 5 → 9.").Has("main form[method=post]", 0)
	w.SignIn(webtest.OwnerEmail).Get("/policy/proposal").Is(http.StatusForbidden)
	w.PolicyIs(2)

	first := ann.Get("/policy/proposal").Says("main", "more time").Form("form:has(#confirm-policy)", "#confirm-policy")
	ann.Post("/policy/proposal", first).Redirects("/policy/proposal")
	ann.Get("/policy/proposal").Says("#agreed", "1 of 2 admins agree: admin@example.com").Says("#you-agreed", "You agreed").Has("#confirm-policy", 0)
	ann.Post("/policy/proposal", first).Redirects("/policy/proposal") // sent twice
	w.PolicyIs(2)
	bo.Post("/policy/proposal", url.Values{"step": {"reject"}, "digest": {first.Get("digest")}}).Is(http.StatusUnprocessableEntity).Says("#reject-reason-error", "must say why")
	bo.Post("/policy/proposal", url.Values{"step": {"confirm"}, "digest": {"other"}}).Is(http.StatusConflict).Says("main", "another one waits")
	bo.Post("/policy/proposal", bo.Get("/policy/proposal").Form("form:has(#confirm-policy)", "#confirm-policy")).Redirects("/policy")
	if doc := w.PolicyIs(3); doc.DefaultTimeoutMinutes != 9 {
		t.Errorf("saved %+v", doc)
	}
	bo.Get("/policy/versions/3").Says("main", webtest.EditorEmail, "Confirmed by admin@example.com, second@example.com")
	editor.Get("/policy/settings").SaysNot("main", "Your draft")

	// One admin does without the other, who is told and rejects it; then in the end not.
	reason := url.Values{"step": {"alone"}, "reason": {"The other admin is on a ship for a week."}}
	for _, rejected := range []bool{true, false} {
		drafts(ann, "12")
		bo.Get("/policy/review") // has no draft
		digest := ann.Get("/policy/proposal").Form("form:has(#begin-alone)", "#begin-alone").Get("digest")
		reason.Set("digest", digest)
		ann.Post("/policy/proposal", url.Values{"step": {"alone"}, "digest": {digest}, "reason": {"now"}}).Is(http.StatusUnprocessableEntity).Says("#alone-reason-error", "20 letters")
		ann.Post("/policy/proposal", reason).Redirects("/policy/proposal")
		ann.Get("/policy/proposal").Has("#save-alone", 0).Says("#alone", "may save this alone from")
		ann.Post("/policy/proposal", url.Values{"step": {"save"}, "digest": {digest}}).Is(http.StatusConflict)
		if rejected {
			bo.Post("/policy/proposal", url.Values{"step": {"reject"}, "digest": {digest}, "reason": {"I am back"}}).Redirects("/policy/proposal")
			ann.Get("/policy").Says("#proposal", "rejected the change that you proposed: I am back")
			ann.Post("/policy/settings", url.Values{"step": {"discard"}, "revision": {"1"}})
			continue
		}
		w.Clock.Step(time.Hour)
		ann.Post("/policy/proposal", ann.Get("/policy/proposal").Form("form:has(#save-alone)", "#save-alone")).Redirects("/policy")
	}
	if doc := w.PolicyIs(4); doc.DefaultTimeoutMinutes != 12 {
		t.Errorf("saved %+v", doc)
	}
	bo.Get("/policy/versions/4").Says("main", "Saved alone", "The other admin is on a ship")
}

// Where one admin saves alone, what a policy editor proposes still takes one.
func TestAPolicyEditorsDraftTakesAnAdmin(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	storetest.User(t, w.Store, webtest.EditorEmail, models.RolePolicyEditor)
	editor, ann := w.SignIn(webtest.EditorEmail), w.SignIn(webtest.AdminEmail)
	form := editor.Get("/policy/settings").Form("#policy-form", "#review")
	form.Set("retention_days", "30")
	editor.Post("/policy/settings", form).Redirects("/policy/review")
	propose := editor.Get("/policy/review").Says("#proposes", "An admin saves it").Form("form:has(#propose)", "#propose")
	propose.Set("note", "privacy")
	editor.Post("/policy/review", propose).Redirects("/policy/proposal")
	editor.Get("/policy/review").Says("main", "has proposed a change already").Has("#propose", 0)
	ann.Post("/policy/proposal", ann.Get("/policy/proposal").Says("main", "permanently removed").Form("form:has(#confirm-policy)", "#confirm-policy")).Redirects("/policy")
	if doc := w.PolicyIs(2); doc.RetentionDays != 30 {
		t.Errorf("saved %+v", doc)
	}
	editor.Get("/policy").Is(http.StatusOK).Has("#keep-longer", 0)
	ann.Get("/policy").Has("#keep-longer", 1)
}
