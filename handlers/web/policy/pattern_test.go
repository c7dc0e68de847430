package policy_test

import (
	"net/http"
	"net/url"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models/storetest"
)

// TestThePolicyPageSaysAtTheTopWhatHappensToToolsThatNoRuleNames.
func TestThePolicyPageSaysAtTheTopWhatHappensToToolsThatNoRuleNames(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	for document, want := range map[string]string{
		`{}`:                         "Tools without a rule run freely. Agents that ask through the API still wait for a person.",
		`{"unmatched":"require"}`:    "Tools without a rule need approval.",
		`{"approval_enabled":false}`: "Approval is off: every tool runs unless a rule denies it.",
	} {
		w.ApplyPolicy(document)
		for _, who := range []string{storetest.AdminEmail, webtest.OwnerEmail} {
			w.SignIn(who).Get("/policy").Is(http.StatusOK).Says(".sheet-head #unmatched", want)
		}
	}
}

// TestAPatternWithOneSlashIsRefusedOnThePage says how to write it.
func TestAPatternWithOneSlashIsRefusedOnThePage(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(storetest.AdminEmail)
	form := func(tools string) url.Values {
		got := p.Get("/policy/settings").Is(http.StatusOK).Form("#policy-form", "#review")
		got.Set("required_approval_tools", tools)
		return got
	}
	p.Post("/policy/settings", form("/delete")).Is(http.StatusUnprocessableEntity).
		Says("#policy-form", "write /delete/ for a regular expression, or /^\\/delete$/ for a tool of exactly this name")
	p.Post("/policy/settings", form(`/^\/delete$/`)).Redirects("/policy/review")
	p.Get("/policy/review").Is(http.StatusOK).Says(".review", `/^\/delete$/`)
}
