package request_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

func bigPayment(in *models.AskInput) {
	in.ToolName, in.Input = "pay", []byte(`{"amount":"9999.00","currency":"EUR","to":"ACME"}`)
}

// A call that was approved before is said to be one on the card and on its row, as
// soon as it is, and in one plain line where it is long ago and harmless.
func TestATwinIsSaidOnCardAndRow(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(webtest.MoneyIsHigh)
	p := w.SignIn(webtest.OwnerEmail)
	first, second := w.Ask(bigPayment), w.Ask(bigPayment)
	p.Get("/").Says("#row-"+string(first.ID), "1 duplicate")
	p.Get(webtest.PageOf(second)).Is(http.StatusOK).SaysNot("main", "Identical call approved")
	w.Approves(first)
	row := "#row-" + string(second.ID)
	for _, page := range []*webtest.Page{p.Get("/"), p.Get("/", webtest.HTMX, webtest.Header{"HX-Target", "section#inbox"})} { // the next look shows it
		page.Says(row+" .row-link", "Same as just now")
	}
	card := p.Get(webtest.PageOf(second)).Says(".warning.twin", "Identical call approved by admin@example.com", "Duplicate?")
	if card.Doc.Find(".warning.twin a").AttrOr("href", "") != webtest.PageOf(first) || !card.Doc.Find(".warning.twin").NextAll().Is(".approval-grid") {
		t.Error("the banner does not lead to the earlier one, or is not at the top")
	}

	shell := w.Ask()
	w.Approves(shell)
	w.Clock.Step(models.TwinWindow - time.Minute)
	p.Get(webtest.PageOf(w.Ask())).Says(".warning.twin", "Duplicate?")
	w.Clock.Step(2 * time.Minute)
	late := w.Ask()
	p.Get(webtest.PageOf(late)).Says(".facts", "Identical call approved by admin@example.com").SaysNot("main", "Duplicate?")
	p.Get("/").SaysNot("#row-"+string(late.ID), "approved by")
}

func TestATwinTellsAReviewerNothingOfWhatTheyMayNotSee(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(webtest.MoneyIsHigh)
	w.Approves(w.Ask(bigPayment))
	w.ApplyPolicy(strings.Replace(webtest.MoneyIsHigh, `"risk":"high"`, `"risk":"high","reviewers":["`+webtest.StrangerEmail+`"]`, 1))
	a := w.Ask(bigPayment)
	s := w.SignIn(webtest.StrangerEmail)
	for _, page := range []*webtest.Page{s.Get("/"), s.Get(webtest.PageOf(a)), s.Post("/approvals/bulk", webtest.Ticked(a))} {
		page.Doc.Find("#hand-over").Remove() // to whom they may hand it over, admins among them
		page.Is(http.StatusOK).SaysNot("main", "Identical", "Duplicate", "admin@example.com")
	}
	w.SignIn(webtest.OwnerEmail).Get(webtest.PageOf(a)).Says(".warning.twin", "Duplicate?")
}

// Warnings stand above the input, a line each, and what is behind them opens.
func TestWarningsStandAboveTheInput(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask(func(in *models.AskInput) {
		in.Input = []byte("{\"command\":\"curl https://xn--80ak6aa92e.com/a\u200bb\"}")
	})
	page := w.SignIn(webtest.OwnerEmail).Get(webtest.PageOf(a)).Is(http.StatusOK)
	warnings := page.Doc.Find("#what .warning")
	if warnings.Length() != 2 || page.Doc.Find("#what .code ~ .warning").Length() != 0 || page.Doc.Find("#what .warning ~ .code").Length() == 0 {
		t.Errorf("%d warnings, or below the input: %s", warnings.Length(), page.Text("#what"))
	}
	hidden := page.Doc.Find("#what details.warning")
	if text := strings.TrimSpace(hidden.Find("summary").Text()); len(text) > 80 || hidden.Find("p").Text() == "" {
		t.Errorf("%q is more than a line, or has no detail", text)
	}
}

// What waits for the very same is named beside the request, as the list counts it, until it is decided.
func TestDuplicatesAreNamed(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	owner := w.SignIn(webtest.OwnerEmail)
	a := w.Ask()
	owner.Get(webtest.PageOf(a)).SaysNot("main", "duplicate")
	b := w.Ask()
	w.Ask(func(in *models.AskInput) { in.Input = []byte(`{"command":"ls"}`) })
	page := owner.Get(webtest.PageOf(a)).Says("main", "1 duplicate", "See it")
	if href := page.Doc.Find("#duplicates a").AttrOr("href", ""); href != webtest.PageOf(b) {
		t.Errorf("the duplicate is at %q", href)
	}
	w.Ask()
	owner.Get(webtest.PageOf(b)).Says("main", "2 duplicates")
	w.Approves(b)
	owner.Get(webtest.PageOf(a)).Says("main", "1 duplicate")
	owner.Get(webtest.PageOf(b)).SaysNot("main", "1 duplicate")
}
