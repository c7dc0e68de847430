package web_test

import (
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/requests"
)

func TestBeginningAConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	form := p.get("/conversations/new").is(http.StatusOK).form("#new-conversation", "#begin")
	form.Set("content", "Please clean up the old logs.\r\nThere are many.")
	form.Set("energyBudget", "50")
	begun := p.post("/conversations", form).is(http.StatusSeeOther).header.Get("Location")
	path, found := strings.CutSuffix(begun, "#end")
	if !found || !strings.HasPrefix(path, "/conversations/") {
		t.Fatalf("leads to %q", begun)
	}
	got := p.get(path).is(http.StatusOK).
		says("#conversation-title", "Please clean up the old logs.").says("#conversation-head", "running", "built-in", ownerEmail).
		says("#history [data-what=message]", ownerEmail, "There are many.").says("#history [data-what=step]", "set the budget to 50")
	if strings.Contains(got.body, "\r") {
		t.Error("the message kept the form's line breaks")
	}
	for _, c := range []struct{ content, budget, at, says string }{
		{"", "", "#content-error", "empty"},
		{" \r\n ", "", "#content-error", "empty"},
		{strings.Repeat("x", models.MaxContent+1), "", "#content-error", "65536"},
		{"x", "much", "#energyBudget-error", "whole number"},
		{"x", "-1", "#energyBudget-error", "from 0"},
	} {
		got := p.post("/conversations", url.Values{"content": {c.content}, "energyBudget": {c.budget}}).is(http.StatusUnprocessableEntity).says(c.at, c.says)
		if got.value("#energyBudget") != c.budget {
			t.Errorf("%q: the budget %q is lost", c.content, c.budget)
		}
	}
	list, err := w.store.Requests.Conversations(t.Context(), w.owner, requests.ConversationQuery{})
	if err != nil || len(list.Items) != 1 {
		t.Errorf("%d conversations stand, %v", len(list.Items), err)
	}
}

// The composer sends words. A page that was open since an earlier version sends decisions
// and budgets with them: nothing of that is done, and nothing is lost (I6).
func TestTheComposerSendsWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	id := w.conversation(50)
	a := w.proposes(id, "Delete the logs", 100)
	say := conversationPath(id) + "/say"
	shown := p.get(conversationPath(id)).is(http.StatusOK)
	for name := range shown.form("#say", "#send") {
		if name != "content" && name != "csrf" {
			t.Errorf("the composer sends %q", name)
		}
	}
	p.post(say, url.Values{"content": {"Go on,\r\nplease."}}).redirects(conversationPath(id) + "#end")
	p.get(conversationPath(id)).says("#history [data-what=message]", ownerEmail, "Go on, please.")
	entries := len(w.history(id))
	for _, c := range []struct {
		name     string
		fill     url.Values
		at, says string
	}{
		{"nothing", url.Values{"content": {" \r\n"}}, "#content-error", "empty"},
		{"too long", url.Values{"content": {strings.Repeat("x", models.MaxContent+1)}}, "#content-error", "65536"},
		{"an approval", url.Values{"content": {"Yes."}, "decision": {"approve"}, "responseId": {string(a.ID)}, "digest": {a.Digest}}, "#composer .flash", "Nothing was saved"},
		{"a rejection", url.Values{"content": {"No."}, "decision": {"reject"}, "responseId": {string(a.ID)}, "digest": {a.Digest}}, "#composer .flash", "Decide on the request's card"},
		{"a budget", url.Values{"content": {"More."}, "budgetMode": {"set"}, "budgetAmount": {"70"}}, "#composer .flash", "change the budget under Budget"},
		{"a step", url.Values{"budgetMode": {"step"}, "budgetAmount": {"70"}}, "#composer .flash", "Nothing was saved"},
	} {
		got := p.post(say, c.fill).is(http.StatusUnprocessableEntity).says(c.at, c.says).says(".conversation > .flash", "Your message was not sent")
		if want := strings.ReplaceAll(c.fill.Get("content"), "\r\n", "\n"); got.value("#content") != want {
			t.Errorf("%s: the message is %.40q, want %.40q", c.name, got.value("#content"), want)
		}
		w.waits(a)
		if w.total(id) != 50 || len(w.history(id)) != entries {
			t.Errorf("%s: something was taken", c.name)
		}
	}
}

// The budget that a proposal asks for is part of its approval, unless its decider says
// otherwise; a rejection changes none.
func TestAProposalIsApprovedWithItsBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	id := w.conversation(50)
	total := int64(50)
	for _, c := range []struct {
		name, verdict string
		fill          url.Values
		want          int64 // that it asks for; 0: nothing
		budget        int64
	}{
		{"as it would like", "approve", nil, 100, 100},
		{"rejected as it came", "reject", nil, 300, 100},
		{"rejected with nonsense in the field", "reject", url.Values{"new_budget": {"lots"}}, 300, 100},
		{"with another", "approve", url.Values{"new_budget": {"120"}}, 100, 120},
		{"with none", "approve", url.Values{"set_budget": nil}, 100, 120},
		{"without a wish", "approve", nil, 0, 120},
		{"without a wish, with one", "approve", url.Values{"set_budget": {"true"}, "new_budget": {"7000"}}, 0, 7000},
	} {
		for _, inConversation := range []bool{true, false} {
			if _, err := w.store.ChangeBudget(t.Context(), w.owner, id, models.BudgetChange{Set: &total}, ""); err != nil {
				t.Fatal(err)
			}
			a := w.proposes(id, c.name, c.want)
			path, prefix := pageOf(a), "#"
			if inConversation {
				path, prefix = conversationPath(id), "#entry-"+strconv.FormatInt(a.Sequence, 10)+"-"
			}
			shown := p.get(path).is(http.StatusOK)
			words := "Approve and set the budget the budget"
			if c.want > 0 {
				words = "Approve and set " + strconv.FormatInt(c.want, 10) + " the budget" // of which script and style show one
			}
			shown.says(prefix+"approve", words)
			if ticked := shown.doc.Find(prefix+"set-budget[checked]").Length() == 1; ticked != (c.want > 0) {
				t.Errorf("%s: ticked %v", c.name, ticked)
			}
			form := shown.form(prefix+"verdict", prefix+c.verdict)
			maps.Copy(form, c.fill)
			p.post(shown.doc.Find(prefix+"verdict").AttrOr("action", ""), form).is(http.StatusSeeOther)
			if got := w.stands(a.ID); got.Vote == nil || string(got.Vote.Verdict) != c.verdict || got.Vote.SeenDigest != a.Digest {
				t.Errorf("%s: %s with %+v", c.name, got.Status(), got.Vote)
			}
			if w.total(id) != c.budget {
				t.Errorf("%s: the budget is %d, want %d", c.name, w.total(id), c.budget)
			}
		}
		total = c.budget
	}

	// What can't be a budget is said at its field, and nothing is decided.
	a := w.proposes(id, "More.", 100)
	form := p.get(pageOf(a)).form("#verdict", "#approve")
	for _, amount := range []string{"", "lots", "-1", "1e3"} {
		form.Set("new_budget", amount)
		got := p.post(decideOf(a), form).is(http.StatusUnprocessableEntity).says("#new_budget-error", "must")
		if got.value("#new-budget") != amount || got.doc.Find("#set-budget[checked]").Length() != 1 {
			t.Errorf("%q: the fields are lost", amount)
		}
		w.waits(a)
	}
	form.Del("set_budget")
	form.Set("digest", strings.Repeat("0", 64)) // what comes back is as it was sent
	if p.post(decideOf(a), form).is(http.StatusConflict).doc.Find("#set-budget[checked]").Length() != 0 {
		t.Error("the box was ticked again")
	}
}

// The question before an approval that can do much harm names the budget that it sets.
func TestTheConfirmationNamesTheBudgetI6(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(allHigh)
	p := w.signedIn(ownerEmail)
	id := w.conversation(50)
	a := w.proposes(id, "Drop the table.", 9000)
	form := p.get(pageOf(a)).form("#verdict", "#approve")
	asked := p.post(decideOf(a), form).is(http.StatusOK).says("#confirm", "Approve", "and set the budget to 9,000?").says(".what", "Sets the budget to 9,000")
	w.waits(a)
	p.post(decideOf(a), asked.form("#confirm", "#confirm-approve")).redirects(pageOf(a))
	if w.total(id) != 9000 {
		t.Errorf("the budget is %d", w.total(id))
	}
}

func TestDecidingInPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	a := w.ask()
	inHere := func(in *models.AskInput) { in.ConversationID = string(a.ConversationID) }
	q := w.ask(question, inHere)
	path := conversationPath(a.ConversationID)
	entry := func(a *models.Approval) string { return "#entry-" + strconv.FormatInt(a.Sequence, 10) }
	shown := p.get(path).is(http.StatusOK)
	if n := shown.doc.Find("#history .entry-decide").Length(); n != 2 {
		t.Fatalf("%d forms to decide", n)
	}
	form := shown.form(entry(a)+" .entry-decide form.verdict", entry(a)+"-approve")
	if form.Get("digest") != a.Digest {
		t.Errorf("the form carries %q", form.Get("digest"))
	}
	decide := path + "/decide/" + string(a.ID)
	got := p.post(decide, url.Values{"verdict": {"approve"}, "digest": {a.Digest}, "input": {"{"}}).is(http.StatusUnprocessableEntity).says(entry(a), "JSON")
	if got.value(entry(a)+"-input") != "{" {
		t.Errorf("the edit is lost: %q", got.value(entry(a)+"-input"))
	}
	p.post(decide, url.Values{"verdict": {"approve"}, "digest": {strings.Repeat("0", 64)}}).is(http.StatusConflict).says(entry(a)+" .flash", "Look again")
	form.Set("reason", "for once")
	p.post(decide, form).redirects(path + entry(a))
	if got := w.stands(a.ID); got.Status() != models.StatusApproved || got.Vote.Reason != "for once" || got.Vote.SeenDigest != a.Digest {
		t.Errorf("stands as %s, %+v", got.Status(), got.Vote)
	}
	p.post(decide, form).is(http.StatusConflict).says(entry(a)+" .flash", "Already approved by "+ownerEmail)
	form = shown.form(entry(q)+" form.choices", "button[value=us]")
	p.post(path+"/decide/"+string(q.ID), form).redirects(path + entry(q))
	p.get(path).says(entry(q), "answered by "+ownerEmail, "us")
	p.post(conversationPath(w.conversation(-1))+"/decide/"+string(q.ID), form).is(http.StatusNotFound)
}
