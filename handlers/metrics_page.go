package handlers

import (
	"log/slog"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"countersign/models"
)

// RegisterMetrics adds /metrics. It takes an admin's token; without any, the
// request must come from this machine, for this machine, past no proxy.
func (k Kit) RegisterMetrics(e *echo.Echo, auth Authenticator) {
	own := promhttp.HandlerFor(k.Metrics.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError,
		ErrorLog:      slog.NewLogLogger(k.Log.Handler(), slog.LevelWarn),
	})
	e.GET("/metrics", func(c echo.Context) error {
		if err := mayReadMetrics(c.Request(), auth); err != nil {
			return err
		}
		own.ServeHTTP(c.Response(), c.Request())
		return nil
	})
}

// mayReadMetrics judges a token if there is one, else where the request comes
// from.
func mayReadMetrics(r *http.Request, auth Authenticator) error {
	authorization := r.Header.Get("Authorization")
	if authorization == "" {
		if fromThisMachine(r) {
			return nil
		}
		return models.Errorf(models.CodeUnauthenticated,
			"An admin's token is needed, or a request on this machine to localhost that no proxy has forwarded: with none but the usual headers.")
	}
	actor, err := Principal(r.Context(), auth, authorization)
	if err != nil {
		return err
	}
	if !actor.MayAdminister() {
		return models.Errorf(models.CodeForbidden, "Only an admin's token may read metrics.")
	}
	return nil
}

// direct are the headers that programs and browsers send without a proxy. Proxies have many names for those for whom
// they forward, and any other header may be one.
var direct = map[string]bool{
	"Accept": true, "Accept-Charset": true, "Accept-Encoding": true, "Accept-Language": true, "Cache-Control": true,
	"Connection": true, "Content-Length": true,
	"Cookie": true, "Dnt": true, "If-Modified-Since": true, "If-None-Match": true, "Keep-Alive": true, "Priority": true,
	"Range": true, "Referer": true,
	"Te": true, "Upgrade-Insecure-Requests": true, "User-Agent": true, "X-Prometheus-Scrape-Timeout-Seconds": true,
}

// fromThisMachine reports whether peer and Host are both loopback and nothing
// may say that the request was forwarded for somebody else.
func fromThisMachine(r *http.Request) bool {
	if !IsLoopback(hostname(r.RemoteAddr)) || !IsLoopback(strings.ToLower(hostname(r.Host))) {
		return false
	}
	for name := range r.Header {
		if !direct[name] && !strings.HasPrefix(name, "Sec-") {
			return false
		}
	}
	return true
}
