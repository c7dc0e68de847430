package ui_test

import (
	"slices"
	"strings"
	"testing"

	"countersign/views/ui"
)

func TestAddressSetsTheHostApart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ url, user, host, port, note string }{
		{"https://example.org/a?b#c", "", "example.org", "", ""},
		{"https://example.org", "", "example.org", "", ""},
		{"https://example.org?next=https://evil.example", "", "example.org", "", ""},
		{"http://127.0.0.1:8080/", "", "127.0.0.1", ":8080", "not encrypted"},
		{"https://[2001:db8::1]:443/", "", "[2001:db8::1]", ":443", ""},
		{"https://example.org@evil.example/", "example.org@", "evil.example", "", "carries a name before the host"},
		{"https://a@b@evil.example/", "a@b@", "evil.example", "", "carries a name before the host"},
		{"https://xn--80ak6aa92e.com/", "", "xn--80ak6aa92e.com", "", "looks like “apple”"},
		{"https://аррӏе.com/", "", "аррӏе.com", "", "looks like “apple”"},
		{"https://bücher.example/", "", "bücher.example", "", "letters beyond ASCII"},
		{"odd://example.org/", "", "example.org", "", "scheme is unusual"},
		{"https://example.org:/", "", "example.org", ":", ""},
		{"postgres://user@db.example/app", "user@", "db.example", "", ""},
		{"postgres://user:p%40ss.w0rd@db.example:5432/app", "user:p%40ss.w0rd@", "db.example", ":5432", ""},
		{"mongodb+srv://app-1:x@cluster.example/", "app-1:x@", "cluster.example", "", ""},
		{"redis://:secret@cache.example", ":secret@", "cache.example", "", ""},
		{"ssh://git@github.com/acme/shop", "git@", "github.com", "", ""},
		{"git+ssh://git@github.com/acme/shop", "git@", "github.com", "", ""},
		{"https://user@example.org/", "user@", "example.org", "", "carries a name before the host"},
		{"wss://user@example.org/", "user@", "example.org", "", "carries a name before the host"},
		{"postgres://db.bank.example@evil.example/", "db.bank.example@", "evil.example", "", "carries a name before the host"},
		{"postgres://db.bank.example:5432@evil.example/", "db.bank.example:5432@", "evil.example", "", "carries a name before the host"},
		{"ssh://git@github.com@evil.example/", "git@github.com@", "evil.example", "", "carries a name before the host"},
		{"ssh://github%2Ecom@evil.example/", "github%2Ecom@", "evil.example", "", "carries a name before the host"},
		{"postgres://user@xn--80ak6aa92e.com/", "user@", "xn--80ak6aa92e.com", "", "looks like “apple”"},
	} {
		a, ok := ui.NewAddress(tt.url)
		if !ok {
			t.Errorf("%s is none", tt.url)
			continue
		}
		if a.User != tt.user || a.Host != tt.host || a.Port != tt.port {
			t.Errorf("%s: %+v", tt.url, a)
		}
		if notes := strings.Join(a.Notes, " "); (tt.note == "") != (notes == "") || !strings.Contains(notes, tt.note) {
			t.Errorf("%s: %q", tt.url, a.Notes)
		}
		html := draw(t, ui.BlockView(ui.Block{Code: ui.Code{Text: tt.url}, Address: a}))
		if shown(html) != tt.url || strings.Contains(html, "<a ") || !strings.Contains(html, `<span class="address-host">`) {
			t.Errorf("%s is shown as %q in %s", tt.url, shown(html), html)
		}
	}
	for _, s := range []string{"", "example.org", "/path", "mailto:a@b", "https://", "https:///x", "https://a b", "https://a\\@b", "https://a\n", "javascript:alert(1)", "https://%zz", "1://a", strings.Repeat("a", 30) + "://b"} {
		if a, ok := ui.NewAddress(s); ok {
			t.Errorf("%q is taken for %+v", s, a)
		}
	}
}

func TestHostsInText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`curl https://a.example/x, "http://b.example:80" (see https://c.example).`: "a.example b.example c.example",
		"https://a.example https://a.example/y":                                    "a.example",
		"none here: a/b ://":                                                       "",
		"go to аррӏе.com or größe.txt":                                             "аррӏе.com",
		"ssh xn--80ak6aa92e.com":                                                   "xn--80ak6aa92e.com",
	} {
		if got := ui.Hosts(text, 20); strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := ui.Hosts(strings.Repeat("://", 100_000)+strings.Repeat("ä.", 100_000)+strings.Repeat("xn--", 50_000), 20); slices.Contains(got, "") {
		t.Errorf("%q", got)
	}
}
