package web_test

import (
	"net/http"
	"net/url"
	"testing"

	"countersign/models/storetest"
)

// TestThePolicyPageSaysAtTheTopWhatHappensToToolsThatNoRuleNames.
func TestThePolicyPageSaysAtTheTopWhatHappensToToolsThatNoRuleNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for document, want := range map[string]string{
		`{}`:                         "A tool that no rule or list names runs without approval, unless its agent asks for approval (unmatched: allow).",
		`{"unmatched":"require"}`:    "A tool that no rule or list names needs approval (unmatched: require).",
		`{"approval_enabled":false}`: "Approval is off: every tool runs unless a rule denies it.",
	} {
		w.applyPolicy(document)
		for _, who := range []string{storetest.AdminEmail, ownerEmail} {
			w.signedIn(who).get("/policy").is(http.StatusOK).says(".sheet-head #unmatched", want)
		}
	}
}

// TestAPatternWithOneSlashIsRefusedOnThePage says how to write it.
func TestAPatternWithOneSlashIsRefusedOnThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(storetest.AdminEmail)
	form := func(tools string) url.Values {
		got := p.get("/policy").is(http.StatusOK).form("#policy-form", "#review")
		got.Set("required_approval_tools", tools)
		return got
	}
	p.post("/policy", form("/delete")).is(http.StatusUnprocessableEntity).
		says("#policy-form", "write /delete/ for a regular expression, or /^\\/delete$/ for a tool of exactly this name")
	p.post("/policy", form(`/^\/delete$/`)).redirects("/policy/review")
	p.get("/policy/review").is(http.StatusOK).says(".review", `/^\/delete$/`)
}
