package web

import (
	"context"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/gorilla/sessions"
	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/models/store"
	"countersign/views"
)

// Options are the settings of the pages.
type Options struct {
	Version string // of the product, for the page of the system
	// Drafts is what the built-in agent is writing in a conversation, if it is; nil:
	// nothing is shown while it writes.
	Drafts func(models.ConversationID) (text, model string, ok bool)
	// CheckUpstream says what is wrong with an upstream's address (baseUrl), dialect
	// or key, before any of it is stored: CodeInvalid, by field. It asks nobody. Nil:
	// nothing is added and no key changed.
	CheckUpstream func(ctx context.Context, baseURL, dialect, key string) error
	// Notify is how notifications go out.
	Notify Notify
	// Webhooks is how events go out.
	Webhooks Webhooks
	// Gallery has every page in every state, for those who work on them; nil: there is none.
	Gallery Gallery
}

// Site is the pages: a router of its own that reads cookies and never bearer
// tokens.
type Site struct {
	kit      handlers.Kit
	store    *store.Store
	echo     *echo.Echo
	cookies  sessions.Store
	cookie   cookieKind
	policies *policyWatch
	streams  *handlers.Streams
	chain    *chainCheck
	replays  *replays
	opts     Options
	started  time.Time
	reads    atomic.Int64 // of the inbox: see asOf
	tests    testPace
}

// New makes the pages over a store. The kit's PublicURL must be set: by it links
// are made, foreign forms refused and cookies marked Secure. Call Stop before
// the server shuts down.
func New(kit handlers.Kit, s *store.Store, opts Options) *Site {
	if kit.Streams == nil {
		kit.Streams = handlers.NewStreams(0)
	}
	if kit.Lists == nil {
		kit.Lists = handlers.NewLists()
	}
	if kit.Strangers == nil {
		kit.Strangers = handlers.NewStrangers(handlers.StrangersAtOnce, handlers.StrangersTime)
	}
	site := &Site{
		kit: kit, store: s, cookie: cookieFor(kit.PublicURL),
		policies: watchPolicy(s), streams: kit.Streams,
		chain:   &chainCheck{store: s, now: kit.Now, log: kit.Log},
		replays: &replays{store: s, now: kit.Now, log: kit.Log}, opts: opts, started: kit.Now(),
	}
	site.cookies = &sessionCookies{store: s, kind: site.cookie}
	site.echo = kit.Router(site.fail)
	site.echo.Use(secureHeaders, ownFormsOnly(kit.PublicURL), site.identify, site.limitBody, handlers.ReadableQuery)
	site.register(site.echo)
	return site
}

// ServeHTTP answers one request. HEAD is answered as GET without a body, as HTTP
// wants it, but for the stream, whose end nobody could wait for.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead && r.URL.Path != views.EventsURL() {
		r = r.Clone(r.Context()) // net/http must still see that it was a HEAD
		r.Method = http.MethodGet
	}
	s.echo.ServeHTTP(w, r)
}

// Echo is the router, for what is served beside: health, metrics.
func (s *Site) Echo() *echo.Echo { return s.echo }

// Routes lists every route of the router, however it was registered.
func (s *Site) Routes() []handlers.Route { return handlers.Routes(s.echo) }

// Stop ends open streams, and new ones at once. Stopping twice is harmless.
func (s *Site) Stop() {
	s.streams.Stop()
	s.chain.stop()
	s.replays.stop()
	s.policies.close()
}

// origin is scheme and host of an address, as browsers send it.
func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }
