package outside_test

import (
	"testing"

	"countersign/models/storetest"
)

// world is a bench with an upstream.
type world struct {
	*storetest.Bench
	*storetest.OutsideWorld
}

func newWorld(t *testing.T, opts ...storetest.Option) *world {
	t.Helper()
	b := storetest.NewBench(t, opts...)
	return &world{b, storetest.NewOutsideWorld(t, b)}
}
