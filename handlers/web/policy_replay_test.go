package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/models"
)

// A draft is replayed on the calls that were really asked about, and what it would have
// changed can be taken away as a file.
func TestADraftIsReplayedOnRealCalls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(`{"rules": [{"name": "reading", "tools": ["Read"], "effect": "allow"}]}`)
	var large models.ResponseID
	for _, amount := range []int{50, 99, 101, 5000} {
		large = w.ask(func(in *models.AskInput) {
			in.ToolName, in.Input, in.Explicit = "payment.send", fmt.Appendf(nil, `{"amount":%d}`, amount), false
		}).ID
	}
	w.ask(func(in *models.AskInput) { in.ToolName, in.Explicit = "Read", false })
	p := w.signedIn(adminEmail)
	p.get("/policy/replay").is(http.StatusOK).says("main", "You have no draft")
	p.get("/policy/replay/export?format=csv").is(http.StatusNotFound)

	form := p.get("/policy/rules/new").form("#rule-form", "#keep-rule")
	form.Set("name", "payments over 100")
	form.Set("tools", `/^payment\./`)
	form.Set("when", "input.amount > 100")
	form.Set("effect", "require")
	p.post("/policy/rules/new", form).is(http.StatusSeeOther)

	p.get("/policy/review").is(http.StatusOK).says("#replayed-briefly", "Of the last 5 calls, 2 would have waited.")
	begin := p.get("/policy/replay").is(http.StatusOK).form("#replay-form", "#replay")
	if begin.Get("last") != "1000" {
		t.Errorf("offered are %v", begin)
	}
	begin.Set("last", "many")
	begin.Set("since", "yesterday")
	p.post("/policy/replay", begin).is(http.StatusUnprocessableEntity).says("#last-error", "from 1 to 10,000").says("#since-error", "2026-03-02")
	begin.Set("last", "100")
	begin.Set("since", "")
	p.post("/policy/replay", begin).is(http.StatusSeeOther)
	for p.get("/policy/replay", htmx).is(http.StatusOK).isFragment().doc.Find("#replay-summary").Length() == 0 {
		if t.Context().Err() != nil {
			t.Fatal("the replay has no end")
		}
	}
	got := p.get("/policy/replay").says("#replay-summary", "Of 5 calls", "2 would have waited").
		says("#replayed", "payment.send", "runs without a person", "waits for a person", "payments over 100", "risk medium")
	if n := got.doc.Find(`#replayed a[href="/approvals/` + string(large) + `"]`).Length(); n != 1 {
		t.Errorf("the call is linked %d times", n)
	}
	csv := p.get("/policy/replay/export?format=csv").is(http.StatusOK).body
	if lines := strings.Split(strings.TrimSpace(csv), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], "id,asked_at,agent,tool,active,") || !strings.Contains(lines[1], ",payment.send,allow,unmatched,,require,payments over 100,risk medium,") {
		t.Errorf("%s", csv)
	}
	if jsonl := p.get("/policy/replay/export?format=jsonl").is(http.StatusOK).body; strings.Count(jsonl, `"draft":{"effect":"require","rule":"payments over 100"`) != 2 {
		t.Errorf("%s", jsonl)
	}
	p.get("/policy/replay/export?format=xml").is(http.StatusUnprocessableEntity)

	// Another change makes what was found old; another admin sees nothing of it.
	move := p.get("/policy/rules/new").form("#rule-form", "#keep-rule")
	move.Set("name", "another")
	move.Set("tools", "x")
	p.post("/policy/rules/new", move).is(http.StatusSeeOther)
	p.get("/policy/replay").says("#replayed", "has changed since", "2 would have waited")
	p.post("/policy/replay", url.Values{"step": {"cancel"}}).is(http.StatusSeeOther)

	wrong := p.get("/policy").form("#policy-form", "#review")
	wrong.Set("grant_max_uses", "many")
	p.post("/policy", wrong).is(http.StatusUnprocessableEntity)
	p.get("/policy/replay").is(http.StatusOK).says("main", "not valid yet")
	for _, path := range []string{"/policy/replay", "/policy/replay/export?format=csv"} {
		w.signedIn(ownerEmail).get(path).is(http.StatusForbidden)
	}
}

// The rule of the issue by form only: written, tried with a number below, one above and a
// text, saved, and a real call held by it.
func TestARuleWithAConditionIsWrittenTriedAndHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(adminEmail)
	form := p.get("/policy/rules/new").form("#rule-form", "#keep-rule")
	form.Set("name", "payments over 100 need finance")
	form.Set("tools", `/^payment\./`)
	form.Set("when", "input.amount >")
	form.Set("risk", "high")
	form.Set("timeout_minutes", "60")
	form.Set("reviewers", ownerEmail)
	wrong := p.post("/policy/rules/new", form).is(http.StatusUnprocessableEntity).says("#when-error", "at character")
	if got := wrong.form("#rule-form", "#keep-rule").Get("when"); got != "input.amount >" {
		t.Errorf("what was typed comes back as %q", got)
	}
	form = wrong.form("#rule-form", "#keep-rule")
	form.Set("when", "input.amount > 100")
	p.post("/policy/rules/1", form).is(http.StatusSeeOther)
	p.get("/policy").says("#rule-1", "only when", "input.amount > 100")

	for input, want := range map[string]string{
		`{"amount": 99}`: "runs without a person", `{"amount": 101}`: "waits for a person", `{"amount": "101"}`: "can't be judged, so the rule applies",
	} {
		try := p.get("/policy/try").form("#try-form", "#try")
		try.Set("tool", "payment.send")
		try.Set("input", input)
		got := p.post("/policy/try", try).is(http.StatusOK).says(".tried-answer:nth-child(2)", want)
		if back := got.form("#try-form", "#try").Get("input"); back != input {
			t.Errorf("%s comes back as %q", input, back)
		}
	}
	broken := p.get("/policy/try").form("#try-form", "#try")
	broken.Set("tool", "payment.send")
	broken.Set("input", `{"amount": `)
	broken.Set("at", "tonight")
	p.post("/policy/try", broken).is(http.StatusUnprocessableEntity).says("#input-error", "must be JSON").says("#at-error", "a date and a time")

	save := p.get("/policy/review").form(`form[action="/policy/review"]`, "#save")
	save.Set("note", "payments")
	p.post("/policy/review", save).is(http.StatusSeeOther)
	a := w.ask(func(in *models.AskInput) {
		in.ToolName, in.Input, in.Explicit = "payment.send", []byte(`{"amount":101}`), false
	})
	if a.Status() != models.StatusPending || a.PolicyRule != "payments over 100 need finance" {
		t.Errorf("101 is %s by %s", a.Status(), a.PolicyRule)
	}
	p.get("/policy/try?from="+string(a.ID)).says("#try-form", "101").says(".tried-answer:nth-child(1)", "its condition is true")
	b := w.ask(func(in *models.AskInput) {
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
	w := newWorld(t)
	for _, tool := range []string{"payment.send", "Payment.Send", "read_file"} {
		w.ask(func(in *models.AskInput) { in.ToolName = tool })
	}
	p := w.signedIn(adminEmail)
	p.get("/policy/rules/new?from="+string(w.ask().ID)).says("#tool-matches", "“Bash” matches 1 tool seen in the last 90 days: Bash.")
	form := p.get("/policy/rules/new").form("#rule-form", "#keep-rule")
	form.Set("name", "payments")
	form.Set("tools", "/^payment\\./\n/(/\nnever.seen")
	form.Set("risk", "high")
	p.post("/policy/rules/matches", form, htmx).is(http.StatusOK).isFragment().
		says("#tool-matches", "matches 1 tool seen in the last 90 days: payment.send; it narrowly misses Payment.Send.", "“/(/” is not a regular expression", "“never.seen” matches no tool")
	p.post("/policy/rules/matches", form).is(http.StatusSeeOther)
	w.signedIn(ownerEmail).post("/policy/rules/matches", form, htmx).is(http.StatusForbidden)
	form.Set("tools", "/^payment\\./")
	p.post("/policy/rules/new", form).is(http.StatusSeeOther)
	p.get("/policy/review").is(http.StatusOK).says("#warnings", "Narrowly misses “Payment.Send”", "Is all that covers “Bash”, “read_file”", "the agent's owner may approve alone")
}

// A policy of many rules is written on pages of a hundred; one of nearly 1 MiB is taken as
// JSON.
func TestAPolicyOfManyRulesIsPaged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var rules []string
	for i := range 250 {
		rules = append(rules, fmt.Sprintf(`{"name":"rule %d","tools":["tool%d"],"effect":"require","note":"%s"}`, i+1, i, strings.Repeat("n", 1900)))
	}
	p := w.signedIn(adminEmail)
	text := `{"rules":[` + strings.Join(rules, ",") + `]}`
	form := p.get("/policy/json").form("#json-form", "#review")
	form.Set("document", text)
	p.post("/policy/json", form).is(http.StatusSeeOther)

	first := p.get("/policy").is(http.StatusOK).says(".rule-pages", "1–100", "101–200", "201–250")
	if n := first.doc.Find("[id^=rule-]").Length(); n != 100 {
		t.Errorf("%d rules on the first page", n)
	}
	last := p.get("/policy?rules=3").says("#rule-250", "rule 250").says(".everything-else", "251")
	if n := last.doc.Find("[id^=rule-]").Length(); n != 50 {
		t.Errorf("%d rules on the last page", n)
	}
	second := p.get("/policy?rules=2").form("#policy-form", `button[value="down:199"]`)
	p.post("/policy", second).redirects("/policy?rules=3#rule-201")
	p.get("/policy?rules=3").says("#rule-201", "rule 200")
	wrong := p.get("/policy?rules=2").form("#policy-form", "#review")
	wrong.Set("grant_max_uses", "many")
	p.post("/policy", wrong).is(http.StatusUnprocessableEntity).says("#rule-101", "rule 101")
	wrong.Set("grant_max_uses", "50")
	wrong.Set("revision", p.get("/policy").form("#policy-form", "#review").Get("revision"))
	p.post("/policy", wrong).is(http.StatusSeeOther)
	p.get("/policy/review").is(http.StatusOK).says("main", "rule 250")

	form = p.get("/policy/json").form("#json-form", "#review")
	form.Set("document", strings.Repeat(" ", 1<<20)+text)
	p.post("/policy/json", form).is(http.StatusUnprocessableEntity).says("main", "is too large; at most 1024 KiB are allowed")
	p.post("/grants", url.Values{"x": {strings.Repeat("x", 2<<20)}}).is(http.StatusRequestEntityTooLarge)
}
