package store

import (
	"context"
	"fmt"

	"countersign/models"
)

const nextStepOf = `SELECT * FROM escalations WHERE response_id = ? ORDER BY step LIMIT 1`

// pageAbsences adds for whom the reader has a request because they are away.
func (c court) pageAbsences(actor models.Actor, a *models.Approval, p *models.ActingPage) error {
	all, err := c.came(&a.Response, actor.UserID())
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.Absence == nil {
			continue
		}
		from, err := c.standing(one.From, &a.Response)
		if err != nil {
			return err
		}
		p.Came = append(p.Came, models.Came{From: from.PersonRef, Absence: one.Absence})
	}
	return nil
}

// releases notes which of the proposed edits would count with somebody's approval.
func (c court) releases(me standing, a *models.Approval, proposed []models.Vote, p *models.ActingPage) error {
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
		p.Releases[v.ID] = able
	}
	return nil
}

// pageActing reads what the reader of a pending request may do, who acts for others on it, and
// who is asked next. proposed are the edits that wait for others.
func (s *Store) pageActing(ctx context.Context, actor models.Actor, a *models.Approval, proposed []models.Vote, p *models.ActingPage) error {
	if a.Status() != models.StatusPending {
		return nil
	}
	c, err := s.court(ctx)
	if err != nil {
		return err
	}
	me, err := c.standing(actor.UserID(), &a.Response)
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
			p.Came = append(p.Came, models.Came{From: models.PersonRef{ID: h.FromUser, Name: h.FromName}, HandOver: h})
		}
	}
	return nil
}
