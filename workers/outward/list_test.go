package outward_test

import (
	"net/http"
	"strings"
	"testing"

	"countersign/models"
	"countersign/workers/outward"
)

// What may be asked, by how the address is written. Nothing is looked up: what gets past
// this check fails at the resolver, which knows no name.
func TestHostsOfTheList(t *testing.T) {
	t.Parallel()
	const allowed, refused = models.SendNameNotFound, models.SendRefusedHost
	list := "hooks.example.com, ntfy.example.com:8443, ntfy, hub.internal:8080, [::1]:99999, *.wild.example, a b"
	for _, tt := range []struct {
		url  string
		want models.SendClass
	}{
		{"https://hooks.example.com/x", allowed},
		{"https://HOOKS.example.com./x", allowed},
		{"https://hooks.example.com:8443/x", refused},
		{"http://hooks.example.com/x", refused}, // not without TLS
		{"https://other.example.com/x", refused},
		{"https://hooks.example.com.evil.example/x", refused},
		{"https://user@hooks.example.com/x", refused},
		{"https://hooks.example.com@evil.example/x", refused},
		{"https://ntfy.example.com:8443/x", allowed},
		{"https://ntfy.example.com/x", refused}, // another port
		{"http://ntfy/x", allowed},              // a name of the local network
		{"http://ntfy:8080/x", refused},
		{"http://hub.internal:8080/x", allowed},
		{"http://hub.internal:8081/x", refused},
		{"https://x.wild.example/", refused}, // no patterns in the admin's list
		{"https://fcm.googleapis.com/x", allowed},
		{"https://fcm.googleapis.com:444/x", refused},
		{"http://fcm.googleapis.com/x", refused},
		{"https://web.push.apple.com/x", allowed},
		{"https://push.apple.com/x", refused},
		{"https://evilpush.apple.com/x", refused},
		{"https://127.0.0.1/x", refused},
		{"https://[::1]/x", refused},
		{"https://2130706433/x", refused},
		{"https://127.1/x", refused},
		{"https://0x7f.1/x", refused},
		{"https://0.0.0.0/x", refused},
		{"https://[::]/x", refused},
		{"https://[::ffff:127.0.0.1]/x", refused},
		{"http://169.254.169.254/latest/meta-data/", refused},
		{"http://[::ffff:a9fe:a9fe]/latest/meta-data/", refused},
		{"http://[fd00:ec2::254]/latest/meta-data/", refused},
		{"https://[64:ff9b::7f00:1]/x", refused},
		{"https://[fe80::1%25eth0]/x", refused},
		{"http://metadata.google.internal./x", refused},
		{"http://localhost./x", refused},
		{"https://hooks.example.com:443/x", allowed},
		{"http://hooks.example.com:443/x", refused},
		{"https://hooks.example.com:0443/x", refused},
		{"https://hooks.example.com../x", refused},
		{"https://hooks.example.com\u3002evil.example/x", refused},
		{"https://h\u043e\u043eks.example.com/x", refused}, // Cyrillic
		{"https://hooks\uff0eexample.com/x", refused},
		{"https://xn--hks-0ia.example.com/x", refused},
		{"https://hooks.example.com:x@evil.example/x", refused},
		{"https://evil.example/https://hooks.example.com/x", refused},
		{"https://fcm.googleapis.com@127.0.0.1/x", refused},
		{"https://fcm.googleapis.com./x", allowed},
		{"gopher://hooks.example.com/x", refused},
		{"file:///etc/passwd", refused},
		{"https:///x", refused},
	} {
		c := outward.New(outward.Options{Hosts: hosts(strings.Split(list, ",")...), Resolver: newDNS(t, nil).resolver()})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, tt.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		vendors := outward.Vendors{"fcm.googleapis.com", "*.push.apple.com"}
		if _, err = c.Do(req, vendors); classOf(t, err) != tt.want {
			t.Errorf("%s: %v, want %s", tt.url, err, tt.want)
		}
		if err := c.Check(t.Context(), "url", tt.url, vendors); (err == nil) != (tt.want == allowed) || err != nil && models.FieldsOf(err)["url"] == "" {
			t.Errorf("%s, when it is added: %v", tt.url, err)
		}
	}
}

// Where a host may lead, by the address that its name has when it is connected to. What is
// allowed fails to connect, or is cut off by the context, for nothing listens there.
func TestAddressesBehindNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, host, addr, list string
		allowed                bool
	}{
		{"public name, this machine", "hooks.example.com", "127.0.0.1", "hooks.example.com", false},
		{"the address is listed", "hooks.example.com", "127.0.0.1", "hooks.example.com,127.0.0.1", true},
		{"the address is listed at another port", "hooks.example.com", "127.0.0.1", "hooks.example.com,127.0.0.1:8080", false},
		{"public name, local network", "hooks.example.com", "10.1.2.3", "hooks.example.com", false},
		{"public name, unique-local", "hooks.example.com", "fd12::1", "hooks.example.com", false},
		{"public name, link-local", "hooks.example.com", "169.254.169.254", "hooks.example.com", false},
		{"public name, behind a provider", "hooks.example.com", "100.64.0.1", "hooks.example.com", false},
		{"public name, nowhere", "hooks.example.com", "0.0.0.0", "hooks.example.com", false},
		{"public name, all", "hooks.example.com", "255.255.255.255", "hooks.example.com", false},
		{"IPv4 in IPv6", "hooks.example.com", "::ffff:127.0.0.1", "hooks.example.com", false},
		{"IPv4 in 6to4", "hooks.example.com", "2002:7f00:1::", "hooks.example.com", false},
		{"IPv4 in NAT64", "hooks.example.com", "64:ff9b::a00:1", "hooks.example.com", false},
		{"loopback in NAT64", "hooks.example.com", "64:ff9b::7f00:1", "hooks.example.com", false},
		{"metadata in NAT64", "hooks.example.com", "64:ff9b::a9fe:a9fe", "hooks.example.com", false},
		{"metadata in NAT64, local name", "hub.internal", "64:ff9b::a9fe:a9fe", "hub.internal", false},
		{"metadata, IPv4 in IPv6", "hub.internal", "::ffff:169.254.169.254", "hub.internal", false},
		{"NAT64 of the local network", "hooks.example.com", "64:ff9b:1::a00:1", "hooks.example.com", false},
		{"nowhere of IPv6", "hooks.example.com", "::", "hooks.example.com", false},
		{"local name, nowhere", "hub.internal", "0.0.0.0", "hub.internal", false},
		{"multicast", "hooks.example.com", "224.0.0.1", "hooks.example.com", false},
		{"a browser's maker, this machine", "fcm.googleapis.com", "127.0.0.1", "x", false},
		{"Teredo", "hooks.example.com", "2001:0:1::1", "hooks.example.com", false},
		{"loopback of IPv6", "hooks.example.com", "::1", "hooks.example.com", false},
		{"local name, this machine", "hub.internal", "127.0.0.1", "hub.internal", true},
		{"local name, metadata", "hub.internal", "169.254.169.254", "hub.internal", false},
		{"local name, metadata of IPv6", "hub.internal", "fd00:ec2::254", "hub.internal", false},
		{"metadata by name", "metadata.google.internal", "169.254.169.254", "metadata.google.internal", false},
		{"name of this machine, local network", "x.localhost", "10.1.2.3", "x.localhost", false},
		{"name of this machine", "x.localhost", "127.0.0.1", "x.localhost", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dns := newDNS(t, map[string][]string{tt.host: {tt.addr}})
			c := outward.New(outward.Options{Hosts: hosts(ports(tt.list)...), Resolver: dns.resolver()})
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+tt.host+":1/", nil) // nobody listens there
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Do(req, nil)
			if got := classOf(t, err) != models.SendRefusedHost; got != tt.allowed {
				t.Errorf("%v; allowed: %v", err, tt.allowed)
			}
		})
	}
}

// ports gives each entry of a list the port that the test asks at, unless it has one.
func ports(list string) []string {
	entries := strings.Split(list, ",")
	for i, entry := range entries {
		if !strings.Contains(entry, ":") {
			entries[i] += ":1"
		}
	}
	return entries
}
