package policy_test

import (
	"net/http"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// payments are three real calls: two over 100 EUR, one of them with its amount as a text, and one without an amount.
func payments(w *webtest.World) {
	w.TB.Helper()
	for _, input := range []string{
		`{"amount": "101.50", "currency": "EUR"}`, `{"amount": "99", "currency": "EUR"}`, `{"currency": "EUR"}`,
	} {
		w.Ask(func(in *models.AskInput) {
			in.ToolName, in.Input, in.Explicit = "payment.send", []byte(input), false
		})
	}
}

func TestAConditionIsWrittenInRows(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	payments(w)
	p := w.SignIn(webtest.AdminEmail)
	form := p.Get("/policy/rules/new").Is(http.StatusOK).Says("#tool-choices", "payment.send", "3 calls").Form("#rule-form", "#keep-rule")
	form.Set("name", "Payments over 100 EUR")
	form.Set("tool", "payment.send")
	form.Set("condition", "rows")
	form.Set("c1_subject", "input.amount")
	form.Set("c1_op", "greater:number")
	form.Set("c1_value", "100 EUR")

	// It is asked while it is written, and with a button; neither changes the draft.
	p.Post("/policy/rules/condition", form, webtest.HTMX).Is(http.StatusOK).IsFragment().Says("#condition-findings", "not complete yet")
	form.Set("c1_value", "100")
	p.Post("/policy/rules/condition", form, webtest.HTMX).Is(http.StatusOK).
		Says("#condition-findings", "Matches 1 of the last 3 calls.", "1 call could not be checked, so it needs approval.")
	form.Set("effect", "deny")
	p.Post("/policy/rules/condition", form, webtest.HTMX).Says("#condition-findings", "so it is denied")
	form.Set("effect", "require")
	rows := p.Post("/policy/rules/condition?part=rows", form, webtest.HTMX).IsFragment()
	if n := rows.Doc.Find(`#c1_op option[value="greater:number"]:not([disabled])`).Length(); n != 1 {
		t.Error("an amount in a text is not offered to be compared as a number")
	}
	if n := rows.Doc.Find("#c2_subject").Length(); n != 1 {
		t.Error("there is no empty row at the end")
	}
	form.Set("step", "check")
	p.Post("/policy/rules/new", form).Is(http.StatusOK).Says("#condition-findings", "Matches 1 of the last 3 calls.")
	form.Set("step", "more-rows")
	if n := p.Post("/policy/rules/new", form).Is(http.StatusOK).Doc.Find(".c-row").Length(); n != 3 {
		t.Errorf("with one more there are %d rows", n)
	}
	p.Get("/policy").SaysNot("main", "Your draft")
	p.Post("/policy/rules/condition", form).Is(http.StatusSeeOther)
	w.SignIn(webtest.OwnerEmail).Post("/policy/rules/condition", form, webtest.HTMX).Is(http.StatusForbidden)

	// Rows without any would apply to every call: that is refused, and said.
	empty := p.Get("/policy/rules/new").Form("#rule-form", "#keep-rule")
	empty.Set("name", "all")
	empty.Set("tool", "payment.send")
	empty.Set("effect", "allow")
	empty.Set("condition", "rows")
	p.Post("/policy/rules/new", empty).Is(http.StatusUnprocessableEntity).Says("#c1_error", "Choose what to compare")
	p.Get("/policy").SaysNot("main", "Your draft")

	// A row that is no condition comes back as it was typed.
	form.Set("step", "keep")
	form.Set("c1_value", "100 EUR")
	wrong := p.Post("/policy/rules/new", form).Is(http.StatusUnprocessableEntity).Says("#c1_error", "needs a number")
	if got := wrong.Value("#c1_value"); got != "100 EUR" {
		t.Errorf("what was typed comes back as %q", got)
	}
	form = wrong.Form("#rule-form", "#keep-rule")
	form.Set("c1_value", "100")
	form.Set("c2_subject", "input.currency")
	form.Set("c2_op", "is:text")
	form.Set("c2_value", "EUR")
	p.Post("/policy/rules/new", form).Redirects("/policy#rule-1")
	p.Get("/policy").Says("#rule-1", `decimal(input.amount) > decimal("100") && input.currency == "EUR"`)
	back := p.Get("/policy/rules/1").Form("#rule-form", "#keep-rule")
	if back.Get("condition") != "rows" || back.Get("c1_value") != "100" || back.Get("c2_subject") != "input.currency" || back.Get("tool") != "payment.send" || back.Get("tools") != "" {
		t.Errorf("it is shown as %v", back)
	}
	back.Set("condition", "always")
	p.Post("/policy/rules/1", back).Redirects("/policy#rule-1")
	p.Get("/policy").SaysNot("#rule-1", "decimal")
}

// Mistakes in an expression are said in words, with what calls had.
func TestAnExpressionIsExplained(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	payments(w)
	p := w.SignIn(webtest.AdminEmail)
	form := p.Get("/policy/rules/new").Form("#rule-form", "#keep-rule")
	form.Set("name", "euros")
	form.Set("tool", "payment.send")
	form.Set("condition", "expression")
	form.Set("when", `input.currency == EUR`)
	const meant = `I don't understand “EUR” here (at character 19). Did you mean input.currency == "EUR"?`
	p.Post("/policy/rules/condition", form, webtest.HTMX).Says("#condition-findings", meant)
	p.Post("/policy/rules/new", form).Is(http.StatusUnprocessableEntity).Says("#when-error", meant)
	form = p.Get("/policy/rules/1").Form("#rule-form", "#keep-rule")
	if form.Get("condition") != "expression" || form.Get("when") != `input.currency == EUR` {
		t.Errorf("it is shown as %v", form)
	}
	form.Set("when", `input.vat == "EUR"`)
	p.Post("/policy/rules/condition", form, webtest.HTMX).
		Says("#condition-findings", "No call of payment.send had vat; they have currency, amount.", "3 calls could not be checked, so they need approval.")
}

// A rule keeps the order of its tools, whether they are ticked or typed.
func TestToolsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	payments(w)
	w.ApplyPolicy(`{"rules": [{"name": "a", "tools": ["/^x/", "payment.send", "later"], "effect": "require"}]}`)
	p := w.SignIn(webtest.AdminEmail)
	form := p.Get("/policy/rules/1").Form("#rule-form", "#keep-rule")
	if form.Get("tool") != "payment.send" || form.Get("tools") != "/^x/\r\nlater" {
		t.Errorf("ticked %v, typed %q", form["tool"], form.Get("tools"))
	}
	p.Post("/policy/rules/1", form).Redirects("/policy#rule-1")
	p.Get("/policy").SaysNot("main", "Your draft")
	form.Del("tool")
	p.Post("/policy/rules/1", form).Redirects("/policy#rule-1")
	p.Get("/policy").Says("#rule-1", "/^x/, later").SaysNot("#rule-1", "payment.send")
}
