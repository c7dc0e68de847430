package store

import (
	"fmt"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
	"countersign/models/requests"
)

// deliverFor is how long a verdict is delivered at least.
const deliverFor = 10 * time.Minute

// checkOutside refuses verdicts that the other system does not take. Codes:
// comment_required, wrong_decision_kind. That it takes no edit checkEdit says.
func checkOutside(a *models.Approval, in models.DecisionInput, verdict models.Verdict) error {
	switch {
	case a.UpstreamID == nil:
	case a.Kind == models.KindQuestion && verdict == models.VerdictReject:
		return models.Errorf(models.CodeWrongDecisionKind,
			"The other system waits for an answer: its questions can't be declined.")
	case verdict == models.VerdictReject && strings.TrimSpace(in.Reason) == "":
		return &models.Error{
			Code: models.CodeCommentRequired, Text: "The other system requires a reason for a rejection.",
			Fields: map[string]string{"reason": "is required"},
		}
	}
	return nil
}

// hold keeps a verdict from becoming the outcome: until its undo window is over and, of an outside approval, until the
// other system has it. The row stays pending, and no one else can decide it (I1). A decision made before the deadline
// counts: from now on the request's own deadline does not end it.
func (t *Tx) hold(
	actor models.Actor, a *models.Approval, v *models.Vote, window time.Duration,
) (*models.Approval, error) {
	until := t.Now.Add(window)
	if a.UpstreamID != nil {
		until = until.Add(deliverFor)
		if a.ApprovalTimeoutAt.After(until) {
			until = a.ApprovalTimeoutAt
		}
	}
	if err := t.Changes("responses", a.ID); err != nil {
		return nil, err
	}
	n, err := t.Exec(t.s.hot.hold, until, a.ID, t.Now)
	if err != nil {
		return nil, fmt.Errorf("hold decision: %w", err)
	}
	if !db.ExactlyOne(n) {
		return nil, fmt.Errorf("hold decision on %s: it left pending meanwhile", a.ID)
	}
	if a.UpstreamID != nil {
		if err := t.addDelivery(a, v, t.Now.Add(window), until); err != nil {
			return nil, err
		}
	} else {
		t.deadlineStored(until)
	}
	a.HeldUntil, a.Vote = &until, v
	readers, err := t.tellDeciders(a)
	if err != nil {
		return nil, err
	}
	e := votedEntry(a, v)
	e.Until = until.Format(db.TimeFormat)
	return a, t.Record(actor, "approval.voted", ledger.SubjectOf(&a.Response, readers), e)
}

const withdrawnVotes = `SELECT id FROM votes WHERE response_id = ? AND withdrawn_at IS NULL AND waits_for = ''`

// heldVote is the verdict that holds a row; nil when none does.
func (t *Tx) heldVote(id models.ResponseID) (*models.Vote, error) {
	var votes []models.Vote
	if err := t.Gorm().Raw(requests.StandingVote, id).Scan(&votes).Error; err != nil {
		return nil, fmt.Errorf("read decision: %w", err)
	}
	return requests.FirstVote(votes), nil
}

// overrule withdraws the verdict that holds a row, so that something else can
// settle it (settleHeld). What the other system may have heard of already is not
// taken back: being_decided.
func (t *Tx) overrule(a *models.Approval) error {
	if err := t.CheckOverrule(a); err != nil {
		return err
	}
	if err := t.withdrawVotes(a.ID); err != nil {
		return err
	}
	return t.endDelivery(a)
}

// endDelivery has a decision not be delivered.
func (t *Tx) endDelivery(a *models.Approval) error {
	if err := t.Gorm().Exec(`UPDATE deliveries SET done_at = ?, outcome = 'withdrawn' WHERE response_id = ? AND done_at IS NULL`, t.Now, a.ID).Error; err != nil {
		return fmt.Errorf("cancel delivery: %w", err)
	}
	t.Publish(events.Upstreams)
	return nil
}

// CheckOverrule refuses to end a request whose verdict may have reached another system: CodeBeingDecided
// with the row.
func (t *Tx) CheckOverrule(a *models.Approval) error {
	if a.HeldUntil == nil {
		return nil
	}
	inFlight, err := t.deliveryBegun(a.ID)
	if inFlight && err == nil {
		err = t.conflict(a)
	}
	return err
}

// withdrawVotes marks the verdict on a row as one that is not its outcome.
func (t *Tx) withdrawVotes(id models.ResponseID) error {
	_, err := t.withdrawEach(withdrawnVotes, id)
	return err
}

// withdrawEach withdraws the votes that a query finds, and counts them.
func (t *Tx) withdrawEach(query string, args ...any) (int, error) {
	var ids []models.VoteID
	if err := t.Gorm().Raw(query, args...).Scan(&ids).Error; err != nil {
		return 0, fmt.Errorf("read decisions: %w", err)
	}
	for _, id := range ids {
		if err := t.Changes("votes", id); err != nil {
			return 0, err
		}
		if err := t.Gorm().Exec(`UPDATE votes SET withdrawn_at = ? WHERE id = ?`, t.Now, id).Error; err != nil {
			return 0, fmt.Errorf("undo a decision: %w", err)
		}
	}
	return len(ids), nil
}

// voter is the person whose verdict it is.
func voter(v *models.Vote) models.Actor {
	return models.Actor{Kind: models.ActorUser, ID: string(v.UserID), Name: v.UserName, OwnerID: v.UserID}
}

// settleHeld is settle for a row that a verdict held: the deadline was judged
// when the verdict came.
func (t *Tx) settleHeld(actor models.Actor, a *models.Approval) (ending, error) {
	r := &a.Response
	if err := t.Changes("responses", r.ID); err != nil {
		return ending{}, err
	}
	n, err := t.Exec(t.s.hot.settleHeld, r.Status(), r.ApprovalTimestamp, r.ApprovalFeedback, r.Cause, r.DecidedBy,
		r.VoteID, r.Answer, r.ID)
	if err != nil {
		return ending{}, fmt.Errorf("settle held approval: %w", err)
	}
	if !db.ExactlyOne(n) {
		return ending{}, fmt.Errorf("settle held approval %s: nothing held it", r.ID)
	}
	r.HeldUntil = nil
	return t.settled(actor, a)
}
