package api

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/requests"
	"countersign/models/runs"
)

const approvePath, rejectPath = onePath + "/approve", onePath + "/reject"

func (a *API) registerConversationDecisions() {
	register(a, Anyone, huma.Operation{
		OperationID: "list-conversation-approvals", Method: http.MethodGet, Path: onePath + "/approvals",
		Tags:    conversationTags,
		Summary: "List the requests of a conversation, newest first", Description: filteredDescription,
		Errors: []int{401, 404, 422, 429},
	}, a.approvalsOf)
	register(a, People, huma.Operation{
		OperationID: "approve-in-conversation", Method: http.MethodPost, Path: approvePath, Tags: conversationTags,
		Summary: "Approve a request, and change the budget with it",
		Description: "Without responseId the most recent pending proposal or budget request is approved, never a tool call, and stillWaiting names those that still wait; then no body is needed, unless it has a checklist. " +
			"Approving a budget request sets the budget it asks for, unless newBudget or budgetChange says otherwise. " +
			heldDescription,
		Responses: heldResponses(),
		Errors:    []int{401, 403, 404, 409, 413, 422, 503},
	}, a.approve)
	register(a, People, huma.Operation{
		OperationID: "reject-in-conversation", Method: http.MethodPost, Path: rejectPath, Tags: conversationTags,
		Summary:     "Reject a request",
		Description: "Without responseId the most recent pending proposal or budget request is rejected, never a tool call, and stillWaiting names those that still wait. " + heldDescription,
		Responses:   heldResponses(),
		Errors:      []int{401, 403, 404, 409, 413, 422, 503},
	}, a.reject)
}

type approvalsOfIn struct {
	caller

	RequestID string `path:"requestId" doc:"The conversation"`
	Cursor    string `query:"cursor" maxLength:"200" doc:"The next of the previous page"`
	Limit     int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

type approvalsOfOut struct {
	Body *wire.ConversationApprovals
}

func (a *API) approvalsOf(ctx context.Context, in *approvalsOfIn) (*approvalsOfOut, error) {
	id, err := conversationID(in.RequestID)
	if err != nil {
		return nil, err
	}
	if _, err := a.store.Requests.Conversation(ctx, in.actor, id); err != nil {
		return nil, err // not theirs to see, or none
	}
	if err := a.beginList(ctx, &in.caller); err != nil {
		return nil, err
	}
	got, err := a.store.Requests.Approvals(ctx, in.actor,
		requests.ListQuery{Conversation: id, Cursor: in.Cursor, Limit: in.Limit, MaxBytes: requests.MaxListBytes})
	if err != nil {
		return nil, err
	}
	page := &wire.ConversationApprovals{
		RequestID: wire.ConversationID(id), Approvals: make([]wire.ConversationApproval, 0, len(got.Items)), Next: got.Next,
	}
	if err := a.holders(ctx, in.actor, got.Items); err != nil {
		return nil, err
	}
	rows := make([]*models.Approval, len(got.Items))
	for i := range got.Items {
		rows[i] = &got.Items[i]
	}
	agents, err := a.presences(ctx, in.actor, rows...)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		one := conversationApprovalOf(row)
		one.Waiting = agents.waiting(row.ID)
		page.Approvals = append(page.Approvals, one)
	}
	return &approvalsOfOut{Body: page}, nil
}

func conversationApprovalOf(a *models.Approval) wire.ConversationApproval {
	status := a.Status()
	_, reported := inputOf(a)
	out := wire.ConversationApproval{
		ID: wire.ResponseID(a.ID), Agent: askerOf(a), Kind: wire.Kind(a.Kind), Content: summaryOf(a), ReportedInput: reported,
		Timestamp: a.CreatedAt, Status: shown(a), Digest: a.Digest, Risk: wire.Risk(a.Risk), Checklist: a.Checklist(),
		Held: heldOf(a),
	}
	if status == models.StatusPending && out.Held == nil {
		out.DecidableHere = new(a.Kind.Spoken())
	}
	if d := decisionOf(a, status); d != nil {
		out.ApprovalTimestamp = &d.At
		if d.Reason != "" {
			out.Feedback = &d.Reason
		}
	}
	return out
}

type approveIn struct {
	caller

	RequestID string `path:"requestId" doc:"The conversation"`
	Body      *wire.ApproveRequest
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
	Body   *wire.ApproveResult
}

func (a *API) approve(ctx context.Context, in *approveIn) (*approveOut, error) {
	b := valueOr(in.Body)
	got, conv, still, err := a.decideIn(ctx, in.actor, in.RequestID, wire.ApprovalResponse{
		Approved: new(true), ResponseID: b.ResponseID, Digest: b.Digest, Feedback: b.Feedback, Checked: b.Checked,
		NewBudget: b.NewBudget, BudgetChange: b.BudgetChange,
	})
	if err != nil {
		return nil, err
	}
	out := &wire.ApproveResult{
		Status: shown(got), ResponseID: wire.ResponseID(got.ID), Held: heldOf(got), StillWaiting: still,
	}
	if (b.NewBudget != nil || b.BudgetChange != nil || got.Kind == models.KindBudget && !got.AsksForAllowance()) &&
		!got.MayBeUndone() {
		out.BudgetUpdated, out.NewBudget = true, conv.EnergyBudget
	}
	return &approveOut{Status: decidedStatus(got), Body: out}, nil
}

type rejectIn struct {
	caller

	RequestID string `path:"requestId" doc:"The conversation"`
	Body      *wire.RejectRequest
}

type rejectOut struct {
	Status int
	Body   *wire.RejectResult
}

func (a *API) reject(ctx context.Context, in *rejectIn) (*rejectOut, error) {
	b := valueOr(in.Body)
	got, _, still, err := a.decideIn(ctx, in.actor, in.RequestID, wire.ApprovalResponse{
		Approved: new(false), ResponseID: b.ResponseID, Digest: b.Digest, Feedback: b.Feedback,
	})
	if err != nil {
		return nil, err
	}
	return &rejectOut{
		Status: decidedStatus(got),
		Body: &wire.RejectResult{
			Status: shown(got), ResponseID: wire.ResponseID(got.ID), Held: heldOf(got), StillWaiting: still,
		},
	}, nil
}

func (a *API) decideIn(
	ctx context.Context, actor models.Actor, conversation string, in wire.ApprovalResponse,
) (*models.Approval, *models.Conversation, []wire.WaitingRequest, error) {
	id, err := conversationID(conversation)
	if err != nil {
		return nil, nil, nil, err
	}
	d, err := decision(&in)
	if err != nil {
		return nil, nil, nil, err
	}
	got, conv, err := runs.New(a.store).DecideIn(ctx, actor, id, d)
	if err != nil {
		return nil, nil, nil, err
	}
	return got, conv, a.stillWaiting(ctx, actor, id, &d), nil
}

// stillWaiting is what still waits after a decision that named no request. The decision is
// done: an answer that can't tell this much is no error.
func (a *API) stillWaiting(
	ctx context.Context, actor models.Actor, id models.ConversationID, d *models.ConversationDecision,
) []wire.WaitingRequest {
	if d == nil || d.Approved == nil || d.ResponseID != "" {
		return nil
	}
	waiting, err := runs.New(a.store).StillWaiting(ctx, actor, id)
	if err != nil {
		a.kit.Log.WarnContext(ctx, "what still waits in a conversation was not read", slog.String("error", err.Error()))
		return nil
	}
	out := make([]wire.WaitingRequest, len(waiting))
	for i, w := range waiting {
		out[i] = wire.WaitingRequest{ResponseID: wire.ResponseID(w.ID), Kind: wire.Kind(w.Kind)}
	}
	return out
}
