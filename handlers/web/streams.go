package web

import (
	"sync"

	"countersign/models"
)

// streams counts who has how many streams open, and ends all of them at once.
type streams struct {
	most    int // per person; negative: no limit
	stopped chan struct{}
	once    sync.Once

	mu   sync.Mutex
	open map[models.UserID]int
}

func newStreams(most int) *streams {
	if most == 0 {
		most = DefaultStreams
	}
	return &streams{most: most, stopped: make(chan struct{}), open: make(map[models.UserID]int)}
}

// enter counts one stream more, or refuses it: CodeTooManyRequests.
func (s *streams) enter(user models.UserID) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.most >= 0 && s.open[user] >= s.most {
		return nil, &models.Error{
			Code: models.CodeTooManyRequests, RetryAfterSeconds: 10,
			Text: "Too many pages of yours are open at once: close some, then reload.",
		}
	}
	s.open[user]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[user]--; s.open[user] <= 0 {
			delete(s.open, user)
		}
	}, nil
}

// total counts the open streams.
func (s *streams) total() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, open := range s.open {
		n += open
	}
	return n
}

func (s *streams) stop() { s.once.Do(func() { close(s.stopped) }) }
