package api

import (
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"countersign/models"
)

// Held says why a verdict that was taken is not yet the outcome: the request is
// pending until then, and nobody else can decide it (I1).
type Held struct {
	Reason string     `json:"reason" enum:"undo,upstream,quorum" doc:"upstream: the system that asked is told first"`
	Until  *time.Time `json:"until" doc:"When it ends at the latest; null: the request has no deadline, and neither has this"`
}

const heldDescription = "200: the verdict is the outcome. 202: it was taken and nobody else can give one, but the request stays pending while what held.reason names holds it."

// heldResponses are the answers of an operation that decides, beside its first.
func heldResponses() map[string]*huma.Response {
	return map[string]*huma.Response{"202": {Description: "Taken, and held"}}
}

// heldOf is what holds a request; nil for nothing.
func heldOf(a *models.Approval) *Held {
	if a.Status() != models.StatusPending || a.HeldUntil == nil {
		return nil
	}
	out := &Held{Reason: "undo"}
	if a.UpstreamID != nil {
		out.Reason = "upstream"
	}
	if a.HeldUntil.Before(models.NoDeadline) {
		out.Until = a.HeldUntil
	}
	return out
}

// decidedStatus is the status of an answer to a verdict.
func decidedStatus(a *models.Approval) int {
	if heldOf(a) != nil {
		return http.StatusAccepted
	}
	return http.StatusOK
}
