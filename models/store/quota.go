package store

import (
	"fmt"
	"math"
	"time"

	"countersign/models"
)

const (
	defaultAsksPerMinute   = 600
	defaultPendingPerAgent = 10_000
	maxQuotaEntries        = 10_000
)

// quota keeps the limits on asking. It is used inside write only, one caller at
// a time, and so has no lock. Counts live in memory: a restart forgives.
type quota struct {
	perMinute float64 // 0: off
	pending   int     // 0: off
	buckets   map[models.TokenID]bucket
	// atMost is an upper bound of an agent's pending rows: counted anew only when
	// it reaches the limit, so that an ask does not count up to 10,000 rows.
	atMost map[models.AgentID]int
	stale  chan struct{}
}

type bucket struct {
	tokens float64
	at     time.Time
}

func (q *quota) init(opts Options) {
	q.perMinute, q.pending = defaultAsksPerMinute, defaultPendingPerAgent
	if opts.AsksPerMinute != 0 {
		q.perMinute = math.Max(0, float64(opts.AsksPerMinute))
	}
	if opts.PendingPerAgent != 0 {
		q.pending = max(0, opts.PendingPerAgent)
	}
	q.buckets = make(map[models.TokenID]bucket)
	q.atMost = make(map[models.AgentID]int)
	q.stale = make(chan struct{}, 1)
}

// forget drops the counts at the next ask: another process may have added rows.
func (q *quota) forget() {
	select {
	case q.stale <- struct{}{}:
	default:
	}
}

// admit counts one new ask of the actor's, or refuses it with the seconds to
// wait. It refuses before anything was written.
func (q *quota) admit(t *tx, actor models.Actor) error {
	select {
	case <-q.stale:
		clear(q.atMost)
	default:
	}
	if err := q.admitPending(t, actor); err != nil {
		return err
	}
	return q.admitRate(t.now, actor)
}

func (q *quota) admitPending(t *tx, actor models.Actor) error {
	if q.pending == 0 {
		return nil
	}
	agent := actor.AgentID()
	n, known := q.atMost[agent]
	if !known || n >= q.pending {
		if err := t.conn.row(t.hot.pendingOfAgent, agent, q.pending).Scan(&n); err != nil {
			return fmt.Errorf("count pending: %w", err)
		}
	}
	if n >= q.pending {
		return &models.Error{
			Code:              models.CodeTooManyPending,
			Text:              fmt.Sprintf("This agent has %d requests waiting, which is the limit; wait until some are decided, or cancel them.", q.pending),
			RetryAfterSeconds: 60,
		}
	}
	if len(q.atMost) >= maxQuotaEntries {
		clear(q.atMost)
	}
	q.atMost[agent] = n + 1
	return nil
}

func (q *quota) admitRate(now time.Time, actor models.Actor) error {
	if q.perMinute == 0 {
		return nil
	}
	b, known := q.buckets[actor.TokenID]
	if !known {
		if len(q.buckets) >= maxQuotaEntries {
			clear(q.buckets)
		}
		b = bucket{tokens: q.perMinute, at: now}
	}
	b.tokens = math.Min(q.perMinute, b.tokens+now.Sub(b.at).Minutes()*q.perMinute)
	b.at = now
	if b.tokens < 1 {
		q.buckets[actor.TokenID] = b
		wait := int(math.Ceil((1 - b.tokens) / q.perMinute * 60))
		return &models.Error{
			Code:              models.CodeTooManyRequests,
			Text:              fmt.Sprintf("This token may ask %.0f times a minute; try again in %d s. A repeat of a request that stands is not counted.", q.perMinute, wait),
			RetryAfterSeconds: wait,
		}
	}
	b.tokens--
	q.buckets[actor.TokenID] = b
	return nil
}
