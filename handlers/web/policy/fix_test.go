package policy_test

import (
	"net/http"
	"slices"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// A remark in a row has a button that does what it says, in the draft only. It does what the remark of that moment says:
// one that is gone changes nothing.
func TestARemarkIsCarriedOutByItsButton(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"required_approval_tools":["deploy","deploy"],"retention_days":3,"rules":[{"name":"Reading","tools":["/read_.*/"],"effect":"allow"},{"name":"Again","tools":["/read_.*/"],"effect":"deny"},{"name":"Twice","tools":["/read_.*/"],"effect":"allow"}]}`)
	for _, tool := range []string{"read_file", "send_email"} {
		w.Ask(func(in *models.AskInput) { in.ToolName = tool })
	}
	p := w.SignIn(webtest.AdminEmail)
	page := p.Get("/policy").
		Says("#rule-1 .remarks", "“/read_.*/” in the rule “Reading” lets through more than was ever used: only “read_file” in the last 90 days. List the names instead.", "List the names").
		Says("#rule-3 .remarks", "The rule “Twice” never applies", "Delete the rule").
		Says(".everything-else .remarks", "No rule covers send_email, so it runs without approval.", "Require approval")
	list := page.Form("#policy-form", "#rule-1 .remarks button")
	p.Post("/policy", list).Redirects("/policy#rule-1")
	p.Get("/policy").Says("#rule-1 code", "read_file").SaysNot("#rule-1", "List the names")

	// The same button again, from a window that has not seen it, and after somebody typed its revision.
	p.Post("/policy", list).Is(http.StatusConflict).Says("main", "changed in another window")
	list.Set("revision", p.Get("/policy").Form("#policy-form", "#review").Get("revision"))
	p.Post("/policy", list).Is(http.StatusConflict).Says("main", "Nothing was changed: that remark does not apply any more.")
	for _, made := range []string{"fix:", "fix:0", "fix:rules[0]"} {
		list.Set("step", made)
		p.Post("/policy", list).Is(http.StatusConflict).Says("main", "Nothing was changed")
	}

	p.Post("/policy", p.Get("/policy").Form("#policy-form", `#rule-3 button:contains("Delete the rule")`)).Redirects("/policy#rules-title")
	p.Post("/policy", p.Get("/policy").Form("#policy-form", ".everything-else .remarks button")).Redirects("/policy")
	settings := p.Get("/policy/settings").Is(http.StatusOK)
	twice := settings.Form("#policy-form", `button:contains("Remove one")`)
	p.Post("/policy/settings", twice).Redirects("/policy/settings")
	keep := p.Get("/policy/settings").Form("#policy-form", `button:contains("Keep them for 7 days")`)
	keep.Set("default_timeout_minutes", "soon")
	p.Post("/policy/settings", keep).Is(http.StatusConflict).Says("main", "Nothing was changed. Correct the marked fields first.")
	keep.Set("default_timeout_minutes", "9") // what was typed beside it is kept
	p.Post("/policy/settings", keep).Redirects("/policy/settings")

	standing, err := w.Store.CurrentPolicy(t.Context())
	if err != nil || standing.Program.Document().RetentionDays != 3 {
		t.Fatalf("the draft took effect: %v", err)
	}
	save := p.Get("/policy/review").Form("form[action='/policy/review']", "#save")
	save.Set("note", "as the remarks say")
	p.Post("/policy/review", save).Redirects("/policy")
	standing, err = w.Store.CurrentPolicy(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	doc := standing.Program.Document()
	if doc.RetentionDays != 7 || doc.DefaultTimeoutMinutes != 9 || !slices.Equal(doc.RequiredApprovalTools, []string{"deploy", "send_email"}) ||
		len(doc.Rules) != 2 || !slices.Equal(doc.Rules[0].Tools, []string{"read_file"}) {
		t.Errorf("%+v", doc)
	}
}
