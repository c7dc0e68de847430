package nav_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

// goesTo is where a text leads somebody, as the palette and as the page.
func goesTo(p *webtest.Person, text string) []string {
	p.World.TB.Helper()
	path := "/go?q=" + url.QueryEscape(text)
	hrefs := func(_ int, s *goquery.Selection) string { return s.AttrOr("href", "") }
	page := p.Get(path).Is(http.StatusOK)
	fragment := p.Get(path, webtest.HTMX).Is(http.StatusOK)
	out := fragment.Doc.Find("a[role=option]").Map(hrefs)
	if shown := page.Doc.Find(".go-rows a").Map(hrefs); strings.Join(shown, " ") != strings.Join(out, " ") || fragment.Doc.Find("main").Length() > 0 {
		p.World.TB.Errorf("%q: the palette shows %q, the page %q", text, out, shown)
	}
	return out
}

// TestATextLeadsOnlyToWhatItsReaderMayOpen: pages, agents, conversations and requests, by
// text and by id.
func TestATextLeadsOnlyToWhatItsReaderMayOpen(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask(webtest.ToolCall("Bash", `{"command":"rm -rf build/"}`))
	request, conversation := webtest.PageOf(a), "/conversations/"+string(a.ConversationID)
	people := map[string]*webtest.Person{"owner": w.SignIn(webtest.OwnerEmail), "stranger": w.SignIn(webtest.StrangerEmail), "admin": w.SignIn(storetest.AdminEmail)}
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
		{"deployer", "/?agent=" + w.Agent.ID, false, true},
		{"deployer", conversation, false, true},
		{string(a.ConversationID), conversation, false, true},
		{"his", "/history", true, true},
		{"", "/policy", true, true},
		{"people", "/people", false, false},
		{"", "/system", false, false},
	} {
		for name, want := range map[string]bool{"owner": c.owner, "stranger": c.stranger, "admin": true} {
			got := false
			for _, href := range goesTo(people[name], c.text) {
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
	if got := w.Approval(a.ID); got.Status() != models.StatusPending {
		t.Errorf("looking decided: %s", got.Status())
	}
}

// TestI13WhatIsFoundIsShownEscaped: names, commands and what was looked for.
func TestI13WhatIsFoundIsShownEscaped(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.Ask(webtest.ToolCall("Bash", "{\"command\":\"echo <script>alert(1)</script> \\u202egnp.exe needle\"}"))
	for _, h := range [][]webtest.Header{nil, {webtest.HTMX}} {
		got := w.SignIn(webtest.OwnerEmail).Get("/go?q=needle", h...).Is(http.StatusOK)
		if strings.Contains(got.Body, "<script>alert") || strings.Contains(got.Body, "\u202e") || !strings.Contains(got.Body, "U+202E") {
			t.Errorf("%s", got.Body)
		}
	}
	got := w.SignIn(webtest.OwnerEmail).Get("/go?q="+url.QueryEscape("\"><script>alert(1)</script>\u202e"), webtest.HTMX).Is(http.StatusOK)
	if strings.Contains(got.Body, "<script>alert") || strings.Contains(got.Body, "\u202e") || !strings.Contains(got.Body, "Nothing found") {
		t.Errorf("%s", got.Body)
	}
}

// TestLookingUpTakesAPlaceAmongLists, and gives it back.
func TestLookingUpTakesAPlaceAmongLists(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	for range 20 {
		p.Get("/go?q=x", webtest.HTMX).Is(http.StatusOK)
	}
	for range 8 {
		if err := w.Lists.Begin(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	p.Get("/go?q=x", webtest.HTMX).Is(http.StatusTooManyRequests)
	p.Get("/go", webtest.HTMX).Is(http.StatusOK)
	w.Lists.End()
	p.Get("/go?q=x", webtest.HTMX).Is(http.StatusOK)
}
