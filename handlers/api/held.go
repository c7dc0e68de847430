package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"countersign/models"
)

// Held says why a verdict that was taken is not yet the outcome: the request is
// pending until then, and nobody else can decide it (I1).
type Held struct {
	Reason string     `json:"reason" enum:"undo,upstream,quorum" doc:"undo: whoever gave it may take it back; upstream: the system that asked is told first; quorum: the approval is kept, and others have to approve the same edit, as others may still decide"`
	Until  *time.Time `json:"until" doc:"When it ends at the latest; null: the request has no deadline, and neither has this"`
}

const heldDescription = "200: the decision is the outcome. 202: it was taken, but the request stays pending while what held.reason names holds it; " +
	"nobody else can decide it then, except with quorum, where others still have to. 403 not_a_reviewer: the rule lets only others approve it; it can be rejected."

// heldResponses are the answers of an operation that decides, beside its first.
func heldResponses() map[string]*huma.Response {
	return map[string]*huma.Response{"202": {Description: "Taken, and held"}}
}

// heldOf is what holds a request; nil for nothing, and for what an agent is not to
// know: only approvals can be undone. To people the store gives the verdict.
func heldOf(a *models.Approval) *Held {
	if a.Status() == models.StatusPending && a.HeldUntil == nil && a.Vote != nil && a.Vote.WaitsFor != "" {
		out := &Held{Reason: "quorum"}
		if a.HasDeadline() {
			out.Until = &a.ApprovalTimeoutAt
		}
		return out
	}
	if a.Status() != models.StatusPending || a.HeldUntil == nil || a.UpstreamID == nil && a.Vote == nil {
		return nil
	}
	out, until := &Held{Reason: "undo"}, *a.HeldUntil
	switch {
	case a.UpstreamID == nil:
	case mayBeUndone(a):
		until = *a.Vote.UndoUntil
	default:
		out.Reason = "upstream"
	}
	if until.Before(models.NoDeadline) {
		out.Until = &until
	}
	return out
}

// holders gives a person the verdicts that hold requests of a list.
func (a *API) holders(ctx context.Context, actor models.Actor, list []models.Approval) error {
	all := make([]*models.Approval, 0, len(list))
	for i := range list {
		all = append(all, &list[i])
	}
	return a.store.HeldVerdicts(ctx, actor, all...)
}

// mayBeUndone reports whether a verdict was taken that may still be taken back.
func mayBeUndone(a *models.Approval) bool {
	return a.Status() == models.StatusPending && a.Vote != nil && a.Vote.UndoUntil != nil
}

// decidedStatus is the status of an answer to a verdict.
func decidedStatus(a *models.Approval) int {
	if heldOf(a) != nil {
		return http.StatusAccepted
	}
	return http.StatusOK
}
