package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"countersign/handlers/api/wire"
	"countersign/models"
)

// toolPath is where the tool approval surface lives: for orchestrators that
// pause a tool and know it by their own tool_use_id.
const toolPath = "/api/approval"

var toolTags = []string{"Tool approval"}

func (a *API) registerTools() {
	register(a, Agents, huma.Operation{
		OperationID: "request-tool-approval", Method: http.MethodPost, Path: toolPath + "/request", Tags: toolTags,
		Summary:     "Ask whether a tool may run",
		Description: "Where the policy requires no approval the call is recorded and APPROVED at once. The same tool_use_id in the same session is the same call, however often it is sent, until its result is reported.",
		Errors:      []int{401, 402, 403, 409, 413, 422, 429, 503},
	}, a.requestTool)
	register(a, People, huma.Operation{
		OperationID: "decide-tool-approval", Method: http.MethodPost, Path: toolPath + "/decide", Tags: toolTags,
		Summary: "Decide a call", Description: heldDescription, Responses: heldResponses(),
		Errors: []int{401, 403, 404, 409, 413, 422, 503},
	}, a.decideTool)
	registerWaiting[invocationIn, invocationOut](a, Anyone, huma.Operation{
		OperationID: "get-tool-invocation", Method: http.MethodGet, Path: toolPath + "/invocation/{tool_use_id}",
		Tags:        toolTags,
		Summary:     "Read a call, or wait for its outcome",
		Description: "With edited_input in the answer, run that and not what was sent: it is what the reviewer approved.",
		Errors:      []int{401, 404, 409, 422},
	}, a.invocation)
	register(a, Anyone, huma.Operation{
		OperationID: "list-pending-invocations", Method: http.MethodGet, Path: toolPath + "/pending/{session_id}",
		Tags:    toolTags,
		Summary: "List what waits in a session, soonest deadline first", Description: listDescription,
		Errors: []int{401, 422, 429},
	}, a.pendingOfSession)
	a.registerToolConfig()
}

type requestToolIn struct {
	caller

	Body wire.ToolRequest
}

type toolAnswerOut struct {
	Body *wire.ToolAnswer
}

func (a *API) requestTool(ctx context.Context, in *requestToolIn) (*toolAnswerOut, error) {
	ask, err := toolInput(&in.Body)
	if err != nil {
		return nil, err
	}
	got, err := a.store.Ask(ctx, in.actor, ask)
	if err != nil {
		return nil, err
	}
	all, err := a.invocationsFor(ctx, in.actor, in.Body.SessionID, got)
	if err != nil {
		return nil, err
	}
	return &toolAnswerOut{Body: toolAnswerOf(all[0])}, nil
}

type invocationOut struct {
	Body *wire.Invocation
}

type decideToolIn struct {
	caller

	Body wire.ToolDecision
}

type decidedToolOut struct {
	Status int
	Body   *wire.Invocation
}

func (a *API) decideTool(ctx context.Context, in *decideToolIn) (*decidedToolOut, error) {
	decision, err := toolDecision(&in.Body)
	if err != nil {
		return nil, err
	}
	found, err := a.store.FindInvocation(ctx, in.actor, in.Body.ToolUseID, in.Body.SessionID)
	if err != nil {
		return nil, naming(in.Body.ToolUseID, err)
	}
	got, err := a.store.Decide(ctx, in.actor, found.ID, decision)
	if err != nil {
		return nil, naming(in.Body.ToolUseID, err)
	}
	all, err := a.invocationsFor(ctx, in.actor, in.Body.SessionID, got)
	if err != nil {
		return nil, err
	}
	return &decidedToolOut{Status: decidedStatus(got), Body: all[0]}, nil
}

type invocationIn struct {
	caller

	ToolUseID string `path:"tool_use_id" doc:"The orchestrator's name for the call"`
	SessionID string `query:"session_id" doc:"Required where several sessions have the name"`
	Wait      string `query:"wait" doc:"How long to wait for the outcome, as 50s or in seconds; cut to 55s"`
}

func (a *API) invocation(ctx context.Context, in *invocationIn) (*waiting, error) {
	wait, err := waitOf(in.Wait)
	if err != nil {
		return nil, err
	}
	got, err := a.store.FindInvocation(ctx, in.actor, in.ToolUseID, in.SessionID)
	if err != nil {
		return nil, naming(in.ToolUseID, err)
	}
	actor, session := in.actor, in.SessionID
	w := &waiting{row: got, name: in.ToolUseID, shown: func(ctx context.Context, row *models.Approval) (any, error) {
		all, err := a.invocationsFor(ctx, actor, session, row)
		if err != nil {
			return nil, err
		}
		return all[0], nil
	}}
	if wait > 0 && got.Status() == models.StatusPending {
		err = a.watch(ctx, w, actor, got.ID, wait)
	}
	return w, naming(in.ToolUseID, err)
}

// invocationsFor shows calls to a caller, who named their session so, with what they wait
// for.
func (a *API) invocationsFor(
	ctx context.Context, actor models.Actor, session string, rows ...*models.Approval,
) ([]*wire.Invocation, error) {
	waits, err := a.store.WaitsFor(ctx, actor, rows...)
	if err != nil {
		return nil, err
	}
	agents, err := a.presences(ctx, actor, rows...)
	if err != nil {
		return nil, err
	}
	all := make([]*wire.Invocation, 0, len(rows))
	for i, row := range rows {
		one := invocationOf(row, session)
		one.Reviewers, one.WaitingFor = waits[i].Reviewers, waits[i].Text
		one.Signatures = signaturesOf(waits[i])
		one.Waiting = agents.waiting(row.ID)
		all = append(all, one)
	}
	return all, nil
}

type pendingOfSessionIn struct {
	caller

	SessionID string `path:"session_id" doc:"A conversation's id or a run id"`
	Cursor    string `query:"cursor" maxLength:"200" doc:"The next of the previous page"`
	Limit     int    `query:"limit" minimum:"1" maximum:"200" default:"200"`
}

type pendingOfSessionOut struct {
	Body *wire.PendingInvocations
}

func (a *API) pendingOfSession(ctx context.Context, in *pendingOfSessionIn) (*pendingOfSessionOut, error) {
	if err := a.beginList(ctx, &in.caller); err != nil {
		return nil, err
	}
	got, err := a.store.SessionPending(ctx, in.actor, in.SessionID, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}
	if err := a.holders(ctx, in.actor, got.Items); err != nil {
		return nil, err
	}
	all, err := a.invocationsFor(ctx, in.actor, in.SessionID, pointers(got.Items)...)
	return &pendingOfSessionOut{Body: &wire.PendingInvocations{Pending: all, Next: got.Next}}, err
}
