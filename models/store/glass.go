package store

import (
	"fmt"
	"slices"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
	"countersign/models/policy"
)

// Breaking glass. One of those whom a rule names for it decides alone, with a reason, what several people sign. They
// see the request from the beginning without being asked: their rows of reviewers are those of people who have it for
// others, and they have no row of deciders.

// breaksGlass reports whether somebody may decide a request alone now: in their own right, and not as one who owns the
// agent or the conversation where those may not approve alone.
func (c rightsReader) breaksGlass(p relation, r *models.Response) (bool, error) {
	if !p.Enabled || !r.TakesGlass() {
		return false, nil
	}
	who := r.Approvers()
	if p.Owns && who.SelfApproval != "" && who.SelfApproval != models.SelfAllowed {
		return false, nil
	}
	as, err := c.voter(p.ID)
	return err == nil && who.LetsBreakGlass(as), err
}

// checkGlass is checkSigner for a vote that breaks glass: it notes with it whose signatures it does without. Codes:
// not_a_reviewer, comment_required, invalid.
func (t *Tx) checkGlass(
	actor models.Actor, a *models.Approval, s *ballot, vote *models.Vote, edited *policy.Judgement,
) error {
	if s == nil {
		return models.Invalid("breakGlass", "can only be set for a request that several people sign")
	}
	c, err := t.rightsReader()
	if err != nil {
		return err
	}
	me, err := c.relation(actor.UserID(), &a.Response)
	if err != nil {
		return err
	}
	right, _, err := c.signRight(me, &a.Response, s)
	if err != nil {
		return err
	}
	may, err := c.breaksGlass(me, &a.Response)
	switch {
	case err != nil:
		return err
	case vote.Verdict == models.VerdictApprove && right.After.Met:
		return models.Invalid("breakGlass", "is not needed: your signature is the last")
	case !may:
		return models.Errorf(models.CodeNotAReviewer, "You are not one of those who may break glass on this request.")
	case models.Letters(vote.Reason) < models.MinGlassReason:
		return &models.Error{
			Code: models.CodeCommentRequired, Text: "Breaking glass takes a reason.",
			Fields: map[string]string{"reason": fmt.Sprintf("must have at least %d letters: why can't it wait for the others?", models.MinGlassReason)},
		}
	}
	if vote.Verdict != models.VerdictReject {
		if err := t.checkSameSigners(a, edited); err != nil {
			return err
		}
	}
	could, err := t.couldSign(&a.Response, nil)
	if err != nil {
		return err
	}
	var skipped []models.UserID
	for _, one := range could {
		if one.ID != me.ID && !slices.ContainsFunc(s.signers, one.SameAs) {
			skipped = append(skipped, one.ID)
		}
	}
	var people []models.PersonRef
	if err := t.Gorm().Raw(namesOf, skipped).Scan(&people).Error; err != nil {
		return fmt.Errorf("read who is skipped: %w", err)
	}
	vote.Skip(people)
	s.after = s.count
	return nil
}

const (
	namesOf     = `SELECT id, name FROM users WHERE id IN ? ORDER BY name, id`
	keepSkipped = `UPDATE votes SET skipped = ? WHERE id = ?`
)

// breakGlass keeps whose signatures a vote does without, and has them and all admins told at once.
func (t *Tx) breakGlass(vote *models.Vote) error {
	if err := t.Gorm().Exec(keepSkipped, vote.SkippedJSON, vote.ID).Error; err != nil {
		return fmt.Errorf("keep who was skipped: %w", err)
	}
	var tell []models.UserID
	if err := t.Gorm().Raw(enabledAdmins).Scan(&tell).Error; err != nil {
		return fmt.Errorf("read admins: %w", err)
	}
	for _, p := range vote.Skipped() {
		if !slices.Contains(tell, p.ID) {
			tell = append(tell, p.ID)
		}
	}
	for _, id := range tell {
		if id == vote.UserID {
			continue
		}
		if _, err := t.tellBy(channelsOfPerson, id, models.NoticeBreakGlass, vote.ResponseID, models.ChannelID(vote.ID)); err != nil {
			return err
		}
	}
	return nil
}

// admit lets those see a pending request who may break glass on it or only read it, and gives back who did not before.
// They are not asked: their inbox has it among what they only see, and they are not told. An entry that follows says that the request goes to them.
func (t *Tx) admit(r *models.Response) (came []models.UserID, err error) {
	if !r.Admits() || r.Status() != models.StatusPending {
		return nil, nil
	}
	able, err := t.enabledOf(r.Approvers().Beside())
	if err != nil {
		return nil, err
	}
	for _, id := range able {
		has, err := db.Exists(t.Row(t.s.hot.isReviewer, id, r.ID))
		if err != nil {
			return nil, err
		}
		if has || id == r.OwnerID {
			continue
		}
		if err := t.Changes("responses", r.ID); err != nil {
			return nil, err
		}
		if _, err := t.Exec(t.s.hot.addReviewer, id, r.ID); err != nil {
			return nil, fmt.Errorf("admit somebody: %w", err)
		}
		if err := t.Gorm().Exec(markForOther, id, r.ID).Error; err != nil {
			return nil, fmt.Errorf("admit somebody: %w", err)
		}
		t.Publish(events.InboxOf(string(id)))
		came = append(came, id)
	}
	return came, nil
}

// admitLater is admit after the ask, with its entries.
func (t *Tx) admitLater(actor models.Actor, a *models.Approval) error {
	came, err := t.admit(&a.Response)
	for _, id := range came {
		if err := t.Record(actor, "approval.routed", ledger.SubjectOf(&a.Response, []models.UserID{id}),
			routedEntry{Digest: a.Digest, Joined: id}); err != nil {
			return err
		}
	}
	return err
}
