package store

import (
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/ledger"
)

// A verdict on a request of another system is a delivery, a row that the moves write. It holds the
// request until models/outside has told the other system. What follows from that is a move again:
// EndHeld, Undelivered and WithdrawBarred, within the Tx of that room.

// EndHeld settles a request by how the delivery of its verdict ended. If the other system took it, the verdict becomes
// the outcome, by way of releaseBarrier. If it refused it, the request waits again. If someone else has settled the
// request, or it is gone, it is resolved. An end that says to try again changes nothing.
func (t *Tx) EndHeld(row *models.Delivery, end models.DeliveryEnd) error {
	a, err := t.Request(row.ResponseID)
	if err != nil {
		return err
	}
	if row.DoneAt != nil {
		// It was given up while the attempt ran.
		if end.Result == models.DeliveryTaken || end.Result == models.DeliveryConfirmed {
			return t.noteContradiction(a, "The other system accepted the decision after the request had expired here.")
		}
		return nil
	}
	row.Problem = end.Text
	switch end.Result {
	case models.DeliveryLater:
		return nil
	case models.DeliveryTaken, models.DeliveryConfirmed:
		if end.Result == models.DeliveryTaken {
			row.Problem = ""
		}
		if err := t.deliveryDone(row, string(end.Result)); err != nil {
			return err
		}
		return t.deliveredNow(a, row, end)
	case models.DeliveryRefused:
		return t.refused(a, row, end)
	case models.DeliveryElsewhere, models.DeliveryGone:
	}
	if err := t.deliveryDone(row, string(end.Result)); err != nil {
		return err
	}
	switch {
	case a.Status() == models.StatusPending:
		return t.resolveHeld(a, end)
	case end.Result == models.DeliveryElsewhere:
		return t.noteContradiction(a, end.Text)
	}
	return nil // a cascade settled it: there is no verdict left to send
}

// Undelivered ends a verdict that could not be sent in time: the other system may or may not have it, and it was not
// released here.
func (t *Tx) Undelivered(row *models.Delivery) error {
	a, err := t.Request(row.ResponseID)
	if err != nil {
		return err
	}
	return t.undelivered(a, row)
}

// WithdrawBarred withdraws a decision on its way to another system that may not take effect. One
// that is being sent is looked at again when that attempt is over, and not sent again. False: it
// may take effect, or holds nothing.
func (t *Tx) WithdrawBarred(row *models.Delivery) (bool, error) {
	a, err := t.Request(row.ResponseID)
	if err != nil {
		return false, err
	}
	return t.withdrawBarred(a, row)
}

// addDelivery has a verdict told to the other system: not before from, nor after
// until.
func (t *Tx) addDelivery(a *models.Approval, v *models.Vote, from, until time.Time) error {
	row := &models.Delivery{
		ResponseID: a.ID, UpstreamID: models.UpstreamID(*a.UpstreamID), VoteID: v.ID, CreatedAt: t.Now, GiveUpAt: until,
		NextAt: from,
	}
	if err := t.Gorm().Save(row).Error; err != nil { //nolint:forbidigo // one that was withdrawn is replaced
		return fmt.Errorf("store delivery: %w", err)
	}
	t.Publish(events.Upstreams)
	return nil
}

func (t *Tx) deliveryBegun(id models.ResponseID) (bool, error) {
	var n int64
	if err := t.Gorm().Model(&models.Delivery{}).Where("response_id = ? AND done_at IS NULL AND attempts > 0",
		id).Count(&n).Error; err != nil {
		return false, fmt.Errorf("read delivery: %w", err)
	}
	return n > 0, nil
}

// undelivered is Undelivered.
func (t *Tx) undelivered(a *models.Approval, row *models.Delivery) error {
	if err := t.deliveryDone(row, "undelivered"); err != nil {
		return err
	}
	if a.Status() != models.StatusPending {
		return t.noteContradiction(a, "The decision did not reach the other system in time.")
	}
	if err := t.withdrawVotes(a.ID); err != nil {
		return err
	}
	return t.expireUndelivered(a, "The decision could not be sent to the other system in time: "+row.Problem)
}

func (t *Tx) deliveryDone(row *models.Delivery, outcome string) error {
	err := t.Gorm().Model(row).UpdateColumns(map[string]any{
		"done_at": t.Now, "outcome": outcome, "in_flight_at": nil, "problem": row.Problem,
	}).Error
	if err != nil {
		return fmt.Errorf("store delivery: %w", err)
	}
	return nil
}

// noteContradiction adds a text to a row: what contradicts its outcome.
func (t *Tx) noteContradiction(a *models.Approval, text string) error {
	if err := t.Gorm().Exec(`UPDATE responses SET contradiction = ltrim(contradiction || ' ' || ?) WHERE id = ?`, text,
		a.ID).Error; err != nil {
		return fmt.Errorf("note contradiction: %w", err)
	}
	t.changed(a.ConversationID)
	return nil
}

// deliveredNow makes the verdict that held a row its outcome.
func (t *Tx) deliveredNow(a *models.Approval, row *models.Delivery, end models.DeliveryEnd) error {
	if a.Status() != models.StatusPending {
		return nil // it was settled by a cascade, and only told
	}
	var v models.Vote
	if err := t.Gorm().Where("id = ?", row.VoteID).Take(&v).Error; err != nil {
		return fmt.Errorf("read decision: %w", err)
	}
	// The other system has accepted it: what came in the way meanwhile can only be noted.
	why, err := t.releaseBarrier(a, &v)
	if err != nil {
		return err
	}
	if _, err := t.settleByVote(voter(&v), a, &v); err != nil {
		return err
	}
	if why != nil {
		if err := t.noteContradiction(a, "The decision was being sent when this came in its way: "+why.text); err != nil {
			return err
		}
	}
	if err := t.released(voter(&v), a, &v); err != nil {
		return err
	}
	if end.Result == models.DeliveryConfirmed {
		return t.noteContradiction(a, end.Text)
	}
	return nil
}

func (t *Tx) resolveHeld(a *models.Approval, end models.DeliveryEnd) error {
	status, when, cause := models.StatusResolved, t.Now, models.CauseElsewhere
	if end.Result == models.DeliveryGone {
		cause = models.CauseGone
	}
	a.ApprovalStatus, a.ApprovalTimestamp, a.Cause, a.ApprovalFeedback = &status, &when, cause, models.FeedbackOf(end.Text)
	if err := t.withdrawVotes(a.ID); err != nil {
		return err
	}
	system := models.System("delivery")
	left, err := t.settleHeld(system, a)
	if err != nil {
		return err
	}
	return t.Record(system, "approval.resolved", ledger.SubjectOf(&a.Response, left.readers), settledEntry{
		Digest: a.Digest, Status: status, Cause: cause, Reason: models.DigestOfText(a.Feedback()),
		Conversation: waitEnds(left.runs),
	})
}

// DeliverAt has a verdict told at next, and not before.
func (t *Tx) DeliverAt(row *models.Delivery, next time.Time) error {
	err := t.Gorm().Model(row).UpdateColumns(map[string]any{
		"next_at": next, "in_flight_at": row.InFlightAt, "lost": row.Lost, "problem": row.Problem,
	}).Error
	if err != nil {
		return fmt.Errorf("store delivery: %w", err)
	}
	return nil
}
