package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign/models"
)

const moneyIsHigh = `{"rules":[{"name":"Money","tools":["pay"],"effect":"require","risk":"high"},{"name":"Shell","tools":["Bash"],"effect":"require","risk":"low"}]}`

func bigPayment(in *models.AskInput) {
	in.ToolName, in.Input = "pay", []byte(`{"amount":"9999.00","currency":"EUR","to":"ACME"}`)
}

// approves has the admin approve what waits.
func (w *world) approves(a *models.Approval) {
	w.tb.Helper()
	if _, err := w.store.Decide(w.tb.Context(), w.admin, a.ID, models.DecisionInput{Approved: new(true), Digest: a.Digest, Page: models.NoPage}); err != nil {
		w.tb.Fatal(err)
	}
}

// A call that was approved before is said to be one on the card and on its row, as
// soon as it is, and in one plain line where it is long ago and harmless.
func TestATwinIsSaidOnCardAndRow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(moneyIsHigh)
	p := w.signedIn(ownerEmail)
	first, second := w.ask(bigPayment), w.ask(bigPayment)
	p.get("/").says("#row-"+string(first.ID), "Identical request waiting")
	p.get(pageOf(second)).is(http.StatusOK).saysNot("main", "Identical call approved")
	w.approves(first)
	row := "#row-" + string(second.ID)
	for _, page := range []*page{p.get("/"), p.get("/", htmx, header{"HX-Target", "section#inbox"})} { // the next look shows it
		page.says(row+" .row-twin", "Identical call approved by admin@example.com", "Duplicate?")
		if page.doc.Find(row+" .row-twin a").AttrOr("href", "") != pageOf(first) {
			t.Error("the mark does not lead to the earlier one")
		}
	}
	card := p.get(pageOf(second)).says(".warning.twin", "Identical call approved by admin@example.com", "Duplicate?")
	if card.doc.Find(".warning.twin a").AttrOr("href", "") != pageOf(first) || !card.doc.Find(".warning.twin").NextAll().Is(".approval-grid") {
		t.Error("the banner does not lead to the earlier one, or is not at the top")
	}

	shell := w.ask()
	w.approves(shell)
	w.clock.Step(models.TwinWindow - time.Minute)
	p.get(pageOf(w.ask())).says(".warning.twin", "Duplicate?")
	w.clock.Step(2 * time.Minute)
	late := w.ask()
	p.get(pageOf(late)).says(".facts", "Identical call approved by admin@example.com").saysNot("main", "Duplicate?")
	p.get("/").saysNot("#row-"+string(late.ID), "approved by")
}

func TestATwinTellsAReviewerNothingOfWhatTheyMayNotSee(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(moneyIsHigh)
	w.approves(w.ask(bigPayment))
	w.applyPolicy(strings.Replace(moneyIsHigh, `"risk":"high"`, `"risk":"high","reviewers":["`+strangerEmail+`"]`, 1))
	a := w.ask(bigPayment)
	s := w.signedIn(strangerEmail)
	for _, page := range []*page{s.get("/"), s.get(pageOf(a)), s.post("/approvals/bulk", ticked(a))} {
		page.doc.Find("#hand-over").Remove() // to whom they may hand it over, admins among them
		page.is(http.StatusOK).saysNot("main", "Identical", "Duplicate", "admin@example.com")
	}
	w.signedIn(ownerEmail).get(pageOf(a)).says(".warning.twin", "Duplicate?")
}

// Warnings stand above the input, a line each, and what is behind them opens.
func TestWarningsStandAboveTheInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask(func(in *models.AskInput) {
		in.Input = []byte("{\"command\":\"curl https://xn--80ak6aa92e.com/a\u200bb\"}")
	})
	page := w.signedIn(ownerEmail).get(pageOf(a)).is(http.StatusOK)
	warnings := page.doc.Find("#what .warning")
	if warnings.Length() != 2 || page.doc.Find("#what .code ~ .warning").Length() != 0 || page.doc.Find("#what .warning ~ .code").Length() == 0 {
		t.Errorf("%d warnings, or below the input: %s", warnings.Length(), page.text("#what"))
	}
	hidden := page.doc.Find("#what details.warning")
	if text := strings.TrimSpace(hidden.Find("summary").Text()); len(text) > 80 || hidden.Find("p").Text() == "" {
		t.Errorf("%q is more than a line, or has no detail", text)
	}
}
