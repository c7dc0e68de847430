package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/requests"
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
	h, err := w.store.Requests.History(w.tb.Context(), w.admin, id, requests.HistoryQuery{After: requests.FromStart, Limit: models.MaxPage})
	if err != nil {
		w.tb.Fatal(err)
	}
	return h.Entries
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
			if got.doc.Find("#composer [name=decision], #composer [name=verdict]").Length() != 0 {
				t.Error("the composer decides")
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
	p.get(conversationPath(id)+"?before=1").is(http.StatusOK).says("#history", "No messages yet")
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
	p.get(path+"?part=note", htmx).is(http.StatusOK).isFragment().says("#composer-note", "waits here until the agent fetches it")
	p.get(path+"?part=head", htmx).is(http.StatusOK).isFragment().says("#conversation-head", "waiting for you")
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
	steer("#pause").says("#conversation-head", "paused").says(".flash", "Paused").says("#composer", "waits until the conversation resumes")
	p.post(path+"/decide/"+string(a.ID), url.Values{"verdict": {"approve"}, "digest": {a.Digest}}).is(http.StatusSeeOther)
	steer("#resume").saysNot("#conversation-head", "paused")
	steer("#archive").says("#conversation-head", "archived")
	steer("#unarchive").saysNot("#conversation-head", "archived")
	b := w.proposes(id, "Delete the rest", 0)
	if p.get(path).doc.Find("details.confirm #stop").Length() != 1 {
		t.Error("to stop asks for no confirmation")
	}
	steer("#stop").says("#conversation-head", "failed").says("#history", "The run, or the agent, was stopped.")
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
	if err := w.store.People.SetRole(t.Context(), w.admin, second.UserID(), models.RoleReviewer); err != nil {
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
