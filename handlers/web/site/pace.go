package site

import (
	"maps"
	"sync"
	"time"

	"countersign/models"
)

// testEvery is how often one person may send a test: somebody's mailbox is at the other end.
const testEvery = 10 * time.Second

// TestPace remembers who sent a test a moment ago.
type TestPace struct {
	mu   sync.Mutex
	last map[models.UserID]time.Time
}

// Take is CodeTooManyRequests for who sent one a moment ago.
func (p *TestPace) Take(who models.UserID, now time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil {
		p.last = map[models.UserID]time.Time{}
	}
	maps.DeleteFunc(p.last, func(_ models.UserID, at time.Time) bool { return now.Sub(at) >= testEvery })
	if at, there := p.last[who]; there {
		e := models.Errorf(models.CodeTooManyRequests, "You sent a test a moment ago. Try again in a few seconds.")
		e.RetryAfterSeconds = int((testEvery - now.Sub(at)) / time.Second)
		return e
	}
	p.last[who] = now
	return nil
}
