package store

import (
	"context"
	"errors"
	"fmt"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
	"countersign/models/requests"
)

// Decide takes one person's verdict. A verdict is a row, an outcome is a state: it stores a vote and, if nothing holds
// it, makes the one UPDATE that leaves pending, in the same transaction (I1). An approval with an undo window, and any
// verdict on an outside approval, is held: the row that comes back is pending, with HeldUntil and the vote. The
// decider is the actor and no one else (I5); an agent is refused before any look-up (I4).
//
// Only a person who may approve under the request's rule can approve it; everyone who sees it may reject it. An edit
// that a current rule lets only others approve is kept until one of them approves the same edit: the row stays pending
// and is not held.
//
// Codes: forbidden, not_found, not_a_reviewer, invalid, wrong_decision_kind, response_required, digest_required; with
// the current row: already_decided, expired, being_decided, digest_mismatch.
func (s *Store) Decide(
	ctx context.Context, actor models.Actor, id models.ResponseID, in models.DecisionInput,
) (*models.Approval, error) {
	if !actor.IsPerson() {
		return nil, onlyPeopleDecide()
	}
	var out *models.Approval
	write := s.write
	if in.Approved != nil && !*in.Approved {
		write = s.writeAnyway
	}
	err := write(ctx, func(t *Tx) error {
		a, err := t.Approval(actor, id)
		if err != nil {
			return err
		}
		out, err = t.Decide(actor, a, in)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func onlyPeopleDecide() error {
	return models.Errorf(models.CodeForbidden, "Only a person may decide: use a reviewer's token or the page.")
}

// Decide is Store.Decide for a request that Approval has just read for the actor. It refuses before it writes
// anything.
func (t *Tx) Decide(actor models.Actor, a *models.Approval, in models.DecisionInput) (*models.Approval, error) {
	if !actor.IsPerson() {
		return nil, onlyPeopleDecide()
	}
	if err := t.conflict(a); err != nil {
		return nil, err
	}
	s, err := t.ballot(&a.Response)
	if err != nil {
		return nil, err
	}
	vote, err := t.checkVerdict(actor, a, in, s)
	if err != nil {
		return nil, err
	}
	if s != nil && a.Kind == models.KindBudget && !in.Budget.None() {
		return nil, models.Invalid("newBudget", "can't be combined with signatures: edit the sum that is asked for")
	}
	if before := s.repeats(vote); before != nil {
		a.Vote = before
		return a, nil
	}
	budget, err := t.checkBudget(actor, a, in, vote)
	if err != nil {
		return nil, err
	}
	if vote.WaitsFor != "" {
		if !in.Budget.None() {
			return nil, models.Invalid("newBudget", "can't be combined with an approval that waits for others")
		}
		if s == nil {
			return t.proposeEdit(actor, a, vote)
		}
		if err := t.replace(s, a, vote); err != nil {
			return nil, err
		}
		return t.sign(actor, a, s, vote)
	}
	if s != nil {
		if err := t.replace(s, a, vote); err != nil {
			return nil, err
		}
	}
	window, err := t.undoFor(a, vote)
	if err != nil {
		return nil, err
	}
	if err := t.addVote(vote); err != nil {
		return nil, err
	}
	if vote.BrokeGlass() {
		if err := t.breakGlass(vote); err != nil {
			return nil, err
		}
	}
	switch {
	case window > 0:
		return t.holdForUndo(actor, a, vote, window, in.Budget)
	case a.UpstreamID != nil:
		if a, err = t.hold(actor, a, vote, 0); err != nil {
			return nil, err
		}
		return a, t.applyBudget(actor, a, budget)
	}
	if s != nil { // each signature has its entry, and the outcome one of its own
		if err := t.recordSignature(actor, a, vote, s.after); err != nil {
			return nil, err
		}
	}
	if a, err = t.settleByVote(actor, a, vote); err != nil {
		return nil, err
	}
	return a, t.applyBudget(actor, a, budget)
}

// conflictOf refuses a request that can't be decided any more, with the current row.
func conflictOf(a *models.Approval) error {
	switch a.Status() {
	case models.StatusPending:
		if a.HeldUntil == nil {
			return nil
		}
		return &models.Error{Code: models.CodeBeingDecided, Text: "A decision on this request is on its way.", Approval: a}
	case models.StatusExpired:
		return &models.Error{Code: models.CodeExpired, Text: "This request has expired: " + a.Feedback() + ".", Approval: a}
	case models.StatusNone, models.StatusApproved, models.StatusRejected, models.StatusCancelled, models.StatusResolved,
		models.StatusRan:
	}
	return &models.Error{Code: models.CodeAlreadyDecided, Text: settledText(a), Approval: a}
}

func settledText(a *models.Approval) string {
	switch {
	case a.Status() == models.StatusNone:
		return "This request needed no approval; it was allowed."
	case a.Status() == models.StatusRan:
		return "This call ran without an answer; there is nothing left to decide."
	case a.Vote != nil:
		return fmt.Sprintf("This request was already %s by %s.", a.Status(), a.Vote.UserName)
	}
	return fmt.Sprintf("This request was already %s.", a.Status())
}

// conflict is conflictOf, and names whose verdict is on its way.
func (t *Tx) conflict(a *models.Approval) error {
	err := conflictOf(requests.At(a, t.Now))
	if models.ErrorCode(err) != models.CodeBeingDecided {
		return err
	}
	vote, voteErr := t.heldVote(a.ID)
	if voteErr != nil || vote == nil {
		return errors.Join(voteErr, err)
	}
	a.Vote = requests.WindowAt(vote, t.Now)
	return &models.Error{
		Code: models.CodeBeingDecided, Text: "The decision of " + vote.UserName + " on this request is on its way.",
		Approval: a,
	}
}

func (t *Tx) addVote(v *models.Vote) error {
	if _, err := t.Insert(insertVote, t.s.hot.addWholeVote, t.s.hot.addVote, v); err != nil {
		return fmt.Errorf("store vote: %w", err)
	}
	t.Adds("votes", v.ID)
	return nil
}

// settleByVote makes a vote the outcome.
func (t *Tx) settleByVote(actor models.Actor, a *models.Approval, v *models.Vote) (*models.Approval, error) {
	status := models.StatusApproved
	if v.Verdict == models.VerdictReject {
		status = models.StatusRejected
	}
	when, by := t.Now, v.UserID
	a.ApprovalStatus, a.ApprovalTimestamp, a.ApprovalFeedback, a.Cause = &status, &when, models.FeedbackOf(v.Reason), models.CauseReviewer
	a.DecidedBy, a.VoteID, a.Vote = &by, &v.ID, v
	switch {
	case v.Answer != nil:
		a.Answer = *v.Answer
	case v.Option != nil:
		a.Answer = *v.Option
	}
	settle := t.settle
	if a.HeldUntil != nil {
		settle = t.settleHeld
	}
	votes, err := t.signedBy(a, v)
	if err != nil {
		return nil, err
	}
	left, err := settle(actor, a)
	if err != nil {
		return nil, err
	}
	if err := t.Record(actor, "approval."+string(status), ledger.SubjectOf(&a.Response, left.readers), settledEntry{
		Digest: a.Digest, Status: status, Cause: a.Cause, Verdict: v.Verdict, Edited: v.InputDigest,
		Reason: models.DigestOfText(v.Reason), Answer: models.DigestOfText(a.Answer), Seen: v.SeenDigest != "",
		Checked: v.Ticked(), Behalf: v.BehalfOf, ForName: v.BehalfName, Votes: votes, BrokeGlass: v.BrokeGlass(),
		Conversation: waitEnds(left.runs),
	}); err != nil {
		return nil, err
	}
	return a, t.Cascade(actor, a)
}

// settledEntry is what the ledger says about an outcome: it has digests of people's words; the words themselves are in
// votes.
type settledEntry struct {
	Digest  string         `json:"digest"`
	Status  models.Status  `json:"status"`
	Cause   models.Cause   `json:"cause"`
	Verdict models.Verdict `json:"verdict,omitempty"`
	Edited  *string        `json:"edited_digest,omitempty"`
	Reason  string         `json:"reason_digest,omitempty"`
	Answer  string         `json:"answer_digest,omitempty"`
	Seen    bool           `json:"digest_seen,omitempty"`
	Checked []int          `json:"checked,omitempty"` // the items of the checklist that were ticked
	Behalf  models.UserID  `json:"on_behalf_of,omitempty"`
	ForName string         `json:"on_behalf_name,omitempty"`

	// Of a verdict that is held: which, and until when.
	Vote  models.VoteID `json:"vote,omitempty"`
	Until string        `json:"held_until,omitempty"`

	// Of a request that several people sign: how many have with this signature, and of how many; at the outcome, the
	// votes that it rests on.
	Have  int             `json:"have,omitzero"`
	Need  int             `json:"need,omitzero"`
	Votes []models.VoteID `json:"votes,omitempty"`

	// Of a vote that broke glass: how many others it did without, and who they are.
	BrokeGlass   bool               `json:"broke_glass,omitzero"`
	SkippedCount int                `json:"skipped_count,omitzero"`
	Skipped      []models.PersonRef `json:"skipped,omitempty"`

	// Set if the conversation has no other pending request.
	Conversation *models.StatusChange `json:"conversation_status,omitempty"`

	// Of an edit that waits for others: who must approve it too, and to whom the
	// request is routed now.
	WaitsFor  string          `json:"waits_for_digest,omitempty"`
	Reviewers []models.UserID `json:"reviewers,omitempty"`
}

// ending is what a row that has left pending leaves behind.
type ending struct {
	readers []models.UserID // out of whose inboxes it was taken, beside its owner's
	runs    bool            // its conversation is shown as running now
}

// settle is the one UPDATE that leaves pending, with what hangs on it.
func (t *Tx) settle(actor models.Actor, a *models.Approval) (ending, error) {
	r := &a.Response
	if err := t.Changes("responses", r.ID); err != nil {
		return ending{}, err
	}
	n, err := t.Exec(t.s.hot.settle, r.Status(), r.ApprovalTimestamp, r.ApprovalFeedback, r.Cause, r.DecidedBy, r.VoteID,
		r.Answer, r.ID, t.Now)
	if err != nil {
		return ending{}, fmt.Errorf("settle approval: %w", err)
	}
	if !db.ExactlyOne(n) {
		return ending{}, fmt.Errorf("settle approval %s: it left pending meanwhile", r.ID)
	}
	return t.settled(actor, a)
}

// settled takes a row that has left pending out of the inboxes, tells all who
// wait for it after the commit, and has its conversation go on.
func (t *Tx) settled(actor models.Actor, a *models.Approval) (ending, error) {
	out, err := t.clearInboxes(a)
	if err != nil {
		return ending{}, err
	}
	if err := t.noticesEnd(a); err != nil {
		return ending{}, err
	}
	if err := t.escalationEnds(&a.Response); err != nil {
		return ending{}, err
	}
	t.tell(a)
	t.logOutcome(actor, a)
	return out, t.outcomeReached(actor, a)
}

// routedTo finds to whom a request was routed, beside its owner.
func (t *Tx) routedTo(r *models.Response) (out []models.UserID, err error) {
	rows, err := t.Rows(t.s.hot.routedTo, r.ID)
	if err != nil {
		return nil, fmt.Errorf("read reviewers: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var id models.UserID
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("read reviewers: %w", err)
		}
		if id != r.OwnerID {
			out = append(out, id)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read reviewers: %w", err)
	}
	return out, nil
}

// clearInboxes takes a row that has left pending out of the inboxes, by the key of each
// place: its owner's, and those of the people it was routed to.
func (t *Tx) clearInboxes(a *models.Approval) (out ending, err error) {
	t.Publish(events.InboxOfAdmins, events.Approval(string(a.ID)), events.Agent(string(a.AgentID)),
		events.Conversation(string(a.ConversationID)))
	reviewers, err := t.routedTo(&a.Response)
	if err != nil {
		return ending{}, err
	}
	for _, user := range append([]models.UserID{a.OwnerID}, reviewers...) {
		n, err := t.Exec(t.s.hot.dropDecider, user, a.ApprovalTimeoutAt, a.ID)
		if err != nil {
			return ending{}, fmt.Errorf("clear inboxes: %w", err)
		}
		t.Publish(events.InboxOf(string(user)))
		if n == 0 {
			continue // who only sees it
		}
		if user != a.OwnerID {
			out.readers = append(out.readers, user)
		}
	}
	if out.runs, err = t.isRunning(a.ConversationID); err != nil {
		return ending{}, err
	}
	if len(reviewers) == 0 {
		return out, nil
	}
	if _, err := t.Exec(t.s.hot.settleReviewers, a.ApprovalTimestamp, a.ID); err != nil {
		return ending{}, fmt.Errorf("note what was settled for reviewers: %w", err)
	}
	return out, nil
}

// settleReviewers is what the history of those reads whom a request was routed to.
const settleReviewers = `UPDATE reviewers SET settled_at = ? WHERE response_id = ?`
