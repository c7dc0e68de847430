package browser_test

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"

	"countersign/handlers/web/webtest"
)

// An admin allows a host, adds an endpoint there and gives its secret to a program; somebody
// approves a request, the program verifies the event, and its answer is on the page. On a phone
// and on a wide screen, with a script and without.
func TestInABrowserAnEndpointGetsWhatIsApproved(t *testing.T) {
	t.Parallel()
	for name, width := range map[string]int64{"phone": 390, "wide": 1440} {
		for _, script := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := webtest.New(t)
				w.SendsEvents()
				to, a, p := w.Program(), w.Ask(), openTab(w)
				if !script {
					p.withoutScript()
				}
				p.do("size", chromedp.EmulateViewport(width, 844))
				p.signInAs(webtest.AdminEmail)
				p.open("/system/webhooks/new")
				p.click(".flash a") // no host is allowed yet
				p.fill("#host", to.Host())
				p.click("#allow-host")
				p.sees(".flash", "Channels and webhooks may name this host")
				p.open("/system/webhooks")
				p.click(".empty-state a")
				p.fill("#name", "Deploys")
				p.fill("#url", to.URL+"/hook")
				p.click("#events-chosen")
				p.click("#family-approval")
				p.fits()
				p.click("#save-webhook")
				p.sees(".secret", "Copy it now")
				to.Answers(t, p.text("#webhook-secret"), http.StatusNoContent)
				p.fits()

				w.Approves(a)
				w.SignIn(webtest.AdminEmail).Comes("/system/webhooks", "tbody", "Accepted with 204")
				p.open("/system/webhooks")
				p.click("tbody th a")
				p.sees("#answers tbody", "approval.approved")
				p.sees("#webhook-state", "approval.*")
				p.fits()
				p.click("#test-webhook")
				p.sees("#webhook-test", "Accepted with 204")
				if len(to.Bad) > 0 {
					t.Errorf("it could not verify %q", to.Bad)
				}
			})
		}
	}
}
