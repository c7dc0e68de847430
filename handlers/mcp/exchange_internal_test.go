package mcp

import (
	"net/http/httptest"
	"testing"
)

// TestABatchIsToldOn: the first of a batch that is answered does not end what is told to those
// who still wait.
func TestABatchIsToldOn(t *testing.T) {
	t.Parallel()
	for _, one := range []*message{nil, {}} {
		x := &exchange{ctx: t.Context(), ResponseWriter: httptest.NewRecorder(), one: one}
		x.begin("", "waiting")
		x.rest()
		if goesOn := x.beat.Stop(); goesOn != (one == nil) {
			t.Errorf("one call alone: %t; it is told on: %t", one != nil, goesOn)
		}
	}
}
