package browser_test

import (
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// TestInABrowserARequestIsHandedOverAndApprovedByTheOther, with script and without: who handed it
// over reads who has it now, the other reads for whom they decide, and page and history name both.
func TestInABrowserARequestIsHandedOverAndApprovedByTheOther(t *testing.T) {
	t.Parallel()
	for name, scripted := range map[string]bool{"script": true, "no script": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := webtest.NewOffice(t, "")
			a := o.Ask(webtest.Payment)
			at := "/approvals/" + string(a.ID)
			p := openTab(o.World)
			if !scripted {
				p.withoutScript()
			}
			p.signInAs("finance@example.com")
			p.open(at)
			p.click("#hand-over > summary")
			p.chooses("#hand-over select", "eve")
			p.fill("#hand-over textarea", "I am on a train.")
			p.click("#hand-over-send")
			p.sees("#handovers", "eve@example.com has this request too, from you")
			p.sees("#handovers", "I am on a train.")

			q := openTab(o.World)
			if !scripted {
				q.withoutScript()
			}
			q.signInAs("eve@example.com")
			q.open("/")
			q.sees("#row-"+string(a.ID), "For finance@example.com")
			q.open(at)
			q.sees(".came", "finance@example.com handed this request to you")
			q.sees(".decides-for", "You decide on behalf of finance@example.com")
			q.click("#approve")
			q.sees(".outcome", "eve@example.com on behalf of finance@example.com")
			q.open("/history")
			q.sees("main", "eve@example.com on behalf of finance@example.com")
			if scripted { // the page of who handed it over follows
				p.sees(".outcome", "eve@example.com on behalf of finance@example.com")
			}
			if got := o.Approval(a.ID); got.Status() != models.StatusApproved || got.Vote.BehalfOf != o.Finance.UserID() {
				t.Errorf("it is %s by %+v", got.Status(), got.Vote)
			}
		})
	}
}
