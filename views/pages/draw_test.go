package pages_test

import (
	"strings"
	"testing"

	"countersign/models"
	"countersign/views/pages"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"

	"countersign/views/gallery"
)

func draw(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// read parses what a component draws, as a browser would.
func read(t *testing.T, c templ.Component) *goquery.Document {
	t.Helper()
	doc, err := parse(draw(t, c))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// parse reads a page as it is first shown: what a template has is on no page until a script takes it.
func parse(html string) (*goquery.Document, error) {
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(html))
	if err != nil {
		return nil, err
	}
	doc.Find("template").Empty()
	return doc, nil
}

func newApproval(a models.Approval) pages.Approval {
	return pages.NewApproval(pages.ApprovalInput{Approval: a, Acting: models.ActingPage{Right: gallery.Own}}, now)
}
