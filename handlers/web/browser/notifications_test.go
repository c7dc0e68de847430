package browser_test

import (
	"testing"

	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
	"countersign/models/storetest"
)

// looked is how many times the pages of a tab said that they are looked at.
const looked = `performance.getEntriesByType("resource").filter((one) => one.name.endsWith("/look")).length`

// Opening a request says that it is looked at, once within half a minute, whatever is done
// there; a request that is decided says nothing.
func TestInABrowserAPageSaysThatItIsLookedAt(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask()
	p := openTab(w)
	p.signIn()
	p.open("/approvals/" + string(a.ID))
	p.becomes(looked + ` === 1`)
	p.press("?")
	p.value(`window.dispatchEvent(new Event("focus")), document.dispatchEvent(new Event("scroll")), 0`)
	var seen int
	row := storetest.Tamper(t, w.Store).QueryRowContext(t.Context(), `SELECT count(*) FROM seen WHERE response_id = ? AND user_id = ?`, a.ID, w.Owner.ID)
	if err := row.Scan(&seen); err != nil || seen != 1 {
		t.Errorf("%d rows say so (%v)", seen, err)
	}
	if got := p.value(looked); got != "1" {
		t.Errorf("it is said %s times", got)
	}
}

// The forms work with and without a script, on a phone and on a wide screen.
func TestInABrowserNotificationsAreSet(t *testing.T) {
	t.Parallel()
	for name, width := range map[string]int64{"phone": 390, "wide": 1440} {
		for _, script := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := webtest.New(t)
				p := openTab(w)
				if !script {
					p.withoutScript()
				}
				p.inZone("Asia/Tokyo")
				p.do("size", chromedp.EmulateViewport(width, 844))
				p.signIn()
				p.open("/account/notifications")
				p.click("#add-email summary")
				p.fill("#email-address", "owner@home.example")
				p.click("#add-email button")
				p.sees(".flash", "A code is on its way")
				w.SendsDue()
				p.fill("#channels tbody input[name=code]", w.Mails.Last(t).Code)
				p.click("#channels tbody form button")
				p.sees(".flash", "Verified")
				p.chooses("#moments_high", "if you haven't looked at it after 5")
				p.click("#save-notifications")
				p.sees(".flash", "Saved")
				settings, err := w.Store.People.NotificationSettings(t.Context(), w.Owner)
				storetest.Must(t, err)
				if got := settings.Moments["high"].UnseenMinutes; got != 5 {
					t.Errorf("it keeps %d minutes", got)
				}
				// A script offers the browser's zone; without one it stays what it was.
				if want := map[bool]string{true: "Asia/Tokyo", false: "UTC"}[script]; settings.Zone != want {
					t.Errorf("the time zone is %q, want %q", settings.Zone, want)
				}
			})
		}
	}
}
