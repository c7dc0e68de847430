package handlers

import (
	"sync"

	"countersign/models"
)

// DefaultStreams is how many streams one person or agent may have open.
const DefaultStreams = 20

// Streams counts who has how many event streams open, over all surfaces, and
// ends all of them at once.
type Streams struct {
	most int
	stop chan struct{}
	once sync.Once

	mu     sync.Mutex
	open   map[string]int
	total  int
	people int
}

// NewStreams allows each person and each agent most streams at a time; zero is
// DefaultStreams, negative is no limit.
func NewStreams(most int) *Streams {
	if most == 0 {
		most = DefaultStreams
	}
	return &Streams{most: most, stop: make(chan struct{}), open: make(map[string]int)}
}

// Enter counts one stream more of actor's, whatever credential it was opened
// with, or refuses it: CodeTooManyRequests. An agent's are not its owner's, so
// that no agent takes the place of pages.
func (s *Streams) Enter(actor models.Actor) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.most >= 0 && s.open[actor.ID] >= s.most {
		return nil, &models.Error{
			Code: models.CodeTooManyRequests, RetryAfterSeconds: 10,
			Text: "Too many pages or event streams of yours are open at once: close some, then try again.",
		}
	}
	people := 0
	if actor.Kind == models.ActorUser {
		people = 1
	}
	s.open[actor.ID]++
	s.total++
	s.people += people
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.total--
		s.people -= people
		if s.open[actor.ID]--; s.open[actor.ID] <= 0 {
			delete(s.open, actor.ID)
		}
	}, nil
}

// Open is how many streams are open now.
func (s *Streams) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}

// Watched reports whether a person has a page or a stream open now.
func (s *Streams) Watched() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.people > 0
}

// Stop ends open streams, and new ones at once. Stopping twice is harmless.
func (s *Streams) Stop() { s.once.Do(func() { close(s.stop) }) }

// Stopped is closed by Stop.
func (s *Streams) Stopped() <-chan struct{} { return s.stop }
