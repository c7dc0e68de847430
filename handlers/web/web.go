package web

import (
	"context"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/account"
	"countersign/handlers/web/agents"
	"countersign/handlers/web/audit"
	"countersign/handlers/web/channels"
	"countersign/handlers/web/connect"
	"countersign/handlers/web/conversation"
	"countersign/handlers/web/grants"
	"countersign/handlers/web/inbox"
	"countersign/handlers/web/insights"
	"countersign/handlers/web/live"
	"countersign/handlers/web/nav"
	"countersign/handlers/web/people"
	"countersign/handlers/web/policy"
	"countersign/handlers/web/request"
	"countersign/handlers/web/site"
	"countersign/handlers/web/system"
	"countersign/handlers/web/webhooks"
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
	// CheckUpstream refuses an upstream with a wrong address (baseUrl), dialect or key, before any of it is stored:
	// CodeInvalid, by field. It connects to no server. Nil: no upstream can be added and no key changed.
	CheckUpstream func(ctx context.Context, baseURL, dialect, key string) error
	// Notify is how notifications go out.
	Notify channels.Sender
	// TestWebhook sends a test to an endpoint, at once; nil: nothing is sent from here.
	TestWebhook func(context.Context, models.Actor, models.WebhookID) (models.WebhookAnswer, error)
	// Gallery has every page in every state, for those who work on them; nil: there is none.
	Gallery nav.Gallery
	// Pulse is how often a quiet stream shows that it is alive, and looks whether its reader is
	// still signed in; 0: as often as proxies need it.
	Pulse time.Duration
}

// Pages are all pages: a router of its own that reads cookies and never bearer tokens.
type Pages struct {
	*site.Site
	echo   *echo.Echo
	audit  *audit.Screens
	policy *policy.Screens
	routes []site.Route
}

// New makes the pages over a store. The kit's PublicURL must be set: by it links
// are made, foreign forms refused and cookies marked Secure. Call Stop before
// the server shuts down.
func New(kit handlers.Kit, s *store.Store, opts Options) *Pages {
	shared := site.New(kit, s)
	p := &Pages{Site: shared, audit: audit.New(shared)}
	telling, requests := channels.New(shared, opts.Notify), request.New(shared)
	p.policy = policy.New(shared, requests)
	areas := []interface{ Routes() []site.Route }{
		nav.New(shared, opts.Gallery), account.New(shared), live.New(shared, opts.Pulse), telling,
		people.New(shared, telling),
		inbox.New(shared, requests), requests, grants.New(shared, requests), conversation.New(shared, requests, opts.Drafts),
		agents.New(shared), connect.New(shared), p.policy, p.audit, insights.New(shared),
		system.New(shared, opts.Version, opts.CheckUpstream), webhooks.New(shared, opts.TestWebhook),
	}
	p.echo = shared.Router()
	for _, area := range areas {
		p.routes = append(p.routes, area.Routes()...)
	}
	shared.Add(p.echo, p.routes)
	return p
}

// ServeHTTP answers one request. HEAD is answered as GET without a body, as HTTP demands, except for the stream, which
// never ends.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodHead && r.URL.Path != views.EventsURL() {
		r = r.Clone(r.Context()) // net/http must still see that it was a HEAD
		r.Method = http.MethodGet
	}
	p.echo.ServeHTTP(w, r)
}

// Echo is the router, for routes beside the pages: health, metrics.
func (p *Pages) Echo() *echo.Echo { return p.echo }

// Routes lists every route of the router, however it was registered.
func (p *Pages) Routes() []handlers.Route { return handlers.Routes(p.echo) }

// Stop ends open streams, and new ones at once. Stopping twice is harmless.
func (p *Pages) Stop() {
	p.Site.Stop()
	p.audit.Stop()
	p.policy.Stop()
}
