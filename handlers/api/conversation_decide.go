package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"countersign/models"
	"countersign/models/store"
)

const approvePath, rejectPath = onePath + "/approve", onePath + "/reject"

func (a *API) registerConversationDecisions() {
	register(a, Anyone, huma.Operation{
		OperationID: "list-conversation-approvals", Method: http.MethodGet, Path: onePath + "/approvals", Tags: conversationTags,
		Summary: "List the requests of a conversation, newest first", Description: listDescription, Errors: []int{401, 404, 422, 429},
	}, a.approvalsOf)
	register(a, People, huma.Operation{
		OperationID: "approve-in-conversation", Method: http.MethodPost, Path: approvePath, Tags: conversationTags,
		Summary: "Approve a request, and change the budget with it",
		Description: "Without responseId the most recent pending proposal or budget request is approved, never a tool call; then no body is needed. " +
			"Approving a budget request sets the budget it asks for, unless newBudget or budgetChange says otherwise. " + heldDescription,
		Responses: heldResponses(),
		Errors:    []int{401, 403, 404, 409, 413, 422, 503},
	}, a.approve)
	register(a, People, huma.Operation{
		OperationID: "reject-in-conversation", Method: http.MethodPost, Path: rejectPath, Tags: conversationTags,
		Summary:     "Reject a request",
		Description: "Without responseId the most recent pending proposal or budget request is rejected, never a tool call. " + heldDescription,
		Responses:   heldResponses(),
		Errors:      []int{401, 403, 404, 409, 413, 422, 503},
	}, a.reject)
}

type approvalsOfIn struct {
	caller

	RequestID string `path:"requestId" doc:"The conversation"`
	Cursor    string `query:"cursor" maxLength:"200" doc:"The next of the page before"`
	Limit     int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

// ConversationApprovals is one page of a conversation's requests; Next, if not
// empty, is the cursor of the next.
type ConversationApprovals struct {
	RequestID models.ConversationID  `json:"requestId"`
	Approvals []ConversationApproval `json:"approvals"`
	Next      string                 `json:"next"`
}

// ConversationApproval is one request in short.
type ConversationApproval struct {
	ID                models.ResponseID `json:"id"`
	Kind              models.Kind       `json:"kind" enum:"proposal,tool_call,question,budget"`
	Content           string            `json:"content" doc:"The text of a proposal; of others, a line that says what it is about; of a call that another system runs with another input than was reported, the beginning of that input"`
	ReportedInput     json.RawMessage   `json:"reportedInput,omitempty" doc:"What the agent reported, only where another system asks with another input, and runs that. The digest is over this one"`
	Timestamp         time.Time         `json:"timestamp"`
	Status            models.Status     `json:"status" enum:"all"`
	ApprovalTimestamp *time.Time        `json:"approvalTimestamp" doc:"When it was settled; null while pending"`
	Feedback          *string           `json:"feedback" doc:"The reviewer's words, or why it ended without one; null: none were given"`
	Digest            string            `json:"digest" doc:"Of what is decided, or of the reportedInput where there is one: send it to approve high and critical risk"`
	Risk              models.Risk       `json:"risk" enum:"all"`
	Waiting           *bool             `json:"waiting,omitempty" doc:"For people, while pending: whether its agent waits for the outcome now"`
	Held              *Held             `json:"held,omitempty" doc:"Set while a verdict that was taken is not yet the outcome"`
}

type approvalsOfOut struct {
	Body *ConversationApprovals
}

func (a *API) approvalsOf(ctx context.Context, in *approvalsOfIn) (*approvalsOfOut, error) {
	id, err := conversationID(in.RequestID)
	if err != nil {
		return nil, err
	}
	if _, err := a.store.Conversation(ctx, in.actor, id); err != nil {
		return nil, err // not theirs to see, or none
	}
	if err := a.beginList(ctx, &in.caller); err != nil {
		return nil, err
	}
	got, err := a.store.Approvals(ctx, in.actor, store.ListQuery{Conversation: id, Cursor: in.Cursor, Limit: in.Limit, MaxBytes: store.MaxListBytes})
	if err != nil {
		return nil, err
	}
	page := &ConversationApprovals{RequestID: id, Approvals: make([]ConversationApproval, 0, len(got.Items)), Next: got.Next}
	if err := a.holders(ctx, in.actor, got.Items); err != nil {
		return nil, err
	}
	for i := range got.Items {
		one := conversationApprovalOf(&got.Items[i])
		one.Waiting = a.waitingFor(in.actor, one.ID, one.Status)
		page.Approvals = append(page.Approvals, one)
	}
	return &approvalsOfOut{Body: page}, nil
}

func conversationApprovalOf(a *models.Approval) ConversationApproval {
	status := a.Status()
	_, reported := inputOf(a)
	out := ConversationApproval{ID: a.ID, Kind: a.Kind, Content: summaryOf(a), ReportedInput: reported, Timestamp: a.CreatedAt, Status: shown(status), Digest: a.Digest, Risk: a.Risk, Held: heldOf(a)}
	if d := decisionOf(a, status); d != nil {
		out.ApprovalTimestamp = &d.At
		if d.Reason != "" {
			out.Feedback = &d.Reason
		}
	}
	return out
}

// ApproveRequest approves a request of a conversation.
type ApproveRequest struct {
	ResponseID   string       `json:"responseId,omitempty" doc:"Left out, the most recent pending proposal or budget request"`
	Digest       string       `json:"digest,omitempty" doc:"The digest shown; required to approve high and critical risk"`
	Feedback     string       `json:"feedback,omitempty" doc:"For the agent, which reads it"`
	NewBudget    *WholeNumber `json:"newBudget,omitzero" minimum:"0" maximum:"1000000000000" doc:"The whole budget"`
	BudgetChange *WholeNumber `json:"budgetChange,omitzero" minimum:"-1000000000000" maximum:"1000000000000" doc:"A step from the budget that stands; one below zero stops at 0"`
}

// RejectRequest rejects a request of a conversation.
type RejectRequest struct {
	ResponseID string `json:"responseId,omitempty" doc:"Left out, the most recent pending proposal or budget request"`
	Digest     string `json:"digest,omitempty" doc:"The digest shown"`
	Feedback   string `json:"feedback,omitempty" doc:"For the agent, which reads it"`
}

// ApproveResult tells what an approval led to.
type ApproveResult struct {
	Status        models.Status     `json:"status" enum:"approved,pending"`
	ResponseID    models.ResponseID `json:"responseId"`
	BudgetUpdated bool              `json:"budgetUpdated"`
	NewBudget     *int64            `json:"newBudget" doc:"The budget that was set; null: none was, or not yet, while the approval may be undone"`
	Held          *Held             `json:"held,omitempty" doc:"With 202: the verdict is not yet the outcome"`
}

// RejectResult tells what a rejection led to.
type RejectResult struct {
	Status     models.Status     `json:"status" enum:"rejected,pending"`
	ResponseID models.ResponseID `json:"responseId"`
	Held       *Held             `json:"held,omitempty" doc:"With 202: the verdict is not yet the outcome"`
}

type approveIn struct {
	caller

	RequestID string `path:"requestId" doc:"The conversation"`
	Body      *ApproveRequest
}

// valueOr is the body that was sent; the empty one if none was.
func valueOr[T any](body *T) (out T) {
	if body != nil {
		out = *body
	}
	return out
}

type approveOut struct {
	Status int
	Body   *ApproveResult
}

func (a *API) approve(ctx context.Context, in *approveIn) (*approveOut, error) {
	b := valueOr(in.Body)
	got, conv, err := a.decideIn(ctx, in.actor, in.RequestID, ApprovalResponse{
		Approved: new(true), ResponseID: b.ResponseID, Digest: b.Digest, Feedback: b.Feedback, NewBudget: b.NewBudget, BudgetChange: b.BudgetChange,
	})
	if err != nil {
		return nil, err
	}
	out := &ApproveResult{Status: shown(got.Status()), ResponseID: got.ID, Held: heldOf(got)}
	if (b.NewBudget != nil || b.BudgetChange != nil || got.Kind == models.KindBudget && !got.AsksForAllowance()) && !mayBeUndone(got) {
		out.BudgetUpdated, out.NewBudget = true, conv.EnergyBudget
	}
	return &approveOut{Status: decidedStatus(got), Body: out}, nil
}

type rejectIn struct {
	caller

	RequestID string `path:"requestId" doc:"The conversation"`
	Body      *RejectRequest
}

type rejectOut struct {
	Status int
	Body   *RejectResult
}

func (a *API) reject(ctx context.Context, in *rejectIn) (*rejectOut, error) {
	b := valueOr(in.Body)
	got, _, err := a.decideIn(ctx, in.actor, in.RequestID, ApprovalResponse{
		Approved: new(false), ResponseID: b.ResponseID, Digest: b.Digest, Feedback: b.Feedback,
	})
	if err != nil {
		return nil, err
	}
	return &rejectOut{Status: decidedStatus(got), Body: &RejectResult{Status: shown(got.Status()), ResponseID: got.ID, Held: heldOf(got)}}, nil
}

func (a *API) decideIn(ctx context.Context, actor models.Actor, conversation string, in ApprovalResponse) (*models.Approval, *models.Conversation, error) {
	id, err := conversationID(conversation)
	if err != nil {
		return nil, nil, err
	}
	d, err := in.decision()
	if err != nil {
		return nil, nil, err
	}
	return a.store.DecideIn(ctx, actor, id, d)
}
