package web_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/models"
)

// allHigh has everything that is asked be of high risk.
const allHigh = `{"proposal_timeout_minutes":60,"rules":[{"name":"All","tools":["/.*/"],"effect":"require","risk":"high"}]}`

// Whatever a form says, what can do much harm is not approved on any page before
// its end was seen. Without script the confirmation shows all of it.
func TestHarmIsNotApprovedBeforeItsEndWasSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(allHigh)
	p := w.signedIn(ownerEmail)
	id := w.conversation(-1)
	a, q := w.ask(), w.ask(question)
	proposal := w.proposes(id, "Drop the table.", 0)
	for _, one := range []*models.Approval{a, q, proposal} {
		if one.Risk != models.RiskHigh {
			t.Fatalf("%s is of %s risk", one.Kind, one.Risk)
		}
	}
	here := func(a *models.Approval) string {
		return conversationPath(a.ConversationID) + "/decide/" + string(a.ID)
	}
	verdict := func(a *models.Approval) url.Values {
		return url.Values{"verdict": {"approve"}, "digest": {a.Digest}, "reason": {"as agreed"}}
	}
	answer := url.Values{"verdict": {"answer"}, "option": {"us"}, "digest": {q.Digest}}
	for _, c := range []struct {
		name, path string
		form       url.Values
		a          *models.Approval
		at         string
	}{
		{"a call on its page", decideOf(a), verdict(a), a, "#decide"},
		{"a call in its conversation", here(a), verdict(a), a, "main"},
		{"a question on its page", decideOf(q), answer, q, "#decide"},
		{"a question in its conversation", here(q), answer, q, "main"},
		{"a proposal on its page", decideOf(proposal), verdict(proposal), proposal, "#decide"},
		{"a proposal in its conversation", here(proposal), verdict(proposal), proposal, "main"},
	} {
		for _, end := range []string{"", "0", "true"} {
			form := maps.Clone(c.form)
			maps.Copy(form, url.Values{"confirmed": {"true"}, "seen_end": {end}})
			got := p.post(c.path, form).is(http.StatusUnprocessableEntity).says(c.at, "Nothing was decided", "Scroll to the end first")
			if reason := form.Get("reason"); reason != "" && !strings.Contains(got.body, reason) {
				t.Errorf("%s: the reason is lost", c.name)
			}
		}
		w.waits(c.a)

		// What is not confirmed is asked about, with all of it above the button.
		asked := p.post(c.path, c.form).is(http.StatusOK)
		if asked.doc.Find("#confirm input[name=seen_end][value='1']").Length() != 1 || asked.doc.Find(".what .more, .what .open-part").Length() != 0 {
			t.Errorf("%s: the confirmation does not show all of it", c.name)
		}
		w.waits(c.a)
	}

	// The confirmation of what is decided in a conversation, and of an answer, lets
	// go on what it says; cancelled it loses nothing.
	asked := p.post(here(proposal), verdict(proposal)).says("#confirm", "Approve", "Drop the table.").says(".what .code", "Drop the table.")
	if got := p.post(here(proposal), asked.form("#confirm", "#confirm-cancel")).is(http.StatusOK); !strings.Contains(got.body, "as agreed") {
		t.Error("cancelled, the reason is lost")
	}
	w.waits(proposal)
	p.post(here(proposal), asked.form("#confirm", "#confirm-approve")).is(http.StatusSeeOther)
	if got := w.stands(proposal.ID); got.Status() != models.StatusApproved {
		t.Errorf("the proposal is %s", got.Status())
	}
	asked = p.post(decideOf(q), answer).says("#confirm", "with “America (us)”?").says(".what", "Which region first?")
	p.post(decideOf(q), asked.form("#confirm", "#confirm-cancel")).is(http.StatusOK)
	w.waits(q)
	p.post(decideOf(q), asked.form("#confirm", "#confirm-approve")).redirects(pageOf(q))
	if got := w.stands(q.ID); got.Vote == nil || got.Vote.Option == nil || *got.Vote.Option != "us" {
		t.Errorf("the question is %s with %+v", got.Status(), got.Vote)
	}

	// What is rejected need not be seen.
	p.post(decideOf(a), url.Values{"verdict": {"reject"}, "digest": {a.Digest}}).redirects(pageOf(a))
}

// A pre-approval made from a request of high risk shows all of it above its button.
func TestAPreApprovalOfHighRiskShowsAllOfIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(`{"grants_enabled":true,"rules":[{"name":"Shell","tools":["Bash"],"effect":"require","risk":"high"}]}`)
	p := w.signedIn(ownerEmail)
	a := w.bash("make deploy", "/src")
	shown := p.get(grantPath(a)).is(http.StatusOK).says("#grant-form .code", "make deploy", "/src")
	if button, source := strings.Index(shown.body, "grant-approve"), strings.Index(shown.body, `class="code"`); source < 0 || button < source {
		t.Error("the source does not stand above the button")
	}
	form := keeping(a, "1", "5", "0", "1")
	form.Set("approve", "1")
	p.post(grantPath(a), form).is(http.StatusUnprocessableEntity).says("#grant", "Scroll to the end first")
	w.waits(a)
	form.Set("seen_end", shown.value("#grant-form [name=seen_end]"))
	p.post(grantPath(a), form).redirects(pageOf(a))
	if got := w.stands(a.ID); got.Status() != models.StatusApproved {
		t.Errorf("it is %s", got.Status())
	}
}
