package policy_test

import (
	"net/http"
	"net/url"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

func TestACallIsTriedOnWhatStandsAndOnTheDraft(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"required_approval_tools": ["Bash"], "rules": [{"name": "reading", "tools": ["Read"], "effect": "allow"}]}`)
	p := w.SignIn(webtest.AdminEmail)
	if n := p.Get("/policy/try").Is(http.StatusOK).Doc.Find(".tried-answer").Length(); n != 0 {
		t.Errorf("%d answers to nothing", n)
	}
	got := p.Get("/policy/try?tool=Bash&kind=tool_call").Is(http.StatusOK).
		Says("#tried-1 ~ *", "waits for a person", "required_approval_tools", "The agent's owner, admins may approve", "None of its tools matches")
	if n := got.Doc.Find(".tried-answer").Length(); n != 1 {
		t.Errorf("%d answers without a draft", n)
	}
	p.Get("/policy/try?tool=rm+-rf+%3B").Is(http.StatusUnprocessableEntity).Says("#tool-error", "letters, digits")
	p.Get("/policy/try?tool=").Is(http.StatusUnprocessableEntity).Says("#tool-error", "must name a tool")

	form := p.Get("/policy/rules/new").Form("#rule-form", "#keep-rule")
	form.Set("name", "shell")
	form.Set("tools", "Bash")
	form.Set("effect", "deny")
	p.Post("/policy/rules/new", form).Is(http.StatusSeeOther)
	p.Get("/policy/try?tool=Bash&kind=tool_call").Says("main", "would treat this call differently").
		Says(".tried-answer:nth-child(2)", "Your draft", "is denied", "shell", "The tool matches “Bash”")
	p.Get("/policy/try?tool=Read").Says("main", "Your draft would treat this call the same")
	p.Get("/policy/try?tool=Read&kind=proposal&explicit=true").Says(".tried-answer:nth-child(1)", "waits for a person")

	a := w.Ask(func(in *models.AskInput) { in.ToolName = "Bash" })
	p.Get("/policy/try?from="+url.QueryEscape(string(a.ID))).Is(http.StatusOK).Says("main", "this request").Says(".tried-answer:nth-child(1)", "waits for a person")
	p.Get("/policy/try?from=nothing").Is(http.StatusNotFound)

	wrong := p.Get("/policy/settings").Form("#policy-form", "#review")
	wrong.Set("grant_max_uses", "many")
	p.Post("/policy/settings", wrong).Is(http.StatusUnprocessableEntity)
	p.Get("/policy/try?tool=Bash").Is(http.StatusOK).Says("main", "not valid yet")
	w.SignIn(webtest.OwnerEmail).Get("/policy/try?tool=Bash").Is(http.StatusForbidden)
}

// Nobody need know whether their agent asks for approval itself: where that makes a
// difference, both are said.
func TestATriedCallSaysWhatBecomesOfItOtherwise(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"required_approval_tools": ["Bash"]}`)
	p := w.SignIn(webtest.AdminEmail)
	p.Get("/policy/try?tool=Read").Says(".tried-answer", "runs without a person", "If the agent itself asks for approval, it waits for a person.")
	p.Get("/policy/try?tool=Read&explicit=true").Says(".tried-answer", "waits for a person", "If the agent does not itself ask for approval, it runs without a person.")
	p.Get("/policy/try?tool=Bash").Says(".tried-answer", "waits for a person").SaysNot(".tried-answer", "If the agent")
}
