package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// allowSink has an admin allow the host of a service, by form.
func (w *world) allowSink(s *sink) {
	w.tb.Helper()
	admin := w.signedIn(adminEmail)
	admin.allowHost(s.Listener.Addr().String())
	admin.get("/system/notifications").says("main", s.Listener.Addr().String())
}

// The keys of a browser.
const (
	goodKey  = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
	goodAuth = "BTBZMqHH6r4Tts7J_aSIgg"
)

func TestAWebhookIsAddedVerifiedTriedAndRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, p := w.sink(), w.signedIn(ownerEmail)
	const own = "/account/notifications"
	page := p.get(own).is(http.StatusOK).says("#add-webhook", "no host is allowed yet").says("#channels", "No channels yet")
	address := s.URL + "/hook/s3cret-path?key=s3cret-key"
	asked := url.Values{"kind": {"webhook"}, "url": {address}, "label": {"Pager"}}
	if page.doc.Find("#add-webhook form").Length() != 0 {
		t.Error("there is a form for what can't work")
	}
	p.post(own+"/channels", asked).is(http.StatusConflict).says("#channels", "no host is allowed yet")
	w.allowSink(s)

	bad := url.Values{"kind": {"webhook"}, "url": {"ftp://" + strings.TrimPrefix(address, "https://")}, "label": {"Pager"}}
	wrong := p.post(own+"/channels", bad).is(http.StatusUnprocessableEntity).says("#webhook-url-error", "must begin with https://")
	if wrong.value("#webhook-label") != "Pager" || wrong.value("#webhook-url") != bad.Get("url") || wrong.header.Get("Content-Encoding") != "" {
		t.Error("what was typed is lost, or a secret is compressed with what others wrote")
	}
	if strings.Contains(p.get(own).body, "s3cret") {
		t.Error("a secret is shown to who did not just type it")
	}
	if _, open := wrong.doc.Find("#add-webhook").Attr("open"); !open {
		t.Error("the form with the fault is closed")
	}

	for _, elsewhere := range []string{"https://hooks.example.com/x", "https://127.0.0.1/x", "https://127.0.0.1.nip.example/x", "http://169.254.169.254/latest", "https://[::ffff:127.0.0.1]/x"} {
		bad.Set("url", elsewhere)
		p.post(own+"/channels", bad).is(http.StatusUnprocessableEntity).says("#webhook-url-error", "not on the list of allowed hosts").says("#channels", "No channels yet")
	}
	push := url.Values{"kind": {"web_push"}, "endpoint": {"https://10.0.0.1/x"}, "p256dh": {goodKey}, "auth": {goodAuth}}
	p.post(own+"/channels", push).is(http.StatusUnprocessableEntity).says("#channels", "No channels yet")

	added := p.post(own+"/channels", asked).is(http.StatusOK).says("#channels", "Pager (127.0.0.1", "not verified")
	secret := added.text("#channel-secret")
	if !strings.HasPrefix(secret, "whsec_") || added.header.Get("Content-Encoding") != "" {
		t.Errorf("the secret is %q, in an answer of %q", secret, added.header.Get("Content-Encoding"))
	}
	w.sendsDue()
	page = p.get(own).is(http.StatusOK)
	if strings.Contains(page.body, secret) || strings.Contains(page.body, "s3cret") {
		t.Error("a secret is shown again")
	}
	verify := page.doc.Find("form[action$='/verify']").AttrOr("action", "")
	channel := strings.TrimSuffix(verify, "/verify")
	p.post(channel+"/test", nil).is(http.StatusConflict).says("#channels", "Verify this channel first")
	p.post(verify, url.Values{"code": {"no"}}).is(http.StatusUnprocessableEntity).says("#channels .field-error", "is not the one that was sent")
	code := s.code(t)
	p.post(verify, url.Values{"code": {" " + code[:3] + " " + code[3:] + " "}}).redirects(own)
	p.get(own).says(".flash", "Verified").says("#channels tbody", "verified", "Send a test").saysNot("#channels tbody", "not verified")

	w.clock.Step(time.Minute)
	p.post(channel+"/test", nil).is(http.StatusOK).says("#channel-test", "Test sent. The service answered 200.").saysNot("#channel-test", "taken")
	p.post(channel+"/test", nil).is(http.StatusTooManyRequests).says("#channels", "Try again in a few seconds")
	w.clock.Step(time.Minute)
	s.mu.Lock()
	s.status, s.says = http.StatusForbidden, "<b>no\u202E"
	s.mu.Unlock()
	p.post(channel+"/test", nil).is(http.StatusOK).says("#channel-test", "Test not sent. The service refused the message (403).").saysNot("#channel-test", "no⟨U+202E⟩")

	p.post(channel+"/remove", nil).redirects(own)
	p.get(own).says(".flash", "Removed").says("#channels", "No channels yet")
	p.post(channel+"/remove", nil).is(http.StatusNotFound)
}

func TestAnAdminReadsWhatAServiceAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, p := w.sink(), w.signedIn(adminEmail)
	w.allowSink(s)
	p.post("/account/notifications/channels", url.Values{"kind": {"webhook"}, "url": {s.URL + "/x"}}).is(http.StatusOK)
	w.sendsDue()
	verify := p.get("/account/notifications").doc.Find("form[action$='/verify']").AttrOr("action", "")
	p.post(verify, url.Values{"code": {s.code(t)}}).redirects("/account/notifications")
	s.mu.Lock()
	s.status, s.says = http.StatusForbidden, "<b>no\u202E"
	s.mu.Unlock()
	got := p.post(strings.TrimSuffix(verify, "verify")+"test", nil).is(http.StatusOK).says("#channel-test pre", "<b>no⟨U+202E⟩")
	if got.doc.Find("#channel-test b").Length() != 0 {
		t.Error("the answer is markup")
	}
}

func TestAnEMailAddressIsVerifiedAndTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	const own = "/account/notifications"
	form := p.get(own).form("#add-email form", "")
	form.Set("address", "owner@@home")
	wrong := p.post(own+"/channels", form).is(http.StatusUnprocessableEntity)
	if wrong.value("#email-address") != "owner@@home" || wrong.text("#email-address-error") == "" {
		t.Error("what was typed is lost, or nothing is said of it")
	}
	form.Set("address", "owner@home.example")
	p.post(own+"/channels", form).redirects(own)
	verify := p.get(own).says(".flash", "A code is on its way").doc.Find("form[action$='/verify']").AttrOr("action", "")
	p.post(own+"/channels", form).is(http.StatusConflict).says("#channels", "already a channel to this address")
	again := p.get(own).doc.Find("button[formaction]").AttrOr("formaction", "")
	w.sendsDue()
	first := w.mails.last(t).Code
	for range 2 {
		p.post(again, nil).redirects(own)
	}
	refused := p.post(again, nil).is(http.StatusTooManyRequests).says("#channels", "which is the limit")
	if refused.header.Get("Retry-After") == "" {
		t.Error("it does not say when to try again")
	}
	w.clock.Step(2 * time.Minute)
	w.sendsDue()
	if code := w.mails.last(t).Code; code == first {
		t.Error("the code is the one before") // one in a million
	}
	p.post(verify, url.Values{"code": {w.mails.last(t).Code}}).redirects(own)

	w.clock.Step(2 * time.Minute)
	a := w.ask()
	w.sendsDue()
	if told := w.mails.last(t); told.Kind != models.NoticeWaiting || told.Request != a.ID || told.Headline != "" {
		t.Errorf("told %+v", told)
	}
}

// What belongs to another is not there, by whatever address it is asked for.
func TestNobodyChangesTheChannelOfAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner, stranger, admin := w.signedIn(ownerEmail), w.signedIn(strangerEmail), w.signedIn(adminEmail)
	owner.post("/account/notifications/channels", url.Values{"kind": {"email"}, "address": {"a@b.example"}}).redirects("/account/notifications")
	verify := owner.get("/account/notifications").doc.Find("form[action$='/verify']").AttrOr("action", "")
	w.sendsDue()
	id := strings.TrimSuffix(strings.TrimPrefix(verify, "/account/notifications/channels/"), "/verify")
	admin.post("/people/groups", url.Values{"name": {"finance"}}).redirects("/people/groups/finance")
	for _, what := range []string{"verify", "code", "test", "remove"} {
		form := url.Values{"code": {w.mails.last(t).Code}}
		stranger.post("/account/notifications/channels/"+id+"/"+what, form).is(http.StatusNotFound)
		admin.post("/account/notifications/channels/"+id+"/"+what, form).is(http.StatusNotFound)
		admin.post("/people/groups/finance/channels/"+id+"/"+what, form).is(http.StatusNotFound)
		owner.post("/people/groups/finance/channels/"+id+"/"+what, form).is(http.StatusForbidden)
	}
	owner.get("/account/notifications").says("#channels", "a@b.example", "not verified")
}

func TestAGroupHasChannels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.signedIn(adminEmail)
	admin.post("/people/groups", url.Values{"name": {"finance"}}).redirects("/people/groups/finance")
	const group = "/people/groups/finance"
	page := admin.get(group).is(http.StatusOK).says("#channels", "No channels yet")
	if page.doc.Find("#add-web_push").Length() != 0 {
		t.Error("a group is offered a browser")
	}
	admin.post(group+"/channels", url.Values{"kind": {"web_push"}, "endpoint": {"https://fcm.googleapis.com/x"}}).is(http.StatusUnprocessableEntity)
	form := page.form("#add-email form", "")
	form.Set("address", "finance@example.com")
	admin.post(group+"/channels", form).redirects(group)
	w.sendsDue()
	verify := admin.get(group).says("#channels", "finance@example.com", "not verified").doc.Find("form[action$='/verify']").AttrOr("action", "")
	if !strings.HasPrefix(verify, group) {
		t.Fatalf("the code goes to %q", verify)
	}
	admin.post(verify, url.Values{"code": {w.mails.last(t).Code}}).redirects(group)
	admin.get(group).saysNot("#channels tbody", "not verified")
	admin.get("/account/notifications").says("#channels", "No channels yet")
}

func TestWhenSomebodyIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	const own = "/account/notifications"
	form := p.get(own).form("#notification-settings", "")
	if form.Get("at_once_high") != "true" || form.Get("unseen_minutes_low") != "2" || form.Get("zone") != "UTC" {
		t.Errorf("it begins with %v", form)
	}
	for field, value := range map[string]string{"unseen_minutes_low": "soon", "digest_at": "7.30", "quiet_from": "22:00", "quiet_to": "", "zone": "Vienna"} {
		form.Set(field, value)
	}
	form.Del("at_once_high")
	wrong := p.post(own, form).is(http.StatusUnprocessableEntity)
	for field, value := range map[string]string{"#unseen_minutes_low": "soon", "#digest_at": "7.30", "#quiet_from": "22:00", "#zone": "Vienna"} {
		if got := wrong.value(field); got != value {
			t.Errorf("%s holds %q, want %q", field, got, value)
		}
	}
	wrong.says("#unseen_minutes_low-error", "1 to 1440").says("#digest_at-error", "time of day").says("#zone-error", "time zone").says("#quiet_to-error", "together")
	for field, value := range map[string]string{"unseen_minutes_low": "0", "digest_at": "07:30", "quiet_to": "06:00", "zone": "Europe/Vienna"} {
		form.Set(field, value)
	}
	p.post(own, form).is(http.StatusUnprocessableEntity).says("#unseen_minutes_low-error", "1 to 1440")
	form.Set("unseen_minutes_low", "15")
	form.Del("critical")
	p.post(own, form).redirects(own)
	saved := p.get(own).says(".flash", "Saved").form("#notification-settings", "")
	if saved.Encode() != form.Encode() {
		t.Errorf("it keeps\n%s, want\n%s", saved.Encode(), form.Encode())
	}
	if other := w.signedIn(strangerEmail).get(own).form("#notification-settings", ""); other.Get("zone") != "UTC" {
		t.Error("another person has these settings")
	}
}

func TestHostsAreAllowedByForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.signedIn(adminEmail)
	const system = "/system/notifications"
	form := admin.get(system).is(http.StatusOK).says("main", "from countersign@example.org", "None yet").form("form:has(#allow-host)", "")
	form.Set("host", "https://hooks.slack.com/x")
	wrong := admin.post(system+"/hosts", form).is(http.StatusUnprocessableEntity).says("#host-error", "must be a host")
	if wrong.value("#host") != "https://hooks.slack.com/x" {
		t.Error("what was typed is lost")
	}
	form.Set("host", " Hooks.Slack.com ")
	admin.post(system+"/hosts", form).redirects(system)
	page := admin.get(system).says(".flash", "Allowed").says("tbody", "hooks.slack.com")
	remove := page.form("tbody form", "")
	for range 2 { // somebody else may have done it
		admin.post(system+"/hosts/remove", remove).redirects(system)
	}
	admin.get(system).says("main", "None yet")
	admin.get("/system").says("main", "No channel fails")
}

// Who says that they look at a request need be able to see it, and nothing of theirs is told.
func TestLookingAtARequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask()
	look := "/approvals/" + string(a.ID) + "/look"
	w.signedIn(strangerEmail).post(look, nil).is(http.StatusNotFound)
	owner := w.signedIn(ownerEmail)
	owner.get(look).redirects("/approvals/" + string(a.ID))
	owner.post("/account/notifications/channels", url.Values{"kind": {"email"}, "address": {"a@b.example"}}).redirects("/account/notifications")
	w.sendsDue()
	verify := owner.get("/account/notifications").doc.Find("form[action$='/verify']").AttrOr("action", "")
	owner.post(verify, url.Values{"code": {w.mails.last(t).Code}}).redirects("/account/notifications")
	w.clock.Step(2 * time.Minute)

	seen, unseen := w.ask(), w.ask()
	owner.post("/approvals/"+string(seen.ID)+"/look", nil).is(http.StatusNoContent)
	w.sendsDue()
	w.clock.Step(models.ActiveFor)
	w.sendsDue()
	if told := w.mails.last(t); told.Request != unseen.ID {
		t.Errorf("told of %s, which is %s, and looked at is %s", told.Request, told.Kind, seen.ID)
	}
}

// No link decides: whoever opens what a message names, or what it could be made into, changes
// nothing but that they have seen it, and who is not signed in is asked to (I4).
func TestNoLinkDecidesI4(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner := w.signedIn(ownerEmail)
	owner.post("/account/notifications/channels", url.Values{"kind": {"email"}, "address": {"a@b.example"}}).redirects("/account/notifications")
	w.sendsDue()
	verify := owner.get("/account/notifications").doc.Find("form[action$='/verify']").AttrOr("action", "")
	owner.post(verify, url.Values{"code": {w.mails.last(t).Code}}).redirects("/account/notifications")
	w.clock.Step(2 * time.Minute)
	a := w.ask()
	w.sendsDue()
	told := w.mails.last(t)
	at, ours := strings.CutPrefix(told.URL, w.url)
	if told.Request != a.ID || !ours || strings.Contains(at, "?") {
		t.Fatalf("told %+v", told)
	}
	since := storetest.LedgerAt(t, w.store)
	with := "?verdict=approve&decision=approve&approved=true&digest=" + url.QueryEscape(a.Digest)
	for _, path := range []string{at, at + with, at + "/decide" + with, at + "/look" + with, verify + "?code=" + told.Code, strings.TrimSuffix(verify, "verify") + "remove", strings.TrimSuffix(verify, "verify") + "test"} {
		owner.get(path)
		w.visitor().get(path)
	}
	if got := storetest.ActionsSince(t, w.store, since); len(got) != 0 {
		t.Errorf("links did %v", got)
	}
	if got := w.stands(a.ID); got.Status() != models.StatusPending {
		t.Errorf("it is %s", got.Status())
	}
	w.visitor().get(at).saysNot("body", "deployer")
}
