package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"countersign/models"
)

var conversationTags = []string{"Conversations"}

func (a *API) registerMessages() {
	register(a, People, huma.Operation{
		OperationID: "send-message", Method: http.MethodPost, Path: "/message", Tags: conversationTags,
		Summary: "Say something to an agent, and decide or change the budget with it",
		Description: "Without id a conversation with the built-in agent begins. With approvalResponse.approved and no responseId the most recent pending proposal " +
			"or budget request of the conversation is decided, never a tool call. Message, decision and budget are one transaction: with an error nothing was stored.",
		DefaultStatus: http.StatusAccepted, Errors: []int{401, 403, 404, 409, 413, 422, 429, 503},
	}, a.message)
}

// MessageRequest is what a person says. Who says it is the token's person and
// never a member of the body.
type MessageRequest struct {
	Content          string            `json:"content" doc:"What to say, as Markdown; may be empty where something is decided or changed"`
	ID               string            `json:"id,omitempty" doc:"The conversation; left out, one begins"`
	EnergyBudget     *WholeNumber      `json:"energyBudget,omitzero" minimum:"0" maximum:"1000000000000" doc:"The budget of a conversation that begins; of one that stands, as approvalResponse.newBudget"`
	ApprovalResponse *ApprovalResponse `json:"approvalResponse,omitzero" doc:"What is decided or changed together with the message"`
}

// ApprovalResponse decides a proposal or budget request, changes the budget, or
// both. The change of the budget applies with either verdict.
type ApprovalResponse struct {
	RequestID    string       `json:"requestId,omitempty" doc:"The conversation, as id: it may stand here instead"`
	Approved     *bool        `json:"approved,omitzero" doc:"Left out, only the budget changes"`
	ResponseID   string       `json:"responseId,omitempty" doc:"What is decided; left out, the most recent pending proposal or budget request"`
	Digest       string       `json:"digest,omitempty" doc:"The digest shown; required to approve high and critical risk"`
	NewBudget    *WholeNumber `json:"newBudget,omitzero" minimum:"0" maximum:"1000000000000" doc:"The whole budget"`
	BudgetChange *WholeNumber `json:"budgetChange,omitzero" minimum:"-1000000000000" maximum:"1000000000000" doc:"A step from the budget that stands; one below zero stops at 0"`
	Feedback     string       `json:"feedback,omitempty" doc:"For the agent, which reads it"`
}

// MessageAnswer tells what a message brought about.
type MessageAnswer struct {
	ID        models.ConversationID     `json:"id" doc:"The conversation"`
	MessageID *models.MessageID         `json:"messageId" doc:"Null: nothing was said, only decided or changed"`
	Status    models.ConversationStatus `json:"status" enum:"running,waiting_input,completed,failed" doc:"Of the conversation"`
	Approval  *ApprovalState            `json:"approval" doc:"What was decided; null: nothing"`
	Budget    Budget                    `json:"budget"`
}

// ApprovalState says in short where a request stands.
type ApprovalState struct {
	ResponseID models.ResponseID `json:"responseId"`
	Kind       models.Kind       `json:"kind" enum:"proposal,budget,tool_call,question"`
	Status     models.Status     `json:"status" enum:"all"`
	Held       *Held             `json:"held,omitempty" doc:"Set while a verdict that was taken is not yet the outcome"`
}

type messageIn struct {
	caller

	Body MessageRequest
}

type messageOut struct {
	Location string `header:"Location"`
	Body     *MessageAnswer
}

func (a *API) message(ctx context.Context, in *messageIn) (*messageOut, error) {
	said, err := in.Body.messageInput()
	if err != nil {
		return nil, err
	}
	got, err := a.store.Say(ctx, in.actor, said)
	if err != nil {
		return nil, err
	}
	out := &MessageAnswer{
		ID: got.Conversation.ID, Status: got.Conversation.Status,
		Approval: approvalStateOf(got.Approval), Budget: budgetOf(got.Conversation.Budget()),
	}
	if got.Message != nil {
		out.MessageID = &got.Message.ID
	}
	return &messageOut{Location: conversationPath(got.Conversation.ID), Body: out}, nil
}

// messageInput translates the body to the use case's words.
func (r *MessageRequest) messageInput() (models.MessageInput, error) {
	in := models.MessageInput{Content: r.Content, EnergyBudget: r.EnergyBudget.value()}
	var err error
	if in.ConversationID, err = r.conversation(); err != nil {
		return in, err
	}
	if r.ApprovalResponse != nil {
		d, err := r.ApprovalResponse.decision()
		if err != nil {
			return in, err
		}
		in.Decision = &d
	}
	if in.ConversationID == "" || in.EnergyBudget == nil {
		return in, nil
	}
	if in.Decision == nil {
		in.Decision = &models.ConversationDecision{Page: models.NoPage}
	}
	budget := &in.Decision.Budget
	if budget.Delta != nil || budget.Set != nil && *budget.Set != *in.EnergyBudget {
		return in, models.Invalid("energyBudget", "says another budget than approvalResponse; send one of the two")
	}
	budget.Set, in.EnergyBudget = in.EnergyBudget, nil
	return in, nil
}

// conversation is the one that id names, or approvalResponse.requestId in its place.
func (r *MessageRequest) conversation() (models.ConversationID, error) {
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
		return "", models.Invalid("approvalResponse.requestId", "names another conversation than id")
	}
	return other, nil
}

// decision translates the body to the use case's words.
func (r *ApprovalResponse) decision() (models.ConversationDecision, error) {
	d := models.ConversationDecision{
		Approved: r.Approved, Digest: r.Digest, Feedback: r.Feedback, Page: models.NoPage,
		Budget: models.BudgetChange{Set: r.NewBudget.value(), Delta: r.BudgetChange.value()},
	}
	if r.ResponseID == "" {
		return d, nil
	}
	var err error
	d.ResponseID, err = models.ParseID[models.ResponseID]("responseId", r.ResponseID)
	return d, err
}
