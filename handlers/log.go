package handlers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/models"
)

// accessLog gives each request an id, answers the errors of the handlers
// inside, counts it, and writes one line: id, method, route, status, duration. Without
// Kit.AccessLog only some have a line, see toldAnyway.
// Routes are logged as registered, so neither ids, queries nor tokens get into
// the log.
func (k *Kit) accessLog(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := k.Now()
		id := newRequestID()
		c.Response().Header()[headerRequestID] = []string{id}
		line := requestLine{kit: k, method: c.Request().Method, route: c.Path(), waits: new(atomic.Bool)}
		line.ctx = context.WithValue(models.Logged(c.Request().Context(), requestAttrs(id, c.Request().Header)...),
			waitsKey{}, line.waits)
		c.SetRequest(c.Request().WithContext(line.ctx))
		if err := next(c); err != nil {
			c.Error(err)
		}
		if strings.HasPrefix(c.Response().Header().Get(echo.HeaderContentType), eventStream) {
			line.waits.Store(true)
		}
		if later, ok := c.Response().Writer.(DeferredWriter); ok && later.Deferred() {
			later.OnAnswer(func(status int) { line.write(status, k.Now().Sub(start)) })
			return nil
		}
		line.write(c.Response().Status, k.Now().Sub(start))
		return nil
	}
}

// requestAttrs are in each log line of a request: its id and, where the caller has named a trace, that.
func requestAttrs(id string, sent http.Header) []slog.Attr {
	attrs := []slog.Attr{slog.String("request_id", id)}
	if trace := traceID(sent); trace != "" {
		attrs = append(attrs, slog.String("trace_id", trace))
	}
	return attrs
}

// DeferredWriter is a response writer whose answer may come after the router has
// returned. Its line in the log is then written with the answer.
type DeferredWriter interface {
	// Deferred reports whether nothing was answered yet.
	Deferred() bool
	// OnAnswer registers fn, which is called with the status of the answer.
	OnAnswer(fn func(status int))
}

// requestLine is what the log tells of a request. It outlives echo's context.
type requestLine struct {
	kit           *Kit
	ctx           context.Context
	method, route string
	waits         *atomic.Bool // it waited for somebody, or followed a stream
}

type waitsKey struct{}

// noteWait notes that the request of ctx waits, so that it is not told as a slow one.
func noteWait(ctx context.Context) {
	if waits, ok := ctx.Value(waitsKey{}).(*atomic.Bool); ok {
		waits.Store(true)
	}
}

// slowRequest is how long a request may take before the log mentions it.
const slowRequest = time.Second

// toldAnyway reports whether a request has a line although not all have one: it failed, was
// refused for want of a sign-in, or took long without a wait.
func (l requestLine) toldAnyway(status int, took time.Duration) bool {
	return status >= http.StatusInternalServerError || status == http.StatusUnauthorized ||
		took > slowRequest && !l.waits.Load()
}

func (l requestLine) write(status int, took time.Duration) {
	level := slog.LevelInfo
	if status >= http.StatusInternalServerError && status != http.StatusServiceUnavailable &&
		status != http.StatusInsufficientStorage {
		level = slog.LevelError
	}
	l.kit.Metrics.answered(l.method, l.route, status, took)
	if !l.kit.AccessLog && !l.toldAnyway(status, took) {
		return
	}
	l.kit.Log.LogAttrs(l.ctx, level, "request",
		slog.String("method", l.method),
		slog.String("route", l.route),
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
					slog.String("route", c.Path()),
					slog.String("panic", fmt.Sprint(got)),
					slog.String("stack", string(debug.Stack())))
				err = errPanic
			}()
			return next(c)
		}
	}
}

// errPanic says that the log has the rest already.
var errPanic = errors.New("the handler panicked")
