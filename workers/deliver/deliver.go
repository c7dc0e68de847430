// Package deliver sends other systems the decisions on what they asked for. A decision
// becomes the outcome only once it was sent. It is sent at least once, and no other
// decision ever is. At most one process of an installation sends at a time.
package deliver

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/outside"
	"countersign/models/store"
	"countersign/workers"
	"countersign/workers/upstream"
)

// Options are what a Deliverer works with.
type Options struct {
	Store  *store.Store
	Holder string         // names this process among those on the database; empty: made up
	HTTP   *http.Client   // for all upstreams; nil: each as far as it may reach
	Allow  upstream.Hosts // that upstreams may lie at, wherever they are
	Log    *slog.Logger   // slog.Default if nil

	Timeout     time.Duration // of one request; 0: 30 s
	LeaseTTL    time.Duration // after which another process takes over; 0: 20 s
	Concurrency int           // attempts at once, of each upstream; 0: 8

	// Between attempts of one verdict: the first pause (0: 1 s), each twice the one
	// before, up to the longest (0: 2 minutes).
	FirstRetry, LongestRetry time.Duration
}

const lease = "deliver"

var topics = []events.Topic{events.Upstreams, events.Outside}

// look is the longest sleep, in case a signal was missed; 0: as long as a loop's is.
var look time.Duration

// Deliverer sends decisions to other systems.
type Deliverer struct {
	Options
	clients *upstream.Clients
}

// New makes a deliverer; Run has it work.
func New(o Options) *Deliverer {
	if o.Concurrency <= 0 {
		o.Concurrency = 8
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.FirstRetry <= 0 {
		o.FirstRetry = time.Second
	}
	if o.LongestRetry <= 0 {
		o.LongestRetry = 2 * time.Minute
	}
	return &Deliverer{o, upstream.NewClients(o.HTTP, o.Allow)}
}

// Run sends decisions while this process holds the lease, until ctx ends. Without an upstream, no process takes the
// lease.
func (d *Deliverer) Run(ctx context.Context) {
	defer d.clients.CloseIdleConnections()
	workers.Lead(ctx, d.Log, workers.Post{
		Name: lease, Holder: d.Holder, TTL: d.LeaseTTL, Leases: d.Store.Nodes, Bus: d.Store.Bus(), Topics: topics,
		HasWork: outside.New(d.Store).HasUpstreams, Work: d.work,
	})
}

// work sends the decisions that are due: several at a time, but each by one attempt at
// a time.
func (d *Deliverer) work(ctx context.Context, l *models.Lease) {
	workers.Loop[models.ResponseID, models.UpstreamID]{
		Bus: d.Store.Bus(), Topics: topics, Now: d.Store.Now, Log: d.Log, Most: d.Concurrency, Longest: look,
		Round: func(ctx context.Context, attempts *workers.Attempts[models.ResponseID, models.UpstreamID]) (time.Time, error) {
			// Decisions that are being sent come first in the list: it must reach past them.
			due, next, err := outside.New(d.Store).DueDeliveries(ctx, 2*d.Concurrency)
			for u, ids := range due {
				for _, id := range ids {
					attempts.Begin(id, u, func() { d.Once(ctx, l, id) })
				}
			}
			return next, err
		},
	}.Run(ctx)
}

// Once makes one attempt to send a decision and stores how it ended.
func (d *Deliverer) Once(ctx context.Context, l *models.Lease, id models.ResponseID) {
	log := d.Log.With(slog.String("approval", string(id)))
	delivery, u, err := outside.New(d.Store).BeginDelivery(ctx, l, id)
	if err != nil {
		d.failed(ctx, log, err)
		return
	}
	if delivery == nil {
		return
	}
	end := d.tell(ctx, delivery, u)
	if end.Result == models.DeliveryLater {
		end.Pause, end.Key = d.pause(delivery.Attempts), u.KeySealed
	}
	if end.Result == models.DeliveryLater || end.Result == models.DeliveryRefused {
		log.WarnContext(ctx, "a decision is not sent yet", slog.String("upstream", u.Name),
			slog.Int("attempt", delivery.Attempts), slog.String("problem", end.Text))
	}
	// The delivery has been sent: a stop does not lose its result.
	if err := outside.New(d.Store).EndDelivery(context.WithoutCancel(ctx), l, id, end); err != nil {
		d.failed(ctx, log.With(slog.String("told", string(end.Result))), err)
	}
}

// failed logs what went wrong, and waits: its caller would otherwise retry the same due delivery at once.
func (d *Deliverer) failed(ctx context.Context, log *slog.Logger, err error) {
	workers.Failed(ctx, log, err)
	wait := time.NewTimer(d.FirstRetry)
	defer wait.Stop()
	select {
	case <-ctx.Done():
	case <-wait.C:
	}
}

// pause is how long the next attempt waits: twice as long after each, and up to a
// tenth less at random.
func (d *Deliverer) pause(attempts int) time.Duration {
	pause := min(d.FirstRetry<<min(max(attempts-1, 0), 20), d.LongestRetry)
	return pause - rand.N(pause/10+1) //nolint:gosec // spreads load, guards nothing
}

// tell sends a decision and says what the answer means for it.
func (d *Deliverer) tell(ctx context.Context, v *models.Delivery, u *models.Upstream) models.DeliveryEnd {
	key, err := outside.New(d.Store).UpstreamKey(u)
	if err != nil {
		return retryLater(err.Error(), false)
	}
	client, err := d.clients.For(u, key, d.Timeout)
	if err != nil {
		return retryLater(err.Error(), false)
	}
	var o upstream.Outcome
	if v.Kind == models.OutsideContact {
		o = client.RespondContact(ctx, v.CallID, v.Answer, v.Option)
	} else {
		o = client.RespondCall(ctx, v.CallID, v.Approved, v.Reason)
	}
	switch o.Delivery {
	case upstream.Delivered:
		return models.DeliveryEnd{Result: models.DeliveryTaken, Text: o.Text}
	case upstream.Gone:
		return models.DeliveryEnd{Result: models.DeliveryGone, Text: o.Text}
	case upstream.Conflict:
		if !v.Lost {
			return models.DeliveryEnd{
				Result: models.DeliveryElsewhere,
				Text:   "The other system already had a decision (already_responded): it was settled there.",
			}
		}
		return readBack(ctx, client, v)
	case upstream.WrongKey:
		return wrongKey(o.Text)
	case upstream.Refused:
		refusal := models.DeliveryEnd{Result: models.DeliveryRefused, Text: o.Text, Status: o.Status, Words: o.Words}
		if !v.Lost {
			return refusal
		}
		// It may refuse because it has the decision from before.
		return refusedAfterLost(ctx, client, v, refusal)
	case upstream.Retry:
	}
	return retryLater(o.Text, o.Lost)
}

func wrongKey(text string) models.DeliveryEnd {
	return models.DeliveryEnd{Result: models.DeliveryLater, Text: text, WrongKey: true}
}

func retryLater(text string, lost bool) models.DeliveryEnd {
	return models.DeliveryEnd{Result: models.DeliveryLater, Lost: lost, Text: text}
}

// refusedAfterLost finds out whether a verdict may be taken back that was refused
// after an attempt whose answer was lost: only where the other system still waits.
func refusedAfterLost(
	ctx context.Context, client *upstream.Client, v *models.Delivery, refusal models.DeliveryEnd,
) models.DeliveryEnd {
	s, err := currentState(ctx, client, v)
	if err == nil && !s.HasDecision {
		return refusal
	}
	if !errors.Is(err, upstream.ErrCannot) {
		return endOf(s, err, v)
	}
	lists, err := client.Lists(ctx, v.Kind == models.OutsideContact, v.CallID)
	switch {
	case upstream.RefusesKey(err) != 0:
		return wrongKey(err.Error())
	case err != nil:
		return retryLater(refusal.Text+" An answer was lost before, and whether it still waits could not be found out: "+err.Error(), false)
	case lists:
		return refusal
	}
	return models.DeliveryEnd{
		Result: models.DeliveryElsewhere,
		Text: refusal.Text +
			" It no longer lists the call, and an answer was lost before: it was settled there, perhaps by this decision.",
	}
}

// readBack finds out whose verdict the other system has, after an attempt of ours
// whose answer was lost.
func readBack(ctx context.Context, client *upstream.Client, v *models.Delivery) models.DeliveryEnd {
	s, err := currentState(ctx, client, v)
	return endOf(s, err, v)
}

func currentState(ctx context.Context, client *upstream.Client, v *models.Delivery) (*upstream.RemoteState, error) {
	if v.Kind == models.OutsideContact {
		return client.ReadBackContact(ctx, v.CallID)
	}
	return client.ReadBackCall(ctx, v.CallID)
}

// endOf says what the state of a call at the other system means for the delivery.
func endOf(s *upstream.RemoteState, err error, v *models.Delivery) models.DeliveryEnd {
	switch {
	case errors.Is(err, upstream.ErrCannot):
		return models.DeliveryEnd{
			Result: models.DeliveryConfirmed,
			Text:   "Confirmed by 409: the answer to the decision was lost, and the other system then said that it has one.",
		}
	case models.ErrorCode(err) == models.CodeNotFound:
		return models.DeliveryEnd{Result: models.DeliveryGone, Text: "The other system no longer knows the call."}
	case upstream.RefusesKey(err) == http.StatusUnauthorized:
		return wrongKey(err.Error())
	case err != nil:
		return retryLater("The other system has a decision, and could not be asked which one: "+err.Error(), false)
	case !s.HasDecision:
		return retryLater("The other system refuses the decision, and says that it has none.", false)
	case sameAnswer(s, v):
		return models.DeliveryEnd{
			Result: models.DeliveryTaken, Text: "An answer was lost; read back, the other system has this decision.",
		}
	}
	return models.DeliveryEnd{
		Result: models.DeliveryElsewhere, Text: "Read back, the other system has a different decision: it was settled there.",
	}
}

func sameAnswer(s *upstream.RemoteState, v *models.Delivery) bool {
	if v.Kind == models.OutsideContact {
		return s.Text == v.Answer
	}
	return s.Approved == v.Approved
}
