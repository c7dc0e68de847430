package web_test

import (
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/store"
)

// sayForm is the composer's form as a browser would send it, with what a person
// fills in.
func sayForm(p *page, fill url.Values) url.Values {
	p.tb.Helper()
	form := p.form("#say", "#send")
	form.Set("decision", p.doc.Find("#say [name=decision][checked]").AttrOr("value", ""))
	form.Set("budgetMode", p.doc.Find("#budget-mode option[selected]").AttrOr("value", ""))
	maps.Copy(form, fill)
	return form
}

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
	list, err := w.store.Conversations(t.Context(), w.owner, store.ConversationQuery{})
	if err != nil || len(list.Items) != 1 {
		t.Errorf("%d conversations stand, %v", len(list.Items), err)
	}
}

func TestSayingDecidingAndChangingInOneForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	id := w.conversation(50)
	for _, c := range []struct {
		name   string
		fill   url.Values
		status models.Status
		budget int64
		says   bool
	}{
		{"only a message", url.Values{"content": {"Go on."}}, models.StatusPending, 50, true},
		{"only approved", url.Values{"decision": {"approve"}, "budgetMode": {""}}, models.StatusApproved, 50, false},
		{"rejected with a message and a reason", url.Values{"content": {"Not now."}, "decision": {"reject"}, "reason": {"too risky"}}, models.StatusRejected, 50, true},
		{"approved as it would like", url.Values{"content": {"Yes."}, "decision": {"approve"}}, models.StatusApproved, 100, true},
		{"approved with more", url.Values{"content": {"Yes."}, "decision": {"approve"}, "budgetMode": {"set"}, "budgetAmount": {"120"}}, models.StatusApproved, 120, true},
		{"rejected with a step", url.Values{"decision": {"reject"}, "budgetMode": {"step"}, "budgetAmount": {"-20"}}, models.StatusRejected, 100, false},
		{"only the budget", url.Values{"budgetMode": {"step"}, "budgetAmount": {"50"}}, models.StatusPending, 150, false},
		{"nothing of what it would like when rejected", url.Values{"decision": {"reject"}}, models.StatusRejected, 150, false},
	} {
		a := w.proposes(id, c.name, 100)
		before := len(w.history(id))
		shown := p.get(conversationPath(id)).is(http.StatusOK).says("#composer-decision", "proposal #"+strconv.FormatInt(a.Sequence, 10))
		form := sayForm(shown, c.fill)
		if form.Get("digest") != a.Digest || form.Get("responseId") != string(a.ID) || form.Get("budgetAmount") == "" {
			t.Errorf("%s: the form carries %v", c.name, form)
		}
		p.post(conversationPath(id)+"/say", form).redirects(conversationPath(id) + "#end")
		got := w.stands(a.ID)
		if got.Status() != c.status || w.total(id) != c.budget {
			t.Errorf("%s: stands as %s with a budget of %d", c.name, got.Status(), w.total(id))
		}
		if got.Vote != nil && (got.Vote.UserID != w.owner.UserID() || got.Vote.SeenDigest != a.Digest || got.Vote.Reason != c.fill.Get("reason")) {
			t.Errorf("%s: the vote is %+v", c.name, got.Vote)
		}
		var said *models.Message
		for _, e := range w.history(id)[before:] {
			if e.Message != nil {
				said = e.Message
			}
		}
		if (said != nil) != c.says || said != nil && (said.Content != c.fill.Get("content") || said.AuthorID != w.owner.ID) {
			t.Errorf("%s: said %+v", c.name, said)
		}
		if got.Status() == models.StatusPending { // out of the way of the next
			if _, err := w.store.Decide(t.Context(), w.owner, a.ID, models.DecisionInput{Approved: new(false)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.get(conversationPath(id)).says("#history", "raised the budget from 100 to 150", "approved by "+ownerEmail, "too risky", "gpt-x")
}

func TestWhatIsSentTooLateComesBackWithTheForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, admin := w.signedIn(ownerEmail), w.signedIn("admin@example.com")
	id := w.conversation(50)
	a := w.proposes(id, "Delete the logs", 0)
	fill := url.Values{"content": {"Go on,\r\nplease."}, "decision": {"approve"}, "reason": {"fine"}, "budgetMode": {"set"}, "budgetAmount": {"70"}}
	form := sayForm(p.get(conversationPath(id)), fill)

	other := maps.Clone(form) // I6: what was seen is what is released
	other.Set("digest", strings.Repeat("0", len(a.Digest)))
	entries := len(w.history(id))
	got := p.post(conversationPath(id)+"/say", other).is(http.StatusConflict).says("#composer .flash", "Look again", "still in the form")
	if got.value("#say [name=digest]") != a.Digest || got.value("#content") != "Go on,\nplease." || got.value("#budget-amount") != "70" {
		t.Errorf("digest %q, content %q, amount %q", got.value("#say [name=digest]"), got.value("#content"), got.value("#budget-amount"))
	}
	if got.doc.Find("#decide-approve[checked]").Length() != 0 {
		t.Error("what was not decided on is about to be approved")
	}
	if got := w.stands(a.ID); got.Status() != models.StatusPending || w.total(id) != 50 || len(w.history(id)) != entries {
		t.Errorf("something was taken: %s, %d", got.Status(), w.total(id))
	}

	admin.post(conversationPath(id)+"/decide/"+string(a.ID), url.Values{"verdict": {"reject"}, "reason": {"too risky"}}).
		redirects(conversationPath(id) + "#entry-" + strconv.FormatInt(a.Sequence, 10))
	got = p.post(conversationPath(id)+"/say", form).is(http.StatusConflict).
		says("#composer .flash", "Already rejected by admin@example.com", "Your approval changed nothing").says("#history", "too risky")
	if got.value("#content") != "Go on,\nplease." || w.total(id) != 50 {
		t.Errorf("content %q, budget %d", got.value("#content"), w.total(id))
	}
	// Sent again without a decision, it is taken.
	p.post(conversationPath(id)+"/say", sayForm(got, nil)).redirects(conversationPath(id) + "#end")
	if w.total(id) != 70 {
		t.Errorf("the budget is %d", w.total(id))
	}
}

func TestWhatIsWrongInTheComposerIsSaidAtItsPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	id, bare := w.conversation(50), w.conversation(-1)
	a, b := w.proposes(id, "Delete the logs", 0), w.proposes(bare, "Delete the logs", 0)
	long := strings.Repeat("x", models.MaxReason+1)
	for _, c := range []struct {
		name     string
		fill     url.Values
		at, says string
	}{
		{"nothing", url.Values{"content": {" "}}, "#content-error", "empty"},
		{"too long", url.Values{"content": {strings.Repeat("x", models.MaxContent+1)}}, "#content-error", "65536"},
		{"no number", url.Values{"content": {"x"}, "budgetMode": {"set"}, "budgetAmount": {"1.5"}}, "#budget-error", "whole number"},
		{"no amount", url.Values{"budgetMode": {"step"}}, "#budget-error", "whole number"},
		{"below zero", url.Values{"budgetMode": {"set"}, "budgetAmount": {"-1"}}, "#budget-error", "from 0"},
		{"a made-up change", url.Values{"budgetMode": {"double"}}, "#budget-error", "by an amount"},
		{"a made-up decision", url.Values{"decision": {"cancel"}}, "#decision-error", "approve, reject"},
		{"no digest", url.Values{"decision": {"approve"}, "digest": {""}}, "#decision-error", "decide again"},
		{"no response", url.Values{"decision": {"approve"}, "responseId": {"x"}}, "#decision-error", "UUID"},
		{"a long reason", url.Values{"decision": {"reject"}, "reason": {long}}, "#say-reason-error", "4000"},
	} {
		c.fill.Set("unknown", "field")
		form := sayForm(p.get(conversationPath(id)), c.fill)
		got := p.post(conversationPath(id)+"/say", form).is(http.StatusUnprocessableEntity).says(c.at, c.says)
		for field, name := range map[string]string{"#content": "content", "#budget-amount": "budgetAmount", "#say-reason": "reason"} {
			if want := c.fill.Get(name); want != "" && got.value(field) != want {
				t.Errorf("%s: %s holds %.40q, want %.40q", c.name, field, got.value(field), want)
			}
		}
	}
	p.post(conversationPath(bare)+"/say", url.Values{"budgetMode": {"step"}, "budgetAmount": {"5"}}).is(http.StatusUnprocessableEntity).says("#budget-error", "needs an existing budget")
	// A response of another conversation is none of this one's.
	p.post(conversationPath(id)+"/say", url.Values{"decision": {"approve"}, "responseId": {string(b.ID)}, "digest": {b.Digest}}).is(http.StatusNotFound)
	for _, a := range []*models.Approval{a, b} {
		if got := w.stands(a.ID); got.Status() != models.StatusPending {
			t.Errorf("decided: %s", got.Status())
		}
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
