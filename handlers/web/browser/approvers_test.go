package browser_test

import (
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

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

// TestInABrowserThreePeopleSignAPayment at once: in order, by keyboard, on a phone and without script; edited in the
// middle, taken back in the undo window, signed again, and released.
func TestInABrowserThreePeopleSignAPayment(t *testing.T) {
	t.Parallel()
	w := webtest.SignersWorld(t)
	w.ApplyPolicy(`{"undo_seconds":{"medium":600},` + strings.TrimPrefix(webtest.StagedPays, "{"))
	a := w.Ask(webtest.Payment)
	at := "/approvals/" + string(a.ID)
	desk, phone, plain := openTab(w), openTab(w), openTab(w)
	desk.do("size", chromedp.EmulateViewport(1440, 900))
	phone.do("a phone", chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
	desk.signInAs("ann@example.com")
	phone.signInAs("bo@example.com")
	plain.signInAs("dee@example.com")
	plain.withoutScript()

	desk.open(at)
	desk.sees("#approve", "Approve (1 of 3)")
	phone.open(at)
	phone.sees(".must-approve", "0 of 3 signed; waiting for 2 of finance.")
	desk.calm()
	desk.press("a") // the key that approves
	desk.sees(".decide-bar", "You signed it.")
	phone.sees(".must-approve", "1 of 3 signed: ann@example.com; waiting for 1 of finance.") // told, without a reload
	phone.sees("#approve", "Approve (2 of 3)")
	phone.fits()
	phone.tap("[data-opens=edit]")
	phone.becomes(`document.activeElement.id === "m0"`)
	phone.types("#m0", "1.00")
	phone.becomes(`!document.querySelector("#approve-edited").hidden`)
	phone.tap("#approve-edited")
	desk.sees(".decide-bar", "bo@example.com has edited it since")
	desk.sees(".proposed", "Approve this edit (2 of 3)")
	desk.fits()
	desk.click(".proposed button[id$=-approve]")
	desk.sees(".decide-bar", "You signed it.")
	plain.open(at)
	plain.sees(".proposed", "Approve this edit and run (3 of 3)")
	plain.click(".proposed button[id$=-approve]")
	plain.sees(".decide-bar", "Undo")
	// Held for its window; who signed before may still go back on it.
	desk.sees(".decide-bar", "You signed it.")
	desk.click("#unsign")
	desk.sees(".proposed", "Approve this edit and run (3 of 3)")
	plain.open(at)
	plain.sees(".decide-bar", "You signed it.")
	desk.click(".proposed button[id$=-approve]")
	desk.sees(".decide-bar", "Undo")
	w.Clock.Step(20 * time.Minute)
	if _, err := w.Store.ReleaseDue(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	phone.sees(".outcome", "Signed by")
	phone.sees(".outcome", "dee@example.com")
	releases(w, a, `{"amount":"1.00","currency":"EUR","to":"Bo himself"}`)
}

// TestInABrowserGlassIsBroken by keyboard at a desk, confirmed on its own page, and acknowledged on a phone.
func TestInABrowserGlassIsBroken(t *testing.T) {
	t.Parallel()
	w := webtest.SignersWorld(t)
	storetest.Reviewer(t, w.Store, "eve@example.com")
	w.ApplyPolicy(strings.Replace(webtest.StagedPays, `"effect":"require"`, `"effect":"require","risk":"high","break_glass":["eve@example.com"]`, 1))
	a := w.Ask(webtest.Payment)
	at := "/approvals/" + string(a.ID)
	desk, phone := openTab(w), openTab(w)
	desk.do("size", chromedp.EmulateViewport(1440, 900))
	phone.do("a phone", chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
	desk.signInAs("eve@example.com")
	phone.signInAs("ann@example.com")
	desk.open(at)
	desk.do("the summary", chromedp.Focus(".glass > summary"), chromedp.KeyEvent("\r"))
	desk.becomes(`document.querySelector(".glass").open`)
	desk.types("#glass-reason", "The plant stops at noon, and nobody of finance answers.")
	desk.fits()
	desk.do("the button", chromedp.Focus("#glass-approve"), chromedp.KeyEvent("\r"))
	desk.sees("#confirm", "alone, without the signatures of the others")
	phone.open("/")
	desk.do("the confirmation", chromedp.Focus("#confirm-approve"), chromedp.KeyEvent("\r"))
	desk.sees(".broken-note", "decided this alone")
	desk.fits()
	phone.sees(".broken-note", "One decision broke glass.") // the open page hears of it
	phone.fits()
	phone.tap(".broken-note a")
	phone.sees("#broken", "The plant stops at noon")
	phone.fits()
	phone.tap("#broken form button")
	phone.sees("main", "It is on record that you have looked at it.")
	phone.open(at)
	phone.sees(".broken-note", "Acknowledged by ann@example.com")
}

// TestInABrowserTwoAdminsAgreeOnThePolicy by keyboard: one proposes at a desk, the other confirms on a phone without
// script, after they have rejected it once.
func TestInABrowserTwoAdminsAgreeOnThePolicy(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"policy_approvals":2}`)
	storetest.User(t, w.Store, "second@example.com", models.RoleAdmin)
	desk, phone := openTab(w), openTab(w)
	desk.do("size", chromedp.EmulateViewport(1440, 900))
	phone.do("a phone", chromedp.EmulateViewport(390, 844))
	phone.withoutScript()
	desk.signInAs("admin@example.com")
	phone.signInAs("second@example.com")
	by := func(p *tab, path, selector string) {
		t.Helper()
		p.open(path)
		p.sees("main h1", "")
		p.tabTo(selector)
		p.press("\r")
	}
	desk.open("/policy/settings")
	desk.retype("#default_timeout_minutes", "9")
	desk.tabTo("#review")
	desk.press("\r")
	desk.sees("#proposes", "2 admins agree")
	desk.fits()
	propose := func() {
		t.Helper()
		desk.tabTo("#note")
		desk.press("more time", "\t")
		desk.tabTo("#propose")
		desk.press("\r")
		desk.sees("#agreed", "1 of 2 admins agree")
		desk.fits()
	}
	propose()
	by(phone, "/policy", "#proposal a")
	phone.sees("#changes", "Minutes until a tool call expires: 5 → 9.")
	phone.fits()
	phone.tabTo("details.confirm > summary")
	phone.press("\r")
	phone.tabTo("#reject-reason")
	phone.press("Why so long?", "\t")
	phone.tabTo("#reject-policy")
	phone.press("\r")
	phone.sees("main", "No change is proposed")
	by(desk, "/policy/review", "#note")
	propose()
	by(phone, "/policy/proposal", "#confirm-policy")
	phone.sees("main h1", "Policy")
	phone.fits()
	if doc := w.PolicyIs(3); doc.DefaultTimeoutMinutes != 9 {
		t.Errorf("saved %+v", doc)
	}
}
