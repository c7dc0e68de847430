package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/headline"
	"countersign/models/policy"
	"countersign/models/requests"
)

// Ask stores an agent's request and evaluates it against the current policy: it is allowed, rejected, or pending. The
// same request sent again is the same row (I9), found by its approvalId, or by conversation and tool use id; it is
// never counted nor refused by a limit. Ask opens the conversation that the request names.
//
// Codes: forbidden (agents only), invalid, key_conflict, id_taken, other_agent, too_many_requests, too_many_pending.
func (s *Store) Ask(ctx context.Context, actor models.Actor, in models.AskInput) (*models.Approval, error) {
	if !actor.IsAgent() {
		return nil, models.Errorf(models.CodeForbidden, "Only an agent's token may ask for approval.")
	}
	q, err := checkAsk(in)
	if err != nil {
		return nil, err
	}
	early, err := s.judgeAhead(ctx, actor, q)
	if err != nil {
		return nil, err
	}
	var out *models.Approval
	err = s.writeBy(ctx, s.db.WriteAnyway, early, func(t *Tx) error {
		standing, conv, err := t.findAsk(actor, q)
		if err != nil {
			return err
		}
		reported := standing != nil && standing.Unasked()
		if standing != nil && !reported {
			out = requests.At(standing, t.Now)
			if err := t.ranBeside(q, out); err != nil {
				return err
			}
			return t.offerAnswer(q, standing)
		}
		if s.db.Full() {
			return db.DiskFull() // existing rows are still answered
		}
		if err := t.admitAsk(actor, len(q.Input)); err != nil {
			return err
		}
		x := &ask{Tx: t, actor: actor, q: q, conv: conv}
		if reported {
			x.reported = standing
		}
		if err := x.run(); err != nil {
			return err
		}
		out = x.a
		return t.offerAnswer(q, out)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// place gives the row its conversation, opening it if need be, the next sequence
// in it, and spends its energy there. It tells whether the conversation is shown
// as running before the row is in it. Codes: budget_exhausted.
func (t *Tx) place(
	actor models.Actor, q *asked, a *models.Approval, conv *models.Conversation,
) (runs bool, err error) {
	if conv == nil && q.namesNone() {
		if runs, ok, err := t.placeAtRest(actor, a); ok || err != nil {
			return runs, err
		}
		if conv, err = scanConversation(t.Row(t.s.hot.conversationByRest, actor.ID)); err != nil {
			return false, err
		}
	}
	if conv == nil {
		if err := t.refusedAtOnce(actor, a.Energy); err != nil {
			return false, err
		}
		if conv, err = t.openConversation(actor, q); err != nil {
			return false, err
		}
	}
	a.ConversationID, a.RunID, a.ConversationTitle = conv.ID, conv.RunID, conv.Title
	next, err := t.spend(actor, conv.ID, a.Energy)
	a.Sequence = next.sequence
	return next.runs, err
}

// judged writes the policy's outcome into the row (I12) and returns who it was
// routed to.
func (t *Tx) applyJudgement(a *models.Approval, q *asked, j policy.Judgement, deadline time.Time) ([]models.UserID, error) {
	stop, err := t.stopOf(a.AgentID)
	if err != nil {
		return nil, err
	}
	if !q.fallback.IsZero() {
		return nil, t.ranWithoutAnswer(a, q.fallback, j, stop)
	}
	settle := func(cause models.Cause, text string) { t.rejectAtOnce(a, cause, text) }
	if stop != nil {
		settle(models.CauseStopped, stop.Text())
		return nil, nil
	}
	switch j.Effect {
	case policy.EffectAllow:
		a.Cause = j.Cause
		return nil, nil
	case policy.EffectDeny:
		settle(models.CausePolicy, j.Reason)
		return nil, nil
	case policy.EffectRequire:
	}
	reviewers, able, err := t.whoDecides(&a.Response, j)
	if err != nil {
		return nil, err
	}
	if !j.Unjudged && decidedBefore(q, j) { // a rule behind it might deny the call if it could be judged
		if through, err := t.granted(a); through || err != nil {
			return nil, err
		}
	}
	if !able {
		settle(models.CauseNoReviewer, cmp.Or(j.Nobody, noReviewerText(&a.Response)))
		return nil, nil
	}
	if j.WhenBusy != "" {
		busy, err := t.allBusy(&a.Response, reviewers)
		if err != nil {
			return nil, err
		}
		if busy {
			a.WhenBusy = j.WhenBusy
		}
		if a.WhenBusy == models.BusyExpire {
			t.expireAtOnce(a)
			return nil, nil
		}
	}
	if end, ok := stepEnds(j, t.Now, deadline); ok {
		a.EndStepsAt(deadline)
		deadline = end
	}
	a.SetTemplates(j.Checklist, j.Text)
	wait := &struct { // one value, for one allocation
		status models.Status
		at     time.Time
	}{models.StatusPending, t.Now}
	a.ApprovalStatus, a.RequiresApproval = &wait.status, true
	a.ApprovalRequestedAt, a.ApprovalTimeoutAt = &wait.at, deadline
	return reviewers, nil
}

// rejectAtOnce ends a request as it comes, without a person.
func (t *Tx) rejectAtOnce(a *models.Approval, cause models.Cause, text string) {
	status, at := models.StatusRejected, t.Now
	a.ApprovalStatus, a.ApprovalTimestamp, a.Cause, a.ApprovalFeedback = &status, &at, cause, models.FeedbackOf(text)
	a.RequiresApproval, a.ApprovalRequestedAt = true, &at
}

// expireAtOnce ends a request as it comes because everybody is busy.
func (t *Tx) expireAtOnce(a *models.Approval) {
	status, at := models.StatusExpired, t.Now
	a.ApprovalStatus, a.ApprovalTimestamp, a.Cause = &status, &at, models.CauseNoReviewer
	a.ApprovalFeedback = models.FeedbackOf(a.BusyText())
	a.RequiresApproval, a.ApprovalRequestedAt, a.ApprovalTimeoutAt = true, &at, at
}

// deadlineFor is the rule's, else what the agent asked for, else the kind's; earlier if the
// template that the agent named says so.
func (t *Tx) deadlineFor(q *asked, p *policy.Policy, j policy.Judgement) (time.Time, error) {
	deadline, err := t.ownDeadline(q, p, j)
	if j.AtMost == nil {
		return deadline, err
	}
	if latest := t.Now.Add(time.Duration(*j.AtMost) * time.Minute); latest.Before(deadline) {
		deadline = latest
	}
	return deadline, err
}

func (t *Tx) ownDeadline(q *asked, p *policy.Policy, j policy.Judgement) (time.Time, error) {
	if err := q.checkTimeout(p); err != nil {
		return time.Time{}, err
	}
	switch {
	case j.Timeout != nil:
		return t.Now.Add(time.Duration(*j.Timeout) * time.Minute), nil
	case q.TimeoutSeconds != nil:
		return t.Now.Add(time.Duration(*q.TimeoutSeconds) * time.Second), nil
	}
	if minutes, ok := p.DefaultTimeout(q.Kind); ok {
		return t.Now.Add(time.Duration(minutes) * time.Minute), nil
	}
	return models.NoDeadline, nil
}

// checkTimeout holds the agent's timeout against the longest that the policy allows.
func (q *asked) checkTimeout(p *policy.Policy) error {
	if most := int64(p.Document().MaxTimeoutMinutes) * 60; q.TimeoutSeconds != nil && *q.TimeoutSeconds > most {
		return models.Invalid("timeoutSeconds", "must be from 1 to %d", most)
	}
	return nil
}

func (t *Tx) addResponse(r *models.Response) error {
	r.Asked, r.SelfApproval = r.Kind != models.KindReply, selfApproval(r)
	return t.insertResponse(askInsertion, t.s.hot.addWholeResponse, t.s.hot.addResponse, r)
}

// insertResponse is the only way to store a new response: it refuses one whose approval
// begins otherwise than it may (I1), and keeps its headline with it. rest is what else is in the same row.
func (t *Tx) insertResponse(i *db.Insertion, full, short *db.Stmt, r *models.Response, rest ...any) error {
	if err := r.CheckBegin(); err != nil {
		return err
	}
	if r.HeadlineJSON == "" {
		r.HeadlineJSON = headline.Of(r).Stored()
	}
	number, err := t.Insert(i, full, short, append([]any{r}, rest...)...)
	if err != nil {
		return fmt.Errorf("store response: %w", err)
	}
	r.Number = number
	t.Adds("responses", r.ID)
	return nil
}

// addDeciders puts a pending row into the inboxes of those who may decide it.
func (t *Tx) addDeciders(r *models.Response, reviewers []models.UserID) error {
	switch r.Status() {
	case models.StatusPending:
	case models.StatusRejected, models.StatusExpired:
		t.Publish(events.Agent(string(r.AgentID)), events.RecordOf(string(r.OwnerID)), events.RecordOfAdmins)
		return nil
	case models.StatusNone, models.StatusApproved, models.StatusCancelled, models.StatusResolved, models.StatusRan:
		return nil
	}
	topics := []events.Topic{events.Agent(string(r.AgentID)), events.InboxOfAdmins, events.InboxOf(string(r.OwnerID))}
	w, err := t.recipients()
	if err != nil {
		return err
	}
	var newcomers []models.UserID
	decider := func(id models.UserID) error {
		n, err := t.Exec(t.s.hot.addDecider, id, r.ApprovalTimeoutAt, r.ID)
		if err != nil {
			return fmt.Errorf("store decider: %w", err)
		}
		if n > 0 {
			newcomers = append(newcomers, id)
		}
		return nil
	}
	if err := decider(r.OwnerID); err != nil {
		return err
	}
	for _, id := range reviewers {
		if err := decider(id); err != nil {
			return err
		}
		if err := t.Changes("responses", r.ID); err != nil {
			return err
		}
		if _, err := t.Exec(t.s.hot.addReviewer, id, r.ID); err != nil {
			return fmt.Errorf("store reviewer: %w", err)
		}
		topics = append(topics, events.InboxOf(string(id)))
	}
	if err := t.noteAsked(r, reviewers); err != nil {
		return err
	}
	if _, err := t.admit(r); err != nil {
		return err
	}
	t.Publish(topics...)
	t.deadlineStored(r.ApprovalTimeoutAt)
	if err := t.noteAttention(r, newcomers); err != nil {
		return err
	}
	return t.awaits(w, r, newcomers)
}

// askAction is the ledger's word for how a request began.
func askAction(a *models.Approval) string {
	switch a.Status() {
	case models.StatusPending:
		return "approval.requested"
	case models.StatusRejected:
		return "approval.rejected"
	case models.StatusExpired:
		return "approval.expired"
	case models.StatusRan:
		return "approval.ran"
	case models.StatusNone, models.StatusApproved, models.StatusCancelled, models.StatusResolved:
	}
	return "approval.let_through"
}

type askedEntry struct {
	Kind     models.Kind  `json:"kind"`
	Tool     string       `json:"tool,omitempty"`
	Sequence int64        `json:"sequence"`
	Digest   string       `json:"digest"`
	Risk     models.Risk  `json:"risk"`
	Status   string       `json:"status"`
	Cause    models.Cause `json:"cause,omitempty"`
	Version  int64        `json:"policy_version"`
	Rule     string       `json:"policy_rule,omitempty"`
	Deadline string       `json:"deadline,omitempty"`
	Energy   int64        `json:"energy"`

	Grant     *models.GrantID `json:"grant,omitempty"`
	Reviewers []models.UserID `json:"reviewers,omitempty"`     // whom the rule routed it to
	Reason    string          `json:"reason_digest,omitempty"` // of a rejection at the ask

	Conversation *models.StatusChange `json:"conversation_status,omitempty"` // where it is the first that waits

	ReviewersOnly bool                `json:"reviewers_only,omitzero"`
	SelfApproval  models.SelfApproval `json:"self_approval,omitempty"`    // empty: allowed
	Approvers     string              `json:"approvers_digest,omitempty"` // of the people and groups whom the rule names

	NoSubstitutes bool            `json:"no_substitutes,omitzero"`
	WhenBusy      models.WhenBusy `json:"when_busy,omitempty"` // what happened because all were busy

	Quorum string `json:"quorum_digest,omitempty"` // of what several people must do

	Template     string `json:"template,omitempty"` // that the agent named
	Checklist    string `json:"checklist_digest,omitempty"`
	TemplateText string `json:"template_text_digest,omitempty"`
}

// askedData is the entry of a request. running is how its conversation was shown before it; false if the request waits
// for no person.
func askedData(a *models.Approval, reviewers []models.UserID, runs bool) askedEntry {
	e := askedEntry{
		Kind: a.Kind, Tool: a.ToolName, Sequence: a.Sequence, Digest: a.Digest, Risk: a.Risk, Status: string(a.Status()),
		Cause: a.Cause, Version: a.PolicyVersion, Rule: a.PolicyRule, Energy: a.Energy, Grant: a.GrantID,
		Reason: models.DigestOfText(a.Feedback()), Conversation: waitBegins(a, runs),
		NoSubstitutes: a.NoSubstitutes, WhenBusy: a.WhenBusy, Template: a.Template, Checklist: models.DigestOfText(a.ChecklistJSON),
		TemplateText: models.DigestOfText(a.TemplateText),
	}
	if a.Status() == models.StatusPending {
		e.Reviewers = reviewers
	}
	if a.Status() == models.StatusNone {
		e.Status = "let_through"
	}
	if a.ApproversJSON != "" {
		e.Approvers = models.DigestOfText(a.ApproversJSON)
	}
	e.Quorum = models.DigestOfText(a.QuorumJSON)
	if w := a.Approvers(); w.Limited() {
		e.ReviewersOnly = w.ReviewersOnly
		if w.SelfApproval == models.SelfNever {
			e.SelfApproval = w.SelfApproval
		}
	}
	if a.HasDeadline() {
		e.Deadline = a.ApprovalTimeoutAt.Format(db.TimeFormat)
	}
	return e
}
