package events_test

import (
	"testing"

	"countersign/models/events"
)

func TestBusHandsTopicsToTheirSubscribersOnly(t *testing.T) {
	t.Parallel()
	bus := events.NewBus()
	mine := bus.Subscribe(4, events.InboxOf("a"), events.Policy)
	other := bus.Subscribe(4, events.InboxOf("b"))
	bus.Publish(events.InboxOf("a"), events.Policy, events.Approval("x"))
	if got := []events.Topic{<-mine.C, <-mine.C}; got[0] != "inbox:a" || got[1] != "policy" {
		t.Errorf("topics = %v", got)
	}
	if len(other.C) != 0 {
		t.Error("a stranger's topic was delivered")
	}
	mine.Close()
	mine.Close()
	bus.Publish(events.Policy)
	if len(mine.C) != 0 || bus.Subscribers(events.Policy) != 0 {
		t.Error("a closed subscription still receives")
	}
}

func TestBusNeverBlocksAndSaysThatItDropped(t *testing.T) {
	t.Parallel()
	bus := events.NewBus()
	slow := bus.Subscribe(1, events.Policy)
	defer slow.Close()
	for range 100 {
		bus.Publish(events.Policy)
	}
	<-slow.C
	select {
	case <-slow.Lagged:
	default:
		t.Error("topics were dropped without a word")
	}
}
