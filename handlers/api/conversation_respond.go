package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"countersign/handlers/api/wire"
	"countersign/models"
)

const responsesPath, budgetPath = onePath + "/responses", onePath + "/budget"

func (a *API) registerResponses() {
	registerWaiting[responseIn, responseOut](a, Agents, huma.Operation{
		OperationID: "add-response", Method: http.MethodPost, Path: responsesPath, Tags: conversationTags,
		Summary: "Say something as an agent, or propose something that needs approval",
		Description: "200 when settled, as a reply is at once; 202 while a proposal is pending: send the same again, with the same responseId, until it is settled. " +
			"An unknown conversation id opens a new conversation of the agent. 402 where the budget does not allow it: wait for the request that approvalId names " +
			"(GET /v1/approvals/{id}?wait=50s) and, once it is approved, send the same again.",
		Responses: map[string]*huma.Response{"202": {Description: "Pending"}},
		Errors:    []int{401, 402, 403, 409, 413, 422, 429, 503},
	}, a.addResponse)
	register(a, Anyone, huma.Operation{
		OperationID: "change-budget", Method: http.MethodPut, Path: budgetPath, Tags: conversationTags,
		Summary: "Set the budget of a conversation, or change it by a step",
		Description: "A person may change it as they like. An agent may set one where there is none, and lower one; raising one becomes a request to a person: " +
			"202, with approvalId to wait on. While one waits, a wish for another budget is 409 with that request: wait for it, or cancel it and ask again. After a rejection nobody is asked again until the budget changes or a person writes: 409.",
		Responses: map[string]*huma.Response{"202": {Description: "It became a request"}},
		Errors:    []int{401, 404, 409, 413, 422, 503},
	}, a.changeBudget)
}

type responseIn struct {
	caller

	RequestID string `path:"requestId" doc:"The conversation"`
	Wait      string `query:"wait" doc:"How long to wait for the outcome of a proposal, as 50s or in seconds; cut to 55s"`
	Body      wire.ResponseRequest
}

type responseOut struct {
	Status   int
	Location string `header:"Location"`
	Body     *wire.ConversationResponse
}

func (a *API) addResponse(ctx context.Context, in *responseIn) (*waiting, error) {
	wait, err := waitOf(in.Wait)
	if err != nil {
		return nil, err
	}
	// Here an id is the agent's own choice: one that is none is its mistake.
	id, err := models.ParseID[models.ConversationID]("requestId", in.RequestID)
	if err != nil {
		return nil, err
	}
	b := in.Body
	got, err := a.store.Respond(ctx, in.actor, models.ResponseInput{
		ConversationID: id, ResponseID: b.ResponseID, Kind: models.Kind(b.Kind), Content: b.Content,
		Energy: (*int64)(b.Energy), ModelUsed: b.ModelUsed, EnergyBudget: (*int64)(b.EnergyBudget), Preview: b.Preview,
	})
	if err != nil {
		return nil, err
	}
	w := &waiting{row: got, name: string(got.ID), asked: true, shown: a.responseTo(in.actor)}
	if got.Status() == models.StatusPending && wait > 0 {
		err = a.watch(ctx, w, in.actor, got.ID, wait)
	}
	return w, err
}

// responseTo shows a response to a caller, with what it waits for.
func (a *API) responseTo(actor models.Actor) func(context.Context, *models.Approval) (any, error) {
	return func(ctx context.Context, row *models.Approval) (any, error) {
		waits, err := a.store.WaitsFor(ctx, actor, row)
		if err != nil {
			return nil, err
		}
		out := responseOf(a.kit, row)
		out.Reviewers, out.WaitingFor = waits[0].Reviewers, waits[0].Text
		out.Signatures = signaturesOf(waits[0])
		return out, nil
	}
}

type budgetIn struct {
	caller

	RequestID string `path:"requestId" doc:"The conversation"`
	Body      wire.BudgetRequest
}

type budgetOut struct {
	Status   int
	Location string `header:"Location"`
	Body     *wire.BudgetAnswer
}

func (a *API) changeBudget(ctx context.Context, in *budgetIn) (*budgetOut, error) {
	id, err := conversationID(in.RequestID)
	if err != nil {
		return nil, err
	}
	change := models.BudgetChange{Set: (*int64)(in.Body.Budget), Delta: (*int64)(in.Body.Delta)}
	if change.None() {
		return nil, models.Invalid("budget", "must be sent, or delta")
	}
	got, err := a.store.ChangeBudget(ctx, in.actor, id, change, "")
	if err != nil {
		return nil, err
	}
	out := &budgetOut{
		Status: http.StatusOK, Body: &wire.BudgetAnswer{RequestID: wire.ConversationID(id), Budget: budgetOf(got.Budget)},
	}
	if r := got.Approval; r != nil {
		out.Location, out.Body.ApprovalID, out.Body.Approval = locationOf(r), (*wire.ResponseID)(&r.ID), approvalStateOf(r)
		if r.Status() == models.StatusPending {
			out.Status = http.StatusAccepted
		}
	}
	return out, nil
}
