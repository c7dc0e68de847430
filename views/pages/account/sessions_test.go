package account_test

import (
	"strings"
	"testing"

	"countersign/views/gallery"
	"countersign/views/pages/account"
	"countersign/views/pages/pagestest"
)

func TestDeviceNames(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		gallery.Firefox: "Firefox on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0 Safari/537.36 Edg/139.0":            "Edge on Windows",
		"Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0 Mobile Safari/537.36":                         "Chrome on Android",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile Safari/604.1": "Safari on iPhone",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0 Safari/537.36":                "Chrome on macOS",
		"curl/8.5.0": "curl",
		"Linux":      "program on Linux",
		"":           "unknown program",
	} {
		if got := account.DeviceName(agent); got != want {
			t.Errorf("%q is %q, want %q", agent, got, want)
		}
	}
}

func TestSessionsOfferToEndOnlyWhatIsThere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		in     account.SessionsInput
		others bool
		ends   int
	}{
		{"several", gallery.SessionsInput(), true, 2},
		{"one", account.SessionsInput{Devices: gallery.SessionsInput().Devices[:1], Current: "s1"}, false, 0},
		{"one, and more on the next page", account.SessionsInput{Devices: gallery.SessionsInput().Devices[:1], Current: "s1", Next: "s1"}, true, 0},
	} {
		html := pagestest.Draw(t, account.SessionsPage(gallery.Frame("", "/account/sessions"), account.NewSessions(c.in)))
		if got := strings.Contains(html, `id="end-others"`); got != c.others {
			t.Errorf("%s: others can be ended: %v", c.name, got)
		}
		if n := strings.Count(html, "Sign out now"); n != c.ends {
			t.Errorf("%s: %d can be ended, want %d", c.name, n, c.ends)
		}
	}
}
