package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/runs"
)

var conversationTags = []string{"Conversations"}

func (a *API) registerMessages() {
	register(a, People, huma.Operation{
		OperationID: "send-message", Method: http.MethodPost, Path: "/message", Tags: conversationTags,
		Summary: "Say something to an agent, and decide or change the budget with it",
		Description: "Without id a conversation with the built-in agent begins. With approvalResponse.approved and no responseId the most recent pending proposal " +
			"or budget request of the conversation is decided, never a tool call, and stillWaiting names those that still wait. Message, decision and budget are one transaction: with an error nothing was stored.",
		DefaultStatus: http.StatusAccepted, Errors: []int{401, 403, 404, 409, 413, 422, 429, 503},
	}, a.message)
}

type messageIn struct {
	caller

	Body wire.MessageRequest
}

type messageOut struct {
	Location string `header:"Location"`
	Body     *wire.MessageAnswer
}

func (a *API) message(ctx context.Context, in *messageIn) (*messageOut, error) {
	said, err := messageInput(&in.Body)
	if err != nil {
		return nil, err
	}
	got, err := runs.New(a.store).Say(ctx, in.actor, said)
	if err != nil {
		return nil, err
	}
	out := &wire.MessageAnswer{
		ID: wire.ConversationID(got.Conversation.ID), Status: wire.ConversationStatus(got.Conversation.Status),
		Approval: approvalStateOf(got.Approval), Budget: budgetOf(got.Conversation.Budget()),
	}
	if out.Approval != nil {
		out.Approval.StillWaiting = a.stillWaiting(ctx, in.actor, got.Conversation.ID, said.Decision)
	}
	if got.Message != nil {
		out.MessageID = (*wire.MessageID)(&got.Message.ID)
	}
	return &messageOut{Location: conversationPath(got.Conversation.ID), Body: out}, nil
}

// messageInput translates the body to the use case's words.
func messageInput(r *wire.MessageRequest) (models.MessageInput, error) {
	in := models.MessageInput{Content: r.Content, EnergyBudget: (*int64)(r.EnergyBudget)}
	var err error
	if in.ConversationID, err = conversationOfMessage(r); err != nil {
		return in, err
	}
	if r.ApprovalResponse != nil {
		d, err := decision(r.ApprovalResponse)
		if err != nil {
			return in, err
		}
		in.Decision = &d
	}
	if in.ConversationID == "" || in.EnergyBudget == nil {
		return in, nil
	}
	if in.Decision == nil {
		in.Decision = &models.ConversationDecision{}
	}
	budget := &in.Decision.Budget
	if budget.Delta != nil || budget.Set != nil && *budget.Set != *in.EnergyBudget {
		return in, models.Invalid("energyBudget", "differs from the budget in approvalResponse; send one of the two")
	}
	budget.Set, in.EnergyBudget = in.EnergyBudget, nil
	return in, nil
}

// conversationOfMessage is the one that id names, or approvalResponse.requestId in its place.
func conversationOfMessage(r *wire.MessageRequest) (models.ConversationID, error) {
	var id models.ConversationID
	var err error
	if r.ID != "" {
		if id, err = models.ParseID[models.ConversationID]("id", r.ID); err != nil {
			return "", err
		}
	}
	if r.ApprovalResponse == nil || r.ApprovalResponse.RequestID == "" {
		return id, nil
	}
	other, err := models.ParseID[models.ConversationID]("approvalResponse.requestId", r.ApprovalResponse.RequestID)
	if err != nil {
		return "", err
	}
	if id != "" && other != id {
		return "", models.Invalid("approvalResponse.requestId", "names a different conversation than id")
	}
	return other, nil
}

// decision translates the body to the use case's words.
func decision(r *wire.ApprovalResponse) (models.ConversationDecision, error) {
	d := models.ConversationDecision{
		Approved: r.Approved, Digest: r.Digest, Feedback: r.Feedback, Checked: r.Checked, Page: models.NoPage,
		Budget: models.BudgetChange{Set: (*int64)(r.NewBudget), Delta: (*int64)(r.BudgetChange)},
	}
	if r.ResponseID == "" {
		return d, nil
	}
	var err error
	d.ResponseID, err = models.ParseID[models.ResponseID]("responseId", r.ResponseID)
	return d, err
}
