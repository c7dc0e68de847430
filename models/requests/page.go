package requests

import (
	"context"
	"errors"

	"countersign/models"
)

// nearInBatch is how far from a request the calls of its batch are looked for: calls that were queued together are
// adjacent, or nearly so.
const nearInBatch = 25

// errPastDeadline ends a snapshot in which a request is pending past its deadline.
var errPastDeadline = errors.New("pending past its deadline")

// Page reads what a person is shown of one request, in one read transaction: no page mixes two
// states. next says whether another that waits is wanted. add, within the same transaction, adds
// what later rooms know; it may run twice.
//
// Codes: forbidden (people only), not_found.
func (rs *Requests) Page(ctx context.Context, actor models.Actor, id models.ResponseID, next bool, add func(context.Context, *models.RequestPage) error) (*models.RequestPage, error) {
	if !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only a person reads the page of a request.")
	}
	page, err := rs.page(ctx, actor, id, next, false, add)
	if errors.Is(err, errPastDeadline) {
		// As in Approval: a decision that came in time may be on its way to the disk, and
		// only a later snapshot has it (I1).
		if err = rs.db.AwaitCurrentTx(ctx); err == nil {
			page, err = rs.page(ctx, actor, id, next, true, add)
		}
	}
	return page, err
}

func (rs *Requests) page(ctx context.Context, actor models.Actor, id models.ResponseID, next, late bool, add func(context.Context, *models.RequestPage) error) (*models.RequestPage, error) {
	var p models.RequestPage
	now := rs.db.Now() // before the read: a decision after it is not late
	err := rs.db.Snapshot(ctx, func(ctx context.Context) error {
		a, err := rs.ReadApproval(ctx, id)
		if err != nil {
			return err
		}
		if a.PastDeadline(now) && !late {
			return errPastDeadline
		}
		if a, err = rs.approvalFor(ctx, actor, a, now); err != nil {
			return err
		}
		p.Approval, p.SeesConversation = *a, SeesConversation(actor, &models.Conversation{OwnerID: a.OwnerID})
		if p.Turns, err = rs.turns(ctx, a.ConversationID, a.Sequence, MaxRoutedTurns); err != nil {
			return err
		}
		origins, err := rs.Origins(ctx, actor, id)
		if err != nil {
			return err
		}
		p.Origin = origins[id]
		if err := rs.beside(ctx, actor, a, &p.Around); err != nil {
			return err
		}
		if err := rs.pageCalls(ctx, actor, a, &p, next); err != nil {
			return err
		}
		return add(ctx, &p)
	})
	if err != nil {
		return nil, err
	}
	return &p, nil
}

// pageCalls reads the request's batch, its result, and for one that is not pending any
// more another that waits.
func (rs *Requests) pageCalls(
	ctx context.Context, actor models.Actor, a *models.Approval, p *models.RequestPage, next bool,
) (err error) {
	if a.BatchID != nil && p.SeesConversation {
		if p.Calls, err = rs.callDetails(ctx, a.ConversationID, max(1, a.Sequence-nearInBatch),
			a.Sequence+nearInBatch); err != nil {
			return err
		}
	}
	if a.Status() == models.StatusPending {
		return nil
	}
	if a.Kind == models.KindToolCall && a.IsCompleted {
		if p.Result, err = callResult(rs.db.Gorm(ctx), a.ID); err != nil {
			return err
		}
	}
	if !next {
		return nil
	}
	waiting, err := rs.Inbox(ctx, actor, InboxQuery{Limit: 1})
	if len(waiting.Items) > 0 {
		p.Next = &waiting.Items[0]
	}
	return err
}
