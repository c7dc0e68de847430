package runs

import (
	"context"
	"fmt"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/requests"
)

// maxPendingCalls is where counting and paging of pending function calls end: it is what an
// agent may have pending at most, where the setting does not say more.
const maxPendingCalls = 10_000

// CallsQuery chooses from the pending requests that came through the function-call API.
type CallsQuery struct {
	Kind          models.Kind // tool_call or question
	Limit, Offset int
}

// CallsPage is one page of them, in the order of asking.
type CallsPage struct {
	Items []models.Approval
	Total int // up to 10,000
	Next  int // the offset of the next page; 0: there is none
}

// FindCall finds a request by the id that its client gave it: an agent's own, which the
// function-call API knows by that id alone, or what a person may see.
//
// Codes: forbidden, invalid, not_found, ambiguous_session.
func (r *Runs) FindCall(ctx context.Context, actor models.Actor, callID string) (*models.Approval, error) {
	if !actor.IsAgent() {
		return r.store.FindInvocation(ctx, actor, callID, "")
	}
	if err := models.CheckKey("toolUseId", callID); err != nil {
		return nil, err
	}
	var ids []models.ResponseID
	if err := r.db.Gorm(ctx).Raw(callByID, actor.ID, callID).Scan(&ids).Error; err != nil {
		return nil, fmt.Errorf("look for a function call: %w", err)
	}
	if len(ids) == 0 {
		return r.store.FindInvocation(ctx, actor, callID, "")
	}
	return r.store.Requests.Approval(ctx, actor, ids[0])
}

const callByID = `SELECT id FROM responses` + db.ByResponsesFunctionCalls +
	` WHERE agent_id = ? AND tool_use_id = ? AND protocol <> ''`

// PendingCalls lists an agent's own pending function calls, or those that a person may decide. A page ends after
// MaxListBytes. Offsets are the protocol's: rows that leave while a client reads pages move those behind them.
//
// Codes: forbidden.
func (r *Runs) PendingCalls(ctx context.Context, actor models.Actor, q CallsQuery) (CallsPage, error) {
	from, err := pendingCalls(actor)
	if err != nil {
		return CallsPage{}, err
	}
	var out CallsPage
	now := r.db.Now()
	err = r.db.Snapshot(ctx, func(ctx context.Context) error {
		var found []struct {
			ID     models.ResponseID
			Number int64
		}
		args := append(append([]any{}, from.Args...), q.Kind, now, maxPendingCalls)
		if err := r.db.Gorm(ctx).Raw(`SELECT id, number FROM (`+from.Text+pendingOfKind+`) ORDER BY number LIMIT ?`,
			args...).Scan(&found).Error; err != nil {
			return fmt.Errorf("list pending calls: %w", err)
		}
		out.Total = len(found)
		found = found[min(max(q.Offset, 0), len(found)):]
		keys := make([]requests.Key, 0, db.PageSize(q.Limit))
		for _, f := range found[:min(db.PageSize(q.Limit), len(found))] {
			keys = append(keys, requests.Key{Number: f.Number, ID: string(f.ID)})
		}
		var err error
		out.Items, err = r.store.Requests.RowsWithin(ctx, keys, requests.MaxListBytes)
		return err
	})
	if next := q.Offset + len(out.Items); next < out.Total {
		out.Next = next
	}
	return out, err
}

// pendingOfKind follows the rows to choose from.
const pendingOfKind = ` AND r.protocol <> '' AND r.approval_status = 'pending' AND r.kind = ? AND (r.approval_timeout_at > ? OR r.held_until IS NOT NULL)`

// pendingCalls are the rows among which an actor's pending calls are.
func pendingCalls(actor models.Actor) (db.Part, error) {
	const rows = `SELECT r.id, r.number FROM `
	switch {
	case actor.IsAgent():
		return db.Say(rows+`responses r`+db.ByResponsesPendingProtocol+` WHERE r.agent_id = ?`, actor.ID), nil
	case actor.IsPerson() && actor.Oversees():
		return db.Say(rows + `responses r` + db.ByResponsesPendingProtocol + ` WHERE TRUE`), nil
	case actor.IsPerson():
		return db.Say(rows+`deciders d CROSS JOIN responses r ON r.id = d.response_id WHERE d.user_id = ?`, actor.ID), nil
	}
	return db.Part{}, models.Errorf(models.CodeForbidden, "Only agents and people list requests.")
}
