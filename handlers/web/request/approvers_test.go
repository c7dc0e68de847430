package request_test

import (
	"net/url"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

// TestTheOwnerCannotApproveByAnyForm of the pages, and finance can.
func TestTheOwnerCannotApproveByAnyForm(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	storetest.Reviewer(t, w.Store, "finance@example.com")
	w.ApplyPolicy(webtest.FinancePays)
	a := w.Ask(webtest.Payment)
	owner, finance := w.SignIn(webtest.OwnerEmail), w.SignIn("finance@example.com")
	at := "/approvals/" + string(a.ID)
	approve := url.Values{"verdict": {"approve"}, "digest": {a.Digest}}
	owner.Post(at+"/decide", approve).Is(403).Says(".decide-bar", "Only finance@example.com can approve")
	owner.Post("/conversations/"+string(a.ConversationID)+"/approvals/"+string(a.ID)+"/decide", approve)
	owner.Post("/approvals/bulk", url.Values{"verdict": {"approve"}, "pick": {string(a.ID) + " " + a.Digest}})
	owner.Post(at+"/grant", url.Values{"sent": {"1"}, "hours": {"1"}, "uses": {"1"}, "digest": {a.Digest}, "approve": {"true"}})
	if got := w.Approval(a.ID); got.Status() != models.StatusPending {
		t.Fatalf("it is %s", got.Status())
	}
	owner.Get("/policy").Is(200)
	finance.Get(at).Is(200).SaysNot(".decide-bar", "must approve")
	finance.Post(at+"/decide", approve)
	if got := w.Approval(a.ID); got.Status() != models.StatusApproved {
		t.Errorf("after finance: %s", got.Status())
	}
}

// TestAProposedEditIsShownToWhoMustApproveIt with what it changes.
func TestAProposedEditIsShownToWhoMustApproveIt(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	storetest.Reviewer(t, w.Store, "finance@example.com")
	w.ApplyPolicy(`{"rules":[{"name":"Payments","tools":["payment.send"],"effect":"require"}]}`)
	a := w.Ask(webtest.Payment)
	w.ApplyPolicy(webtest.FinancePays)
	owner, finance := w.SignIn(webtest.OwnerEmail), w.SignIn("finance@example.com")
	at := "/approvals/" + string(a.ID)
	owner.Post(at+"/decide", url.Values{"verdict": {"approve_edited"}, "digest": {a.Digest}, "input": {`{"amount":"1.00","currency":"EUR","to":"Bo himself"}`}})
	owner.Get(at).Is(200).Says(".proposed", "You approved an edit.", "Only finance@example.com can approve", "Undo")
	page := finance.Get(at).Is(200).Says(".proposed", "approved an edit.", "1.00")
	finance.Post(at+"/decide", page.Form(".proposed form", ""))
	got := w.Approval(a.ID)
	if got.Status() != models.StatusApproved || got.Vote == nil || got.Vote.Input == nil {
		t.Errorf("after finance: %+v", got.Response)
	}
}

func TestThePolicyPageSaysWhoApproves(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	storetest.Reviewer(t, w.Store, "finance@example.com")
	w.ApplyPolicy(webtest.FinancePays)
	w.SignIn(storetest.AdminEmail).Get("/policy").Is(200).
		Says("main", "calls wait for finance@example.com, but not the agent's owner")
}
