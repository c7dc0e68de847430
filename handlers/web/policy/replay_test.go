package policy_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// A draft is replayed on the calls that were really asked about, and what it would have
// changed can be taken away as a file.
func TestADraftIsReplayedOnRealCalls(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"rules": [{"name": "reading", "tools": ["Read"], "effect": "allow"}]}`)
	var large models.ResponseID
	for _, amount := range []int{50, 99, 101, 5000} {
		large = w.Ask(func(in *models.AskInput) {
			in.ToolName, in.Input, in.Explicit = "payment.send", fmt.Appendf(nil, `{"amount":%d}`, amount), false
		}).ID
	}
	w.Ask(func(in *models.AskInput) { in.ToolName, in.Explicit = "Read", false })
	p := w.SignIn(webtest.AdminEmail)
	p.Get("/policy/replay").Is(http.StatusOK).Says("main", "You have no draft")
	p.Get("/policy/replay/export?format=csv").Is(http.StatusNotFound)

	form := p.Get("/policy/rules/new").Form("#rule-form", "#keep-rule")
	form.Set("name", "payments over 100")
	form.Set("tools", `/^payment\./`)
	form.Set("condition", "expression")
	form.Set("when", "input.amount > 100")
	form.Set("effect", "require")
	p.Post("/policy/rules/new", form).Is(http.StatusSeeOther)

	p.Get("/policy/review").Is(http.StatusOK).Says("#replayed-briefly", "Of the last 5 calls, 2 would have waited.")
	begin := p.Get("/policy/replay").Is(http.StatusOK).Form("#replay-form", "#replay")
	if begin.Get("last") != "1000" {
		t.Errorf("offered are %v", begin)
	}
	begin.Set("last", "many")
	begin.Set("since", "yesterday")
	p.Post("/policy/replay", begin).Is(http.StatusUnprocessableEntity).Says("#last-error", "from 1 to 10,000").Says("#since-error", "2026-03-02")
	begin.Set("last", "100")
	begin.Set("since", "")
	p.Post("/policy/replay", begin).Is(http.StatusSeeOther)
	for p.Get("/policy/replay", webtest.HTMX).Is(http.StatusOK).IsFragment().Doc.Find("#replay-summary").Length() == 0 {
		if t.Context().Err() != nil {
			t.Fatal("the replay has no end")
		}
	}
	got := p.Get("/policy/replay").Says("#replay-summary", "Of 5 calls", "2 would have waited").
		Says("#replayed", "payment.send", "runs without a person", "waits for a person", "payments over 100", "risk medium")
	if n := got.Doc.Find(`#replayed a[href="/approvals/` + string(large) + `"]`).Length(); n != 1 {
		t.Errorf("the call is linked %d times", n)
	}
	csv := p.Get("/policy/replay/export?format=csv").Is(http.StatusOK).Body
	if lines := strings.Split(strings.TrimSpace(csv), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], "id,asked_at,agent,tool,active,") || !strings.Contains(lines[1], ",payment.send,allow,unmatched,,require,payments over 100,risk medium,") {
		t.Errorf("%s", csv)
	}
	if jsonl := p.Get("/policy/replay/export?format=jsonl").Is(http.StatusOK).Body; strings.Count(jsonl, `"draft":{"effect":"require","rule":"payments over 100"`) != 2 {
		t.Errorf("%s", jsonl)
	}
	p.Get("/policy/replay/export?format=xml").Is(http.StatusUnprocessableEntity)

	// Another change makes what was found old; another admin sees nothing of it.
	move := p.Get("/policy/rules/new").Form("#rule-form", "#keep-rule")
	move.Set("name", "another")
	move.Set("tools", "x")
	p.Post("/policy/rules/new", move).Is(http.StatusSeeOther)
	p.Get("/policy/replay").Says("#replayed", "has changed since", "2 would have waited")
	p.Post("/policy/replay", url.Values{"step": {"cancel"}}).Is(http.StatusSeeOther)

	wrong := p.Get("/policy/settings").Form("#policy-form", "#review")
	wrong.Set("grant_max_uses", "many")
	p.Post("/policy/settings", wrong).Is(http.StatusUnprocessableEntity)
	p.Get("/policy/replay").Is(http.StatusOK).Says("main", "not valid yet")
	for _, path := range []string{"/policy/replay", "/policy/replay/export?format=csv"} {
		w.SignIn(webtest.OwnerEmail).Get(path).Is(http.StatusForbidden)
	}
}

// The rule of the issue by form only: written, tried with a number below, one above and a
// text, saved, and a real call held by it.
func TestARuleWithAConditionIsWrittenTriedAndHolds(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.AdminEmail)
	form := p.Get("/policy/rules/new").Form("#rule-form", "#keep-rule")
	form.Set("name", "payments over 100 need finance")
	form.Set("tools", `/^payment\./`)
	form.Set("condition", "expression")
	form.Set("when", "input.amount >")
	form.Set("risk", "high")
	form.Set("timeout_minutes", "60")
	form.Set("reviewers", webtest.OwnerEmail)
	wrong := p.Post("/policy/rules/new", form).Is(http.StatusUnprocessableEntity).Says("#when-error", "at character")
	if got := wrong.Form("#rule-form", "#keep-rule").Get("when"); got != "input.amount >" {
		t.Errorf("what was typed comes back as %q", got)
	}
	form = wrong.Form("#rule-form", "#keep-rule")
	form.Set("condition", "expression")
	form.Set("when", "input.amount > 100")
	p.Post("/policy/rules/1", form).Is(http.StatusSeeOther)
	p.Get("/policy").Says("#rule-1", "when input.amount > 100")

	for input, want := range map[string]string{
		`{"amount": 99}`: "runs without a person", `{"amount": 101}`: "waits for a person", `{"amount": "101"}`: "can't be judged, so the rule applies",
	} {
		try := p.Get("/policy/try").Form("#try-form", "#try")
		try.Set("tool", "payment.send")
		try.Set("input", input)
		got := p.Post("/policy/try", try).Is(http.StatusOK).Says(".tried-answer:nth-child(2)", want)
		if back := got.Form("#try-form", "#try").Get("input"); back != input {
			t.Errorf("%s comes back as %q", input, back)
		}
	}
	broken := p.Get("/policy/try").Form("#try-form", "#try")
	broken.Set("tool", "payment.send")
	broken.Set("input", `{"amount": `)
	broken.Set("at", "tonight")
	p.Post("/policy/try", broken).Is(http.StatusUnprocessableEntity).Says("#input-error", "must be JSON").Says("#at-error", "a date and a time")

	save := p.Get("/policy/review").Form(`form[action="/policy/review"]`, "#save")
	save.Set("note", "payments")
	p.Post("/policy/review", save).Is(http.StatusSeeOther)
	a := w.Ask(func(in *models.AskInput) {
		in.ToolName, in.Input, in.Explicit = "payment.send", []byte(`{"amount":101}`), false
	})
	if a.Status() != models.StatusPending || a.PolicyRule != "payments over 100 need finance" {
		t.Errorf("101 is %s by %s", a.Status(), a.PolicyRule)
	}
	p.Get("/policy/try?from="+string(a.ID)).Says("#try-form", "101").Says(".tried-answer:nth-child(1)", "its condition is true")
	b := w.Ask(func(in *models.AskInput) {
		in.ToolName, in.Input, in.Explicit = "payment.send", []byte(`{"amount":99}`), false
	})
	if b.Status() != models.StatusNone {
		t.Errorf("99 is %s", b.Status())
	}
}

// While a rule is written, its form says which tools it would match that were really seen;
// the review says what is perhaps not meant.
func TestARuleIsWrittenBesideTheToolsThatWereSeen(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	for _, tool := range []string{"payment.send", "Payment.Send", "read_file"} {
		w.Ask(func(in *models.AskInput) { in.ToolName = tool })
	}
	p := w.SignIn(webtest.AdminEmail)
	if n := p.Get("/policy/rules/new?from=" + string(w.Ask().ID)).Doc.Find("#tool-choices input[value=Bash][checked]").Length(); n != 1 {
		t.Errorf("the request's tool is ticked %d times", n)
	}
	form := p.Get("/policy/rules/new").Form("#rule-form", "#keep-rule")
	form.Set("name", "payments")
	form.Set("tools", "/^payment\\./\n/(/\nnever.seen")
	form.Set("risk", "high")
	p.Post("/policy/rules/matches", form, webtest.HTMX).Is(http.StatusOK).IsFragment().
		Says("#tool-matches", "matches 1 tool seen in the last 90 days: payment.send; it narrowly misses Payment.Send.", "“/(/” is not a regular expression", "“never.seen” matches no tool")
	p.Post("/policy/rules/matches", form).Is(http.StatusSeeOther)
	w.SignIn(webtest.OwnerEmail).Post("/policy/rules/matches", form, webtest.HTMX).Is(http.StatusForbidden)
	form.Set("tools", "/^payment\\./")
	p.Post("/policy/rules/new", form).Is(http.StatusSeeOther)
	p.Get("/policy/review").Is(http.StatusOK).Says("#warnings", "“/^payment\\./” in the rule “payments” narrowly misses “Payment.Send”", "No rule covers Bash, read_file, so they run without approval.", "the agent's owner may approve them alone")
}

// A policy of many rules is written on pages of a hundred; one of nearly 1 MiB is taken as
// JSON.
func TestAPolicyOfManyRulesIsPaged(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	var rules []string
	for i := range 250 {
		rules = append(rules, fmt.Sprintf(`{"name":"rule %d","tools":["tool%d"],"effect":"require","note":"%s"}`, i+1, i, strings.Repeat("n", 1900)))
	}
	p := w.SignIn(webtest.AdminEmail)
	text := `{"rules":[` + strings.Join(rules, ",") + `]}`
	form := p.Get("/policy/json").Form("#json-form", "#review")
	form.Set("document", text)
	p.Post("/policy/json", form).Is(http.StatusSeeOther)

	first := p.Get("/policy").Is(http.StatusOK).Says(".rule-pages", "1–100", "101–200", "201–250")
	if n := first.Doc.Find("[id^=rule-]").Length(); n != 100 {
		t.Errorf("%d rules on the first page", n)
	}
	last := p.Get("/policy?rules=3").Says("#rule-250", "rule 250").Says(".everything-else", "251")
	if n := last.Doc.Find("[id^=rule-]").Length(); n != 50 {
		t.Errorf("%d rules on the last page", n)
	}
	second := p.Get("/policy?rules=2").Form("#policy-form", `button[value="down:199"]`)
	p.Post("/policy", second).Redirects("/policy?rules=3#rule-201")
	p.Get("/policy?rules=3").Says("#rule-201", "rule 200")
	wrong := p.Get("/policy?rules=2").Form("#policy-form", "#review")
	wrong.Set("unmatched", "perhaps")
	p.Post("/policy", wrong).Is(http.StatusUnprocessableEntity).Says("#rule-101", "rule 101").Says(".ways", "1 error")
	wrong.Set("unmatched", "allow")
	wrong.Set("revision", p.Get("/policy").Form("#policy-form", "#review").Get("revision"))
	p.Post("/policy", wrong).Is(http.StatusSeeOther)
	p.Get("/policy/review").Is(http.StatusOK).Says("main", "rule 250")

	form = p.Get("/policy/json").Form("#json-form", "#review")
	form.Set("document", strings.Repeat(" ", 1<<20)+text)
	p.Post("/policy/json", form).Is(http.StatusUnprocessableEntity).Says("main", "is too large; at most 1024 KiB are allowed")
	p.Post("/grants", url.Values{"x": {strings.Repeat("x", 2<<20)}}).Is(http.StatusRequestEntityTooLarge)
}
