package web_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"countersign/models"
	"countersign/models/requests"
)

// everyPage gets every kind of page there is.
func everyPage(w *world) map[string]*page {
	a, q := w.ask(), w.ask(question)
	done := w.ask()
	admin, owner := w.signedIn("admin@example.com"), w.signedIn(ownerEmail)
	owner.post(decideOf(done), map[string][]string{"verdict": {"reject"}, "reason": {"<b>no</b>"}})
	form := admin.get("/policy").form("#policy-form", "#review")
	form.Set("default_timeout_minutes", "9")
	admin.post("/policy", form).redirects("/policy/review")
	talk := w.conversation(50)
	w.respond(talk, models.KindReply, "# A **reply**", 1)
	w.proposes(talk, "May I?", 100)
	plan, wish := w.proposes(w.conversation(10), "<b>May</b> **I**?", 100), w.budgetRequest(w.conversation(10), 50)
	runs, other := w.runPages()
	out := map[string]*page{}
	for _, p := range []*page{
		owner.get("/conversations"), admin.get("/conversations?status=asleep"), owner.get(budgetPath(talk)), owner.post(budgetPath(talk), nil),
		owner.get(pageOf(plan)), owner.get(pageOf(wish)), owner.get(conversationPath(runs)), owner.get(callPath(w, runs)), owner.get(pageOf(other)),
		owner.get("/conversations/new"), owner.get(conversationPath(talk)), owner.post(conversationPath(talk)+"/say", nil), owner.get(conversationPath(a.ConversationID)),
		w.visitor().get("/signin"), w.visitor().get("/nowhere"), owner.get("/"), w.signedIn(strangerEmail).get("/"),
		owner.post("/inbox/token", nil), owner.get(pageOf(a)), owner.get(pageOf(q)), owner.get(pageOf(done)),
		owner.get("/agents"), owner.get("/audit"), owner.get("/policy"), admin.get("/policy"), admin.get("/policy/review"), admin.get("/policy/json"), admin.get("/policy/rules/new"), admin.post("/policy/json", nil),
		admin.get("/policy/versions/1"), owner.get("/account/password"), owner.get("/policy/versions/1"),
		owner.get("/account/sessions"), admin.get("/people"), admin.post("/people/invites", map[string][]string{"email": {"new@example.com"}, "role": {"reviewer"}}),
		admin.get("/audit/all"), admin.get("/audit/entries/1"), admin.get("/system"),
		admin.get("/upstreams"), admin.post("/upstreams", map[string][]string{"base_url": {"ftp://x"}}),
	} {
		out[p.asked] = p
	}
	return out
}

// runPages are a run with everything that there is, and a request of another
// system.
func (w *world) runPages() (models.ConversationID, *models.Approval) {
	w.tb.Helper()
	o := newOutside(w.tb, w)
	id := w.run(models.RunInput{RunID: "every"}, ten()...)
	w.report(id, gave("u1", "<b>one</b>"))
	o.take(models.OutsideItem{CallID: "c", RunID: "every", Name: "Bash", Arguments: []byte(`{"command":"another"}`)})
	list, err := w.store.Requests.Approvals(w.tb.Context(), w.owner, requests.ListQuery{Conversation: id, Limit: 10})
	if err != nil || len(list.Items) != 1 {
		w.tb.Fatalf("%d requests, %v", len(list.Items), err)
	}
	return id, &list.Items[0]
}

func callPath(w *world, id models.ConversationID) string {
	w.tb.Helper()
	history, err := w.store.Requests.History(w.tb.Context(), w.owner, id, requests.HistoryQuery{})
	if err != nil || len(history.Entries) == 0 {
		w.tb.Fatal(err)
	}
	return conversationPath(id) + "/calls/" + string(history.Entries[0].Response.ID)
}

func TestPagesNeedNoInlineScriptOrStyle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, p := range everyPage(w) {
		csp := p.header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'self'", "frame-ancestors 'none'", "base-uri 'self'", "form-action 'self'"} {
			if !strings.Contains(csp, want) {
				t.Errorf("%s: the policy %q lacks %s", name, csp, want)
			}
		}
		if strings.Contains(csp, "unsafe") {
			t.Errorf("%s: %s", name, csp)
		}
		for h, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store"} {
			if got := p.header.Get(h); got != want {
				t.Errorf("%s: %s is %q", name, h, got)
			}
		}
		if p.header.Get("Permissions-Policy") == "" {
			t.Errorf("%s: no Permissions-Policy", name)
		}
		p.doc.Find("style, script:not([src]), [style], iframe, object, embed, base").Each(func(_ int, s *goquery.Selection) {
			t.Errorf("%s: inline: %s", name, goquery.NodeName(s))
		})
		p.doc.Find("*").Each(func(_ int, s *goquery.Selection) {
			for _, a := range s.Nodes[0].Attr {
				if strings.HasPrefix(a.Key, "on") || strings.HasPrefix(a.Key, "hx-on") || strings.Contains(strings.ToLower(a.Val), "javascript:") {
					t.Errorf("%s: %s has %s=%q", name, goquery.NodeName(s), a.Key, a.Val)
				}
			}
		})
		p.doc.Find("script[src], link[href], img[src]").Each(func(_ int, s *goquery.Selection) {
			if at := s.AttrOr("src", s.AttrOr("href", "")); !strings.HasPrefix(at, "/static/") {
				t.Errorf("%s: loads %q", name, at)
			}
		})
		if len(p.body) > 72<<10 {
			t.Errorf("%s: %d bytes", name, len(p.body))
		}
	}
}

func TestWhatPagesLoadIsServedForEver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.visitor()
	found := 0
	v.get("/signin").doc.Find("script[src], link[href]").Each(func(_ int, s *goquery.Selection) {
		found++
		at := s.AttrOr("src", s.AttrOr("href", ""))
		plain := v.get(at, header{"Accept-Encoding", "identity"}).is(http.StatusOK)
		if got := plain.header.Get("Cache-Control"); !strings.Contains(got, "immutable") || !strings.Contains(got, "max-age=31536000") {
			t.Errorf("%s: Cache-Control %q", at, got)
		}
		packed := v.get(at, header{"Accept-Encoding", "br, gzip"}).is(http.StatusOK)
		if packed.header.Get("Content-Encoding") != "gzip" {
			if len(plain.body) > 2000 {
				t.Errorf("%s: %d bytes are not packed", at, len(plain.body))
			}
			return
		}
		r, err := gzip.NewReader(strings.NewReader(packed.body))
		if err != nil {
			t.Fatal(err)
		}
		if content, err := io.ReadAll(r); err != nil || string(content) != plain.body {
			t.Errorf("%s: packed and plain differ (%v)", at, err)
		}
	})
	if found < 5 {
		t.Errorf("only %d files", found)
	}
	v.get("/static/js/nothing.js").is(http.StatusNotFound)
	v.get("/static/../setup").is(http.StatusNotFound)
}

func TestI13WhatAgentsWriteStaysText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	evil := `</textarea></pre><script src="/x"></script><img src=x onerror=alert(1)>` + "\u202e\u200b"
	a := w.ask(func(in *models.AskInput) {
		in.Description, in.Context, in.Input = evil, evil, []byte(`{"command":"</code></textarea><script src='/y'>"}`)
	})
	q := w.ask(question, func(in *models.AskInput) {
		in.Description = evil
		in.Options = []models.Option{{Name: `"><script src=/z>`, Title: evil}}
	})
	p := w.signedIn(ownerEmail)
	for _, path := range []string{"/", pageOf(a), pageOf(q), "/audit", "/account/sessions"} {
		got := p.get(path).is(http.StatusOK)
		if n := got.doc.Find("script[src='/x'], script[src='/y'], script[src='/z'], img").Length(); n != 0 {
			t.Errorf("%s: %d foreign elements", path, n)
		}
		if strings.ContainsAny(got.body, "\u202e\u200b") {
			t.Errorf("%s: hidden characters are sent as they are", path)
		}
	}
}
