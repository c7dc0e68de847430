package web

import (
	"net/http"
	"net/url"

	"github.com/gorilla/sessions"
	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models/store"
	"countersign/static"
)

// DefaultStreams is how many streams one person may have open.
const DefaultStreams = 20

// Options are the settings of the pages.
type Options struct {
	StreamsPerUser int // zero: DefaultStreams; negative: no limit
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
	streams  *streams
}

// New makes the pages over a store. The kit's PublicURL must be set: by it links
// are made, foreign forms refused and cookies marked Secure. Call Stop before
// the server shuts down.
func New(kit handlers.Kit, s *store.Store, opts Options) *Site {
	site := &Site{
		kit: kit, store: s, cookie: cookieFor(kit.PublicURL),
		policies: watchPolicy(s), streams: newStreams(opts.StreamsPerUser),
	}
	site.cookies = &sessionCookies{store: s, kind: site.cookie}
	site.echo = kit.Router(site.fail)
	site.echo.Use(secureHeaders, ownFormsOnly(kit.PublicURL), limitBody, site.identify)
	site.routes(site.echo)
	return site
}

// ServeHTTP answers one request.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.echo.ServeHTTP(w, r) }

// Echo is the router, for what is served beside: health, metrics.
func (s *Site) Echo() *echo.Echo { return s.echo }

// Routes lists every route of the router, however it was registered.
func (s *Site) Routes() []handlers.Route { return handlers.Routes(s.echo) }

// Stop ends open streams, and new ones at once. Stopping twice is harmless.
func (s *Site) Stop() {
	s.streams.stop()
	s.policies.close()
}

func (s *Site) routes(e *echo.Echo) {
	e.GET(static.Prefix+"*", serveStatic)
	e.GET("/setup", s.showSetup)
	e.POST("/setup", s.setup)
	e.GET("/signin", s.showSignIn)
	e.POST("/signin", s.signIn)

	in := e.Group("", s.signedIn)
	in.POST("/signout", s.signOut)
	in.GET("/account/password", s.showPassword)
	in.POST("/account/password", s.changePassword)
	in.GET("/", s.inbox)
	in.POST("/inbox/token", s.teachToken)
	in.GET("/approvals/:id", s.approval)
	in.POST("/approvals/:id/decide", s.decide)
	in.GET("/agents", s.agents)
	in.POST("/agents/tokens", s.addToken)
	in.POST("/agents/tokens/:id/revoke", s.revokeToken)
	in.GET("/audit", s.audit)
	in.GET("/policy", s.policy)
	in.POST("/policy", s.changePolicy, adminsOnly)
	in.GET("/policy/versions/:n", s.policyVersion, adminsOnly)
	in.GET("/events", s.events)

	// Where only a form leads, an address typed or restored leads back.
	in.GET("/inbox/token", goTo("/"))
	in.GET("/agents/tokens", goTo("/agents"))
	in.GET("/signout", goTo("/"))
}

func goTo(path string) echo.HandlerFunc {
	return func(c echo.Context) error { return c.Redirect(http.StatusSeeOther, path) }
}

// origin is scheme and host of an address, as browsers send it.
func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }
