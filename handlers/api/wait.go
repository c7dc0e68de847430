// How a caller waits for an outcome. Thousands wait at once, and a goroutine keeps the stack that it has grown for as
// long as it sleeps. So once many wait, the deep calls (router, huma, JSON, database) run aside, on a separate
// goroutine that ends before the wait begins: the goroutine of the connection only sleeps, on a small stack.
//
//	goroutine of the connection        aside
//
//	ServeHTTP
//	   | mayWait? --- no ------------> (not aside) the router answers
//	   v yes
//	serveWaiting --------------------> router, token, body, handler
//	                                      refused:             problem, done
//	                                      nothing to wait for: answer, done
//	   +--- waiting <----------------     pending:             watch, look once
//	   v
//	sleep <--- still pending ---------+
//	   | roused --------------------> lookAgain
//	   v                              | settled, or the time is over
//	   + <----------------------------+
//	   | told the outcome, or an error
//	   v
//	   +-----------------------------> answer: 200, 202 or problem

package api

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/store"
)

// maxWait is where every wait is cut: below the minute after which many
// proxies and clients give up.
const maxWait = 55 * time.Second

// looksAtOnce is how many of those who sleep read their row again at a time.
const looksAtOnce = 16

// waiting is what a route that may wait makes of a request. It is all that is left of
// a caller who sleeps, so that ten thousand of them are small.
type waiting struct {
	watch *store.Watch     // nil: nothing is waited for
	row   *models.Approval // the request to answer with, once it is known
	err   error            // what went wrong while it slept

	name     string       // what the caller named the request by
	asked    bool         // by POST: 202 while pending, and Location
	fallback fallbackWish // what the caller wants to know of fallback_auto_approve
	// shown is the row as the surface shows it to this caller. It must not hold the
	// request's body.
	shown func(context.Context, *models.Approval) (any, error)

	route, requestID string

	ctx context.Context //nolint:containedctx // the caller's, with what the log says of the request
}

// registerWaiting adds a route that may wait. O is the answer as the document has it.
func registerWaiting[I, O any, P input[I]](
	a *API, who Capability, op huma.Operation, fn func(context.Context, *I) (*waiting, error),
) {
	a.waitRoutes[routeOf(op.Method, op.Path)] = true
	register[I, O, P](a, who, op, func(ctx context.Context, in *I) (*O, error) {
		w, err := fn(ctx, in)
		if err != nil {
			return nil, err
		}
		from := P(in).sender().from
		from.waits, w.ctx, w.route, w.requestID = w, ctx, op.Path, from.requestID
		res := humaecho.Unwrap(from).Response()
		if w.watch == nil {
			a.answer(ctx, res, w)
		} else {
			res.Writer.(*exchange).waits = w //nolint:forcetypeassert // ServeHTTP saw to it
		}
		return nil, nil //nolint:nilnil // huma has nothing to answer
	})
}

// watch begins a wait and looks once: the row is there then if it is the answer.
func (a *API) watch(ctx context.Context, w *waiting, actor models.Actor, id models.ResponseID, wait time.Duration, opts ...store.WatchOption) error {
	watch := a.store.Watch(ctx, actor, id, wait, opts...)
	row, done, err := watch.Look(ctx)
	if done || err != nil {
		watch.Close()
		w.row = row
		return err
	}
	w.watch, w.row = watch, nil
	return nil
}

// mayWait reports whether the router leads a request to a route that may wait.
func (a *API) mayWait(r *http.Request) bool {
	c := a.echo.AcquireContext()
	defer a.echo.ReleaseContext(c)
	c.Reset(r, nil)
	a.echo.Router().Find(r.Method, echo.GetPath(r), c)
	return a.waitRoutes[route{r.Method, c.Path()}]
}

// serveWaiting answers a request that may wait.
func (a *API) serveWaiting(rw http.ResponseWriter, r *http.Request) {
	x := &exchange{ResponseWriter: rw}
	a.aside(func() { a.echo.ServeHTTP(x, r) })
	if x.waits != nil {
		a.sleep(x) //nolint:contextcheck // its context is the request's, with what was put into it on the way
	}
}

// sleep waits for the outcome and answers.
func (a *API) sleep(x *exchange) {
	w := x.waits
	ctx := w.ctx
	defer w.watch.Close()
	handlers.ExtendDeadlines(ctx, x, maxWait)
	for w.row == nil && w.err == nil {
		if w.row, w.err = w.watch.Sleep(ctx); w.row == nil && w.err == nil {
			w.row, w.err = a.lookAgain(ctx, w.watch)
		}
	}
	a.aside(func() { x.answered(a.answer(ctx, x, w)) })
}

// lookAgain reads the row once more: nil if it is to be waited for further. Few
// do so at a time, for all who sleep may be woken together.
func (a *API) lookAgain(ctx context.Context, w *store.Watch) (row *models.Approval, err error) {
	a.looks <- struct{}{}
	defer func() { <-a.looks }()
	a.aside(func() { row, _, err = w.Look(ctx) })
	return row, err
}

// answer writes the answer of a route that may wait, at once or after the wait, and
// returns its status.
func (a *API) answer(ctx context.Context, rw http.ResponseWriter, w *waiting) int {
	var body any
	fallback, err := "", naming(w.name, w.err)
	if err == nil && w.fallback != fallbackUnasked {
		fallback, err = a.fallbackNow(ctx, w.fallback, w.row)
	}
	if err == nil {
		body, err = w.shown(ctx, w.row)
	}
	if err != nil {
		p := a.problem(ctx, w.route, w.requestID, err)
		handlers.WriteProblem(rw, p)
		return p.Status
	}
	status, h := http.StatusOK, rw.Header()
	if w.asked {
		h.Set(echo.HeaderLocation, locationOf(w.row))
		if w.row.Status() == models.StatusPending {
			status = http.StatusAccepted
		}
	}
	if w.watch != nil && w.row.Status() == models.StatusPending {
		handlers.HintRetry(h, a.store.WaitsEnded())
	}
	if fallback != "" {
		h.Set(wire.HeaderFallback, fallback)
	}
	h.Set(echo.HeaderContentType, "application/json")
	rw.WriteHeader(status)
	if err := writeBody(rw, body); err != nil {
		a.kit.Log.ErrorContext(ctx, "answer a wait", slog.String("error", err.Error()))
	}
	return status
}

func locationOf(a *models.Approval) string { return "/v1/approvals/" + string(a.ID) }

// waitOf reads how long a caller wants to wait: a Go duration, or seconds.
func waitOf(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	wait, err := time.ParseDuration(s)
	if seconds, notNumber := strconv.ParseInt(s, 10, 64); notNumber == nil {
		wait, err = time.Duration(min(max(seconds, -1), int64(maxWait/time.Second)))*time.Second, nil
	}
	if err != nil || wait < 0 {
		return 0, models.Invalid("wait", "must be a length of time such as 50s, or whole seconds, and not negative")
	}
	return min(wait, maxWait), nil
}
