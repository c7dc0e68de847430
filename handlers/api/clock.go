package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/policy"
)

func (a *API) registerClock() {
	register(a, People, huma.Operation{
		OperationID: "extend-approval", Method: http.MethodPost, Path: "/v1/approvals/{id}/extend",
		Summary:     "Give a request more time",
		Description: "The new deadline is later than the current one, and at most the policy's max_timeout_minutes from now.",
		Errors:      []int{401, 403, 404, 409, 413, 422},
	}, a.extend)
	register(a, People, huma.Operation{
		OperationID: "undo-approval", Method: http.MethodPost, Path: "/v1/approvals/{id}/undo",
		Summary: "Undo an approval",
		Description: "For the person who gave it, while held.reason is undo: nobody has been told yet. The request is pending again, or expired if its deadline has passed meanwhile. " +
			"Sent again it changes nothing.",
		Errors: []int{401, 403, 404, 409},
	}, a.undo)
	register(a, Admins, huma.Operation{
		OperationID: "withdraw-decision", Method: http.MethodPost, Path: "/v1/approvals/{id}/withdraw-decision",
		Summary: "Undo a decision that another system has not accepted",
		Description: "While held.reason is upstream or undo, of a request that another system asks, the person who decided it. The request is pending again, or expired (cause undelivered) " +
			"if its deadline has passed meanwhile. 409 being_decided: the other system is being told at this moment.",
		Errors: []int{401, 403, 404, 409, 422},
	}, a.withdrawDecision)
}

type withdrawIn struct {
	caller

	ID   string `path:"id" doc:"The approvalId"`
	Body wire.WithdrawRequest
}

func (a *API) withdrawDecision(ctx context.Context, in *withdrawIn) (*approvalOut, error) {
	id, err := approvalID(in.ID)
	if err != nil {
		return nil, err
	}
	got, err := a.store.WithdrawDecision(ctx, in.actor, id, in.Body.Reason)
	if err != nil {
		return nil, naming(in.ID, err)
	}
	return a.approvalOut(ctx, in.actor, got)
}

type extendIn struct {
	caller

	ID   string `path:"id" doc:"The approvalId"`
	Body wire.ExtendRequest
}

func (a *API) extend(ctx context.Context, in *extendIn) (*approvalOut, error) {
	id, err := approvalID(in.ID)
	if err != nil {
		return nil, err
	}
	if in.Body.Minutes < 1 || in.Body.Minutes > policy.MaxTimeoutMinutes {
		return nil, models.Invalid("minutes", "must be from 1 to what the policy allows")
	}
	got, err := a.store.Extend(ctx, in.actor, id, a.store.Now().Add(time.Duration(in.Body.Minutes)*time.Minute))
	if err != nil {
		return nil, naming(in.ID, err)
	}
	return a.approvalOut(ctx, in.actor, got)
}

type undoIn struct {
	caller

	ID string `path:"id" doc:"The approvalId"`
}

func (a *API) undo(ctx context.Context, in *undoIn) (*approvalOut, error) {
	id, err := approvalID(in.ID)
	if err != nil {
		return nil, err
	}
	got, err := a.store.Undo(ctx, in.actor, id)
	if err != nil {
		return nil, naming(in.ID, err)
	}
	return a.approvalOut(ctx, in.actor, got)
}
