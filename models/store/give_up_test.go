package store_test

import (
	"testing"
	"time"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/storetest"
)

// waits has an agent wait for a request by a way; "" has no name.
func (b *bench) waits(t *testing.T, id models.ResponseID, way string) *store.Watch {
	t.Helper()
	var opts []store.WatchOption
	if way != "" {
		opts = append(opts, store.ByWay(way))
	}
	w := b.Watch(t.Context(), b.Agent, id, time.Hour, opts...)
	if a, done, err := w.Look(t.Context()); err != nil || done {
		t.Fatalf("the wait begins with %+v, %v", a, err)
	}
	return w
}

func (b *bench) givesUp(t *testing.T, id models.ResponseID, way string, want models.Status) *models.Approval {
	t.Helper()
	a, err := b.GiveUp(t.Context(), b.Agent, id, way)
	storetest.Must(t, err)
	if a.Status() != want {
		t.Fatalf("%q gave up: the request is %s, want %s", way, a.Status(), want)
	}
	if stored, err := b.Requests.Approval(t.Context(), b.Agent, id); err != nil || stored.Status() != want {
		t.Fatalf("it is stored as %s, %v", stored.Status(), err)
	}
	return a
}

// TestI8OneWayThatGivesUpLeavesTheOther: a request is cancelled with the last way in, and
// not before.
func TestI8OneWayThatGivesUpLeavesTheOther(t *testing.T) {
	t.Parallel()
	for _, other := range []string{"hook", ""} {
		b := newBench(t)
		id := b.AskFor(t, models.AskInput{ToolUseID: "t1"}).ID
		prompt, second := b.waits(t, id, "prompt"), b.waits(t, id, other)
		b.givesUp(t, id, "prompt", models.StatusPending)
		prompt.Close()
		second.Close() // and waits again at once, as those do who wait in slices
		b.Clock.Step(time.Second)
		b.givesUp(t, id, "prompt", models.StatusPending)
		second = b.waits(t, id, other)
		b.Clock.Step(time.Minute)
		b.givesUp(t, id, "prompt", models.StatusPending)
		second.Close()
		b.Clock.Step(time.Minute)
		before := storetest.LedgerAt(t, b.Store)
		a := b.givesUp(t, id, "prompt", models.StatusCancelled)
		if a.Cause != models.CauseCancelled || a.Feedback() != "withdrawn by the agent" {
			t.Errorf("cause %q, %q", a.Cause, a.Feedback())
		}
		storetest.SameStrings(t, "recorded", storetest.ActionsSince(t, b.Store, before), []string{"approval.cancelled " + string(b.Owner.OwnerID)})
		b.givesUp(t, id, "prompt", models.StatusCancelled)
	}
}

// TestGivingUpTheOnlyWayCancels, while it still waits and afterwards, with a name and
// without.
func TestGivingUpTheOnlyWayCancels(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.AskFor(t, models.AskInput{ToolUseID: "t1"}).ID
	defer b.waits(t, first, "prompt").Close()
	b.givesUp(t, first, "prompt", models.StatusCancelled)

	second := b.AskFor(t, models.AskInput{ToolUseID: "t2"}).ID
	one, two := b.waits(t, second, ""), b.waits(t, second, "")
	one.Close()
	b.givesUp(t, second, "", models.StatusPending) // the other goes on
	two.Close()
	b.givesUp(t, second, "", models.StatusCancelled)

	b.givesUp(t, b.AskFor(t, models.AskInput{ToolUseID: "t3"}).ID, "prompt", models.StatusCancelled)
}

// TestI4GivingUpDecidesNothing: what is decided is returned as it is, a held approval is no
// outcome yet, and nobody else gives up for an agent.
func TestI4GivingUpDecidesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.AskFor(t, models.AskInput{ToolUseID: "t1"})
	for who, want := range map[*models.Actor]models.Code{&b.Owner: models.CodeForbidden, &b.Admin: models.CodeForbidden, &b.Other: models.CodeNotFound} {
		storetest.WantUnchanged(t, b.Store, want, func() error { return storetest.Err(b.GiveUp(t.Context(), *who, a.ID, "prompt")) })
	}
	storetest.Must(t, storetest.Err(b.Decide(t.Context(), b.Owner, a.ID, storetest.Yes())))
	before := storetest.LedgerAt(t, b.Store)
	b.givesUp(t, a.ID, "prompt", models.StatusApproved)
	late := b.AskFor(t, models.AskInput{ToolUseID: "t2"})
	b.Clock.Step(5 * time.Minute)
	if got, err := b.GiveUp(t.Context(), b.Agent, late.ID, "prompt"); err != nil || got.Status() != models.StatusExpired {
		t.Errorf("after its deadline: %+v, %v", got, err)
	}
	storetest.SameStrings(t, "recorded", storetest.ActionsSince(t, b.Store, before), []string{"approval.requested " + string(b.Owner.OwnerID)})
}

// TestI8AfterARestartWaysMayComeBack before one of them ends the request for all.
func TestI8AfterARestartWaysMayComeBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.AskFor(t, models.AskInput{ToolUseID: "t1"}).ID
	b.Clock.Step(time.Second)
	storetest.Must(t, b.Close())
	b.Use(storetest.Again(t, b.Store, storetest.WithClock(b.Clock)))
	b.Clock.Step(14 * time.Second)
	b.givesUp(t, id, "prompt", models.StatusPending)
	hook := b.waits(t, id, "hook")
	b.Clock.Step(time.Minute)
	b.givesUp(t, id, "prompt", models.StatusPending)
	hook.Close()
	b.Clock.Step(time.Minute)
	b.givesUp(t, id, "prompt", models.StatusCancelled)
}

// TestI8APollIsAWayIn: who asks again and again waits too, until they ask no more.
func TestI8APollIsAWayIn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	a := b.AskFor(t, models.AskInput{ToolUseID: "call-1", Protocol: models.ProtocolFunctionCalls})
	prompt := b.waits(t, a.ID, "prompt")
	b.Polled(b.Agent, a, "polls")
	b.Clock.Step(5 * time.Second)
	if p := storetest.PresenceOf(t, b, a.ID); !p.Waiting {
		t.Error("whoever polls is shown as gone")
	}
	b.givesUp(t, a.ID, "prompt", models.StatusPending)
	prompt.Close()
	b.Clock.Step(3 * time.Second)
	b.givesUp(t, a.ID, "prompt", models.StatusPending)
	b.Polled(b.Other, a, "polls") // not theirs
	b.Polled(b.Owner, a, "polls") // a person
	b.Clock.Step(7 * time.Second)
	if p := storetest.PresenceOf(t, b, a.ID); p.Waiting || p.Left.IsZero() {
		t.Errorf("nobody has polled for 15 s: %+v", p)
	}
	settled := b.givesUp(t, a.ID, "prompt", models.StatusCancelled)
	b.Polled(b.Agent, settled, "polls")
	if p := storetest.PresenceOf(t, b, a.ID); p.Waiting || !p.Left.IsZero() {
		t.Errorf("what is known of a request that is over: %+v", p)
	}
}
