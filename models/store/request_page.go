package store

import (
	"context"
	"errors"
	"fmt"

	"countersign/models"
	"countersign/models/db"
)

// nearInBatch is how far from a request the calls of its batch are looked for: what was
// queued at once stands together, or nearly so.
const nearInBatch = 25

// errPastDeadline ends a snapshot in which a request is pending past its deadline.
var errPastDeadline = errors.New("pending past its deadline")

// RequestPage reads what a person is shown of one request, in one read transaction: no
// page mixes two states. next says whether another that waits is wanted.
//
// Codes: forbidden (people only), not_found.
func (s *Store) RequestPage(ctx context.Context, actor models.Actor, id models.ResponseID, next bool) (*models.RequestPage, error) {
	if !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only a person reads the page of a request.")
	}
	page, err := s.requestPage(ctx, actor, id, next, false)
	if errors.Is(err, errPastDeadline) {
		// As in Approval: a decision that came in time may be on its way to the disk, and
		// only a later snapshot has it (I1).
		s.db.AwaitCurrentTx()
		page, err = s.requestPage(ctx, actor, id, next, true)
	}
	if err != nil {
		return nil, err
	}
	page.Presence = s.Presence(id)
	return page, nil
}

func (s *Store) requestPage(ctx context.Context, actor models.Actor, id models.ResponseID, next, late bool) (*models.RequestPage, error) {
	var p models.RequestPage
	now := s.db.Now() // before the read: what is decided afterwards is not late by it
	err := s.db.Snapshot(ctx, func(ctx context.Context) error {
		a, err := s.readApproval(ctx, id)
		if err != nil {
			return err
		}
		if a.PastDeadline(now) && !late {
			return errPastDeadline
		}
		if a, err = s.approvalFor(ctx, actor, a, now); err != nil {
			return err
		}
		p.Approval, p.SeesConversation = *a, owns(actor, &models.Conversation{OwnerID: a.OwnerID})
		if p.Turns, err = s.turns(ctx, a.ConversationID, a.Sequence, MaxRoutedTurns); err != nil {
			return err
		}
		origins, err := s.Origins(ctx, actor, id)
		if err != nil {
			return err
		}
		p.Origin = origins[id]
		if err := s.around(ctx, actor, a, &p.Around); err != nil {
			return err
		}
		if err := s.pageBudget(ctx, actor, a, &p); err != nil {
			return err
		}
		if err := s.pageActing(ctx, actor, a, p.Around.Proposed, &p.Acting); err != nil {
			return err
		}
		return s.pageCalls(ctx, actor, a, &p, next)
	})
	if err != nil {
		return nil, err
	}
	return &p, nil
}

// pageBudget reads what a decider has to know of the budget, for those who may change
// it: whom a request was only routed to sees that request and no more.
func (s *Store) pageBudget(ctx context.Context, actor models.Actor, a *models.Approval, p *models.RequestPage) (err error) {
	if !a.Kind.Spoken() || !p.SeesConversation {
		return nil
	}
	if a.AsksForAllowance() {
		p.AgentBudget, err = s.AgentBudget(ctx, actor, a.AgentID)
		return err
	}
	conv, err := s.Conversation(ctx, actor, a.ConversationID)
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

// pageCalls reads the request's batch, its result, and for one that is not pending any
// more another that waits.
func (s *Store) pageCalls(ctx context.Context, actor models.Actor, a *models.Approval, p *models.RequestPage, next bool) (err error) {
	if a.BatchID != nil && p.SeesConversation {
		if p.Calls, err = s.runDetails(ctx, a.ConversationID, max(1, a.Sequence-nearInBatch), a.Sequence+nearInBatch); err != nil {
			return err
		}
	}
	if a.Status() == models.StatusPending {
		return nil
	}
	if a.Kind == models.KindToolCall && a.IsCompleted {
		if p.Result, err = callResult(s.db.Gorm(ctx), a.ID); err != nil {
			return err
		}
	}
	if !next {
		return nil
	}
	waiting, err := s.Inbox(ctx, actor, InboxQuery{Limit: 1})
	if len(waiting.Items) > 0 {
		p.Next = &waiting.Items[0]
	}
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
	return s.write(ctx, func(t *tx) error {
		if _, err := t.approval(actor, id); err != nil {
			return err
		}
		if err := t.Gorm().Exec(sawRequest+db.OrReplace("active_at"), id, actor.UserID(), t.Now, t.Now).Error; err != nil {
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
	return s.write(ctx, func(t *tx) error { return t.activeAtDesk(actor) })
}

func (t *tx) activeAtDesk(actor models.Actor) error {
	if err := t.Gorm().Exec(atDesk+db.OrReplace("active_at"), actor.UserID(), t.Now).Error; err != nil {
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
func (c rightsReader) releases(me relation, a *models.Approval, proposed []models.Vote, p *models.ActingPage) error {
	p.Releases = make(map[models.VoteID]bool, len(proposed))
	for i := range proposed {
		v := &proposed[i]
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
func (s *Store) pageActing(ctx context.Context, actor models.Actor, a *models.Approval, proposed []models.Vote, p *models.ActingPage) error {
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
	if p.Right, err = c.right(me, &a.Response); err != nil {
		return err
	}
	if err := c.releases(me, a, proposed, p); err != nil {
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
			p.Delegations = append(p.Delegations, models.Delegation{From: models.PersonRef{ID: h.FromUser, Name: h.FromName}, HandOver: h})
		}
	}
	return nil
}
