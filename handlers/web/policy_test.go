package web_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/policy"
	"countersign/models/storetest"
)

// policyIs checks which version of the policy holds.
func (w *world) policyIs(version int64) policy.Document {
	w.tb.Helper()
	v, err := w.store.CurrentPolicy(w.tb.Context())
	if err != nil || v.Version != version {
		w.tb.Fatalf("version %d stands, want %d (%v)", v.Version, version, err)
	}
	return v.Compiled.Document()
}

func TestPolicyIsReviewedThenSaved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn("admin@example.com")
	form := p.get("/policy").is(http.StatusOK).form("#policy-form", "#review")
	p.post("/policy", form).is(http.StatusOK).says("main", "Nothing would change").saysNot("main", "Your draft")

	form.Set("required_approval_tools", "Bash\r\n\r\n /^git_/ \r\n")
	form.Set("default_timeout_minutes", "7")
	p.post("/policy", form).redirects("/policy/review")
	review := p.get("/policy/review").is(http.StatusOK).
		says("table", "required_approval_tools", "Bash", "/^git_/", "Minutes until a tool call expires", "5", "7")
	w.policyIs(1)
	if got := p.get("/policy").is(http.StatusOK).says("main", "Your draft").value("#default_timeout_minutes"); got != "7" {
		t.Errorf("back to the form: %q minutes", got)
	}
	save := review.form("form:has(#save)", "#save")
	p.post("/policy/review", save).is(http.StatusUnprocessableEntity).says("#note-error", "Say why")
	w.policyIs(1)
	save.Set("note", "after the incident")
	p.post("/policy/review", save).redirects("/policy")
	p.get("/policy").is(http.StatusOK).says(".flash", "new version").says("main", "v2", "after the incident", "admin@example.com").saysNot("main", "Your draft")
	doc := w.policyIs(2)
	if strings.Join(doc.RequiredApprovalTools, " ") != "Bash /^git_/" || doc.DefaultTimeoutMinutes != 7 || !doc.ApprovalEnabled {
		t.Errorf("saved %+v", doc)
	}
	p.get("/policy/versions/2").is(http.StatusOK).says("#document", "/^git_/")
	p.get("/policy/versions/1").is(http.StatusOK)
	p.get("/policy/versions/2?before=1").is(http.StatusOK).says("table", "default_timeout_minutes", "5", "7")
	for _, before := range []string{"9", "x", "0"} {
		p.get("/policy/versions/2?before="+before).is(http.StatusUnprocessableEntity).says("#before-error", "must be a version from 1 to 2")
	}

	// Sent again, it finds no draft and changes nothing.
	p.post("/policy/review", save).is(http.StatusConflict)
	w.policyIs(2)

	// An old version is restored by way of the draft.
	p.post("/policy/versions/1/restore", nil).redirects("/policy/review")
	save = p.get("/policy/review").says("table", "default_timeout_minutes", "7", "5").form("form:has(#save)", "#save")
	save.Set("note", "back")
	p.post("/policy/review", save).redirects("/policy")
	if doc := w.policyIs(3); doc.DefaultTimeoutMinutes != 5 || len(doc.RequiredApprovalTools) != 0 {
		t.Errorf("restored %+v", doc)
	}
}

// Two admins begin with one version: whoever saves later sees the difference, and loses
// nothing.
func TestTwoAdminsChangeThePolicyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	storetest.User(t, w.store, "second@example.com", models.RoleAdmin)
	ann, bo := w.signedIn("admin@example.com"), w.signedIn("second@example.com")
	form := ann.get("/policy").form("#policy-form", "#review")
	late := bo.get("/policy").form("#policy-form", "#review")
	form.Set("default_timeout_minutes", "7")
	form.Set("max_pause_minutes", "30")
	ann.post("/policy", form).redirects("/policy/review")
	save := ann.get("/policy/review").form("form:has(#save)", "#save")
	save.Set("note", "first")
	ann.post("/policy/review", save).redirects("/policy")

	late.Set("default_timeout_minutes", "9")
	late.Set("required_approval_tools", "deploy")
	bo.post("/policy", late).redirects("/policy/review")
	bo.get("/policy").says(".draft-state", "v2 was saved in the meantime")
	stale := bo.get("/policy/review").is(http.StatusOK).
		says("main", "admin@example.com saved v2", "Changed by both", "max_pause_minutes", "deploy")
	if got := stale.doc.Find("table").First().Find("tbody tr").Length(); got != 1 {
		t.Errorf("%d places were changed by both", got)
	}
	blind := stale.form("form:has(#merge)", "")
	blind.Set("step", "save")
	blind.Set("note", "blindly")
	bo.post("/policy/review", blind).is(http.StatusConflict)
	w.policyIs(2)
	bo.post("/policy/review", stale.form("form:has(#merge)", "#merge")).redirects("/policy/review")
	save = bo.get("/policy/review").saysNot("main", "max_pause_minutes").says("table", "default_timeout_minutes", "7", "9", "deploy").form("form:has(#save)", "#save")
	save.Set("note", "both")
	bo.post("/policy/review", save).redirects("/policy")
	doc := w.policyIs(3)
	if doc.DefaultTimeoutMinutes != 9 || doc.MaxPauseMinutes != 30 || strings.Join(doc.RequiredApprovalTools, "") != "deploy" {
		t.Errorf("%+v", doc)
	}
}

func TestPolicyErrorsStandAtTheirField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn("admin@example.com")
	for _, c := range []struct{ field, value, at string }{
		{"required_approval_tools", "Bash\n/(/", "#required_approval_tools-error"},
		{"default_timeout_minutes", "soon", "#default_timeout_minutes-error"},
		{"default_timeout_minutes", "0", "#default_timeout_minutes-error"},
		{"default_timeout_minutes", "99999", "#default_timeout_minutes-error"},
		{"budget_per_agent.energy", "5", "#budget_per_agent-hours-error"},
		{"undo_seconds.high", "-1", "#undo_seconds-high-error"},
	} {
		p.post("/policy", url.Values{"step": {"discard"}}).redirects("/policy")
		form := p.get("/policy").form("#policy-form", "#review")
		form.Set(c.field, c.value)
		got := p.post("/policy", form).is(http.StatusUnprocessableEntity)
		for _, page := range []*page{got, p.get("/policy").is(http.StatusOK)} {
			if page.text(c.at) == "" || page.form("#policy-form", "").Get(c.field) != strings.ReplaceAll(c.value, "\n", "\r\n") {
				t.Errorf("%s %q: error %q, kept %q", c.field, c.value, page.text(c.at), page.form("#policy-form", "").Get(c.field))
			}
		}
		p.get("/policy/review").redirects("/policy")
		p.post("/policy/review", url.Values{"step": {"save"}, "note": {"x"}, "revision": {got.value("#policy-form [name=revision]")}}).redirects("/policy")
	}
	w.policyIs(1)
}

func TestRulesAreWrittenByForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn("admin@example.com")
	press := func(step string) {
		t.Helper()
		form := p.get("/policy").is(http.StatusOK).form("#policy-form", "")
		form.Set("step", step)
		p.post("/policy", form).is(http.StatusSeeOther)
	}
	rule := func(name string, fill url.Values) {
		t.Helper()
		form := p.get("/policy/rules/new").is(http.StatusOK).form("#rule-form", "#keep-rule")
		form.Set("name", name)
		maps.Copy(form, fill)
		p.post("/policy/rules/new", form).is(http.StatusSeeOther)
	}
	// What was typed on the page is not lost when a rule is added.
	typed := p.get("/policy").form("#policy-form", "#add-rule")
	typed.Set("default_timeout_minutes", "8")
	p.post("/policy", typed).redirects("/policy/rules/new")

	bad := p.get("/policy/rules/new").form("#rule-form", "#keep-rule")
	bad.Set("name", "payments")
	bad.Set("tools", "/(/")
	bad.Set("timeout_minutes", "soon")
	wrong := p.post("/policy/rules/new", bad).is(http.StatusUnprocessableEntity).
		says("#tools-error", "Line 1").says("#timeout_minutes-error", "whole number")
	good := wrong.form("#rule-form", "#keep-rule")
	good.Set("tools", "/^payment/")
	good.Set("timeout_minutes", "60")
	good.Set("risk", "high")
	good["reviewers"] = []string{"", ownerEmail, ""}
	good.Set("reviewers_only", "true")
	good.Set("reject_reasons", "Too much\r\nAsk first")
	p.post(wrong.doc.Find("#rule-form").AttrOr("action", ""), good).redirects("/policy#rule-1")
	rule("reading", url.Values{"tools": {"Read"}, "effect": {"allow"}})
	rule("first", url.Values{"tools": {"x"}, "effect": {"deny"}, "place": {"first"}})

	names := func() string {
		var out []string
		page := p.get("/policy")
		for i := range page.doc.Find("tr[id^=rule-]").Length() {
			out = append(out, page.doc.Find("tr[id^=rule-]").Eq(i).Find("td").First().Text())
		}
		return strings.Join(strings.Fields(strings.Join(out, " ")), " ")
	}
	for _, s := range []struct{ step, want string }{
		{"up:2", "first reading payments"},
		{"down:0", "reading first payments"},
		{"duplicate:1", "reading first first (2) payments"},
		{"delete:2", "reading first payments"},
		{"disable:1", "reading first payments"},
		{"up:9", "reading first payments"},
		{"up:0", "reading first payments"},
	} {
		press(s.step)
		if got := names(); got != s.want {
			t.Fatalf("%s: %s, want %s", s.step, got, s.want)
		}
	}
	p.get("/policy").says("#rule-2", "disabled").says("#rule-3", "only "+ownerEmail, "waits 1 hour").is(http.StatusOK)
	w.policyIs(1)

	// Undo goes back one step, and forth.
	undo := func() {
		p.post("/policy", p.get("/policy").form("#draft-form", "button[value=undo]")).redirects("/policy")
	}
	press("delete:0")
	undo()
	if got := names(); got != "reading first payments" {
		t.Errorf("after undo: %s", got)
	}

	// A rule is found by its name where it has moved meanwhile.
	moved := p.get("/policy/rules/3").is(http.StatusOK).form("#rule-form", "#keep-rule")
	press("up:2")
	moved.Set("revision", p.get("/policy").value("#policy-form [name=revision]"))
	moved.Set("note", "kept by finance")
	p.post("/policy/rules/3", moved).redirects("/policy#rule-2")

	// Against another state of the draft nothing is put in, and nothing is lost.
	old := p.get("/policy/rules/2").form("#rule-form", "#keep-rule")
	press("disable:0")
	old.Set("note", "typed meanwhile")
	if got := p.post("/policy/rules/2", old).is(http.StatusConflict).says("main", "another window").value("#note"); got != "typed meanwhile" {
		t.Errorf("what was typed became %q", got)
	}
	p.get("/policy/rules/9").is(http.StatusNotFound)
	p.get("/policy/rules/0").is(http.StatusNotFound)

	p.post("/policy", p.get("/policy").form("#policy-form", "#review")).redirects("/policy/review")
	save := p.get("/policy/review").is(http.StatusOK).form("form:has(#save)", "#save")
	save.Set("note", "rules by form")
	p.post("/policy/review", save).redirects("/policy")
	doc := w.policyIs(2)
	got := doc.Rules[1]
	if doc.DefaultTimeoutMinutes != 8 || len(doc.Rules) != 3 || !doc.Rules[0].Disabled || got.Name != "payments" || got.Risk != models.RiskHigh || *got.TimeoutMinutes != 60 ||
		!got.ReviewersOnly || !slices.Equal(got.Reviewers, []string{ownerEmail}) || !slices.Equal(got.RejectReasons, []string{"Too much", "Ask first"}) || got.Note != "kept by finance" {
		t.Errorf("%+v", doc)
	}
	held := w.ask(func(in *models.AskInput) { in.ToolName = "payment.send" })
	w.signedIn(ownerEmail).get(pageOf(held)).is(http.StatusOK).says("main", "payments")
}

func TestAnExampleBecomesTheDraft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn("admin@example.com")
	form := p.get("/policy").says(".examples", "Development", "Production", "Coding agent", "Payments", "Read-only").form("#policy-form", "button[value='example:payments']")
	form.Set("max_pause_minutes", "30")
	p.post("/policy", form).redirects("/policy#rules-title")
	w.policyIs(1)
	shown := p.get("/policy").says("#rule-1", "payouts").says("#rule-2", "payments").says(".draft-state", "Your draft")
	if shown.doc.Find(".examples").Length() != 0 || shown.value("#max_pause_minutes") != "30" {
		t.Error("examples are offered over rules, or what was typed is lost")
	}
	p.post("/policy", shown.form("#policy-form", "#review")).redirects("/policy/review")

	// It names people of its own, who are not here: nothing is saved, and that is said.
	save := p.get("/policy/review").is(http.StatusOK).form("form:has(#save)", "#save")
	save.Set("note", "as the guide has it")
	p.post("/policy/review", save).is(http.StatusUnprocessableEntity).says("main", "none of its reviewers is a person who may sign in")
	w.policyIs(1)
	form = p.get("/policy").form("#policy-form", "")
	form.Set("step", "example:nothing")
	p.post("/policy", form).is(http.StatusNotFound)
}

func TestARuleIsMadeFromARequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask(func(in *models.AskInput) { in.ToolName = "deploy" })
	admin := w.signedIn("admin@example.com")
	link, _ := admin.get(pageOf(a)).is(http.StatusOK).doc.Find("a[href^='/policy/rules/new']").Attr("href")
	form := admin.get(link).is(http.StatusOK).form("#rule-form", "#keep-rule")
	if form.Get("tools") != "deploy" || form.Get("place") != "first" || form.Get("risk") != string(a.Risk) {
		t.Errorf("%s: %v", link, form)
	}
	if n := w.signedIn(ownerEmail).get(pageOf(a)).doc.Find("a[href^='/policy/rules']").Length(); n != 0 {
		t.Error("a reviewer is offered a rule")
	}
	admin.get("/policy/rules/new?from=nothing").is(http.StatusNotFound)
}

func TestTheDraftAsJSONAndAsAForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn("admin@example.com")
	as := func(step string) *page {
		form := p.get("/policy").form("#policy-form", "")
		form.Set("step", step)
		form.Set("grant_max_uses", "many")
		return p.post("/policy", form)
	}
	as("json").redirects("/policy/json")
	page := p.get("/policy/json").is(http.StatusOK).says("#faults", "grant_max_uses must be a whole number").says("#document", `"many"`)

	form := page.form("#json-form", "button[value=form]")
	form.Set("document", `{"colour": "red",`)
	p.post("/policy/json", form).is(http.StatusUnprocessableEntity).says("#faults", "line 1, column 18")
	p.get("/policy").is(http.StatusOK).says("main", "can't be shown as a form")
	p.get("/policy/review").redirects("/policy")
	p.get("/policy/rules/new").redirects("/policy")
	page = p.get("/policy/json").is(http.StatusOK)
	if got := page.value("#document"); got != `{"colour": "red",` {
		t.Errorf("it became %q", got)
	}

	form = page.form("#json-form", "button[value=form]")
	form.Set("document", "{\r\n  \"colour\": \"red\",\r\n  \"default_timeout_minutes\": 9, \"rules\": [{\"name\": \"a\", \"tools\": [\"x\"], \"effect\": \"deny\", \"Odd\": 1}]\r\n}")
	p.post("/policy/json", form).redirects("/policy")
	shown := p.get("/policy").is(http.StatusOK).says("main", "colour is not a member", "Odd is not a member")
	if got := shown.value("#default_timeout_minutes"); got != "9" {
		t.Errorf("the form shows %q minutes", got)
	}
	edited := shown.form("#policy-form", "")
	edited.Set("step", "json")
	edited.Set("default_timeout_minutes", "10")
	p.post("/policy", edited).redirects("/policy/json")
	p.get("/policy/json").says("#document", `"colour": "red"`, `"default_timeout_minutes": 10`, `"Odd": 1`)

	// What another admin hid in a text is written out, and says the same.
	hiding := p.get("/policy/json").form("#json-form", "button[value=form]")
	hiding.Set("document", "{\"rules\": [{\"name\": \"a\", \"tools\": [\"x\"], \"effect\": \"deny\", \"note\": \"a\u202eb\"}]}")
	p.post("/policy/json", hiding).redirects("/policy")
	if got := p.get("/policy/json").value("#document"); strings.Contains(got, "\u202e") || !strings.Contains(got, `a\u202eb`) {
		t.Errorf("the JSON shows %q", got)
	}

	// Against another state of the draft it changes nothing, and keeps what was typed.
	form.Set("document", `{"default_timeout_minutes": 3}`)
	if got := p.post("/policy/json", form).is(http.StatusConflict).says("main", "another window").value("#document"); got != `{"default_timeout_minutes": 3}` {
		t.Errorf("what was typed became %q", got)
	}
	form.Set("revision", p.get("/policy/json").value("#json-form [name=revision]"))
	form.Set("step", "review")
	p.post("/policy/json", form).redirects("/policy/review")
	p.get("/policy/review").is(http.StatusOK).says("table", "5", "3")
	w.policyIs(1)
}

func TestI11OpenGatesAreRedOnEveryPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	a := w.ask()
	everywhere := []string{"/", pageOf(a), "/agents", "/audit", "/policy", "/account/password", "/nowhere"}
	for _, path := range everywhere {
		if n := p.get(path).doc.Find(".dangers").Length(); n != 0 {
			t.Errorf("%s warns of nothing", path)
		}
	}
	w.applyPolicy(`{"approval_enabled": false, "fallback_auto_approve": true}`)
	for _, path := range everywhere {
		p.get(path).says(".dangers", "approval_enabled", "fallback_auto_approve")
	}
	w.visitor().get("/signin").says(".dangers", "approval_enabled")
	w.applyPolicy(`{"fallback_auto_approve": true}`)
	p.get("/").saysNot(".dangers", "approval_enabled").says(".dangers", "fallback_auto_approve")
}

func TestReviewersReadTheFieldsAndTheirOwnRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(`{"rules": [
		{"name": "payments", "tools": ["pay"], "effect": "require", "reviewers": ["` + ownerEmail + `"]},
		{"name": "secret ways", "tools": ["deploy"], "effect": "deny"}]}`)
	got := w.signedIn(ownerEmail).get("/policy").is(http.StatusOK).
		says("main", "approval_enabled", "default_timeout_minutes", "payments").saysNot("main", "secret ways", "Versions")
	if got.doc.Find("main form").Length() != 0 {
		t.Error("a reviewer is given a form")
	}
	w.signedIn("admin@example.com").get("/policy").is(http.StatusOK).says("main", "payments", "secret ways")

	// Who it was routed to sees and decides it, and nobody else's.
	a := w.ask(func(in *models.AskInput) { in.ToolName = "pay" })
	w.signedIn(ownerEmail).get(pageOf(a)).is(http.StatusOK).says(".facts", "payments")
	w.signedIn(strangerEmail).get(pageOf(a)).is(http.StatusNotFound)
}

func TestThePolicySaysWhatItDoesToBudgets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.signedIn("admin@example.com")
	w.applyPolicy(`{"auto_budget_increase":1500,"rules":[{"name":"Searches","tools":["search"],"effect":"allow","energy":12}]}`)
	admin.get("/policy").is(http.StatusOK).says("main", "costs at least 12 energy")
	if got := admin.get("/policy").value("#auto_budget_increase"); got != "1500" {
		t.Errorf("the form shows %q", got)
	}
	w.signedIn(ownerEmail).get("/policy").is(http.StatusOK).saysNot("main", "1,500", "costs at least")
}

// All versions are reached, fifty at a time.
func TestVersionsArePaged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 60 {
		w.applyPolicy(fmt.Sprintf(`{"grant_max_uses":%d}`, i+1))
	}
	p := w.signedIn(adminEmail)
	older, _ := p.get("/policy").is(http.StatusOK).says("main", "v61", "v12").doc.Find(".pager a[rel=next]").Attr("href")
	if older != "/policy?before=12#versions-title" {
		t.Fatalf("older versions are at %q", older)
	}
	if n := p.get("/policy").doc.Find(`a[href="/policy/versions/12?before=11"]`).Length(); n != 1 {
		t.Errorf("the last of the page is compared with the one before it %d times", n)
	}
	last := p.get("/policy?before=12").is(http.StatusOK).says("main", "v11", "v1").says(".pager", "Back to the start")
	if n := last.doc.Find(".pager a[rel=next]").Length(); n != 0 {
		t.Errorf("%d links lead behind the first version", n)
	}
	p.get("/policy?before=x").is(http.StatusOK).says("main", "v61")
}
