package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
	"countersign/models/requests"
)

// Cancel withdraws a request: by the agent that asked, by its owner or by an admin. It returns one that was cancelled
// already unchanged. A verdict that holds the request is withdrawn, unless it may have reached another system already.
//
// Codes: forbidden, not_found, wrong_decision_kind (an outside approval, by a person: the other system would go on
// waiting); with the current row: already_decided, expired, being_decided.
func (s *Store) Cancel(ctx context.Context, actor models.Actor, id models.ResponseID) (*models.Approval, error) {
	if !actor.IsAgent() && !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden,
			"Only the agent that asked, its owner and admins may cancel a request.")
	}
	var out *models.Approval
	err := s.writeAnyway(ctx, func(t *Tx) error {
		a, err := t.Approval(actor, id)
		if err != nil {
			return err
		}
		if actor.IsPerson() && !actor.Admin && actor.UserID() != a.OwnerID {
			return models.Errorf(models.CodeForbidden,
				"Only the agent that asked, its owner and admins may cancel this request: reject it instead.")
		}
		out = a
		if a.Status() == models.StatusCancelled && a.Cause == models.CauseCancelled {
			return nil
		}
		held := a.Status() == models.StatusPending && a.HeldUntil != nil
		if err := conflictOf(requests.At(a, t.Now)); err != nil && !held {
			return err
		}
		if actor.IsPerson() && a.UpstreamID != nil {
			return &models.Error{
				Code: models.CodeWrongDecisionKind, Text: "The other system waits for a decision: reject its request instead.",
				Approval: a,
			}
		}
		return t.cancel(actor, a)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (t *Tx) cancel(actor models.Actor, a *models.Approval) error {
	return t.settleAs(actor, a, models.StatusCancelled, models.CauseCancelled, models.CancelledText(actor))
}

// The calls after one in its batch that nothing has happened to: also no approval of
// another system that they are linked to.
const openAfter = `SELECT r.id FROM responses r` + db.ByResponsesBatch + `
 WHERE r.conversation_id = ? AND r.batch_id = ? AND r.sequence > ? AND r.kind = 'tool_call' AND r.is_completed = FALSE
 AND ((r.approval_status IS NULL AND r.cause = '') OR r.approval_status = 'pending') AND NOT ` + approvedByLink + ` ORDER BY r.sequence`

const approvedByLink = `EXISTS (SELECT 1 FROM outside_approvals l` + db.ByOutsideApprovalsLinked +
	` CROSS JOIN responses a ON a.id = l.response_id
 WHERE l.linked_id = r.id AND l.linked_id <> '' AND a.approval_status = 'approved')`

// Cascade rejects the open calls after one that a person rejected, in the same
// batch, where the conversation wants that: the agent planned them together.
func (t *Tx) Cascade(actor models.Actor, a *models.Approval) error {
	if a.Status() != models.StatusRejected {
		return nil
	}
	place, err := t.placeInBatch(a)
	if place.BatchID == nil || err != nil {
		return err
	}
	conv, err := t.Conversation(place.ConversationID)
	if err != nil || conv.OnReject != models.OnRejectCascade {
		return err
	}
	var ids []models.ResponseID
	if err := t.Gorm().Raw(openAfter, conv.ID, *place.BatchID, place.Sequence).Scan(&ids).Error; err != nil {
		return fmt.Errorf("read the rest of a batch: %w", err)
	}
	for _, id := range ids {
		if err := t.cascadeTo(actor, a, id); err != nil {
			return err
		}
	}
	return nil
}

const linkedPlace = `SELECT r.conversation_id, r.batch_id, r.sequence FROM outside_approvals o JOIN responses r ON r.id = o.linked_id
 WHERE o.upstream_id = ? AND o.call_id = ? AND o.response_id = ? AND o.linked_id <> '' AND r.digest = o.digest`

type batchPlace struct {
	ConversationID models.ConversationID
	BatchID        *string // nil: in none
	Sequence       int64
}

// placeInBatch is where a call is queued. An outside approval with a row of its
// own is queued where the call is that it is linked to.
func (t *Tx) placeInBatch(a *models.Approval) (batchPlace, error) {
	place := batchPlace{a.ConversationID, a.BatchID, a.Sequence}
	if a.BatchID != nil || a.UpstreamID == nil || a.CallID == nil {
		return place, nil
	}
	if err := t.Gorm().Raw(linkedPlace, *a.UpstreamID, *a.CallID, a.ID).Scan(&place).Error; err != nil {
		return place, fmt.Errorf("look for the call of an outside approval: %w", err)
	}
	return place, nil
}

// QueuedBefore reports whether a call is queued before another in its batch.
func (t *Tx) QueuedBefore(a, other *models.Approval) (bool, error) {
	place, err := t.placeInBatch(other)
	return a.Sequence < place.Sequence, err
}

// cascadeTo rejects one call because of another. A verdict of its own whose
// delivery has begun goes before.
func (t *Tx) cascadeTo(actor models.Actor, from *models.Approval, id models.ResponseID) error {
	a, err := t.Request(id)
	if err != nil {
		return err
	}
	if a.PastDeadline(t.Now) {
		return t.expireNow(a)
	}
	settle := t.settle
	if a.HeldUntil != nil {
		if err := t.overrule(a); err != nil {
			if models.ErrorCode(err) == models.CodeBeingDecided {
				return nil
			}
			return err
		}
		settle = t.settleHeld
	}
	pending, status, when := a.Status() == models.StatusPending, models.StatusRejected, t.Now
	a.ApprovalStatus, a.ApprovalTimestamp, a.Cause = &status, &when, models.CauseCascade
	a.ApprovalFeedback, a.CascadedFrom, a.RequiresApproval = from.ApprovalFeedback, &from.ID, true
	if err := t.Changes("responses", a.ID); err != nil {
		return err
	}
	open := t.Gorm().Model(&models.Response{}).Where("id = ? AND cascaded_from IS NULL", a.ID)
	if err := t.updateOne(open, map[string]any{"cascaded_from": from.ID, "requires_approval": true}); err != nil {
		return fmt.Errorf("cascade: %w", err)
	}
	entry := cascadeEntry{settledEntry: settledEntry{
		Digest: a.Digest, Status: status, Cause: a.Cause, Reason: models.DigestOfText(a.Feedback()),
	}, From: from.ID}
	var left ending // of a call without a request: nothing
	if pending {
		left, err = settle(actor, a)
		entry.Conversation = waitEnds(left.runs)
	} else {
		err = t.rejectOpen(actor, a)
	}
	if err != nil {
		return err
	}
	if err := t.Record(actor, "approval.rejected", ledger.SubjectOf(&a.Response, left.readers), entry); err != nil {
		return err
	}
	if a.UpstreamID == nil {
		return t.cascadeToLinked(actor, from, a.ID)
	}
	if from.Vote == nil {
		return nil
	}
	return t.addDelivery(a, from.Vote, t.Now, t.Now.Add(deliverFor)) // the other system still waits
}

const linkedApproval = `SELECT coalesce(max(o.response_id), '') FROM outside_approvals o` +
	db.ByOutsideApprovalsLinked + `
 CROSS JOIN responses a ON a.id = o.response_id WHERE o.linked_id = ? AND o.linked_id <> '' AND a.approval_status = 'pending'`

// cascadeToLinked rejects the approval of another system that asks for a call which
// was rejected: it has a row of its own, and could still be approved.
func (t *Tx) cascadeToLinked(actor models.Actor, from *models.Approval, call models.ResponseID) error {
	var id models.ResponseID
	if err := t.Gorm().Raw(linkedApproval, call).Scan(&id).Error; err != nil {
		return fmt.Errorf("look for the approval of a call: %w", err)
	}
	if id == "" || id == from.ID {
		return nil
	}
	return t.cascadeTo(actor, from, id)
}

type cascadeEntry struct {
	settledEntry

	From models.ResponseID `json:"cascaded_from"`
}

// rejectOpen rejects a call without a request: NULL to rejected.
func (t *Tx) rejectOpen(actor models.Actor, a *models.Approval) error {
	if err := t.Changes("responses", a.ID); err != nil {
		return err
	}
	n, err := t.Exec(t.s.hot.rejectOpen, a.ApprovalTimestamp, a.ApprovalFeedback, a.Cause, a.ID)
	if err != nil {
		return fmt.Errorf("cascade: %w", err)
	}
	if !db.ExactlyOne(n) {
		return fmt.Errorf("cascade to %s: something happened to it meanwhile", a.ID)
	}
	t.Publish(events.Agent(string(a.AgentID)), events.Approval(string(a.ID)),
		events.Conversation(string(a.ConversationID)), events.RecordOf(string(a.OwnerID)), events.RecordOfAdmins)
	t.tell(a)
	t.logOutcome(actor, a)
	return nil
}

// returnGrace is how long after a start of the server earlier waiters have to come back: only then are the others gone
// (I8).
const returnGrace = 15 * time.Second

// GiveUp ends one way in to a request of the agent's: its caller no longer wants the outcome, as its client said. A
// lost connection says no such thing. The request is cancelled if the agent waits for it by no other way, and
// otherwise returned unchanged. A settled request, or one whose verdict is being sent to another system, is returned
// as well: there is nothing to give up.
//
// way is the name that the caller's own waits have by ByWay. A caller whose waits have no name closes its own first:
// any other counts as another way.
//
// Codes: forbidden (agents only), not_found.
func (s *Store) GiveUp(
	ctx context.Context, actor models.Actor, id models.ResponseID, way string,
) (*models.Approval, error) {
	if !actor.IsAgent() {
		return nil, models.Errorf(models.CodeForbidden, "Only the agent that asked may give up its request.")
	}
	var out *models.Approval
	err := s.writeAnyway(ctx, func(t *Tx) error {
		a, err := t.Approval(actor, id)
		if err != nil {
			return err
		}
		out = requests.At(a, t.Now)
		if out.Status() != models.StatusPending {
			return nil
		}
		if waits, err := s.mayBeAwaited(t.Caller, a, way, t.Now); err != nil || waits {
			return err
		}
		err = t.cancel(actor, a)
		if models.ErrorCode(err) == models.CodeBeingDecided {
			return nil
		}
		out = a
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// mayBeAwaited reports whether the agent waits for a request by another way than one, or
// waited before the server started and may not be back yet.
func (s *Store) mayBeAwaited(ctx context.Context, a *models.Approval, way string, now time.Time) (bool, error) {
	if s.waiters.byAnother(a.ID, way, now) ||
		a.ApprovalRequestedAt != nil && a.ApprovalRequestedAt.Before(s.opened) && now.Sub(s.opened) < returnGrace {
		return true, nil
	}
	all, err := s.elsewhere(ctx, a.ID)
	return slices.ContainsFunc(all[a.ID], func(p *presence) bool { return p.byAnother(way, now) }), err
}

// CancelBecause ends a pending request without a vote, for a cause that is no person's verdict on it:
// past its deadline it has expired, else it is cancelled. CodeBeingDecided: a verdict may have
// reached another system.
func (t *Tx) CancelBecause(actor models.Actor, a *models.Approval, cause models.Cause, text string) error {
	if a.PastDeadline(t.Now) {
		return t.expireNow(a)
	}
	return t.settleAs(actor, a, models.StatusCancelled, cause, text)
}

// settleAs settles a pending request without a vote, and records it.
func (t *Tx) settleAs(
	actor models.Actor, a *models.Approval, status models.Status, cause models.Cause, text string,
) error {
	left, err := t.endAs(actor, a, status, cause, text)
	if err != nil {
		return err
	}
	return t.recordEnd(actor, a, left)
}

// endAs is settleAs without its entry.
func (t *Tx) endAs(
	actor models.Actor, a *models.Approval, status models.Status, cause models.Cause, text string,
) (ending, error) {
	settle, when := t.settle, t.Now
	if a.HeldUntil != nil {
		if err := t.overrule(a); err != nil {
			return ending{}, err
		}
		settle = t.settleHeld
	}
	a.ApprovalStatus, a.ApprovalTimestamp, a.Cause, a.ApprovalFeedback = &status, &when, cause, models.FeedbackOf(text)
	return settle(actor, a)
}

func (t *Tx) recordEnd(actor models.Actor, a *models.Approval, left ending) error {
	return t.Record(actor, "approval."+string(a.Status()), ledger.SubjectOf(&a.Response, left.readers), settledEntry{
		Digest: a.Digest, Status: a.Status(), Cause: a.Cause, Reason: models.DigestOfText(a.Feedback()),
		Conversation: waitEnds(left.runs),
	})
}
