package store

import (
	"fmt"
	"slices"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
	"countersign/models/people"
	"countersign/models/policy"
)

// quorumOf freezes in a request what its rule demands of several people: people as they are now, groups by name. It
// gives back whom the request names: who signs in a later step has the number of that step.
func (t *Tx) quorumOf(j policy.Judgement, as models.NamedAs) (*models.Quorum, []models.Approver, error) {
	q := &models.Quorum{
		Any: j.Any, Stages: j.Stages, NotAlone: j.SelfApproval == models.SelfNotAlone, RejectCount: j.RejectCount,
		ShowProgress: j.ShowProgress,
	}
	var all []models.Approver
	for i, s := range j.Approvals {
		emails, groups := splitReviewers(s.From)
		found, err := t.named(emails)
		if err != nil {
			return nil, nil, err
		}
		q.Entries = append(q.Entries, models.Signers{From: naming(found, groups, ""), Count: s.Count, Minutes: s.Minutes})
		for _, a := range naming(found, groups, as) {
			if j.Stages {
				a.Step = i
			}
			all = append(all, a)
		}
	}
	return q, all, nil
}

// stepEnds is when the first step of a request ends, at most at its own deadline; false: no step has its own time.
func stepEnds(j policy.Judgement, now, deadline time.Time) (time.Time, bool) {
	if !slices.ContainsFunc(j.Approvals, func(s policy.Signers) bool { return s.Minutes > 0 }) {
		return deadline, false
	}
	return stepEnd(j.Approvals[0].Minutes, now, deadline), true
}

// stepEnd is when a step ends that begins now, with its minutes (0: it has as long as the request).
func stepEnd(minutes int, now, deadline time.Time) time.Time {
	if minutes == 0 {
		return deadline
	}
	return earlier(now.Add(time.Duration(minutes)*time.Minute), deadline)
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

const ownersOf = `SELECT owner_id FROM agents WHERE id = ? UNION SELECT owner_id FROM conversations WHERE id = ?`

// couldSign are the people who may sign a request now: those whom its quorum names, who are enabled, and
// whom its rule does not keep from it. Where it names no one, all who may approve it.
func (t *Tx) couldSign(r *models.Response, reviewers []models.UserID) ([]models.Signer, error) {
	q, who := r.Quorum(), r.Approvers()
	var owners []models.UserID
	if err := t.Gorm().Raw(ownersOf, r.AgentID, r.ConversationID).Scan(&owners).Error; err != nil {
		return nil, fmt.Errorf("read owners: %w", err)
	}
	owners = append(owners, r.OwnerID)
	var named []models.Approver
	for _, e := range q.Entries {
		named = append(named, e.From...)
	}
	switch {
	case len(q.Entries) > 0:
	case who.ReviewersOnly:
		named = append(who.Able(), r.Later().Able()...)
	default:
		named = append(named, r.Later().Able()...)
		for _, id := range append(reviewers, r.OwnerID) {
			named = append(named, models.Approver{ID: id})
		}
		var admins []models.UserID
		if err := t.Gorm().Raw(enabledAdmins).Scan(&admins).Error; err != nil {
			return nil, fmt.Errorf("read admins: %w", err)
		}
		for _, id := range admins {
			named = append(named, models.Approver{ID: id})
		}
	}
	able, err := t.enabledOf(named)
	if err != nil {
		return nil, err
	}
	slices.Sort(able)
	groups := map[models.UserID][]string{}
	if err := people.GroupsOfEach(t.Gorm(), slices.Compact(able), groups); err != nil {
		return nil, err
	}
	var out []models.Signer
	for _, id := range slices.Compact(able) {
		self := slices.Contains(owners, id)
		if self && who.SelfApproval == models.SelfNever {
			continue
		}
		out = append(out, models.Signer{Voter: models.Voter{ID: id, Groups: groups[id]}, By: id, Self: self})
	}
	return out, nil
}

// meetable reports whether enough people are left who could sign a request.
func (t *Tx) meetable(r *models.Response, reviewers []models.UserID) (bool, error) {
	able, err := t.couldSign(r, reviewers)
	return err == nil && r.Quorum().Meetable(able), err
}

const setStranded = `UPDATE responses SET stranded_at = ? WHERE id = ? AND approval_status = 'pending'`

// strandedEntry is what the ledger says of a pending request that not enough people can sign any more, or again.
type strandedEntry struct {
	Digest string `json:"digest"`
	Since  string `json:"since,omitempty"` // empty: they can again
}

// strand notes that not enough people are left who could sign a pending request, or that they are again. It goes on
// waiting, so that an admin can name others; otherwise it expires as no_reviewer.
func (t *Tx) strand(a *models.Approval, reviewers []models.UserID) error {
	able, err := t.meetable(&a.Response, reviewers)
	if err != nil || able == (a.StrandedAt == nil) {
		return err
	}
	a.StrandedAt = nil
	entry, action := strandedEntry{Digest: a.Digest}, "approval.signable"
	if !able {
		a.StrandedAt = new(t.Now)
		entry.Since, action = t.Now.Format(db.TimeFormat), "approval.stranded"
	}
	if err := t.Changes("responses", a.ID); err != nil {
		return err
	}
	res := t.Gorm().Exec(setStranded, a.StrandedAt, a.ID)
	if res.Error != nil {
		return fmt.Errorf("note who could sign: %w", res.Error)
	}
	if !db.ExactlyOne(res.RowsAffected) {
		return fmt.Errorf("note who could sign %s: it left pending meanwhile", a.ID)
	}
	readers, err := t.tellDeciders(a)
	if err != nil {
		return err
	}
	if !able {
		if err := t.tellAdmins(models.NoticeTooFew, a.ID, ""); err != nil {
			return err
		}
	}
	return t.Record(models.System("policy"), action, ledger.SubjectOf(&a.Response, readers), entry)
}

// standingVotes are the votes on a request that wait for others, oldest first.
const standingVotes = `SELECT * FROM votes` + db.ByVotesWaiting +
	` WHERE response_id = ? AND withdrawn_at IS NULL AND waits_for <> '' ORDER BY at, id`

// ballot is the signatures on a request that several people must approve.
type ballot struct {
	quorum  *models.Quorum
	votes   []models.Vote // signatures and rejections that wait for others, oldest first
	signers []models.Signer
	count   models.Count // of the signatures that count now
	after   models.Count // with the vote that is checked
	glass   []models.Approver
}

// ballot reads it, with a signature that holds the request, if one does; nil: one person approves it.
func (c rightsReader) ballot(r *models.Response, held ...models.Vote) (*ballot, error) {
	q := r.Quorum()
	if q == nil {
		return nil, nil //nolint:nilnil // there is nothing to sign
	}
	s := &ballot{quorum: q, glass: r.Approvers().ForGlass()}
	if votes, ok := c.read.signatures(r.ID); ok {
		s.votes = votes
	} else if err := c.q.Raw(standingVotes, r.ID).Scan(&s.votes).Error; err != nil {
		return nil, fmt.Errorf("read signatures: %w", err)
	}
	s.votes = append(slices.Clone(s.votes), held...)
	for _, v := range s.approvals() {
		signer, able, err := c.signer(r, v.UserID, v.BehalfOf)
		if err != nil {
			return nil, err
		}
		if able {
			s.signers = append(s.signers, signer)
		}
	}
	s.signers = models.Distinct(s.signers)
	s.count = q.Count(s.signers)
	return s, nil
}

func (s *ballot) approvals() []models.Vote { return s.of(models.VerdictApprove) }

func (s *ballot) of(verdict models.Verdict) []models.Vote {
	return slices.DeleteFunc(slices.Clone(s.votes), func(v models.Vote) bool { return v.Verdict != verdict })
}

// edit is the signature with the edited input that is signed now; nil: the input is signed as it was asked.
func (s *ballot) edit() *models.Vote {
	if s == nil {
		return nil
	}
	for i := range s.votes {
		if v := &s.votes[i]; v.Verdict == models.VerdictApprove && v.InputDigest != nil {
			return v
		}
	}
	return nil
}

// counts reports whether a signature counts now.
func (s *ballot) counts(v *models.Vote) bool {
	return slices.ContainsFunc(s.signers, func(one models.Signer) bool { return one.By == v.UserID })
}

// own is somebody's vote that waits for others; nil: there is none.
func (s *ballot) own(user models.UserID) *models.Vote {
	for i := range s.votes {
		if s.votes[i].UserID == user {
			return &s.votes[i]
		}
	}
	return nil
}

// signer is somebody as their signature counts on a request now, in their own right or for somebody else; false: it
// does not.
func (c rightsReader) signer(r *models.Response, user, behalf models.UserID) (models.Signer, bool, error) {
	by, err := c.relation(user, r)
	if err != nil {
		return models.Signer{}, false, err
	}
	whose := by
	var able bool
	if behalf == "" {
		able, err = c.mayApprove(by, r)
	} else if able, err = c.actsFor(by, behalf, r); able {
		whose, err = c.relation(behalf, r)
	}
	self := by.Owns || whose.Owns
	if err != nil || !able || self && r.Approvers().SelfApproval == models.SelfNever {
		return models.Signer{}, false, err
	}
	voter, err := c.voter(whose.ID)
	return models.Signer{Voter: voter, By: by.ID, Self: self}, err == nil, err
}

// mine is a person's own signature as it would count; the zero value: it does not.
type mine struct {
	models.Signer

	behalf *models.PersonRef // for whom they sign; nil: in their own right
}

// mine is how somebody's signature would count: in their own right, else for somebody for whom they may act, best for
// one who has not signed.
func (c rightsReader) mine(me relation, r *models.Response, s *ballot) (out mine, err error) {
	own, able, err := c.signer(r, me.ID, "")
	if err != nil || able && s.quorum.Takes(own) {
		return mine{Signer: own}, err
	}
	all, err := c.delegations(r, me.ID)
	if err != nil {
		return mine{}, err
	}
	for _, one := range all {
		proxy, able, err := c.signer(r, me.ID, one.From)
		if err != nil {
			return mine{}, err
		}
		isNew := !slices.ContainsFunc(s.signers, proxy.SameAs)
		if !able || !s.quorum.Takes(proxy) || out.behalf != nil && !isNew {
			continue
		}
		from, err := c.relation(one.From, r)
		if err != nil {
			return mine{}, err
		}
		if out = (mine{proxy, &from.PersonRef}); isNew {
			break
		}
	}
	return out, nil
}

// signRight is what somebody who sees a request that several people must sign may do with it, and why they may not
// sign it; with how their signature would count.
func (c rightsReader) signRight(me relation, r *models.Response, s *ballot) (models.Right, mine, error) {
	out := models.Right{
		Own:      me.Enabled && (me.ID == r.OwnerID || me.Admin || me.Asked),
		Progress: s.count.Progress() + " signed; waiting for " + s.quorum.Wants(s.count),
	}
	my, err := c.mine(me, r, s)
	if err == nil {
		out.BreaksGlass, err = c.breaksGlass(me, r)
	}
	if err != nil {
		return out, my, err
	}
	if own := s.own(me.ID); own != nil && own.Verdict == models.VerdictApprove {
		out.Signed = own
	}
	switch {
	case out.Signed != nil && s.count.Met && my.ID != "":
		// Somebody who could not sign for a time can again, and all needed signatures are there: any of them is the last now.
		out.MayApprove, out.After = true, s.count
	case out.Signed != nil:
		out.Why = "You have signed it."
	case my.ID == "" && me.Owns && r.Approvers().SelfApproval == models.SelfNever:
		out.Why = "You own this agent or its conversation, so you can't sign its request."
	case my.ID == "":
		out.Why = "You are not one of those who sign it."
	case slices.ContainsFunc(s.signers, my.SameAs):
		out.Why = "Somebody has signed it for you, or you for somebody else: nobody signs twice."
	case !s.quorum.Helps(s.signers, my.Signer):
		out.Why = s.notNeeded(my.Signer)
	default:
		out.MayApprove, out.After = true, s.quorum.Count(append(slices.Clone(s.signers), my.Signer))
	}
	if out.MayApprove || !out.Own {
		out.OnBehalf = my.behalf
	}
	out.BreaksGlass = out.BreaksGlass && !out.After.Met // else their own signature settles it
	return out, my, nil
}

// notNeeded says why a signature would not bring a request nearer.
func (s *ballot) notNeeded(one models.Signer) string {
	if s.quorum.Stages && !(&models.Quorum{Entries: s.quorum.Entries[:s.count.Step+1]}).Takes(one) {
		return "It waits for " + s.quorum.Entries[s.count.Step].String() + " first, before you can sign it."
	}
	return "Your signature is not needed: those of whom you are one have signed."
}

// shown is it as pages and clients of people are shown it.
func (s *ballot) shown() *models.Ballot {
	out := &models.Ballot{
		Quorum: *s.quorum, Tally: s.count, Edit: s.edit(), Votes: s.votes, WaitsFor: s.quorum.Wants(s.count),
		Lost: map[models.VoteID]bool{}, Glass: models.Signers{From: s.glass, Count: 1},
	}
	for _, v := range s.approvals() {
		out.Lost[v.ID] = !s.counts(&v)
	}
	return out
}
