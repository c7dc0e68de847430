package handlers

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/labstack/echo/v4"
)

// AccessLog gives each request an id, answers the errors of the handlers
// inside, and writes one line: id, method, route, status, duration. Routes are
// logged as registered, so neither ids, queries nor tokens get into the log.
func AccessLog(log *slog.Logger, now func() time.Time) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			start := now()
			id := newRequestID()
			c.Response().Header()[headerRequestID] = []string{id}
			if err := next(c); err != nil {
				c.Error(err)
			}
			logRequest(log, c, id, now().Sub(start))
			return nil
		}
	}
}

// logRequest is apart from AccessLog so that a caller who waits does not hold its
// frame: thousands of them do.
func logRequest(log *slog.Logger, c echo.Context, id string, took time.Duration) {
	status := c.Response().Status
	level := slog.LevelInfo
	if status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable {
		level = slog.LevelError
	}
	log.LogAttrs(c.Request().Context(), level, "request",
		slog.String("request_id", id),
		slog.String("method", c.Request().Method),
		slog.String("route", c.Path()),
		slog.Int("status", status),
		slog.Duration("took", took))
}

// Recover turns a panic into an internal error, with its stack in the log.
func Recover(log *slog.Logger) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) (err error) {
			defer func() {
				got := recover()
				if got == nil {
					return
				}
				if cause, ok := got.(error); ok && errors.Is(cause, http.ErrAbortHandler) {
					panic(got) // net/http's own way to drop a connection
				}
				log.ErrorContext(c.Request().Context(), "panic",
					slog.String("request_id", RequestID(c)),
					slog.String("route", c.Path()),
					slog.String("panic", fmt.Sprint(got)),
					slog.String("stack", string(debug.Stack())))
				err = errPanicked
			}()
			return next(c)
		}
	}
}

// errPanicked says that the log has the rest already.
var errPanicked = errors.New("the handler panicked")
