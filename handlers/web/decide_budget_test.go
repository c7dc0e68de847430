package web_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/models"
)

// sent is what a browser sends of the verdict's form, with boxes left unchecked
// unless fill says otherwise.
func (p *page) sent(button string, fill url.Values) url.Values {
	p.tb.Helper()
	form := p.form("#decide form.verdict", button)
	maps.Copy(form, fill)
	return form
}

func TestDecidingAProposalWithABudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
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
		id := w.conversation(50)
		a := w.proposes(id, "Delete **old** logs?", 120)
		got := p.get(pageOf(a)).is(http.StatusOK).says("h1", "Proposal").says("#approval", "asks for an energy budget of 120", "now 50")
		if got.text(".code code") == "" || got.doc.Find(".markdown[hx-ignore] strong").Text() != "old" || !strings.Contains(got.text(".code"), "Delete **old** logs?") {
			t.Fatalf("%s: no source or no layout: %s", c.name, got.text("#approval"))
		}
		if got.value("#new-budget") != "120" || got.doc.Find("#set-budget[checked]").Length() != 1 {
			t.Errorf("%s: the field holds %q, or is not chosen", c.name, got.value("#new-budget"))
		}
		p.post(decideOf(a), got.sent(c.button, c.fill)).redirects(pageOf(a))
		if got := w.stands(a.ID); got.Status() != c.want || w.total(id) != c.total {
			t.Errorf("%s: %s with a budget of %d, want %s with %d", c.name, got.Status(), w.total(id), c.want, c.total)
		}
	}
}

func TestABudgetBesideAVerdictThatIsWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	id := w.conversation(50)
	a := w.proposes(id, "Shall I?", 120)
	form := p.get(pageOf(a)).sent("#approve", url.Values{"reason": {"fine"}, "set_budget": {"true"}})
	for typed, says := range map[string]string{"": "must not be empty", "-5": "whole number", "1e99": "whole number", "1000000000001": "1,000,000,000,000"} {
		form.Set("new_budget", typed)
		got := p.post(decideOf(a), form).is(http.StatusUnprocessableEntity).says("#new_budget-error", says)
		if got.value("#new-budget") != typed || got.doc.Find("#set-budget[checked]").Length() != 1 || got.value("#reason") != "fine" {
			t.Errorf("%q: the form lost what was filled in", typed)
		}
	}
	if got := w.stands(a.ID); got.Status() != models.StatusPending || w.total(id) != 50 {
		t.Errorf("%s with %d", got.Status(), w.total(id))
	}
}

func TestDecidingABudgetRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
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
		id := w.conversation(60)
		w.respond(id, models.KindReply, "Working.", 49)
		a := w.budgetRequest(id, 150)
		p.get("/").says("#row-"+string(a.ID), "Budget request", "Set the budget to 150. The agent says: \"Four files are left.\"")
		got := p.get(pageOf(a)).is(http.StatusOK).says("h1", "Set the budget to 150.").
			says("#approval", "asks for a budget of 150 units", "50 used, 10 remaining of 60", "83% used", "Four files are left.").says(".spent", "Replies · 2 times", "50")
		if got.value("#sum") != "150" || got.doc.Find("#edit").Length() != 0 || got.doc.Find(".burn svg").Length() != 1 {
			t.Errorf("%s: the sum is %q", c.name, got.value("#sum"))
		}
		p.post(decideOf(a), got.sent(c.button, c.fill)).redirects(pageOf(a))
		if got := w.stands(a.ID); got.Status() != c.want || w.total(id) != c.total {
			t.Errorf("%s: %s with %d, want %s with %d", c.name, got.Status(), w.total(id), c.want, c.total)
		}
		p.get(pageOf(a)).is(http.StatusOK).says(".outcome", c.says)
	}
	id := w.conversation(60)
	a := w.budgetRequest(id, 150)
	for _, typed := range []string{"", "-1", "many", "NaN", "1.5", "99999999999999999999"} {
		got := p.post(decideOf(a), p.get(pageOf(a)).sent("#approve", url.Values{"sum": {typed}})).is(http.StatusUnprocessableEntity)
		if got.text("#sum-error") == "" || got.value("#sum") != typed {
			t.Errorf("%q: %q, holds %q", typed, got.text("#sum-error"), got.value("#sum"))
		}
	}
	if w.total(id) != 60 || w.stands(a.ID).Status() != models.StatusPending {
		t.Errorf("it is %d", w.total(id))
	}
}

// Whom a request was routed to decides it and nothing else: not the budget, and
// without a look at it.
func TestWhomAProposalWasRoutedToLeavesTheBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(`{"rules":[{"name":"Plans","tools":["respond_with_approval"],"effect":"require","reviewers":["` + strangerEmail + `"]}]}`)
	p := w.signedIn(strangerEmail)
	id := w.conversation(50)
	a := w.proposes(id, "Shall I?", 120)
	got := p.get(pageOf(a)).is(http.StatusOK)
	if got.doc.Find("#set-budget, #new-budget, meter").Length() != 0 {
		t.Errorf("the budget is shown: %s", got.text("#approval"))
	}
	form := got.sent("#approve", url.Values{"set_budget": {"true"}, "new_budget": {"999"}})
	p.post(decideOf(a), form).is(http.StatusForbidden)
	if w.total(id) != 50 || w.stands(a.ID).Status() != models.StatusPending {
		t.Errorf("%d, %s", w.total(id), w.stands(a.ID).Status())
	}
	form.Del("set_budget")
	p.post(decideOf(a), form).redirects(pageOf(a))
	if w.total(id) != 50 || w.stands(a.ID).Status() != models.StatusApproved {
		t.Errorf("%d, %s", w.total(id), w.stands(a.ID).Status())
	}
}
