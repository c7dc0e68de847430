package nodes_test

import (
	"slices"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// A server is listed with the work that it does, counts as gone once it is not seen, and is forgotten after a day, or
// once another has its name; one that ends takes itself away.
func TestServersAreListedAndForgotten(t *testing.T) {
	t.Parallel()
	clock := storetest.NewClock()
	one := storetest.New(t, storetest.WithClock(clock))
	two := storetest.Again(t, one, storetest.WithClock(clock))
	began := clock.Now()
	storetest.Must(t, two.Nodes.Beat(t.Context(), "two", "v2", began))
	storetest.Must(t, one.Nodes.Beat(t.Context(), "one", "v1", began))
	id, err := two.Nodes.Holder()
	storetest.Must(t, err)
	storetest.Must(t, storetest.Err(two.Nodes.TakeLease(t.Context(), "poll", id, time.Minute)))

	names := func() (out []string) {
		all, err := one.Nodes.All(t.Context())
		storetest.Must(t, err)
		for i := range all {
			n := &all[i]
			text := n.Name + " " + n.Version
			if n.Silent(clock.Now()) {
				text += " silent"
			}
			for _, lease := range n.Leases {
				text += " " + lease
			}
			out = append(out, text)
		}
		return out
	}
	want := func(what string, want ...string) {
		t.Helper()
		if got := names(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	want("two run", "one v1", "two v2 poll")
	clock.Step(models.NodeSilent)
	storetest.Must(t, one.Nodes.Beat(t.Context(), "one", "v1", began))
	want("one is not seen", "one v1", "two v2 silent poll")
	clock.Step(time.Minute)
	storetest.Must(t, one.Nodes.Beat(t.Context(), "one", "v1", began))
	want("its lease has ended", "one v1", "two v2 silent")

	three := storetest.Again(t, one, storetest.WithClock(clock))
	storetest.Must(t, three.Nodes.Beat(t.Context(), "two", "v3", clock.Now()))
	want("another has its name", "one v1", "two v3")
	storetest.Must(t, three.Nodes.Leave(t.Context()))
	want("it ends", "one v1")
	storetest.Must(t, two.Nodes.Beat(t.Context(), "two", "v2", began))
	clock.Step(25 * time.Hour)
	storetest.Must(t, one.Nodes.Beat(t.Context(), "one", "v1", began))
	want("a day later", "one v1")
}
