package store

import (
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/headline"
	"countersign/models/insights"
	"countersign/models/ledger"
	"countersign/models/policy"
)

// ask is a request on its way to be stored: a new one, or a call that was reported before its
// agent asked about it, which keeps its row, place and id.
type ask struct {
	*Tx

	actor    models.Actor
	q        *asked
	conv     *models.Conversation // that the request names; nil: none that is open
	reported *models.Approval     // nil: the request is new

	version   int64 // of the policy
	policy    *policy.Policy
	judgement policy.Judgement
	deadline  time.Time
	a         *models.Approval
	reviewers []models.UserID // to whom it goes, beside its owner
	runs      bool            // how its conversation is shown before the request waits in it
}

// askStages are the way of a request, in order: each uses what those before it have set.
var askStages = []func(*ask) error{
	(*ask).judge,       // by the policy of now: allow, reject, or ask a person
	(*ask).setDeadline, // until when somebody may decide
	(*ask).fill,        // the row, with the agent's input
	(*ask).setOutcome,  // the row, with the outcome of the judgement, and who may decide
	(*ask).place,       // a conversation, a number there, and the energy that it costs
	(*ask).store,       // the row is in the database, and the grant that covers it is used
	(*ask).route,       // it is in the inboxes of those who may decide, now and later
	(*ask).tell,        // those who wait and the log hear of it after the commit
	(*ask).record,      // it is in the ledger
	(*ask).substitute,  // substitutes of those who are away have it too
}

// run takes the request through all stages. Codes: invalid, budget_exhausted, key_conflict.
func (x *ask) run() error {
	for _, stage := range askStages {
		if err := stage(x); err != nil {
			return err
		}
	}
	return nil
}

func (x *ask) judge() (err error) {
	if x.reported != nil && x.reported.IsRemoved() {
		return &models.Error{
			Code: models.CodeKeyConflict,
			Text: "The input of this call was " + x.reported.RemovedText() +
				", so nobody can decide about it: ask under another toolUseId.", Approval: x.reported,
		}
	}
	x.a = x.reported
	if x.a == nil {
		x.a = &models.Approval{Response: models.Response{
			ID: x.q.id, OwnerID: x.actor.OwnerID, AgentID: x.actor.AgentID(), Kind: x.q.Kind, CreatedAt: x.Now,
		}, AgentName: x.actor.Name, OwnerName: x.actor.OwnerName}
		if x.a.ID == "" {
			x.a.ID = models.NewID[models.ResponseID]()
		}
	}
	if x.version, x.policy, err = x.Policy(); err != nil {
		return err
	}
	x.judgement, err = x.judgeAsk(x.actor, x.version, x.policy, x.q, x.a.ID)
	return err
}

func (x *ask) setDeadline() (err error) {
	x.deadline, err = x.deadlineFor(x.q, x.policy, x.judgement)
	return err
}

func (x *ask) fill() error {
	r, q := &x.a.Response, x.q
	r.JobID, r.ClaimedAt, r.Protocol, r.ClientDataJSON, r.AcceptsEdits = nullable(q.JobID), q.claimed, q.Protocol, q.client, q.takesEdits()
	r.Explanation, r.HeadlineJSON = q.Explanation, q.headline
	r.PolicyVersion, r.PolicyRule, r.PolicyReason, r.Risk = x.version, x.judgement.Rule, x.judgement.Reason, x.judgement.Risk
	r.Template, r.Energy = q.Template, costOf(q, x.judgement)
	if x.reported != nil {
		r.HeadlineJSON = headline.Of(r).Stored() // of the input as it was reported
		return nil
	}
	r.ToolUseID, r.Digest, r.DigestVersion, r.Options = nullable(q.ToolUseID), q.digest, models.DigestVersion, q.options
	r.ToolName, r.ToolInputJSON, r.ApprovalTimeoutAt = q.ToolName, string(q.Input), models.NoDeadline
	return nil
}

// costOf is the energy that a request costs its conversation: as much as the agent says, at least as much as the rule
// demands; nothing for a report of an earlier call.
func costOf(q *asked, j policy.Judgement) int64 {
	if !q.fallback.IsZero() {
		return 0 // a report is never refused
	}
	cost := int64(models.DefaultEnergy)
	if q.Energy != nil {
		cost = *q.Energy
	}
	return max(cost, j.Energy)
}

func (x *ask) setOutcome() (err error) {
	x.reviewers, err = x.applyJudgement(x.a, x.q, x.judgement, x.deadline)
	return err
}

func (x *ask) place() (err error) {
	switch {
	case x.reported == nil:
		x.runs, err = x.Tx.place(x.actor, x.q, x.a, x.conv)
	case x.a.Energy == 0:
		x.runs, err = x.isRunning(x.a.ConversationID)
	default:
		// The sequence that comes with it stays unused: the call has its own.
		var next place
		next, err = x.spend(x.actor, x.a.ConversationID, x.a.Energy)
		x.runs = next.runs
	}
	return err
}

func (x *ask) store() error {
	store := x.addResponse
	if x.reported != nil {
		store = x.updateReported
	}
	if err := store(&x.a.Response); err != nil {
		return err
	}
	return x.useGrant(x.a)
}

// updateReported makes a reported call a request.
func (t *Tx) updateReported(r *models.Response) error {
	if err := t.Changes("responses", r.ID); err != nil {
		return err
	}
	args := []any{
		r.JobID, r.Risk, r.RequiresApproval, r.ApprovalStatus, r.ApprovalTimestamp, r.ApprovalFeedback, r.Cause,
		r.PolicyVersion, r.PolicyRule, r.PolicyReason, r.ReviewersOnly, selfApproval(r), r.ApproversJSON, r.NoSubstitutes, r.QuorumJSON, r.WhenBusy,
		r.Template, r.ChecklistJSON, r.TemplateText, r.ApprovalRequestedAt, r.ApprovalTimeoutAt, r.Energy, r.ClaimedAt,
		r.Protocol, r.ClientDataJSON, r.HeadlineJSON, r.AcceptsEdits, r.GrantID,
	}
	for _, m := range r.Explanation.Members() {
		args = append(args, *m.Text)
	}
	n, err := t.Exec(t.s.hot.judgeReport, append(args, r.ID)...)
	if err != nil {
		return fmt.Errorf("judge reported call: %w", err)
	}
	if !db.ExactlyOne(n) {
		return fmt.Errorf("judge reported call %s: something happened to it meanwhile", r.ID)
	}
	return insights.Outdate(t.Tx, r.CreatedAt, r.CreatedAt)
}

func (x *ask) route() error {
	if err := x.addDeciders(&x.a.Response, x.reviewers); err != nil {
		return err
	}
	if err := x.planEscalation(&x.a.Response); err != nil {
		return err
	}
	if err := x.allowHeadline(x.a, x.judgement); err != nil {
		return err
	}
	return x.noteFlood(x.a)
}

func (x *ask) tell() error {
	x.Publish(events.Conversation(string(x.a.ConversationID)))
	if x.reported == nil {
		if err := x.askedLate(x.a); err != nil {
			return err
		}
	}
	x.asked(x.a)
	return nil
}

func (x *ask) record() error {
	return x.Record(x.actor, askAction(x.a), ledger.SubjectOf(&x.a.Response, x.reviewers),
		askedData(x.a, x.reviewers, x.runs))
}

func (x *ask) substitute() error { return x.reroute(models.System("policy"), x.a) }
