package store

import (
	"fmt"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
	"countersign/models/policy"
)

// askReported judges a call that was reported before the agent asked about it:
// both are one row, which keeps its place and id.
func (t *tx) askReported(actor models.Actor, q *asked, a *models.Approval) (*models.Approval, error) {
	if a.IsRemoved() {
		return nil, &models.Error{
			Code: models.CodeKeyConflict, Text: "The input of this call was " + a.RemovedText() + ", so nobody can decide about it: ask under another toolUseId.", Approval: a,
		}
	}
	version, p, err := t.policy()
	if err != nil {
		return nil, err
	}
	verdict := t.judge(version, p, policy.Call{Kind: q.Kind, ToolName: q.ToolName, Explicit: q.Explicit}, a.ID, q.digest)
	deadline, err := t.deadlineFor(q, p, verdict)
	if err != nil {
		return nil, err
	}
	a.JobID, a.Risk, a.Description, a.Context, a.ClaimedAt = nullable(q.JobID), verdict.Risk, q.Description, q.Context, q.claimed
	a.PolicyVersion, a.PolicyRule, a.PolicyReason = version, verdict.Rule, verdict.Reason
	a.Energy = costOf(q, verdict)
	reviewers, err := t.judged(a, q, verdict, deadline)
	if err != nil {
		return nil, err
	}
	if t.running, err = t.isRunning(a.ConversationID); err != nil {
		return nil, err
	}
	if a.Energy > 0 {
		// The sequence that comes with it stays unused: the call has its own.
		if _, err := t.spend(actor, a.ConversationID, a.Energy); err != nil {
			return nil, err
		}
	}
	n, err := t.Exec(t.s.hot.judgeReported, a.JobID, a.Risk, a.RequiresApproval, a.ApprovalStatus, a.ApprovalTimestamp, a.ApprovalFeedback, a.Cause,
		a.PolicyVersion, a.PolicyRule, a.PolicyReason, a.ReviewersOnly, selfApproval(&a.Response), a.ApproversJSON, a.ApprovalRequestedAt, a.ApprovalTimeoutAt, a.Energy, a.Description, a.Context, a.ClaimedAt, a.GrantID, a.ID)
	if err != nil {
		return nil, fmt.Errorf("judge reported call: %w", err)
	}
	if !db.ExactlyOne(n) {
		return nil, fmt.Errorf("judge reported call %s: something happened to it meanwhile", a.ID)
	}
	if err := t.useGrant(a); err != nil {
		return nil, err
	}
	t.Publish(events.Conversation(string(a.ConversationID)))
	if err := t.addDeciders(&a.Response, reviewers); err != nil {
		return nil, err
	}
	if a.Status() != models.StatusPending {
		t.atOnce = a
	}
	t.logAsked(a)
	return a, t.record(actor, askAction(a), ledger.SubjectOf(&a.Response, reviewers), t.askedData(a, reviewers))
}

// costOf is what a request costs its conversation: what the agent says, at least
// what the rule demands; nothing if it only reports what has happened.
func costOf(q *asked, j policy.Judgement) int64 {
	if !q.fallback.IsZero() {
		return 0 // what is reported is never refused
	}
	cost := int64(models.DefaultEnergy)
	if q.Energy != nil {
		cost = *q.Energy
	}
	return max(cost, j.Energy)
}
