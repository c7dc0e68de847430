package requests_test

import (
	"testing"

	"countersign/models/storetest"
)

// bench is a bench of storetest with what tests of reading do on it.
type bench struct{ *storetest.Bench }

func newBench(t *testing.T, opts ...storetest.Option) *bench {
	t.Helper()
	return &bench{storetest.NewBench(t, opts...)}
}

// outsideWorld is a bench with an upstream.
type outsideWorld struct {
	*bench
	*storetest.OutsideWorld
}

func newOutsideWorld(t *testing.T) *outsideWorld {
	t.Helper()
	b := newBench(t)
	return &outsideWorld{b, storetest.NewOutsideWorld(t, b.Bench)}
}
