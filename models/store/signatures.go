package store

import (
	"fmt"
	"slices"
	"time"

	"countersign/models"
	"countersign/models/ledger"
	"countersign/models/policy"
	"countersign/models/requests"
)

// A signature is a vote that waits for those of others, as its WaitsFor says. The last one that a request takes is its
// verdict: it settles the request, or holds it for its undo window. Whether signatures suffice is counted from all
// that are there, with the rights of now, at each vote and at the release.

// ballot reads the signatures on a request; nil: one person approves it.
func (t *Tx) ballot(r *models.Response) (*ballot, error) {
	if r.QuorumJSON == "" {
		return nil, nil //nolint:nilnil // there is nothing to sign
	}
	c, err := t.rightsReader()
	if err != nil {
		return nil, err
	}
	return c.ballot(r)
}

// asSigned is a decision on the input that is signed now. Where that is an edit, an approval that names another
// digest, or none, was made before somebody else's edit was seen: digest_mismatch.
func (s *ballot) asSigned(a *models.Approval, in models.DecisionInput) (models.DecisionInput, error) {
	edit := s.edit()
	if edit == nil {
		return in, nil
	}
	seen := in.Digest == *edit.InputDigest
	if seen {
		in.Digest = a.Digest
	}
	if in.Approved == nil || !*in.Approved || in.Input != nil {
		return in, nil
	}
	if !seen {
		return in, &models.Error{
			Code:     models.CodeDigestMismatch,
			Text:     edit.UserName + " approved this with another input, and signatures count for that now. Look at it, and send its digest, or the input that you approve.",
			Approval: a,
		}
	}
	in.Input = []byte(*edit.Input)
	return in, nil
}

// sameInput reports whether two approvals are of the same input.
func sameInput(a, b *models.Vote) bool {
	if a.InputDigest == nil || b.InputDigest == nil {
		return a.InputDigest == b.InputDigest
	}
	return *a.InputDigest == *b.InputDigest
}

// checkSigner is checkApprover where several people sign: it refuses a signature that does not count, and notes with
// the vote whether it waits for others. An edit begins another count. not_a_reviewer says why.
func (t *Tx) checkSigner(
	actor models.Actor, a *models.Approval, s *ballot, vote *models.Vote, edited *policy.Judgement,
) error {
	c, err := t.rightsReader()
	if err != nil {
		return err
	}
	if vote.Verdict == models.VerdictReject {
		if err := t.mayReject(actor, a, vote); err != nil {
			return err
		}
		s.after = s.quorum.Count(slices.DeleteFunc(slices.Clone(s.signers), func(one models.Signer) bool { return one.By == vote.UserID }))
		s.checkReject(vote)
		return nil
	}
	if err := t.checkSameSigners(a, edited); err != nil {
		return err
	}
	me, err := c.relation(actor.UserID(), &a.Response)
	if err != nil {
		return err
	}
	right, my, err := c.signRight(me, &a.Response, s)
	if err != nil {
		return err
	}
	signers := s.signers
	switch recounts := !s.isSigned(vote); {
	case my.ID == "", !recounts && !right.MayApprove && right.Signed == nil:
		return models.Errorf(models.CodeNotAReviewer, "%s", right.Why)
	case recounts:
		signers = nil
	}
	if my.behalf != nil {
		vote.BehalfOf, vote.BehalfName = my.behalf.ID, my.behalf.Name
	}
	if s.after = s.quorum.Count(models.Distinct(append(slices.Clone(signers), my.Signer))); !s.after.Met {
		vote.WaitsFor = models.Signed
	}
	return nil
}

// isSigned reports whether an approval is of the input that is signed now.
func (s *ballot) isSigned(vote *models.Vote) bool {
	signed := s.approvals()
	return len(signed) == 0 && vote.InputDigest == nil || len(signed) > 0 && sameInput(&signed[0], vote)
}

// checkReject has a rejection wait for others, where several people reject together.
func (s *ballot) checkReject(vote *models.Vote) {
	rejects := []models.Signer{{Voter: models.Voter{ID: whose(vote)}, By: vote.UserID}}
	for _, v := range s.of(models.VerdictReject) {
		if v.UserID != vote.UserID {
			rejects = append(rejects, models.Signer{Voter: models.Voter{ID: whose(&v)}, By: v.UserID})
		}
	}
	if len(models.Distinct(rejects)) < s.quorum.Rejects() {
		vote.WaitsFor = models.Signed
	}
}

// whose is the person whose vote it is: for whom it was given, else who gave it.
func whose(v *models.Vote) models.UserID {
	if v.BehalfOf != "" {
		return v.BehalfOf
	}
	return v.UserID
}

// checkSameSigners refuses an edit that the policy would now have others sign than the request: their count would not
// be that of either.
func (t *Tx) checkSameSigners(a *models.Approval, edited *policy.Judgement) error {
	switch {
	case edited == nil:
		return nil
	case edited.NoSubstitutes && !a.NoSubstitutes:
		return signedByOthers(edited)
	case !edited.ReviewersOnly && edited.SelfApproval != models.SelfNever && !edited.Signed():
		return nil
	}
	version, _, err := t.Policy()
	if err != nil || version == a.PolicyVersion && edited.Rule == a.PolicyRule {
		return err // the rule of the request itself, and it makes no difference who has come or gone since
	}
	edited.Escalate = nil
	now := models.Response{ID: a.ID, OwnerID: a.OwnerID, AgentID: a.AgentID, ConversationID: a.ConversationID}
	if _, _, err := t.whoDecides(&now, *edited); err != nil {
		return err
	}
	if now.QuorumJSON == withoutUntil(a.Quorum()) && now.ApproversJSON == a.ApproversJSON &&
		now.SelfApproval == a.SelfApproval && now.ReviewersOnly == a.ReviewersOnly {
		return nil
	}
	return signedByOthers(edited)
}

func withoutUntil(q *models.Quorum) string {
	q.Until = time.Time{}
	r := models.Response{}
	r.SetQuorum(q)
	return r.QuorumJSON
}

// signedByOthers refuses an edit whose rule has others sign it.
func signedByOthers(edited *policy.Judgement) error {
	return models.Invalid("input",
		"the edited call falls under the rule “%s”, which has other people sign: reject the request, and have the agent ask for this input",
		edited.Rule)
}

// repeats is the signature that a vote repeats; nil: it is none.
func (s *ballot) repeats(vote *models.Vote) *models.Vote {
	if s == nil || vote.WaitsFor == "" {
		return nil
	}
	own := s.own(vote.UserID)
	if own == nil || own.Verdict != vote.Verdict || vote.Verdict == models.VerdictApprove && !sameInput(own, vote) {
		return nil
	}
	return own
}

const replaceVote = `UPDATE votes SET withdrawn_at = ?, replaced_by = ? WHERE id = ?`

// replace withdraws what a new vote takes the place of: its voter's own, and, if it is an approval of another input,
// all signatures on the one before, whose givers are told that it waits for them again.
func (t *Tx) replace(s *ballot, a *models.Approval, vote *models.Vote) error {
	recounts := vote.Verdict == models.VerdictApprove && !s.isSigned(vote)
	var again []models.UserID // those who must sign again
	for i := range s.votes {
		v, by := &s.votes[i], models.VoteID("")
		switch {
		case v.UserID == vote.UserID:
		case recounts && v.Verdict == models.VerdictApprove:
			by, again = vote.ID, append(again, v.UserID)
		default:
			continue
		}
		if err := t.Changes("votes", v.ID); err != nil {
			return err
		}
		if err := t.Gorm().Exec(replaceVote, t.Now, by, v.ID).Error; err != nil {
			return fmt.Errorf("replace a signature: %w", err)
		}
	}
	w, err := t.recipients()
	if err != nil || w.nobody() {
		return err
	}
	return t.awaits(w, &a.Response, again)
}

// sign stores a signature that waits for others. A step that it completes asks the next.
func (t *Tx) sign(actor models.Actor, a *models.Approval, s *ballot, vote *models.Vote) (*models.Approval, error) {
	if err := t.addVote(vote); err != nil {
		return nil, err
	}
	if err := t.Gorm().Exec(keepWaiting, vote.WaitsFor, vote.ID).Error; err != nil {
		return nil, fmt.Errorf("keep signature: %w", err)
	}
	if err := t.noticesLeave(a.ID, []models.UserID{vote.UserID}); err != nil { // who has signed needs no reminder
		return nil, err
	}
	if err := t.recordSignature(actor, a, vote, s.after); err != nil {
		return nil, err
	}
	if s.quorum.Stages && s.after.Step > a.Escalation {
		if err := t.beginStep(a, s.quorum, s.after.Step); err != nil {
			return nil, err
		}
	}
	a.Vote = vote
	return a, nil
}

// recordSignature writes the one entry of a signature.
func (t *Tx) recordSignature(actor models.Actor, a *models.Approval, vote *models.Vote, count models.Count) error {
	readers, err := t.tellDeciders(a)
	if err != nil {
		return err
	}
	e := votedEntry(a, vote)
	e.Have, e.Need = count.Have, count.Need
	return t.Record(actor, "approval.voted", ledger.SubjectOf(&a.Response, readers), e)
}

// votedEntry is what the ledger says of a vote that is not the outcome yet.
func votedEntry(a *models.Approval, v *models.Vote) settledEntry {
	skipped := v.Skipped()
	return settledEntry{
		Digest: a.Digest, Status: models.StatusPending, Verdict: v.Verdict, Edited: v.InputDigest,
		Reason: models.DigestOfText(v.Reason), Seen: v.SeenDigest != "", Checked: v.Ticked(), Behalf: v.BehalfOf,
		ForName: v.BehalfName, Vote: v.ID,
		BrokeGlass: v.BrokeGlass(), SkippedCount: len(skipped), Skipped: skipped,
	}
}

// beginStep asks those who sign next, and gives them their time.
func (t *Tx) beginStep(a *models.Approval, q *models.Quorum, step int) error {
	if err := t.takeStep(a, step); err != nil {
		return err
	}
	if q.Until.IsZero() {
		return nil // no step has its own time
	}
	to, err := t.stepClock(a, q, q.Entries[step].Minutes)
	if err != nil {
		return err
	}
	if to.same(clockOf(a)) {
		return nil
	}
	return t.extend(models.System("policy"), a, to)
}

// stepClock is the clock of a request whose next step begins now. The step has its minutes, within the rest of the
// request's own time, which questions stop as they stop that of a step.
func (t *Tx) stepClock(a *models.Approval, q *models.Quorum, minutes int) (clock, error) {
	to, last := clockOf(a), q.Until
	if q.Until.Before(models.NoDeadline) {
		notes, err := readNotes(t.Gorm(), a.ID)
		if err != nil {
			return to, err
		}
		last = last.Add(models.Paused(notes, t.Now))
	}
	ends := a.ApprovalTimeoutAt // later than last where somebody extended it
	if a.PausedLeft != nil {
		ends = t.Now.Add(time.Duration(*a.PausedLeft) * time.Second)
	}
	if a.HasDeadline() && ends.After(last) {
		last = ends
	}
	ends = stepEnd(minutes, t.Now, last)
	switch {
	case a.OpenNote == nil:
		to.deadline = ends
	case ends.Before(models.NoDeadline):
		to.left = new(secondsUntil(ends, t.Now)) // from the answer on
	default:
		to.left = nil
	}
	return to, nil
}

// signedBy names the signatures that an outcome rests on, the last one included, and withdraws the others.
func (t *Tx) signedBy(a *models.Approval, vote *models.Vote) ([]models.VoteID, error) {
	if a.QuorumJSON == "" {
		return nil, nil
	}
	s, err := t.ballot(&a.Response)
	if err != nil {
		return nil, err
	}
	var out []models.VoteID
	for _, v := range s.of(vote.Verdict) {
		if vote.Verdict == models.VerdictReject || s.counts(&v) {
			out = append(out, v.ID)
			continue
		}
		// Who gave it may not sign any more: the outcome does not rest on it.
		if _, err := t.withdrawEach(`SELECT id FROM votes WHERE id = ?`, v.ID); err != nil {
			return nil, err
		}
	}
	return append(out, vote.ID), nil
}

// short says why the signatures on a held request do not suffice any more; empty: they do.
func (t *Tx) short(a *models.Approval, vote *models.Vote) (string, error) {
	c, err := t.rightsReader()
	if err != nil {
		return "", err
	}
	if vote.BrokeGlass() {
		me, err := c.relation(vote.UserID, &a.Response)
		if err != nil {
			return "", err
		}
		if still, err := c.breaksGlass(me, &a.Response); err != nil || still {
			return "", err
		}
		return vote.UserName + " broke glass and was no longer allowed to when the decision was to take effect.", nil
	}
	s, err := c.ballot(&a.Response, *vote)
	if err != nil || s.count.Met {
		return "", err
	}
	return "Of the signatures on it only " + s.count.Progress() + " count now: somebody who signed it may not any more.", nil
}

// unsign takes back a signature on a request that the last one holds. That one waits again with the others.
func (t *Tx) unsign(actor models.Actor, a *models.Approval, last *models.Vote) error {
	if err := t.CheckOverrule(a); err != nil {
		return err
	}
	if _, err := t.withdrawEach(waitingOf, a.ID, actor.UserID()); err != nil {
		return err
	}
	return t.reopen(actor, a, last)
}

const waitAgain = `UPDATE votes SET waits_for = ?, undo_until = NULL, budget_set = NULL, budget_delta = NULL WHERE id = ?`

// reopen has the last signature on a held request wait with the others: they do not suffice any more.
func (t *Tx) reopen(actor models.Actor, a *models.Approval, last *models.Vote) error {
	if err := t.endDelivery(a); err != nil {
		return err
	}
	if err := t.Changes("votes", last.ID); err != nil {
		return err
	}
	if err := t.Gorm().Exec(waitAgain, models.Signed, last.ID).Error; err != nil {
		return fmt.Errorf("have a signature wait again: %w", err)
	}
	return t.waitsAgain(actor, a, last)
}

// mayUnsign reports whether somebody has signed a request that another's signature holds.
func (t *Tx) mayUnsign(actor models.Actor, a *models.Approval) (bool, error) {
	s, err := t.ballot(&a.Response)
	if err != nil || s == nil {
		return false, err
	}
	own := s.own(actor.UserID())
	return own != nil && own.Verdict == models.VerdictApprove, nil
}

// windowOver is the state of a held verdict for somebody who may not undo it any more.
func windowOver(a *models.Approval, vote *models.Vote, now time.Time) error {
	a.Vote = requests.WindowAt(vote, now)
	return &models.Error{Code: models.CodeBeingDecided, Text: "It is too late to undo this approval.", Approval: a}
}
