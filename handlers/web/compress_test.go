package web_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"countersign/models/storetest"
)

var takesGzip = header{"Accept-Encoding", "gzip, deflate, br, zstd"}

// unpacked is what a compressed answer holds, and the padding before it.
func unpacked(t *testing.T, got *page) (body, padding string) {
	t.Helper()
	if encoding := got.header.Get("Content-Encoding"); encoding != "gzip" {
		t.Fatalf("%s: Content-Encoding %q", got.asked, encoding)
	}
	if vary := strings.Join(got.header.Values("Vary"), ", "); !strings.Contains(vary, "Accept-Encoding") || !strings.Contains(vary, "Hx-Request") {
		t.Errorf("%s: Vary %q", got.asked, vary)
	}
	r, err := gzip.NewReader(strings.NewReader(got.body))
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
	w := newWorld(t)
	a := w.ask()
	p := w.signedIn(ownerEmail)
	for _, path := range []string{"/", pageOf(a), "/history", "/policy", "/nowhere"} {
		got := p.get(path, takesGzip)
		body, padding := unpacked(t, got)
		if !strings.Contains(body, "</html>") || len(padding) == 0 || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d bytes, padding %q, Cache-Control %q", path, len(body), padding, got.header.Get("Cache-Control"))
		}
		if length := got.header.Get("Content-Length"); length != "" && length != strconv.Itoa(len(got.body)) {
			t.Errorf("%s: Content-Length %s of %d", path, length, len(got.body))
		}
	}
	body, _ := unpacked(t, p.get("/", takesGzip, htmx))
	if !strings.Contains(body, `id="inbox"`) || strings.Contains(body, "</html>") {
		t.Errorf("a part is %s", body)
	}
	answer, _ := unpacked(t, p.post(decideOf(a), url.Values{"verdict": {"reject"}, "digest": {a.Digest}}, takesGzip, htmx))
	if !strings.Contains(answer, "data-card") {
		t.Errorf("the answer to a decision is %s", answer)
	}
	for _, refuses := range []string{"identity", "gzip;q=0", "br"} {
		if got := p.get("/", header{"Accept-Encoding", refuses}); got.header.Get("Content-Encoding") != "" || !strings.Contains(got.body, "</html>") {
			t.Errorf("%s: it is %q", refuses, got.header.Get("Content-Encoding"))
		}
	}
}

// Pages on which a secret is shown are sent as they are, and kept by nobody.
func TestPagesWithASecretAreNotCompressed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	admin := w.signedIn(adminEmail)
	connect := admin.get("/connect?way=curl").form("#connect-form", "")
	pages := map[string]*page{
		"cs_agent_":    admin.post("/agents/tokens", url.Values{"scope": {"agent"}, "agent": {"builder"}}, takesGzip),
		"/join?key=":   admin.post("/people/invites", url.Values{"email": {"new@example.com"}, "role": {"reviewer"}}, takesGzip),
		"#connect":     admin.post("/connect", connect, takesGzip),
		"#inbox-token": w.signedIn(strangerEmail).post("/inbox/token", nil, takesGzip),
	}
	link, ok := strings.CutPrefix(pages["/join?key="].text("#fresh-invite"), w.url)
	if !ok {
		t.Fatal("there is no link")
	}
	pages["join"] = w.visitor().get(link, takesGzip)

	fresh := emptyWorld(t, 0)
	key, err := fresh.store.People.NewSetupLink(t.Context(), storetest.Operator())
	if err != nil {
		t.Fatal(err)
	}
	pages[`value="`+key+`"`] = fresh.visitor().get("/setup?key="+url.QueryEscape(key), takesGzip)

	for shows, got := range pages {
		if got.status != http.StatusOK || got.header.Get("Content-Encoding") != "" || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d, Content-Encoding %q, Cache-Control %q", shows, got.status, got.header.Get("Content-Encoding"), got.header.Get("Cache-Control"))
		}
	}
	for _, shows := range []string{"cs_agent_", "/join?key=", `value="` + key + `"`} {
		if !strings.Contains(pages[shows].body, shows) {
			t.Errorf("the page does not show %s", shows)
		}
	}
}

// A script that says that nothing is stored is answered so that its page may be gone back
// to; whoever does not say so is not.
func TestNothingIsStoredAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	for _, path := range []string{"/", "/session"} {
		for said, want := range map[string]string{"": "no-store", "no-cache": "no-store", "no-store": "private, no-cache", "max-age=0, No-Store": "private, no-cache"} {
			if got := p.get(path, htmx, header{"Cache-Control", said}).is(http.StatusOK).header.Get("Cache-Control"); got != want {
				t.Errorf("%s, asked with %q: %q, want %q", path, said, got, want)
			}
		}
	}
}
