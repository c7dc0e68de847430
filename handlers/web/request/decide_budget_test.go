package request_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// sent is what a browser sends of the verdict's form, with boxes left unchecked
// unless fill says otherwise.
func sent(p *webtest.Page, button string, fill url.Values) url.Values {
	p.TB.Helper()
	form := p.Form("#decide form.verdict", button)
	maps.Copy(form, fill)
	return form
}

func TestDecidingAProposalWithABudget(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	for _, c := range []struct {
		name   string
		button string
		fill   url.Values
		want   models.Status
		total  int64
	}{
		{"as the agent would like", "#approve", nil, models.StatusApproved, 120},
		{"the budget is kept", "#approve", url.Values{"set_budget": nil}, models.StatusApproved, 50},
		{"another", "#approve", url.Values{"new_budget": {"100"}, "reason": {"go on"}}, models.StatusApproved, 100},
		{"a rejection changes none", "#reject", url.Values{"new_budget": {"30"}}, models.StatusRejected, 50},
		{"whatever the field holds", "#reject", url.Values{"new_budget": {"nonsense"}}, models.StatusRejected, 50},
	} {
		id := w.Conversation(50)
		a := w.Proposes(id, "Delete **old** logs?", 120)
		got := p.Get(webtest.PageOf(a)).Is(http.StatusOK).Says("h1", "Proposal").Says("#approval", "asks for an energy budget of 120", "now 50")
		if got.Text(".code code") == "" || got.Doc.Find(".markdown[hx-ignore] strong").Text() != "old" || !strings.Contains(got.Text(".code"), "Delete **old** logs?") {
			t.Fatalf("%s: no source or no layout: %s", c.name, got.Text("#approval"))
		}
		if got.Value("#new-budget") != "120" || got.Doc.Find("#set-budget[checked]").Length() != 1 {
			t.Errorf("%s: the field holds %q, or is not chosen", c.name, got.Value("#new-budget"))
		}
		p.Post(webtest.DecideOf(a), sent(got, c.button, c.fill)).Redirects(webtest.PageOf(a))
		if got := w.Approval(a.ID); got.Status() != c.want || w.Total(id) != c.total {
			t.Errorf("%s: %s with a budget of %d, want %s with %d", c.name, got.Status(), w.Total(id), c.want, c.total)
		}
	}
}

func TestABudgetBesideAVerdictThatIsWrong(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	id := w.Conversation(50)
	a := w.Proposes(id, "Shall I?", 120)
	form := sent(p.Get(webtest.PageOf(a)), "#approve", url.Values{"reason": {"fine"}, "set_budget": {"true"}})
	for typed, says := range map[string]string{"": "must not be empty", "-5": "whole number", "1e99": "whole number", "1000000000001": "1,000,000,000,000"} {
		form.Set("new_budget", typed)
		got := p.Post(webtest.DecideOf(a), form).Is(http.StatusUnprocessableEntity).Says("#new_budget-error", says)
		if got.Value("#new-budget") != typed || got.Doc.Find("#set-budget[checked]").Length() != 1 || got.Value("#reason") != "fine" {
			t.Errorf("%q: the form lost what was filled in", typed)
		}
	}
	if got := w.Approval(a.ID); got.Status() != models.StatusPending || w.Total(id) != 50 {
		t.Errorf("%s with %d", got.Status(), w.Total(id))
	}
}

func TestDecidingABudgetRequest(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	for _, c := range []struct {
		name   string
		button string
		fill   url.Values
		want   models.Status
		total  int64
		says   string
	}{
		{"as asked", "#approve", nil, models.StatusApproved, 150, "approved"},
		{"another sum", "#approve", url.Values{"sum": {"90"}, "reason": {"that must do"}}, models.StatusApproved, 90, "Budget changed: 90 instead of 150."},
		{"none", "#reject", nil, models.StatusRejected, 60, "rejected"},
		{"a sum typed is no matter to a rejection", "#reject", url.Values{"sum": {"nonsense"}}, models.StatusRejected, 60, "rejected"},
	} {
		id := w.Conversation(60)
		w.Respond(id, models.KindReply, "Working.", 49)
		a := w.BudgetRequest(id, 150)
		p.Get("/").Says("#row-"+string(a.ID), "Budget request", "Set the budget to 150. The agent says: \"Four files are left.\"")
		got := p.Get(webtest.PageOf(a)).Is(http.StatusOK).Says("h1", "Set the budget to 150.").
			Says("#approval", "asks for a budget of 150 units", "50 used, 10 remaining of 60", "83% used", "Four files are left.").Says(".spent", "Replies · 2 times", "50")
		if got.Value("#sum") != "150" || got.Doc.Find("#edit").Length() != 0 || got.Doc.Find(".burn svg").Length() != 1 {
			t.Errorf("%s: the sum is %q", c.name, got.Value("#sum"))
		}
		p.Post(webtest.DecideOf(a), sent(got, c.button, c.fill)).Redirects(webtest.PageOf(a))
		if got := w.Approval(a.ID); got.Status() != c.want || w.Total(id) != c.total {
			t.Errorf("%s: %s with %d, want %s with %d", c.name, got.Status(), w.Total(id), c.want, c.total)
		}
		p.Get(webtest.PageOf(a)).Is(http.StatusOK).Says(".outcome", c.says)
	}
	id := w.Conversation(60)
	a := w.BudgetRequest(id, 150)
	for _, typed := range []string{"", "-1", "many", "NaN", "1.5", "99999999999999999999"} {
		got := p.Post(webtest.DecideOf(a), sent(p.Get(webtest.PageOf(a)), "#approve", url.Values{"sum": {typed}})).Is(http.StatusUnprocessableEntity)
		if got.Text("#sum-error") == "" || got.Value("#sum") != typed {
			t.Errorf("%q: %q, holds %q", typed, got.Text("#sum-error"), got.Value("#sum"))
		}
	}
	if w.Total(id) != 60 || w.Approval(a.ID).Status() != models.StatusPending {
		t.Errorf("it is %d", w.Total(id))
	}
}

// Whom a request was routed to decides it and nothing else: not the budget, and
// without a look at it.
func TestWhomAProposalWasRoutedToLeavesTheBudget(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"rules":[{"name":"Plans","tools":["respond_with_approval"],"effect":"require","reviewers":["` + webtest.StrangerEmail + `"]}]}`)
	p := w.SignIn(webtest.StrangerEmail)
	id := w.Conversation(50)
	a := w.Proposes(id, "Shall I?", 120)
	got := p.Get(webtest.PageOf(a)).Is(http.StatusOK)
	if got.Doc.Find("#set-budget, #new-budget, meter").Length() != 0 {
		t.Errorf("the budget is shown: %s", got.Text("#approval"))
	}
	form := sent(got, "#approve", url.Values{"set_budget": {"true"}, "new_budget": {"999"}})
	p.Post(webtest.DecideOf(a), form).Is(http.StatusForbidden)
	if w.Total(id) != 50 || w.Approval(a.ID).Status() != models.StatusPending {
		t.Errorf("%d, %s", w.Total(id), w.Approval(a.ID).Status())
	}
	form.Del("set_budget")
	p.Post(webtest.DecideOf(a), form).Redirects(webtest.PageOf(a))
	if w.Total(id) != 50 || w.Approval(a.ID).Status() != models.StatusApproved {
		t.Errorf("%d, %s", w.Total(id), w.Approval(a.ID).Status())
	}
}
