package conversation_test

import (
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/requests"
)

func TestBeginningAConversation(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	form := p.Get("/conversations/new").Is(http.StatusOK).Form("#new-conversation", "#begin")
	form.Set("content", "Please clean up the old logs.\r\nThere are many.")
	form.Set("energyBudget", "50")
	begun := p.Post("/conversations", form).Is(http.StatusSeeOther).Header.Get("Location")
	path, found := strings.CutSuffix(begun, "#end")
	if !found || !strings.HasPrefix(path, "/conversations/") {
		t.Fatalf("leads to %q", begun)
	}
	got := p.Get(path).Is(http.StatusOK).
		Says("#conversation-title", "Please clean up the old logs.").Says("#conversation-head", "running", "built-in", webtest.OwnerEmail).
		Says("#history [data-what=message]", webtest.OwnerEmail, "There are many.").Says("#history [data-what=step]", "set the budget to 50")
	if strings.Contains(got.Body, "\r") {
		t.Error("the message kept the form's line breaks")
	}
	for _, c := range []struct{ content, budget, at, says string }{
		{"", "", "#content-error", "empty"},
		{" \r\n ", "", "#content-error", "empty"},
		{strings.Repeat("x", models.MaxContent+1), "", "#content-error", "65536"},
		{"x", "much", "#energyBudget-error", "whole number"},
		{"x", "-1", "#energyBudget-error", "from 0"},
	} {
		got := p.Post("/conversations", url.Values{"content": {c.content}, "energyBudget": {c.budget}}).Is(http.StatusUnprocessableEntity).Says(c.at, c.says)
		if got.Value("#energyBudget") != c.budget {
			t.Errorf("%q: the budget %q is lost", c.content, c.budget)
		}
	}
	list, err := w.Store.Requests.Conversations(t.Context(), w.Owner, requests.ConversationQuery{})
	if err != nil || len(list.Items) != 1 {
		t.Errorf("%d conversations stand, %v", len(list.Items), err)
	}
}

// The composer sends words. A page that was open since an earlier version sends decisions
// and budgets with them: nothing of that is done, and nothing is lost (I6).
func TestTheComposerSendsWords(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	id := w.Conversation(50)
	a := w.Proposes(id, "Delete the logs", 100)
	say := webtest.ConversationPath(id) + "/say"
	shown := p.Get(webtest.ConversationPath(id)).Is(http.StatusOK)
	for name := range shown.Form("#say", "#send") {
		if name != "content" && name != "csrf" {
			t.Errorf("the composer sends %q", name)
		}
	}
	p.Post(say, url.Values{"content": {"Go on,\r\nplease."}}).Redirects(webtest.ConversationPath(id) + "#end")
	p.Get(webtest.ConversationPath(id)).Says("#history [data-what=message]", webtest.OwnerEmail, "Go on, please.")
	entries := len(w.History(id))
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
		got := p.Post(say, c.fill).Is(http.StatusUnprocessableEntity).Says(c.at, c.says).Says(".conversation > .flash", "Your message was not sent")
		if want := strings.ReplaceAll(c.fill.Get("content"), "\r\n", "\n"); got.Value("#content") != want {
			t.Errorf("%s: the message is %.40q, want %.40q", c.name, got.Value("#content"), want)
		}
		w.Waits(a)
		if w.Total(id) != 50 || len(w.History(id)) != entries {
			t.Errorf("%s: something was taken", c.name)
		}
	}
}

// The budget that a proposal asks for is part of its approval, unless its decider says
// otherwise; a rejection changes none.
func TestAProposalIsApprovedWithItsBudget(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	id := w.Conversation(50)
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
			if _, err := w.Store.ChangeBudget(t.Context(), w.Owner, id, models.BudgetChange{Set: &total}, ""); err != nil {
				t.Fatal(err)
			}
			a := w.Proposes(id, c.name, c.want)
			path, prefix := webtest.PageOf(a), "#"
			if inConversation {
				path, prefix = webtest.ConversationPath(id), "#entry-"+strconv.FormatInt(a.Sequence, 10)+"-"
			}
			shown := p.Get(path).Is(http.StatusOK)
			words := "Approve and set the budget the budget"
			if c.want > 0 {
				words = "Approve and set " + strconv.FormatInt(c.want, 10) + " the budget" // of which script and style show one
			}
			shown.Says(prefix+"approve", words)
			if ticked := shown.Doc.Find(prefix+"set-budget[checked]").Length() == 1; ticked != (c.want > 0) {
				t.Errorf("%s: ticked %v", c.name, ticked)
			}
			form := shown.Form(prefix+"verdict", prefix+c.verdict)
			maps.Copy(form, c.fill)
			p.Post(shown.Doc.Find(prefix+"verdict").AttrOr("action", ""), form).Is(http.StatusSeeOther)
			if got := w.Approval(a.ID); got.Vote == nil || string(got.Vote.Verdict) != c.verdict || got.Vote.SeenDigest != a.Digest {
				t.Errorf("%s: %s with %+v", c.name, got.Status(), got.Vote)
			}
			if w.Total(id) != c.budget {
				t.Errorf("%s: the budget is %d, want %d", c.name, w.Total(id), c.budget)
			}
		}
		total = c.budget
	}

	// What can't be a budget is said at its field, and nothing is decided.
	a := w.Proposes(id, "More.", 100)
	form := p.Get(webtest.PageOf(a)).Form("#verdict", "#approve")
	for _, amount := range []string{"", "lots", "-1", "1e3"} {
		form.Set("new_budget", amount)
		got := p.Post(webtest.DecideOf(a), form).Is(http.StatusUnprocessableEntity).Says("#new_budget-error", "must")
		if got.Value("#new-budget") != amount || got.Doc.Find("#set-budget[checked]").Length() != 1 {
			t.Errorf("%q: the fields are lost", amount)
		}
		w.Waits(a)
	}
	form.Del("set_budget")
	form.Set("digest", strings.Repeat("0", 64)) // what comes back is as it was sent
	if p.Post(webtest.DecideOf(a), form).Is(http.StatusConflict).Doc.Find("#set-budget[checked]").Length() != 0 {
		t.Error("the box was ticked again")
	}
}

// The question before an approval that can do much harm names the budget that it sets.
func TestTheConfirmationNamesTheBudgetI6(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(webtest.AllHigh)
	p := w.SignIn(webtest.OwnerEmail)
	id := w.Conversation(50)
	a := w.Proposes(id, "Drop the table.", 9000)
	form := p.Get(webtest.PageOf(a)).Form("#verdict", "#approve")
	asked := p.Post(webtest.DecideOf(a), form).Is(http.StatusOK).Says("#confirm", "Approve", "and set the budget to 9,000?").Says(".what", "Sets the budget to 9,000")
	w.Waits(a)
	p.Post(webtest.DecideOf(a), asked.Form("#confirm", "#confirm-approve")).Redirects(webtest.PageOf(a))
	if w.Total(id) != 9000 {
		t.Errorf("the budget is %d", w.Total(id))
	}
}

func TestDecidingInPlace(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	a := w.Ask()
	inHere := func(in *models.AskInput) { in.ConversationID = string(a.ConversationID) }
	q := w.Ask(webtest.Question, inHere)
	path := webtest.ConversationPath(a.ConversationID)
	entry := func(a *models.Approval) string { return "#entry-" + strconv.FormatInt(a.Sequence, 10) }
	shown := p.Get(path).Is(http.StatusOK)
	if n := shown.Doc.Find("#history .entry-decide").Length(); n != 2 {
		t.Fatalf("%d forms to decide", n)
	}
	form := shown.Form(entry(a)+" .entry-decide form.verdict", entry(a)+"-approve")
	if form.Get("digest") != a.Digest {
		t.Errorf("the form carries %q", form.Get("digest"))
	}
	decide := path + "/decide/" + string(a.ID)
	got := p.Post(decide, url.Values{"verdict": {"approve"}, "digest": {a.Digest}, "input": {"{"}}).Is(http.StatusUnprocessableEntity).Says(entry(a), "JSON")
	if got.Value(entry(a)+"-input") != "{" {
		t.Errorf("the edit is lost: %q", got.Value(entry(a)+"-input"))
	}
	p.Post(decide, url.Values{"verdict": {"approve"}, "digest": {strings.Repeat("0", 64)}}).Is(http.StatusConflict).Says(entry(a)+" .flash", "Look again")
	form.Set("reason", "for once")
	p.Post(decide, form).Redirects(path + entry(a))
	if got := w.Approval(a.ID); got.Status() != models.StatusApproved || got.Vote.Reason != "for once" || got.Vote.SeenDigest != a.Digest {
		t.Errorf("stands as %s, %+v", got.Status(), got.Vote)
	}
	p.Post(decide, form).Is(http.StatusConflict).Says(entry(a)+" .flash", "Already approved by "+webtest.OwnerEmail)
	form = shown.Form(entry(q)+" form.choices", "button[value=us]")
	p.Post(path+"/decide/"+string(q.ID), form).Redirects(path + entry(q))
	p.Get(path).Says(entry(q), "answered by "+webtest.OwnerEmail, "us")
	p.Post(webtest.ConversationPath(w.Conversation(-1))+"/decide/"+string(q.ID), form).Is(http.StatusNotFound)
}
