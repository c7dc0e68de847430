package webhooks_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// What an endpoint refuses is on its page: the conversation that waits, each answer with its
// body, and what an admin gave up, with the reason.
func TestWhatAnEndpointRefusesIsShownTriedAndSkipped(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p, to := w.SignIn(webtest.AdminEmail), w.Program()
	p.AllowHost(to.Host())
	path, secret := endpoint(p, "Copy", to.URL+"/hook", url.Values{"events": {"chosen"}, "families": {"approval"}})
	to.Answers(t, secret, http.StatusServiceUnavailable)
	w.SendsEvents()
	a := w.Ask()
	w.Approves(a)

	p.Comes(path, "#blocks tbody", "approval.requested") // the worker may write between two parts of a page: load it again
	page := p.Get(path).Says("#blocks tbody", "conversation", "Refused with 503").Says("#webhook-state", "refusing", "1 conversation waits", "refused events only")
	page.Says("#answers tbody", "approval.requested", "refused", "no <b>room</b>")
	if strings.Contains(page.Body, "<b>room") {
		t.Error("an answer's body is markup")
	}
	p.Get("/system/webhooks").Says("tbody", "refusing", "Refused with 503")
	p.Get("/system").Says("main", "Endpoints that refuse events: 1")

	skip := page.Form("#blocks tbody form", "")
	skip.Set("reason", " ")
	refused := p.Post(path+"/skip", skip).Is(http.StatusUnprocessableEntity).Says("#blocks .field-error", "must say why")
	if refused.Doc.Find("#blocks details[open]").Length() != 1 {
		t.Error("the form with the fault is closed")
	}
	skip.Set("reason", "Ticket <4711>\u202e")
	p.Post(path+"/skip", skip).Redirects(path)
	p.Get(path).Says(".flash", "Skipped").Says("#skips tbody", "approval.requested", "Ticket <4711>⟨U+202E⟩", "by admin@example.com", "Refused with 503")
	p.Get("/audit/all").Says("main", "webhook skipped")
	p.Post(path+"/skip", skip).Is(http.StatusConflict).Says(".flash", "does not block anything")

	to.Answers(t, secret, http.StatusNoContent)
	p.Post(path+"/retry", nil).Redirects(path)
	p.Comes(path, "#blocks", "None. When an event is refused").Says("#webhook-state", "active")
	p.Comes(path, "#answers tbody", "approval.approved")
	if came := to.Accepted(); slices.Contains(came, "approval.requested") || !slices.Contains(came, "approval.approved") || len(to.Bad) > 0 {
		t.Errorf("accepted %v, not verified %q", came, to.Bad)
	}
}

func TestATestOfAnEndpointShowsItsAnswer(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p, to := w.SignIn(webtest.AdminEmail), w.Program()
	p.AllowHost(to.Host())
	path, secret := endpoint(p, "Copy", to.URL, nil)
	to.Answers(t, secret, http.StatusTeapot)
	p.Post(path+"/test", nil).Is(http.StatusOK).Says("#webhook-test", "Test failed.", "418", "no <b>room</b>")
	p.Get(path).Says("#answers tbody", models.WebhookTest, "418")
	p.Post(path+"/test", nil).Is(http.StatusTooManyRequests).Says(".flash", "a moment ago")
	w.Clock.Step(11 * time.Second)
	to.Answers(t, secret, http.StatusNoContent)
	p.Post(path+"/test", nil).Is(http.StatusOK).Says("#webhook-test", "Accepted with 204")

	w.Clock.Step(11 * time.Second)
	p.Post("/system/notifications/hosts/remove", url.Values{"host": {to.Host()}}).Redirects("/system/notifications")
	p.Post(path+"/test", nil).Is(http.StatusOK).Says("#webhook-test", "is not allowed")
	if came := to.Accepted(); !slices.Equal(came, []string{models.WebhookTest}) {
		t.Errorf("accepted %v", came)
	}
}
