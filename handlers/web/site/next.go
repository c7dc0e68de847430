package site

import (
	"net/http"
	"net/url"
	"strings"

	"countersign/views"
)

// LocalPage returns next if it is the address of a page here, else the inbox.
// What a browser would take for another host is none: "//host", "/\host", and
// either with characters inside that browsers leave out.
func LocalPage(next string) string {
	if p, ok := localPath(next); ok && p != "/signin" && !strings.HasPrefix(p, "/signin?") {
		return p
	}
	return views.InboxURL()
}

func localPath(raw string) (string, bool) {
	if len(raw) > 2000 || !strings.HasPrefix(raw, "/") || strings.HasPrefix(raw, "//") {
		return "", false
	}
	for _, r := range raw {
		if r <= ' ' || r == '\\' || r == 0x7f {
			return "", false
		}
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil {
		return "", false
	}
	return raw, true
}

// wantedPage is where to go on after signing in: the page asked for, or for a
// form or a fragment the page that it stood on. Empty is the inbox.
func wantedPage(r *http.Request) string {
	raw := r.URL.RequestURI()
	if from := r.Header.Get("Hx-Current-Url"); from != "" {
		raw = pathOf(from)
	} else if r.Method != http.MethodGet {
		raw = pathOf(r.Referer())
	}
	if p := LocalPage(raw); p != views.InboxURL() {
		return p
	}
	return ""
}

// pathOf is path and query of an address.
func pathOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.RequestURI()
}
