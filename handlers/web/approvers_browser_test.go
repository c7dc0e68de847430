package web_test

import (
	"net/url"
	"testing"

	"countersign/models"
	"countersign/models/storetest"
)

const financePays = `{"rules":[{"name":"Payments","tools":["payment.send"],"effect":"require","risk":"medium","reason":"Money leaves the account.","reviewers":["finance@example.com"],"reviewers_only":true,"self_approval":"never"}]}`

func payment(in *models.AskInput) {
	in.ToolName, in.Input = "payment.send", []byte(`{"amount":"9999.00","currency":"EUR","to":"Bo himself"}`)
}

// TestInABrowserTheOwnerCannotSignTheirOwnPayment: they read who must, and can
// reject and withdraw; finance approves.
func TestInABrowserTheOwnerCannotSignTheirOwnPayment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	storetest.Reviewer(t, w.store, "finance@example.com")
	w.applyPolicy(financePays)
	a := w.ask(payment)
	p := w.tab()
	p.signIn()
	p.open("/")
	p.sees("#row-"+string(a.ID), "finance@example.com must approve")
	p.open("/approvals/" + string(a.ID))
	p.sees(".must-approve", "finance@example.com must approve")
	p.sees(".decide-bar", "You own this agent, so you can't approve its request. finance@example.com must approve. You can reject it.")
	for _, gone := range []string{"#approve", "[data-act=approve]", "#edit", "a[href$='/grant']"} {
		if got := p.value(`String(document.querySelectorAll("` + gone + `").length)`); got != "0" {
			t.Errorf("%s is offered: %v", gone, got)
		}
	}
	if got := p.value(`String(document.querySelectorAll("#reject, #cancel").length)`); got != "2" {
		t.Errorf("rejecting and withdrawing: %v", got)
	}
	if got := w.stands(a.ID); got.Status() != models.StatusPending {
		t.Fatalf("it is %s", got.Status())
	}
	p.click("#reject")
	p.sees("#approval", "rejected")
}

// TestTheOwnerCannotApproveByAnyForm of the pages, and finance can.
func TestTheOwnerCannotApproveByAnyForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	storetest.Reviewer(t, w.store, "finance@example.com")
	w.applyPolicy(financePays)
	a := w.ask(payment)
	owner, finance := w.signedIn(ownerEmail), w.signedIn("finance@example.com")
	at := "/approvals/" + string(a.ID)
	approve := url.Values{"verdict": {"approve"}, "digest": {a.Digest}}
	owner.post(at+"/decide", approve).is(403).says(".decide-bar", "finance@example.com must approve")
	owner.post("/conversations/"+string(a.ConversationID)+"/approvals/"+string(a.ID)+"/decide", approve)
	owner.post("/approvals/bulk", url.Values{"verdict": {"approve"}, "pick": {string(a.ID) + " " + a.Digest}})
	owner.post(at+"/grant", url.Values{"sent": {"1"}, "hours": {"1"}, "uses": {"1"}, "digest": {a.Digest}, "approve": {"true"}})
	if got := w.stands(a.ID); got.Status() != models.StatusPending {
		t.Fatalf("it is %s", got.Status())
	}
	owner.get("/policy").is(200)
	finance.get(at).is(200).saysNot(".decide-bar", "must approve")
	finance.post(at+"/decide", approve)
	if got := w.stands(a.ID); got.Status() != models.StatusApproved {
		t.Errorf("after finance: %s", got.Status())
	}
}

// TestAProposedEditIsShownToWhoMustApproveIt with what it changes.
func TestAProposedEditIsShownToWhoMustApproveIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	storetest.Reviewer(t, w.store, "finance@example.com")
	w.applyPolicy(`{"rules":[{"name":"Payments","tools":["payment.send"],"effect":"require"}]}`)
	a := w.ask(payment)
	w.applyPolicy(financePays)
	owner, finance := w.signedIn(ownerEmail), w.signedIn("finance@example.com")
	at := "/approvals/" + string(a.ID)
	owner.post(at+"/decide", url.Values{"verdict": {"approve"}, "digest": {a.Digest}, "edit": {"json"}, "input": {`{"amount":"1.00","currency":"EUR","to":"Bo himself"}`}})
	owner.get(at).is(200).says(".proposed", "You approved an edit.", "finance@example.com must approve", "Undo")
	page := finance.get(at).is(200).says(".proposed", "approved an edit.", "1.00")
	finance.post(at+"/decide", page.form(".proposed form", ""))
	got := w.stands(a.ID)
	if got.Status() != models.StatusApproved || got.Vote == nil || got.Vote.Input == nil {
		t.Errorf("after finance: %+v", got.Response)
	}
}

func TestThePolicyPageSaysWhoApproves(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	storetest.Reviewer(t, w.store, "finance@example.com")
	w.applyPolicy(financePays)
	w.signedIn(storetest.AdminEmail).get("/policy").is(200).
		says("main", "only finance@example.com may approve (reviewers_only)", "the agent's owner may not approve (self_approval: never)")
}
