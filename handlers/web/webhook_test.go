package web_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
)

// What an endpoint refuses is on its page: the conversation that waits, each answer with its
// body, and what an admin gave up, with the reason.
func TestWhatAnEndpointRefusesIsShownTriedAndSkipped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, to := w.signedIn(adminEmail), w.program()
	p.allowHost(to.host())
	path, secret := p.endpoint("Copy", to.URL+"/hook", url.Values{"events": {"chosen"}, "families": {"approval"}})
	to.answers(t, secret, http.StatusServiceUnavailable)
	w.sendsEvents()
	a := w.ask()
	w.approves(a)

	p.comes(path, "#blocks tbody", "approval.requested") // the worker may write between two parts of a page: load it again
	page := p.get(path).says("#blocks tbody", "conversation", "Refused with 503").says("#webhook-state", "refusing", "1 conversation waits", "what was refused")
	page.says("#answers tbody", "approval.requested", "refused", "no <b>room</b>")
	if strings.Contains(page.body, "<b>room") {
		t.Error("an answer's body is markup")
	}
	p.get("/system/webhooks").says("tbody", "refusing", "Refused with 503")
	p.get("/system").says("main", "Endpoints that refuse events: 1")

	skip := page.form("#blocks tbody form", "")
	skip.Set("reason", " ")
	refused := p.post(path+"/skip", skip).is(http.StatusUnprocessableEntity).says("#blocks .field-error", "must say why")
	if refused.doc.Find("#blocks details[open]").Length() != 1 {
		t.Error("the form with the fault is closed")
	}
	skip.Set("reason", "Ticket <4711>\u202e")
	p.post(path+"/skip", skip).redirects(path)
	p.get(path).says(".flash", "Skipped").says("#skips tbody", "approval.requested", "Ticket <4711>⟨U+202E⟩", "by admin@example.com", "Refused with 503")
	p.get("/audit/all").says("main", "webhook skipped")
	p.post(path+"/skip", skip).is(http.StatusConflict).says(".flash", "does not block anything")

	to.answers(t, secret, http.StatusNoContent)
	p.post(path+"/retry", nil).redirects(path)
	p.comes(path, "#blocks", "None. When an event is refused").says("#webhook-state", "active")
	p.comes(path, "#answers tbody", "approval.approved")
	if came := to.accepted(); slices.Contains(came, "approval.requested") || !slices.Contains(came, "approval.approved") || len(to.bad) > 0 {
		t.Errorf("accepted %v, not verified %q", came, to.bad)
	}
}

func TestATestOfAnEndpointShowsItsAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, to := w.signedIn(adminEmail), w.program()
	p.allowHost(to.host())
	path, secret := p.endpoint("Copy", to.URL, nil)
	to.answers(t, secret, http.StatusTeapot)
	p.post(path+"/test", nil).is(http.StatusOK).says("#webhook-test", "Test failed.", "418", "no <b>room</b>")
	p.get(path).says("#answers tbody", models.WebhookTest, "418")
	p.post(path+"/test", nil).is(http.StatusTooManyRequests).says(".flash", "a moment ago")
	w.clock.Step(11 * time.Second)
	to.answers(t, secret, http.StatusNoContent)
	p.post(path+"/test", nil).is(http.StatusOK).says("#webhook-test", "Accepted with 204")

	w.clock.Step(11 * time.Second)
	p.post("/system/notifications/hosts/remove", url.Values{"host": {to.host()}}).redirects("/system/notifications")
	p.post(path+"/test", nil).is(http.StatusOK).says("#webhook-test", "is not allowed")
	if came := to.accepted(); !slices.Equal(came, []string{models.WebhookTest}) {
		t.Errorf("accepted %v", came)
	}
}
