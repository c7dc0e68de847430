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
	told := promhttp.HandlerFor(k.Metrics.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError,
		ErrorLog:      slog.NewLogLogger(k.Log.Handler(), slog.LevelWarn),
	})
	e.GET("/metrics", func(c echo.Context) error {
		if err := mayReadMetrics(c.Request(), auth); err != nil {
			return err
		}
		told.ServeHTTP(c.Response(), c.Request())
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
			"An admin's token is needed, or a request on this machine to localhost that no proxy has forwarded.")
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

// fromThisMachine reports whether peer and Host are both loopback and nothing
// says that the request was forwarded for somebody else.
func fromThisMachine(r *http.Request) bool {
	if !IsLoopback(hostname(r.RemoteAddr)) || !IsLoopback(strings.ToLower(hostname(r.Host))) {
		return false
	}
	for name := range r.Header {
		switch {
		case strings.HasPrefix(name, "X-Forwarded"), name == "Forwarded", name == "Via", name == "X-Real-Ip",
			name == "X-Client-Ip", name == "True-Client-Ip", name == "Cf-Connecting-Ip", name == "X-Original-Forwarded-For":
			return false
		}
	}
	return true
}
