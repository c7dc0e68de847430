package humanlayer

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/models/runs"
	"countersign/models/store"
)

// root is where the API lives. Clients append their paths to it as they are.
const root = "/humanlayer/v1"

// Surface is the function-call API.
type Surface struct {
	kit   handlers.Kit
	store *store.Store
	pace  *pace
}

// New makes the surface over a store.
func New(kit handlers.Kit, s *store.Store) *Surface {
	if kit.Lists == nil {
		kit.Lists = handlers.NewLists()
	}
	return &Surface{kit: kit, store: s, pace: newPace(pollsPerMinute, longestDelay)}
}

// Pace sets how often each token may poll in a minute without being slowed down, and how long
// a poll above that is delayed at most. It is called before the surface serves.
func (s *Surface) Pace(polls int, longest time.Duration) { s.pace = newPace(polls, longest) }

// Register adds the routes to the router of the API.
func (s *Surface) Register(e *echo.Echo) {
	g := e.Group(root)
	call, contact := models.KindToolCall, models.KindQuestion
	g.POST("/function_calls", s.as(agents, s.createCall))
	g.GET("/function_calls/:call_id", s.as(anyone, s.poll(call)))
	g.GET("/agent/function_calls/pending", s.as(anyone, s.pending(call)))
	g.POST("/agent/function_calls/:call_id/respond", s.as(people, s.respondCall))
	g.POST("/agent/function_calls/:call_id/escalate_email", s.as(agents, s.escalate(call)))
	for _, contacts := range [...]string{"/contact_requests", "/human_contacts"} { // the old name and its alias
		g.POST(contacts, s.as(agents, s.createContact))
		g.GET(contacts+"/:call_id", s.as(anyone, s.poll(contact)))
	}
	g.GET("/agent/human_contacts/pending", s.as(anyone, s.pending(contact)))
	g.POST("/agent/human_contacts/:call_id/respond", s.as(people, s.respondContact))
	g.POST("/agent/human_contacts/:call_id/escalate_email", s.as(agents, s.escalate(contact)))
	g.GET("/project", s.as(anyone, s.project))
}

// capability says who may use a route at all.
type capability struct {
	allows  func(models.Actor) bool
	refusal string
}

var (
	agents = capability{models.Actor.IsAgent, "Only an agent's token may do this."}
	people = capability{models.Actor.IsPerson, "Only a person may do this: use a reviewer's token or the page."}
	anyone = capability{func(models.Actor) bool { return true }, ""}
)

// request is one whose sender is known.
type request struct {
	echo.Context

	actor models.Actor
}

func (r *request) ctx() context.Context { return r.Request().Context() }

// as lets a request through to its handler if its token may use the route; it is refused
// before its body is read or anything looked up (I4).
func (s *Surface) as(who capability, fn func(*request) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		actor, err := handlers.Principal(c.Request().Context(), s.store.People,
			c.Request().Header.Get(echo.HeaderAuthorization))
		if err == nil && !who.allows(actor) {
			err = models.Errorf(models.CodeForbidden, "%s", who.refusal)
		}
		if err == nil && c.Request().Method != http.MethodGet {
			err = actor.NeedToAct()
		}
		if err == nil {
			err = fn(&request{Context: c, actor: actor})
		}
		if err != nil {
			return s.fail(c, err)
		}
		return nil
	}
}

// fields are the members of this API by the names that the use cases have for them.
var fields = map[string]string{
	"toolUseId": "call_id", "runId": "run_id", "toolName": "spec.fn", "input": "spec.kwargs", "description": "spec.msg",
	"client":  "spec",
	"options": "spec.response_options", "rejectOptions": "spec.reject_options", "text": "escalation_msg",
	"reason": "comment", "answer": "response",
}

// fail answers with an error in the API's form. Clients print its message, so it names the wrong member and the
// mistake.
func (s *Surface) fail(c echo.Context, err error) error {
	if c.Response().Committed {
		return nil
	}
	if c.Request().Context().Err() != nil {
		err = context.Canceled
	}
	p := handlers.ProblemOf(handlers.InWords(fields, err))
	out := failure{Error: failureText{
		Message: strings.ReplaceAll(p.Detail, ".promptFill", ".prompt_fill"), Code: string(p.Code),
	}}
	if p.Code == models.CodeInternal {
		out.Error.RequestID = handlers.RequestID(c)
		s.kit.LogInternal(c, err)
	}
	maps.Copy(c.Response().Header(), p.GetHeaders())
	return handlers.WriteJSON(c, p.Status, &out)
}

// project tells an old client that its key is good.
func (s *Surface) project(r *request) error {
	host := ""
	if s.kit.PublicURL != nil {
		host = s.kit.PublicURL.Host
	}
	slug := strings.Trim(strings.Join(strings.FieldsFunc(strings.ToLower(r.actor.Name), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	}), "-"), "-")
	return handlers.WriteJSON(r, http.StatusOK, &project{Name: r.actor.Name, Slug: slug, Organization: host})
}

// find is a request of a kind by its client's id. A call that was only reported, and never asked about, is not a
// request.
func (s *Surface) find(
	ctx context.Context, actor models.Actor, kind models.Kind, callID string,
) (*models.Approval, error) {
	a, err := runs.New(s.store).FindCall(ctx, actor, callID)
	switch code := models.ErrorCode(err); {
	case code == models.CodeAmbiguousSession:
		return nil, models.Errorf(code,
			"More than one request that you may see has this call_id: use the page, or /v1/approvals.")
	case code == models.CodeNotFound, code == models.CodeInvalid,
		err == nil && (a.Kind != kind || a.Status() == models.StatusNone && !a.LetThrough()):
		return nil, models.Errorf(models.CodeNotFound, "There is no %s with this call_id.", nameOf(kind))
	case err != nil:
		return nil, err
	}
	return a, nil
}

func nameOf(kind models.Kind) string {
	if kind == models.KindQuestion {
		return "human contact"
	}
	return "function call"
}

// poll answers with a request as it is now. Above the limit it waits first, for the outcome
// or its delay, whichever is shorter. A server that stops answers pending while it can: any
// error would end the client's call.
func (s *Surface) poll(kind models.Kind) func(*request) error {
	return func(r *request) error {
		ctx, callID := r.ctx(), handlers.PathParam(r, "call_id")
		delay := s.pace.delay(s.store.Now(), r.actor.TokenID)
		if delay > 0 {
			handlers.ExtendDeadlines(ctx, r.Response(), delay)
		}
		a, err := s.find(ctx, r.actor, kind, callID)
		switch {
		case delay == 0:
		case err == nil && a.Status() == models.StatusPending:
			a, err = s.store.Await(ctx, r.actor, a.ID, delay, store.ByWay(way))
		default:
			s.pause(ctx, delay)
		}
		if s.stopping() && isOurFault(err) {
			handlers.HintRetry(r.Response().Header(), s.store.WaitsEnded())
			return handlers.WriteJSON(r, http.StatusOK, stillPending(kind, callID))
		}
		if err != nil {
			return err
		}
		if a.Status() == models.StatusPending {
			handlers.HintRetry(r.Response().Header(), s.store.WaitsEnded())
		}
		return s.answer(r, http.StatusOK, a, nil)
	}
}

// pause waits, but not for a caller that has gone, nor while the server stops.
func (s *Surface) pause(ctx context.Context, d time.Duration) {
	end := time.NewTimer(d)
	defer end.Stop()
	select {
	case <-end.C:
	case <-s.store.WaitsEnded():
	case <-ctx.Done():
	}
}

func (s *Surface) stopping() bool {
	select {
	case <-s.store.WaitsEnded():
		return true
	default:
		return false
	}
}

// isOurFault reports whether a look-up failed for a reason that the caller has no part in.
func isOurFault(err error) bool {
	return err != nil && !errors.Is(err, context.Canceled) &&
		handlers.Status(models.ErrorCode(err)) >= http.StatusInternalServerError
}
