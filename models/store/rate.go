package store

import (
	"math"
	"time"

	"countersign/models"
)

// rate is how often each client may do something: most times per length of time,
// at once or spread over it. What was not used comes back steadily.
type rate struct {
	most    float64 // 0: off
	per     time.Duration
	buckets map[string]bucket
}

// bucket is what one client may still do, as of a time.
type bucket struct {
	left float64
	at   time.Time
}

// init takes a setting: 0 is the initial value, negative is off.
func (r *rate) init(most, initial int, per time.Duration) {
	if most == 0 {
		most = initial
	}
	r.most, r.per, r.buckets = math.Max(0, float64(most)), per, make(map[string]bucket)
}

// take counts n times of the actor's token, or session's person, or says in how
// many seconds to try again. More than can ever be done at once is counted as all.
func (r *rate) take(now time.Time, actor models.Actor, n int) (wait int) {
	if r.most == 0 || n == 0 {
		return 0
	}
	key := string(actor.TokenID)
	if key == "" {
		key = actor.ID
	}
	b, known := r.buckets[key]
	if !known {
		if len(r.buckets) >= maxQuotaEntries {
			clear(r.buckets)
		}
		b = bucket{left: r.most, at: now}
	}
	b.left = math.Min(r.most, b.left+float64(now.Sub(b.at))/float64(r.per)*r.most)
	b.at = now
	if want := math.Min(float64(n), r.most); b.left < want {
		r.buckets[key] = b
		return int(math.Ceil((want - b.left) / r.most * r.per.Seconds()))
	}
	b.left = math.Max(0, b.left-float64(n))
	r.buckets[key] = b
	return 0
}

// spare reports whether n times more are certainly allowed.
func (r *rate) spare(actor models.Actor, n int) bool {
	if r.most == 0 {
		return true
	}
	key := string(actor.TokenID)
	b, known := r.buckets[key]
	return !known && float64(n) <= r.most || known && float64(n) <= b.left
}
