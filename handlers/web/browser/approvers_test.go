package browser_test

import (
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

// TestInABrowserTheOwnerCannotSignTheirOwnPayment: they read who must, and can
// reject and withdraw; finance approves.
func TestInABrowserTheOwnerCannotSignTheirOwnPayment(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	storetest.Reviewer(t, w.Store, "finance@example.com")
	w.ApplyPolicy(webtest.FinancePays)
	a := w.Ask(webtest.Payment)
	p := openTab(w)
	p.signIn()
	p.open("/")
	p.sees("#row-"+string(a.ID), "Only finance@example.com can approve")
	p.open("/approvals/" + string(a.ID))
	p.sees(".must-approve", "Only finance@example.com can approve")
	p.sees(".decide-bar", "You own this agent, so you can't approve its request. Only finance@example.com can approve. You can reject it.")
	for _, gone := range []string{"#approve", "[data-act=approve]", "#edit", "a[href$='/grant']"} {
		if got := p.value(`String(document.querySelectorAll("` + gone + `").length)`); got != "0" {
			t.Errorf("%s is offered: %v", gone, got)
		}
	}
	if got := p.value(`String(document.querySelectorAll("#reject, #cancel").length)`); got != "2" {
		t.Errorf("rejecting and withdrawing: %v", got)
	}
	if got := w.Approval(a.ID); got.Status() != models.StatusPending {
		t.Fatalf("it is %s", got.Status())
	}
	p.click("#reject")
	p.sees("#approval", "rejected")
}
