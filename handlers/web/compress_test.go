package web_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models/storetest"
)

var takesGzip = webtest.Header{"Accept-Encoding", "gzip, deflate, br, zstd"}

// unpacked is what a compressed answer holds, and the padding before it.
func unpacked(t *testing.T, got *webtest.Page) (body, padding string) {
	t.Helper()
	if encoding := got.Header.Get("Content-Encoding"); encoding != "gzip" {
		t.Fatalf("%s: Content-Encoding %q", got.Asked, encoding)
	}
	if vary := strings.Join(got.Header.Values("Vary"), ", "); !strings.Contains(vary, "Accept-Encoding") || !strings.Contains(vary, "Hx-Request") {
		t.Errorf("%s: Vary %q", got.Asked, vary)
	}
	r, err := gzip.NewReader(strings.NewReader(got.Body))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw), r.Comment
}

func TestPagesAndTheirPartsAreCompressed(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask()
	p := w.SignIn(webtest.OwnerEmail)
	for _, path := range []string{"/", webtest.PageOf(a), "/history", "/policy", "/nowhere"} {
		got := p.Get(path, takesGzip)
		body, padding := unpacked(t, got)
		if !strings.Contains(body, "</html>") || len(padding) == 0 || got.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d bytes, padding %q, Cache-Control %q", path, len(body), padding, got.Header.Get("Cache-Control"))
		}
		if length := got.Header.Get("Content-Length"); length != "" && length != strconv.Itoa(len(got.Body)) {
			t.Errorf("%s: Content-Length %s of %d", path, length, len(got.Body))
		}
	}
	body, _ := unpacked(t, p.Get("/", takesGzip, webtest.HTMX))
	if !strings.Contains(body, `id="inbox"`) || strings.Contains(body, "</html>") {
		t.Errorf("a part is %s", body)
	}
	answer, _ := unpacked(t, p.Post(webtest.DecideOf(a), url.Values{"verdict": {"reject"}, "digest": {a.Digest}}, takesGzip, webtest.HTMX))
	if !strings.Contains(answer, "data-card") {
		t.Errorf("the answer to a decision is %s", answer)
	}
	for _, refuses := range []string{"identity", "gzip;q=0", "br"} {
		if got := p.Get("/", webtest.Header{"Accept-Encoding", refuses}); got.Header.Get("Content-Encoding") != "" || !strings.Contains(got.Body, "</html>") {
			t.Errorf("%s: it is %q", refuses, got.Header.Get("Content-Encoding"))
		}
	}
}

// Pages on which a secret is shown are sent as they are, and kept by nobody.
func TestPagesWithASecretAreNotCompressed(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	admin := w.SignIn(webtest.AdminEmail)
	connect := admin.Get("/connect?way=curl").Form("#connect-form", "")
	pages := map[string]*webtest.Page{
		"cs_agent_":    admin.Post("/agents/tokens", url.Values{"scope": {"agent"}, "agent": {"builder"}}, takesGzip),
		"/join?key=":   admin.Post("/people/invites", url.Values{"email": {"new@example.com"}, "role": {"reviewer"}}, takesGzip),
		"#connect":     admin.Post("/connect", connect, takesGzip),
		"#inbox-token": w.SignIn(webtest.StrangerEmail).Post("/inbox/token", nil, takesGzip),
	}
	link, ok := strings.CutPrefix(pages["/join?key="].Text("#fresh-invite"), w.URL)
	if !ok {
		t.Fatal("there is no link")
	}
	pages["join"] = w.Visitor().Get(link, takesGzip)

	fresh := webtest.Empty(t, 0)
	key, err := fresh.Store.People.NewSetupLink(t.Context(), storetest.Operator())
	if err != nil {
		t.Fatal(err)
	}
	pages[`value="`+key+`"`] = fresh.Visitor().Get("/setup?key="+url.QueryEscape(key), takesGzip)

	for shows, got := range pages {
		if got.Status != http.StatusOK || got.Header.Get("Content-Encoding") != "" || got.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d, Content-Encoding %q, Cache-Control %q", shows, got.Status, got.Header.Get("Content-Encoding"), got.Header.Get("Cache-Control"))
		}
	}
	for _, shows := range []string{"cs_agent_", "/join?key=", `value="` + key + `"`} {
		if !strings.Contains(pages[shows].Body, shows) {
			t.Errorf("the page does not show %s", shows)
		}
	}
}

// A script that says that nothing is stored is answered so that its page may be gone back
// to; whoever does not say so is not.
func TestNothingIsStoredAnywhere(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	for _, path := range []string{"/", "/session"} {
		for said, want := range map[string]string{"": "no-store", "no-cache": "no-store", "no-store": "private, no-cache", "max-age=0, No-Store": "private, no-cache"} {
			if got := p.Get(path, webtest.HTMX, webtest.Header{"Cache-Control", said}).Is(http.StatusOK).Header.Get("Cache-Control"); got != want {
				t.Errorf("%s, asked with %q: %q, want %q", path, said, got, want)
			}
		}
	}
}
