package channels_test

import (
	"net/http"
	"net/url"
	"testing"

	"countersign/handlers/web/webtest"
)

// A host that is not allowed is allowed where it was typed, by admins: nothing is typed
// twice, and the form is there before any host is allowed.
func TestAHostIsAllowedWhereItIsTyped(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	s := w.Sink()
	admin, owner := w.SignIn(webtest.AdminEmail), w.SignIn(webtest.OwnerEmail)
	host := s.Listener.Addr().String()
	asked := url.Values{"kind": {"webhook"}, "url": {s.URL + "/hook"}, "label": {"Pager"}}
	const own = "/account/notifications"
	admin.Get(own).Is(http.StatusOK).Says("#add-webhook form", "Where the JSON is sent")

	refused := admin.Post(own+"/channels", asked).Is(http.StatusUnprocessableEntity).Says("#webhook-url-error", "not on the list of allowed hosts")
	form := refused.Form("#add-webhook form", "")
	allow := refused.Doc.Find("#add-webhook button[name=allow_host]")
	if form.Get("url") != asked.Get("url") || allow.AttrOr("value", "") != host {
		t.Fatalf("the form holds %v and offers %q", form, allow.AttrOr("value", ""))
	}

	// Others can't, whatever they send; nor does it allow another host than the one typed.
	form.Set("allow_host", "evil.example.com")
	admin.Post(own+"/channels", form).Is(http.StatusUnprocessableEntity)
	form.Set("allow_host", host)
	owner.Post(own+"/channels", form).Is(http.StatusForbidden)
	if hosts, err := w.Store.People.AllowedHosts(t.Context(), w.Admin); err != nil || len(hosts) != 0 {
		t.Fatalf("allowed: %v, %v", hosts, err)
	}
	admin.Post(own+"/channels", form).Is(http.StatusOK).Says("#channels", "Pager", "not verified")
	if got := owner.Post(own+"/channels", url.Values{"kind": {"webhook"}, "url": {"https://hooks.example.com/x"}}).Is(http.StatusUnprocessableEntity); got.Doc.Find("[name=allow_host]").Length() != 0 {
		t.Error("somebody who is no admin is offered to allow a host")
	}

	// What allowing would not mend is not offered.
	for _, address := range []string{"http://hooks.example.com/x", "https://me:secret@hooks.example.com/", "https://h_ks.example.com/"} {
		asked.Set("url", address)
		if got := admin.Post(own+"/channels", asked).Is(http.StatusUnprocessableEntity); got.Doc.Find("[name=allow_host]").Length() != 0 {
			t.Errorf("%s: a host is offered to be allowed in vain", address)
		}
	}
}

// A channel whose host is not allowed says so, also before anything is sent there: admins allow it in place, others read
// who can. Nothing is offered there that would fail.
func TestAChannelOffersToAllowItsHost(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	s := w.Sink()
	w.AllowSink(s)
	admin, owner := w.SignIn(webtest.AdminEmail), w.SignIn(webtest.OwnerEmail)
	host := s.Listener.Addr().String()
	const own, hosts = "/account/notifications", "/system/notifications/hosts"
	added := url.Values{"kind": {"webhook"}, "url": {s.URL + "/hook"}, "label": {"Pager (evil.example)"}}
	for _, p := range []*webtest.Person{admin, owner} {
		p.Post(own+"/channels", added).Is(http.StatusOK).SaysNot("#channels tbody", "not allowed yet").Says("#channels tbody", "Send a new code")
	}
	admin.Post(hosts+"/remove", url.Values{"host": {host}}).Redirects("/system/notifications")
	read := owner.Get(own).Says(".barred", host+" is not allowed yet. An admin can allow it under System, Notifications.").SaysNot("#channels tbody", "Send a new code")
	if read.Doc.Find(".barred form").Length() != 0 {
		t.Error("a reviewer is offered to allow a host")
	}
	owner.Post(hosts, url.Values{"host": {host}, "back": {own}}).Is(http.StatusForbidden)
	form := admin.Get(own).Says(".barred", host+" is not allowed yet.", "Allow it").Form(".barred form", "")
	admin.Post(hosts, form).Redirects(own)
	admin.Get(own).Says(".flash", "Allowed").SaysNot("#channels tbody", "not allowed yet")
	form.Set("back", "https://evil.example")
	admin.Post(hosts, form).Redirects("/")
}
