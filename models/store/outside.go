package store

import (
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/headline"
	"countersign/models/ledger"
	"countersign/models/policy"
)

// What models/outside asks of the moves: a request of another system
// is made pending, settled or linked to the call that it is for. Nothing here judges rights: the
// other system asks, and who decides is judged as for any request.

// OutsideAsk is what another system asks for, as it was taken.
type OutsideAsk struct {
	Upstream *models.Upstream
	Row      *models.OutsideApproval
	Item     *models.OutsideItem
	// InputBytes is how long the input was of which only a part is kept: such a request can't be
	// approved. nil: all is kept.
	InputBytes *int64
}

// AskMatched makes a reported call without a request pending for another system.
func (t *Tx) AskMatched(ask OutsideAsk, a *models.Approval) error {
	if ask.InputBytes != nil {
		if err := t.cutInput(a, *ask.InputBytes); err != nil {
			return err
		}
	}
	return t.askOutside(ask, a)
}

// AskOwn stores another system's own request and makes it pending: in the given conversation, else in the default one
// of the upstream's agent.
func (t *Tx) AskOwn(ask OutsideAsk, r models.Response, in models.ConversationID) (*models.Approval, error) {
	actor := models.Actor{
		Kind: models.ActorAgent, ID: string(ask.Upstream.AgentID), Name: ask.Upstream.Name, OwnerID: ask.Upstream.OwnerID,
	}
	var conv *models.Conversation
	var err error
	if in == "" {
		conv, err = t.StandingConversation(actor, models.OnRejectCascade)
	} else {
		conv, err = t.Conversation(in)
	}
	if err != nil {
		return nil, err
	}
	a := t.responseIn(actor, conv, r)
	if a.Sequence, err = t.NextSequence(conv.ID); err != nil {
		return nil, err
	}
	a.Risk, a.InputBytes = models.RiskMedium, ask.InputBytes
	if err := t.addResponse(&a.Response); err != nil {
		return nil, err
	}
	return a, t.askOutside(ask, a)
}

// cutInput notes that not all of what a call runs with is kept: it can't be approved.
func (t *Tx) cutInput(a *models.Approval, length int64) error {
	a.InputBytes = &length
	if err := t.Changes("responses", a.ID); err != nil {
		return err
	}
	if err := t.Gorm().Exec(`UPDATE responses SET input_bytes = ? WHERE id = ?`, length, a.ID).Error; err != nil {
		return fmt.Errorf("note the length of an input: %w", err)
	}
	return nil
}

// outsideHeadline is that of what the other system runs: where its arguments were not found,
// of what in the item they may be, not of its ids and times.
func outsideHeadline(r *models.Response, item *models.OutsideItem) headline.Headline {
	if r.Kind == models.KindToolCall && item.Telling != nil {
		return headline.OfItem(r, item.Telling)
	}
	return headline.Of(r)
}

// askOutside makes a row pending for an item: a call that was reported, or one that was
// stored for it.
func (t *Tx) askOutside(ask OutsideAsk, a *models.Approval) error {
	row := ask.Row
	version, p, err := t.Policy()
	if err != nil {
		return err
	}
	j, err := t.judge(version, p, policy.Call{Kind: a.Kind, ToolName: a.ToolName, Explicit: true},
		judgedRow(a, a.ToolInputJSON, t.Now))
	if err != nil {
		return err
	}
	pending, when := models.StatusPending, t.Now
	a.UpstreamID, a.CallID = new(string(ask.Upstream.ID)), &row.CallID
	if row.ApprovalID != "" {
		a.ApprovalID = &row.ApprovalID
	}
	a.SayOutside(ask.Item.RunID, ask.Item.AskedAt)
	a.HeadlineJSON = outsideHeadline(&a.Response, ask.Item).Stored()
	a.Risk, a.PolicyVersion, a.PolicyRule, a.PolicyReason = j.Risk, version, j.Rule, j.Reason
	a.ApprovalStatus, a.ApprovalRequestedAt, a.RequiresApproval, a.ApprovalTimeoutAt = &pending, &when, true, models.NoDeadline
	if row.TimeoutAt != nil {
		a.ApprovalTimeoutAt = *row.TimeoutAt // the other system's clock
	}
	// A request without an able approver is not refused here: the other system waits until its own deadline, and owner
	// and admins may reject.
	reviewers, _, err := t.whoDecides(&a.Response, j)
	if err != nil {
		return err
	}
	a.SetTemplates(j.Checklist, j.Text)
	runs, err := t.isRunning(a.ConversationID)
	if err != nil {
		return err
	}
	if err := t.Changes("responses", a.ID); err != nil {
		return err
	}
	n,
		err := t.Exec(t.s.hot.matchOutside, a.UpstreamID, a.CallID, a.ApprovalID, a.OutsideRun, a.ClaimedAt, a.MatchedBy,
		row.Contradiction, a.Context, a.HeadlineJSON, a.Risk, a.PolicyVersion, a.PolicyRule, a.PolicyReason,
		a.ReviewersOnly, selfApproval(&a.Response), a.ApproversJSON, a.NoSubstitutes, a.QuorumJSON, a.ChecklistJSON, a.TemplateText,
		a.ApprovalRequestedAt, a.ApprovalTimeoutAt, a.ID)
	if err != nil {
		return fmt.Errorf("match outside approval: %w", err)
	}
	if !db.ExactlyOne(n) {
		return fmt.Errorf("match outside approval to %s: something happened to it meanwhile", a.ID)
	}
	if err := t.addDeciders(&a.Response, reviewers); err != nil {
		return err
	}
	if err := t.planEscalation(&a.Response); err != nil {
		return err
	}
	t.Publish(events.Conversation(string(a.ConversationID)))
	poller := models.System("poller")
	t.logAsked(a)
	if err := t.Record(poller, "approval.requested", ledger.SubjectOf(&a.Response, reviewers),
		askedData(a, reviewers, runs)); err != nil {
		return err
	}
	return t.reroute(models.System("policy"), a)
}

// SettleElsewhere ends a request of another system that does not wait there any more: past its
// deadline it has expired, else it is resolved, for the reason that text says. CodeBeingDecided: a
// decision may be on its way to the other system.
func (t *Tx) SettleElsewhere(a *models.Approval, text string) error {
	if a.PastDeadline(t.Now) {
		return t.expireNow(a)
	}
	return t.settleAs(models.System("poller"), a, models.StatusResolved, models.CauseElsewhere, text)
}

// MoveDeadline keeps the deadline that a pending request has by now in the other system.
func (t *Tx) MoveDeadline(a *models.Approval, until time.Time) error {
	return t.extend(models.System("poller"), a, clock{deadline: until})
}

// LinkCall has an approval and its call, which keep a row each, lead to each other.
// What a rejection does to the calls queued after it happens from there. A call with
// another input is the one that is meant only as long as none with the same comes.
func (t *Tx) LinkCall(a *models.Approval, row *models.OutsideApproval, match models.Match) error {
	row.Waits, row.LinkedID, row.LinkedBy = !match.SameInput, match.ID, match.By
	err := t.Gorm().Model(row).UpdateColumns(map[string]any{
		"waits": row.Waits, "linked_id": match.ID, "linked_by": match.By,
	}).Error
	if err != nil {
		return fmt.Errorf("link outside approval: %w", err)
	}
	call, err := t.Request(match.ID)
	if err != nil {
		return err
	}
	poller := models.System("poller")
	err = t.Record(poller, "approval.linked",
		ledger.Subject{Owner: a.OwnerID, Conversation: a.ConversationID, Response: a.ID},
		map[string]any{"response": call.ID, "matched_by": match.By, "same_input": match.SameInput})
	if err != nil {
		return err
	}
	t.changed(a.ConversationID)
	t.changed(call.ConversationID)
	t.Publish(events.Approval(string(a.ID)), events.Approval(string(call.ID)))
	if a.Cause != models.CauseReviewer {
		return nil
	}
	return t.Cascade(poller, a)
}

// RejectWith rejects an approval whose call was rejected with another of its batch.
func (t *Tx) RejectWith(from, id models.ResponseID) error {
	rejected, err := t.Request(from)
	if err != nil {
		return err
	}
	if rejected.Status() != models.StatusRejected {
		return fmt.Errorf("reject %s with %s: that is not rejected", id, from)
	}
	return t.cascadeTo(models.System("cascade"), rejected, id)
}
