package web_test

import (
	"net/http"
	"net/url"
	"testing"
)

// A host that is not allowed is allowed where it was typed, by admins: nothing is typed
// twice, and the form is there before any host is allowed.
func TestAHostIsAllowedWhereItIsTyped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.sink()
	admin, owner := w.signedIn(adminEmail), w.signedIn(ownerEmail)
	host := s.Listener.Addr().String()
	asked := url.Values{"kind": {"webhook"}, "url": {s.URL + "/hook"}, "label": {"Pager"}}
	const own = "/account/notifications"
	admin.get(own).is(http.StatusOK).says("#add-webhook form", "Where the JSON is sent")

	refused := admin.post(own+"/channels", asked).is(http.StatusUnprocessableEntity).says("#webhook-url-error", "not on the list of allowed hosts")
	form := refused.form("#add-webhook form", "")
	allow := refused.doc.Find("#add-webhook button[name=allow_host]")
	if form.Get("url") != asked.Get("url") || allow.AttrOr("value", "") != host {
		t.Fatalf("the form holds %v and offers %q", form, allow.AttrOr("value", ""))
	}

	// Others can't, whatever they send; nor does it allow another host than the one typed.
	form.Set("allow_host", "evil.example.com")
	admin.post(own+"/channels", form).is(http.StatusUnprocessableEntity)
	form.Set("allow_host", host)
	owner.post(own+"/channels", form).is(http.StatusForbidden)
	if hosts, err := w.store.People.AllowedHosts(t.Context(), w.admin); err != nil || len(hosts) != 0 {
		t.Fatalf("allowed: %v, %v", hosts, err)
	}
	admin.post(own+"/channels", form).is(http.StatusOK).says("#channels", "Pager", "not verified")
	if got := owner.post(own+"/channels", url.Values{"kind": {"webhook"}, "url": {"https://hooks.example.com/x"}}).is(http.StatusUnprocessableEntity); got.doc.Find("[name=allow_host]").Length() != 0 {
		t.Error("somebody who is no admin is offered to allow a host")
	}

	// What allowing would not mend is not offered.
	for _, address := range []string{"http://hooks.example.com/x", "https://me:secret@hooks.example.com/", "https://h_ks.example.com/"} {
		asked.Set("url", address)
		if got := admin.post(own+"/channels", asked).is(http.StatusUnprocessableEntity); got.doc.Find("[name=allow_host]").Length() != 0 {
			t.Errorf("%s: a host is offered to be allowed in vain", address)
		}
	}
}
