package store

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"countersign/models"
	"countersign/models/db"
)

const (
	defaultAsksPerMinute   = 600
	defaultPendingPerAgent = 10_000
	defaultReportsPerHour  = 20_000
	defaultRunsPerHour     = 1_000
	defaultMessagesPerHour = 1_000

	// testEvery is how often one person may send a test: somebody's mailbox is at the other end.
	testEvery = 10 * time.Second
)

// quota are the limits on what one client stores.
type quota struct {
	asks, reports, runs, messages, tests rate

	pending int // of an agent; 0: off
}

func (q *quota) init(opts Options) {
	q.asks = newRate("asks", opts.AsksPerMinute, defaultAsksPerMinute, time.Minute)
	q.reports = newRate("reports", opts.ReportsPerHour, defaultReportsPerHour, time.Hour)
	q.runs = newRate("runs", opts.RunsPerHour, defaultRunsPerHour, time.Hour)
	q.messages = newRate("messages", opts.MessagesPerHour, defaultMessagesPerHour, time.Hour)
	q.tests = newRate("tests", 1, 1, testEvery)
	q.pending = defaultPendingPerAgent
	if opts.PendingPerAgent != 0 {
		q.pending = max(0, opts.PendingPerAgent)
	}
}

// admitAsk counts one new ask of the actor's with an input of so many bytes, or refuses it with the seconds to wait.
func (t *Tx) admitAsk(actor models.Actor, input int) error {
	if err := t.admitPending(actor); err != nil {
		return err
	}
	asks, most := models.Weight(input), t.s.quota.asks.most
	wait, err := t.s.quota.asks.take(t, actor, asks)
	if err != nil || wait == 0 {
		return err
	}
	if asks > 1 {
		return tooMany(wait,
			"This token may ask %d times a minute, and an input of this size counts as %d; try again in %d s. Repeats of an existing request are not counted.", most, asks, wait)
	}
	return tooMany(wait,
		"This token may ask %d times a minute; try again in %d s. Repeats of an existing request are not counted.", most, wait)
}

// admitPending refuses an agent with too many requests that wait. The writer knows an upper bound of each agent's, and
// counts again only when that reaches the limit.
func (t *Tx) admitPending(actor models.Actor) error {
	most := t.s.quota.pending
	if most == 0 {
		return nil
	}
	agent := actor.AgentID()
	n, known := t.s.known.pending[agent]
	if !known || n >= most {
		if err := t.Row(t.s.hot.pendingOfAgent, agent, most).Scan(&n); err != nil {
			return fmt.Errorf("count pending: %w", err)
		}
	}
	if n >= most {
		return &models.Error{
			Code:              models.CodeTooManyPending,
			Text:              fmt.Sprintf("This agent has %d requests waiting, which is the limit; wait until some are decided, or cancel them.", most),
			RetryAfterSeconds: 60,
		}
	}
	t.s.known.pendingAtMost(agent, n+1)
	return nil
}

// AdmitRun counts one run that is opened, or refuses it: CodeTooManyRequests.
func (t *Tx) AdmitRun(actor models.Actor) error {
	q := &t.s.quota.runs
	wait, err := q.take(t, actor, 1)
	if err != nil || wait == 0 {
		return err
	}
	return tooMany(wait, "This token may open %d runs an hour; try again in %d s. Opening a run again is not counted.",
		q.most, wait)
}

// AdmitMessage counts one message of a person's, or refuses it: CodeTooManyRequests.
func (t *Tx) AdmitMessage(actor models.Actor) error {
	q := &t.s.quota.messages
	wait, err := q.take(t, actor, 1)
	if err != nil || wait == 0 {
		return err
	}
	return tooMany(wait, "You may send %d messages an hour; try again in %d s.", q.most, wait)
}

// AdmitTest counts one test of a channel or webhook, or refuses it: CodeTooManyRequests.
func AdmitTest(t *Tx, actor models.Actor) error {
	wait, err := t.s.quota.tests.take(t, actor, 1)
	if err != nil || wait == 0 {
		return err
	}
	return tooMany(wait, "You sent a test a moment ago. Try again in a few seconds.")
}

// SparesReports reports whether n events more are allowed. Nothing is counted.
func (t *Tx) SparesReports(actor models.Actor, n int) (bool, error) {
	wait, err := t.s.quota.reports.wait(t, actor, n)
	return wait == 0, err
}

// AdmitReports counts so many events that are new, or refuses them: CodeTooManyRequests.
func (t *Tx) AdmitReports(actor models.Actor, n int) error {
	q := &t.s.quota.reports
	wait, err := q.take(t, actor, n)
	if err != nil || wait == 0 {
		return err
	}
	return tooMany(wait,
		"This token may report %d events an hour, and here are %d new ones; try again in %d s. What was reported before is not counted.", q.most, n, wait)
}

func tooMany(wait int, text string, args ...any) error {
	return &models.Error{Code: models.CodeTooManyRequests, Text: fmt.Sprintf(text, args...), RetryAfterSeconds: wait}
}

// rate is how often each client may do something: most times per length of time, at once or spread over it. Unused
// times come back steadily. Of a client the time is kept at which it may do all of it again.
type rate struct {
	kind string
	most int // 0: off
	per  time.Duration
}

// countRate moves that time by ?4, unless it would come after ?5. Where it has passed it is counted from now: ?3.
var countRate = `INSERT INTO rates (kind, client, full_at) VALUES (?1, ?2, ?3)` +
	db.OrAdvance(`rates`, `kind, client`, `full_at`, `?4`, `?5`)

const (
	rateFullAt = `SELECT full_at FROM rates WHERE kind = ? AND client = ?`
	// fullRates are those of clients that may do everything again.
	fullRates = `DELETE FROM rates WHERE full_at <= ?`
)

// newRate takes a setting: 0 is the initial value, negative is off.
func newRate(kind string, most, initial int, per time.Duration) rate {
	if most == 0 {
		most = initial
	}
	return rate{kind: kind, most: max(0, most), per: per}
}

// client is whose times are counted: a token's, or a person's.
func client(actor models.Actor) string { return cmp.Or(string(actor.TokenID), actor.ID) }

// cost is how long n times take to come back, in microseconds. More than can ever be done at once is counted as all.
func (r *rate) cost(n int) int64 { return r.per.Microseconds() * int64(min(n, r.most)) / int64(r.most) }

// take counts n times of the actor's token, or session's person, or says in how many seconds to try again.
func (r *rate) take(t *Tx, actor models.Actor, n int) (wait int, err error) {
	return r.takeOf(t, client(actor), n)
}

func (r *rate) takeOf(t *Tx, client string, n int) (wait int, err error) {
	if r.most == 0 || n == 0 {
		return 0, nil
	}
	now := t.Now.UnixMicro()
	rows, err := t.Exec(t.s.hot.countRate, r.kind, client, now+r.cost(n), r.cost(n), now+r.per.Microseconds())
	if err != nil {
		return 0, fmt.Errorf("count against a limit: %w", err)
	}
	if rows > 0 {
		return 0, nil
	}
	return r.waitOf(t, client, n)
}

// wait is in how many seconds n times are allowed; 0: now.
func (r *rate) wait(t *Tx, actor models.Actor, n int) (seconds int, err error) {
	return r.waitOf(t, client(actor), n)
}

func (r *rate) waitOf(t *Tx, client string, n int) (seconds int, err error) {
	if r.most == 0 {
		return 0, nil
	}
	var fullAt int64
	err = t.Row(t.s.hot.rateFullAt, r.kind, client).Scan(&fullAt)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read a limit: %w", err)
	}
	early := time.Duration(fullAt+r.cost(n)-t.Now.UnixMicro())*time.Microsecond - r.per
	return max(0, int(math.Ceil(early.Seconds()))), nil
}

// attention counts what people are asked about, as the policy of now bounds it.
func (t *Tx) attention() (rate, error) {
	_, p, err := t.Policy()
	if err != nil {
		return rate{}, err
	}
	return rate{kind: "attention", most: p.MaxAsksPerHour(), per: time.Hour}, nil
}

// noteAttention counts that people are asked about a request. One who is asked about more than the policy allows stays at
// the limit.
func (t *Tx) noteAttention(r *models.Response, users []models.UserID) error {
	if r.WhenBusy == models.BusyBatch {
		return nil // they look at the batch when they have the time
	}
	attention, err := t.attention()
	for _, user := range users {
		if err == nil {
			_, err = attention.takeOf(t, string(user), 1)
		}
	}
	return err
}

// allBusy reports whether each of those who would be asked about a request, and could approve it, has been asked about
// as many this hour as the policy allows. Admins who only oversee are not asked.
func (t *Tx) allBusy(r *models.Response, reviewers []models.UserID) (bool, error) {
	attention, err := t.attention()
	if err != nil || attention.most == 0 {
		return false, err
	}
	asked := reviewers
	if who := r.Approvers(); !who.ReviewersOnly && who.SelfApproval != models.SelfNever {
		able, err := t.Enabled(r.OwnerID)
		if err != nil {
			return false, err
		}
		if able {
			asked = append(slices.Clone(reviewers), r.OwnerID)
		}
	}
	for _, user := range asked {
		wait, err := attention.waitOf(t, string(user), 1)
		if err != nil || wait == 0 {
			return false, err
		}
	}
	return len(asked) > 0, nil
}
