package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"countersign/models"
	"countersign/models/store"
)

func (a *API) registerQueue() {
	register(a, Anyone, huma.Operation{
		OperationID: "list-approvals", Method: http.MethodGet, Path: "/v1/approvals",
		Summary: "List requests, newest first", Description: listDescription, Errors: []int{401, 422, 429},
	}, a.list)
	register(a, Anyone, huma.Operation{
		OperationID: "list-pending", Method: http.MethodGet, Path: "/v1/approvals/pending",
		Summary: "List what waits: an agent's own, or what a person may decide", Description: listDescription, Errors: []int{401, 422, 429},
	}, a.pending)
	register(a, Anyone, huma.Operation{
		OperationID: "approval-stats", Method: http.MethodGet, Path: "/v1/approvals/stats",
		Summary: "Count what waits, who waits, and what was decided in the last minute", Errors: []int{401},
	}, a.stats)
}

type listIn struct {
	caller

	Status         statusFilter `query:"status" doc:"Only these; approved includes what was let through"`
	ConversationID string       `query:"conversationId" doc:"Only this conversation's"`
	Cursor         string       `query:"cursor" maxLength:"200" doc:"The next of the page before"`
	Limit          int          `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

// Page is one page of requests; Next, if not empty, is the cursor of the next.
type Page struct {
	Approvals []*Approval `json:"approvals"`
	Next      string      `json:"next"`
}

type listOut struct {
	Body *Page
}

func (a *API) list(ctx context.Context, in *listIn) (*listOut, error) {
	query := store.ListQuery{Status: models.Status(in.Status), Cursor: in.Cursor, Limit: in.Limit, MaxBytes: store.MaxListBytes}
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
	got, err := a.store.Approvals(ctx, in.actor, query)
	if err != nil {
		return nil, err
	}
	if err := a.holders(ctx, in.actor, got.Items); err != nil {
		return nil, err
	}
	page := &Page{Approvals: make([]*Approval, 0, len(got.Items)), Next: got.Next}
	for i := range got.Items {
		page.Approvals = append(page.Approvals, approvalOf(a.kit, &got.Items[i]))
	}
	return &listOut{Body: page}, a.addOrigins(ctx, in.actor, page.Approvals...)
}

type pendingIn struct {
	caller

	Cursor string `query:"cursor" maxLength:"200" doc:"The next of the page before"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

// PendingPage is one page of what waits.
type PendingPage struct {
	Pending []*Approval `json:"pending"`
	Next    string      `json:"next"`
}

type pendingOut struct {
	Body *PendingPage
}

func (a *API) pending(ctx context.Context, in *pendingIn) (*pendingOut, error) {
	if err := a.beginList(ctx, &in.caller); err != nil {
		return nil, err
	}
	got, err := a.store.PendingList(ctx, in.actor, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}
	if err := a.holders(ctx, in.actor, got.Items); err != nil {
		return nil, err
	}
	page := &PendingPage{Pending: make([]*Approval, 0, len(got.Items)), Next: got.Next}
	for i := range got.Items {
		page.Pending = append(page.Pending, approvalOf(a.kit, &got.Items[i]))
	}
	return &pendingOut{Body: page}, a.addOrigins(ctx, in.actor, page.Pending...)
}

type statsIn struct {
	caller
}

// Stats are the queue's counts, each capped at 1,000.
type Stats struct {
	PendingCount   int `json:"pendingCount" doc:"Requests that wait"`
	ResolversCount int `json:"resolversCount" doc:"Waits of agents for what the caller may see"`
	ResponsesCount int `json:"responsesCount" doc:"Requests decided in the last minute"`
}

type statsOut struct {
	Body *Stats
}

func (a *API) stats(ctx context.Context, in *statsIn) (*statsOut, error) {
	got, err := a.store.Stats(ctx, in.actor)
	if err != nil {
		return nil, err
	}
	return &statsOut{Body: &Stats{PendingCount: got.Pending, ResolversCount: got.Waiters, ResponsesCount: got.Responses}}, nil
}
