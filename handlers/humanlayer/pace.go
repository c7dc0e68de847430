package humanlayer

import (
	"sync"
	"time"

	"countersign/models"
)

const (
	// pollsPerMinute is how often one token may look without being slowed down. The SDKs
	// do so every 3 seconds for each call that waits.
	pollsPerMinute = 600
	// longestDelay is how long a poll above that is delayed at most. It is never refused:
	// any error ends the client's call.
	longestDelay = 5 * time.Second
	maxPaced     = 10_000
)

// pace slows down who polls too often.
type pace struct {
	perSecond, burst float64
	longest          time.Duration // of a delay

	mu      sync.Mutex
	buckets map[models.TokenID]bucket
}

// bucket is how many polls a token has left, as of a time; below zero: it is slowed down.
type bucket struct {
	tokens float64
	at     time.Time
}

func newPace(perMinute int, longest time.Duration) *pace {
	return &pace{
		perSecond: float64(perMinute) / 60, burst: float64(perMinute), longest: longest,
		buckets: make(map[models.TokenID]bucket),
	}
}

// delay counts one poll and says how long it has to wait.
func (p *pace) delay(now time.Time, token models.TokenID) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	b, known := p.buckets[token]
	if !known {
		if len(p.buckets) >= maxPaced {
			clear(p.buckets)
		}
		b = bucket{tokens: p.burst, at: now}
	}
	least := -p.perSecond * p.longest.Seconds()
	b.tokens = max(min(p.burst, b.tokens+now.Sub(b.at).Seconds()*p.perSecond)-1, least)
	b.at = now
	p.buckets[token] = b
	if b.tokens >= 0 {
		return 0
	}
	return min(p.longest, time.Duration(-b.tokens/p.perSecond*float64(time.Second)))
}
