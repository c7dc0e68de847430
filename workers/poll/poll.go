// Package poll fetches what other systems ask for. At most one process of an
// installation does so at a time, by a lease; all that it writes checks it.
package poll

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/outside"
	"countersign/models/store"
	"countersign/workers"
	"countersign/workers/upstream"
)

// Options are what a poller works with.
type Options struct {
	Store  *store.Store
	Holder string         // names this process among those on the database; empty: made up
	HTTP   *http.Client   // for all upstreams; nil: each as far as it may reach
	Allow  upstream.Hosts // that upstreams may lie at, wherever they are
	Log    *slog.Logger   // slog.Default if nil

	Every    time.Duration // between two polls of one upstream; 0: 5 s
	Longest  time.Duration // between two polls of one that fails; 0: 5 minutes
	Timeout  time.Duration // of one request; 0: 30 s
	LeaseTTL time.Duration // after which another process takes over; 0: 20 s
}

const lease = "poll"

var topics = []events.Topic{events.Upstreams, events.Outside}

// Poller polls upstreams.
type Poller struct {
	Options
	clients *upstream.Clients
}

// New makes a poller; Run has it work.
func New(o Options) *Poller {
	if o.Every <= 0 {
		o.Every = 5 * time.Second
	}
	if o.Longest <= 0 {
		o.Longest = 5 * time.Minute
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Poller{o, upstream.NewClients(o.HTTP, o.Allow)}
}

// Run polls whenever this process holds the lease, until ctx ends. Where there is nothing to poll, no process takes it.
func (p *Poller) Run(ctx context.Context) {
	defer p.clients.CloseIdleConnections()
	workers.Lead(ctx, p.Log, workers.Post{
		Name: lease, Holder: p.Holder, TTL: p.LeaseTTL, Leases: p.Store.Nodes, Bus: p.Store.Bus(), Topics: topics,
		HasWork: outside.New(p.Store).HasUpstreams, Work: p.work,
	})
}

// work polls each upstream when it is due; a slow one holds up no other.
func (p *Poller) work(ctx context.Context, l *models.Lease) {
	workers.Loop[models.UpstreamID, models.UpstreamID]{
		Bus: p.Store.Bus(), Topics: topics, Now: p.Store.Now, Log: p.Log, Most: 1, Longest: p.Every,
		Round: func(ctx context.Context, polls *workers.Attempts[models.UpstreamID, models.UpstreamID]) (time.Time, error) {
			due, next, err := outside.New(p.Store).DueUpstreams(ctx)
			for i := range due {
				u := &due[i]
				polls.Begin(u.ID, u.ID, func() { p.Once(ctx, l, u) })
			}
			return next, err
		},
	}.Run(ctx)
}

// Once polls one upstream and keeps how it went.
func (p *Poller) Once(ctx context.Context, l *models.Lease, u *models.Upstream) {
	note := models.PollNote{}
	flaw, err := p.fetch(ctx, l, u)
	log := p.Log.With(slog.String("upstream", u.Name))
	switch {
	case ctx.Err() != nil || models.ErrorCode(err) == models.CodeConflict:
		return // the server stops, or the lease is lost: nothing is known of the upstream
	case err != nil:
		note.Failed, note.Problem, note.WrongKey, note.Key = true, err.Error(), upstream.RefusesKey(err) != 0, u.KeySealed
		log.WarnContext(ctx, "an upstream could not be polled", slog.String("problem", note.Problem),
			slog.Int("failures", u.Failures+1))
	case flaw != "":
		note.Problem = flaw
		if note.Problem != u.Problem {
			log.WarnContext(ctx, "an upstream's list is not complete", slog.String("problem", note.Problem))
		}
	}
	note.Next = p.pause(u, note.Failed)
	if err := outside.New(p.Store).NotePoll(ctx, l, u.ID, note); err != nil && ctx.Err() == nil &&
		models.ErrorCode(err) != models.CodeConflict {
		p.Log.ErrorContext(ctx, "worker failed", slog.String("error", err.Error()))
	}
}

// pause is when the next poll is due: twice as late after each failure, and up
// to a tenth earlier at random, so that servers do not move in step.
func (p *Poller) pause(u *models.Upstream, failure bool) time.Duration {
	pause := p.Every
	if failure {
		pause = min(p.Every<<min(u.Failures+1, 20), p.Longest)
	}
	return pause - rand.N(pause/10+1) //nolint:gosec // spreads load, guards nothing
}

// fetch takes what an upstream lists, and settles what it lists no more. One list
// that fails does not hold up the other. flaw is why a list is not complete.
func (p *Poller) fetch(ctx context.Context, l *models.Lease, u *models.Upstream) (flaw string, err error) {
	key, err := outside.New(p.Store).UpstreamKey(u)
	if err != nil {
		return "", err
	}
	client, err := p.clients.For(u, key, p.Timeout)
	if err != nil {
		return "", err
	}
	calls, callsErr := client.PendingCalls(ctx)
	if err := p.take(ctx, l, u, models.OutsideCallKind, itemsOf(calls.Items, callItem), calls.Mentions,
		calls.Complete && callsErr == nil); err != nil {
		return "", err
	}
	if err := p.link(ctx, l, u); err != nil {
		return "", err
	}
	contacts, contactsErr := client.PendingContacts(ctx)
	if err := p.take(ctx, l, u, models.OutsideContact, itemsOf(contacts.Items, contactItem), contacts.Mentions,
		contacts.Complete && contactsErr == nil); err != nil {
		return "", err
	}
	switch {
	case upstream.RefusesKey(callsErr) != 0:
		return "", callsErr
	case upstream.RefusesKey(contactsErr) != 0:
		return "", contactsErr
	case callsErr != nil && contactsErr != nil:
		return "", callsErr // mostly the same of both
	case callsErr != nil:
		return "", fmt.Errorf("its list of function calls: %w", callsErr)
	case contactsErr != nil:
		return "", fmt.Errorf("its list of human contacts: %w", contactsErr)
	}
	if flaw = cmp.Or(calls.Flaw, contacts.Flaw); flaw != "" {
		flaw += " So nothing was counted as settled there."
	}
	return strings.TrimSpace(flaw + " " + unread(calls.Unread+contacts.Unread)), nil
}

// unread says how many entries are missing here.
func unread(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "One entry of its lists can't be read and isn't shown here: decide it in the other system."
	}
	return fmt.Sprintf("%d entries of its lists can't be read and aren't shown here: decide them in the other system.", n)
}

// take keeps each item separately: one that cannot be kept does not hold up the others. A complete list shows which
// items were settled elsewhere; an unreadable entry may mention items that are still pending.
func (p *Poller) take(ctx context.Context, l *models.Lease, u *models.Upstream, kind models.OutsideKind, items []models.OutsideItem, mentions []string, complete bool) error {
	ids := append(make([]string, 0, len(items)+len(mentions)), mentions...)
	for i := range items {
		ids = append(ids, items[i].CallID)
		err := outside.New(p.Store).Take(ctx, l, u.ID, items[i])
		if models.ErrorCode(err) == models.CodeConflict || ctx.Err() != nil {
			return err
		}
		if err != nil {
			p.Log.ErrorContext(ctx, "an outside approval was not kept", slog.String("upstream", u.Name),
				slog.String("call", items[i].CallID), slog.String("error", err.Error()))
		}
	}
	if !complete {
		return nil
	}
	err := outside.New(p.Store).Reconcile(ctx, l, u.ID, kind, ids)
	if err == nil || models.ErrorCode(err) == models.CodeConflict || ctx.Err() != nil {
		return err
	}
	// That is no fault of the upstream's, and the next poll tries again.
	p.Log.ErrorContext(ctx, "what was settled elsewhere was not kept", slog.String("upstream", u.Name),
		slog.String("error", err.Error()))
	return nil
}

// link looks again for the calls of those that found none. A failure is no fault
// of the upstream's, and the next poll tries again.
func (p *Poller) link(ctx context.Context, l *models.Lease, u *models.Upstream) error {
	err := outside.New(p.Store).Link(ctx, l, u)
	if err == nil || models.ErrorCode(err) == models.CodeConflict || ctx.Err() != nil {
		return err
	}
	p.Log.ErrorContext(ctx, "calls of outside approvals were not looked for", slog.String("upstream", u.Name),
		slog.String("error", err.Error()))
	return nil
}

func itemsOf[T any](in []T, item func(*T) models.OutsideItem) []models.OutsideItem {
	out := make([]models.OutsideItem, len(in))
	for i := range in {
		out[i] = item(&in[i])
	}
	return out
}

func callItem(c *upstream.FunctionCall) models.OutsideItem {
	return models.OutsideItem{
		Kind: models.OutsideCallKind, CallID: c.CallID, ApprovalID: c.ApprovalID, RunID: c.RunID, ToolUseID: c.ToolUseID,
		Name:      c.ToolName,
		Arguments: c.Arguments, Telling: c.Extra, Rest: c.Beside, AskedAt: c.RequestedAt, Timeout: c.Timeout,
		TimeoutAt: c.TimeoutAt, Raw: c.Raw,
	}
}

func contactItem(c *upstream.Contact) models.OutsideItem {
	return models.OutsideItem{
		Kind: models.OutsideContact, CallID: c.CallID, ApprovalID: c.ApprovalID, RunID: c.RunID, Name: c.Subject,
		Message: c.Message, Options: c.Options,
		Rest: c.Rest, AskedAt: c.RequestedAt, Timeout: c.Timeout, TimeoutAt: c.TimeoutAt, Raw: c.Raw,
	}
}
