package store

import (
	"context"
	"fmt"

	"countersign/models"
)

const nextStepOf = `SELECT * FROM escalations WHERE response_id = ? ORDER BY step LIMIT 1`

// pageAbsences adds for whom the reader has a request because they are away.
func (c court) pageAbsences(actor models.Actor, a *models.Approval, p *models.ActingPage) error {
	all, err := c.came(&a.Response)
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.Absence == nil || one.To != actor.UserID() {
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

// pageActing reads who acts for others on a pending request, and who is asked next.
func (s *Store) pageActing(ctx context.Context, actor models.Actor, a *models.Approval, p *models.ActingPage) error {
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
	if p.MayApprove, err = c.mayApprove(me, &a.Response); err != nil {
		return err
	}
	if !p.MayApprove {
		if p.OnBehalf, err = c.behalf(me, &a.Response); err != nil {
			return err
		}
		p.MayApprove = p.OnBehalf != nil
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
