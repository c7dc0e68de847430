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
	case <-slow.Lag:
	default:
		t.Error("topics were dropped without a word")
	}
}

func TestBusTellsWhatWasPublishedSinceAMark(t *testing.T) {
	t.Parallel()
	bus := events.NewBus()
	bus.Publish(events.Policy)
	before := bus.Mark()
	bus.Publish(events.InboxOf("a"), events.Approval("x"), events.InboxOf("a"))
	after := bus.Mark()
	topics := []events.Topic{events.Policy, events.InboxOf("a"), events.Outside}
	sub, missed, known := bus.SubscribeSince(before, 4, topics...)
	if !known || len(missed) != 1 || missed[0] != events.InboxOf("a") {
		t.Errorf("missed %v, known %v; want inbox:a only", missed, known)
	}
	bus.Publish(events.Policy)
	if got := <-sub.C; got != events.Policy {
		t.Errorf("heard %q after subscribing", got)
	}
	sub.Close()
	if _, missed, known := bus.SubscribeSince(after, 4, events.InboxOf("a")); !known || len(missed) != 0 {
		t.Errorf("missed %v, known %v; want nothing", missed, known)
	}
}

// However much is published, what is told since a mark is all of it or "not known".
func TestBusForgetsNothingSinceAMark(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 1000, 1022, 1023, 1024, 1025, 3000} {
		for _, before := range []int{0, 1, 1500} {
			bus := events.NewBus()
			for range before {
				bus.Publish(events.Policy)
			}
			mark := bus.Mark()
			if n > 0 {
				bus.Publish(events.Access)
			}
			for range n - 1 {
				bus.Publish(events.Policy)
			}
			_, missed, known := bus.SubscribeSince(mark, 1, events.Access)
			switch {
			case !known && n < 1000:
				t.Errorf("%d published before and %d since: not known", before, n)
			case known && (len(missed) == 1) != (n > 0):
				t.Errorf("%d published before and %d since: missed %v", before, n, missed)
			case known && n > 2000:
				t.Errorf("%d published since are all remembered", n)
			}
		}
	}
}

func TestBusSaysThatItDoesNotKnowTheMark(t *testing.T) {
	t.Parallel()
	bus := events.NewBus()
	old := bus.Mark()
	for range 2000 {
		bus.Publish(events.Approval("x"))
	}
	for _, mark := range []events.Mark{"", ".", "nonsense", events.NewBus().Mark(), old} {
		sub, missed, known := bus.SubscribeSince(mark, 4, events.Policy)
		if known || missed != nil {
			t.Errorf("mark %q: missed %v, known %v", mark, missed, known)
		}
		if bus.Publish(events.Policy); <-sub.C != events.Policy {
			t.Errorf("mark %q: not subscribed", mark)
		}
		sub.Close()
	}
}
