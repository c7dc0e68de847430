package api

import (
	"context"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"countersign/handlers/api/wire"
	"countersign/models"
)

func (a *API) registerApprovals() {
	registerWaiting[askIn, askOut](a, Agents, huma.Operation{
		OperationID: "ask", Method: http.MethodPost, Path: "/v1/approvals",
		Summary:     "Ask for approval, or for an answer",
		Description: "200 when settled, 202 while pending: send the same request again, with the same approvalId or toolUseId, until it is settled.",
		Responses:   map[string]*huma.Response{"202": {Description: "Pending"}},
		Errors:      []int{401, 402, 403, 409, 413, 422, 429, 503},
	}, a.ask)
	registerWaiting[getIn, approvalOut](a, Anyone, huma.Operation{
		OperationID: "get-approval", Method: http.MethodGet, Path: "/v1/approvals/{id}",
		Summary: "Read a request, or wait for its outcome", Description: "200 while it is pending too.",
		Errors: []int{401, 404, 422},
	}, a.get)
	register(a, Anyone, huma.Operation{
		OperationID: "cancel-approval", Method: http.MethodPost, Path: "/v1/approvals/{id}/cancel",
		Summary: "Cancel a request", Description: "For the agent that asked, its owner and admins.",
		Errors: []int{401, 403, 404, 409, 422},
	}, a.cancel)
	register(a, People, huma.Operation{
		OperationID: "respond", Method: http.MethodPost, Path: "/v1/approvals/{id}/respond",
		Summary: "Decide a request", Description: heldDescription, Responses: heldResponses(),
		Errors: []int{401, 403, 404, 409, 413, 422},
	}, a.respond)
	a.registerNotes()
	a.registerClock()
}

type askIn struct {
	caller

	Wait     string `query:"wait" doc:"How long to wait for the outcome, as 50s or in seconds; cut to 55s"`
	SeenNote string `query:"seenNote" doc:"The id of the openNote that the caller has, or empty: the wait ends early for another one too. Without it no note ends a wait"`
	Fallback string `header:"Countersign-Fallback" doc:"Send it to learn whether fallback_auto_approve is on for calls of this tool by this agent: it is off where the agent is stopped, and for tools under a rule that denies or says that the risk is high or critical, whatever the input. Keep on for this tool only, and off for all; a 401 or 403 and the cause stopped are off, too. The header of the same name in the answer says: off, or on, or for the value until also on; until= and a time, after which no client may go on without a decision. For any other value on is only sent if it does not end within ten minutes"`
	Body     wire.AskRequest
}

type askOut struct {
	Status   int
	Location string `header:"Location"`
	Fallback string `header:"Countersign-Fallback"`
	Body     *wire.Approval
}

func (a *API) ask(ctx context.Context, in *askIn) (*waiting, error) {
	wait, err := waitOf(in.Wait)
	if err != nil {
		return nil, err
	}
	opts, err := seenNote(&in.caller, in.SeenNote)
	if err != nil {
		return nil, err
	}
	got, err := a.store.Ask(ctx, in.actor, askInput(&in.Body))
	if err != nil {
		return nil, err
	}
	w := &waiting{row: got, name: string(got.ID), asked: true, fallback: wishOf(in.Fallback), shown: a.shownTo(in.actor)}
	if got.Status() == models.StatusPending && wait > 0 {
		err = a.watch(ctx, w, in.actor, got.ID, wait, opts...)
	}
	return w, err
}

// shownTo shows a request of the queue to a caller.
func (a *API) shownTo(actor models.Actor) func(context.Context, *models.Approval) (any, error) {
	return func(ctx context.Context, row *models.Approval) (any, error) { return a.approvalFor(ctx, actor, row) }
}

// fallbackWish is what a caller wants to know of going on without a server.
type fallbackWish uint8

const (
	fallbackUnasked fallbackWish = iota
	fallbackOnOff                // on or off, and on is believed for ten minutes
	fallbackWithEnd              // when it ends, too
)

// wishOf reads the request's header.
func wishOf(header string) fallbackWish {
	switch header {
	case "":
		return fallbackUnasked
	case wire.FallbackWithEnd:
		return fallbackWithEnd
	}
	return fallbackOnOff
}

// oldClientMargin is how much longer than it is believed the fallback must last for "on": a
// client counts from when it heard the answer, and not from when it was given.
const oldClientMargin = time.Minute

// fallbackNow says whether clients may run calls like this request without a server, and until when, so that no client
// runs one after the end (I11). It is read only for clients that ask for it.
func (a *API) fallbackNow(ctx context.Context, wish fallbackWish, row *models.Approval) (string, error) {
	on, until, err := a.store.FallbackFor(ctx, row)
	if err != nil {
		return "", err
	}
	state := wire.FallbackState{On: on}
	if on && until != nil {
		state.Until = *until
		if wish == fallbackOnOff {
			state = wire.FallbackState{On: a.store.Now().Add(models.FallbackBelieved + oldClientMargin).Before(*until)}
		}
	}
	return state.String(), nil
}

type getIn struct {
	caller

	ID       string `path:"id" doc:"The approvalId"`
	Wait     string `query:"wait" doc:"How long to wait for the outcome, as 50s or in seconds; cut to 55s"`
	SeenNote string `query:"seenNote" doc:"The id of the openNote that the caller has, or empty: the wait ends early for another one too. Without it no note ends a wait"`
}

type approvalOut struct {
	Body *wire.Approval
}

func (a *API) get(ctx context.Context, in *getIn) (*waiting, error) {
	wait, err := waitOf(in.Wait)
	if err != nil {
		return nil, err
	}
	id, err := approvalID(in.ID)
	if err != nil {
		return nil, err
	}
	opts, err := seenNote(&in.caller, in.SeenNote)
	if err != nil {
		return nil, err
	}
	w := &waiting{name: string(id), shown: a.shownTo(in.actor)}
	if wait > 0 {
		err = a.watch(ctx, w, in.actor, id, wait, opts...)
	} else {
		w.row, err = a.store.Requests.Approval(ctx, in.actor, id)
	}
	return w, naming(in.ID, err)
}

type cancelIn struct {
	caller

	ID string `path:"id" doc:"The approvalId"`
}

func (a *API) cancel(ctx context.Context, in *cancelIn) (*approvalOut, error) {
	id, err := approvalID(in.ID)
	if err != nil {
		return nil, err
	}
	got, err := a.store.Cancel(ctx, in.actor, id)
	if err != nil {
		return nil, naming(in.ID, err)
	}
	return a.approvalOut(ctx, in.actor, got)
}

func (a *API) approvalOut(ctx context.Context, actor models.Actor, row *models.Approval) (*approvalOut, error) {
	one, err := a.approvalFor(ctx, actor, row)
	return &approvalOut{Body: one}, err
}

type respondIn struct {
	caller

	ID   string `path:"id" doc:"The approvalId"`
	Body wire.RespondRequest
}

type respondOut struct {
	Status int
	Body   *wire.RespondResult
}

func (a *API) respond(ctx context.Context, in *respondIn) (*respondOut, error) {
	id, err := approvalID(in.ID)
	if err != nil {
		return nil, err
	}
	got, err := a.store.Decide(ctx, in.actor, id, decisionInput(&in.Body))
	if err != nil {
		return nil, naming(in.ID, err)
	}
	out := &wire.RespondResult{Success: true, ApprovalID: wire.ResponseID(got.ID), Status: shown(got), Held: heldOf(got)}
	if d := decisionOf(got, got.Status()); d != nil {
		out.Response = wire.Responded{Approved: d.Approved, Reason: d.Reason, Timestamp: d.At}
	} else if v := got.Vote; v != nil { // held: nothing is approved yet
		out.Verdict, out.Response = string(v.Verdict), wire.Responded{Reason: v.Reason, Timestamp: v.At}
	}
	return &respondOut{Status: decidedStatus(got), Body: out}, nil
}

// approvalID reads the id of a path. A malformed id is answered with not_found.
func approvalID(s string) (models.ResponseID, error) {
	id, err := models.ParseID[models.ResponseID]("id", s)
	if err != nil {
		return "", noSuchApproval(s)
	}
	return id, nil
}

// naming puts the id that was asked for, and no other, into "not found".
func naming(asked string, err error) error {
	if models.ErrorCode(err) == models.CodeNotFound {
		return noSuchApproval(asked)
	}
	return err
}

func noSuchApproval(asked string) error {
	if len(asked) > models.MaxName || !utf8.ValidString(asked) ||
		strings.ContainsFunc(asked, func(r rune) bool { return r < 0x20 }) {
		asked = "(not an id)"
	}
	return models.Errorf(models.CodeNotFound, "No pending approval request for ID: %s", asked)
}
