package system_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models"
	elsewhere "countersign/models/outside"
)

func upstreamForm(change ...func(url.Values)) url.Values {
	form := url.Values{
		"name": {"night-shift"}, "base_url": {"https://approvals.example.com/v1"}, "dialect": {"plain"}, "key": {webtest.UpstreamKey}, "owner": {webtest.OwnerEmail},
	}
	for _, c := range change {
		c(form)
	}
	return form
}

func TestAnAdminAddsAnUpstreamAndItsKeyIsNotShownAfterwards(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	admin := w.SignIn(webtest.AdminEmail)
	empty := admin.Get("/upstreams").Is(http.StatusOK).Says("#upstreams", "No upstreams yet")
	if got := empty.Value("#upstream-owner"); got != webtest.AdminEmail {
		t.Errorf("the owner is %q before anybody says so", got)
	}
	admin.Post("/upstreams", upstreamForm()).Redirects("/upstreams")
	list := admin.Get("/upstreams").Says(".flash", "Added").Says("#upstreams", "night-shift", "https://approvals.example.com/v1", "plain API", "not fetched yet")
	again := admin.Post("/upstreams", upstreamForm()).Is(http.StatusConflict).Says("main", "an upstream with this name").Says("#upstream-name-error", "is taken")
	for _, p := range []*webtest.Page{list, admin.Get("/system"), admin.Get("/audit/all"), admin.Get("/audit")} {
		if strings.Contains(p.Body, webtest.UpstreamKey) {
			t.Errorf("%s shows the key", p.Asked)
		}
	}
	if got := again.Value("#upstream-key"); got != webtest.UpstreamKey {
		t.Errorf("the key that was typed comes back as %q", got)
	}
	admin.Get("/system").Says("#upstreams-title + *", "night-shift").Says(".checks", "Upstreams")
	admin.Get("/audit/all").Says("table", "connected another system")
	if list.Doc.Find("nav [aria-current=page]").AttrOr("href", "") != "/system" {
		t.Error("the navigation does not say where one is")
	}
	u, key := upstream(w)
	if key != webtest.UpstreamKey || u.OwnerID != w.Owner.UserID() {
		t.Errorf("stored with the key %q for %s", key, u.OwnerID)
	}
}

// upstream is the only one there is, and its key.
func upstream(w *webtest.World) (models.Upstream, string) {
	w.TB.Helper()
	due, _, err := elsewhere.New(w.Store).DueUpstreams(w.TB.Context())
	if err != nil || len(due) != 1 {
		w.TB.Fatalf("upstreams: %v, %v", due, err)
	}
	key, err := elsewhere.New(w.Store).UpstreamKey(&due[0])
	if err != nil {
		w.TB.Fatal(err)
	}
	return due[0], key
}

func TestWhatIsWrongWithAnUpstreamStandsAtItsField(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	admin := w.SignIn(webtest.AdminEmail)
	for _, c := range []struct {
		field, value, at, says string
	}{
		{"base_url", "http://169.254.169.254/latest", "#upstream-url-error", "link-local"},
		{"base_url", "http://[fd12::7]:8080", "#upstream-url-error", "--upstream-allow fd12::7"},
		{"base_url", "http://metadata.google.internal/v1", "#upstream-url-error", "credentials"},
		{"base_url", "ftp://example.com", "#upstream-url-error", "http://"},
		{"base_url", "https://me:secret@example.com", "#upstream-url-error", "must not contain a user or password"},
		{"dialect", "klingon", "#upstream-dialect-error", "plain or cloud"},
		{"key", webtest.UpstreamKey + "\u00e9", "#upstream-key-error", "ASCII"},
		{"key", strings.Repeat("k", 4001), "#upstream-key-error", "4,000"},
		{"owner", "nobody@example.com", "#upstream-owner-error", "person on this server"},
		{"name", "", "#upstream-name-error", "empty"},
		{"name", "built-in", "#upstream-name-error", "another"},
	} {
		got := admin.Post("/upstreams", upstreamForm(func(f url.Values) { f.Set(c.field, c.value) })).Is(http.StatusUnprocessableEntity).Says(c.at, c.says)
		if typed := got.Value("#upstream-key"); typed != upstreamForm(func(f url.Values) { f.Set(c.field, c.value) }).Get("key") || got.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s=%q: the key is lost, or compressed with what others wrote: %q", c.field, c.value, typed)
		}
		if c.field != "name" && got.Value("#upstream-name") != "night-shift" {
			t.Errorf("%s=%q: the rest of the form is lost", c.field, c.value)
		}
	}
	if list, err := elsewhere.New(w.Store).Upstreams(t.Context(), w.Admin); err != nil || len(list) != 0 {
		t.Errorf("stored: %v, %v", list, err)
	}
}

func TestAnUpstreamIsChanged(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	admin := w.SignIn(webtest.AdminEmail)
	admin.Post("/upstreams", upstreamForm()).Redirects("/upstreams")
	list := admin.Get("/upstreams")
	keyForm := list.Doc.Find("form[action$='/key']").AttrOr("action", "")
	off := list.Doc.Find("form[action$='/disable']").AttrOr("action", "")

	admin.Post(keyForm, url.Values{"key": {"another\u202e"}}).Is(http.StatusUnprocessableEntity).Says(".flash", "Nothing was changed", "ASCII")
	admin.Post(keyForm, url.Values{"key": {""}}).Is(http.StatusUnprocessableEntity)
	if _, key := upstream(w); key != webtest.UpstreamKey {
		t.Errorf("a refused key was stored: %q", key)
	}
	admin.Post(keyForm, url.Values{"key": {"another-key"}}).Redirects("/upstreams")
	if _, key := upstream(w); key != "another-key" {
		t.Errorf("the key is %q", key)
	}
	if got := admin.Get("/upstreams").Says(".flash", "Key changed"); strings.Contains(got.Body, "another-key") {
		t.Error("the key is shown")
	}

	admin.Post(off, nil).Redirects("/upstreams")
	disabled := admin.Get("/upstreams").Says(".flash", "Disabled").Says("#upstreams", "disabled")
	if due, _, err := elsewhere.New(w.Store).DueUpstreams(t.Context()); err != nil || len(due) != 0 {
		t.Errorf("still polled: %v, %v", due, err)
	}
	on := disabled.Doc.Find("form[action$='/enable']").AttrOr("action", "")
	admin.Post(on, nil).Redirects("/upstreams")
	upstream(w)
	part := admin.Get("/upstreams", webtest.HTMX).Is(http.StatusOK).IsFragment().Says("#upstreams", "night-shift")
	if part.Doc.Find("#add-upstream").Length() != 0 {
		t.Error("the list's own refetch brings the form, which somebody may be filling in")
	}
	w.Clock.Step(3 * time.Minute)
	admin.Get("/upstreams").Says("#upstreams", "not fetched", "no server fetches from it")
}
