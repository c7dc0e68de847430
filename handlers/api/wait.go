package api

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"time"

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

// waiting is a request whose answer comes when it is settled. It is all that is
// left of a caller who sleeps, so that ten thousand of them are small: router,
// huma, body and database have run on another goroutine's stack and are gone.
type waiting struct {
	watch    *store.Watch
	id       models.ResponseID
	asked    bool      // by POST: 202 while pending, and Location
	fallback bool      // the caller wants to know of fallback_auto_approve
	tool     *toolName // set where the request was named by tool use id
	response bool      // of a conversation: shown as that surface does
	actor    models.Actor

	route, requestID string
}

// wait looks once and leaves the rest to the sleeper: the row if it is settled,
// nil if the answer comes later.
func (c *signedIn) wait(ctx context.Context, w *waiting) (*models.Approval, error) {
	got, done, err := w.watch.Look(ctx)
	if done || err != nil {
		w.watch.Close()
		return got, err
	}
	w.actor, w.route, w.requestID = c.actor, c.Operation().Path, c.requestID
	c.waits = w
	return nil, nil //nolint:nilnil // the sleeper answers
}

// leave hands a wait to the goroutine of the connection, which has been asleep
// meanwhile.
func (a *API) leave(c *signedIn) {
	res := humaecho.Unwrap(c).Response()
	if x, ok := res.Writer.(*exchange); ok {
		x.waits = c.waits
		return
	}
	a.sleep(c.Context(), &exchange{ResponseWriter: res, waits: c.waits})
}

// exchange is one request that may wait, and its answer.
type exchange struct {
	http.ResponseWriter

	waits *waiting // nil: answered
	told  func(status int)
}

// Unwrap is for http.ResponseController.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// Deferred reports whether the answer comes later.
func (x *exchange) Deferred() bool { return x.waits != nil }

// OnAnswer takes what is to hear of the answer's status.
func (x *exchange) OnAnswer(told func(status int)) { x.told = told }

// serveWaiting answers a request that may wait. The goroutine of the connection
// does nothing but sleep: what is deep runs aside.
func (a *API) serveWaiting(w http.ResponseWriter, r *http.Request) {
	x := &exchange{ResponseWriter: w}
	a.aside(func() { a.echo.ServeHTTP(x, r) })
	if x.waits != nil {
		a.sleep(r.Context(), x)
	}
}

// sleep waits for the outcome and answers.
func (a *API) sleep(ctx context.Context, x *exchange) {
	defer x.waits.watch.Close()
	handlers.ExtendDeadlines(x, maxWait)
	for {
		got, err := x.waits.watch.Sleep(ctx)
		if a.settled(ctx, x, got, err) {
			return
		}
	}
}

// settled answers if there is an answer now.
func (a *API) settled(ctx context.Context, x *exchange, got *models.Approval, err error) bool {
	if got == nil && err == nil {
		if got, err = a.lookAgain(ctx, x.waits.watch); got == nil && err == nil {
			return false
		}
	}
	a.aside(func() { a.answer(ctx, x, got, err) })
	return true
}

// lookAgain reads the row once more: nil if it is to be waited for further. Few
// do so at a time, for all who sleep may be woken together.
func (a *API) lookAgain(ctx context.Context, w *store.Watch) (got *models.Approval, err error) {
	a.looks <- struct{}{}
	defer func() { <-a.looks }()
	a.aside(func() {
		var done bool
		if got, done, err = w.Look(ctx); !done {
			got = nil
		}
	})
	return got, err
}

// fewWaiters is how many may wait before the size of their stacks counts: until
// then they keep what they have grown, for growing a stack anew is felt.
const fewWaiters = 1000

// aside runs fn on a goroutine of its own, once many wait, and returns when it
// has, with its panic if it had one: so the stack that fn needs is not the
// caller's to keep.
func (a *API) aside(fn func()) {
	if a.store.Waiters() < a.few {
		fn()
		return
	}
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		fn()
	}()
	if cause := <-done; cause != nil {
		panic(cause)
	}
}

// answer writes the answer of a wait.
func (a *API) answer(ctx context.Context, x *exchange, got *models.Approval, err error) {
	status, fallback := http.StatusOK, ""
	if err == nil && x.waits.fallback {
		fallback, err = a.fallbackNow(ctx)
	}
	var body any
	if err == nil {
		body, err = a.shown(ctx, x.waits, got)
	}
	if err != nil {
		p := a.problem(ctx, x.waits.route, x.waits.requestID, naming(x.waits.name(), err))
		handlers.WriteProblem(x, p)
		x.tell(p.Status)
		return
	}
	h := x.Header()
	if x.waits.asked {
		h.Set(echo.HeaderLocation, locationOf(got))
		if got.Status() == models.StatusPending {
			status = http.StatusAccepted
		}
	}
	if fallback != "" {
		h.Set(wire.HeaderFallback, fallback)
	}
	h.Set(echo.HeaderContentType, "application/json")
	x.WriteHeader(status)
	if err := writeBody(x, body); err != nil {
		a.kit.Log.ErrorContext(ctx, "answer a wait", slog.String("request_id", x.waits.requestID), slog.String("error", err.Error()))
	}
	x.tell(status)
}

// name is what the caller named the request by.
func (w *waiting) name() string {
	if w.tool != nil {
		return w.tool.toolUseID
	}
	return string(w.id)
}

// shown is a request as the surface that it is waited for on shows it, to who waits.
func (a *API) shown(ctx context.Context, w *waiting, got *models.Approval) (any, error) {
	switch {
	case w.tool != nil:
		out := invocationOf(got, w.tool.sessionID)
		out.Waiting = a.waitingFor(w.actor, got.ID, got.Status())
		return out, nil
	case w.response:
		return responseOf(a.kit, got), nil
	}
	return a.approvalFor(ctx, w.actor, got)
}

func (x *exchange) tell(status int) {
	if x.told != nil {
		x.told(status)
	}
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
