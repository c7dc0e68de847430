package web_test

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/store"
	"countersign/models/storetest"
)

func conversationPath(id models.ConversationID) string { return "/conversations/" + string(id) }

// proposes has the owner's agent propose something, and would like a budget of
// want, if it is above 0.
func (w *world) proposes(id models.ConversationID, content string, want int64) *models.Approval {
	w.tb.Helper()
	in := models.ResponseInput{ConversationID: id, Kind: models.KindProposal, Content: content, ModelUsed: "gpt-x"}
	if want > 0 {
		in.EnergyBudget = &want
	}
	a, err := w.store.Respond(w.tb.Context(), w.agent, in)
	if err != nil {
		w.tb.Fatalf("propose: %v", err)
	}
	return a
}

// history is all that was said and done in a conversation.
func (w *world) history(id models.ConversationID) []models.HistoryEntry {
	w.tb.Helper()
	h, err := w.store.History(w.tb.Context(), w.admin, id, store.HistoryQuery{After: store.FromStart, Limit: store.MaxPage})
	if err != nil {
		w.tb.Fatal(err)
	}
	return h.Entries
}

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
	got := p.post(conversationPath(id)+"/say", other).is(http.StatusConflict).says("#composer .flash", "look again", "stands in the form")
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
		{"a made-up change", url.Values{"budgetMode": {"double"}}, "#budget-error", "step"},
		{"a made-up decision", url.Values{"decision": {"cancel"}}, "#decision-error", "approve, reject"},
		{"no digest", url.Values{"decision": {"approve"}, "digest": {""}}, "#decision-error", "send it again"},
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
	p.post(conversationPath(bare)+"/say", url.Values{"budgetMode": {"step"}, "budgetAmount": {"5"}}).is(http.StatusUnprocessableEntity).says("#budget-error", "needs a budget that stands")
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
	p.post(decide, url.Values{"verdict": {"approve"}, "digest": {strings.Repeat("0", 64)}}).is(http.StatusConflict).says(entry(a)+" .flash", "look again")
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

func TestAHistoryPagesByKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	id := w.conversation(-1)
	first := w.proposes(id, "the first of all", 0)
	for n := range 118 {
		w.respond(id, models.KindReply, "reply "+strconv.Itoa(n), 1)
	}
	var seen []string
	next := conversationPath(id)
	for at := 0; next != ""; at++ {
		got := p.get(next).is(http.StatusOK)
		entries := got.doc.Find("#history > .entry").Map(func(_ int, s *goquery.Selection) string { return s.AttrOr("id", "") })
		seen = append(entries, seen...)
		if end := got.doc.Find("#composer").Length() == 1; end != (at == 0) || end != (got.doc.Find("#tail").Length() == 1) {
			t.Errorf("%s: composer and growth belong to the end", next)
		}
		if at == 0 {
			got.says(".elsewhere", "the first of all")
			if got.doc.Find("#composer-decision").Length() != 0 {
				t.Error("what is not on the page can be decided by its composer")
			}
		}
		next, _ = strings.CutSuffix(got.doc.Find("#earlier").AttrOr("href", ""), "#end")
	}
	if len(seen) != 120 || seen[0] != "entry-1" || seen[119] != "entry-120" || len(slices.Compact(slices.Sorted(slices.Values(seen)))) != 120 {
		t.Errorf("%d entries: %v", len(seen), seen)
	}
	// Forwards nothing is left out either.
	forwards := map[string]bool{}
	for next = conversationPath(id) + "?before=11"; next != ""; {
		got := p.get(next).is(http.StatusOK)
		got.doc.Find("#history > .entry").Each(func(_ int, s *goquery.Selection) { forwards[s.AttrOr("id", "")] = true })
		if next = got.doc.Find("#later").AttrOr("href", ""); next == "" && !strings.Contains(got.text(".pager"), "To the end") {
			t.Errorf("%s does not lead to the end", got.asked)
		}
	}
	p.get(conversationPath(id)).doc.Find("#history > .entry").Each(func(_ int, s *goquery.Selection) { forwards[s.AttrOr("id", "")] = true })
	if len(forwards) != 120 {
		t.Errorf("%d entries forwards", len(forwards))
	}
	// A decision on an earlier page leads back to it.
	p.post(conversationPath(id)+"/decide/"+string(first.ID), url.Values{"verdict": {"approve"}}).is(http.StatusUnprocessableEntity).says("#entry-2", "send it again")
	p.post(conversationPath(id)+"/decide/"+string(first.ID), url.Values{"verdict": {"reject"}}).redirects(conversationPath(id) + "?before=3#entry-2")
	for _, bad := range []string{"x", "-1", "9999999999999999999999"} {
		p.get(conversationPath(id) + "?before=" + bad).is(http.StatusUnprocessableEntity)
	}
	p.get(conversationPath(id)+"?before=1").is(http.StatusOK).says("#history", "Nothing")
}

func TestPartsOfAConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	id := w.conversation(-1)
	path := conversationPath(id)
	tail := p.get(path).doc.Find("#tail").AttrOr("hx-get", "")
	p.get(tail, htmx).is(http.StatusNoContent)
	a := w.proposes(id, "Delete the logs", 0)
	entry := "#entry-" + strconv.FormatInt(a.Sequence, 10)
	grown := p.get(tail, htmx).is(http.StatusOK).isFragment().says(entry, "Delete the logs")
	if n := grown.doc.Find(".entry").Length(); n != 1 {
		t.Errorf("%d entries came", n)
	}
	if next := grown.doc.Find("#tail").AttrOr("hx-get", ""); next == tail {
		t.Error("the history grows by the same for ever")
	} else {
		p.get(next, htmx).is(http.StatusNoContent)
	}
	p.get(grown.doc.Find(entry).AttrOr("hx-get", ""), htmx).is(http.StatusOK).isFragment().says(entry, "Delete the logs")
	p.get(path+"?part=more", htmx).is(http.StatusOK).isFragment().says("#composer-more", "proposal")
	p.get(path+"?part=head", htmx).is(http.StatusOK).isFragment().says("#conversation-head", "waits for you")
	p.get(path+"?part=head").is(http.StatusOK).says("h1", "Untitled") // typed into a browser, it is the page
	p.get(path+"?part=entry&entry="+string(w.ask().ID), htmx).is(http.StatusNotFound)
	p.get(path+"?part=entry&entry=x", htmx).is(http.StatusNotFound)
	p.get(path+"?part=nothing", htmx).is(http.StatusNotFound)
	p.get(path+"?part=after&after=x", htmx).is(http.StatusUnprocessableEntity)

	p.get(path+"/draft", htmx).is(http.StatusOK).isFragment().saysNot("#draft", "is writing")
	w.drafted.Store(new("I shall <b>look</b>\u202e"))
	p.get(path+"/draft", htmx).is(http.StatusOK).says("#draft", "deployer is writing with demo-model", "I shall <b>look</b>⟨U+202E⟩")
	p.get(path).says("#draft", "I shall")
	p.get(path + "/draft").redirects(path + "#end")
	p.get(path + "/say").redirects(path + "#end")
}

func TestSteeringAConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	id := w.conversation(-1)
	a := w.proposes(id, "Delete the logs", 0)
	path := conversationPath(id)
	steer := func(button string) *page {
		t.Helper()
		shown := p.get(path)
		value := shown.doc.Find(".steering "+button).AttrOr("value", "")
		p.post(path+"/steer", url.Values{"how": {value}}).redirects(path)
		return p.get(path).is(http.StatusOK)
	}
	steer("#pause").says("#conversation-head", "paused").says(".flash", "Paused").says("#composer", "which waits until")
	p.post(path+"/decide/"+string(a.ID), url.Values{"verdict": {"approve"}, "digest": {a.Digest}}).is(http.StatusSeeOther)
	steer("#resume").saysNot("#conversation-head", "paused")
	steer("#archive").says("#conversation-head", "archived")
	steer("#unarchive").saysNot("#conversation-head", "archived")
	b := w.proposes(id, "Delete the rest", 0)
	if p.get(path).doc.Find("details.confirm #stop").Length() != 1 {
		t.Error("to stop asks for no confirmation")
	}
	steer("#stop").says("#conversation-head", "failed").says("#history", "The run was stopped.")
	if got := w.stands(b.ID); got.Status() != models.StatusCancelled || got.Cause != models.CauseStopped {
		t.Errorf("what waited is %s, %s", got.Status(), got.Cause)
	}
	p.post(path+"/say", url.Values{"content": {"Once more."}}).redirects(path + "#end")
	p.get(path).says("#conversation-head", "running")
	p.post(path+"/steer", url.Values{"how": {"explode"}}).is(http.StatusUnprocessableEntity)

	form := p.get(path).form("#rename form", "")
	form.Set("title", "Old logs")
	p.post(path+"/rename", form).redirects(path)
	p.get(path).says("#conversation-title", "Old logs").says(".flash", "title")
	form.Set("title", strings.Repeat("x", models.MaxTitle+1))
	got := p.post(path+"/rename", form).is(http.StatusUnprocessableEntity).says("#title-error", "120")
	if got.value("#title") != form.Get("title") {
		t.Error("the title is lost")
	}
}

func TestOnlyOwnerAndAdminsSeeAConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(`{"rules": [{"name": "second pair of eyes", "tools": ["Bash"], "effect": "require", "reviewers": ["` + strangerEmail + `"]}]}`)
	a := w.ask()
	w.respond(a.ConversationID, models.KindReply, "a secret between us", 1)
	path := conversationPath(a.ConversationID)
	routed := w.signedIn(strangerEmail)
	routed.get(pageOf(a)).is(http.StatusOK)
	if n := routed.get(pageOf(a)).doc.Find(`a[href^="/conversations/"]`).Length(); n != 0 {
		t.Errorf("who was routed one request is led to its conversation %d times", n)
	}
	for _, c := range []struct {
		method, path string
		form         url.Values
	}{
		{"GET", path, nil},
		{"GET", path + "?part=after&after=0", nil},
		{"GET", path + "/draft", nil},
		{"GET", path + "/say", nil},
		{"POST", path + "/say", url.Values{"content": {"hello"}}},
		{"POST", path + "/say", url.Values{"decision": {"approve"}, "responseId": {string(a.ID)}, "digest": {a.Digest}}},
		{"POST", path + "/decide/" + string(a.ID), url.Values{"verdict": {"approve"}, "digest": {a.Digest}}},
		{"POST", path + "/steer", url.Values{"how": {"stop"}}},
		{"POST", path + "/rename", url.Values{"title": {"mine"}}},
		{"GET", conversationPath(models.NewID[models.ConversationID]()), nil},
		{"GET", "/conversations/nonsense", nil},
	} {
		for _, headers := range [][]header{nil, {htmx}} {
			got := routed.send(c.method, c.path, c.form, headers...).is(http.StatusNotFound)
			if strings.Contains(got.body, "secret") {
				t.Errorf("%s %s tells: %s", c.method, c.path, got.body)
			}
		}
	}
	if got := w.stands(a.ID); got.Status() != models.StatusPending || len(w.history(a.ConversationID)) != 2 {
		t.Errorf("something was done: %s", got.Status())
	}
	w.signedIn("admin@example.com").get(path).is(http.StatusOK).says("#history", "a secret between us")
}

func TestTheStreamTellsOfAConversationToWhoMaySeeIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.conversation(-1)
	conversation, draft := "conversation:"+string(id), "draft:"+string(id)
	owner := w.signedIn(ownerEmail).listen("/events?conversation="+string(id)).opening(conversation, draft, "inbox", "policy")
	stranger := w.signedIn(strangerEmail).listen("/events?conversation="+string(id)).opening("inbox", "policy")
	w.signedIn(ownerEmail).listen("/events?conversation=nonsense").opening("inbox", "policy")
	w.respond(id, models.KindReply, "hello", 1)
	if got := owner.next(); got != conversation {
		t.Errorf("the owner hears %q", got)
	}
	w.store.Bus().Publish(events.Draft(string(id)))
	if got := owner.next(); got != draft {
		t.Errorf("the owner hears %q", got)
	}
	w.applyPolicy(`{"default_timeout_minutes": 9}`)
	if got := stranger.next(); got != "policy" {
		t.Errorf("the stranger hears %q", got)
	}

	// It is judged at each event: who is no admin any more hears no more of it.
	second := storetest.User(t, w.store, "second@example.com", models.RoleAdmin)
	admin := w.signedIn("second@example.com").listen("/events?conversation="+string(id)).opening(conversation, draft, "inbox", "policy")
	w.respond(id, models.KindReply, "hello", 1)
	if got := admin.next(); got != conversation {
		t.Errorf("an admin hears %q", got)
	}
	if err := w.store.SetRole(t.Context(), w.admin, second.UserID(), models.RoleReviewer); err != nil {
		t.Fatal(err)
	}
	w.respond(id, models.KindReply, "a secret", 1)
	w.applyPolicy(`{"default_timeout_minutes": 8}`)
	if got := admin.next(); got != "policy" {
		t.Errorf("who was an admin hears %q", got)
	}
}

func TestI13WhatIsSaidInAConversationStaysText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	evil := `</textarea></pre><script src="/x"></script><img src=x onerror=alert(1)>` + "\u202e\u200b[x](javascript:alert(1))"
	id := w.conversation(50)
	w.respond(id, models.KindReply, evil, 1)
	a := w.proposes(id, evil, 0)
	w.drafted.Store(&evil)
	p.post(conversationPath(id)+"/rename", url.Values{"title": {evil[:90]}}).redirects(conversationPath(id))
	for _, got := range []*page{
		p.get(conversationPath(id)), p.get(conversationPath(id)+"/draft", htmx), p.get(conversationPath(id)+"?part=after&after=0", htmx),
		p.post(conversationPath(id)+"/say", url.Values{"content": {evil}, "decision": {"cancel"}}),
		p.post(conversationPath(id)+"/decide/"+string(a.ID), url.Values{"verdict": {"x"}}),
	} {
		if n := got.doc.Find(`script[src="/x"], img, [href^="javascript"], [onerror]`).Length(); n != 0 {
			t.Errorf("%s: %d foreign elements", got.asked, n)
		}
		got.doc.Find("textarea").Remove() // what a person typed stays what it is
		if html, _ := got.doc.Html(); strings.ContainsAny(html, "\u202e\u200b") {
			t.Errorf("%s: hidden characters are sent as they are", got.asked)
		}
	}
	p.get(conversationPath(id)).says("#history", "⟨U+202E⟩")
}
