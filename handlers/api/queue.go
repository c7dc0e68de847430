package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/requests"
)

func (a *API) registerQueue() {
	register(a, Anyone, huma.Operation{
		OperationID: "list-approvals", Method: http.MethodGet, Path: "/v1/approvals",
		Summary: "List requests, newest first", Description: filteredDescription, Errors: []int{401, 422, 429},
	}, a.list)
	register(a, Anyone, huma.Operation{
		OperationID: "list-pending", Method: http.MethodGet, Path: "/v1/approvals/pending",
		Summary: "List what waits: an agent's own, or what a person may decide", Description: listDescription,
		Errors: []int{401, 422, 429},
	}, a.pending)
	register(a, Anyone, huma.Operation{
		OperationID: "approval-stats", Method: http.MethodGet, Path: "/v1/approvals/stats",
		Summary: "Count what waits, who waits, and what was decided in the last minute", Errors: []int{401},
	}, a.stats)
}

type listIn struct {
	caller

	Status         statusFilter `query:"status" doc:"Only these; approved includes what was let through, and ran is what clients reported to have run without an answer"`
	ConversationID string       `query:"conversationId" doc:"Only this conversation's"`
	Cursor         string       `query:"cursor" maxLength:"200" doc:"The next of the previous page"`
	Limit          int          `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

type listOut struct {
	Body *wire.Page
}

func (a *API) list(ctx context.Context, in *listIn) (*listOut, error) {
	query := requests.ListQuery{
		Status: models.Status(in.Status), Cursor: in.Cursor, Limit: in.Limit, MaxBytes: requests.MaxListBytes,
	}
	if in.ConversationID != "" {
		id, err := models.ParseID[models.ConversationID]("conversationId", in.ConversationID)
		if err != nil {
			return nil, err
		}
		query.Conversation = id
	}
	if err := a.beginList(ctx, &in.caller); err != nil {
		return nil, err
	}
	got, err := a.store.Requests.Approvals(ctx, in.actor, query)
	if err != nil {
		return nil, err
	}
	rows := pointers(got.Items)
	if err := a.store.Requests.HeldVerdicts(ctx, in.actor, rows...); err != nil {
		return nil, err
	}
	all, err := a.approvalsFor(ctx, in.actor, rows...)
	return &listOut{Body: &wire.Page{Approvals: all, Next: got.Next}}, err
}

type pendingIn struct {
	caller

	Cursor string `query:"cursor" maxLength:"200" doc:"The next of the previous page"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

type pendingOut struct {
	Body *wire.PendingPage
}

func (a *API) pending(ctx context.Context, in *pendingIn) (*pendingOut, error) {
	if err := a.beginList(ctx, &in.caller); err != nil {
		return nil, err
	}
	got, err := a.store.Requests.PendingList(ctx, in.actor, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}
	rows := pointers(got.Items)
	if err := a.store.Requests.HeldVerdicts(ctx, in.actor, rows...); err != nil {
		return nil, err
	}
	all, err := a.approvalsFor(ctx, in.actor, rows...)
	return &pendingOut{Body: &wire.PendingPage{Pending: all, Next: got.Next}}, err
}

type statsIn struct {
	caller
}

type statsOut struct {
	Body *wire.Stats
}

func (a *API) stats(ctx context.Context, in *statsIn) (*statsOut, error) {
	got, err := a.store.Stats(ctx, in.actor)
	if err != nil {
		return nil, err
	}
	return &statsOut{Body: &wire.Stats{
		PendingCount: got.Pending, ResolversCount: got.Waiters, ResponsesCount: got.Responses,
	}}, nil
}
