package conversation_test

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/events"
	"countersign/models/storetest"
)

func TestAHistoryPagesByKey(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	id := w.Conversation(-1)
	first := w.Proposes(id, "the first of all", 0)
	for n := range 118 {
		w.Respond(id, models.KindReply, "reply "+strconv.Itoa(n), 1)
	}
	var seen []string
	next := webtest.ConversationPath(id)
	for at := 0; next != ""; at++ {
		got := p.Get(next).Is(http.StatusOK)
		entries := got.Doc.Find("#history > .entry").Map(func(_ int, s *goquery.Selection) string { return s.AttrOr("id", "") })
		seen = append(entries, seen...)
		if end := got.Doc.Find("#composer").Length() == 1; end != (at == 0) || end != (got.Doc.Find("#tail").Length() == 1) {
			t.Errorf("%s: composer and growth belong to the end", next)
		}
		if at == 0 {
			got.Says(".elsewhere", "the first of all")
			if got.Doc.Find("#composer [name=decision], #composer [name=verdict]").Length() != 0 {
				t.Error("the composer decides")
			}
		}
		next, _ = strings.CutSuffix(got.Doc.Find("#earlier").AttrOr("href", ""), "#end")
	}
	if len(seen) != 120 || seen[0] != "entry-1" || seen[119] != "entry-120" || len(slices.Compact(slices.Sorted(slices.Values(seen)))) != 120 {
		t.Errorf("%d entries: %v", len(seen), seen)
	}
	// Forwards nothing is left out either.
	forwards := map[string]bool{}
	for next = webtest.ConversationPath(id) + "?before=11"; next != ""; {
		got := p.Get(next).Is(http.StatusOK)
		got.Doc.Find("#history > .entry").Each(func(_ int, s *goquery.Selection) { forwards[s.AttrOr("id", "")] = true })
		if next = got.Doc.Find("#later").AttrOr("href", ""); next == "" && !strings.Contains(got.Text(".pager"), "To the end") {
			t.Errorf("%s does not lead to the end", got.Asked)
		}
	}
	p.Get(webtest.ConversationPath(id)).Doc.Find("#history > .entry").Each(func(_ int, s *goquery.Selection) { forwards[s.AttrOr("id", "")] = true })
	if len(forwards) != 120 {
		t.Errorf("%d entries forwards", len(forwards))
	}
	// A decision on an earlier page leads back to it.
	p.Post(webtest.ConversationPath(id)+"/decide/"+string(first.ID), url.Values{"verdict": {"approve"}}).Is(http.StatusUnprocessableEntity).Says("#entry-2", "send it again")
	p.Post(webtest.ConversationPath(id)+"/decide/"+string(first.ID), url.Values{"verdict": {"reject"}}).Redirects(webtest.ConversationPath(id) + "?before=3#entry-2")
	for _, bad := range []string{"x", "-1", "9999999999999999999999"} {
		p.Get(webtest.ConversationPath(id) + "?before=" + bad).Is(http.StatusUnprocessableEntity)
	}
	p.Get(webtest.ConversationPath(id)+"?before=1").Is(http.StatusOK).Says("#history", "No messages yet")
}

func TestPartsOfAConversation(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	id := w.Conversation(-1)
	path := webtest.ConversationPath(id)
	tail := p.Get(path).Doc.Find("#tail").AttrOr("hx-get", "")
	p.Get(tail, webtest.HTMX).Is(http.StatusNoContent)
	a := w.Proposes(id, "Delete the logs", 0)
	entry := "#entry-" + strconv.FormatInt(a.Sequence, 10)
	grown := p.Get(tail, webtest.HTMX).Is(http.StatusOK).IsFragment().Says(entry, "Delete the logs")
	if n := grown.Doc.Find(".entry").Length(); n != 1 {
		t.Errorf("%d entries came", n)
	}
	if next := grown.Doc.Find("#tail").AttrOr("hx-get", ""); next == tail {
		t.Error("the history grows by the same for ever")
	} else {
		p.Get(next, webtest.HTMX).Is(http.StatusNoContent)
	}
	p.Get(grown.Doc.Find(entry).AttrOr("hx-get", ""), webtest.HTMX).Is(http.StatusOK).IsFragment().Says(entry, "Delete the logs")
	p.Get(path+"?part=note", webtest.HTMX).Is(http.StatusOK).IsFragment().Says("#composer-note", "waits here until the agent fetches it")
	p.Get(path+"?part=head", webtest.HTMX).Is(http.StatusOK).IsFragment().Says("#conversation-head", "waiting for you")
	p.Get(path+"?part=head").Is(http.StatusOK).Says("h1", "Untitled") // typed into a browser, it is the page
	p.Get(path+"?part=entry&entry="+string(w.Ask().ID), webtest.HTMX).Is(http.StatusNotFound)
	p.Get(path+"?part=entry&entry=x", webtest.HTMX).Is(http.StatusNotFound)
	p.Get(path+"?part=nothing", webtest.HTMX).Is(http.StatusNotFound)
	p.Get(path+"?part=after&after=x", webtest.HTMX).Is(http.StatusUnprocessableEntity)

	p.Get(path+"/draft", webtest.HTMX).Is(http.StatusOK).IsFragment().SaysNot("#draft", "is writing")
	w.Draft.Store(new("I shall <b>look</b>\u202e"))
	p.Get(path+"/draft", webtest.HTMX).Is(http.StatusOK).Says("#draft", "deployer is writing with demo-model", "I shall <b>look</b>⟨U+202E⟩")
	p.Get(path).Says("#draft", "I shall")
	p.Get(path + "/draft").Redirects(path + "#end")
	p.Get(path + "/say").Redirects(path + "#end")
}

func TestSteeringAConversation(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	id := w.Conversation(-1)
	a := w.Proposes(id, "Delete the logs", 0)
	path := webtest.ConversationPath(id)
	steer := func(button string) *webtest.Page {
		t.Helper()
		shown := p.Get(path)
		value := shown.Doc.Find(".steering "+button).AttrOr("value", "")
		p.Post(path+"/steer", url.Values{"how": {value}}).Redirects(path)
		return p.Get(path).Is(http.StatusOK)
	}
	steer("#pause").Says("#conversation-head", "paused").Says(".flash", "Paused").Says("#composer", "waits until the conversation resumes")
	p.Post(path+"/decide/"+string(a.ID), url.Values{"verdict": {"approve"}, "digest": {a.Digest}}).Is(http.StatusSeeOther)
	steer("#resume").SaysNot("#conversation-head", "paused")
	steer("#archive").Says("#conversation-head", "archived")
	steer("#unarchive").SaysNot("#conversation-head", "archived")
	b := w.Proposes(id, "Delete the rest", 0)
	if p.Get(path).Doc.Find("details.confirm #stop").Length() != 1 {
		t.Error("to stop asks for no confirmation")
	}
	steer("#stop").Says("#conversation-head", "failed").Says("#history", "The run, or the agent, was stopped.")
	if got := w.Approval(b.ID); got.Status() != models.StatusCancelled || got.Cause != models.CauseStopped {
		t.Errorf("what waited is %s, %s", got.Status(), got.Cause)
	}
	p.Post(path+"/say", url.Values{"content": {"Once more."}}).Redirects(path + "#end")
	p.Get(path).Says("#conversation-head", "running")
	p.Post(path+"/steer", url.Values{"how": {"explode"}}).Is(http.StatusUnprocessableEntity)

	form := p.Get(path).Form("#rename form", "")
	form.Set("title", "Old logs")
	p.Post(path+"/rename", form).Redirects(path)
	p.Get(path).Says("#conversation-title", "Old logs").Says(".flash", "title")
	form.Set("title", strings.Repeat("x", models.MaxTitle+1))
	got := p.Post(path+"/rename", form).Is(http.StatusUnprocessableEntity).Says("#title-error", "120")
	if got.Value("#title") != form.Get("title") {
		t.Error("the title is lost")
	}
}

func TestOnlyOwnerAndAdminsSeeAConversation(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"rules": [{"name": "second pair of eyes", "tools": ["Bash"], "effect": "require", "reviewers": ["` + webtest.StrangerEmail + `"]}]}`)
	a := w.Ask()
	w.Respond(a.ConversationID, models.KindReply, "a secret between us", 1)
	path := webtest.ConversationPath(a.ConversationID)
	routed := w.SignIn(webtest.StrangerEmail)
	routed.Get(webtest.PageOf(a)).Is(http.StatusOK)
	if n := routed.Get(webtest.PageOf(a)).Doc.Find(`a[href^="/conversations/"]`).Length(); n != 0 {
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
		{"GET", webtest.ConversationPath(models.NewID[models.ConversationID]()), nil},
		{"GET", "/conversations/nonsense", nil},
	} {
		for _, headers := range [][]webtest.Header{nil, {webtest.HTMX}} {
			got := routed.Send(c.method, c.path, c.form, headers...).Is(http.StatusNotFound)
			if strings.Contains(got.Body, "secret") {
				t.Errorf("%s %s tells: %s", c.method, c.path, got.Body)
			}
		}
	}
	if got := w.Approval(a.ID); got.Status() != models.StatusPending || len(w.History(a.ConversationID)) != 2 {
		t.Errorf("something was done: %s", got.Status())
	}
	w.SignIn("admin@example.com").Get(path).Is(http.StatusOK).Says("#history", "a secret between us")
}

func TestTheStreamTellsOfAConversationToWhoMaySeeIt(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	id := w.Conversation(-1)
	conversation, draft := "conversation:"+string(id), "draft:"+string(id)
	owner := w.SignIn(webtest.OwnerEmail).Listen("/events?conversation="+string(id)).Opening(conversation, draft, "inbox", "policy")
	stranger := w.SignIn(webtest.StrangerEmail).Listen("/events?conversation="+string(id)).Opening("inbox", "policy")
	w.SignIn(webtest.OwnerEmail).Listen("/events?conversation=nonsense").Opening("inbox", "policy")
	w.Respond(id, models.KindReply, "hello", 1)
	if got := owner.Next(); got != conversation {
		t.Errorf("the owner hears %q", got)
	}
	w.Store.Bus().Publish(events.Draft(string(id)))
	if got := owner.Next(); got != draft {
		t.Errorf("the owner hears %q", got)
	}
	w.ApplyPolicy(`{"default_timeout_minutes": 9}`)
	if got := stranger.Next(); got != "policy" {
		t.Errorf("the stranger hears %q", got)
	}

	// It is judged at each event: who is no admin any more hears no more of it.
	second := storetest.User(t, w.Store, "second@example.com", models.RoleAdmin)
	admin := w.SignIn("second@example.com").Listen("/events?conversation="+string(id)).Opening(conversation, draft, "inbox", "policy")
	w.Respond(id, models.KindReply, "hello", 1)
	if got := admin.Next(); got != conversation {
		t.Errorf("an admin hears %q", got)
	}
	if err := w.Store.People.SetRole(t.Context(), w.Admin, second.UserID(), models.RoleReviewer); err != nil {
		t.Fatal(err)
	}
	w.Respond(id, models.KindReply, "a secret", 1)
	w.ApplyPolicy(`{"default_timeout_minutes": 8}`)
	if got := admin.Next(); got != "policy" {
		t.Errorf("who was an admin hears %q", got)
	}
}

func TestI13WhatIsSaidInAConversationStaysText(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	evil := `</textarea></pre><script src="/x"></script><img src=x onerror=alert(1)>` + "\u202e\u200b[x](javascript:alert(1))"
	id := w.Conversation(50)
	w.Respond(id, models.KindReply, evil, 1)
	a := w.Proposes(id, evil, 0)
	w.Draft.Store(&evil)
	p.Post(webtest.ConversationPath(id)+"/rename", url.Values{"title": {evil[:90]}}).Redirects(webtest.ConversationPath(id))
	for _, got := range []*webtest.Page{
		p.Get(webtest.ConversationPath(id)), p.Get(webtest.ConversationPath(id)+"/draft", webtest.HTMX), p.Get(webtest.ConversationPath(id)+"?part=after&after=0", webtest.HTMX),
		p.Post(webtest.ConversationPath(id)+"/say", url.Values{"content": {evil}, "decision": {"cancel"}}),
		p.Post(webtest.ConversationPath(id)+"/decide/"+string(a.ID), url.Values{"verdict": {"x"}}),
	} {
		if n := got.Doc.Find(`script[src="/x"], img, [href^="javascript"], [onerror]`).Length(); n != 0 {
			t.Errorf("%s: %d foreign elements", got.Asked, n)
		}
		got.Doc.Find("textarea").Remove() // what a person typed stays what it is
		if html, _ := got.Doc.Html(); strings.ContainsAny(html, "\u202e\u200b") {
			t.Errorf("%s: hidden characters are sent as they are", got.Asked)
		}
	}
	p.Get(webtest.ConversationPath(id)).Says("#history", "⟨U+202E⟩")
}
