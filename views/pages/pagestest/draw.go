// Package pagestest draws pages and reads them as a browser would, for tests only.
package pagestest

import (
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"

	"countersign/models"
	"countersign/views/gallery"
	"countersign/views/pages/requests"
)

// Draw is the markup of a component.
func Draw(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Read parses what a component draws, as a browser would.
func Read(t *testing.T, c templ.Component) *goquery.Document {
	t.Helper()
	doc, err := Parse(Draw(t, c))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// Parse reads a page as it is first shown: what a template has is on no page until a script takes it.
func Parse(html string) (*goquery.Document, error) {
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(html))
	if err != nil {
		return nil, err
	}
	doc.Find("template").Empty()
	return doc, nil
}

// Request is the page of a request as its owner sees it at the time of all fixtures.
func Request(a models.Approval) requests.Approval {
	return requests.New(requests.Input{Approval: a, Substitution: models.ActingPage{Right: gallery.Own}}, gallery.Now)
}
