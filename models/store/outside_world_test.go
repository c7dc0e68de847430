package store_test

import (
	"testing"

	"countersign/models/storetest"
)

// outsideWorld is a bench with an upstream.
type outsideWorld struct {
	*bench
	*storetest.OutsideWorld
}

func newOutsideWorld(t *testing.T, opts ...storetest.Option) *outsideWorld {
	t.Helper()
	b := newBench(t, opts...)
	return &outsideWorld{b, storetest.NewOutsideWorld(t, b.Bench)}
}
