package site

import (
	"net/url"
	"time"

	"github.com/gorilla/sessions"
	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models/store"
)

// Site is what all pages share. An area embeds it.
type Site struct {
	Kit      handlers.Kit
	Store    *store.Store
	Cookies  sessions.Store
	Cookie   CookieKind
	Policies *PolicyWatch
	Streams  *handlers.Streams
	Start    time.Time
}

// New makes it over a store. The kit's PublicURL must be set: by it links are made, foreign
// forms refused and cookies marked Secure.
func New(kit handlers.Kit, s *store.Store) *Site {
	if kit.Streams == nil {
		kit.Streams = handlers.NewStreams(0)
	}
	if kit.Lists == nil {
		kit.Lists = handlers.NewLists()
	}
	if kit.Strangers == nil {
		kit.Strangers = handlers.NewStrangers(handlers.StrangersAtOnce, handlers.StrangersTime)
	}
	kind := cookieFor(kit.PublicURL)
	return &Site{
		Kit: kit, Store: s, Cookie: kind, Cookies: &sessionCookies{store: s, kind: kind},
		Policies: watchPolicy(s), Streams: kit.Streams, Start: kit.Now(),
	}
}

// Router is a router with the guards that every page is behind, and without routes.
func (s *Site) Router() *echo.Echo {
	e := s.Kit.Router(s.fail)
	e.Use(secureHeaders, ownFormsOnly(s.Kit.PublicURL), s.identify, s.limitBody, handlers.ReadableQuery)
	return e
}

// Add has a router answer some routes, each behind its right. It uses no groups: for a wrong method, echo would answer
// 404 in a group.
func (s *Site) Add(e *echo.Echo, routes []Route) {
	for _, r := range routes {
		if r.Right == Anyone {
			e.Add(r.Method, r.Path, r.Handler)
		} else {
			e.Add(r.Method, r.Path, r.Handler, s.signedIn, r.behind)
		}
	}
}

// Stop ends open streams, and new ones at once. Stopping twice is harmless.
func (s *Site) Stop() {
	s.Streams.Stop()
	s.Policies.close()
}

// origin is scheme and host of an address, as browsers send it.
func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }
