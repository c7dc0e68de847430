package store

import (
	"fmt"
	"maps"
	"slices"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
)

const (
	forOthersOf  = `SELECT user_id FROM reviewers` + db.ByReviewersForOthers + ` WHERE response_id = ? AND for_others ORDER BY user_id`
	markForOther = `UPDATE reviewers SET for_others = TRUE WHERE user_id = ? AND response_id = ?`
	askedNow     = `UPDATE reviewers SET for_others = FALSE WHERE user_id IN ? AND response_id = ? AND for_others`
	// toReroute are the pending requests that somebody has for somebody else, or might have.
	toReroute = `SELECT r.id FROM responses r` + db.ByResponsesPending + ` WHERE r.approval_status = 'pending'
 AND (EXISTS (SELECT 1 FROM reviewers v` + db.ByReviewersForOthers + ` WHERE v.response_id = r.id AND v.for_others)
 OR EXISTS (SELECT 1 FROM handovers h WHERE h.response_id = r.id AND h.taken_back_at IS NULL)
 OR EXISTS (SELECT 1 FROM absences x` + db.ByAbsencesOpen + ` CROSS JOIN deciders d ON d.user_id = x.user_id AND d.deadline = r.approval_timeout_at AND d.response_id = r.id
  WHERE x.ended_at IS NULL AND x.substitute_id <> '')) ORDER BY r.id`
)

// noteAsked notes that people who may have had a request for others are asked now.
func (t *tx) noteAsked(id models.ResponseID, users []models.UserID) error {
	w, err := t.acting()
	if err != nil || w.nobodyHas(id) || len(users) == 0 {
		return err
	}
	if err := t.Gorm().Exec(askedNow, users, id).Error; err != nil {
		return fmt.Errorf("note who is asked: %w", err)
	}
	return nil
}

// rerouteAll is reroute of all requests to which it may matter.
func (t *tx) rerouteAll(actor models.Actor) error {
	w, err := t.acting()
	if err != nil || w.nobody() {
		return err
	}
	return t.rerouteEach(actor)
}

func (t *tx) rerouteEach(actor models.Actor) error {
	var ids []models.ResponseID
	if err := t.Gorm().Raw(toReroute).Scan(&ids).Error; err != nil {
		return fmt.Errorf("look for what people have for others: %w", err)
	}
	for _, id := range ids {
		a, err := t.standing(id)
		if err != nil {
			return err
		}
		if err := t.rerouteOne(actor, a); err != nil {
			return err
		}
	}
	return nil
}

// reroute has a pending request be in the inboxes of those who may act on it for others now,
// and of no others. Whose verdict holds it keeps it.
func (t *tx) reroute(actor models.Actor, a *models.Approval) error {
	w, err := t.acting()
	if err != nil || w.nobodyHas(a.ID) || a.Status() != models.StatusPending {
		return err
	}
	return t.rerouteOne(actor, a)
}

func (t *tx) rerouteOne(actor models.Actor, a *models.Approval) error {
	if a.PastDeadline(t.Now) {
		return nil
	}
	c, err := t.rightsReader()
	if err != nil {
		return err
	}
	wanted, err := c.standInsOf(&a.Response)
	if err != nil {
		return err
	}
	var have, idle []models.UserID
	if err := t.Gorm().Raw(forOthersOf, a.ID).Scan(&have).Error; err != nil {
		return fmt.Errorf("read who has a request for others: %w", err)
	}
	var holds models.UserID
	if a.HeldUntil != nil {
		if vote, err := t.heldVote(a.ID); err != nil {
			return err
		} else if vote != nil {
			holds = vote.UserID
		}
	}
	for _, user := range have {
		if _, still := wanted[user]; !still && user != holds {
			idle = append(idle, user)
		}
		delete(wanted, user)
	}
	if err := t.unroute(actor, a, idle); err != nil {
		return err
	}
	for _, user := range slices.Sorted(maps.Keys(wanted)) {
		if err := t.routeFor(actor, a, user, wanted[user]); err != nil {
			return err
		}
	}
	return nil
}

// routeFor puts a pending request into the inbox of somebody who acts for somebody else.
func (t *tx) routeFor(actor models.Actor, a *models.Approval, user, from models.UserID) error {
	if err := t.addDeciders(&a.Response, []models.UserID{user}); err != nil {
		return err
	}
	if err := t.Gorm().Exec(markForOther, user, a.ID).Error; err != nil {
		return fmt.Errorf("note for whom somebody has a request: %w", err)
	}
	t.Publish(events.Approval(string(a.ID)))
	return t.record(actor, "approval.routed", ledger.SubjectOf(&a.Response, []models.UserID{user}), routedEntry{Digest: a.Digest, Joined: user, For: from})
}
