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

// Whatever a form says, what can do much harm is not approved on any page before
// its end was seen. Without script the confirmation shows all of it.
func TestHarmIsNotApprovedBeforeItsEndWasSeen(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(webtest.AllHigh)
	p := w.SignIn(webtest.OwnerEmail)
	id := w.Conversation(-1)
	a, q := w.Ask(), w.Ask(webtest.Question)
	proposal := w.Proposes(id, "Drop the table.", 0)
	for _, one := range []*models.Approval{a, q, proposal} {
		if one.Risk != models.RiskHigh {
			t.Fatalf("%s is of %s risk", one.Kind, one.Risk)
		}
	}
	here := func(a *models.Approval) string {
		return webtest.ConversationPath(a.ConversationID) + "/decide/" + string(a.ID)
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
		{"a call on its page", webtest.DecideOf(a), verdict(a), a, "#decide"},
		{"a call in its conversation", here(a), verdict(a), a, "main"},
		{"a question on its page", webtest.DecideOf(q), answer, q, "#decide"},
		{"a question in its conversation", here(q), answer, q, "main"},
		{"a proposal on its page", webtest.DecideOf(proposal), verdict(proposal), proposal, "#decide"},
		{"a proposal in its conversation", here(proposal), verdict(proposal), proposal, "main"},
	} {
		for _, end := range []string{"", "0", "true"} {
			form := maps.Clone(c.form)
			maps.Copy(form, url.Values{"confirmed": {"true"}, "seen_end": {end}})
			got := p.Post(c.path, form).Is(http.StatusUnprocessableEntity).Says(c.at, "Nothing was decided", "Scroll to the end first")
			if reason := form.Get("reason"); reason != "" && !strings.Contains(got.Body, reason) {
				t.Errorf("%s: the reason is lost", c.name)
			}
		}
		w.Waits(c.a)

		// What is not confirmed is asked about, with all of it above the button.
		asked := p.Post(c.path, c.form).Is(http.StatusOK)
		if asked.Doc.Find("#confirm input[name=seen_end][value='1']").Length() != 1 || asked.Doc.Find(".what .more, .what .open-part").Length() != 0 {
			t.Errorf("%s: the confirmation does not show all of it", c.name)
		}
		w.Waits(c.a)
	}

	// The confirmation of what is decided in a conversation, and of an answer, lets
	// go on what it says; cancelled it loses nothing.
	asked := p.Post(here(proposal), verdict(proposal)).Says("#confirm", "Approve", "Drop the table.").Says(".what .code", "Drop the table.")
	if got := p.Post(here(proposal), asked.Form("#confirm", "#confirm-cancel")).Is(http.StatusOK); !strings.Contains(got.Body, "as agreed") {
		t.Error("cancelled, the reason is lost")
	}
	w.Waits(proposal)
	p.Post(here(proposal), asked.Form("#confirm", "#confirm-approve")).Is(http.StatusSeeOther)
	if got := w.Approval(proposal.ID); got.Status() != models.StatusApproved {
		t.Errorf("the proposal is %s", got.Status())
	}
	asked = p.Post(webtest.DecideOf(q), answer).Says("#confirm", "with “America (us)”?").Says(".what", "Which region first?")
	p.Post(webtest.DecideOf(q), asked.Form("#confirm", "#confirm-cancel")).Is(http.StatusOK)
	w.Waits(q)
	p.Post(webtest.DecideOf(q), asked.Form("#confirm", "#confirm-approve")).Redirects(webtest.PageOf(q))
	if got := w.Approval(q.ID); got.Vote == nil || got.Vote.Option == nil || *got.Vote.Option != "us" {
		t.Errorf("the question is %s with %+v", got.Status(), got.Vote)
	}

	// What is rejected need not be seen.
	p.Post(webtest.DecideOf(a), url.Values{"verdict": {"reject"}, "digest": {a.Digest}}).Redirects(webtest.PageOf(a))
}

// A pre-approval made from a request of high risk shows all of it above its button.
func TestAPreApprovalOfHighRiskShowsAllOfIt(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"grants_enabled":true,"rules":[{"name":"Shell","tools":["Bash"],"effect":"require","risk":"high"}]}`)
	p := w.SignIn(webtest.OwnerEmail)
	a := w.Bash("make deploy", "/src")
	shown := p.Get(webtest.GrantPath(a)).Is(http.StatusOK).Says("#grant-form .code", "make deploy", "/src")
	if button, source := strings.Index(shown.Body, "grant-approve"), strings.Index(shown.Body, `class="code"`); source < 0 || button < source {
		t.Error("the source does not stand above the button")
	}
	form := webtest.Keeping(a, "1", "5", "0", "1")
	form.Set("approve", "1")
	p.Post(webtest.GrantPath(a), form).Is(http.StatusUnprocessableEntity).Says("#grant", "Scroll to the end first")
	w.Waits(a)
	form.Set("seen_end", shown.Value("#grant-form [name=seen_end]"))
	p.Post(webtest.GrantPath(a), form).Redirects(webtest.PageOf(a))
	if got := w.Approval(a.ID); got.Status() != models.StatusApproved {
		t.Errorf("it is %s", got.Status())
	}
}
