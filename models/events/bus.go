// Package events is the in-process bus: it carries names of what changed, never
// content, is buffered, never blocks a publisher and may drop. Who hears a name
// reads the store; who hears nothing reads again after a while.
package events

import (
	"crypto/rand"
	"strings"
	"sync"
)

// Topic names what changed.
type Topic string

// The topics that are not about one object.
const (
	InboxOfAdmins  Topic = "inbox:admins"  // a request that every admin may decide came or went
	RecordOfAdmins Topic = "record:admins" // as RecordOf, for those who read all
	Policy         Topic = "policy"        // a new policy version is active
	Access         Topic = "access"        // a user, token or session changed: check credentials again
	Outside        Topic = "outside"       // another process wrote: anything may have changed
)

// InboxOf is the topic of what one person may decide.
func InboxOf(userID string) Topic { return Topic("inbox:" + userID) }

// RecordOf is the topic of events for one person that change nothing which they may decide: a request that was rejected
// as it came, a run's new status.
func RecordOf(userID string) Topic { return Topic("record:" + userID) }

// Agent is the topic of one agent's requests and runs.
func Agent(agentID string) Topic { return Topic("agent:" + agentID) }

// Approval is the topic of one approval.
func Approval(responseID string) Topic { return Topic("approval:" + responseID) }

// IsApproval reports whether a topic is one approval's, and which.
func (t Topic) IsApproval() (responseID string, ok bool) {
	return strings.CutPrefix(string(t), string(Approval("")))
}

// Presence is the topic of whether an agent waits for one approval. It is no change:
// nothing of it is stored.
func Presence(responseID string) Topic { return Topic("presence:" + responseID) }

// Conversation is the topic of changes in one conversation: its history, its status, its budget.
func Conversation(conversationID string) Topic { return Topic("conversation:" + conversationID) }

// Draft is the topic of what the built-in agent is writing in one conversation.
// It is no change: nothing of it is stored.
func Draft(conversationID string) Topic { return Topic("draft:" + conversationID) }

// Unremembered reports whether a topic may be published only while somebody listens, so that
// SubscribeSince does not know of all that happened.
func (t Topic) Unremembered() bool {
	return strings.HasPrefix(string(t), string(Presence(""))) || strings.HasPrefix(string(t), string(Draft("")))
}

// Upstreams tells that another system was added, changed, or has something to be
// told.
const Upstreams Topic = "upstreams"

// Notices tells that somebody is to be told of something, or of less.
const Notices Topic = "notices"

// Webhooks tells that an endpoint was added or changed, or that somebody acted on one.
const Webhooks Topic = "webhooks"

// AgentInbox tells that the built-in agent may have something to do.
const AgentInbox Topic = "agent-inbox"

// remembered is how many published topics a bus remembers for SubscribeSince.
const remembered = 1024

// Bus hands topics to those who subscribed to them. The zero Bus is not usable.
type Bus struct {
	mu   sync.Mutex
	subs map[Topic]map[*Subscription]struct{}

	past  [remembered]published // a ring; the newest is at count-1
	count int                   // topics published in all
	mark  Mark                  // of this moment; empty until somebody asks for it
}

// published is a topic, and the mark of the moment after it, if somebody asked for one.
type published struct {
	topic Topic
	after Mark
}

// NewBus makes an empty bus.
func NewBus() *Bus { return &Bus{subs: make(map[Topic]map[*Subscription]struct{})} }

// Mark names a moment of a bus, and tells nothing of what happens on it.
type Mark string

// Mark is this moment, for SubscribeSince. A caller that takes it before it reads the store hears later of all that was
// published after the read.
func (b *Bus) Mark() Mark {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mark == "" {
		b.mark = Mark(rand.Text())
		b.past[(b.count+remembered-1)%remembered].after = b.mark
	}
	return b.mark
}

// SubscribeSince subscribes as Subscribe does, and returns which of the topics were published
// since the mark, each once. known is false when the bus does not know: the mark is of
// another process or no mark, or too much was published since. Anything may have changed then.
func (b *Bus) SubscribeSince(mark Mark, buffer int, topics ...Topic) (s *Subscription, lost []Topic, known bool) {
	s = b.newSubscription(buffer, topics)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(s)
	if mark == "" {
		return s, nil, false
	}
	found := make(map[Topic]bool, len(topics))
	n := b.count - 1
	for ; n > b.count-remembered && b.past[(n+remembered)%remembered].after != mark; n-- {
		if n < 0 {
			return s, nil, false
		}
		found[b.past[n%remembered].topic] = true
	}
	if b.past[(n+remembered)%remembered].after != mark {
		return s, nil, false
	}
	for _, t := range topics {
		if found[t] {
			lost = append(lost, t)
		}
	}
	return s, lost, true
}

// Subscription receives the topics it asked for on C. When C is full a topic is
// dropped and Lagged is signalled instead: the reader then reads everything.
type Subscription struct {
	C   <-chan Topic
	Lag <-chan struct{}

	c      chan Topic
	lag    chan struct{}
	topics []Topic
	bus    *Bus
}

// Subscribe registers for topics with room for buffer of them. Close it.
func (b *Bus) Subscribe(buffer int, topics ...Topic) *Subscription {
	s := b.newSubscription(buffer, topics)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(s)
	return s
}

func (b *Bus) newSubscription(buffer int, topics []Topic) *Subscription {
	s := &Subscription{c: make(chan Topic, buffer), lag: make(chan struct{}, 1), topics: topics, bus: b}
	s.C, s.Lag = s.c, s.lag
	return s
}

// add registers a subscription. b.mu is held.
func (b *Bus) add(s *Subscription) {
	for _, t := range s.topics {
		if b.subs[t] == nil {
			b.subs[t] = make(map[*Subscription]struct{})
		}
		b.subs[t][s] = struct{}{}
	}
}

// Close ends the subscription; nothing is sent on it afterwards. Closing twice
// is harmless.
func (s *Subscription) Close() {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	for _, t := range s.topics {
		delete(s.bus.subs[t], s)
		if len(s.bus.subs[t]) == 0 {
			delete(s.bus.subs, t)
		}
	}
}

// Publish hands each topic to its subscribers without waiting for any of them.
func (b *Bus) Publish(topics ...Topic) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(topics) > 0 {
		b.mark = ""
	}
	for _, t := range topics {
		b.past[b.count%remembered] = published{topic: t}
		b.count++
		for s := range b.subs[t] {
			select {
			case s.c <- t:
			default:
				select {
				case s.lag <- struct{}{}:
				default:
				}
			}
		}
	}
}

// Subscribers counts the open subscriptions to a topic.
func (b *Bus) Subscribers(t Topic) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.subs[t])
}
