package hooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/store"
)

// ClaudeCodePath is where Claude Code's hooks are answered.
const ClaudeCodePath = "/hooks/claude-code"

// How long an answer may take.
const (
	// maxPoll is where the wait of a client is cut that comes back.
	maxPoll = 55 * time.Second
	// DefaultTimeout is how long the agent gives a hook that says nothing else.
	DefaultTimeout = 10 * time.Minute
	maxTimeout     = 7 * 24 * time.Hour
	// Margin is how long before the agent gives a hook up it is denied.
	Margin = 10 * time.Second
)

// Surface answers hooks.
type Surface struct {
	kit   handlers.Kit
	store *store.Store
}

// Register adds the routes to the router of the API.
func Register(e *echo.Echo, kit handlers.Kit, s *store.Store) {
	if kit.Strangers == nil {
		kit.Strangers = handlers.NewStrangers(handlers.StrangersAtOnce, handlers.StrangersTime)
	}
	surface := &Surface{kit: kit, store: s}
	e.POST(ClaudeCodePath, surface.claudeCode)
}

// hook is one hook that is answered.
type hook struct {
	*Surface

	actor models.Actor
	event wire.HookEvent
	key   string    // of a PermissionRequest, which has no other; may be empty
	polls bool      // the caller comes back: it takes errors, and 202 while pending
	start time.Time // when it was heard of
	until time.Time // when the wait for an answer is over
}

// claudeCode answers one hook, in one of two ways: see the package.
func (s *Surface) claudeCode(c echo.Context) error {
	h := &hook{Surface: s, polls: c.QueryParam("wait") != "", start: s.kit.Now()}
	if refusal := h.signIn(c); refusal != nil {
		return h.refuse(c, refusal)
	}
	handlers.ReadWithin(c.Response())
	raw, err := body(c.Request(), models.MaxBody)
	h.event.Name = wire.HookNameIn(raw)
	if err == nil {
		err = h.read(c, raw)
	}
	var got wire.HookResult
	if err == nil {
		got, err = h.answerAnyway(c)
	}
	if err == nil {
		return h.write(c, got)
	}
	if gone := c.Request().Context().Err(); gone != nil {
		return gone
	}
	if h.polls || !h.event.Name.Gates() {
		return err
	}
	return h.deny(c, err)
}

// refuse answers a sender who may not ask. An event that decides about a call is denied, for the agent takes another
// status for a yes; so the name of the event is read, and no more of the body. Where it is unreadable, the answer tells
// the agent to stop.
func (h *hook) refuse(c echo.Context, refusal error) error {
	if h.polls {
		return refusal
	}
	leave, full := h.kit.Strangers.Enter(c.Response())
	if full != nil {
		return h.stop(c, full)
	}
	defer leave()
	sent := &watched{Reader: c.Request().Body}
	h.event.Name = wire.FirstHookName(io.LimitReader(sent, mostUnsigned))
	switch {
	case h.event.Name.Gates():
		return h.deny(c, refusal)
	case h.event.Name == "" && (sent.broken || sent.read >= mostUnsigned):
		return h.stop(c, refusal)
	}
	return refusal
}

// watched is a body that remembers how much of it came, and whether it broke off.
type watched struct {
	io.Reader

	read   int
	broken bool
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.read += n
	w.broken = w.broken || err != nil && !errors.Is(err, io.EOF)
	return n, err
}

// stop has an agent do nothing more, at whichever moment it asks.
func (h *hook) stop(c echo.Context, err error) error {
	reason := "Countersign could not read this hook, so the agent must stop: " + handlers.ProblemOf(err).Detail
	return h.write(c, answered(&wire.HookAnswer{Continue: new(false), StopReason: reason}))
}

// deny answers a caller that takes nothing but an answer.
func (h *hook) deny(c echo.Context, err error) error {
	p := handlers.ProblemOf(err)
	if p.Code == models.CodeInternal {
		h.kit.LogInternal(c, err)
	}
	return h.write(c,
		answered(wire.DenyHook(h.event.Name, "Countersign could not ask for approval, so this call must not run: "+p.Detail)))
}

// mostUnsigned is how much is read of a body whose sender is refused: enough to find the name of the event, which comes
// before the call, but after two paths that may be 4 KiB long and six times that in JSON.
const mostUnsigned = 64 << 10

// body is the request's body, or as much of it as is accepted together with the error that says so.
func body(r *http.Request, most int) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r.Body, int64(most)+1))
	switch {
	case err != nil:
		return raw, models.Errorf(models.CodeInvalid, "The body is incomplete.")
	case len(raw) > most:
		return raw, models.Errorf(models.CodeTooLarge, "The body is larger than %d bytes.", most)
	}
	return raw, nil
}

// signIn finds out who sends the hook: only an agent may (I4).
func (h *hook) signIn(c echo.Context) (err error) {
	if h.actor, err = handlers.Principal(c.Request().Context(), h.store.People,
		c.Request().Header.Get(echo.HeaderAuthorization)); err != nil {
		return err
	}
	if !h.actor.IsAgent() {
		return models.Errorf(models.CodeForbidden, "Only an agent's token may answer a hook.")
	}
	return nil
}

// read finds out which event the body is, and how long to wait.
func (h *hook) read(c echo.Context, raw []byte) (err error) {
	if h.event, err = readEvent(raw); err != nil {
		return err
	}
	return h.readQuery(c)
}

// readQuery takes how long to wait and the request's key.
func (h *hook) readQuery(c echo.Context) error {
	for name := range c.QueryParams() {
		if name != "wait" && name != "timeout" && name != "approvalId" {
			return models.Invalid("query", "has an unknown parameter: only wait, timeout and approvalId exist")
		}
	}
	if h.key = c.QueryParam("approvalId"); h.key != "" && h.event.Name != wire.HookPermissionRequest {
		return models.Invalid("approvalId", "belongs to PermissionRequest: other calls are known by their tool_use_id")
	}
	if h.polls && h.event.Name == wire.HookPermissionRequest && h.key == "" {
		return models.Invalid("approvalId", "is required with wait: without it each repeat would be another request")
	}
	if h.polls {
		wait, err := time.ParseDuration(c.QueryParam("wait"))
		if err != nil || wait < 0 {
			return models.Invalid("wait", "must be a length of time such as 50s, and not negative")
		}
		h.until = h.start.Add(min(wait, maxPoll))
		return nil
	}
	timeout := DefaultTimeout
	if value := c.QueryParam("timeout"); value != "" {
		seconds, err := strconv.Atoi(value)
		timeout = time.Duration(seconds) * time.Second
		if err != nil || timeout < 2*Margin || timeout > maxTimeout {
			return models.Invalid("timeout", "must be the hook's timeout in whole seconds, from %d to %d",
				int(2*Margin/time.Second), int(maxTimeout/time.Second))
		}
	}
	h.until = h.start.Add(timeout - Margin)
	return nil
}

// answerAnyway turns a panic into an error for a caller that takes nothing but an answer:
// the status that others get for it would let the call through.
func (h *hook) answerAnyway(c echo.Context) (got wire.HookResult, err error) {
	if h.polls {
		return h.answer(c)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return h.answer(c)
}

// answer does what the moment asks for.
func (h *hook) answer(c echo.Context) (wire.HookResult, error) {
	ctx := c.Request().Context()
	switch h.event.Name {
	case wire.HookPreToolUse, wire.HookPermissionRequest:
		return h.judge(c)
	case wire.HookPostToolUse, wire.HookPostToolUseFailure:
		return answered(new(wire.HookAnswer)), h.result(ctx)
	case wire.HookStop:
		return answered(new(wire.HookAnswer)), h.rest(ctx)
	}
	return wire.HookResult{}, errUnknownMoment()
}

func answered(a *wire.HookAnswer) wire.HookResult { return wire.HookResult{Answer: a} }

// write sends the answer, after the line breaks that a long wait may have begun it with.
func (h *hook) write(c echo.Context, got wire.HookResult) error {
	res := c.Response()
	if !res.Committed {
		status := http.StatusOK
		if got.Pending != nil {
			status = http.StatusAccepted
			handlers.HintRetry(res.Header(), h.store.WaitsEnded())
		}
		begin(res, status)
	}
	var out any = got.Answer
	if h.polls {
		out = got
	}
	if err := json.MarshalWrite(res, out, wire.WriteOptions); err != nil && c.Request().Context().Err() == nil {
		h.log(c.Request().Context(), "write", err)
	}
	return nil
}

func begin(res *echo.Response, status int) {
	res.Header().Set(echo.HeaderContentType, echo.MIMEApplicationJSON)
	res.Header().Set("X-Accel-Buffering", "no") // nginx would hold the beats back
	res.WriteHeader(status)
}

// beat keeps a long answer open through proxies: white space before JSON means nothing.
func beat(res *echo.Response) error {
	if !res.Committed {
		begin(res, http.StatusOK)
	}
	if _, err := io.WriteString(res, "\n"); err != nil {
		return err
	}
	res.Flush()
	return nil
}

// log writes down what went wrong beside the answer.
func (h *hook) log(ctx context.Context, act string, err error) {
	if !errors.Is(err, context.Canceled) {
		h.kit.Log.ErrorContext(ctx, "answer a hook", slog.String("doing", act), slog.String("error", err.Error()))
	}
}
