package api

import (
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
)

// maxWait is where every wait is cut: below the minute after which many
// proxies and clients give up.
const maxWait = 55 * time.Second

// waitFor is a wait that begins once the handler, and with it huma's frames and
// the request's body, are gone from the stack. What is left of a caller that
// sleeps is then small enough for ten thousand of them.
type waitFor struct {
	id       models.ResponseID
	most     time.Duration
	asked    bool // by POST: 202 while pending, and Location
	fallback bool // the caller wants to know of fallback_auto_approve
}

// await waits and answers.
func (a *API) await(c *signedIn) {
	got, err := a.store.Await(c.Context(), c.actor, c.waits.id, c.waits.most)
	a.told(c, got, err)
}

// told writes the answer of a wait.
func (a *API) told(c *signedIn, got *models.Approval, err error) {
	ctx, e := c.Context(), humaecho.Unwrap(c)
	fallback := ""
	if err == nil && c.waits.fallback {
		fallback, err = a.fallbackNow(ctx)
	}
	if err != nil {
		handlers.WriteProblem(e.Response(), a.problem(ctx, e.Path(), c.requestID, naming(string(c.waits.id), err)))
		return
	}
	status := http.StatusOK
	h := e.Response().Header()
	if c.waits.asked {
		h.Set(echo.HeaderLocation, locationOf(got))
		if got.Status() == models.StatusPending {
			status = http.StatusAccepted
		}
	}
	if fallback != "" {
		h.Set(HeaderFallback, fallback)
	}
	h.Set(echo.HeaderContentType, "application/json")
	e.Response().WriteHeader(status)
	if err := writeBody(e.Response(), approvalOf(a.kit, got)); err != nil {
		a.kit.LogInternal(e, err)
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
