package outward

import "testing"

// No proxy of the environment is asked: it would connect to what was not checked.
func TestNoProxy(t *testing.T) {
	t.Parallel()
	if New(Options{}).transport(nil, "x").Proxy != nil {
		t.Error("there is a proxy")
	}
}
