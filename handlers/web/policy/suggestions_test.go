package policy_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/suggest"
)

// What people always approved is suggested as a rule; it goes into the draft and nowhere else, and stays dismissed with a note.
func TestASuggestedRuleGoesIntoTheDraft(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"rules": [{"name": "never", "tools": ["drop"], "effect": "deny"}, {"name": "reading", "tools": ["Read"], "effect": "require", "energy": 3}]}`)
	p := w.SignIn(webtest.AdminEmail)
	p.Get("/policy/suggestions").Is(http.StatusOK).Says("main", "Nothing to suggest")
	decide := func(input string, approved bool) {
		t.Helper()
		a := w.Ask(func(in *models.AskInput) { in.ToolName, in.Input, in.Explicit = "Read", []byte(input), false })
		in := models.DecisionInput{Approved: &approved, Digest: a.Digest, Page: models.NoPage}
		if !approved {
			in.Reason = "Not that one."
		}
		if _, err := w.Store.Decide(t.Context(), w.Admin, a.ID, in); err != nil {
			t.Fatal(err)
		}
	}
	for i := range suggest.MinCalls {
		decide(fmt.Sprintf(`{"file_path":"/srv/app/f%d"}`, i), true)
	}
	decide(`{"file_path":"/etc/passwd"}`, false)

	page := p.Get("/policy/suggestions").Is(http.StatusOK).
		Says("main", "Let Read by", "where file_path is in /srv/app", "Decided 20 times, always approved, never edited, by 1 person", "20 calls would have run without a person", "other calls of the tool: 1 rejected", `startsWith("/srv/app/")`, "before the rule reading")
	key, _ := page.Doc.Find(`.suggestion input[name="key"]`).First().Attr("value")
	act := func(step, note string) *webtest.Page {
		t.Helper()
		return p.Post("/policy/suggestions", url.Values{"step": {step}, "key": {key}, "note": {note}})
	}
	for range 2 { // once more changes nothing
		act("draft", "").Redirects("/policy/rules/2")
	}
	form := p.Get("/policy/rules/2").Is(http.StatusOK).Says("main", "The suggested rule is in your draft").Form("#rule-form", "#keep-rule")
	if form.Get("energy") != "3" || form.Get("risk") != "medium" || form.Get("effect") != "allow" {
		t.Errorf("the rule in the draft is %v", form)
	}
	p.Get("/policy").Is(http.StatusOK).Says("main", "2Read by", "4Everything else")
	version, err := w.Store.CurrentPolicy(t.Context())
	if err != nil || len(version.Program.Document().Rules) != 2 {
		t.Errorf("%v: the active version has changed: %+v", err, version.Program.Document().Rules)
	}

	act("dismiss", "  ").Is(http.StatusUnprocessableEntity).Says("main", "must say why")
	act("other", "").Is(http.StatusConflict).Says("main", "Nothing was changed")
	act("dismiss", "We want to see reads.").Is(http.StatusSeeOther)
	p.Get("/policy/suggestions").Says("main", "Nothing to suggest", "Dismissed", "We want to see reads.")
	act("draft", "").Is(http.StatusConflict).Says("main", "This is not suggested any more")
	act("reoffer", "").Is(http.StatusSeeOther)
	p.Get("/policy/suggestions").Says("main", "where file_path is in /srv/app")

	// Applied, it lets such calls through, and no others.
	w.ApplyPolicy(strings.Replace(version.Document, `"rules": [`, `"rules": [`+ruleOf(t, page), 1))
	for input, status := range map[string]models.Status{
		`{"file_path":"/srv/app/new"}`: models.StatusNone, `{"file_path":"/srv/app/../x"}`: models.StatusPending, `{"file_path":"/srv/other"}`: models.StatusPending,
	} {
		if a := w.Ask(func(in *models.AskInput) { in.ToolName, in.Input, in.Explicit = "Read", []byte(input), false }); a.Status() != status {
			t.Errorf("%s is %s", input, a.Status())
		}
	}
	p.Get("/policy/suggestions").Says("main", "Nothing to suggest")
}

// ruleOf is the first suggested rule as JSON, with a comma.
func ruleOf(t *testing.T, page *webtest.Page) string {
	t.Helper()
	members := page.Doc.Find(".suggestion").First().Find("dl code")
	return fmt.Sprintf(`{"name": %q, "tools": [%q], "when": %q, "effect": %q},`,
		strings.TrimSpace(members.Eq(0).Text()), strings.TrimSpace(members.Eq(1).Text()), strings.TrimSpace(members.Eq(2).Text()), strings.TrimSpace(members.Eq(3).Text()))
}

// A rule whose requests of critical risk are approved at once is worth a checklist: the suggestion leads to its form.
func TestAChecklistIsSuggestedForWhatIsApprovedAtOnce(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"rules": [{"name": "never", "tools": ["drop"], "effect": "deny"}, {"name": "deploys", "tools": ["deploy"], "effect": "require", "risk": "critical", "self_approval": "allowed"}], "undo_seconds": {"critical": 0}}`)
	for i := range suggest.MinCalls {
		a := w.Ask(func(in *models.AskInput) {
			in.ToolName, in.Input, in.Explicit = "deploy", fmt.Appendf(nil, `{"to":"host %d"}`, i), false
		})
		if _, err := w.Store.Decide(t.Context(), w.Admin, a.ID, models.DecisionInput{Approved: new(true), Digest: a.Digest, Page: models.NoPage}); err != nil {
			t.Fatal(err)
		}
	}
	p := w.SignIn(webtest.AdminEmail)
	page := p.Get("/policy/suggestions").Is(http.StatusOK).Says("main", "Add a checklist to the rule deploys", "critical risk", "Open the rule")
	key, _ := page.Doc.Find(`.suggestion input[name="key"]`).First().Attr("value")
	p.Post("/policy/suggestions", url.Values{"step": {"draft"}, "key": {key}}).Redirects("/policy/rules/2")
	w.SignIn(webtest.OwnerEmail).Get("/policy/suggestions").Is(http.StatusForbidden)
}
