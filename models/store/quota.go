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
	defaultReportsPerHour  = 20_000
	defaultRunsPerHour     = 1_000
	defaultMessagesPerHour = 1_000
	maxQuotaEntries        = 10_000
)

// quota keeps the limits on what one client stores. It is used inside write only, one caller at
// a time, and so has no lock. Counts live in memory: a restart forgives.
type quota struct {
	asks, reports, runs, messages rate

	pending int // 0: off
	// atMost is an upper bound of an agent's pending rows: counted again only when it reaches the limit, so that an
	// ask does not count up to 10,000 rows.
	atMost map[models.AgentID]int
	stale  chan struct{}
}

func (q *quota) init(opts Options) {
	q.asks.init(opts.AsksPerMinute, defaultAsksPerMinute, time.Minute)
	q.reports.init(opts.ReportsPerHour, defaultReportsPerHour, time.Hour)
	q.runs.init(opts.RunsPerHour, defaultRunsPerHour, time.Hour)
	q.messages.init(opts.MessagesPerHour, defaultMessagesPerHour, time.Hour)
	q.pending = defaultPendingPerAgent
	if opts.PendingPerAgent != 0 {
		q.pending = max(0, opts.PendingPerAgent)
	}
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

// admit counts one new ask of the actor's with an input of so many bytes, or refuses it
// with the seconds to wait. It refuses before anything was written.
func (q *quota) admit(t *Tx, actor models.Actor, input int) error {
	select {
	case <-q.stale:
		clear(q.atMost)
	default:
	}
	if err := q.admitPending(t, actor); err != nil {
		return err
	}
	return q.admitRate(t.Now, actor, models.Weight(input))
}

func (q *quota) admitPending(t *Tx, actor models.Actor) error {
	if q.pending == 0 {
		return nil
	}
	agent := actor.AgentID()
	n, known := q.atMost[agent]
	if !known || n >= q.pending {
		if err := t.Row(t.s.hot.pendingOfAgent, agent, q.pending).Scan(&n); err != nil {
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

func (q *quota) admitRate(now time.Time, actor models.Actor, asks int) error {
	wait := q.asks.take(now, actor, asks)
	if wait == 0 {
		return nil
	}
	if asks > 1 {
		return tooMany(wait,
			"This token may ask %.0f times a minute, and an input of this size counts as %d; try again in %d s. Repeats of an existing request are not counted.", q.asks.most, asks, wait)
	}
	return tooMany(wait,
		"This token may ask %.0f times a minute; try again in %d s. Repeats of an existing request are not counted.",
		q.asks.most, wait)
}

// AdmitRun counts one run that is opened, or refuses it: CodeTooManyRequests.
func (t *Tx) AdmitRun(actor models.Actor) error {
	q := &t.s.quota.runs
	wait := q.take(t.Now, actor, 1)
	if wait == 0 {
		return nil
	}
	return tooMany(wait, "This token may open %.0f runs an hour; try again in %d s. Opening a run again is not counted.",
		q.most, wait)
}

// AdmitMessage counts one message of a person's, or refuses it: CodeTooManyRequests.
func (t *Tx) AdmitMessage(actor models.Actor) error {
	q := &t.s.quota.messages
	wait := q.take(t.Now, actor, 1)
	if wait == 0 {
		return nil
	}
	return tooMany(wait, "You may send %.0f messages an hour; try again in %d s.", q.most, wait)
}

// SparesReports reports whether n events more are certainly allowed. Nothing is counted.
func (t *Tx) SparesReports(actor models.Actor, n int) bool {
	return t.s.quota.reports.spare(actor, n)
}

// AdmitReports counts so many events that are new, or refuses them: CodeTooManyRequests.
func (t *Tx) AdmitReports(actor models.Actor, n int) error {
	q := &t.s.quota.reports
	wait := q.take(t.Now, actor, n)
	if wait == 0 {
		return nil
	}
	return tooMany(wait,
		"This token may report %.0f events an hour, and here are %d new ones; try again in %d s. What was reported before is not counted.", q.most, n, wait)
}

func tooMany(wait int, text string, args ...any) error {
	return &models.Error{Code: models.CodeTooManyRequests, Text: fmt.Sprintf(text, args...), RetryAfterSeconds: wait}
}

// rate is how often each client may do something: most times per length of time, at once or spread over it. Unused
// times come back steadily.
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
