package pages

import (
	"time"

	"countersign/models"
	"countersign/views"
)

// Twin says that the same agent had the very same approved before.
type Twin struct {
	URL, By string
	At      views.Moment
	What    string // what both are called
	Warns   bool   // it may be a duplicate
}

func newTwin(a *models.Approval, t models.Twin, now time.Time) *Twin {
	v := &Twin{URL: views.ApprovalURL(t.ID), By: t.By, At: views.Ago(t.At, now), What: "call", Warns: a.TwinWarns(t)}
	if a.Kind != models.KindToolCall {
		v.What = "request"
	}
	return v
}

// identical names, for each of some requests that wait, another one of them that is
// the same: of the same agent, with the same digest.
func identical(rows []models.Approval) map[models.ResponseID]models.ResponseID {
	type same struct {
		agent  models.AgentID
		digest string
	}
	out, seen := map[models.ResponseID]models.ResponseID{}, map[same]models.ResponseID{}
	for i := range rows {
		a := &rows[i]
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
