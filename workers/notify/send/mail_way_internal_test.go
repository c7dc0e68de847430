package send

import "testing"

// Without TLS the mail server has to be on this machine, wherever its name leads.
func TestOnThisMachine(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"127.0.0.1:25": true, "[::1]:25": true, "[::ffff:127.0.0.1]:25": true,
		"10.0.0.1:25": false, "0.0.0.0:25": false, "192.0.2.1:25": false, "[fe80::1%eth0]:25": false, "localhost:25": false, "": false,
	} {
		if got := onThisMachine(address) == nil; got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
}
