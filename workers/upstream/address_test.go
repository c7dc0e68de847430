package upstream_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

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
		err := upstream.CheckBaseURL("url", url, upstream.Reach{})
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

func TestNewUpstreamsReachNoLocalAddressUnlessItIsAllowed(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		host, allow string
		before      bool // upstreams from before may have it
	}{
		{"[fd12:3456::7]", "fd12:3456::7", true},
		{"[FC00::1]", "hub.internal,[fc00:0::1]", true},
		{"[64:ff9b::6464:64c8]", "64:ff9b::100.100.100.200", true},
		{"100.100.100.200", "100.100.100.200", true},
		{"[::ffff:168.63.129.16]", "168.63.129.16", true},
		{"metadata.google.internal", "Metadata.Google.Internal", true},
		{"METADATA.google.internal.", "metadata.google.internal", true},
		{"[fd20:ce::254]", "fd20:ce::254", true},
		{"169.254.169.254", "169.254.169.254", false},
		{"[fd00:ec2::254]", "fd00:ec2::254", false},
	} {
		allow, err := upstream.ParseHosts(tt.allow)
		if err != nil {
			t.Fatal(err)
		}
		url := "http://" + tt.host + ":8080/v1"
		err = upstream.CheckBaseURL("baseUrl", url, upstream.Reach{Allow: upstream.Hosts{"hub.internal": true}})
		if models.ErrorCode(err) != models.CodeInvalid || !strings.Contains(err.Error(), "baseUrl") || !strings.Contains(err.Error(), "--upstream-allow") {
			t.Errorf("%s: %v", url, err)
		}
		if err := upstream.CheckBaseURL("baseUrl", url, upstream.Reach{Allow: allow}); err != nil {
			t.Errorf("%s is allowed: %v", url, err)
		}
		if err := upstream.CheckBaseURL("baseUrl", url, upstream.Reach{Older: true}); (err == nil) != tt.before {
			t.Errorf("%s of before: %v", url, err)
		}
		if (upstream.RefusedHost(url, nil) == "") || upstream.RefusedHost(url, allow) != "" {
			t.Errorf("%s: %q, and allowed %q", url, upstream.RefusedHost(url, nil), upstream.RefusedHost(url, allow))
		}
	}
	for _, list := range []string{"a,,b", "http://a", "a:80", "a b", "fd00::1/8", ","} {
		if hosts, err := upstream.ParseHosts(list); err == nil {
			t.Errorf("%q: %v", list, hosts)
		}
	}
	if hosts, err := upstream.ParseHosts(""); err != nil || len(hosts) != 0 {
		t.Errorf("none: %v, %v", hosts, err)
	}
}

// A name is judged by where it leads: when it is added, and at each connection.
func TestNamesThatLeadToLocalAddresses(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]string{"innocent.link-local": "link-local", "innocent.unique-local": "unique-local", "innocent.metadata": "credentials"} {
		url := "http://" + name + ":1"
		allowed := upstream.Reach{Allow: upstream.Hosts{name: true}}
		if err := upstream.CheckHost(t.Context(), "baseUrl", url, upstream.Reach{}); models.ErrorCode(err) != models.CodeInvalid || !strings.Contains(err.Error(), kind) {
			t.Errorf("%s is added: %v", name, err)
		}
		if err := upstream.CheckHost(t.Context(), "baseUrl", url, allowed); err != nil {
			t.Errorf("%s is allowed: %v", name, err)
		}
		c := client(t, upstream.Options{BaseURL: url, Key: key, Dialect: upstream.Plain})
		if _, err := c.PendingCalls(t.Context()); err == nil || !strings.Contains(err.Error(), kind) || !strings.Contains(err.Error(), "--upstream-allow") {
			t.Errorf("%s: %v", name, err)
		}
		// What may be reached is tried: there is no route, or nobody listens.
		for what, reach := range map[string]upstream.Reach{"allowed": allowed, "older": {Older: true}} {
			refused := what == "older" && kind == "link-local"
			c := client(t, upstream.Options{BaseURL: url, Key: key, Dialect: upstream.Plain, Reach: reach, Timeout: 100 * time.Millisecond})
			if _, err := c.PendingCalls(t.Context()); err == nil || strings.Contains(err.Error(), "not allowed") != refused {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
	if err := upstream.CheckHost(t.Context(), "baseUrl", "http://nobody.knows.invalid", upstream.Reach{}); err != nil {
		t.Errorf("a name that is not known yet: %v", err)
	}
}
