package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/models"
	elsewhere "countersign/models/outside"
)

const upstreamKey = "hush-7f3a9c-secret"

func upstreamForm(change ...func(url.Values)) url.Values {
	form := url.Values{
		"name": {"night-shift"}, "base_url": {"https://approvals.example.com/v1"}, "dialect": {"plain"}, "key": {upstreamKey}, "owner": {ownerEmail},
	}
	for _, c := range change {
		c(form)
	}
	return form
}

func TestAnAdminAddsAnUpstreamAndItsKeyIsNotShownAfterwards(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.signedIn(adminEmail)
	empty := admin.get("/upstreams").is(http.StatusOK).says("#upstreams", "No upstreams yet")
	if got := empty.value("#upstream-owner"); got != adminEmail {
		t.Errorf("the owner is %q before anybody says so", got)
	}
	admin.post("/upstreams", upstreamForm()).redirects("/upstreams")
	list := admin.get("/upstreams").says(".flash", "Added").says("#upstreams", "night-shift", "https://approvals.example.com/v1", "plain dialect", "not polled yet")
	again := admin.post("/upstreams", upstreamForm()).is(http.StatusConflict).says("main", "an upstream with this name").says("#upstream-name-error", "is taken")
	for _, p := range []*page{list, admin.get("/system"), admin.get("/audit/all"), admin.get("/audit")} {
		if strings.Contains(p.body, upstreamKey) {
			t.Errorf("%s shows the key", p.asked)
		}
	}
	if got := again.value("#upstream-key"); got != upstreamKey {
		t.Errorf("the key that was typed comes back as %q", got)
	}
	admin.get("/system").says("#upstreams-title + *", "night-shift").says(".checks", "Upstreams")
	admin.get("/audit/all").says("table", "upstream added")
	if list.doc.Find("nav [aria-current=page]").AttrOr("href", "") != "/system" {
		t.Error("the navigation does not say where one is")
	}
	u, key := w.upstream()
	if key != upstreamKey || u.OwnerID != w.owner.UserID() {
		t.Errorf("stored with the key %q for %s", key, u.OwnerID)
	}
}

// upstream is the only one there is, and its key.
func (w *world) upstream() (models.Upstream, string) {
	w.tb.Helper()
	due, _, err := elsewhere.New(w.store).DueUpstreams(w.tb.Context())
	if err != nil || len(due) != 1 {
		w.tb.Fatalf("upstreams: %v, %v", due, err)
	}
	key, err := elsewhere.New(w.store).UpstreamKey(&due[0])
	if err != nil {
		w.tb.Fatal(err)
	}
	return due[0], key
}

func TestWhatIsWrongWithAnUpstreamStandsAtItsField(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.signedIn(adminEmail)
	for _, c := range []struct {
		field, value, at, says string
	}{
		{"base_url", "http://169.254.169.254/latest", "#upstream-url-error", "link-local"},
		{"base_url", "http://[fd12::7]:8080", "#upstream-url-error", "--upstream-allow fd12::7"},
		{"base_url", "http://metadata.google.internal/v1", "#upstream-url-error", "credentials"},
		{"base_url", "ftp://example.com", "#upstream-url-error", "http://"},
		{"base_url", "https://me:secret@example.com", "#upstream-url-error", "must not contain a user or password"},
		{"dialect", "klingon", "#upstream-dialect-error", "plain or cloud"},
		{"key", upstreamKey + "\u00e9", "#upstream-key-error", "ASCII"},
		{"key", strings.Repeat("k", 4001), "#upstream-key-error", "4,000"},
		{"owner", "nobody@example.com", "#upstream-owner-error", "person on this server"},
		{"name", "", "#upstream-name-error", "empty"},
		{"name", "built-in", "#upstream-name-error", "another"},
	} {
		got := admin.post("/upstreams", upstreamForm(func(f url.Values) { f.Set(c.field, c.value) })).is(http.StatusUnprocessableEntity).says(c.at, c.says)
		if typed := got.value("#upstream-key"); typed != upstreamForm(func(f url.Values) { f.Set(c.field, c.value) }).Get("key") || got.header.Get("Content-Encoding") != "" {
			t.Errorf("%s=%q: the key is lost, or compressed with what others wrote: %q", c.field, c.value, typed)
		}
		if c.field != "name" && got.value("#upstream-name") != "night-shift" {
			t.Errorf("%s=%q: the rest of the form is lost", c.field, c.value)
		}
	}
	if list, err := elsewhere.New(w.store).Upstreams(t.Context(), w.admin); err != nil || len(list) != 0 {
		t.Errorf("stored: %v, %v", list, err)
	}
}

func TestAnUpstreamIsChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.signedIn(adminEmail)
	admin.post("/upstreams", upstreamForm()).redirects("/upstreams")
	list := admin.get("/upstreams")
	keyForm := list.doc.Find("form[action$='/key']").AttrOr("action", "")
	off := list.doc.Find("form[action$='/disable']").AttrOr("action", "")

	admin.post(keyForm, url.Values{"key": {"another\u202e"}}).is(http.StatusUnprocessableEntity).says(".flash", "Nothing was changed", "ASCII")
	admin.post(keyForm, url.Values{"key": {""}}).is(http.StatusUnprocessableEntity)
	if _, key := w.upstream(); key != upstreamKey {
		t.Errorf("a refused key was stored: %q", key)
	}
	admin.post(keyForm, url.Values{"key": {"another-key"}}).redirects("/upstreams")
	if _, key := w.upstream(); key != "another-key" {
		t.Errorf("the key is %q", key)
	}
	if got := admin.get("/upstreams").says(".flash", "Key changed"); strings.Contains(got.body, "another-key") {
		t.Error("the key is shown")
	}

	admin.post(off, nil).redirects("/upstreams")
	disabled := admin.get("/upstreams").says(".flash", "Disabled").says("#upstreams", "disabled")
	if due, _, err := elsewhere.New(w.store).DueUpstreams(t.Context()); err != nil || len(due) != 0 {
		t.Errorf("still polled: %v, %v", due, err)
	}
	on := disabled.doc.Find("form[action$='/enable']").AttrOr("action", "")
	admin.post(on, nil).redirects("/upstreams")
	w.upstream()
	part := admin.get("/upstreams", htmx).is(http.StatusOK).isFragment().says("#upstreams", "night-shift")
	if part.doc.Find("#add-upstream").Length() != 0 {
		t.Error("the list's own refetch brings the form, which somebody may be filling in")
	}
	w.clock.Step(3 * time.Minute)
	admin.get("/upstreams").says("#upstreams", "not polled", "no server polls it")
}
