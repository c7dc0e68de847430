package webtest

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
)

// Again is what a browser sends for the question, with one of its buttons.
func (p *Page) Again(button, value string) url.Values {
	form := url.Values{button: {value}}
	for _, field := range p.Doc.Find(".bulk-question input").EachIter() {
		if _, checked := field.Attr("checked"); checked || field.AttrOr("type", "") != "checkbox" {
			form.Add(field.AttrOr("name", ""), field.AttrOr("value", ""))
		}
	}
	return form
}

// Pills are the numbers and words of a batch's calls, in order.
func (p *Page) Pills() string {
	return strings.Join(p.Doc.Find(".batch-call").Map(func(_ int, s *goquery.Selection) string {
		return strings.TrimSpace(s.Find(".batch-number").Text()) + " " +
			strings.TrimSpace(s.Find(".batch-pill").First().Text())
	}), ", ")
}

// Page is one answer.
type Page struct {
	TB      testing.TB
	Asked   string
	Status  int
	Header  http.Header
	Cookies []*http.Cookie
	Body    string
	Doc     *goquery.Document
}

// Is checks the status.
func (p *Page) Is(status int) *Page {
	p.TB.Helper()
	if p.Status != status {
		p.TB.Fatalf("%s: status %d, want %d; main: %s", p.Asked, p.Status, status, p.Text("main"))
	}
	return p
}

// Redirects checks where the answer leads.
func (p *Page) Redirects(to string) *Page {
	p.TB.Helper()
	p.Is(http.StatusSeeOther)
	if got := p.Header.Get("Location"); got != to {
		p.TB.Fatalf("%s: leads to %q, want %q", p.Asked, got, to)
	}
	return p
}

// Says checks that the text of what a selector finds contains each part.
func (p *Page) Says(selector string, parts ...string) *Page {
	p.TB.Helper()
	got := p.Text(selector)
	for _, part := range parts {
		if !strings.Contains(got, part) {
			p.TB.Errorf("%s: %s says %q, want %q in it", p.Asked, selector, got, part)
		}
	}
	return p
}

// Has checks how many elements a selector finds.
func (p *Page) Has(selector string, n int) *Page {
	p.TB.Helper()
	if found := p.Doc.Find(selector).Length(); found != n {
		p.TB.Errorf("%s has %d of %s, want %d", p.Asked, found, selector, n)
	}
	return p
}

// SaysNot checks that the text of what a selector finds contains no part.
func (p *Page) SaysNot(selector string, parts ...string) *Page {
	p.TB.Helper()
	got := p.Text(selector)
	for _, part := range parts {
		if strings.Contains(got, part) {
			p.TB.Errorf("%s: %s says %q, want no %q in it", p.Asked, selector, got, part)
		}
	}
	return p
}

// IsFragment checks that the answer is a part of a page and no page.
func (p *Page) IsFragment() *Page {
	p.TB.Helper()
	if strings.Contains(p.Body, "<html") {
		p.TB.Errorf("%s: a whole page, want a fragment", p.Asked)
	}
	return p
}

// Text is the text of what a selector finds, with single spaces.
func (p *Page) Text(selector string) string {
	return strings.Join(strings.Fields(p.Doc.Find(selector).Text()), " ")
}

// Value is what a field of a form holds.
func (p *Page) Value(selector string) string {
	field := p.Doc.Find(selector).First()
	if field.Is("textarea") {
		return strings.TrimPrefix(field.Text(), "\n")
	}
	return field.AttrOr("value", "")
}

// Form collects what a browser would send for a form: its hidden fields, its values, and the button pressed.
func (p *Page) Form(selector, submitter string) url.Values {
	p.TB.Helper()
	form := p.Doc.Find(selector)
	if form.Length() != 1 {
		p.TB.Fatalf("%s: %d forms match %s", p.Asked, form.Length(), selector)
	}
	values := url.Values{}
	apart := func(what string) *goquery.Selection { // it belongs to the form by its id
		return p.Doc.Find(what).FilterFunction(func(_ int, e *goquery.Selection) bool {
			return e.AttrOr("form", "") != "" && e.AttrOr("form", "") == form.AttrOr("id", "")
		})
	}
	form.Find("input, textarea, select").AddSelection(apart("input, textarea, select")).Each(func(_ int, field *goquery.Selection) {
		name, ok := field.Attr("name")
		kind := field.AttrOr("type", "")
		if _, checked := field.Attr("checked"); !ok || (kind == "checkbox" || kind == "radio") && !checked {
			return
		}
		value := field.AttrOr("value", "")
		if field.Is("textarea") {
			value = strings.ReplaceAll(strings.TrimPrefix(field.Text(), "\n"), "\n", "\r\n")
		}
		if field.Is("select") {
			value = chosen(field)
		}
		values.Add(name, value)
	})
	if submitter != "" {
		button := form.Find(submitter).AddSelection(apart(submitter))
		if button.Length() != 1 {
			p.TB.Fatalf("%s: %d buttons match %s", p.Asked, button.Length(), submitter)
		}
		if name, ok := button.Attr("name"); ok {
			values.Set(name, button.AttrOr("value", ""))
		}
	}
	return values
}

// chosen is what a browser sends of a select.
func chosen(field *goquery.Selection) string {
	option := field.Find("option[selected]")
	if option.Length() == 0 {
		option = field.Find("option")
	}
	return option.First().AttrOr("value", option.First().Text())
}
