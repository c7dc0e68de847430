package web_test

import (
	"net/http"
	"net/url"
	"testing"

	"countersign/models"
)

func TestACallIsTriedOnWhatStandsAndOnTheDraft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(`{"required_approval_tools": ["Bash"], "rules": [{"name": "reading", "tools": ["Read"], "effect": "allow"}]}`)
	p := w.signedIn(adminEmail)
	if n := p.get("/policy/try").is(http.StatusOK).doc.Find(".tried-answer").Length(); n != 0 {
		t.Errorf("%d answers to nothing", n)
	}
	got := p.get("/policy/try?tool=Bash&kind=tool_call").is(http.StatusOK).
		says("#tried-1 ~ *", "waits for a person", "required_approval_tools", "The agent's owner, admins may approve", "None of its tools matches")
	if n := got.doc.Find(".tried-answer").Length(); n != 1 {
		t.Errorf("%d answers without a draft", n)
	}
	p.get("/policy/try?tool=rm+-rf+%3B").is(http.StatusUnprocessableEntity).says("#tool-error", "letters, digits")
	p.get("/policy/try?tool=").is(http.StatusUnprocessableEntity).says("#tool-error", "must name a tool")

	form := p.get("/policy/rules/new").form("#rule-form", "#keep-rule")
	form.Set("name", "shell")
	form.Set("tools", "Bash")
	form.Set("effect", "deny")
	p.post("/policy/rules/new", form).is(http.StatusSeeOther)
	p.get("/policy/try?tool=Bash&kind=tool_call").says("main", "would treat this call differently").
		says(".tried-answer:nth-child(2)", "Your draft", "is denied", "shell", "The tool matches “Bash”")
	p.get("/policy/try?tool=Read").says("main", "Your draft would treat this call the same")
	p.get("/policy/try?tool=Read&kind=proposal&explicit=true").says(".tried-answer:nth-child(1)", "waits for a person")

	a := w.ask(func(in *models.AskInput) { in.ToolName = "Bash" })
	p.get("/policy/try?from="+url.QueryEscape(string(a.ID))).is(http.StatusOK).says("main", "this request").says(".tried-answer:nth-child(1)", "waits for a person")
	p.get("/policy/try?from=nothing").is(http.StatusNotFound)

	wrong := p.get("/policy").form("#policy-form", "#review")
	wrong.Set("grant_max_uses", "many")
	p.post("/policy", wrong).is(http.StatusUnprocessableEntity)
	p.get("/policy/try?tool=Bash").is(http.StatusOK).says("main", "not valid yet")
	w.signedIn(ownerEmail).get("/policy/try?tool=Bash").is(http.StatusForbidden)
}

// Nobody need know whether their agent asks for approval itself: where that makes a
// difference, both are said.
func TestATriedCallSaysWhatBecomesOfItOtherwise(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(`{"required_approval_tools": ["Bash"]}`)
	p := w.signedIn(adminEmail)
	p.get("/policy/try?tool=Read").says(".tried-answer", "runs without a person", "If the agent itself asks for approval, it waits for a person.")
	p.get("/policy/try?tool=Read&explicit=true").says(".tried-answer", "waits for a person", "If the agent does not itself ask for approval, it runs without a person.")
	p.get("/policy/try?tool=Bash").says(".tried-answer", "waits for a person").saysNot(".tried-answer", "If the agent")
}
