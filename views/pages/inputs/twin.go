package inputs

import (
	"time"

	"countersign/models"
	"countersign/views"
)

// Twin says that the same input of the same agent was approved before.
type Twin struct {
	URL, By string
	At      views.Moment
	Kind    string // what both are called
	Warns   bool   // it may be a duplicate
}

// NewTwin describes the twin of a.
func NewTwin(a *models.Approval, t models.Twin, now time.Time) *Twin {
	v := &Twin{URL: views.ApprovalURL(t.ID), By: t.By, At: views.Ago(t.At, now), Kind: "call", Warns: a.TwinWarns(t)}
	if a.Kind != models.KindToolCall {
		v.Kind = "request"
	}
	return v
}

// IdenticalRequests finds duplicates among pending requests: requests of one agent with
// one digest. It names, for each, another one that is the same.
func IdenticalRequests(rows []*models.Approval) map[models.ResponseID]models.ResponseID {
	type same struct {
		agent  models.AgentID
		digest string
	}
	out, seen := map[models.ResponseID]models.ResponseID{}, map[same]models.ResponseID{}
	for _, a := range rows {
		if a.HeldUntil != nil || a.Kind == models.KindQuestion {
			continue
		}
		key := same{a.AgentID, a.Digest}
		if other, ok := seen[key]; ok {
			out[a.ID] = other
			if _, has := out[other]; !has {
				out[other] = a.ID
			}
			continue
		}
		seen[key] = a.ID
	}
	return out
}
