package browser_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// TestAGrantIsUsedUpAndAnotherRevoked, by somebody who watches: made on a request,
// it lets three calls through and the fourth waits; the list follows by itself.
func TestAGrantIsUsedUpAndAnotherRevoked(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.Bash("make", "/src")
	a := w.Bash("make", "/src")
	p := openTab(w)
	p.signIn()
	p.open("/approvals/" + string(a.ID))
	p.sees("#live-text", "live")
	p.value(`document.querySelectorAll("details:has(a[href$='/grant'])").forEach((d) => { d.open = true; })`)
	p.click("a[href$='/grant']")
	p.sees("main h1", "Pre-approve similar calls")

	// What it would have covered follows the ticks; nothing is made by that.
	p.sees("#grant-reach", "It would have covered the one earlier call")
	p.value(`window.same = "page"`)
	if got := p.value(`getComputedStyle(document.querySelector(".grant-anything")).display`); got != "none" {
		t.Errorf("the warning shows while all stays as it is: %s", got)
	}
	w.Bash("make test", "/src")
	p.click("#keep-0")
	p.sees("#grant-reach", "It would have covered 2 of the last 2 calls")
	p.click("#keep-1")
	p.do("wait for the warning", chromedp.WaitVisible(chromedp.CSS(".grant-anything")))
	p.click("#keep-1")
	if got := p.value(`window.same`); got != "page" || len(w.Grants()) != 0 {
		t.Error("the page was loaded anew, or a grant was made")
	}
	p.value(`document.querySelector("#grant-uses").value = ""`)
	p.fill("#grant-uses", "3")
	p.click("#grant-approve")
	p.sees(".flash", "you approved this one")
	if got := w.Approval(a.ID); got.Status() != models.StatusApproved {
		t.Fatalf("the request is %s", got.Status())
	}

	p.open("/grants")
	p.sees("#live-text", "live")
	p.sees("#grants", "0 of 3")
	for range 3 {
		if got := w.Bash("make lint", "/src"); got.Cause != models.CauseGrant {
			t.Fatalf("a call waits: %s", got.PolicyReason)
		}
	}
	p.sees("#grants", "3 of 3")
	p.sees("#grants", "used up")
	if got := w.Bash("make lint", "/src"); got.Status() != models.StatusPending {
		t.Errorf("the fourth is %s", got.Cause)
	}

	// Another one, without a script, is revoked.
	p.withoutScript()
	b := w.Bash("ls", "/src")
	p.open(webtest.GrantPath(b))
	p.click("#keep-0")
	p.click("#grant-preview")
	p.sees("#grant-reach", "It would have covered 7 of the last 7 calls")
	p.click("#grant-only")
	p.sees(".flash", "This one is still waiting")
	p.open("/grants")
	p.click("#grants tbody tr:first-child .confirm summary")
	p.click("#grants tbody tr:first-child .confirm button")
	p.sees(".flash", "Revoked")
	p.sees("#grant-detail", "revoked by "+webtest.OwnerEmail)
	if got := w.Bash("make", "/src"); got.Status() != models.StatusPending {
		t.Errorf("after that a call is %s", got.Cause)
	}
}
