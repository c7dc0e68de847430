package policy_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/policy"
	"countersign/models/storetest"
)

func TestPolicyIsReviewedThenSaved(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn("admin@example.com")
	form := p.Get("/policy/settings").Is(http.StatusOK).Form("#policy-form", "#review")
	p.Post("/policy/settings", form).Is(http.StatusOK).Says("main", "Nothing would change").SaysNot("main", "Your draft")

	form.Set("required_approval_tools", "Bash\r\n\r\n /^git_/ \r\n")
	form.Set("default_timeout_minutes", "7")
	p.Post("/policy/settings", form).Redirects("/policy/review")
	review := p.Get("/policy/review").Is(http.StatusOK).
		Says("#changes", "Tools that need approval: Bash, /^git_/.", "Minutes until a tool call expires: 5 → 7.").
		SaysNot("#changes", "required_approval_tools", "default_timeout_minutes").
		Says("details.difference", "default_timeout_minutes", "+5", "−2")
	w.PolicyIs(1)
	if got := p.Get("/policy/settings").Is(http.StatusOK).Says("main", "Your draft").Value("#default_timeout_minutes"); got != "7" {
		t.Errorf("back to the form: %q minutes", got)
	}
	save := review.Form("form:has(#save)", "#save")
	p.Post("/policy/review", save).Is(http.StatusUnprocessableEntity).Says("#note-error", "Say why")
	w.PolicyIs(1)
	save.Set("note", "after the incident")
	p.Post("/policy/review", save).Redirects("/policy")
	p.Get("/policy").Is(http.StatusOK).Says(".flash", "new version").SaysNot("main", "Your draft")
	p.Get("/policy/versions").Says("main", "v2", "after the incident", "admin@example.com")
	doc := w.PolicyIs(2)
	if strings.Join(doc.RequiredApprovalTools, " ") != "Bash /^git_/" || doc.DefaultTimeoutMinutes != 7 || !doc.ApprovalEnabled {
		t.Errorf("saved %+v", doc)
	}
	p.Get("/policy/versions/2").Is(http.StatusOK).Says("#document", "/^git_/")
	p.Get("/policy/versions/1").Is(http.StatusOK)
	p.Get("/policy/versions/2?before=1").Is(http.StatusOK).Says("#changes", "Minutes until a tool call expires: 5 → 7.")
	for _, before := range []string{"9", "x", "0"} {
		p.Get("/policy/versions/2?before="+before).Is(http.StatusUnprocessableEntity).Says("#before-error", "must be a version from 1 to 2")
	}

	// Sent again, it finds no draft and changes nothing.
	p.Post("/policy/review", save).Is(http.StatusConflict)
	w.PolicyIs(2)

	// An old version is restored by way of the draft.
	p.Post("/policy/versions/1/restore", nil).Redirects("/policy/review")
	save = p.Get("/policy/review").Says("#changes", "Minutes until a tool call expires: 7 → 5.", "Tools that need approval: no longer Bash, /^git_/.").Form("form:has(#save)", "#save")
	save.Set("note", "back")
	p.Post("/policy/review", save).Redirects("/policy")
	if doc := w.PolicyIs(3); doc.DefaultTimeoutMinutes != 5 || len(doc.RequiredApprovalTools) != 0 {
		t.Errorf("restored %+v", doc)
	}
}

// Two admins begin with one version: whoever saves later sees the difference, and loses
// nothing.
func TestTwoAdminsChangeThePolicyAtOnce(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	storetest.User(t, w.Store, "second@example.com", models.RoleAdmin)
	ann, bo := w.SignIn("admin@example.com"), w.SignIn("second@example.com")
	form := ann.Get("/policy/settings").Form("#policy-form", "#review")
	late := bo.Get("/policy/settings").Form("#policy-form", "#review")
	form.Set("default_timeout_minutes", "7")
	form.Set("max_pause_minutes", "30")
	ann.Post("/policy/settings", form).Redirects("/policy/review")
	save := ann.Get("/policy/review").Form("form:has(#save)", "#save")
	save.Set("note", "first")
	ann.Post("/policy/review", save).Redirects("/policy")

	late.Set("default_timeout_minutes", "9")
	late.Set("required_approval_tools", "deploy")
	bo.Post("/policy/settings", late).Redirects("/policy/review")
	bo.Get("/policy/settings").Says(".draft-state", "v2 was saved in the meantime")
	stale := bo.Get("/policy/review").Is(http.StatusOK).
		Says("main", "admin@example.com saved v2", "Changed by both").
		Says("#their-changes", "Minutes that a question may pause the timer: 60 → 30.").Says("#changes", "deploy")
	if got := stale.Doc.Find("table").First().Find("tbody tr").Length(); got != 1 {
		t.Errorf("%d places were changed by both", got)
	}
	blind := stale.Form("form:has(#merge)", "")
	blind.Set("step", "save")
	blind.Set("note", "blindly")
	bo.Post("/policy/review", blind).Is(http.StatusConflict)
	w.PolicyIs(2)
	bo.Post("/policy/review", stale.Form("form:has(#merge)", "#merge")).Redirects("/policy/review")
	save = bo.Get("/policy/review").SaysNot("#changes", "pause the timer").Says("#changes", "Minutes until a tool call expires: 7 → 9.", "deploy").Form("form:has(#save)", "#save")
	save.Set("note", "both")
	bo.Post("/policy/review", save).Redirects("/policy")
	doc := w.PolicyIs(3)
	if doc.DefaultTimeoutMinutes != 9 || doc.MaxPauseMinutes != 30 || strings.Join(doc.RequiredApprovalTools, "") != "deploy" {
		t.Errorf("%+v", doc)
	}
}

func TestPolicyErrorsStandAtTheirField(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn("admin@example.com")
	for _, c := range []struct{ field, value, at string }{
		{"required_approval_tools", "Bash\n/(/", "#required_approval_tools-error"},
		{"default_timeout_minutes", "soon", "#default_timeout_minutes-error"},
		{"default_timeout_minutes", "0", "#default_timeout_minutes-error"},
		{"default_timeout_minutes", "99999", "#default_timeout_minutes-error"},
		{"budget_per_agent.energy", "5", "#budget_per_agent-hours-error"},
		{"undo_seconds.high", "-1", "#undo_seconds-high-error"},
	} {
		p.Post("/policy/settings", url.Values{"step": {"discard"}}).Redirects("/policy/settings")
		form := p.Get("/policy/settings").Form("#policy-form", "#review")
		form.Set(c.field, c.value)
		got := p.Post("/policy/settings", form).Is(http.StatusUnprocessableEntity)
		for _, page := range []*webtest.Page{got, p.Get("/policy/settings").Is(http.StatusOK)} {
			if page.Text(c.at) == "" || page.Form("#policy-form", "").Get(c.field) != strings.ReplaceAll(c.value, "\n", "\r\n") {
				t.Errorf("%s %q: error %q, kept %q", c.field, c.value, page.Text(c.at), page.Form("#policy-form", "").Get(c.field))
			}
		}
		p.Get("/policy/review").Redirects("/policy")
		p.Post("/policy/review", url.Values{"step": {"save"}, "note": {"x"}, "revision": {got.Value("#policy-form [name=revision]")}}).Redirects("/policy")
	}
	w.PolicyIs(1)
}

func TestRulesAreWrittenByForm(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn("admin@example.com")
	press := func(step string) {
		t.Helper()
		form := p.Get("/policy").Is(http.StatusOK).Form("#policy-form", "")
		form.Set("step", step)
		p.Post("/policy", form).Is(http.StatusSeeOther)
	}
	rule := func(name string, fill url.Values) {
		t.Helper()
		form := p.Get("/policy/rules/new").Is(http.StatusOK).Form("#rule-form", "#keep-rule")
		form.Set("name", name)
		maps.Copy(form, fill)
		p.Post("/policy/rules/new", form).Is(http.StatusSeeOther)
	}
	// What was typed on a page is not lost when another is asked for, nor when a rule is added.
	typed := p.Get("/policy/settings").Form("#policy-form", "")
	typed.Set("default_timeout_minutes", "8")
	typed.Set("step", "go:/policy")
	p.Post("/policy/settings", typed).Redirects("/policy")
	typed = p.Get("/policy").Form("#policy-form", "#add-rule")
	typed.Set("unmatched", "require")
	p.Post("/policy", typed).Redirects("/policy/rules/new")

	bad := p.Get("/policy/rules/new").Form("#rule-form", "#keep-rule")
	bad.Set("name", "payments")
	bad.Set("tools", "/(/")
	bad.Set("timeout_minutes", "soon")
	wrong := p.Post("/policy/rules/new", bad).Is(http.StatusUnprocessableEntity).
		Says("#tools-error", "Line 1").Says("#timeout_minutes-error", "whole number")
	good := wrong.Form("#rule-form", "#keep-rule")
	good.Set("tools", "/^payment/")
	good.Set("timeout_minutes", "60")
	good.Set("risk", "high")
	good["reviewers"] = []string{"", webtest.OwnerEmail, ""}
	good.Set("reviewers_only", "true")
	good.Set("reject_reasons", "Too much\r\nAsk first")
	p.Post(wrong.Doc.Find("#rule-form").AttrOr("action", ""), good).Redirects("/policy#rule-1")
	rule("reading", url.Values{"tools": {"Read"}, "effect": {"allow"}})
	rule("first", url.Values{"tools": {"x"}, "effect": {"deny"}, "place": {"first"}})

	names := func() string {
		var out []string
		page := p.Get("/policy")
		for i := range page.Doc.Find("tr[id^=rule-]").Length() {
			out = append(out, page.Doc.Find("tr[id^=rule-]").Eq(i).Find(".rule-name").Text())
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
	p.Get("/policy").Says("#rule-2", "disabled").Says("#rule-3", "calls wait for "+webtest.OwnerEmail+" only", "1 hour").Is(http.StatusOK)
	w.PolicyIs(1)

	// Undo goes back one step, and forth.
	undo := func() {
		p.Post("/policy", p.Get("/policy").Form("#draft-form", "button[value=undo]")).Redirects("/policy")
	}
	press("delete:0")
	undo()
	if got := names(); got != "reading first payments" {
		t.Errorf("after undo: %s", got)
	}

	// A rule is found by its name where it has moved meanwhile.
	moved := p.Get("/policy/rules/3").Is(http.StatusOK).Form("#rule-form", "#keep-rule")
	press("up:2")
	moved.Set("revision", p.Get("/policy").Value("#policy-form [name=revision]"))
	moved.Set("note", "kept by finance")
	p.Post("/policy/rules/3", moved).Redirects("/policy#rule-2")

	// Against another state of the draft nothing is put in, and nothing is lost.
	old := p.Get("/policy/rules/2").Form("#rule-form", "#keep-rule")
	press("disable:0")
	old.Set("note", "typed meanwhile")
	if got := p.Post("/policy/rules/2", old).Is(http.StatusConflict).Says("main", "another window").Value("#note"); got != "typed meanwhile" {
		t.Errorf("what was typed became %q", got)
	}
	p.Get("/policy/rules/9").Is(http.StatusNotFound)
	p.Get("/policy/rules/0").Is(http.StatusNotFound)

	p.Post("/policy", p.Get("/policy").Form("#policy-form", "#review")).Redirects("/policy/review")
	save := p.Get("/policy/review").Is(http.StatusOK).Form("form:has(#save)", "#save")
	save.Set("note", "rules by form")
	p.Post("/policy/review", save).Redirects("/policy")
	doc := w.PolicyIs(2)
	got := doc.Rules[1]
	if doc.DefaultTimeoutMinutes != 8 || doc.Unmatched != policy.EffectRequire || !doc.ApprovalEnabled || !doc.GrantsEnabled || len(doc.Rules) != 3 || !doc.Rules[0].Disabled || got.Name != "payments" || got.Risk != models.RiskHigh || *got.TimeoutMinutes != 60 ||
		!got.ReviewersOnly || !slices.Equal(got.Reviewers, []string{webtest.OwnerEmail}) || !slices.Equal(got.RejectReasons, []string{"Too much", "Ask first"}) || got.Note != "kept by finance" {
		t.Errorf("%+v", doc)
	}
	held := w.Ask(func(in *models.AskInput) { in.ToolName = "payment.send" })
	w.SignIn(webtest.OwnerEmail).Get(webtest.PageOf(held)).Is(http.StatusOK).Says("main", "payments")
}

func TestAnExampleBecomesTheDraft(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn("admin@example.com")
	form := p.Get("/policy").Says(".examples", "Development", "Production", "Coding agent", "Payments", "Read-only").Form("#policy-form", "button[value='example:payments']")
	p.Post("/policy", form).Redirects("/policy#rules-title")
	w.PolicyIs(1)
	shown := p.Get("/policy").Says("#rule-1", "payouts").Says("#rule-2", "payments").Says(".draft-state", "Your draft")
	if shown.Doc.Find(".examples").Length() != 0 {
		t.Error("examples are offered over rules")
	}
	p.Post("/policy", shown.Form("#policy-form", "#review")).Redirects("/policy/review")

	// It names people of its own, who are not here: nothing is saved, and that is said.
	save := p.Get("/policy/review").Is(http.StatusOK).Form("form:has(#save)", "#save")
	save.Set("note", "as the guide has it")
	p.Post("/policy/review", save).Is(http.StatusUnprocessableEntity).Says("main", "none of its reviewers is a person who may sign in")
	w.PolicyIs(1)
	form = p.Get("/policy").Form("#policy-form", "")
	form.Set("step", "example:nothing")
	p.Post("/policy", form).Is(http.StatusNotFound)
}

func TestARuleIsMadeFromARequest(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask(func(in *models.AskInput) { in.ToolName = "deploy" })
	admin := w.SignIn("admin@example.com")
	link, _ := admin.Get(webtest.PageOf(a)).Is(http.StatusOK).Doc.Find("a[href^='/policy/rules/new']").Attr("href")
	form := admin.Get(link).Is(http.StatusOK).Form("#rule-form", "#keep-rule")
	if form.Get("tool") != "deploy" || form.Get("place") != "first" || form.Get("risk") != string(a.Risk) {
		t.Errorf("%s: %v", link, form)
	}
	if n := w.SignIn(webtest.OwnerEmail).Get(webtest.PageOf(a)).Doc.Find("a[href^='/policy/rules']").Length(); n != 0 {
		t.Error("a reviewer is offered a rule")
	}
	admin.Get("/policy/rules/new?from=nothing").Is(http.StatusNotFound)
}

func TestTheDraftAsJSONAndAsAForm(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn("admin@example.com")
	as := func(step string) *webtest.Page {
		form := p.Get("/policy/settings").Form("#policy-form", "")
		form.Set("step", step)
		form.Set("grant_max_uses", "many")
		return p.Post("/policy/settings", form)
	}
	as("json").Redirects("/policy/json")
	page := p.Get("/policy/json").Is(http.StatusOK).Says("#faults", "grant_max_uses must be a whole number").Says("#document", `"many"`)

	form := page.Form("#json-form", "button[value=form]")
	form.Set("document", `{"colour": "red",`)
	p.Post("/policy/json", form).Is(http.StatusUnprocessableEntity).Says("#faults", "line 1, column 18")
	p.Get("/policy").Is(http.StatusOK).Says("main", "can't be shown as a form")
	p.Get("/policy/review").Redirects("/policy")
	p.Get("/policy/rules/new").Redirects("/policy")
	page = p.Get("/policy/json").Is(http.StatusOK)
	if got := page.Value("#document"); got != `{"colour": "red",` {
		t.Errorf("it became %q", got)
	}

	form = page.Form("#json-form", "button[value=form]")
	form.Set("document", "{\r\n  \"colour\": \"red\",\r\n  \"default_timeout_minutes\": 9, \"rules\": [{\"name\": \"a\", \"tools\": [\"x\"], \"effect\": \"deny\", \"Odd\": 1}]\r\n}")
	p.Post("/policy/json", form).Redirects("/policy")
	p.Get("/policy").Is(http.StatusOK).Says("main", "colour is not a member", "Odd is not a member")
	shown := p.Get("/policy/settings")
	if got := shown.Value("#default_timeout_minutes"); got != "9" {
		t.Errorf("the form shows %q minutes", got)
	}
	edited := shown.Form("#policy-form", "")
	edited.Set("step", "json")
	edited.Set("default_timeout_minutes", "10")
	p.Post("/policy/settings", edited).Redirects("/policy/json")
	p.Get("/policy/json").Says("#document", `"colour": "red"`, `"default_timeout_minutes": 10`, `"Odd": 1`)

	// What another admin hid in a text is written out, and says the same.
	hiding := p.Get("/policy/json").Form("#json-form", "button[value=form]")
	hiding.Set("document", "{\"rules\": [{\"name\": \"a\", \"tools\": [\"x\"], \"effect\": \"deny\", \"note\": \"a\u202eb\"}]}")
	p.Post("/policy/json", hiding).Redirects("/policy")
	if got := p.Get("/policy/json").Value("#document"); strings.Contains(got, "\u202e") || !strings.Contains(got, `a\u202eb`) {
		t.Errorf("the JSON shows %q", got)
	}

	// Against another state of the draft it changes nothing, and keeps what was typed.
	form.Set("document", `{"default_timeout_minutes": 3}`)
	if got := p.Post("/policy/json", form).Is(http.StatusConflict).Says("main", "another window").Value("#document"); got != `{"default_timeout_minutes": 3}` {
		t.Errorf("what was typed became %q", got)
	}
	form.Set("revision", p.Get("/policy/json").Value("#json-form [name=revision]"))
	form.Set("step", "review")
	p.Post("/policy/json", form).Redirects("/policy/review")
	p.Get("/policy/review").Is(http.StatusOK).Says("#changes", "5 → 3")
	w.PolicyIs(1)
}

func TestI11OpenGatesAreRedOnEveryPage(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	a := w.Ask()
	everywhere := []string{"/", webtest.PageOf(a), "/agents", "/audit", "/policy", "/account/password", "/nowhere"}
	for _, path := range everywhere {
		if n := p.Get(path).Doc.Find(".dangers").Length(); n != 0 {
			t.Errorf("%s warns of nothing", path)
		}
	}
	w.ApplyPolicy(`{"approval_enabled": false, "fallback_auto_approve": true}`)
	for _, path := range everywhere {
		p.Get(path).Says(".dangers", "approval_enabled", "fallback_auto_approve")
	}
	w.Visitor().Get("/signin").Says(".dangers", "approval_enabled")
	w.ApplyPolicy(`{"fallback_auto_approve": true}`)
	p.Get("/").SaysNot(".dangers", "approval_enabled").Says(".dangers", "fallback_auto_approve")
}

func TestReviewersReadTheFieldsAndTheirOwnRules(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"rules": [
		{"name": "payments", "tools": ["pay"], "effect": "require", "reviewers": ["` + webtest.OwnerEmail + `"]},
		{"name": "secret ways", "tools": ["deploy"], "effect": "deny"}]}`)
	for path, says := range map[string]string{"/policy": "payments", "/policy/settings": "approval_enabled"} {
		got := w.SignIn(webtest.OwnerEmail).Get(path).Is(http.StatusOK).Says("main", says).SaysNot("main", "secret ways", "Versions")
		if got.Doc.Find("main form").Length() != 0 {
			t.Error("a reviewer is given a form")
		}
	}
	w.SignIn(webtest.OwnerEmail).Get("/policy/templates").Is(http.StatusForbidden)
	w.SignIn(webtest.OwnerEmail).Get("/policy/versions").Is(http.StatusForbidden)
	w.SignIn("admin@example.com").Get("/policy").Is(http.StatusOK).Says("main", "payments", "secret ways")

	// Who it was routed to sees and decides it, and nobody else's.
	a := w.Ask(func(in *models.AskInput) { in.ToolName = "pay" })
	w.SignIn(webtest.OwnerEmail).Get(webtest.PageOf(a)).Is(http.StatusOK).Says(".facts", "payments")
	w.SignIn(webtest.StrangerEmail).Get(webtest.PageOf(a)).Is(http.StatusNotFound)
}

func TestThePolicySaysWhatItDoesToBudgets(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	admin := w.SignIn("admin@example.com")
	w.ApplyPolicy(`{"auto_budget_increase":1500,"rules":[{"name":"Searches","tools":["search"],"effect":"allow","energy":12}]}`)
	admin.Get("/policy").Is(http.StatusOK).Says("main", "costs at least 12 energy")
	if got := admin.Get("/policy/settings").Value("#auto_budget_increase"); got != "1500" {
		t.Errorf("the form shows %q", got)
	}
	w.SignIn(webtest.OwnerEmail).Get("/policy").Is(http.StatusOK).SaysNot("main", "1,500", "costs at least")
}

// All versions are reached, fifty at a time.
func TestVersionsArePaged(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	for i := range 60 {
		w.ApplyPolicy(fmt.Sprintf(`{"grant_max_uses":%d}`, i+1))
	}
	p := w.SignIn(webtest.AdminEmail)
	older, _ := p.Get("/policy/versions").Is(http.StatusOK).Says("main", "v61", "v12").Doc.Find(".pager a[rel=next]").Attr("href")
	if older != "/policy/versions?before=12" {
		t.Fatalf("older versions are at %q", older)
	}
	if n := p.Get("/policy/versions").Doc.Find(`a[href="/policy/versions/12?before=11"]`).Length(); n != 1 {
		t.Errorf("the last of the page is compared with the one before it %d times", n)
	}
	last := p.Get("/policy/versions?before=12").Is(http.StatusOK).Says("main", "v11", "v1").Says(".pager", "Back to the start")
	if n := last.Doc.Find(".pager a[rel=next]").Length(); n != 0 {
		t.Errorf("%d links lead behind the first version", n)
	}
	p.Get("/policy?before=x").Is(http.StatusOK).Says("main", "v61")
}
