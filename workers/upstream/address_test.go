package upstream_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"countersign/models"
	"countersign/workers/upstream"
	"countersign/workers/upstream/upstreamtest"
)

func TestBaseURLs(t *testing.T) {
	t.Parallel()
	for url, ok := range map[string]bool{
		"https://a.example/humanlayer/v1":  true,
		"http://localhost:8080":            true,
		"http://127.0.0.1:8080/":           true,
		"https://[2001:db8::1]:8443/v1":    true,
		"http://10.0.0.4":                  true,
		"":                                 false,
		"a.example/v1":                     false,
		"ftp://a.example":                  false,
		"file:///etc/passwd":               false,
		"https://":                         false,
		"https:a.example":                  false,
		"https://user:pw@a.example":        false,
		"https://user@a.example":           false,
		"https://a.example/?x=1":           false,
		"https://a.example/?":              false,
		"https://a.example/#x":             false,
		"https://a.example:port":           false,
		"http://169.254.169.254/latest":    false,
		"http://[fe80::1%25eth0]/":         false,
		"http://[::ffff:169.254.1.2]/":     false,
		"http://[64:ff9b::169.254.1.2]/":   false,
		"http://[::169.254.1.2]/":          false,
		"http://[2002:a9fe:a9fe::1]/":      false,
		"http://[fd00:ec2::254]/":          false,
		"http://[ff02::1]/":                false,
		"http://a.example/\nHost: another": false,
	} {
		err := upstream.CheckBaseURL("url", url)
		if (err == nil) != ok || !ok && models.ErrorCode(err) != models.CodeInvalid {
			t.Errorf("%q: %v", url, err)
		}
		if err != nil && strings.Contains(err.Error(), "pw") {
			t.Errorf("%q is echoed: %v", url, err)
		}
	}
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	for _, o := range []upstream.Options{
		{BaseURL: "ftp://a.example", Dialect: upstream.Plain},
		{BaseURL: "http://a.example", Dialect: "other"},
		{BaseURL: "http://a.example"},
		{BaseURL: "http://a.example", Dialect: upstream.Plain, Key: key + "\r\nX: y"},
		{BaseURL: "http://a.example", Dialect: upstream.Plain, Key: key + "é"},
	} {
		if _, err := upstream.New(o); models.ErrorCode(err) != models.CodeInvalid || strings.Contains(err.Error(), key) {
			t.Errorf("%v", err)
		}
	}
}

func TestNoNameLeadsToALinkLocalAddress(t *testing.T) {
	t.Parallel()
	c := client(t, upstream.Options{BaseURL: "http://innocent.link-local", Key: key, Dialect: upstream.Plain})
	_, err := c.PendingCalls(t.Context())
	if err == nil || !strings.Contains(err.Error(), "link-local") {
		t.Errorf("%v", err)
	}
	if o := c.RespondCall(t.Context(), "c1", true, ""); o.Delivery != upstream.Retry || o.Lost || !strings.Contains(o.Text, "link-local") {
		t.Errorf("%+v", o)
	}
}

func TestNoRedirectIsFollowed(t *testing.T) {
	t.Parallel()
	followed := false
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed = true }))
	t.Cleanup(target.Close)
	from := httptest.NewServer(http.RedirectHandler(target.URL, http.StatusTemporaryRedirect))
	t.Cleanup(from.Close)
	for _, d := range both {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			for _, h := range []*http.Client{nil, from.Client()} {
				c := client(t, upstream.Options{BaseURL: from.URL, Key: key, Dialect: d, HTTP: h})
				if _, err := c.PendingCalls(t.Context()); err == nil {
					t.Error("a redirect is an answer")
				}
				c.RespondCall(t.Context(), "c1", true, "")
				c.RespondContact(t.Context(), "c1", "x", "")
			}
			if followed {
				t.Error("a redirect was followed")
			}
		})
	}
}

func TestTheKeyIsSentAndNeverPrinted(t *testing.T) {
	t.Parallel()
	for _, d := range both {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			s, c := pair(t, d, upstreamtest.Options{})
			s.Ask(numbered(1, 1)...)
			if l, err := c.PendingCalls(t.Context()); err != nil || len(l.Items) != 1 {
				t.Fatalf("%v %+v", err, l)
			}
			for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
				if text := fmt.Sprintf(verb, c) + fmt.Sprintf(verb, *c); strings.Contains(text, key) {
					t.Errorf("%s prints the key: %s", verb, text)
				}
			}
			wrong := client(t, upstream.Options{BaseURL: s.URL, Key: "another", Dialect: d})
			if _, err := wrong.PendingCalls(t.Context()); err == nil || !strings.Contains(err.Error(), "refuses the key") {
				t.Errorf("another key: %v", err)
			}
		})
	}
}
