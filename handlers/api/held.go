package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"countersign/handlers/api/wire"
	"countersign/models"
)

const heldDescription = "200: the decision is the outcome. 202: it was stored, but the request stays pending until what held.reason names is over; " +
	"until then nobody else can decide it, except with quorum, where others still have to. 403 not_a_reviewer: the rule lets only others approve it; it can be rejected."

// heldResponses are the answers of an operation that decides, beside its first.
func heldResponses() map[string]*huma.Response {
	return map[string]*huma.Response{"202": {Description: "Stored, and held"}}
}

// heldOf is what holds a request; nil for nothing.
func heldOf(a *models.Approval) *wire.Held {
	by, until := a.Held()
	if by == "" {
		return nil
	}
	return &wire.Held{Reason: string(by), Until: until}
}

// holders gives a person the verdicts that hold requests of a list.
func (a *API) holders(ctx context.Context, actor models.Actor, list []models.Approval) error {
	return a.store.Requests.HeldVerdicts(ctx, actor, pointers(list)...)
}

func pointers[T any](list []T) []*T {
	all := make([]*T, 0, len(list))
	for i := range list {
		all = append(all, &list[i])
	}
	return all
}

// decidedStatus is the status of an answer to a verdict.
func decidedStatus(a *models.Approval) int {
	if heldOf(a) != nil {
		return http.StatusAccepted
	}
	return http.StatusOK
}
