package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"countersign/models"
)

const responsesPath, budgetPath = onePath + "/responses", onePath + "/budget"

func (a *API) registerResponses() {
	register(a, Agents, huma.Operation{
		OperationID: "add-response", Method: http.MethodPost, Path: responsesPath, Tags: conversationTags,
		Summary: "Say something as an agent, or propose something that needs approval",
		Description: "200 when settled, as a reply is at once; 202 while a proposal is pending: send the same again, with the same responseId, until it is settled. " +
			"An id of a conversation that stands nowhere opens one of the agent's own. 402 where the budget does not allow it: wait for the request that approvalId names " +
			"(GET /v1/approvals/{id}?wait=50s) and, once it is approved, send the same again.",
		Responses: map[string]*huma.Response{"202": {Description: "Pending"}},
		Errors:    []int{401, 402, 403, 409, 413, 422, 429, 503},
	}, a.addResponse)
	register(a, Anyone, huma.Operation{
		OperationID: "change-budget", Method: http.MethodPut, Path: budgetPath, Tags: conversationTags,
		Summary: "Set the budget of a conversation, or change it by a step",
		Description: "A person may change it as they like. An agent may set one where none stands, and lower one; raising one that stands becomes a request to a person: " +
			"202, with approvalId to wait on. After a rejection nobody is asked again until the budget changes or a person writes: 409.",
		Responses: map[string]*huma.Response{"202": {Description: "It became a request"}},
		Errors:    []int{401, 404, 409, 413, 422, 503},
	}, a.changeBudget)
}

// ResponseRequest is what an agent says. Send responseId always: the same sent
// again is then the same response.
type ResponseRequest struct {
	Kind         models.Kind  `json:"kind" enum:"reply,proposal"`
	Content      string       `json:"content" doc:"What to say or what is proposed, as Markdown"`
	ResponseID   string       `json:"responseId,omitempty" doc:"A UUID of the agent's choice, which makes a repeat the same response"`
	Energy       *WholeNumber `json:"energy,omitzero" minimum:"0" maximum:"1000000000" doc:"What it costs; 1 if left out, and at least what a rule demands"`
	ModelUsed    string       `json:"modelUsed,omitempty"`
	EnergyBudget *WholeNumber `json:"energyBudget,omitzero" minimum:"0" maximum:"1000000000000" doc:"With a proposal, the budget that it asks for: shown to the person, not applied"`
}

type responseIn struct {
	caller

	RequestID string `path:"requestId" doc:"The conversation"`
	Wait      string `query:"wait" doc:"How long to wait for the outcome of a proposal, as 50s or in seconds; cut to 55s"`
	Body      ResponseRequest
}

type responseOut struct {
	Status   int
	Location string `header:"Location"`
	Body     *ConversationResponse
}

func (a *API) addResponse(ctx context.Context, in *responseIn) (*responseOut, error) {
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
		ConversationID: id, ResponseID: b.ResponseID, Kind: b.Kind, Content: b.Content,
		Energy: b.Energy.value(), ModelUsed: b.ModelUsed, EnergyBudget: b.EnergyBudget.value(),
	})
	if err != nil {
		return nil, err
	}
	if got.Status() == models.StatusPending && wait > 0 {
		w := &waiting{watch: a.store.Watch(in.actor, got.ID, wait), id: got.ID, asked: true, response: true}
		if got, err = in.from.wait(ctx, w); got == nil || err != nil {
			return nil, err
		}
	}
	out := &responseOut{Status: http.StatusOK, Location: locationOf(got), Body: responseOf(a.kit, got)}
	if got.Status() == models.StatusPending {
		out.Status = http.StatusAccepted
	}
	return out, nil
}

// BudgetRequest sets the budget or changes it by a step: one of the two.
type BudgetRequest struct {
	Budget *WholeNumber `json:"budget,omitzero" minimum:"0" maximum:"1000000000000" doc:"The whole budget"`
	Delta  *WholeNumber `json:"delta,omitzero" minimum:"-1000000000000" maximum:"1000000000000" doc:"A step from the budget that stands; one below zero stops at 0"`
}

// BudgetAnswer tells what became of a wish for a budget.
type BudgetAnswer struct {
	RequestID  models.ConversationID `json:"requestId" doc:"The conversation"`
	Budget     Budget                `json:"budget" doc:"As it stands now"`
	ApprovalID *models.ResponseID    `json:"approvalId" doc:"The request that it became; null: it was applied at once"`
	Approval   *ApprovalState        `json:"approval" doc:"Where that request stands"`
}

type budgetIn struct {
	caller

	RequestID string `path:"requestId" doc:"The conversation"`
	Body      BudgetRequest
}

type budgetOut struct {
	Status   int
	Location string `header:"Location"`
	Body     *BudgetAnswer
}

func (a *API) changeBudget(ctx context.Context, in *budgetIn) (*budgetOut, error) {
	id, err := conversationID(in.RequestID)
	if err != nil {
		return nil, err
	}
	change := models.BudgetChange{Set: in.Body.Budget.value(), Delta: in.Body.Delta.value()}
	if change.None() {
		return nil, models.Invalid("budget", "must be sent, or delta")
	}
	got, err := a.store.ChangeBudget(ctx, in.actor, id, change, "")
	if err != nil {
		return nil, err
	}
	out := &budgetOut{Status: http.StatusOK, Body: &BudgetAnswer{RequestID: id, Budget: budgetOf(got.Budget)}}
	if r := got.Approval; r != nil {
		out.Location, out.Body.ApprovalID, out.Body.Approval = locationOf(r), &r.ID, approvalStateOf(r)
		if r.Status() == models.StatusPending {
			out.Status = http.StatusAccepted
		}
	}
	return out, nil
}
