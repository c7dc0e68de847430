package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"countersign/cmd/config"
	"countersign/cmd/data"
	"countersign/cmd/terminal"
	"countersign/handlers"
	"countersign/handlers/api"
	"countersign/handlers/hooks"
	"countersign/handlers/humanlayer"
	"countersign/handlers/mcp"
	"countersign/handlers/web"
	"countersign/handlers/web/channels"
	"countersign/handlers/web/nav"
	"countersign/models"
	"countersign/models/store"
	"countersign/models/upkeep"
	"countersign/workers"
	"countersign/workers/agent"
	"countersign/workers/expire"
	"countersign/workers/notify"
	"countersign/workers/notify/send"
	"countersign/workers/retain"
	"countersign/workers/webhooks"
)

const (
	maxHeader = 16 << 10
	// stopTimeout is how long requests under way may take to end at a stop.
	stopTimeout = 1600 * time.Millisecond

	outsideEvery = 500 * time.Millisecond // well within the second that is promised
	flushEvery   = time.Minute
	headEvery    = time.Hour
	beatEvery    = 5 * time.Second // three may fail before the others take this server for gone
	tidyEvery    = time.Hour
	keptEvery    = time.Second // so much may be lost unseen
	memoryEvery  = 500 * time.Millisecond
	reserveEvery = 5 * time.Second
	rowsEvery    = time.Hour // a look whether the week is over
	retainEvery  = time.Hour
)

// App is one server: store, surfaces and workers, put together.
type App struct {
	cfg      config.Config
	log      *slog.Logger
	store    *store.Store
	listener net.Listener
	public   *url.URL
	server   *http.Server
	streams  *handlers.Streams
	pages    *web.Pages
	builtIn  *agent.Agent
	notifier *notify.Notifier
	webhooks *webhooks.Worker
	metrics  *handlers.Metrics
	memory   *memory
	gone     sync.Once
	ends     atomic.Bool // it was told to stop
	started  time.Time
	drainEnd chan struct{} // closed, by tests: the drain is over
	latest   time.Time     // that the clock has shown, or an entry of the ledger has
	stopIn   time.Duration // how long requests under way may take to end at a stop
	drainFor time.Duration // how long it goes on before that
}

// New opens the data folder and listens, so that Addr is known; Run serves. It hands out the setup link while there is
// no user, on screen or, if that is nil, in a file. Close the App in any case. With change tests open the store as
// the settings can't say.
func New(
	ctx context.Context, cfg config.Config, log *slog.Logger, screen io.Writer, change ...func(*store.Options),
) (_ *App, err error) {
	a := &App{
		cfg: cfg, log: log, metrics: handlers.NewMetrics(data.Version), memory: newMemory(cfg.MemoryLimit), stopIn: stopTimeout,
		drainFor: cfg.Drain,
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	if a.store, err = data.Open(ctx, cfg, log, append(change, a.measured)...); err != nil {
		return nil, err
	}
	if err = a.store.KeepReserve(ctx); err != nil {
		return nil, err
	}
	if err = a.joins(ctx); err != nil {
		return nil, err
	}
	if a.latest, err = a.store.Ledger.Newest(ctx); err != nil {
		return nil, err
	}
	a.builtIn = newBuiltIn(cfg.LLM, a.store, log)
	a.metrics.Follow(upkeep.New(a.store).Numbers, a.store.Now)
	var lc net.ListenConfig
	if a.listener, err = lc.Listen(ctx, "tcp", cfg.Addr); err != nil {
		return nil, config.ListenError(cfg.Addr, err)
	}
	a.public = config.PublicURL(cfg, a.Addr())
	if err = terminal.WritePrivate(filepath.Join(cfg.Data, models.AddressFile), a.URL()+"\n"); err != nil {
		return nil, fmt.Errorf("write the address: %w", err)
	}
	var messages channels.Sender
	if a.notifier, messages, err = newNotifier(cfg, a.public, a.store, log, a.metrics); err != nil {
		return nil, err
	}
	a.webhooks = newWebhooks(a.public, a.store, log, a.metrics)
	handler, err := a.routers(messages)
	if err != nil {
		return nil, err
	}
	connections := handlers.NewConnections(mostConnections())
	a.server = &http.Server{
		Handler:           connections.Handler(handler),
		ReadHeaderTimeout: handlers.HeaderTimeout,
		ReadTimeout:       handlers.ReadTimeout,
		WriteTimeout:      handlers.WriteTimeout,
		IdleTimeout:       handlers.IdleTimeout,
		MaxHeaderBytes:    maxHeader,
		ConnState:         connections.State,
		ConnContext:       connections.Context,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	if err := inviteFirstUser(ctx, a.store, cfg, a.public, log, screen); err != nil {
		return nil, err
	}
	return a, nil
}

// measured has the store report to the metrics, and hear of other processes.
func (a *App) measured(o *store.Options) {
	o.Listen = true
	o.Observe, o.ObserveOutcome = a.metrics.Committed, a.metrics.Settled
	o.ObserveSignInFailure, o.ObserveTold = a.metrics.SignInFailed, a.metrics.ObserveOutcome
}

// gallery is every page in every state, in a build with that tag.
var gallery nav.Gallery

// Addr is where the App listens, host:port.
func (a *App) Addr() string { return a.listener.Addr().String() }

// URL is the address that people and agents use.
func (a *App) URL() string { return a.public.String() }

// Store is the App's store, for tests.
func (a *App) Store() *store.Store { return a.store }

// Watched reports whether somebody has a page open.
func (a *App) Watched() bool { return a.streams.Watched() }

// Run serves until ctx ends, then stops within two seconds: no new work, open
// waits answered as pending, streams ended, workers joined.
func (a *App) Run(ctx context.Context) error {
	// Workers outlive ctx: they serve the requests that are still under way.
	group := workers.NewGroup(context.WithoutCancel(ctx))
	every := func(name string, interval time.Duration, once func(context.Context) error) {
		group.Go(name, func(ctx context.Context) { workers.Every(ctx, a.log, interval, once) })
	}
	group.Go("expire", func(ctx context.Context) { expire.Run(ctx, a.log, a.store) })
	group.Go("agent", a.builtIn.Run)
	group.Go("poll", newPoller(a.cfg.Upstreams, a.store, a.log).Run)
	group.Go("notify", a.notifier.Run)
	group.Go("webhooks", a.webhooks.Run)
	group.Go("deliver", newDeliverer(a.cfg.Upstreams, a.store, a.log).Run)
	group.Go("setup file", func(ctx context.Context) { removeUsedSetupFile(ctx, a.store, a.cfg.Data, a.log) })
	group.Go("presence", a.store.TellPresence)
	every("outside", outsideEvery, a.store.CheckOutside)
	every("node", beatEvery, a.beat)
	every("tidy", tidyEvery, a.store.Tidy)
	every("last use", flushEvery, a.store.People.FlushLastUse)
	every("ledger head", headEvery, a.logHead)
	every("kept head", keptEvery, a.store.KeepHead)
	every("clock", reserveEvery, a.checkClock)
	every("told head", headEvery, func(ctx context.Context) error { return a.store.TellHead(ctx, a.cfg.Mail.Head) })
	every("reserve", reserveEvery, a.store.KeepReserve)
	group.Go("upkeep", a.upkeep)
	every("memory", memoryEvery, a.memory.follow)

	serveErr := make(chan error, 1)
	go func() { serveErr <- a.server.Serve(a.listener) }()
	a.log.InfoContext(ctx, "serving", slog.String("url", a.URL()), slog.String("addr", a.Addr()),
		slog.String("version", data.Version), slog.Any("config", a.cfg))
	var err error
	select {
	case <-ctx.Done():
		a.drain(context.WithoutCancel(ctx))
		err = a.stop(context.WithoutCancel(ctx))
		if serveEnd := <-serveErr; !errors.Is(serveEnd, http.ErrServerClosed) {
			err = errors.Join(err, serveEnd)
		}
	case err = <-serveErr:
		err = fmt.Errorf("serve: %w", err)
	}
	group.Stop()
	ctx = context.WithoutCancel(ctx)
	return errors.Join(err, a.store.Nodes.Leave(ctx), a.logHead(ctx))
}

// upkeep removes contents and compares rows, at one server of the installation.
func (a *App) upkeep(ctx context.Context) {
	workers.Lead(ctx, a.log, workers.Post{
		Name: "upkeep", Holder: holderOf(a.store, a.log), Leases: a.store.Nodes,
		HasWork: func(context.Context) (bool, error) { return true, nil },
		Work: func(ctx context.Context, _ *models.Lease) {
			group := workers.NewGroup(ctx)
			group.Go("rows", func(ctx context.Context) { workers.Every(ctx, a.log, rowsEvery, a.checkRows) })
			group.Go("retention", func(ctx context.Context) {
				workers.Every(ctx, a.log, retainEvery, (&retain.Worker{Store: a.store, Log: a.log, Pause: retain.Pause}).Once)
			})
			<-ctx.Done()
			group.Stop()
		},
	})
}

// joins has this server be one of those that share the database: it has their keys, and they know it.
func (a *App) joins(ctx context.Context) error {
	a.started = a.store.Now()
	if a.cfg.Database != nil {
		if _, err := a.store.Key(ctx, models.KeyFile, store.NewSealingKey); err != nil {
			return err
		}
		if _, err := a.store.Key(ctx, models.PushKeyFile, send.NewPushKey); err != nil {
			return err
		}
	}
	return a.beat(ctx)
}

func (a *App) beat(ctx context.Context) error {
	return a.store.Nodes.Beat(ctx, a.cfg.NodeName, data.Version, a.started)
}

// drain goes on answering while /readyz says that this server ends, so that a balancer has the time to see it.
func (a *App) drain(ctx context.Context) {
	a.ends.Store(true)
	if a.drainFor == 0 {
		return
	}
	a.log.InfoContext(ctx, "draining", slog.Duration("for", a.drainFor))
	select {
	case <-time.After(a.drainFor):
	case <-a.drainEnd:
	}
}

// readiness is why no requests are to be sent here.
func (a *App) readiness(ctx context.Context) error {
	if a.ends.Load() {
		return models.Errorf(models.CodeUnavailable, "Not ready: this server is ending.")
	}
	return a.store.Ready(ctx)
}

// stop ends requests under way. A client that is cut off repeats its request and meets its own row.
func (a *App) stop(ctx context.Context) error {
	a.log.InfoContext(ctx, "stopping")
	limitCtx, cancel := context.WithTimeout(ctx, a.stopIn)
	defer cancel()
	a.store.EndWaits()
	a.streams.Stop()
	a.pages.Stop()
	if err := a.server.Shutdown(limitCtx); err != nil {
		a.log.WarnContext(ctx, "some requests were cut off", slog.String("error", err.Error()))
		return a.server.Close()
	}
	return nil
}

// Close releases what New took; the store is closed last and leaves one file.
// Closing twice is harmless.
func (a *App) Close() error {
	var errs []error
	if a.listener != nil {
		if err := a.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	if a.pages != nil {
		a.pages.Stop()
	}
	if a.public != nil {
		a.gone.Do(func() { errs = append(errs, a.removeAddress()) })
	}
	if a.store != nil {
		errs = append(errs, a.store.Close())
	}
	return errors.Join(errs...)
}

// removeAddress takes the file with the address away, as this server no longer answers there.
func (a *App) removeAddress() error {
	if err := os.Remove(filepath.Join(a.cfg.Data, models.AddressFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the address: %w", err)
	}
	return nil
}

// checkClock logs that the clock was set back: deadlines and sessions are judged by it.
func (a *App) checkClock(ctx context.Context) error {
	now := a.store.Now()
	if back := a.latest.Sub(now); back > data.ClockSlack {
		a.log.WarnContext(ctx, "the clock was set back; deadlines depend on it", slog.Duration("by", back))
		a.latest = now // once for each time
	}
	if now.After(a.latest) {
		a.latest = now
	}
	return nil
}

// logHead logs the head of the ledger: with a log that is kept elsewhere, a
// chain that was rewritten as a whole is found (`audit verify --head`).
func (a *App) logHead(ctx context.Context) error {
	head, err := a.store.Ledger.Head(ctx)
	if err != nil {
		return err
	}
	a.log.InfoContext(ctx, "ledger head", slog.String("head", head.String()))
	return nil
}

// routers makes the two routers and what chooses between them.
func (a *App) routers(messages channels.Sender) (http.Handler, error) {
	a.streams = handlers.NewStreams(config.OrOff(a.cfg.StreamsPerUser))
	kit := handlers.Kit{
		Log: a.log, AccessLog: a.cfg.AccessLog, Now: a.store.Now, PublicURL: a.public, Metrics: a.metrics,
		Proxies: a.cfg.TrustedProxies, Streams: a.streams, Lists: handlers.NewLists(),
		Strangers: handlers.NewStrangers(handlers.StrangersAtOnce, handlers.StrangersTime),
	}
	queue, err := api.New(kit, a.store, data.Version)
	if err != nil {
		return nil, err
	}
	humanlayer.New(kit, a.store).Register(queue.Echo())
	hooks.Register(queue.Echo(), kit, a.store)
	handlers.RegisterHealth(queue.Echo(), a.readiness)
	kit.RegisterMetrics(queue.Echo(), a.store.People)
	tools, err := mcp.New(kit, a.store, mcp.Options{Version: data.Version, Wait: a.cfg.MCPWait})
	if err != nil {
		return nil, err
	}
	tools.Register(queue.Echo())
	a.pages = web.New(kit, a.store,
		web.Options{
			Version: data.Version, Drafts: a.builtIn.Draft, CheckUpstream: config.UpstreamCheck(a.cfg.Upstreams.Allow),
			Notify: messages, TestWebhook: a.webhooks.Test, Gallery: gallery,
		})
	a.pages.ServeDocs(queue.Document)
	return a.cfg.CORSOrigins.Wrap(a.public, choose(queue, a.pages)), nil
}
