package outward

import (
	"testing"

	"go.uber.org/goleak"
)

// No connection outlives its request: each is judged by the list of its own time.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// No proxy of the environment is asked: it would connect to what was not checked.
func TestNoProxy(t *testing.T) {
	t.Parallel()
	if New(Options{}).transport(t.Context(), nil, "x").Proxy != nil {
		t.Error("there is a proxy")
	}
}
