package handlers

import (
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/models"
)

// Kit is what every router is made with.
type Kit struct {
	Log       *slog.Logger
	Now       func() time.Time
	PublicURL *url.URL   // the address that people and agents use
	Proxies   Proxies    // whose word about a client's address counts
	AccessLog bool       // every request has its line in the log; else those that somebody should see
	Metrics   *Metrics   // nil: nothing is counted
	Streams   *Streams   // shared by surfaces; nil: each has its own, with the default limit
	Lists     *Lists     // shared by surfaces; nil: each has its own
	Strangers *Strangers // shared by surfaces; nil: each has its own
}

// Router is an echo with what every surface has around its handlers: request
// id, access log, recovery, host check. Its errors are written by fail.
func (k Kit) Router(fail echo.HTTPErrorHandler) *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = fail
	e.Use((&k).accessLog, Recover(k.Log), onlyHTTPS(k.PublicURL), HostGuard(k.PublicURL))
	return e
}

// onlyHTTPS has browsers come by HTTPS alone from now on, where the public address is one.
// Other names of the host are not meant.
func onlyHTTPS(public *url.URL) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		if public == nil || public.Scheme != "https" {
			return next
		}
		return func(c echo.Context) error {
			if c.Request().Host == public.Host {
				c.Response().Header().Set(echo.HeaderStrictTransportSecurity, "max-age=31536000")
			}
			return next(c)
		}
	}
}

// FailJSON answers a handler's error with a problem document, and logs those
// that tell the caller nothing.
func (k Kit) FailJSON(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	p := ProblemOf(routingError(err, c))
	if p.Code == models.CodeInternal {
		p.RequestID = RequestID(c)
		if !errors.Is(err, errPanic) {
			k.LogInternal(c, err)
		}
	}
	WriteProblem(c.Response(), p)
}

// LogInternal writes down an error that the caller got no details of.
func (k Kit) LogInternal(c echo.Context, err error) {
	k.Log.ErrorContext(c.Request().Context(), "request failed",
		slog.String("route", c.Path()),
		slog.String("error", err.Error()))
}

// routingError puts echo's own errors into our words.
func routingError(err error, c echo.Context) error {
	var he *echo.HTTPError
	if !errors.As(err, &he) {
		return err
	}
	switch he.Code {
	case http.StatusNotFound:
		return models.Errorf(models.CodeNotFound, "There is nothing at this address.")
	case http.StatusMethodNotAllowed:
		return models.Errorf(CodeMethodNotAllowed, "This address takes: %s.", c.Response().Header().Get(echo.HeaderAllow))
	default:
		return err
	}
}

// JSONHeaders keeps answers out of caches and from being taken for anything
// but what they say they are.
func JSONHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	noStore, noSniff := []string{"no-store"}, []string{"nosniff"}
	return func(c echo.Context) error {
		h := c.Response().Header()
		h["Cache-Control"], h["X-Content-Type-Options"] = noStore, noSniff
		return next(c)
	}
}

// Route is one method and path that a router answers.
type Route struct {
	Method string
	Path   string // with :name for its parameters
}

// Routes lists what a router answers, as registered.
func Routes(e *echo.Echo) []Route {
	routes := make([]Route, 0, len(e.Routes()))
	for _, r := range e.Routes() {
		routes = append(routes, Route{Method: r.Method, Path: r.Path})
	}
	return routes
}
