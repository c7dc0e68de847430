package handlers_test

import (
	"net/http"
	"testing"

	"countersign/handlers"
)

func TestForwardedAddressCountsOnlyFromSetProxies(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, proxies, peer string
		forwarded           []string
		want                string
	}{
		{"no proxy is set", "", "192.0.2.1:4000", []string{"198.51.100.7"}, "192.0.2.1"},
		{"a stranger poses as a proxy", "127.0.0.1", "192.0.2.1:4000", []string{"198.51.100.7"}, "192.0.2.1"},
		{"the proxy tells", "127.0.0.1", "127.0.0.1:4000", []string{"198.51.100.7"}, "198.51.100.7"},
		{"the client's own word stands before", "127.0.0.1", "127.0.0.1:4000", []string{"203.0.113.9, 198.51.100.7"}, "198.51.100.7"},
		{"in a header line of its own", "127.0.0.1", "127.0.0.1:4000", []string{"203.0.113.9", "198.51.100.7"}, "198.51.100.7"},
		{"two proxies", "127.0.0.1, 10.0.0.0/8", "127.0.0.1:4000", []string{"203.0.113.9, 198.51.100.7, 10.1.2.3"}, "198.51.100.7"},
		{"nothing but proxies", "10.0.0.0/8", "10.0.0.1:4000", []string{"10.1.2.3, 10.4.5.6"}, "10.1.2.3"},
		{"no header", "127.0.0.1", "127.0.0.1:4000", nil, "127.0.0.1"},
		{"rubbish", "127.0.0.1", "127.0.0.1:4000", []string{"198.51.100.7, unknown"}, "127.0.0.1"},
		{"with a port", "127.0.0.1", "127.0.0.1:4000", []string{"198.51.100.7:5000"}, "198.51.100.7"},
		{"IPv6", "::1", "[::1]:4000", []string{"[2001:db8::7]:5000"}, "2001:db8::7"},
		{"IPv4 in IPv6", "127.0.0.1", "[::ffff:127.0.0.1]:4000", []string{"::ffff:198.51.100.7"}, "198.51.100.7"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			proxies, err := handlers.ParseProxies(tt.proxies)
			if err != nil {
				t.Fatal(err)
			}
			r := &http.Request{RemoteAddr: tt.peer, Header: http.Header{"X-Forwarded-For": tt.forwarded}}
			if got := proxies.Client(r); got != tt.want {
				t.Errorf("Client = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestParseProxies(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", " , ": "", "127.0.0.1": "127.0.0.1/32", "10.1.2.3/8": "10.0.0.0/8", "::1,2001:db8::/32": "::1/128,2001:db8::/32",
	} {
		if got, err := handlers.ParseProxies(in); err != nil || got.String() != want {
			t.Errorf("ParseProxies(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"proxy.example.com", "10.0.0.0/33", "0.0.0.0/0", "::/0", "127.0.0.1;::1", "fe80::1%eth0", "::ffff:10.0.0.0/104"} {
		if got, err := handlers.ParseProxies(in); err == nil {
			t.Errorf("ParseProxies(%q) = %q, want a refusal", in, got)
		}
	}
}
