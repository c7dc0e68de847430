package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"countersign/models"
	"countersign/models/storetest"
)

// goesTo is where a text leads somebody, as the palette and as the page.
func (p *person) goesTo(text string) []string {
	p.w.tb.Helper()
	path := "/go?q=" + url.QueryEscape(text)
	hrefs := func(_ int, s *goquery.Selection) string { return s.AttrOr("href", "") }
	page := p.get(path).is(http.StatusOK)
	fragment := p.get(path, htmx).is(http.StatusOK)
	out := fragment.doc.Find("a[role=option]").Map(hrefs)
	if shown := page.doc.Find(".go-rows a").Map(hrefs); strings.Join(shown, " ") != strings.Join(out, " ") || fragment.doc.Find("main").Length() > 0 {
		p.w.tb.Errorf("%q: the palette shows %q, the page %q", text, out, shown)
	}
	return out
}

// TestATextLeadsOnlyToWhatItsReaderMayOpen: pages, agents, conversations and requests, by
// text and by id.
func TestATextLeadsOnlyToWhatItsReaderMayOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask(toolCall("Bash", `{"command":"rm -rf build/"}`))
	request, conversation := pageOf(a), "/conversations/"+string(a.ConversationID)
	people := map[string]*person{"owner": w.signedIn(ownerEmail), "stranger": w.signedIn(strangerEmail), "admin": w.signedIn(storetest.AdminEmail)}
	for _, c := range []struct {
		text, leads string
		stranger    bool
		owner       bool
	}{
		{"RM -RF", request, false, true},
		{"bash", request, false, true},
		{string(a.ID), request, false, true},
		{"…" + string(a.ID[28:]), request, false, true},
		{"deployer", request, false, true},
		{"deployer", "/?agent=" + w.agent.ID, false, true},
		{"deployer", conversation, false, true},
		{string(a.ConversationID), conversation, false, true},
		{"his", "/history", true, true},
		{"", "/policy", true, true},
		{"people", "/people", false, false},
		{"", "/system", false, false},
	} {
		for name, want := range map[string]bool{"owner": c.owner, "stranger": c.stranger, "admin": true} {
			got := false
			for _, href := range people[name].goesTo(c.text) {
				got = got || href == c.leads
				if !strings.HasPrefix(href, "/") {
					t.Errorf("%q leads elsewhere: %q", c.text, href)
				}
			}
			if got != want {
				t.Errorf("%q leads the %s to %s: %v, want %v", c.text, name, c.leads, got, want)
			}
		}
	}
	if got := w.stands(a.ID); got.Status() != models.StatusPending {
		t.Errorf("looking decided: %s", got.Status())
	}
}

// TestI13WhatIsFoundIsShownEscaped: names, commands and what was looked for.
func TestI13WhatIsFoundIsShownEscaped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask(toolCall("Bash", "{\"command\":\"echo <script>alert(1)</script> \\u202egnp.exe needle\"}"))
	for _, h := range [][]header{nil, {htmx}} {
		got := w.signedIn(ownerEmail).get("/go?q=needle", h...).is(http.StatusOK)
		if strings.Contains(got.body, "<script>alert") || strings.Contains(got.body, "\u202e") || !strings.Contains(got.body, "U+202E") {
			t.Errorf("%s", got.body)
		}
	}
	got := w.signedIn(ownerEmail).get("/go?q="+url.QueryEscape("\"><script>alert(1)</script>\u202e"), htmx).is(http.StatusOK)
	if strings.Contains(got.body, "<script>alert") || strings.Contains(got.body, "\u202e") || !strings.Contains(got.body, "Nothing found") {
		t.Errorf("%s", got.body)
	}
}

// TestLookingUpTakesAPlaceAmongLists, and gives it back.
func TestLookingUpTakesAPlaceAmongLists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	for range 20 {
		p.get("/go?q=x", htmx).is(http.StatusOK)
	}
	for range 8 {
		if err := w.lists.Begin(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	p.get("/go?q=x", htmx).is(http.StatusTooManyRequests)
	p.get("/go", htmx).is(http.StatusOK)
	w.lists.End()
	p.get("/go?q=x", htmx).is(http.StatusOK)
}
