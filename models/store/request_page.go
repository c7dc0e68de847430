package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/policy"
	"countersign/models/requests"
)

// RequestPage reads what a person is shown of one request, in one read transaction: no
// page mixes two states. next says whether another that waits is wanted.
//
// Codes: forbidden (people only), not_found.
func (s *Store) RequestPage(
	ctx context.Context, actor models.Actor, id models.ResponseID, next bool,
) (*models.RequestPage, error) {
	page, err := s.Requests.Page(ctx, actor, id, next, func(ctx context.Context, p *models.RequestPage) error {
		if err := s.around(ctx, &p.Approval, &p.Around); err != nil {
			return err
		}
		if err := s.pageBudget(ctx, actor, &p.Approval, p); err != nil {
			return err
		}
		return s.pageActing(ctx, actor, &p.Approval, p.Around.Proposals, &p.Substitution)
	})
	if err != nil {
		return nil, err
	}
	agents, err := s.Presences(ctx, id)
	page.Presence = agents[id]
	return page, err
}

// pageBudget reads what a decider has to know of the budget, for those who may change
// it: whom a request was only routed to sees that request and no more.
func (s *Store) pageBudget(
	ctx context.Context, actor models.Actor, a *models.Approval, p *models.RequestPage,
) (err error) {
	if !a.Kind.Spoken() || !p.SeesConversation {
		return nil
	}
	if a.AsksForAllowance() {
		p.AgentBudget, err = s.AgentBudget(ctx, actor, a.AgentID)
		return err
	}
	conv, err := s.Requests.Conversation(ctx, actor, a.ConversationID)
	if err != nil {
		return err
	}
	p.Budget = new(conv.Budget())
	if a.Kind != models.KindBudget {
		return nil
	}
	if p.Points, err = s.energyOf(ctx, conv, models.BurnPoints); err != nil {
		return err
	}
	p.Shares, err = s.energyBy(ctx, conv, models.SharesRead)
	return err
}

const sawRequest = `INSERT INTO seen (response_id, user_id, first_at, active_at) VALUES (?, ?, ?, ?)`

// Saw notes that a person has a request before them and is active: they are not told of it
// within models.ActiveFor. People only, else CodeForbidden; CodeNotFound for what they may
// not see.
func (s *Store) Saw(ctx context.Context, actor models.Actor, id models.ResponseID) error {
	if !actor.IsPerson() {
		return models.Errorf(models.CodeForbidden, "Only a person looks at a request.")
	}
	return s.write(ctx, func(t *Tx) error {
		if _, err := t.Approval(actor, id); err != nil {
			return err
		}
		if err := t.Gorm().Exec(sawRequest+db.OrReplace("response_id, user_id", "active_at"), id, actor.UserID(), t.Now, t.Now).Error; err != nil {
			return fmt.Errorf("note who has seen it: %w", err)
		}
		return t.activeAtDesk(actor)
	})
}

const atDesk = `INSERT INTO desk_active (user_id, active_at) VALUES (?, ?)`

// AtDesk notes that a person is active on a page of the desk: they are sent nothing within
// models.ActiveFor. People only, else CodeForbidden.
func (s *Store) AtDesk(ctx context.Context, actor models.Actor) error {
	if !actor.IsPerson() {
		return models.Errorf(models.CodeForbidden, "Only a person looks at pages.")
	}
	return s.write(ctx, func(t *Tx) error { return t.activeAtDesk(actor) })
}

func (t *Tx) activeAtDesk(actor models.Actor) error {
	if err := t.Gorm().Exec(atDesk+db.OrReplace("user_id", "active_at"), actor.UserID(), t.Now).Error; err != nil {
		return fmt.Errorf("note who has a page open: %w", err)
	}
	return nil
}

const nextStepOf = `SELECT * FROM escalations WHERE response_id = ? ORDER BY step LIMIT 1`

// pageAbsences adds for whom the reader has a request because they are away.
func (c rightsReader) pageAbsences(actor models.Actor, a *models.Approval, p *models.ActingPage) error {
	all, err := c.delegations(&a.Response, actor.UserID())
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.Absence == nil {
			continue
		}
		from, err := c.relation(one.From, &a.Response)
		if err != nil {
			return err
		}
		p.Delegations = append(p.Delegations, models.Delegation{From: from.PersonRef, Absence: one.Absence})
	}
	return nil
}

// releases notes which of the proposed edits would count with somebody's approval.
func (c rightsReader) releases(me relation, a *models.Approval, edits []models.Vote, p *models.ActingPage) error {
	p.Releases = make(map[models.VoteID]bool, len(edits))
	for i := range edits {
		v := &edits[i]
		who, _ := v.Waits()
		may := p.MayApprove
		if !may && p.Own {
			var err error
			if may, err = c.proposalCounts(a, v); err != nil {
				return err
			}
		}
		if !may || v.UserID == me.ID {
			continue
		}
		able, err := c.allows(who, me.ID, &a.Response)
		if err != nil {
			return err
		}
		p.Releases[v.ID] = able && a.TakesEdits()
	}
	return nil
}

// pageActing reads what the reader of a pending request may do, who acts for others on it, and
// who is asked next. proposed are the edits that wait for others.
func (s *Store) pageActing(
	ctx context.Context, actor models.Actor, a *models.Approval, edits []models.Vote, p *models.ActingPage,
) error {
	if a.Status() != models.StatusPending {
		return nil
	}
	c, err := s.rightsReader(ctx)
	if err != nil {
		return err
	}
	me, err := c.relation(actor.UserID(), &a.Response)
	if err != nil {
		return err
	}
	ballot, err := c.ballot(&a.Response)
	if err != nil {
		return err
	}
	if ballot == nil {
		p.Right, err = c.right(me, &a.Response)
	} else if p.Right, _, err = c.signRight(me, &a.Response, ballot); err == nil {
		err = c.pageBallot(me, a, ballot, p)
	}
	if err != nil {
		return err
	}
	if err := c.releases(me, a, edits, p); err != nil {
		return err
	}
	if a.Escalates() {
		var next []models.Escalation
		if err := c.q.Raw(nextStepOf, a.ID).Scan(&next).Error; err != nil {
			return fmt.Errorf("read escalation: %w", err)
		}
		if len(next) > 0 {
			p.NextStep, p.NextTo = &next[0], a.Step(next[0].Step)
		}
	}
	if err := c.q.Raw(handOversOf, a.ID).Scan(&p.HandOvers).Error; err != nil {
		return fmt.Errorf("read hand-overs: %w", err)
	}
	if err := c.pageAbsences(actor, a, p); err != nil {
		return err
	}
	for i := range p.HandOvers {
		if h := &p.HandOvers[i]; h.ToUser == actor.UserID() {
			p.Delegations = append(p.Delegations,
				models.Delegation{From: models.PersonRef{ID: h.FromUser, Name: h.FromName}, HandOver: h})
		}
	}
	return nil
}

const (
	maxOpenedParts = 64 // of one request, by one person
	maxPartName    = 40 // bytes

	partLetters = "abcdefghijklmnopqrstuvwxyz0123456789-"
)

// OpenPart notes that a person has unfolded a part of a request that may be
// decided by them: approving what can do much harm wants all of them. It is
// bookkeeping, and a repeat changes nothing.
//
// Codes: forbidden, not_found, invalid.
func (s *Store) OpenPart(ctx context.Context, actor models.Actor, id models.ResponseID, part string) error {
	if !actor.IsPerson() {
		return models.Errorf(models.CodeForbidden, "Only a person can open the sections of a request.")
	}
	if part == "" || len(part) > maxPartName || strings.Trim(part, partLetters) != "" {
		return models.Invalid("part", "must be 1 to %d lower-case letters, digits and hyphens", maxPartName)
	}
	return s.write(ctx, func(t *Tx) error {
		if _, err := t.Approval(actor, id); err != nil {
			return err
		}
		opened, err := t.openedParts(actor, id)
		if err != nil {
			return err
		}
		if slices.Contains(opened, part) {
			return nil
		}
		if len(opened) >= maxOpenedParts {
			return models.Invalid("part", "is one too many: a request has at most %d", maxOpenedParts)
		}
		if err := t.Gorm().Exec(`INSERT INTO opened_parts (user_id, response_id, part, at) VALUES (?, ?, ?, ?)`, actor.ID, id,
			part, t.Now).Error; err != nil {
			return fmt.Errorf("store opened part: %w", err)
		}
		return nil
	})
}

func (t *Tx) openedParts(actor models.Actor, id models.ResponseID) ([]string, error) {
	var opened []string
	if err := t.Gorm().Raw(requests.OpenedPartsQuery, actor.ID, id).Scan(&opened).Error; err != nil {
		return nil, fmt.Errorf("read opened parts: %w", err)
	}
	return opened, nil
}

// ActorNow is the person of a session with their current rights: roles change while a stream is open. It does not
// count as a use of the session, which may go idle meanwhile. It returns an actor without a session unchanged.
// CodeUnauthenticated when the session has ended.
func (s *Store) ActorNow(ctx context.Context, actor models.Actor) (models.Actor, error) {
	if actor.SessionID == "" {
		return actor, nil
	}
	return s.People.SessionActor(ctx, actor.SessionID)
}

var (
	replacedOf = `SELECT v.*, e.user_name AS editor FROM votes v JOIN votes e ON e.id = v.replaced_by
 WHERE v.response_id = ? AND v.user_id = ? AND v.replaced_by <> '' ORDER BY v.at DESC, v.id DESC LIMIT 1`
	// seatsOf are people by id and the members of groups by name, on a request, with those who may not decide.
	seatsOf = `SELECT ` + relationColumns + `
 FROM responses r JOIN conversations c ON c.id = r.conversation_id JOIN agents a ON a.id = r.agent_id
 JOIN users u ON u.id IN (SELECT p.id FROM users p WHERE p.id IN ? UNION
  SELECT m.user_id FROM groups g JOIN group_members m ON m.group_id = g.id
  WHERE g.name IN ? AND g.removed_at IS NULL AND m.left_at IS NULL)
 WHERE r.id = ? ORDER BY u.name, u.id LIMIT ?`
)

// seatsMost is how many people of an entry the page names.
const seatsMost = 50

// pageBallot reads what the page of a request says of its signatures.
func (c rightsReader) pageBallot(me relation, a *models.Approval, s *ballot, p *models.ActingPage) error {
	p.Ballot = s.shown()
	for i := range s.quorum.Entries {
		seats, err := c.seats(a, s, i)
		if err != nil {
			return err
		}
		p.Seats = append(p.Seats, seats)
	}
	if p.Signed != nil || s.edit() == nil {
		return nil
	}
	var older []struct {
		models.Vote

		Editor string
	}
	if err := c.q.Raw(replacedOf, a.ID, me.ID).Scan(&older).Error; err != nil {
		return fmt.Errorf("read what an edit replaced: %w", err)
	}
	if len(older) > 0 {
		p.Editor = older[0].Editor
	}
	return nil
}

// seats are the people of one entry, by their names.
func (c rightsReader) seats(a *models.Approval, s *ballot, entry int) ([]models.Seat, error) {
	var ids []models.UserID
	var groups []string
	for _, who := range s.quorum.Entries[entry].From {
		if who.Group != "" {
			groups = append(groups, who.Group)
		} else {
			ids = append(ids, who.ID)
		}
	}
	var people []relation
	if err := c.q.Raw(seatsOf, ids, groups, a.ID, seatsMost).Scan(&people).Error; err != nil {
		return nil, fmt.Errorf("read who may sign: %w", err)
	}
	never := a.Approvers().SelfApproval == models.SelfNever
	out := make([]models.Seat, 0, len(people))
	for _, p := range people {
		seat := models.Seat{PersonRef: p.PersonRef, Signed: s.signedFor(p.ID), Substitute: c.substituteOf(p.ID)}
		switch {
		case !p.Enabled:
			seat.Why = "disabled"
		case p.Owns && never:
			seat.Why = "own request"
		}
		out = append(out, seat)
	}
	return out, nil
}

// signedFor is the signature by which somebody has signed, or somebody else for them; nil: there is none.
func (s *ballot) signedFor(user models.UserID) *models.Vote {
	for i := range s.votes {
		if v := &s.votes[i]; v.Verdict == models.VerdictApprove && (v.UserID == user || v.BehalfOf == user) {
			return v
		}
	}
	return nil
}

// substituteOf names who acts for somebody who is away; empty: no one.
func (c rightsReader) substituteOf(user models.UserID) string {
	for i := range c.absences {
		if a := &c.absences[i]; a.UserID == user && a.SubstituteID != "" && a.Runs(c.now) {
			return a.SubstituteName
		}
	}
	return ""
}

// around reads what the policy says of a request by now, the edits that wait, and the notes.
func (s *Store) around(ctx context.Context, a *models.Approval, out *models.Around) (err error) {
	if err := s.aroundPolicy(ctx, a, out); err != nil {
		return err
	}
	if a.QuorumJSON == "" && a.Status() == models.StatusPending {
		if err := s.db.Gorm(ctx).Raw(waitingEdits, a.ID).Scan(&out.Proposals).Error; err != nil {
			return fmt.Errorf("read proposed edits: %w", err)
		}
	}
	out.Notes, err = s.notes(ctx, a.ID)
	return err
}

// aroundPolicy says what the policy allows with the request, and what it would say
// of it if it came now.
func (s *Store) aroundPolicy(ctx context.Context, a *models.Approval, out *models.Around) error {
	now, err := s.CurrentPolicy(ctx)
	if err != nil {
		return err
	}
	doc := now.Program.Document()
	if a.UpstreamID == nil {
		out.UndoFor = doc.UndoSeconds.For(a.Risk)
		out.MaxPause = time.Duration(doc.MaxPauseMinutes) * time.Minute
		out.MaxTimeout = time.Duration(doc.MaxTimeoutMinutes) * time.Minute
	}
	out.GrantsEnabled, out.GrantMaxHours, out.GrantMaxUses = doc.GrantsEnabled, doc.GrantMaxHours, doc.GrantMaxUses
	if a.PolicyVersion == 0 {
		return nil // nothing was judged
	}
	then := now
	if a.PolicyVersion != now.Version {
		var row models.Policy
		if err := s.db.Gorm(ctx).Where("version = ?", a.PolicyVersion).Take(&row).Error; err != nil {
			return fmt.Errorf("read policy: %w", err)
		}
		if then, err = s.compile(row); err != nil {
			return err
		}
	}
	out.RejectReasons = then.Program.RejectReasons(a.PolicyRule, a.Template)
	out.PolicyChange = then.Version != now.Version
	call, err := s.CallOf(ctx, a)
	if err != nil {
		return err
	}
	was := then.Program.Judge(call)
	if at := s.Now(); now.Program.GateOff(call.At) && !now.Program.GateOff(at) {
		call.At = at // it was off at the time of the ask, and is on by now
	}
	j := now.Program.Judge(call)
	out.Now = models.PolicyResult{
		Effect: string(j.Effect), Rule: j.Rule, Reason: j.Reason, Risk: j.Risk, Version: now.Version,
		Differs: j.Effect != was.Effect || j.Rule != was.Rule || j.Reason != was.Reason || j.Risk != was.Risk ||
			j.ReviewersOnly != was.ReviewersOnly || j.SelfApproval != was.SelfApproval ||
			j.ReviewersOnly && !slices.Equal(j.Reviewers, was.Reviewers) || !policy.SameEscalation(j.Escalate, was.Escalate) ||
			!j.Quorum.Same(was.Quorum) || j.NoSubstitutes != was.NoSubstitutes || !slices.Equal(j.Only, was.Only) ||
			!slices.Equal(j.Checklist, was.Checklist),
	}
	return nil
}
