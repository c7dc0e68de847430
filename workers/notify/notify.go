// Package notify sends people and groups their notices, by the channels that they have. Notices are rows of the store;
// this worker makes messages of those that are due and hands each to a Sender, at least once. At most one process of an
// installation does so at a time.
package notify

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/notices"
	"countersign/models/store"
	"countersign/workers"
)

// Sender sends one message to where a channel goes. It tells how that ended and never logs
// the target; it ends with the context.
type Sender interface {
	Send(ctx context.Context, kind models.ChannelKind, to models.ChannelTarget, n models.Notice) models.SendResult
}

// Options are what a Notifier works with.
type Options struct {
	Store  *store.Store
	Sender Sender
	Holder string       // names this process among those on the database; empty: made up
	Log    *slog.Logger // slog.Default if nil

	// RequestURL and SettingsURL are the absolute addresses that messages have: of the page
	// of a request (of the inbox, for an empty id), and of a person's settings.
	RequestURL  func(models.ResponseID) string
	SettingsURL string
	// Headline is what a message may say of a request beside the names; empty where its rule
	// does not allow it. nil: nothing.
	Headline func(context.Context, models.ResponseID) (string, error)

	// Observe hears of each attempt: by which kind of channel, and how it ended.
	Observe func(models.ChannelKind, models.SendClass)

	Timeout     time.Duration // of one message; 0: 30 s
	LeaseTTL    time.Duration // after which another process takes over; 0: 20 s
	Concurrency int           // channels that are sent to at once; 0: 8
}

const lease = "notify"

var topics = []events.Topic{events.Notices, events.Outside}

// Notifier sends people their due notices.
type Notifier struct {
	Options

	notices *notices.Notices
}

// New makes a notifier; Run has it work.
func New(o Options) *Notifier {
	if o.Concurrency <= 0 {
		o.Concurrency = 8
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Notifier{o, notices.New(o.Store)}
}

// Run sends due notices while this process holds the lease, until ctx ends. Without a channel, no process takes the
// lease.
func (n *Notifier) Run(ctx context.Context) {
	workers.Lead(ctx, n.Log, workers.Post{
		Name: lease, Holder: n.Holder, TTL: n.LeaseTTL, Leases: n.Store.Nodes, Bus: n.Store.Bus(), Topics: topics,
		HasWork: n.notices.HasChannels, Work: n.work,
	})
}

type attempts = workers.Attempts[models.ChannelID, struct{}]

// work sends due notices, by several channels at once, but by each one message at a time.
func (n *Notifier) work(ctx context.Context, l *models.Lease) {
	workers.Loop[models.ChannelID, struct{}]{
		Bus: n.Store.Bus(), Topics: topics, Now: n.Store.Now, Log: n.Log, Most: n.Concurrency,
		Round: func(ctx context.Context, a *attempts) (time.Time, error) { return n.round(ctx, l, a) },
	}.Run(ctx)
}

// round takes due notices and begins to send them; it returns the time of the next one.
func (n *Notifier) round(ctx context.Context, l *models.Lease, a *attempts) (time.Time, error) {
	next, err := n.notices.Take(ctx, l)
	if err != nil {
		return next, err
	}
	// Messages that are being sent are not due again before their attempt has failed, so that
	// those of busy channels are few.
	due, nextSend, err := n.notices.Due(ctx, 4*n.Concurrency+a.Running())
	if err != nil {
		return next, err
	}
	for _, send := range due {
		a.Begin(send.ChannelID, struct{}{}, func() {
			if err := n.Once(ctx, l, send.ID); err != nil {
				workers.Failed(ctx, n.Log, err)
			}
		})
	}
	if next.IsZero() || !nextSend.IsZero() && nextSend.Before(next) {
		next = nextSend
	}
	return next, nil
}

// Once makes one attempt to send a message and stores how it ended.
func (n *Notifier) Once(ctx context.Context, l *models.Lease, id string) error {
	message, err := n.notices.Begin(ctx, l, id)
	if message == nil {
		return err
	}
	log := n.Log.With(slog.String("channel", string(message.Channel.ID)),
		slog.String("kind", string(message.Channel.Kind)))
	result := models.SendResult{Class: models.SendNotConfigured}
	if err != nil { // where it goes can't be read
		log.ErrorContext(ctx, "a notification can't be sent", slog.String("error", err.Error()))
	} else if err := n.address(ctx, &message.Notice); err != nil {
		return err
	} else {
		result = n.send(ctx, message)
	}
	if ctx.Err() != nil && result.Class != models.SendSent {
		return nil // it did not fail: we stop
	}
	if n.Observe != nil {
		n.Observe(message.Channel.Kind, result.Class)
	}
	if result.Class != models.SendSent {
		log.WarnContext(ctx, "a notification is not sent", slog.String("class", string(result.Class)),
			slog.Int("status", result.Status), slog.Int("attempt", message.Send.Attempts))
	}
	// The message has been sent: a stop does not lose its result.
	return n.notices.End(context.WithoutCancel(ctx), l, message, result)
}

func (n *Notifier) send(ctx context.Context, g *models.Sending) models.SendResult {
	ctx, cancel := context.WithTimeout(ctx, n.Timeout)
	defer cancel()
	return n.Sender.Send(ctx, g.Channel.Kind, g.Target, g.Notice)
}

// address adds to a message the addresses of pages, and the headline where it is allowed.
func (n *Notifier) address(ctx context.Context, notice *models.Notice) error {
	if n.RequestURL != nil {
		notice.URL = n.RequestURL(notice.Request)
	}
	notice.SettingsURL = n.SettingsURL
	if n.Headline == nil || notice.Request == "" {
		return nil
	}
	headline, err := n.Headline(ctx, notice.Request)
	if err != nil {
		return fmt.Errorf("read headline: %w", err)
	}
	notice.Headline = headline
	return nil
}

// Test sends a test by a channel of the actor's, or of a group's for admins, at once. The
// answer's body is for admins only. Codes: forbidden, not_found, conflict (not verified).
func (n *Notifier) Test(ctx context.Context, actor models.Actor, id models.ChannelID) (models.SendResult, error) {
	message, err := n.Store.People.TestOf(ctx, actor, id)
	if err != nil {
		return models.SendResult{}, err
	}
	if err := n.address(ctx, &message.Notice); err != nil {
		return models.SendResult{}, err
	}
	result := n.send(ctx, message)
	if !actor.MayAdminister() {
		result.Body = nil
	}
	return result, n.notices.EndTest(context.WithoutCancel(ctx), message, result)
}
