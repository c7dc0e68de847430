package upstream_test

import (
	"testing"
	"time"

	"countersign/models"
	"countersign/workers/upstream"
)

// TestUpstreamsFromBeforeKeepTheirAddresses although new ones are refused there.
func TestUpstreamsFromBeforeKeepTheirAddresses(t *testing.T) {
	t.Parallel()
	clients := upstream.NewClients(nil, upstream.Hosts{"fd12::8": true})
	t.Cleanup(clients.CloseIdleConnections)
	for _, tt := range []struct {
		url     string
		checked bool
		ok      bool
	}{
		{"http://[fd12::7]", true, false},
		{"http://[fd12::7]", false, true},
		{"http://[fd12::8]", true, true},
		{"http://metadata.google.internal", true, false},
		{"http://metadata.google.internal", false, true},
		{"http://169.254.169.254", false, false},
	} {
		_, err := clients.For(&models.Upstream{BaseURL: tt.url, Dialect: "plain", CheckedAddress: tt.checked}, "k", time.Second)
		if (err == nil) != tt.ok {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}
