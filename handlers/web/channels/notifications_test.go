package channels_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models"
	"countersign/models/storetest"
)

// The keys of a browser.
const (
	goodKey  = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
	goodAuth = "BTBZMqHH6r4Tts7J_aSIgg"
)

func TestAWebhookIsAddedVerifiedTriedAndRemoved(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	s, p := w.Sink(), w.SignIn(webtest.OwnerEmail)
	const own = "/account/notifications"
	page := p.Get(own).Is(http.StatusOK).Says("#add-webhook", "no host is allowed yet").Says("#channels", "No channels yet")
	address := s.URL + "/hook/s3cret-path?key=s3cret-key"
	asked := url.Values{"kind": {"webhook"}, "url": {address}, "label": {"Pager"}}
	if page.Doc.Find("#add-webhook form").Length() != 0 {
		t.Error("there is a form for what can't work")
	}
	p.Post(own+"/channels", asked).Is(http.StatusConflict).Says("#channels", "no host is allowed yet")
	w.AllowSink(s)

	bad := url.Values{"kind": {"webhook"}, "url": {"ftp://" + strings.TrimPrefix(address, "https://")}, "label": {"Pager"}}
	wrong := p.Post(own+"/channels", bad).Is(http.StatusUnprocessableEntity).Says("#webhook-url-error", "must begin with https://")
	if wrong.Value("#webhook-label") != "Pager" || wrong.Value("#webhook-url") != bad.Get("url") || wrong.Header.Get("Content-Encoding") != "" {
		t.Error("what was typed is lost, or a secret is compressed with what others wrote")
	}
	if strings.Contains(p.Get(own).Body, "s3cret") {
		t.Error("a secret is shown to who did not just type it")
	}
	if _, open := wrong.Doc.Find("#add-webhook").Attr("open"); !open {
		t.Error("the form with the fault is closed")
	}

	for _, elsewhere := range []string{"https://hooks.example.com/x", "https://127.0.0.1/x", "https://127.0.0.1.nip.example/x", "http://169.254.169.254/latest", "https://[::ffff:127.0.0.1]/x"} {
		bad.Set("url", elsewhere)
		p.Post(own+"/channels", bad).Is(http.StatusUnprocessableEntity).Says("#webhook-url-error", "not on the list of allowed hosts").Says("#channels", "No channels yet")
	}
	push := url.Values{"kind": {"web_push"}, "endpoint": {"https://10.0.0.1/x"}, "p256dh": {goodKey}, "auth": {goodAuth}}
	p.Post(own+"/channels", push).Is(http.StatusUnprocessableEntity).Says("#channels", "No channels yet")

	added := p.Post(own+"/channels", asked).Is(http.StatusOK).Says("#channels", "Pager (127.0.0.1", "not verified")
	secret := added.Text("#channel-secret")
	if !strings.HasPrefix(secret, "whsec_") || added.Header.Get("Content-Encoding") != "" {
		t.Errorf("the secret is %q, in an answer of %q", secret, added.Header.Get("Content-Encoding"))
	}
	w.SendsDue()
	page = p.Get(own).Is(http.StatusOK)
	if strings.Contains(page.Body, secret) || strings.Contains(page.Body, "s3cret") {
		t.Error("a secret is shown again")
	}
	verify := page.Doc.Find("form[action$='/verify']").AttrOr("action", "")
	channel := strings.TrimSuffix(verify, "/verify")
	p.Post(channel+"/test", nil).Is(http.StatusConflict).Says("#channels", "Verify this channel first")
	p.Post(verify, url.Values{"code": {"no"}}).Is(http.StatusUnprocessableEntity).Says("#channels .field-error", "is not the one that was sent")
	code := s.Code(t)
	p.Post(verify, url.Values{"code": {" " + code[:3] + " " + code[3:] + " "}}).Redirects(own)
	p.Get(own).Says(".flash", "Verified").Says("#channels tbody", "verified", "Send a test").SaysNot("#channels tbody", "not verified")

	w.Clock.Step(time.Minute)
	p.Post(channel+"/test", nil).Is(http.StatusOK).Says("#channel-test", "Test sent. The service answered 200.").SaysNot("#channel-test", "taken")
	p.Post(channel+"/test", nil).Is(http.StatusTooManyRequests).Says("#channels", "Try again in a few seconds")
	w.Clock.Step(time.Minute)
	s.Mu.Lock()
	s.Status, s.Says = http.StatusForbidden, "<b>no\u202E"
	s.Mu.Unlock()
	p.Post(channel+"/test", nil).Is(http.StatusOK).Says("#channel-test", "Test not sent. The service refused the message (403).").SaysNot("#channel-test", "no⟨U+202E⟩")

	p.Post(channel+"/remove", nil).Redirects(own)
	p.Get(own).Says(".flash", "Removed").Says("#channels", "No channels yet")
	p.Post(channel+"/remove", nil).Is(http.StatusNotFound)
}

func TestAnAdminReadsWhatAServiceAnswered(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	s, p := w.Sink(), w.SignIn(webtest.AdminEmail)
	w.AllowSink(s)
	p.Post("/account/notifications/channels", url.Values{"kind": {"webhook"}, "url": {s.URL + "/x"}}).Is(http.StatusOK)
	w.SendsDue()
	verify := p.Get("/account/notifications").Doc.Find("form[action$='/verify']").AttrOr("action", "")
	p.Post(verify, url.Values{"code": {s.Code(t)}}).Redirects("/account/notifications")
	s.Mu.Lock()
	s.Status, s.Says = http.StatusForbidden, "<b>no\u202E"
	s.Mu.Unlock()
	got := p.Post(strings.TrimSuffix(verify, "verify")+"test", nil).Is(http.StatusOK).Says("#channel-test pre", "<b>no⟨U+202E⟩")
	if got.Doc.Find("#channel-test b").Length() != 0 {
		t.Error("the answer is markup")
	}
}

func TestAnEMailAddressIsVerifiedAndTold(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	const own = "/account/notifications"
	form := p.Get(own).Form("#add-email form", "")
	form.Set("address", "owner@@home")
	wrong := p.Post(own+"/channels", form).Is(http.StatusUnprocessableEntity)
	if wrong.Value("#email-address") != "owner@@home" || wrong.Text("#email-address-error") == "" {
		t.Error("what was typed is lost, or nothing is said of it")
	}
	form.Set("address", "owner@home.example")
	p.Post(own+"/channels", form).Redirects(own)
	verify := p.Get(own).Says(".flash", "A code is on its way").Doc.Find("form[action$='/verify']").AttrOr("action", "")
	p.Post(own+"/channels", form).Is(http.StatusConflict).Says("#channels", "already a channel to this address")
	again := p.Get(own).Doc.Find("button[formaction]").AttrOr("formaction", "")
	w.SendsDue()
	first := w.Mails.Last(t).Code
	for range 2 {
		p.Post(again, nil).Redirects(own)
	}
	refused := p.Post(again, nil).Is(http.StatusTooManyRequests).Says("#channels", "which is the limit")
	if refused.Header.Get("Retry-After") == "" {
		t.Error("it does not say when to try again")
	}
	w.Clock.Step(2 * time.Minute)
	w.SendsDue()
	if code := w.Mails.Last(t).Code; code == first {
		t.Error("the code is the one before") // one in a million
	}
	p.Post(verify, url.Values{"code": {w.Mails.Last(t).Code}}).Redirects(own)

	w.Clock.Step(2 * time.Minute)
	a := w.Ask()
	w.SendsDue()
	if told := w.Mails.Last(t); told.Kind != models.NoticeWaiting || told.Request != a.ID || told.Headline != "" {
		t.Errorf("told %+v", told)
	}
}

// What belongs to another is not there, by whatever address it is asked for.
func TestNobodyChangesTheChannelOfAnother(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	owner, stranger, admin := w.SignIn(webtest.OwnerEmail), w.SignIn(webtest.StrangerEmail), w.SignIn(webtest.AdminEmail)
	owner.Post("/account/notifications/channels", url.Values{"kind": {"email"}, "address": {"a@b.example"}}).Redirects("/account/notifications")
	verify := owner.Get("/account/notifications").Doc.Find("form[action$='/verify']").AttrOr("action", "")
	w.SendsDue()
	id := strings.TrimSuffix(strings.TrimPrefix(verify, "/account/notifications/channels/"), "/verify")
	admin.Post("/people/groups", url.Values{"name": {"finance"}}).Redirects("/people/groups/finance")
	for _, what := range []string{"verify", "code", "test", "remove"} {
		form := url.Values{"code": {w.Mails.Last(t).Code}}
		stranger.Post("/account/notifications/channels/"+id+"/"+what, form).Is(http.StatusNotFound)
		admin.Post("/account/notifications/channels/"+id+"/"+what, form).Is(http.StatusNotFound)
		admin.Post("/people/groups/finance/channels/"+id+"/"+what, form).Is(http.StatusNotFound)
		owner.Post("/people/groups/finance/channels/"+id+"/"+what, form).Is(http.StatusForbidden)
	}
	owner.Get("/account/notifications").Says("#channels", "a@b.example", "not verified")
}

func TestAGroupHasChannels(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	admin := w.SignIn(webtest.AdminEmail)
	admin.Post("/people/groups", url.Values{"name": {"finance"}}).Redirects("/people/groups/finance")
	const group = "/people/groups/finance"
	page := admin.Get(group).Is(http.StatusOK).Says("#channels", "No channels yet")
	if page.Doc.Find("#add-web_push").Length() != 0 {
		t.Error("a group is offered a browser")
	}
	admin.Post(group+"/channels", url.Values{"kind": {"web_push"}, "endpoint": {"https://fcm.googleapis.com/x"}}).Is(http.StatusUnprocessableEntity)
	form := page.Form("#add-email form", "")
	form.Set("address", "finance@example.com")
	admin.Post(group+"/channels", form).Redirects(group)
	w.SendsDue()
	verify := admin.Get(group).Says("#channels", "finance@example.com", "not verified").Doc.Find("form[action$='/verify']").AttrOr("action", "")
	if !strings.HasPrefix(verify, group) {
		t.Fatalf("the code goes to %q", verify)
	}
	admin.Post(verify, url.Values{"code": {w.Mails.Last(t).Code}}).Redirects(group)
	admin.Get(group).SaysNot("#channels tbody", "not verified")
	admin.Get("/account/notifications").Says("#channels", "No channels yet")
}

func TestWhenSomebodyIsTold(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	const own = "/account/notifications"
	form := p.Get(own).Form("#notification-settings", "")
	if form.Get("moments_high") != "at_once+half+tenth" || form.Get("moments_low") != "unseen-2" || form.Get("zone") != "UTC" {
		t.Errorf("it begins with %v", form)
	}
	for field, value := range map[string]string{"moments_low": "soon", "moments_high": "half", "digest_at": "7.30", "quiet_from": "22:00", "quiet_to": "", "zone": "Vienna"} {
		form.Set(field, value)
	}
	wrong := p.Post(own, form).Is(http.StatusUnprocessableEntity)
	for field, value := range map[string]string{"#digest_at": "7.30", "#quiet_from": "22:00", "#zone": "Vienna"} {
		if got := wrong.Value(field); got != value {
			t.Errorf("%s holds %q, want %q", field, got, value)
		}
	}
	if got := wrong.Form("#notification-settings", ""); got.Get("moments_high") != "half" || got.Get("moments_low") != "" {
		t.Errorf("what was chosen is lost: %v", got)
	}
	wrong.Says("#moments_low-error", "one of the choices").Says("#digest_at-error", "time of day").Says("#zone-error", "time zone").Says("#quiet_to-error", "together")
	for field, value := range map[string]string{"moments_low": "unseen-1441", "digest_at": "07:30", "quiet_to": "06:00", "zone": "Europe/Vienna"} {
		form.Set(field, value)
	}
	p.Post(own, form).Is(http.StatusUnprocessableEntity).Says("#moments_low-error", "at most 1440")
	// What the list doesn't offer stays as it is set.
	form.Set("moments_low", "at_once+unseen-7+half")
	form.Del("critical")
	p.Post(own, form).Redirects(own)
	saved := p.Get(own).Says(".flash", "Saved").Form("#notification-settings", "")
	if saved.Encode() != form.Encode() {
		t.Errorf("it keeps\n%s, want\n%s", saved.Encode(), form.Encode())
	}
	p.Get(own).Says("#moments_low", "as set: at once, and if you haven't looked at it after 7 minutes, and when half of its time is left")
	if other := w.SignIn(webtest.StrangerEmail).Get(own).Form("#notification-settings", ""); other.Get("zone") != "UTC" {
		t.Error("another person has these settings")
	}
}

func TestHostsAreAllowedByForm(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	admin := w.SignIn(webtest.AdminEmail)
	const system = "/system/notifications"
	form := admin.Get(system).Is(http.StatusOK).Says("main", "from countersign@example.org", "None yet").Form("form:has(#allow-host)", "")
	form.Set("host", "https://hooks.slack.com/x")
	wrong := admin.Post(system+"/hosts", form).Is(http.StatusUnprocessableEntity).Says("#host-error", "must be a host")
	if wrong.Value("#host") != "https://hooks.slack.com/x" {
		t.Error("what was typed is lost")
	}
	form.Set("host", " Hooks.Slack.com ")
	admin.Post(system+"/hosts", form).Redirects(system)
	page := admin.Get(system).Says(".flash", "Allowed").Says("tbody", "hooks.slack.com")
	remove := page.Form("tbody form", "")
	for range 2 { // somebody else may have done it
		admin.Post(system+"/hosts/remove", remove).Redirects(system)
	}
	admin.Get(system).Says("main", "None yet")
	admin.Get("/system").Says("main", "All channels work")
}

// No link decides: whoever opens what a message names, or what it could be made into, changes
// nothing but that they have seen it, and who is not signed in is asked to (I4).
func TestNoLinkDecidesI4(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	owner := w.SignIn(webtest.OwnerEmail)
	owner.Post("/account/notifications/channels", url.Values{"kind": {"email"}, "address": {"a@b.example"}}).Redirects("/account/notifications")
	w.SendsDue()
	verify := owner.Get("/account/notifications").Doc.Find("form[action$='/verify']").AttrOr("action", "")
	owner.Post(verify, url.Values{"code": {w.Mails.Last(t).Code}}).Redirects("/account/notifications")
	w.Clock.Step(2 * time.Minute)
	a := w.Ask()
	w.SendsDue()
	told := w.Mails.Last(t)
	at, ours := strings.CutPrefix(told.URL, w.URL)
	if told.Request != a.ID || !ours || strings.Contains(at, "?") {
		t.Fatalf("told %+v", told)
	}
	since := storetest.LedgerAt(t, w.Store)
	with := "?verdict=approve&decision=approve&approved=true&digest=" + url.QueryEscape(a.Digest)
	for _, path := range []string{at, at + with, at + "/decide" + with, at + "/look" + with, verify + "?code=" + told.Code, strings.TrimSuffix(verify, "verify") + "remove", strings.TrimSuffix(verify, "verify") + "test"} {
		owner.Get(path)
		w.Visitor().Get(path)
	}
	if got := storetest.ActionsSince(t, w.Store, since); len(got) != 0 {
		t.Errorf("links did %v", got)
	}
	if got := w.Approval(a.ID); got.Status() != models.StatusPending {
		t.Errorf("it is %s", got.Status())
	}
	w.Visitor().Get(at).SaysNot("body", "deployer")
}
